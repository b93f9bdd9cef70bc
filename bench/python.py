"""What the Python package costs on top of the library, and how it compares: python.py BUILD DATA [--write]

To be run by a Python that has the package (scripts/test makes one in build-venv). BUILD is the folder with the C library's
bench_blocks; DATA that with a9a. All figures are processor time on one thread; C and Python in turn, the best of nine runs each.
--write writes bench/python-results.md, which is committed, so that a change shows as a diff.
"""
import os
import subprocess
import sys
import time
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before it is loaded: C and Python alike

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression, SGDClassifier

from keepfit import KeepfitClassifier

build, data = sys.argv[1:3]
path = os.path.join(data, "a9a.gz")
program = os.path.join(build, "bench", "bench_blocks")
ROUNDS, LAM, EPSILON = 3, 1e-4, 1e-3
lines = []


def say(line):
    lines.append(line)
    print(line, flush=True)


def seconds_of(work):
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def in_c(form, rows):
    words = [program, path, form, str(rows), "loss=logistic", "lambda=%g" % LAM, "epsilon=%g" % EPSILON, "intercept=true", "threads=1"]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def in_python(parts):
    model = KeepfitClassifier(lam=LAM, epsilon=EPSILON, n_jobs=1)

    def work():
        for X, y in parts:
            model.partial_fit(X, y)

    return seconds_of(work)[0], model


def by_sgd(parts):
    model = SGDClassifier(loss="log_loss", alpha=2 * LAM)

    def work():
        for X, y in parts:
            model.partial_fit(X, y, classes=[-1.0, 1.0])

    return seconds_of(work)[0], model


def best(work):
    found = [work() for _ in range(ROUNDS)]
    return min(found, key=lambda pair: pair[0]) if isinstance(found[0], tuple) else min(found)


def cut(X, y, rows):
    return [(X[at:at + rows], y[at:at + rows]) for at in range(0, X.shape[0], rows)]


def compare(form, parts, rows):
    """The best seconds in C, whose program takes the best of three, and in Python, in turn; and the model."""
    found = [(in_c(form, rows), *best(lambda: in_python(parts))) for _ in range(ROUNDS)]
    return min(each[0] for each in found), min(each[1] for each in found), found[0][2]


def excess(model, X, y, optimum):
    """How far the objective is above the least possible."""
    scores = X @ model.coef_[0] + model.intercept_[0]
    return np.logaddexp(0, -y * scores).mean() + LAM * (model.coef_ ** 2).sum() - optimum


def main():
    warnings.simplefilter("ignore")
    X, y = load_svmlight_file(path)
    fine = KeepfitClassifier(lam=LAM, epsilon=1e-13, n_jobs=1).fit(X, y)
    optimum = fine.measure(optimum=True).optimum
    say("a9a, %d rows, logistic, lambda %g, epsilon %g, free intercept, one thread.\n" % (X.shape[0], LAM, EPSILON))
    say("| what | C library | partial_fit | bar | SGDClassifier.partial_fit | excess: ours, SGD's |")
    say("|---|---|---|---|---|---|")
    forms = {"compressed": X, "full": X.toarray()}
    for form, rows in forms.items():
        c, python, model = compare(form, cut(rows, y, 1000), 1000)
        sgd, other = best(lambda: by_sgd(cut(rows, y, 1000)))
        say("| blocks of 1000, %s rows | %.3f s | %.3f s, ratio %.2f | 1.2: %s | %.3f s | %.1e, %.1e |" % (
            form, c, python, python / c, "met" if python <= 1.2 * c else "missed", sgd, excess(model, X, y, optimum),
            excess(other, X, y, optimum)))
    for form, rows in forms.items():
        parts = cut(rows, y, 1)
        c, python, model = (1e6 / len(parts) * figure if isinstance(figure, float) else figure for figure in compare(form, parts, 1))
        sgd, other = by_sgd(parts)
        say("| single points, %s rows, a call | %.1f us | %.1f us, %.1f more | 20 more: %s | %.0f us | %.1e, %.1e |" % (
            form, c, python, python - c, "met" if python - c <= 20 else "missed", 1e6 / len(parts) * sgd,
            excess(model, X, y, optimum), excess(other, X, y, optimum)))
    whole, model = best(lambda: seconds_of(lambda: KeepfitClassifier(lam=LAM, epsilon=EPSILON, n_jobs=1).fit(X, y)))
    theirs, other = best(lambda: seconds_of(lambda: LogisticRegression(C=1 / (2 * LAM * len(y)), tol=1e-4, max_iter=1000).fit(X, y)))
    say("\n`fit` on everything: %.3f s (excess %.1e); LogisticRegression (lbfgs): %.3f s (excess %.1e)." % (
        whole, excess(model, X, y, optimum), theirs, excess(other, X, y, optimum)))
    if "--write" in sys.argv:
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "python-results.md"), "w", encoding="utf-8") as file:
            file.write("# The Python package against the library itself\n\nMeasured by `bench/python.py`: processor time on one thread, the "
                       "best of nine runs (of three for the rivals). *Excess* is how far the\nobjective over all rows is above its minimum at the end.\n\n")
            file.write("\n".join(lines) + "\n")
        subprocess.run([os.path.join(here, "..", "scripts", "wrap"), file.name], check=True)


main()
