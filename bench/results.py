#!/usr/bin/python3
"""Speed, as ratios measured in one run: results.py BUILD [--write]

Machines are noisy, ratios within one run less so. Prints a table; --write also writes bench/results.md and bench/results.svg, which
are committed, so that a change shows as a diff. Needs no network; rivals that are not installed are named as skipped.
KEEPFIT_DATA=DIR names a folder with a9a; without it a stream of the same shape is generated.
"""
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
build = os.path.abspath(sys.argv[1])
keepfit, inner = os.path.join(build, "keepfit"), os.path.join(build, "bench", "bench_step")
rows = []  # (what, figure, bar, met)


def say(what, figure, bar="", met=None):
    rows.append((what, figure, bar, met))
    print("%-78s %-34s %s%s" % (what, figure, bar, "" if met is None else "  ok" if met else "  MISSED"), flush=True)


def step(*words):
    done = subprocess.run([inner, *map(str, words)], capture_output=True, text=True, check=True)
    return done.stdout.strip().split(",")


def step_times(method, features, nnz, count, times=3):
    """The fastest of several runs: what disturbs only adds."""
    found = [step(method, features, nnz, 20000, count) for _ in range(times)]
    return [min(float(f[k]) for f in found) for k in (3, 4, 5)]


def bench_steps():
    shapes = (("dense, 50 features", 50, 50, 500000), ("75 of 50,000 features", 50000, 75, 200000))
    own = {}
    for method in ("saga", "csvrg"):
        for name, features, nnz, count in shapes:
            ns, bare, single = step_times(method, features, nnz, count)
            own[method, name] = ns
            what = "x and its table's sum" if method == "saga" else "x"
            say("%s step, %s, against bare dots and updates of %s" % (method, name, what),
                "%.0f / %.0f ns = %.2f" % (ns, bare, ns / bare), "at most 1.5", ns / bare <= 1.5)
            if method == "saga":
                say("%s step, %s, against bare dots and updates of x alone" % (method, name),
                    "%.0f / %.0f ns = %.2f" % (ns, single, ns / single))
    return own, shapes


def instructions(features, count):
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out.name, inner, "csvrg", str(features), "75",
                               "500", str(count), "quiet"], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found.group(1)) if found else None


def bench_dimension():
    curve = []
    for features in (1000, 10000, 100000, 1000000):
        ns, bare, _ = step_times("csvrg", features, 75, 100000, times=2)
        curve.append((features, ns, bare))
    for features, ns, bare in curve[1:]:
        say("csvrg step, 75 non-zeros, %s features against 1,000 (cache misses included)" % format(features, ","),
            "%.2f (bare loops: %.2f)" % (ns / curve[0][1], bare / curve[0][2]))
    try:
        per = {f: (instructions(f, 4000) - instructions(f, 1000)) / 3000 for f in (1000, 1000000)}
        say("instructions a csvrg step, 1,000,000 features against 1,000",
            "%.0f / %.0f = %.3f" % (per[1000000], per[1000], per[1000000] / per[1000]), "at most 1.05",
            per[1000000] / per[1000] <= 1.05)
    except (OSError, TypeError):
        say("instructions a step (callgrind)", "skipped: valgrind is not installed")
    few = step_times("csvrg", 50000, 10, 200000, times=2)[0]
    many = step_times("csvrg", 50000, 200, 100000, times=2)[0]
    say("csvrg step, 200 non-zeros against 10", "%.0f / %.0f ns = %.1f (non-zeros: 20)" % (many, few, many / few))
    return curve


def bench_threads():
    one = float(step("pass", 50, 50, 200000, 1)[4])
    two = float(step("pass", 50, 50, 200000, 2)[4])
    say("full-gradient pass, 200,000 dense rows, two threads against one", "%.2f" % (one / two))


def a9a_like(folder):
    path, data = os.path.join(folder, "million.svm"), os.environ.get("KEEPFIT_DATA")
    source = data and os.path.join(data, "a9a.gz")
    if source and os.path.exists(source):
        lines = gzip.open(source, "rb").read().splitlines(True)
        name = "a9a repeated"
    else:
        text = subprocess.run([keepfit, "generate", "--rows", "30000", "--features", "123", "--nnz", "14", "--loss", "logistic"],
                              capture_output=True, check=True).stdout
        lines = [re.sub(rb":[^ \n]+", b":1", line) for line in text.splitlines(True)]
        name = "a stream like a9a"
    with open(path, "wb") as out:
        written = 0
        while written < 1000000:
            part = lines[:1000000 - written]
            out.write(b"".join(part))
            written += len(part)
    return path, name


