#!/usr/bin/python3
"""Reference optima of small problems, computed without keepfit.

    optima.py           solve every problem and rewrite optima.txt beside this script
    optima.py --check   solve every problem and compare with optima.txt; exit 0 if equal, else 1

Needs NumPy and SciPy. Every problem is

    minimise over x in D:   sum_j w_j loss(a_j, b_j; x) / sum_j w_j  +  lambda |x|^2

with z = a.x and

    squared   (z - b)^2
    logistic  log(1 + exp(-b z)),                                                b = -1, +1
    huber     r^2 if |r| <= 1, 2|r| - 1 beyond,                                  r = z - b
    hinge     0 if m >= 1, (1 - m)^2 / 2 if 0 < m < 1, 1/2 - m if m <= 0,        m = b z, b = -1, +1
    logcosh   log(cosh(z - b))
    squared-hinge  max(0, 1 - b z)^2,                                            b = -1, +1
    softmax   logsumexp(z) - z_b, x a matrix [feature][class] of 3 classes,      b = 0, 1, 2

A bias is a constant feature 1 put before the others; it is an ordinary coordinate of x. An intercept is
the same feature, but left out of |x|^2. Softmax with an intercept does not determine the intercepts'
sum: x is the solution whose intercepts add up to zero, and only the value is unique.

optima.txt, after one comment line, holds blocks of
    data NAME ROWS FEATURES                                    then ROWS lines: weight target v1 ... vd
    optimum DATANAME LOSS DOMAIN BIAS INTERCEPT LAMBDA VALUE   then one line: x v1 ... vm

How a problem is solved depends on its domain:
    none      SciPy's trust-exact, then Newton steps
    ball      bisection on nu in: minimise g + nu |x|^2, subject to |x| = R
    box       L-BFGS-B names the coordinates at a bound, Newton steps on the others
    simplex   SLSQP names the support, Newton steps on it within sum = 1
Whether the guess of the active set was right is decided by the checks, which know nothing of how x was
found: feasibility, the optimality conditions, a bound on the distance of the value from the minimum, and
1000 feasible points about x. The value itself is computed a second time, by scalar code, and it is that
one which is written.
"""

import math
import os
import sys

import numpy as np
import scipy.linalg
import scipy.optimize

ROWS, FEATURES, CLASSES, LAMBDA, DELTA = 40, 5, 3, 0.05, 1.0
LOSSES = ("squared", "logistic", "huber", "hinge", "softmax", "logcosh", "squared-hinge")   # new ones at the end: the place is the seed
DOMAINS = ("none", "ball:0.5", "box:-0.2:0.3", "simplex")
KKT_TOLERANCE = 1e-10      # on the optimality conditions
VALUE_TOLERANCE = 1e-12    # on the value
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optima.txt")


class Failure(Exception):
    pass


def require(condition, *message):
    if not condition:
        raise Failure(" ".join(str(part) for part in message))


