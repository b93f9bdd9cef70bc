#!/usr/bin/python3
"""auto's choice against each method that holds epsilon: auto.py BUILD [--data DIR] [--write] [--only NAME,...] [--seconds S]

Prints a table in Markdown, of many kinds of problems; --write also writes bench/auto.md. DATA is the folder with the data sets; what it
lacks is left out, and so is scikit-learn's digits where that is not installed. A run ends after S seconds (20), or 20 times what auto took.
"""
import json
import os
import subprocess
import sys
import tempfile

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
import numpy as np  # noqa: E402, after its threads are limited

here = os.path.dirname(os.path.abspath(__file__))
METHODS = ("quadratic", "table", "refit")


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def write_rows(path, targets, rows):
    with open(path, "w") as out:
        for target, row in zip(targets, rows):
            out.write("%.9g %s\n" % (target, " ".join("%d:%.6g" % (k + 1, v) for k, v in row)))


def embedded(rows, features, classes, numbers, seed=1):
    """Rows of length 1 whose spectrum falls as k^-1/2, as embeddings have it."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, features)) * np.arange(1, features + 1) ** -0.5
    X /= np.linalg.norm(X, axis=1)[:, None]
    scores = X @ random.standard_normal((features, max(classes, 1))) * 6
    if numbers:
        targets = scores[:, 0] + 0.5 * random.standard_normal(rows)
    elif classes > 2:
        targets = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    else:
        targets = np.where(random.random(rows) < 1 / (1 + np.exp(-scores[:, 0])), 1, -1)
    return targets, [list(enumerate(x)) for x in X]


def sparse(rows, features, entries, classes, seed=2):
    """Rows of length 1, features drawn by Zipf's law."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, features + 1)
    planted = random.standard_normal((features, classes)) * 3
    found = []
    for _ in range(rows):
        columns = np.unique(random.choice(features, entries, p=share / share.sum()))
        found.append([(k, len(columns) ** -0.5) for k in columns])
    scores = np.array([sum(v * planted[k] for k, v in row) for row in found])
    if classes > 2:
        return np.argmax(scores + random.gumbel(size=scores.shape), axis=1), found
    return np.where(random.random(rows) < 1 / (1 + np.exp(-scores[:, 0])), 1, -1), found


def digits():
    from sklearn.datasets import load_digits
    loaded = load_digits()
    return loaded.target, [[(k, v / 16) for k, v in enumerate(x) if v] for x in loaded.data]


def problems():
    """(name, what makes the points or a data set, options)"""
    relative = "--epsilon-kind relative --epsilon 1e-3 --lambda"
    for features in (10, 50, 128, 384, 768):
        rows = 10000 if features <= 128 else 4000
        yield "logistic, %d full" % features, (lambda f=features, n=rows: embedded(n, f, 2, False)), "--loss logistic %s 1e-3" % relative
    yield "logistic, 128 full, small lambda", lambda: embedded(10000, 128, 2, False), "--loss logistic %s 1e-5" % relative
    for features in (10, 128, 768):
        rows = 10000 if features <= 128 else 2000
        yield "squared, %d full" % features, (lambda f=features, n=rows: embedded(n, f, 1, True)), "--loss squared %s 1e-3" % relative
    for loss in ("hinge", "huber"):
        for features in (20, 128, 600):
            rows = 4000 if features <= 128 else 2000
            yield "%s, %d full" % (loss, features), (lambda f=features, n=rows, h=loss == "huber": embedded(n, f, 1, h)), "--loss %s %s 1e-3" % (loss, relative)
    yield "softmax, digits / 16", digits, "--loss softmax --lambda 1e-3 --epsilon 1e-2"
    yield "softmax, 3 classes, 8 full", lambda: embedded(4000, 8, 3, False), "--loss softmax %s 1e-3" % relative
    yield "softmax, 5 classes, 20 full", lambda: embedded(4000, 20, 5, False), "--loss softmax %s 1e-3" % relative
    yield "softmax, 10 classes, 100 full", lambda: embedded(2000, 100, 10, False), "--loss softmax %s 1e-3" % relative
    yield "softmax, 20 classes, sparse", lambda: sparse(2000, 20000, 60, 20), "--loss softmax --lambda 1e-3 --epsilon 1e-2"
    yield "logistic, 300 sparse", lambda: sparse(4000, 300, 8, 2), "--loss logistic %s 1e-3" % relative
    yield "logistic, 1000 sparse", lambda: sparse(4000, 1000, 20, 2), "--loss logistic %s 1e-3" % relative
    yield "logistic, 20000 sparse", lambda: sparse(4000, 20000, 60, 2), "--loss logistic %s 1e-4" % relative
    yield "logistic, a9a", "a9a", "--loss logistic --limit 10000 %s 5e-5" % relative
    yield "logistic, w8a", "w8a", "--loss logistic --limit 10000 %s 1e-3" % relative
    yield "logistic, 50 full, ball", lambda: embedded(4000, 50, 2, False), "--loss logistic --domain ball:2 %s 1e-3" % relative
    yield "logistic, 50 full, box", lambda: embedded(4000, 50, 2, False), "--loss logistic --domain box:-1:1 %s 1e-3" % relative
    yield "squared, 50 full, simplex", lambda: embedded(4000, 50, 1, True), "--loss squared --domain simplex %s 1e-3" % relative