def timed(command, times=5):
    best = None
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        best = min(best or 1e9, time.perf_counter() - start)
    return best


def bench_reading(folder):
    path, name = a9a_like(folder)
    size = os.path.getsize(path)
    own = min(float(step("parse", path)[3]) for _ in range(3))
    count = timed(["wc", "-l", path], 3)
    say("reading %s, 1,000,000 rows: against wc -l" % name, "%.0f / %.0f MB/s" % (size / own / 1e6, size / count / 1e6))
    try:
        from sklearn.datasets import load_svmlight_file
        start = time.perf_counter()
        load_svmlight_file(path)
        theirs = time.perf_counter() - start
        say("reading, against scikit-learn's load_svmlight_file", "%.1f times faster" % (theirs / own), "at least 20", theirs / own >= 20)
    except ImportError:
        say("reading, against scikit-learn", "skipped: scikit-learn is not installed")
    whole = timed([keepfit, "train", "--quiet", "--loss", "logistic", "--method", "sgd", "--inner", "1", path])
    say("train --method sgd --inner 1, from the file to the summary", "%.2f million points a second" % (1 / whole),
        "at least 1", whole <= 1)
    done = subprocess.run(["/usr/bin/env", "python3", "-c", "import resource,subprocess,sys;subprocess.run(sys.argv[1:]);"
                           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", keepfit, "train", "--quiet", "--loss", "logistic",
                           "--method", "csvrg", "--inner", "1", path], capture_output=True, text=True)
    entries = sum(line.count(b":") for line in open(path, "rb"))
    memory("%s, csvrg" % name, int(done.stdout.split()[-1]), entries, 1000000, 123)


def memory(name, kilobytes, entries, points, features):
    allowed = 12 * entries + 40 * points + 40 * features + 20e6
    say("peak memory, %s" % name, "%.0f of %.0f MB" % (kilobytes * 1024 / 1e6, allowed / 1e6), "at most the allowance",
        kilobytes * 1024 <= allowed)


def bench_wide_memory(folder):
    path = os.path.join(folder, "wide.svm")
    with open(path, "wb") as out:
        subprocess.run([keepfit, "generate", "--rows", "20000", "--features", "1000000", "--nnz", "75", "--loss", "logistic"], stdout=out,
                       check=True)
    for method in ("csvrg", "sgd"):
        done = subprocess.run(["/usr/bin/env", "python3", "-c", "import resource,subprocess,sys;subprocess.run(sys.argv[1:]);"
                               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", keepfit, "train", "--quiet", "--loss",
                               "logistic", "--method", method, "--inner", "5", "--setting", "paper", path], capture_output=True, text=True)
        memory("1,000,000 features, 20,000 rows, %s" % method, int(done.stdout.split()[-1]), 75 * 20000, 20000, 1000000)


def sag_step(solver, x, y):
    from sklearn.linear_model import LogisticRegression
    import warnings
    times = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for epochs in (2, 12):
            model = LogisticRegression(solver=solver, C=1.0 / (2e-4 * x.shape[0]), fit_intercept=False, max_iter=epochs, tol=0)
            best = 1e9
            for _ in range(3):
                start = time.perf_counter()
                model.fit(x, y)
                best = min(best, time.perf_counter() - start)
            times[epochs] = best
    return 1e9 * (times[12] - times[2]) / (10 * x.shape[0])