class Random:
    """Knuth's 64-bit linear congruential generator; the high bits are used."""

    def __init__(self, seed):
        self.state = seed
        for _ in range(4):
            self.bits()

    def bits(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 32

    def below(self, n):
        return self.bits() * n >> 32

    def between(self, low, high):
        """An integer, low <= it <= high."""
        return low + self.below(high - low + 1)

    def uniform(self):
        """In (0, 1)."""
        return (self.bits() + 0.5) / 2**32

    def normal(self):
        return math.sqrt(-2 * math.log(self.uniform())) * math.cos(2 * math.pi * self.uniform())


# ---------------------------------------------------------------------------------------------- data

class Data:
    """Points in integer arithmetic: all numbers are thousandths, so that their text is exact."""

    def __init__(self, name, weights, targets, rows):
        self.name, self.weights, self.targets, self.rows = name, weights, targets, rows

    def lines(self):
        yield "data %s %d %d" % (self.name, len(self.rows), len(self.rows[0]))
        for weight, target, row in zip(self.weights, self.targets, self.rows):
            yield " ".join("%g" % (number / 1000) for number in [weight, target] + row)


def make_data(loss):
    """The plain and the weighted dataset for this loss."""
    random = Random(5000 + LOSSES.index(loss))
    outputs = CLASSES if loss == "softmax" else 1
    truth = [[random.between(-1500, 1500) for _ in range(FEATURES)] for _ in range(outputs)]
    offset = [random.between(300, 900) for _ in range(outputs)]
    noise = {"squared": 800, "logistic": 1500, "huber": 2500, "hinge": 1500, "softmax": 1500, "logcosh": 2500,
             "squared-hinge": 1500}[loss]
    rows, targets = [], []
    for _ in range(ROWS):
        row = [0 if random.below(4) == 0 else random.between(-2000, 2000) for _ in range(FEATURES)]
        scores = [sum(v * t for v, t in zip(row, truth[k])) // 1000 + offset[k] + random.between(-noise, noise)
                  for k in range(outputs)]
        if loss == "softmax":
            target = 1000 * scores.index(max(scores))
        elif loss in ("logistic", "hinge", "squared-hinge"):
            target = 1000 if scores[0] > 0 else -1000
        else:
            target = scores[0]
        rows.append(row)
        targets.append(target)
    weights = [(500, 1000, 2000, 3000)[random.below(4)] for _ in range(ROWS)]
    return Data(loss, [1000] * ROWS, targets, rows), Data(loss + "-weighted", weights, targets, rows)


# --------------------------------------------------------------------------------------- the objective

class Problem:
    def __init__(self, data, loss, domain, bias=False, intercept=False):
        self.data, self.loss, self.domain, self.bias, self.intercept = data, loss, domain, bias, intercept
        self.weights = np.array(data.weights) / 1000
        self.weights /= self.weights.sum()
        self.b = np.array(data.targets) / 1000
        self.a = np.array(data.rows) / 1000
        if bias or intercept:
            self.a = np.hstack([np.ones((len(self.a), 1)), self.a])
        self.outputs = CLASSES if loss == "softmax" else 1
        self.size = self.a.shape[1] * self.outputs
        self.ridge = np.full(self.size, LAMBDA)
        if intercept:
            self.ridge[:self.outputs] = 0
        kind, *numbers = domain.split(":")
        self.kind, self.numbers = kind, [float(number) for number in numbers]

    def __str__(self):
        return "%s %s %s %d %d %g" % (self.data.name, self.loss, self.domain, self.bias, self.intercept, LAMBDA)

    def losses(self, z):
        """Of every point: value, derivative and second derivative with respect to the outputs z."""
        b = self.b
        if self.loss == "softmax":
            z = z - z.max(axis=1, keepdims=True)
            e = np.exp(z)
            p = e / e.sum(axis=1, keepdims=True)
            y = np.eye(CLASSES)[b.astype(int)]
            return (np.log(e.sum(axis=1)) - (z * y).sum(axis=1), p - y,
                    p[:, :, None] * np.eye(CLASSES) - p[:, :, None] * p[:, None, :])
        z = z[:, 0]
        if self.loss == "squared":
            value, first, second = (z - b) ** 2, 2 * (z - b), 2 * np.ones_like(z)
        elif self.loss == "logistic":
            s = np.exp(-np.logaddexp(0, b * z))     # 1 / (1 + exp(b z))
            value, first, second = np.logaddexp(0, -b * z), -b * s, s * (1 - s)
        elif self.loss == "huber":
            r, inside = z - b, np.abs(z - b) <= DELTA
            value = np.where(inside, r * r, 2 * DELTA * np.abs(r) - DELTA ** 2)
            first, second = 2 * np.clip(r, -DELTA, DELTA), np.where(inside, 2.0, 0.0)
        elif self.loss == "hinge":
            short = 1 - b * z
            value = np.where(short <= 0, 0, np.where(short < DELTA, short ** 2 / (2 * DELTA), short - DELTA / 2))
            first = -b * np.clip(short / DELTA, 0, 1)
            second = np.where((short > 0) & (short < DELTA), 1 / DELTA, 0.0)
        elif self.loss == "logcosh":
            value = np.logaddexp(z - b, b - z) - math.log(2)
            first, second = np.tanh(z - b), 1 / np.cosh(z - b) ** 2
        elif self.loss == "squared-hinge":
            short = np.maximum(0, 1 - b * z)
            value, first, second = short ** 2, -2 * b * short, np.where(short > 0, 2.0, 0.0)
        return value, first[:, None], second[:, None, None]

    def outputs_at(self, x):
        return self.a @ x.reshape(-1, self.outputs)

    def value(self, x):
        return float(self.weights @ self.losses(self.outputs_at(x))[0] + self.ridge @ (x * x))

    def gradient(self, x):
        first = self.losses(self.outputs_at(x))[1]
        return (self.a.T @ (self.weights[:, None] * first)).ravel() + 2 * self.ridge * x

    def hessian(self, x):
        second = self.losses(self.outputs_at(x))[2]
        h = np.einsum("j,ji,jkl,jm->ikml", self.weights, self.a, second, self.a, optimize=True)
        return h.reshape(self.size, self.size) + 2 * np.diag(self.ridge)

    def scalar_value(self, x):
        """The value once more, from the integers and without NumPy."""
        x = [float(v) for v in x]
        free = self.outputs if self.intercept else 0
        terms = []
        for weight, target, row in zip(self.data.weights, self.data.targets, self.data.rows):
            a = ([1.0] if self.bias or self.intercept else []) + [v / 1000 for v in row]
            b = target / 1000
            z = [math.fsum(v * x[i * self.outputs + k] for i, v in enumerate(a)) for k in range(self.outputs)]
            if self.loss == "softmax":
                f = math.log(math.fsum(math.exp(v - z[int(b)]) for v in z))
            elif self.loss == "squared":
                f = (z[0] - b) ** 2
            elif self.loss == "logistic":
                f = math.log1p(math.exp(-abs(z[0]))) + max(0.0, -b * z[0])
            elif self.loss == "huber":
                r = abs(z[0] - b)
                f = r * r if r <= DELTA else 2 * DELTA * r - DELTA * DELTA
            elif self.loss == "hinge":
                m = b * z[0]
                f = 0.0 if m >= 1 else (1 - m) ** 2 / (2 * DELTA) if m > 1 - DELTA else 1 - m - DELTA / 2
            elif self.loss == "logcosh":
                f = math.log(math.cosh(z[0] - b))
            elif self.loss == "squared-hinge":
                f = max(0.0, 1 - b * z[0]) ** 2
            terms.append(weight / 1000 * f)
        total = math.fsum(weight / 1000 for weight in self.data.weights)
        return math.fsum(terms) / total + LAMBDA * math.fsum(v * v for v in x[free:])


def check_derivatives(problem, random):
    """Gradient and Hessian against central differences of the scalar value and of the gradient."""
    x, h = np.array([random.normal() for _ in range(problem.size)]), 1e-6
    require(abs(problem.value(x) - problem.scalar_value(x)) <= 1e-13 * (1 + problem.value(x)), "the two values differ")
    gradient, hessian = problem.gradient(x), problem.hessian(x)
    for i in range(problem.size):
        e = np.zeros(problem.size)
        e[i] = h
        slope = (problem.scalar_value(x + e) - problem.scalar_value(x - e)) / (2 * h)
        require(abs(slope - gradient[i]) <= 1e-7, "gradient", i, "differs by", slope - gradient[i])
        column = (problem.gradient(x + e) - problem.gradient(x - e)) / (2 * h)
        worst = np.abs(column - hessian[i]).max()
        require(worst <= 1e-7, "Hessian row", i, "differs by", worst)


# ----------------------------------------------------------------------------------------- the solvers

def polish(problem, x, basis, nu=0.0):
    """Newton steps on g + nu |x|^2 from x along the columns of basis, for as long as they help."""
    def reduced(x):
        return basis.T @ (problem.gradient(x) + 2 * nu * x)

    gradient = reduced(x)
    for _ in range(50):
        h = basis.T @ (problem.hessian(x) + 2 * nu * np.eye(problem.size)) @ basis
        trial = x - basis @ np.linalg.solve(h, gradient)
        trial_gradient = reduced(trial)
        if np.linalg.norm(trial_gradient) >= np.linalg.norm(gradient):
            break
        x, gradient = trial, trial_gradient
    return x


def minimise(problem, x, nu=0.0):
    """g + nu |x|^2 over the whole space."""
    basis = np.eye(problem.size)
    if problem.intercept and problem.loss == "softmax":     # intercepts add up to zero
        k = problem.outputs
        basis = scipy.linalg.block_diag(scipy.linalg.null_space(np.ones((1, k))), np.eye(problem.size - k))
    y = scipy.optimize.minimize(
        lambda y: problem.value(basis @ y) + nu * y @ y, basis.T @ x, method="trust-exact",
        jac=lambda y: basis.T @ (problem.gradient(basis @ y)) + 2 * nu * y,
        hess=lambda y: basis.T @ problem.hessian(basis @ y) @ basis + 2 * nu * np.eye(len(y)),
        options={"gtol": 1e-6}).x
    return polish(problem, basis @ y, basis, nu)


def solve_none(problem):
    return minimise(problem, np.zeros(problem.size))


def solve_ball(problem):
    """|x(nu)| decreases in nu: halve the interval until no number is left inside it."""
    radius, = problem.numbers
    low, high = 0.0, 1.0
    x = minimise(problem, np.zeros(problem.size), low)
    require(np.linalg.norm(x) > radius, "the ball is not active")
    while np.linalg.norm(minimise(problem, x, high)) > radius:
        low, high = high, 2 * high
    x = minimise(problem, x, high)
    while True:
        middle = low + (high - low) / 2
        if middle in (low, high):
            return x
        trial = minimise(problem, x, middle)
        if np.linalg.norm(trial) > radius:
            low = middle
        else:
            high, x = middle, trial


def solve_box(problem):
    low, high = problem.numbers
    x = scipy.optimize.minimize(problem.value, np.full(problem.size, (low + high) / 2), jac=problem.gradient,
                                method="L-BFGS-B", bounds=[(low, high)] * problem.size,
                                options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10000}).x
    x[x < low + 1e-6] = low
    x[x > high - 1e-6] = high
    return polish(problem, x, np.eye(problem.size)[:, (x > low) & (x < high)])


