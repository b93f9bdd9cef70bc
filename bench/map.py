#!/usr/bin/python3
"""The map of costs: map.py BUILD [--data DIR] [--only WORD,...] [--seconds S] [--oracle] [--write]

What a point costs, cell by cell: losses by features by lambda, rows like embeddings, text, digits. Prints a line for each cell; --write keeps
it in bench/map.json, where cells that were not asked for stay, and writes bench/map.md and bench/map.svg from all that are there. A run ends
after S seconds of processor time (10), and the cell says at how many points. DATA is the folder with the data sets; cells without theirs are
left out. --oracle also counts the improvements of one who knows the true gap, with NumPy and no use of the library, where that is affordable.
"""
import json
import os
import sys
import tempfile

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
import numpy as np  # noqa: E402, after its threads are limited
import map_data  # noqa: E402
import map_write  # noqa: E402
from auto import train  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))
METHODS = ("quadratic", "table", "refit")
LAW_SECONDS = 3
ORACLE_POINTS, ORACLE_FEATURES = 4000, 128


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def us(told):
    return 1e6 * told["seconds"] / max(told["stages"], 1)


def quickest(first, run, within):
    """The quickest of three, where that takes no time: what disturbs only adds."""
    best = first
    for _ in range(2 if first and first["seconds"] < within else 0):
        again = run()
        if again and not again["cut"] and again["seconds"] < best["seconds"]:
            best = dict(best, seconds=again["seconds"])
    return best


def best_fixed(program, path, options, own):
    """Of the fixed methods the one that needs least for the points that auto has had; None where none is quicker than auto or as quick."""
    found = {}
    for method in METHODS:
        def run(most):
            return train(program, path, options + " --limit %d" % own["stages"], method, most)
        told = run(1.25 * own["seconds"] + 0.02)
        if not told or told["cut"] or told["missed"] > own["missed"]:
            continue
        found[method] = us(quickest(told, lambda: run(10), 0.7))
    return min(found.items(), key=lambda pair: pair[1]) if found else (None, None)


def measure_cell(program, path, options, seconds):
    own = train(program, path, options + " --law %d" % LAW_SECONDS, "auto", seconds)
    if not own:
        return None
    if not own["cut"]:
        own = quickest(own, lambda: train(program, path, options, "auto", seconds), 0.7)
    method, best = best_fixed(program, path, options, own)
    n = own["stages"]
    return {"points": n, "cut": own["cut"], "us": us(own), "fo": own["fo"] / n, "products": own["products"] / n, "method": own["method"],
            "best": method, "best_us": best, "ratio": max(us(own) / best, 1) if best else 1.0, "missed": own["missed"],
            "unproved": own["unproved"] - own["waiting"], "improvements": own["improvements"], "p": own["passes"], "q": own["product_passes"],
            "n0": own["early"], "c": own["drift"], "b": own["bound_over_gap"]}


# ---- the oracle ----

def slopes(loss, z, y):
    """(values, slopes, curvatures) of a loss of one score."""
    if loss == "squared":
        return (z - y) ** 2, 2 * (z - y), np.full_like(z, 2.0)
    if loss == "huber":
        r = z - y
        inside = np.abs(r) <= 1
        return np.where(inside, r * r / 2, np.abs(r) - 0.5), np.clip(r, -1, 1), inside * 1.0
    if loss == "logcosh":
        r = z - y
        return np.logaddexp(r, -r) - np.log(2), np.tanh(r), 1 - np.tanh(r) ** 2
    m = z * y
    if loss == "logistic":
        p = 1 / (1 + np.exp(m))
        return np.logaddexp(0, -m), -y * p, p * (1 - p)
    if loss == "squared-hinge":
        short = np.maximum(1 - m, 0)
        return short ** 2, -2 * y * short, 2.0 * (short > 0)
    short = 1 - m  # hinge, rounded over a width of 1
    return (np.where(short <= 0, 0, np.where(short < 1, short ** 2 / 2, short - 0.5)), -y * np.clip(short, 0, 1), 1.0 * ((short > 0) & (short < 1)))


