#!/usr/bin/python3
"""A network trained by gradient descent, against the same in NumPy, as TAP: `network.py KEEPFIT`.

Gradient descent draws nothing but the initial weights, and these are known from a run whose steps are too small to change anything.
So the whole stream is retraced here: classes come one after the other, features are scaled, points have weights, and the weights
after the last stage, the scores, the objective, accuracy and log-loss have to be the same.
"""
import json
import os
import subprocess
import sys
import tempfile

checks = failures = 0


def check(good, name):
    global checks, failures
    checks += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", checks, name))


try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP NumPy is not installed")
    sys.exit(0)

KEEPFIT, HIDDEN, FEATURES, STEP, INNER, LAMBDA = sys.argv[1], 11, 9, 0.2, 4, 0.003


def run(*words):
    done = subprocess.run([KEEPFIT] + list(words), capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit("Bail out! keepfit %s: %s" % (" ".join(words), done.stderr))
    return done


def layers(path):
    model = json.loads(run("inspect", "--json", "--weights", path).stdout)
    shape = (model["features"], model["hidden"])
    return {"labels": model["labels"], "b1": np.array(model["hidden_intercepts"]),
            "w1": np.array(model["hidden_weights"]).reshape(shape), "b2": np.array(model["intercepts"]),
            "w2": np.array(model["weights"]).reshape(model["hidden"], model["outputs"])}


def forward(x, rows):
    hidden = np.maximum(rows @ x["w1"] + x["b1"], 0)
    scores = hidden @ x["w2"] + x["b2"]
    top = scores - scores.max(axis=1, keepdims=True)
    return hidden, scores, np.exp(top) / np.exp(top).sum(axis=1, keepdims=True)


def descend(x, rows, targets, weights):
    hidden, _, chance = forward(x, rows)
    slopes = (chance - np.eye(chance.shape[1])[targets]) * (weights / weights.sum())[:, None]
    back = (slopes @ x["w2"].T) * (hidden > 0)
    gradient = {"w1": rows.T @ back, "b1": back.sum(axis=0), "w2": hidden.T @ slopes, "b2": slopes.sum(axis=0)}
    for name in gradient:
        x[name] = x[name] - STEP * (gradient[name] + 2 * LAMBDA * x[name])


def train(folder, step, model, *more):
    return run("train", "--loss", "network:%d" % HIDDEN, "--method", "gd", "--inner", str(INNER), "--step", str(step),
               "--lambda", str(LAMBDA), "--weight-column", "w", "--target", "label", "--seed", "12", "--json", "--quiet",
               "--model", os.path.join(folder, model), *more, os.path.join(folder, "data.csv"))


def retrace(start, rows, targets, weights):
    x = dict(start)
    known = 0
    for i in range(1, len(rows) + 1):
        classes = targets[:i].max() + 1
        if classes > known:  # its column begins as it was drawn
            for name in ("w2", "b2"):
                x[name] = np.concatenate((x[name][..., :known], start[name][..., known:classes]), axis=-1)
            known = classes
        for _ in range(INNER):
            descend(x, rows[:i], targets[:i], weights[:i])
    return x


with tempfile.TemporaryDirectory() as folder:
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(60, FEATURES)) * (draw.random((60, FEATURES)) < 0.6)
    rows[0] = 1  # all features are known from the first point on
    labels = np.array([3.0, -1.0, 8.0, 5.0])[np.minimum(np.arange(60) // 9, draw.integers(0, 4, 60))]
    weights = draw.integers(1, 5, 60) / 2
    with open(os.path.join(folder, "data.csv"), "w", encoding="ascii") as file:
        file.write(",".join("f%d" % k for k in range(FEATURES)) + ",w,label\n")
        for row, weight, label in zip(rows, weights, labels):
            file.write(",".join(repr(float(v)) for v in row) + ",%r,%r\n" % (float(weight), float(label)))
    train(folder, 1e-300, "start.kf")
    summary = json.loads(train(folder, STEP, "end.kf").stdout)
    start, found = layers(os.path.join(folder, "start.kf")), layers(os.path.join(folder, "end.kf"))
    order = [float(label) for label in found["labels"]]
    targets = np.array([order.index(label) for label in labels])
    expected = retrace(start, rows, targets, weights)
    # Weights begin within 1/sqrt(inputs): of the bias, which was there first, and of the features.
    check(np.abs(start["w1"]).max() <= 1 / np.sqrt(FEATURES + 1) and np.abs(start["w2"]).max() <= 1 / np.sqrt(HIDDEN),
          "the initial weights are within reach")
    for name in ("w1", "b1", "w2", "b2"):
        apart = np.abs(expected[name] - found[name]).max()
        check(apart < 1e-11 and np.abs(found[name] - start[name]).max() > 1e-3,
              "%s after %d steps as in NumPy (%.1e)" % (name, 60 * INNER, apart))
    check(summary["bound"] is None and summary["optimum"] is None, "nothing is proved")
    _, scores, chance = forward(expected, rows)
    square = sum((expected[name] ** 2).sum() for name in ("w1", "b1", "w2", "b2"))
    losses = -np.log(chance[np.arange(60), targets])
    objective = (weights * losses).sum() / weights.sum() + LAMBDA * square
    check(abs(summary["objective"] - objective) < 1e-11, "the objective is NumPy's")
    told = run("predict", "--score", "--output", "scores", "--target", "label", "--weight-column", "w",
               os.path.join(folder, "end.kf"), os.path.join(folder, "data.csv"))
    printed = np.array([[float(v) for v in line.split(",")] for line in told.stdout.splitlines()[1:]])
    check(np.abs(printed - scores).max() < 1e-10, "predicted scores are NumPy's")
    words = told.stderr.split()
    score = dict(zip(words[::2], map(float, words[1::2])))
    check(abs(score["accuracy"] - (scores.argmax(axis=1) == targets).mean()) < 1e-11, "the accuracy is NumPy's")
    check(abs(score["log-loss"] - losses.mean()) < 1e-10, "the log-loss is NumPy's")
    # Trained on scaled rows, the saved network predicts unscaled ones.
    low, high = rows.min(axis=0), rows.max(axis=0)
    scaled = {"columns": rows / np.sqrt((rows ** 2).sum(axis=0)), "minmax": 2 * (rows - low) / (high - low) - 1,
              "rows": rows / np.maximum(np.sqrt((rows ** 2).sum(axis=1, keepdims=True)), 1e-300)}
    for scale, seen in scaled.items():
        train(folder, STEP, "scaled.kf", "--scale", scale)
        told = run("predict", "--output", "scores", "--target", "label", "--weight-column", "w",
                   os.path.join(folder, "scaled.kf"), os.path.join(folder, "data.csv"))
        printed = np.array([[float(v) for v in line.split(",")] for line in told.stdout.splitlines()[1:]])
        apart = np.abs(printed - forward(retrace(start, seen, targets, weights), seen)[1]).max()
        check(apart < 1e-10, "--scale %s: predictions as in NumPy (%.1e)" % (scale, apart))
print("1..%d" % checks)
sys.exit(1 if failures else 0)