def solve_simplex(problem):
    x = scipy.optimize.minimize(problem.value, np.full(problem.size, 1 / problem.size), jac=problem.gradient,
                                method="SLSQP", bounds=[(0, 1)] * problem.size,
                                constraints={"type": "eq", "fun": lambda x: x.sum() - 1,
                                             "jac": lambda x: np.ones_like(x)},
                                options={"ftol": 1e-16, "maxiter": 10000}).x
    support = x > 1e-6
    x = np.where(support, x, 0)
    x /= x.sum()
    within = scipy.linalg.null_space(np.ones((1, support.sum())))
    return polish(problem, x, np.eye(problem.size)[:, support] @ within)


SOLVERS = {"none": solve_none, "ball": solve_ball, "box": solve_box, "simplex": solve_simplex}


# ------------------------------------------------------------------------------------------ the checks

def check_conditions(problem, x):
    """Feasibility and the optimality conditions. Returns their residual and a bound on g(x) - min g.

    On a bounded D, convexity gives g(x) - min g <= max over s in D of gradient.(x - s). On the whole space
    it is half of gradient' Hessian^-1 gradient to first order, which the least eigenvalue bounds.
    """
    g = problem.gradient(x)
    if problem.kind == "none":
        eigenvalues = np.linalg.eigvalsh(problem.hessian(x))
        if problem.intercept and problem.loss == "softmax":
            require(abs(eigenvalues[0]) < 1e-12, "expected a direction without curvature")
            require(abs(x[:CLASSES].sum()) < 1e-12, "the intercepts do not add up to zero")
            eigenvalues = eigenvalues[1:]
        require(eigenvalues[0] > 1e-3, "least curvature", eigenvalues[0])
        return np.abs(g).max(), g @ g / eigenvalues[0]
    if problem.kind == "ball":
        radius, = problem.numbers
        norm = np.linalg.norm(x)
        require(abs(norm - radius) <= 1e-14, "not on the sphere, by", norm - radius)
        nu = -(g @ x) / (2 * norm ** 2)
        require(nu > 1e-4, "multiplier", nu)
        return np.abs(g + 2 * nu * x).max(), g @ x + radius * np.linalg.norm(g)
    if problem.kind == "box":
        low, high = problem.numbers
        require(np.all((x >= low) & (x <= high)), "outside the box")
        at_low, at_high = x == low, x == high
        free = ~(at_low | at_high)
        require(free.any() and not free.all(), "no bound, or nothing but bounds, is active")
        require(np.all(g[at_low] > 1e-4) and np.all(g[at_high] < -1e-4), "a multiplier has the wrong sign, or is about 0")
        return np.abs(g[free]).max(), np.maximum(g * (x - low), g * (x - high)).sum()
    require(np.all(x >= 0) and abs(x.sum() - 1) <= 1e-14, "outside the simplex")
    support = x > 0
    require(2 <= support.sum() < problem.size, "support of", support.sum(), "coordinates")
    level = g[support].mean()
    require(np.all(g[~support] > level + 1e-4), "a multiplier has the wrong sign, or is about 0")
    return np.abs(g[support] - level).max(), g @ x - g.min()


