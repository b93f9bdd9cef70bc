#!/usr/bin/python3
"""What the command says of a model and of its predictions, against NumPy and scikit-learn, as TAP: `explained.py KEEPFIT`.

The reference solves each problem itself, by Newton's method on the objective as docs/guarantee.md has it, inverts Hessians with NumPy, and
has AUC from scikit-learn. The command is asked for so small an epsilon that its models are the optima.
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from sklearn.metrics import roc_auc_score
except ImportError:
    print("1..0 # SKIP scikit-learn or NumPy is not installed")
    sys.exit(0)

KEEPFIT, LAMBDA = sys.argv[1], 0.01
count = failures = 0


def check(good, name, details=()):
    global count, failures
    count += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)
    for line in list(details)[:10] if not good else []:
        print("# %s" % line)


def run(*words):
    done = subprocess.run([KEEPFIT, *words], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 5):
        raise SystemExit("Bail out! %s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def near(ours, theirs, tolerance):
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    return ours.shape == theirs.shape and np.all(np.abs(ours - theirs) <= tolerance * (1e-3 + np.abs(theirs)))


# ---- the problems: slope and curvature in the score, and the penalty of each coordinate, an intercept's being 0 ----

def sigmoid(t):
    return 1 / (1 + np.exp(-t))


LOSSES = {
    "logistic": (lambda z, b: np.log1p(np.exp(-b * z)), lambda z, b: -b * sigmoid(-b * z), lambda z, b: sigmoid(z) * sigmoid(-z)),
    "squared": (lambda z, b: (z - b) ** 2, lambda z, b: 2 * (z - b), lambda z, b: 2 + 0 * z),
    "logcosh": (lambda z, b: np.log(np.cosh(z - b)), lambda z, b: np.tanh(z - b), lambda z, b: 1 - np.tanh(z - b) ** 2),
}


def solve(loss, rows, targets, weights, penalty, start=None):
    """The minimiser of mean loss + sum of penalty * x^2, and the Hessian of the sum there."""
    value, slope, curve = LOSSES[loss]
    x = np.zeros(rows.shape[1]) if start is None else start.copy()
    total = weights.sum()
    for _ in range(100):
        z = rows @ x
        gradient = rows.T @ (weights * slope(z, targets)) / total + 2 * penalty * x
        hessian = (rows.T * (weights * curve(z, targets))) @ rows / total + np.diag(2 * penalty)
        step = np.linalg.solve(hessian, gradient)
        objective = [(weights * value(rows @ at, targets)).sum() / total + (penalty * at ** 2).sum()
                     for at in (x - step * 0.5 ** k for k in range(30))]
        x = x - step * 0.5 ** int(np.argmin(objective)) if np.abs(step).max() > 1e-6 else x - step
        if np.abs(step).max() < 1e-13:
            break
    return x, hessian * total


def draw(loss, points, features, seed):
    source = np.random.default_rng(seed)
    rows = source.normal(size=(points, features)) * np.linspace(0.5, 2, features)
    score = rows @ source.normal(size=features) * 0.7 + 0.4
    if loss == "logistic":
        targets = np.where(source.random(points) < sigmoid(score), 1.0, -1.0)
    else:
        targets = score + source.normal(size=points)
    return rows, targets, np.ones(points)


def write(path, rows, targets):
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["f%d" % (k + 1) for k in range(rows.shape[1])] + ["y"]) + "\n")
        for row, target in zip(rows, targets):
            file.write(",".join(["%.17g" % value for value in row] + ["%.17g" % target]) + "\n")


# ---- progressive validation ----

def predicted_before(loss, rows, targets):
    """The score of each point but the first, at the optimum of those before it."""
    penalty, x, scores = np.full(rows.shape[1], LAMBDA), None, []
    for j in range(1, len(rows)):
        x, _ = solve(loss, rows[:j], targets[:j], np.ones(j), penalty, x)
        scores.append(rows[j] @ x)
    return np.array(scores)


def test_validation(folder, loss):
    rows, targets, _ = draw(loss, 1300, 4, 7)
    path = os.path.join(folder, loss + ".csv")
    write(path, rows, targets)
    said = json.loads(run("train", "--loss", loss, "--lambda", str(LAMBDA), "--epsilon", "1e-13", "--target", "y", "--json", path))
    z, b = predicted_before(loss, rows, targets), targets[1:]
    value = LOSSES[loss][0](z, b)
    wrong = (z > 0) != (b > 0) if loss == "logistic" else (z - b) ** 2
    root = (lambda mean: mean) if loss == "logistic" else np.sqrt
    check(said["validated"] == 1299 and near(said["validation_loss"], value.mean(), 1e-4) and
          near(said["validation_error"], root(wrong.mean()), 1e-4), loss + ": loss and error of all predictions", [said])
    check(said["window"] == 1000 and near(said["windowed_loss"], value[-1000:].mean(), 1e-4) and
          near(said["windowed_error"], root(wrong[-1000:].mean()), 1e-4), loss + ": loss and error of the newest", [said])
    if loss != "logistic":
        check(said["auc"] is None and said["calibration"] == [], loss + ": no AUC, no calibration", [said])
        return
    # the first point is of one class, and nothing is known of two before the second has come
    both = np.nonzero(targets != targets[0])[0][0]
    z, b = z[both - 1:], b[both - 1:]
    auc = roc_auc_score(b > 0, z)
    check(abs(said["auc"] - auc) <= said["auc_off"] + 1e-4 and said["auc_off"] < 0.01, "AUC is scikit-learn's, as far as it says",
          [said["auc"], said["auc_off"], auc])
    tenth = np.minimum((10 * sigmoid(z)).astype(int), 9)
    good = all(abs(part["count"] - (tenth == k).sum()) <= 2 and abs(part["predicted"] - sigmoid(z)[tenth == k].mean()) < 0.01 and
               abs(part["happened"] - (b[tenth == k] > 0).mean()) < 0.02 for k, part in enumerate(said["calibration"]) if part["count"] > 9)
    check(good and sum(part["count"] for part in said["calibration"]) == len(z), "calibration counts as NumPy does", [said["calibration"]])


def test_drift(folder):
    rows, targets, _ = draw("squared", 12000, 3, 3)
    source = np.random.default_rng(5)
    path = os.path.join(folder, "drift.csv")
    for name, factor, direction in (("as it was", 0, None), ("more noise", 2, "worse"), ("less noise", -1, "better")):
        changed = targets.copy()
        score = solve("squared", rows, targets, np.ones(len(rows)), np.full(3, LAMBDA))[0]
        changed[8000:] += factor * (source.normal(size=4000) if factor > 0 else 0.9 * (targets - rows @ score - 0.4)[8000:])
        write(path, rows, changed)
        said = json.loads(run("train", "--loss", "squared", "--lambda", str(LAMBDA), "--target", "y", "--json", path))["drift"]
        good = said["direction"] == direction and bool(said["alarms"]) == (factor != 0)
        if good and factor:
            good = 8000 < said["last"] <= 9500 and (said["after"] > said["before"]) == (factor > 0)
        check(good, "drift alarm: " + name, [said])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for loss in ("logistic", "squared"):
            test_validation(folder, loss)
        test_drift(folder)
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
