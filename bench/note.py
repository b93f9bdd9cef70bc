#!/usr/bin/python3
"""The experiments of docs/note.md: note.py BUILD DATA [--write] [--parts 1,2,3]

Part 1 holds an optimum while points come, and compares its gap with the drift law; it does not use the library. Part 2 compares the
FOs of `refit` with what the cost theorem predicts from c alone. Part 3 counts the FOs with which methods hold epsilon, each with the
best setting of a grid. DATA is the folder with the data sets. --write brings the tables and figures of docs/note.md up to date.
"""
import csv
import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
import numpy as np  # noqa: E402, after its threads are limited

HERE = os.path.dirname(os.path.abspath(__file__))
NOTE, IMAGES = os.path.join(HERE, "..", "docs", "note.md"), os.path.join(HERE, "..", "docs", "img")
LAMBDA, MOST, HELD_AT, ORDERS, FIRST_STAGE = 1e-3, 20000, 1000, 20, 100
COLOURS = ("#1f4e9c", "#b5482a", "#2e7d4f", "#7b4ea3", "#8a6d1a", "#4a4a4a")


# ---- streams ----

def read_svmlight(path, rows, rng, scaled):
    """Rows in an order drawn, columns divided by the root of their mean square where `scaled`, targets -1 and 1."""
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as file:
        found = [line.split() for line in file if line.strip()]
    found = [found[k] for k in rng.permutation(len(found))[:rows]]
    features = max(int(word.split(":")[0]) for words in found for word in words[1:])
    matrix = np.zeros((len(found), features))
    for k, words in enumerate(found):
        for word in words[1:]:
            feature, value = word.split(":")
            matrix[k, int(feature) - 1] = float(value)
    targets = np.array([float(words[0]) for words in found])
    size = np.sqrt((matrix ** 2).mean(0))
    return matrix / np.where((size > 0) & scaled, size, 1), np.where(targets == targets.max(), 1.0, -1.0)


def draw(kind, features, rows, rng):
    matrix, weights = rng.normal(size=(rows, features)), np.ones(features) / math.sqrt(features)
    scores = matrix @ weights
    if kind == "squared":
        return matrix, scores + rng.normal(size=rows)
    return matrix, np.where(rng.random(rows) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)


class Problem:
    """Mean loss + LAMBDA |x|^2 over the first n points, by Newton's method and nothing of the library."""

    def __init__(self, loss, matrix, targets):
        self.loss, self.matrix, self.targets = loss, matrix, targets

    def parts(self, x, n):
        """Losses, slopes and curvatures of the first n points."""
        scores, targets = self.matrix[:n] @ x, self.targets[:n]
        if self.loss == "squared":
            return (scores - targets) ** 2, 2 * (scores - targets), np.full(n, 2.0)
        margin = targets * scores
        chance = 1 / (1 + np.exp(np.minimum(margin, 700)))
        return np.logaddexp(0, -margin), -targets * chance, chance * (1 - chance)

    def value(self, x, n):
        return self.parts(x, n)[0].mean() + LAMBDA * x @ x

    def gradient(self, x, n):
        return self.matrix[:n].T @ self.parts(x, n)[1] / n + 2 * LAMBDA * x

    def hessian(self, x, n):
        rows = self.matrix[:n]
        return rows.T @ (rows * self.parts(x, n)[2][:, None]) / n + 2 * LAMBDA * np.eye(len(x))

    def optimum(self, n, start):
        x = start
        for _ in range(50):
            step = np.linalg.solve(self.hessian(x, n), self.gradient(x, n))
            length = 1.0
            while length > 1e-9 and self.value(x - length * step, n) > self.value(x, n) - 0.25 * length * step @ self.gradient(x, n):
                length /= 2
            x = x - length * step
            if step @ self.gradient(x, n) < 1e-20 or np.abs(step).max() < 1e-13:
                break
        return x

    def drift(self, n):
        """c = tr(H^-1 S)/2 at the optimum of n points, S the covariance of their gradients."""
        x = self.optimum(n, np.zeros(self.matrix.shape[1]))
        slopes = self.matrix[:n] * self.parts(x, n)[1][:, None]
        return np.trace(np.linalg.solve(self.hessian(x, n), np.cov(slopes.T, bias=True).reshape(len(x), len(x)))) / 2


def find(name):
    return next((p for p in (os.path.join(data, name + end) for end in ("", ".gz")) if os.path.exists(p)), None)


GENERATED = {"squared, 5 features": ("squared", 5), "logistic, 5 features": ("logistic", 5), "logistic, 20 features": ("logistic", 20)}
REAL = ("cod-rna", "skin_nonskin", "elec2", "a9a", "a9a, scaled")
FEWER = {"a9a": 5000, "a9a, scaled": 5000}  # points; held dearly


def stream(name, rows, seed):
    rng = np.random.default_rng(seed)
    if name in GENERATED:
        loss, features = GENERATED[name]
        return Problem(loss, *draw(loss, features, rows, rng))
    file = find(name.split(",")[0])
    return Problem("logistic", *read_svmlight(file, rows, rng, name != "a9a")) if file else None  # whose columns are 0 or 1