def feasible_point(problem, x, random):
    """A point of D: convex, so anything on the segment between x and a random one will do."""
    s = np.array([random.normal() for _ in range(problem.size)])
    if problem.kind == "none":
        s += x
    elif problem.kind == "ball":
        s *= problem.numbers[0] * random.uniform() ** (1 / problem.size) / np.linalg.norm(s)
    elif problem.kind == "box":
        low, high = problem.numbers
        s = np.clip(s, low, high)
    else:
        s = np.array([-math.log(random.uniform()) for _ in range(problem.size)])
        s[[random.below(2) == 0 for _ in range(problem.size)]] = 0
        s = s / s.sum() if s.any() else x
    return x + 10 ** (-8 * random.uniform()) * (s - x)


def check_spread(problem, x):
    """The data was chosen so that all classes occur, and every piece of a loss at the unconstrained optimum."""
    labels = {"logistic": (-1, 1), "softmax": range(CLASSES)}
    z = problem.outputs_at(x)[:, 0]
    if problem.loss == "huber":
        pieces = np.bincount((np.abs(z - problem.b) > DELTA).astype(int), minlength=2)
        distance = np.abs(np.abs(z - problem.b) - DELTA).min()
    elif problem.loss == "hinge":
        m = problem.b * z
        pieces = np.bincount((m > 1 - DELTA).astype(int) + (m >= 1), minlength=3)
        distance = min(np.abs(m - 1).min(), np.abs(m - 1 + DELTA).min())
    elif problem.loss == "squared-hinge":
        m = problem.b * z
        pieces, distance = np.bincount((m >= 1).astype(int), minlength=2), np.abs(m - 1).min()
    elif problem.loss in ("squared", "logcosh"):
        return
    else:
        pieces, distance = np.array([(problem.b == label).sum() for label in labels[problem.loss]]), 1
    require(pieces.min() >= ROWS // 10, "unbalanced:", pieces)
    require(distance > 1e-6, "a point lies on a kink")


def solve(problem):
    """Returns value, x and what the checks found."""
    random = Random(7)
    check_derivatives(problem, random)
    x = SOLVERS[problem.kind](problem) + 0.0     # no negative zero
    residual, bound = check_conditions(problem, x)
    require(residual <= KKT_TOLERANCE, "optimality residual", residual)
    require(bound <= VALUE_TOLERANCE / 10, "the value may be off by", bound)
    if problem.domain == "none":
        check_spread(problem, x)
    value = problem.scalar_value(x)
    require(abs(value - problem.value(x)) <= 1e-14 * (1 + value), "the two values differ")
    for _ in range(1000):
        other = problem.scalar_value(feasible_point(problem, x, random))
        require(value <= other + 1e-14, "a feasible point is better, by", value - other)
    return value, x, residual, bound


# -------------------------------------------------------------------------------------------- the file

def all_problems():
    """Lists of (data, its problems)."""
    for loss in LOSSES:
        plain, weighted = make_data(loss)
        yield plain, ([Problem(plain, loss, domain) for domain in DOMAINS]
                      + [Problem(plain, loss, "none", bias=True), Problem(plain, loss, "none", intercept=True)])
        yield weighted, [Problem(weighted, loss, "none")]


def compute():
    lines, failures = ["# written by tests/reference/optima.py; do not edit"], 0
    for data, problems in all_problems():
        lines += data.lines()
        for problem in problems:
            try:
                value, x, residual, bound = solve(problem)
            except Failure as failure:
                print("%s: %s" % (problem, failure), file=sys.stderr)
                failures += 1
                continue
            print("%-50s %.15f  residual %.1e  bound %.1e" % (problem, value, residual, max(bound, 0)))
            lines.append("optimum %s %.17g" % (problem, value))
            lines.append("x " + " ".join("%.17g" % v for v in x))
    return lines, failures


def differences(old, new):
    """Lines that differ: optimum lines by their last number, x lines by all of theirs, others by their text."""
    if len(old) != len(new):
        yield "%d lines instead of %d" % (len(old), len(new))
    for number, (was, now) in enumerate(zip(old, new), 1):
        if was == now:
            continue
        a, b = was.split(), now.split()
        same = False
        if len(a) == len(b) and a and a[0] == b[0]:
            try:
                if a[0] == "optimum":
                    same = a[:-1] == b[:-1] and abs(float(a[-1]) - float(b[-1])) <= VALUE_TOLERANCE
                elif a[0] == "x":
                    same = all(abs(float(p) - float(q)) <= 1e-9 for p, q in zip(a[1:], b[1:]))
            except ValueError:
                pass
        if not same:
            yield "line %d: file has '%s', computed '%s'" % (number, was, now)


def main(arguments):
    if arguments not in ([], ["--check"]):
        print("usage: optima.py [--check]", file=sys.stderr)
        return 2
    lines, failures = compute()
    if failures:
        print("%d problems failed their checks; optima.txt was left alone" % failures, file=sys.stderr)
        return 1
    if not arguments:
        with open(PATH, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        return 0
    try:
        with open(PATH, encoding="ascii") as file:
            old = file.read().splitlines()
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    wrong = list(differences(old, lines))
    for message in wrong:
        print("optima.txt: " + message, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
