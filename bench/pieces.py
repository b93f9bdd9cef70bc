#!/usr/bin/python3
"""Gradients a stage for losses made of pieces: pieces.py BUILD [BUILD...] [--method NAME]

Streams of normal numbers, huber's with heavy tails, the others' classes by a line with noise: 20 features, plain, with a column times 1e8,
with another times 1e-8 as well, and with one of Unix times beside a free intercept; and 128 features. Every stage within 1e-3 of the best
objective, lambda 1e-3. Prints a row of Markdown for each, with a column for each build. Needs Python alone.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

LOSSES = ("huber", "hinge", "squared-hinge")
STREAMS = (("plain", 6000, 20), ("1e8", 3000, 20), ("1e8 and 1e-8", 3000, 20), ("Unix times", 3000, 20), ("plain", 6000, 128))


def write(path, name, rows, features, numbers):
    draw = random.Random(1)
    weights = [draw.gauss(0, 1) / math.sqrt(features) for _ in range(features)]
    with open(path, "w") as out:
        out.write(",".join(["x%d" % k for k in range(features)] + ["y"]) + "\n")
        for row in range(rows):
            x = [draw.gauss(0, 1) for _ in range(features)]
            score = sum(a * b for a, b in zip(x, weights))
            if numbers:
                target = 2 * score + 0.5 * draw.gauss(0, 1) / math.sqrt(draw.gammavariate(1.25, 2) / 2.5)
            else:
                target = 1 if score + 0.5 * draw.gauss(0, 1) > 0 else -1
            x[0] = 1700000000 + row if name == "Unix times" else x[0] * 1e8 if "1e8" in name else x[0]
            x[1] *= 1e-8 if "1e-8" in name else 1
            out.write(",".join("%.10g" % v for v in x) + ",%.8g\n" % target)


def run(build, loss, path, name, method):
    words = [os.path.join(build, "keepfit"), "train", "--loss", loss, "--lambda", "1e-3", "--epsilon", "1e-3", "--epsilon-kind",
             "relative", "--method", method, "--json", "--quiet", path] + ["--intercept"] * (name == "Unix times")
    told = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
    return "%.1f (%d missed)" % (told["fo"] / told["stages"], told["missed"]) if told["missed"] else "%.1f" % (told["fo"] / told["stages"])


def main():
    words = sys.argv[1:]
    method = "auto"
    if "--method" in words:
        at = words.index("--method")
        method = words[at + 1]
        del words[at:at + 2]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "points.csv")
        for name, rows, features in STREAMS:
            for loss in LOSSES:
                write(path, name, rows, features, loss == "huber")
                print("| %s | %s | %d | %d | %s |" % (loss, name, features, rows, " | ".join(run(b, loss, path, name, method) for b in words)))


main()
