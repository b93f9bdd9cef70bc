#!/usr/bin/python3
"""Tables with types against a pipeline of scikit-learn's, as TAP: `mixed_tables.py KEEPFIT`.

The pipeline reads the same CSV file with pandas, makes indicators of categories (OneHotEncoder, blanks a category of their own) and of
missing numbers (0 and an indicator), and minimises the same objective. The optimum that keepfit measures, and what its own model comes
to, are held against it.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.preprocessing import OneHotEncoder
except ImportError:
    print("1..0 # SKIP scikit-learn or pandas is not installed")
    sys.exit(0)

KEEPFIT, LAMBDA = sys.argv[1], 0.003


def shop(source):
    """Categories and numbers with blanks, truth values, classes."""
    size, colour = source.choice(["S", "M", "L", ""]), source.choice(["red", "blue, dark", 'the "green"'])
    price, new = "" if source.random() < 0.1 else "%.2f" % source.gauss(3, 1), source.random() < 0.5
    score = (size == "L") - (colour == "red") + 0.5 * new + (float(price) - 3 if price else 1)
    return {"size": size, "colour": colour, "price": price, "new": str(new).lower(),
            "label": "buys" if source.random() < 1 / (1 + math.exp(-score)) else "leaves"}


def visits(source):
    """Many categories, most of them late; two columns of numbers with NA."""
    page, hits = "p%d" % min(int(source.paretovariate(0.6)), 400), source.choice(["NA", "1", "2", "5"])
    return {"page": page, "hits": hits, "depth": source.choice(["", "0.5", "-1.25"]),
            "label": "yes" if source.random() < (0.7 if page == "p1" else 0.3) else "no"}


def rents(source):
    """Numbers as targets."""
    town, rooms = source.choice(["Bonn", "Ulm", "Kiel", "NA"]), source.choice(["1", "2", "3", "?"])
    area = "%.1f" % source.uniform(2, 9)
    return {"town": town, "rooms": rooms, "area": area,
            "label": "%.3f" % (float(area) + (town == "Ulm") - (rooms == "?") + source.gauss(0, 0.3))}


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in [dict(zip(rows[0], rows[0]))] + rows:
            file.write(",".join('"%s"' % cell.replace('"', '""') if "," in cell or '"' in cell else cell for cell in row.values()) + "\n")


def encode(path):
    frame = pd.read_csv(path, na_values=["?"])
    target = frame.pop("label")
    for name in frame.columns:
        if frame[name].dtype == bool:
            frame[name] = frame[name].astype(float)
    words = [name for name in frame.columns if frame[name].dtype == object]
    numbers = [name for name in frame.columns if frame[name].dtype != object]
    frame[words] = frame[words].fillna("(missing)")
    made = make_column_transformer((OneHotEncoder(), words),
                                   (SimpleImputer(strategy="constant", fill_value=0, add_indicator=True), numbers), sparse_threshold=0)
    return np.asarray(made.fit_transform(frame), dtype=float), target


def classified(rows, target):
    positive = np.array([1.0 if label != target[0] else -1.0 for label in target])
    model = LogisticRegression(C=1 / (2 * LAMBDA * len(rows)), tol=1e-12, max_iter=100000).fit(rows, positive)
    losses = np.logaddexp(0, -positive * (rows @ model.coef_[0] + model.intercept_[0]))
    return losses.mean() + LAMBDA * (model.coef_ ** 2).sum()


def regressed(rows, target):
    model = Ridge(alpha=LAMBDA * len(rows), tol=1e-14).fit(rows, target)
    return ((rows @ model.coef_ + model.intercept_ - target) ** 2).mean() + LAMBDA * (model.coef_ ** 2).sum()


print("1..6")
number = failures = 0
for make, loss, solve in ((shop, "logistic", classified), (visits, "logistic", classified), (rents, "squared", regressed)):
    source = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        write(path, [make(source) for k in range(700)])
        done = subprocess.run([KEEPFIT, "train", "-q", "--json", "--gap", "--trace-stages", "1", "--intercept", "--loss", loss, "--lambda",
                               str(LAMBDA), "--epsilon", "1e-7", "--target", "label", path], capture_output=True, text=True, timeout=120)
        if done.returncode:
            sys.exit("Bail out! keepfit: " + done.stderr)
        rows, target = encode(path)
        best, ours = solve(rows, target), json.loads(done.stdout)
        for good, name in ((rows.shape[1] == ours["features"], "%s: %d features" % (make.__name__, ours["features"])),
                           (abs(ours["objective"] - best) < 1e-6 and abs(ours["optimum"] - best) < 1e-6,
                            "%s: objective %.9f, optimum %.9f, scikit-learn's %.9f" % (make.__name__, ours["objective"], ours["optimum"], best))):
            number += 1
            failures += not good
            print("%sok %d - %s" % ("" if good else "not ", number, name))
sys.exit(1 if failures else 0)