def value_at(loss, X, y, x, lam):
    return slopes(loss, X @ x, y)[0].mean() + lam * x @ x


def solve(loss, X, y, x, lam):
    """The optimum, by Newton's steps that are halved until they help, and H there."""
    for _ in range(60):
        value, slope, curve = slopes(loss, X @ x, y)
        gradient = X.T @ slope / len(y) + 2 * lam * x
        H = (X * curve[:, None]).T @ X / len(y) + 2 * lam * np.eye(len(x))
        step = np.linalg.solve(H, gradient)
        decrement, now, share = gradient @ step, value.mean() + lam * x @ x, 1.0
        if decrement <= 1e-9 * now:
            break
        while share > 1e-9 and value_at(loss, X, y, x - share * step, lam) > now - 1e-4 * share * decrement:
            share /= 2
        x = x - share * step
    return x, H


def oracle(loss, X, y, lam, epsilon):
    """How often x has to move for a relative gap of epsilon at every stage: it becomes the optimum whenever it is not good enough. Between, an
    upper estimate of the gap (by H at x, in which the ridge does not grow) says when it is worth a solve to know."""
    x, count, i = np.zeros(X.shape[1]), 0, 0
    while i < len(y):
        m = i + 1
        best, _ = solve(loss, X[:m], y[:m], x, lam)
        optimum = value_at(loss, X[:m], y[:m], best, lam)
        if value_at(loss, X[:m], y[:m], x, lam) - optimum > epsilon * optimum:
            x, count = best, count + 1
        value, slope, curve = slopes(loss, X @ x, y)
        inverse = np.linalg.inv((X[:m] * curve[:m, None]).T @ X[:m] + 2 * lam * m * np.eye(len(x)))
        gradient, total = X[:m].T @ slope[:m], value[:m].sum()
        i = m
        while i < len(y):
            a = X[i]
            along = inverse @ a
            inverse -= np.outer(along, along) * (curve[i] / (1 + curve[i] * (a @ along)))
            gradient, total = gradient + slope[i] * a, total + value[i]
            whole = gradient + 2 * lam * (i + 1) * x
            gap = whole @ inverse @ whole / 2
            if gap > epsilon * (total + lam * (i + 1) * x @ x - gap):
                break
            i += 1
    return count


def oracle_cell(program, cell, path, options):
    """(the oracle's improvements, ours), for as many points."""
    X, y = map_data.dense(cell.rows, cell.features, cell.classes)
    X, y = X[:ORACLE_POINTS].astype(np.float64), y[:ORACLE_POINTS].astype(np.float64)
    own = train(program, path, options + " --limit %d" % ORACLE_POINTS, "auto", 60)
    return oracle(cell.loss, X, y, cell.lam, 1e-3), own["improvements"] if own else None


# ---- all cells ----

def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    program, seconds = os.path.join(sys.argv[1], "bench", "bench_work"), float(option("--seconds", 10))
    only = [word for word in option("--only", "").split(",") if word]
    known = map_write.load(here)
    with tempfile.TemporaryDirectory() as folder:
        for cell in map_data.cells(option("--data", os.environ.get("KEEPFIT_DATA", ""))):
            if only and not any(word in cell.name for word in only):
                continue
            path, options = map_data.file_of(cell, folder)
            if not path:
                continue
            told = measure_cell(program, path, options, seconds)
            if not told:
                print("%s: it ended without a line" % cell.name)
                continue
            told.update(group=cell.group, row=cell.row, column=cell.column)
            small = cell.kind == "dense" and cell.classes <= 2 and cell.features <= ORACLE_FEATURES
            if "--oracle" in sys.argv and small:
                told["oracle"], told["ours"] = oracle_cell(program, cell, path, options)
            elif cell.name in known and "oracle" in known[cell.name]:
                told["oracle"], told["ours"] = known[cell.name]["oracle"], known[cell.name]["ours"]
            known[cell.name] = told
            print(map_write.line(cell.name, told), flush=True)
            if "--write" in sys.argv:
                map_write.save(here, known, [each.name for each in map_data.cells("")])


if __name__ == "__main__":
    main()
