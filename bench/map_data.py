"""The cells of the map, and the files that their points come from."""
import gzip
import os
from typing import NamedTuple

import numpy as np

FEATURES = (32, 128, 384, 768, 1536)
LOSSES = ("logistic", "squared", "huber", "logcosh", "hinge", "squared-hinge", "softmax")
ROWS = 20000
CLASSES = 5


class Cell(NamedTuple):
    name: str
    group: str   # of the table and the picture
    row: str
    column: str
    kind: str    # dense, sparse, or a data set
    loss: str
    lam: float
    features: int = 0
    classes: int = 2
    rows: int = ROWS
    extra: str = "--epsilon-kind relative --epsilon 1e-3"
    source: str = ""


def dense(rows, features, classes):
    """Rows of length 1 whose spectrum falls as k^-1/2, as embeddings have it; classes 1: numbers."""
    random = np.random.default_rng(1)
    X = random.standard_normal((rows, features)) * np.arange(1, features + 1) ** -0.5
    X /= np.linalg.norm(X, axis=1)[:, None]
    scores = X @ random.standard_normal((features, max(classes, 1))) * 6
    if classes == 1:
        y = scores[:, 0] + 0.5 * random.standard_normal(rows)
    elif classes > 2:
        y = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    else:
        y = np.where(random.random(rows) < 1 / (1 + np.exp(-scores[:, 0])), 1, -1)
    return X.astype(np.float32), y.astype(np.float32)


def sparse(rows, features, entries, numbers):
    """Rows of length 1, features drawn by Zipf's law, as in text."""
    random = np.random.default_rng(2)
    share = 1 / np.arange(1, features + 1)
    planted = 3 * random.standard_normal(features)
    drawn = random.choice(features, (rows, entries), p=share / share.sum())
    found = [np.unique(row) for row in drawn]
    scores = np.array([planted[row].sum() * len(row) ** -0.5 for row in found])
    if numbers:
        return scores + 0.5 * random.standard_normal(rows), found
    return np.where(random.random(rows) < 1 / (1 + np.exp(-scores)), 1, -1), found


def dense_cells():
    for loss in LOSSES:
        classes = CLASSES if loss == "softmax" else 1 if loss in ("squared", "huber", "logcosh") else 2
        for lam in (1e-3, 1e-5):
            for features in FEATURES:
                row, column = "%s, lambda %g" % (loss, lam), "%d" % features
                yield Cell("dense, %s, %s features" % (row, column), "dense", row, column, "dense", loss, lam, features, classes)


def sparse_cells():
    for loss in ("logistic", "squared", "hinge", "huber"):
        for features, entries in ((300, 8), (1000, 20), (20000, 60)):
            column = "%d" % features
            yield Cell("sparse, %s, %s features" % (loss, column), "sparse", "%s, lambda 0.001" % loss, column, "sparse", loss, 1e-3, features,
                       1 if loss in ("squared", "huber") else 2, 10000 if features < 20000 else 5000, source="%d" % entries)


def data_cells():
    relative = "--epsilon-kind relative --epsilon 1e-3"
    for name, loss, lam, rows in (("a9a", "logistic", 1e-4, 20000), ("w8a", "logistic", 1e-4, 20000), ("cod-rna", "logistic", 1e-3, 20000)):
        scaled = " --scale columns" if name == "cod-rna" else ""
        yield Cell("data, %s" % name, "data", name, loss, name, loss, lam, rows=rows, extra=relative + scaled, source=name)
    for free in ("", " with intercept"):
        intercept = " --intercept true" if free else ""
        def cell(name, lam, rows, extra, kind):
            column = "with intercept" if free else "without"
            return Cell("softmax, %s%s" % (name, free), "softmax", name, column, kind, "softmax", lam, rows=rows, extra=extra + intercept, source=kind)
        yield cell("digits / 16", 1e-3, 1797, "--epsilon 1e-3", "digits")
        yield cell("digits standardised", 1e-3, 1797, "--epsilon 1e-3", "digits-standard")
        yield cell("MNIST / 255, lambda 1e-3", 1e-3, 2000, "--epsilon 1e-2", "mnist")
        yield cell("MNIST / 255, lambda 1e-4", 1e-4, 10000, "--epsilon 1e-2", "mnist")
        yield cell("news20, unit rows", 1e-4, 10000, "--epsilon 1e-3 --scale rows", "news20")


DATA = {"path": ""}


def cells(data):
    DATA["path"] = data
    yield from dense_cells()
    yield from sparse_cells()
    yield from data_cells()


# ---- files ----

def save(path, X, y):
    np.save(path, np.column_stack([X, y]))


def write_mnist(path):
    def read(name, skip):
        with gzip.open(os.path.join(DATA["path"], name)) as file:
            return np.frombuffer(file.read(), np.uint8, offset=skip)
    labels = read("train-labels-idx1-ubyte.gz", 8)[:10000]
    images = read("train-images-idx3-ubyte.gz", 16)[: 784 * 10000].reshape(-1, 784)
    save(path, (images / 255.0), labels.astype(float))


def write_digits(path, standard):
    from sklearn.datasets import load_digits
    loaded = load_digits()
    X, y = loaded.data, loaded.target.astype(float)
    if standard:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    else:
        X = X / 16
    save(path, X, y)


def write_sparse(path, cell):
    targets, rows = sparse(cell.rows, cell.features, int(cell.source), cell.classes == 1)
    with open(path, "w") as out:
        for target, row in zip(targets, rows):
            value = "%.6g" % len(row) ** -0.5
            out.write("%.9g %s\n" % (target, " ".join("%d:%s" % (k + 1, value) for k in row)))


def file_of(cell, folder):
    """(file, options); the file is None where it cannot be had."""
    options = "--loss %s --lambda %g %s --limit %d" % (cell.loss, cell.lam, cell.extra, cell.rows)
    if cell.kind == "dense":
        path = os.path.join(folder, "dense-%d-%d.npy" % (cell.features, cell.classes))
        if not os.path.exists(path):
            save(path, *dense(cell.rows, cell.features, cell.classes))
        return path, options
    if cell.kind == "sparse":
        path = os.path.join(folder, "sparse-%d-%d.svm" % (cell.features, cell.classes))
        if not os.path.exists(path):
            write_sparse(path, cell)
        return path, options
    path = os.path.join(folder, cell.kind + ".npy")
    try:
        if cell.kind.startswith("digits") and not os.path.exists(path):
            write_digits(path, cell.kind.endswith("standard"))
        elif cell.kind == "mnist" and not os.path.exists(path):
            write_mnist(path)
    except (ImportError, OSError):
        return None, options
    if os.path.exists(path):
        return path, options
    path = os.path.join(DATA["path"], cell.kind + ".gz")
    return (path if DATA["path"] and os.path.exists(path) else None), options