# ---- figures and tables ----

def plot(path, title, x_label, y_label, curves):
    """curves: (name, points, dashed); both axes logarithmic."""
    width, height, left, right, bottom, top = 640, 380, 88, 205, 45, 30
    xs, ys = [p[0] for c in curves for p in c[1]], [p[1] for c in curves for p in c[1]]
    x_low, x_high = math.log10(min(xs)), math.log10(max(xs))
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def at(x, y):
        return (left + (math.log10(x) - x_low) / (x_high - x_low) * (width - left - right),
                height - bottom - (math.log10(y) - y_low) / (y_high - y_low) * (height - bottom - top))
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height),
             '<title>%s</title>' % title, '<rect width="100%" height="100%" fill="white"/>',
             '<text x="%g" y="18" font-weight="bold">%s</text>' % (left, title)]
    for power in range(y_low, y_high + 1):
        _, y = at(min(xs), 10.0 ** power)
        parts.append('<line x1="%g" x2="%g" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%s</text>' %
                     (left, width - right, y, y, left - 6, y + 4, format(10 ** power, ",") if power >= 0 else "%g" % 10.0 ** power))
    for power in range(math.ceil(x_low), math.floor(x_high) + 1):
        x, _ = at(10.0 ** power, 10.0 ** y_low)
        parts.append('<line x1="%.1f" x2="%.1f" y1="%g" y2="%g" stroke="#eee"/><text x="%.1f" y="%g" text-anchor="middle">%s</text>' %
                     (x, x, top, height - bottom, x, height - bottom + 18, format(10 ** power, ",")))
    for k, (name, points, dashed) in enumerate(curves):
        colour = COLOURS[k // 2 % len(COLOURS)]
        places = " ".join("%.1f,%.1f" % at(*p) for p in points)
        mark = ' stroke-dasharray="5 4"' if dashed else ""
        parts.append('<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>' % (colour, mark, places))
        parts.append('<line x1="%g" x2="%g" y1="%g" y2="%g" stroke="%s" stroke-width="2"%s/><text x="%g" y="%g">%s</text>' %
                     (width - right + 12, width - right + 36, top + 18 * k + 6, top + 18 * k + 6, colour, mark, width - right + 42,
                      top + 18 * k + 10, name))
    parts.append('<text x="%g" y="%g" text-anchor="middle">%s</text>' % ((left + width - right) / 2, height - 8, x_label))
    parts.append('<text transform="translate(14 %g) rotate(-90)" text-anchor="middle">%s</text></svg>' % (height / 2, y_label))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def table(head, rows):
    return "\n".join("| %s |" % " | ".join(map(str, cells)) for cells in [head, ["---"] * len(head)] + rows)


def figure(number):
    return format(round(number), ",") if number >= 1000 else "%.3g" % number


# ---- part 1: the drift law ----

def part_drift(images):
    counts = [int(round(HELD_AT * 20 ** (k / 10))) for k in range(11)][1:]
    rows, curves = [], []
    for name in ("squared, 5 features", "logistic, 20 features", "cod-rna"):
        sums = np.zeros(len(counts))
        whole = stream(name, MOST, 1)
        if not whole:
            continue
        for order in range(ORDERS):
            problem = stream(name, MOST, order + 1)
            held = problem.optimum(HELD_AT, np.zeros(problem.matrix.shape[1]))
            for k, n in enumerate(counts):
                sums[k] += (problem.value(held, n) - problem.value(problem.optimum(n, held), n)) / ORDERS
        c = whole.drift(MOST)
        law = [c * (1 / HELD_AT - 1 / n) for n in counts]
        curves += [(name, list(zip(counts, sums)), False), ("law, c = %s" % figure(c), list(zip(counts, law)), True)]
        rows.append([name, "%.3g" % c] + ["%.2f" % (sums[k] / law[k]) for k in (0, 2, 4, 6, 9)])
    plot(os.path.join(images, "note-drift.svg"), "Gap of the optimum of 1000 points", "points, n", "gap, mean of %d orders" % ORDERS, curves)
    return table(["stream", "c"] + ["n = %s" % format(counts[k], ",") for k in (0, 2, 4, 6, 9)], rows)


# ---- part 2: the cost theorem ----

def predicted(c, epsilon, n, b=1.0, p=1.0):
    """The recursion of the theorem: an improvement as soon as b c (1/m - 1/i) exceeds epsilon, and p i FOs for each."""
    cost, m = float(n), 1
    while True:
        rest = 1 / m - epsilon / (b * c)
        m = max(m + 1, math.floor(1 / rest) + 1) if rest > 0 else n + 1
        if m > n:
            return cost
        cost += p * m


def train(path, *options):
    run = subprocess.run([keepfit, "train", "--json", "--quiet", "--threads", "1", "--lambda", str(LAMBDA), *map(str, options), path],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        return json.loads(run.stdout)
    except ValueError:
        return None


def write_stream(problem, folder):
    path = os.path.join(folder, "stream.csv")
    head = ",".join(["y"] + ["f%d" % k for k in range(problem.matrix.shape[1])])
    np.savetxt(path, np.column_stack([problem.targets, problem.matrix]), delimiter=",", fmt="%.17g", header=head, comments="")
    return path


def part_cost(images):
    rows, curves, within, all_cells = [], [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in list(GENERATED) + list(REAL):
            problem = stream(name, FEWER.get(name, MOST), 1)
            if not problem:
                rows.append([name, "skipped: not there"] + [""] * 6)
                continue
            path, n = write_stream(problem, folder), len(problem.targets)
            c = problem.drift(n)
            lines = []
            for epsilon in (1e-3, 1e-4, 1e-5):
                told, own = [train(path, "--target", "y", "--loss", problem.loss, "--method", m, "--epsilon", epsilon) for m in ("refit", "auto")]
                hope = predicted(c, epsilon, n)
                all_cells += 1
                within += 0.5 <= told["fo"] / hope <= 2
                lines.append((epsilon, told["fo"], hope))
                rows.append([name, format(n, ","), "%.3g" % c, "%.0e" % epsilon, figure(hope), figure(told["fo"]), "%.2f" % (told["fo"] / hope),
                             figure(own["fo"]) + (", %d missed" % own["missed"] if own["missed"] else "")])
            if name in ("squared, 5 features", "logistic, 20 features", "cod-rna", "a9a"):
                curves += [(name, [(1 / e, fo) for e, fo, _ in lines], False), ("predicted", [(1 / e, hope) for e, _, hope in lines], True)]
    plot(os.path.join(images, "note-cost.svg"), "FOs of refit, and the theorem's", "1/epsilon", "FOs in all", curves)
    head = ["stream", "n", "c", "epsilon", "predicted FOs", "FOs of `refit`", "measured / predicted", "FOs of `auto`"]
    return table(head, rows) + "\n\nWithin a factor of 2: %d of %d." % (within, all_cells)


# ---- part 3: FOs to hold epsilon ----

STEPS = ("0.3/L", "1/L", "3/L")
GRIDS = {"csvrg": [["--inner", t, "--alpha", a, "--step", s] for t in (30, 100, 300, 1000) for a in (0.1, 0.3) for s in STEPS],
         "strsaga": [["--inner", t, "--step", s] for t in (10, 30, 100, 300) for s in STEPS],
         "dynasaga": [["--inner", t, "--step", s] for t in (10, 30, 100, 300) for s in STEPS],
         "ssvrg": [["--inner", t, "--step", s] for t in (10, 100) for s in STEPS], "refit": [[]], "auto": [[]]}
SETS = ("breast-cancer", "cod-rna", "diabetes", "german.numer", "skin_nonskin", "a9a", "logistic, 5 features", "logistic, 20 features")


def largest_gap(trace):
    with open(trace, encoding="utf-8") as file:
        gaps = [float(row["gap"]) for row in csv.DictReader(file) if int(row["stage"]) >= FIRST_STAGE]
    return max(gaps)


def part_methods(images):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.csv")
        for name in SETS:
            problem = stream(name, 1000, 1)
            if not problem:
                continue
            path, n = write_stream(problem, folder), len(problem.targets)
            runs = []
            for method, grid in GRIDS.items():
                for setting in grid if method not in ("refit", "auto") else [["--epsilon", e] for e in (1e-2, 1e-3)]:
                    told = train(path, "--target", "y", "--loss", "logistic", "--method", method, "--gap", "--trace", trace, *setting)
                    if told:
                        runs.append((method, setting, told["fo"] / n, largest_gap(trace)))
            for epsilon in (1e-2, 1e-3):
                cells = []
                for method in GRIDS:
                    good = [run[2] for run in runs if run[0] == method and run[3] <= epsilon and
                            (method not in ("refit", "auto") or run[1][1] == epsilon)]
                    cells.append(figure(min(good)) if good else "none")
                rows.append([name, format(n, ","), "%.0e" % epsilon] + cells)
    return table(["data", "n", "epsilon"] + ["`%s`" % m for m in GRIDS], rows)


PARTS = {"drift": part_drift, "cost": part_cost, "methods": part_methods}


def write_table(name, made):
    with open(NOTE, encoding="utf-8") as file:
        text = file.read()
    text = re.sub("(<!-- begin %s -->\n).*?(<!-- end %s -->)" % (name, name), lambda found: found[1] + made + "\n" + found[2], text, flags=re.S)
    with open(NOTE, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    wanted = sys.argv[sys.argv.index("--parts") + 1].split(",") if "--parts" in sys.argv else ["1", "2", "3"]
    write = "--write" in sys.argv
    with tempfile.TemporaryDirectory() as spare:
        for number, (name, part) in enumerate(PARTS.items(), 1):
            if str(number) in wanted:
                made = part(IMAGES if write else spare)
                print(made + "\n", flush=True)
                if write:
                    write_table(name, made)


if len(sys.argv) < 3 or sys.argv[2].startswith("-"):
    sys.exit(__doc__)
keepfit, data = os.path.join(os.path.abspath(sys.argv[1]), "keepfit"), sys.argv[2]
main()