def train(keepfit, path, options, method, seconds):
    """The summary; None where it ended without one."""
    command = [keepfit, "train", "--json", "--quiet", "--threads", "1", "--method", method, *options.split(), path]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    cut = False
    try:
        out, _ = run.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        cut = True
        run.terminate()  # keepfit ends the stage and prints its summary
        out, _ = run.communicate()
    try:
        told = json.loads(out)
    except ValueError:
        return None
    return dict(told, cut=cut)


def quickest(*arguments):
    """The quickest of three runs, or of one that takes long: what disturbs only adds."""
    told = train(*arguments)
    for _ in range(2 if told and told["seconds"] < 1.5 else 0):
        again = train(*arguments)
        told = again if again and not again["cut"] and again["seconds"] < told["seconds"] else told
    return told


def cell(told):
    if not told:
        return "-"
    cut = " (cut at %d points)" % told["stages"] if told["cut"] else ""
    missed = ", %d missed" % told["missed"] if told["missed"] else ""
    return "%.3g s, %.3g FO%s%s" % (told["seconds"], told["fo"] / max(told["stages"], 1), cut, missed)


def ratio(own, others):
    """Of the seconds that a point took: of the best method that met epsilon at every point that auto had."""
    whole = [o for o in others.values() if o and not o["missed"] and not o["cut"]]
    if not own or own["cut"] or not whole:
        return "-"
    return "%.2f" % (own["seconds"] / min(o["seconds"] for o in whole))


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    keepfit, data = os.path.join(sys.argv[1], "keepfit"), option("--data", "")
    seconds, only = float(option("--seconds", 20)), option("--only", "")
    lines = ["| problem | auto ends with | auto | %s | auto / best |" % " | ".join(METHODS), "|" + "---|" * (len(METHODS) + 4)]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, source, options in problems():
            if only and not any(word in name for word in only.split(";")):
                continue
            path = os.path.join(folder, "stream.svm")
            try:
                if isinstance(source, str):
                    path = os.path.join(data, source + ".gz")
                    if not data or not os.path.exists(path):
                        continue
                else:
                    write_rows(path, *source())
            except ImportError:
                continue
            own = quickest(keepfit, path, options, "auto", seconds * 3)
            most = min(seconds, max(20 * own["seconds"], 1)) if own else seconds
            others = {method: quickest(keepfit, path, options, method, most) for method in METHODS}
            lines.append("| %s | %s | %s | %s | %s |" % (name, own["chosen"] if own else "-", cell(own), " | ".join(cell(o) for o in others.values()),
                                                         ratio(own, others)))
            print(lines[-1], flush=True)
    if "--write" in sys.argv:
        with open(os.path.join(here, "auto.md"), "w") as out:
            out.write("# auto's choice\n\nWritten by `bench/auto.py`: seconds inside the fit and FOs a stage of `auto` and of each method that it chooses from, every stage\n"
                      "proved, one thread. The last column is auto's seconds over those of the quickest that ended and held every stage.\n\n%s\n" % "\n".join(lines))
        subprocess.run([os.path.join(here, "..", "scripts", "wrap"), out.name], check=True)


if __name__ == "__main__":
    main()