def bench_rivals(own, shapes, folder):
    try:
        import numpy as np
        import scipy.sparse as sp
        from sklearn.linear_model import LogisticRegression, SGDClassifier
    except ImportError:
        say("scikit-learn", "skipped: not installed")
        return
    random = np.random.RandomState(1)
    data = {"dense, 50 features": random.randn(20000, 50)}
    columns = np.sort(np.arange(75) * (50000 // 75) + random.randint(50000 // 75, size=(20000, 75)), axis=1).ravel()
    data["75 of 50,000 features"] = sp.csr_matrix((random.randn(75 * 20000), columns, np.arange(0, 75 * 20000 + 1, 75)), (20000, 50000))
    y = np.where(np.arange(20000) % 2 == 1, 1, -1)
    for name, bar in (("dense, 50 features", 5), ("75 of 50,000 features", 3)):
        for solver in ("saga", "sag"):
            theirs = sag_step(solver, data[name], y)
            ratio = theirs / own["saga", name]
            say("a saga step against scikit-learn's %s, %s" % (solver, name), "%.0f ns there: %.1f times faster" % (theirs, ratio),
                "at least %d" % bar if solver == "saga" else "", ratio >= bar if solver == "saga" else None)
    x = data["dense, 50 features"]
    model = LogisticRegression(C=1.0 / (2e-4 * 20000), fit_intercept=False, warm_start=True, tol=1e-4).fit(x[:19999], y[:19999])
    start = time.perf_counter()
    for _ in range(5):
        model.fit(x, y)
    refit = (time.perf_counter() - start) / 5
    stream = os.path.join(folder, "dense.svm")
    with open(stream, "w") as out:
        for row, label in zip(x, y):
            out.write("%d %s\n" % (label, " ".join("%d:%.9g" % (k + 1, v) for k, v in enumerate(row))))
    done = subprocess.run([keepfit, "train", "--json", "--loss", "logistic", "--lambda", "1e-4", "--method", "csvrg", stream],
                          capture_output=True, text=True, check=True)
    seconds = float(re.search(r'"seconds": ([0-9.e+-]+)', done.stdout).group(1))
    say("a csvrg stage (100 steps) against one warm re-fit of LogisticRegression, 20,000 rows",
        "%.0f us / %.1f ms: %.0f times faster" % (1e6 * seconds / 20000, 1e3 * refit, refit / (seconds / 20000)))
    sgd = SGDClassifier(loss="log_loss", fit_intercept=False).partial_fit(x[:1], y[:1], classes=[-1, 1])
    start = time.perf_counter()
    for k in range(2000):
        sgd.partial_fit(x[k:k + 1], y[k:k + 1])
    call = (time.perf_counter() - start) / 2000
    say("the same against one call of SGDClassifier.partial_fit", "%.0f us there" % (1e6 * call))
    for program in ("liblinear-train", "train-liblinear"):
        try:
            whole = timed([program, "-s", "0", "-q", stream, os.devnull], 2)
            say("the same against one run of liblinear on the file (reading included)", "%.0f ms there" % (1e3 * whole))
            return
        except (OSError, subprocess.CalledProcessError):
            continue
    say("liblinear", "skipped: not installed")


def plot(curve, path):
    """Step cost against dimension, on logarithmic axes."""
    import math
    width, height, left, bottom = 560, 300, 70, 45
    lowest, highest = 2, math.ceil(math.log10(max(ns for _, ns, _ in curve)))

    def at(features, ns):
        return (left + (math.log10(features) - 3) / 3 * (width - left - 20),
                height - bottom - (math.log10(ns) - lowest) / (highest - lowest) * (height - bottom - 20))
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height),
             '<title>Time of a csvrg step against the number of features, 75 non-zeros a row</title>',
             '<rect width="100%" height="100%" fill="white"/>']
    for power in range(lowest, highest + 1):
        x, y = at(1000, 10 ** power)
        parts.append('<line x1="%g" x2="%g" y1="%g" y2="%g" stroke="#ddd"/><text x="%g" y="%g" text-anchor="end">%g ns</text>' %
                     (left, width - 20, y, y, left - 6, y + 4, 10 ** power))
    for features, _, _ in curve:
        x, _ = at(features, 100)
        parts.append('<text x="%g" y="%g" text-anchor="middle">%s</text>' % (x, height - bottom + 18, format(features, ",")))
    for place, colour, label in ((1, "#1f4e9c", "csvrg step"), (2, "#b5482a", "bare dots and updates")):
        points = [at(c[0], c[place]) for c in curve]
        parts.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' %
                     (colour, " ".join("%.1f,%.1f" % p for p in points)))
        parts.append('<text x="%g" y="%g" fill="%s">%s</text>' % (left + 12, 24 + 16 * place, colour, label))
    parts.append('<text x="%g" y="%g" text-anchor="middle">features</text></svg>' % ((left + width) / 2, height - 8))
    open(path, "w").write("\n".join(parts) + "\n")


own, shapes = bench_steps()
curve = bench_dimension()
bench_threads()
with tempfile.TemporaryDirectory() as folder:
    bench_reading(folder)
    bench_wide_memory(folder)
    bench_rivals(own, shapes, folder)
if "--write" in sys.argv:
    with open(os.path.join(here, "results.md"), "w") as out:
        out.write("# Results of `make bench`\n\nRatios within one run, on a shared machine with two cores; times vary by a third.\n\n"
                  "| what | figure | bar | met |\n|---|---|---|---|\n")
        for what, figure, bar, met in rows:
            out.write("| %s | %s | %s | %s |\n" % (what, figure, bar, "" if met is None else "yes" if met else "no"))
        out.write("\n![Step cost against dimension](results.svg)\n")
    plot(curve, os.path.join(here, "results.svg"))
missed = [r for r in rows if r[3] is False]
print("%d of %d bars met" % (len([r for r in rows if r[3]]), len([r for r in rows if r[3] is not None])))
