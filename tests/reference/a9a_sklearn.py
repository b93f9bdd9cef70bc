#!/usr/bin/python3
"""The optimum of regularised logistic regression on a LIBSVM file, by scikit-learn.

    a9a_sklearn.py FILE LAMBDA      FILE plain or gzip (by its name, *.gz); two classes

Prints min over w of  mean log(1 + exp(-b a.w)) + LAMBDA |w|^2  (no intercept, no weights) as %.17g on
standard output, and how it was found on standard error. The larger label counts as +1. Needs NumPy and
scikit-learn 1.2 or later.
"""

import math
import sys
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

TOLERANCE = 1e-13      # on the bound |gradient|^2 / (4 lambda) of the distance from the minimum


def objective(a, b, w, lam):
    losses = np.logaddexp(0, -b * (a @ w))
    return math.fsum(losses) / len(b) + lam * math.fsum(w * w)


def gradient(a, b, w, lam):
    s = np.exp(-np.logaddexp(0, b * (a @ w)))
    return a.T @ (-b * s) / len(b) + 2 * lam * w


def newton_step(a, b, w, lam):
    s = np.exp(-np.logaddexp(0, b * (a @ w)))
    h = (a.T @ a.multiply((s * (1 - s))[:, None]).tocsr()).toarray() / len(b) + 2 * lam * np.eye(len(w))
    return w - np.linalg.solve(h, gradient(a, b, w, lam))


def main(arguments):
    if len(arguments) != 2:
        print("usage: a9a_sklearn.py FILE LAMBDA", file=sys.stderr)
        return 2
    lam = float(arguments[1])
    if not lam > 0:
        print("lambda must be positive", file=sys.stderr)
        return 2
    a, labels = load_svmlight_file(arguments[0], zero_based=False)
    if len(np.unique(labels)) != 2:
        print("expected two classes", file=sys.stderr)
        return 3
    b = np.where(labels == labels.max(), 1.0, -1.0)
    print("%d rows, %d features, lambda %g, scikit-learn %s" % (*a.shape, lam, sklearn.__version__), file=sys.stderr)

    def report(name, w):
        g = gradient(a, b, w, lam)
        bound = float(g @ g) / (4 * lam)     # g is 2 lambda strongly convex
        value = objective(a, b, w, lam)
        print("%-16s %.17g  |gradient| %.1e  at most %.1e above the minimum"
              % (name, value, np.linalg.norm(g), bound), file=sys.stderr)
        return bound, value, w

    # scikit-learn minimises C * sum of losses + |w|^2 / 2, which is C * rows times our objective for this C
    c = 1 / (2 * lam * len(b))
    found = []
    for solver in ("newton-cholesky", "lbfgs"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = LogisticRegression(C=c, solver=solver, tol=1e-14, fit_intercept=False, max_iter=10000).fit(a, b)
        found.append(report(solver, fit.coef_.ravel()))
        for warning in caught:
            print("  %s said: %s" % (solver, str(warning.message).splitlines()[0]), file=sys.stderr)
    bound, value, w = min(found, key=lambda entry: entry[0])

    steps = 0
    while bound > TOLERANCE and steps < 5:
        steps += 1
        bound, value, w = report("Newton step %d" % steps, newton_step(a, b, w, lam))
    print("polished by %d Newton steps" % steps if steps else "scikit-learn's own solution, not polished", file=sys.stderr)
    if bound > TOLERANCE:
        print("not accurate enough", file=sys.stderr)
        return 1
    print("%.17g" % value)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
