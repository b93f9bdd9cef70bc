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


# ---- standard errors, influence, contributions ----

def covariances(loss, rows, targets, weights, penalty):
    """The optimum, the plain covariance (None: there is none) and the robust one."""
    x, hessian = solve(loss, rows, targets, weights, penalty)
    _, slope, curve = LOSSES[loss]
    z, inverse = rows @ x, np.linalg.inv(hessian)
    gradients = rows * (weights * slope(z, targets))[:, None]
    robust = inverse @ (gradients.T @ gradients) @ inverse
    plain = inverse if loss == "logistic" else None
    if loss == "squared":
        free = np.trace(inverse @ (rows.T * (weights * curve(z, targets))) @ rows)
        plain = 2 * inverse * (weights * (z - targets) ** 2).sum() / (weights.sum() - free)
    return x, plain, robust


def fit_journal(folder, name, words, text):
    journal, model, path = (os.path.join(folder, name + end) for end in ("-journal", ".kf", ".csv"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    run("train", *words, "--journal", journal, "--model", model, "--standard-errors", "--quiet", path)
    return journal, model, path


def csv_text(rows, targets, weights):
    lines = [",".join(["f%d" % (k + 1) for k in range(rows.shape[1])] + ["y", "w"])]
    lines += [",".join("%.17g" % v for v in [*row, target, weight]) for row, target, weight in zip(rows, targets, weights)]
    return "\n".join(lines) + "\n"


def test_errors(folder, loss, intercept, offset, half_life=None):
    """offset: a column far from 0, which the fit keeps less its centre; half_life: of weights, in points."""
    rows, targets, _ = draw(loss, 400, 3, 11)
    weights = np.random.default_rng(2).integers(1, 4, len(rows)).astype(float)
    rows[:, 1] += offset
    # the reference works on the column less the offset, and takes what it finds to the rows as they are
    near_rows, back = rows - [0, offset, 0], np.eye(3 + intercept)
    back[0, 1 + intercept] -= offset if intercept else 0
    whole = np.column_stack([np.ones(len(rows)), near_rows]) if intercept else near_rows
    penalty = np.array([0.0] * intercept + [LAMBDA] * 3)
    given = weights
    if half_life:
        weights = weights * 0.5 ** ((len(rows) - 1 - np.arange(len(rows))) / half_life)
    x, plain, robust = covariances(loss, whole, targets, weights, penalty)
    given_x, robust = back @ x, back @ robust @ back.T
    plain = None if plain is None else back @ plain @ back.T
    words = ["--loss", loss, "--lambda", str(LAMBDA), "--epsilon", "1e-13", "--target", "y", "--weight-column", "w"]
    words += ["--half-life", str(half_life)] if half_life else []
    name = "%s%s%s%s" % (loss, ", intercept" * intercept, ", a column at %g" % offset if offset else "", ", half-life" if half_life else "")
    journal, model, _ = fit_journal(folder, name.replace(",", "").replace(" ", ""), words + ["--intercept"] * intercept,
                                    csv_text(rows, targets, given))
    table = list(csv.DictReader(io.StringIO(run("inspect", "--csv", model))))[1 - intercept:]
    check(near([row["weight"] for row in table], given_x, 1e-5), name + ": the weights are NumPy's", [table, given_x])
    if plain is None:
        check(all(row["error"] == "" for row in table), name + ": no errors without a likelihood", [table])
    else:
        check(near([row["error"] for row in table], np.sqrt(np.diag(plain)), 1e-4), name + ": standard errors are NumPy's",
              [table, np.sqrt(np.diag(plain))])
    check(near([row["robust_error"] for row in table], np.sqrt(np.diag(robust)), 1e-4), name + ": robust ones are NumPy's",
          [table, np.sqrt(np.diag(robust))])
    again = run("inspect", "--csv", "--standard-errors", journal)
    check(again == run("inspect", "--csv", model), name + ": the journal gives the same", [again])
    said = json.loads(run("inspect", "--weights", "--json", model))
    check(near(said["robust_intercept_errors"] * intercept + said["robust_errors"], np.sqrt(np.diag(robust)), 1e-4),
          name + ": JSON has them", [said])
    for number in (1, 17, 400):
        stays = np.arange(len(rows)) != number - 1
        without, _ = solve(loss, whole[stays], targets[stays], weights[stays], penalty, x)
        said = json.loads(run("inspect", "--influence", str(number), "--json", journal))
        change = {part["name"]: part["change"] for part in said["changes"]}
        ours = [change["(intercept)"]] * intercept + [change["f%d" % (k + 1)] for k in range(3)]
        # squared: exact; otherwise one step of Newton's, whose error is of the second order
        tolerance = 0.05 if loss != "squared" else 1e-5
        moved = back @ (without - x)
        scale = np.abs(moved).max()
        check(np.abs(ours - moved).max() <= tolerance * scale + 1e-7 and
              abs(said["scores_without"][0] - whole[number - 1] @ without) <= tolerance * abs(whole[number - 1] @ (without - x)) + 1e-6,
              "%s: without point %d the model is that" % (name, number), [ours, moved, said["scores_without"]])


def test_softmax_errors(folder):
    """Three classes with free intercepts, which may all move together: differences are what has errors."""
    source = np.random.default_rng(4)
    rows, classes, total = source.normal(size=(300, 2)), 3, 300
    labels = np.argmax(rows @ source.normal(size=(2, classes)) + source.gumbel(size=(300, classes)), axis=1)
    text = "f1,f2,y\n" + "".join("%.17g,%.17g,%d\n" % (*row, label) for row, label in zip(rows, labels))
    _, model, _ = fit_journal(folder, "softmax", ["--loss", "softmax", "--intercept", "--lambda", str(LAMBDA), "--epsilon",
                                                  "1e-12", "--target", "y"], text)
    table = list(csv.DictReader(io.StringIO(run("inspect", "--csv", model))))
    order = [row["class"] for row in table[:classes]]
    whole = np.column_stack([np.ones(total), rows])
    x = np.array([float(row["weight"]) for row in table]).reshape(3, classes)
    scores = whole @ x
    shares = np.exp(scores - scores.max(axis=1)[:, None])
    shares /= shares.sum(axis=1)[:, None]
    hits = np.array([[str(label) == name for name in order] for label in labels])
    hessian, meat = np.zeros((9, 9)), np.zeros((9, 9))
    for row, share, hit in zip(whole, shares, hits):
        hessian += np.kron(np.outer(row, row), np.diag(share) - np.outer(share, share))
        gradient = np.kron(row, share - hit)
        meat += np.outer(gradient, gradient)
    hessian += np.diag([0.0] * classes + [2 * LAMBDA * total] * 6)
    inverse = np.linalg.pinv(hessian, rcond=1e-10)
    check(near([row["error"] for row in table], np.sqrt(np.diag(inverse)), 1e-3), "softmax: standard errors are NumPy's",
          [table, np.sqrt(np.diag(inverse))])
    check(near([row["robust_error"] for row in table], np.sqrt(np.diag(inverse @ meat @ inverse)), 1e-3),
          "softmax: robust ones are NumPy's", [table])
    explained = list(csv.DictReader(io.StringIO(run("predict", "--explain", "2", "--output", "label,scores", model,
                                                    os.path.join(folder, "softmax.csv")))))
    apart = x - x.mean(axis=1)[:, None]
    good = True
    for row, line in zip(whole, explained):
        theirs = apart[:, order.index(line["label"])] * row
        ours = {line["feature_%d" % k]: float(line["contribution_%d" % k]) for k in (1, 2)}
        good &= near([float(line["intercept"]), ours["f1"], ours["f2"], float(line["rest"])], [*theirs, 0], 1e-9)
    check(good and len(explained) == total, "softmax: contributions are weights, less their mean, times values", explained[:3])


def test_explain(folder):
    rows, targets, weights = draw("logistic", 60, 5, 9)
    _, model, path = fit_journal(folder, "explain", ["--loss", "logistic", "--lambda", str(LAMBDA), "--intercept", "--target", "y",
                                                     "--weight-column", "w"], csv_text(rows, targets, weights))
    said = json.loads(run("inspect", "--weights", "--json", model))
    coefficients, good = np.array(said["weights"]), True
    lines = list(csv.DictReader(io.StringIO(run("predict", "--explain", "3", "--output", "scores", model, path))))
    for row, line in zip(rows, lines):
        parts = coefficients * row
        order = np.argsort(-np.abs(parts))
        good &= [line["feature_%d" % (k + 1)] for k in range(3)] == ["f%d" % (f + 1) for f in order[:3]]
        good &= near([float(line["contribution_%d" % (k + 1)]) for k in range(3)], parts[order[:3]], 1e-12)
        good &= near([float(line["intercept"]), float(line["rest"])], [said["intercepts"][0], parts[order[3:]].sum()], 1e-9)
        good &= near([float(line["score"])], [parts.sum() + said["intercepts"][0]], 1e-9)
    check(good and len(lines) == 60, "the largest contributions of each row, and what they leave", lines[:3])


def main():
    with tempfile.TemporaryDirectory() as folder:
        for loss in ("logistic", "squared"):
            test_validation(folder, loss)
        test_drift(folder)
        for loss in LOSSES:
            for intercept, offset in ((False, 0), (True, 0), (True, 1e9)):
                test_errors(folder, loss, intercept, offset)
        for loss in ("logistic", "squared"):
            test_errors(folder, loss, True, 0, 70)
        test_softmax_errors(folder)
        test_explain(folder)
    print("1..%d" % count)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
