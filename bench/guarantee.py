#!/usr/bin/python3
"""What the guarantee costs: guarantee.py BUILD DATA [--write] [--parts 1,2,...] [--rows N] [--seconds S]

Counts gradients (FOs), and seconds where they matter, for the methods that hold epsilon; docs/guarantee.md says what they do. Prints
tables in Markdown; --write also writes bench/guarantee-results.md, in which parts that were not asked for stay as they are. DATA is the folder with
the data sets, as gzip or plain files; what it lacks is named as skipped. --rows takes only the first N points of every stream, for a quick
look; --seconds (300) ends a run of part 3, 4 or 5 that takes longer, and the table says so.
Parts 6 and 7 need scikit-learn, 7 for the digits alone.
"""
import csv
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
RIDGE_SETS = ("breast-cancer", "cod-rna", "diabetes", "german.numer", "skin_nonskin")
GRID = [(inner, alpha, step) for inner in (10, 30, 100, 300) for alpha in (0.1, 0.3, 1) for step in ("0.3/L", "1/L", "3/L")]
FIRST_STAGE = 10  # gaps are looked at from here on
REFIT_TIMES, READING = 4, 5  # refit may take so many times what auto did, and so many seconds for reading the file
# One thread each: what is compared is the work.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
ENVIRONMENT = dict(os.environ)
import numpy as np  # noqa: E402, after its threads are limited


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


if len(sys.argv) < 3 or sys.argv[2].startswith("-"):
    sys.exit(__doc__)
keepfit, data = os.path.join(os.path.abspath(sys.argv[1]), "keepfit"), sys.argv[2]
most_rows, seconds = int(option("--rows", 0)), float(option("--seconds", 300))
lines = []  # of the part at work


def say(line=""):
    lines.append(line)
    print(line, flush=True)


def head(*names):
    say("| %s |" % " | ".join(names))
    say("|%s|" % "|".join("---" for _ in names))


def row(*cells):
    say("| %s |" % " | ".join(map(str, cells)))


def find(name):
    for candidate in (name, name + ".gz"):
        if os.path.exists(os.path.join(data, candidate)):
            return os.path.join(data, candidate)
    return None


def open_text(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def limit(rows=0):
    """--limit for at most `rows` points (0: all), and fewer where --rows says so."""
    wanted = min(filter(None, (rows, most_rows)), default=0)
    return ["--limit", str(wanted)] if wanted else []


def train(path, *options, within=None):
    """The summary, with "cut" where the time was over (it then says how far the run came); None: the run failed."""
    command = [keepfit, "train", "--json", "--quiet", "--threads", "1", *map(str, options), path]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    cut = False
    try:
        out, _ = run.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        cut = True
        run.terminate()  # keepfit ends the stage and prints its summary
        try:
            out, _ = run.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            return None
    try:
        told = json.loads(out)
    except ValueError:
        return None
    told["cut"], told["fo_a_stage"] = cut, told["fo"] / max(told["stages"], 1)
    return told


def figure(number):
    """Three digits, and whole numbers beyond."""
    return "%.0f" % number if number >= 100 else "%.3g" % number


def part_ridge(folder):
    say("Each column to unit norm, at most 1000 points in an order drawn with seed 1, squared loss, lambda 1e-3, absolute epsilon. FOs a")
    say("stage of `auto`; at all these stages the proved bound was at most epsilon unless the cell says otherwise.")
    say()
    epsilons = ("1e-2", "1e-3", "1e-4", "1e-5", "1e-6")
    head("data", "points", "features", "method", *("epsilon " + e for e in epsilons), "largest bound")
    for name in RIDGE_SETS:
        if not find(name):
            row(name, *[""] * 3, *["skipped: not there"] * len(epsilons), "")
            continue
        runs = [train(find(name), "--scale", "columns", "--shuffle", *limit(1000), "--lambda", "1e-3", "--epsilon", e) for e in epsilons]
        cells = ["%.2f%s" % (r["fo_a_stage"], ", %d missed" % r["missed"] if r["missed"] else "") for r in runs]
        row(name, runs[0]["stages"], runs[0]["features"], runs[0]["chosen"], *cells, "%.0e" % max(r["worst_bound"] for r in runs))


def has_two_classes(path):
    with open_text(path) as file:
        return len({line.split(None, 1)[0] for line in file if line.strip()}) == 2


def largest_gap(trace):
    with open(trace) as file:
        return max(float(r["gap"]) for r in csv.DictReader(file) if int(r["stage"]) >= FIRST_STAGE)


def measured(path, trace, *options):
    """The summary of a run, and the largest gap of all its stages from FIRST_STAGE on; None where it diverged."""
    told = train(path, "--scale", "columns", "--shuffle", *limit(1000), "--loss", "logistic", "--lambda", "1e-3", "--gap", "--trace", trace,
                 "--trace-stages", "all", *options)
    return (told, largest_gap(trace)) if told else None


def grid_of(path, trace):
    """(FOs a stage, largest gap) for each setting of csvrg; None where it diverged."""
    found = {}
    for inner, alpha, step in GRID:
        run = measured(path, trace, "--method", "csvrg", "--inner", inner, "--alpha", alpha, "--step", step)
        found[inner, alpha, step] = run and (run[0]["fo_a_stage"], run[1])
    return found


def part_logistic(folder):
    say("The same points with the logistic loss, lambda 1e-3, absolute epsilon: `auto`, which needs no setting, against the cheapest `csvrg` of the")
    say("%d settings below (inner 10 to 300, alpha 0.1 to 1, step 0.3/L to 3/L; one seed) whose gap was at most epsilon. Every stage was" % len(GRID))
    say("traced, and the gap measured at each against the true optimum; the largest from stage %d on counts. `auto` knows that it meets epsilon;" % FIRST_STAGE)
    say("for `csvrg` somebody has to have measured it. `csvrg`'s work does not depend on epsilon, so the same run may be the cheapest for several.")
    say()
    epsilons, trace, grids = ("1e-2", "1e-3", "1e-4"), os.path.join(folder, "trace.csv"), {}
    head("data", "epsilon", "auto: FOs a stage", "largest bound", "largest gap", "csvrg: FOs a stage", "largest gap", "inner, alpha, step",
         "csvrg / auto")
    for name in RIDGE_SETS:
        path = find(name)
        if not path or not has_two_classes(path):
            row(name, "skipped: %s" % ("its labels are not two classes" if path else "not there"), *[""] * 7)
            continue
        grids[name] = grid_of(path, trace)
        for epsilon in epsilons:
            own, gap = measured(path, trace, "--epsilon", epsilon)
            good = [(run[0], setting) for setting, run in grids[name].items() if run and run[1] <= float(epsilon)]
            theirs, setting = min(good, default=(None, None))
            row(name, epsilon, figure(own["fo_a_stage"]), "%.1e" % own["worst_bound"], "%.1e" % gap,
                *(["none of the grid", "", "", ""] if theirs is None else
                  [figure(theirs), "%.1e" % grids[name][setting][1], "%d, %g, %s" % setting, figure(theirs / own["fo_a_stage"])]))
    say()
    say("The grid: FOs a stage (they do not depend on the step), and the largest gap for each step.")
    say()
    steps = ("0.3/L", "1/L", "3/L")
    head("data", "inner", "alpha", "FOs a stage", *("gap, step " + s for s in steps))
    for name, grid in grids.items():
        for inner in (10, 30, 100, 300):
            for alpha in (0.1, 0.3, 1):
                runs = [grid[inner, alpha, s] for s in steps]
                row(name, inner, "%g" % alpha, figure(next((r[0] for r in runs if r), float("nan"))),
                    *("%.1e" % r[1] if r else "diverged" for r in runs))


def write_halves(path, out):
    """Classes 1 .. 10 against 11 .. 20."""
    with open_text(path) as lines_in, open(out, "w") as lines_out:
        for line in lines_in:
            label, rest = line.split(" ", 1)
            lines_out.write("%d %s" % (-1 if float(label) <= 10 else 1, rest))


def speed_streams(folder):
    """(name, path or None, options): the streams of part 3."""
    writer = os.path.join(data, "..", "tools", "bench_data.py")
    for name in ("dense", "sparse"):
        path = os.path.join(folder, name + ".svm")
        if os.path.exists(writer):
            with open(path, "wb") as out:
                subprocess.run(["/usr/bin/python3", writer, name, "20000"], stdout=out, check=True)
        yield name, path if os.path.exists(writer) else None, []
    yield "a9a", find("a9a"), []
    news = find("news20")
    if news:
        write_halves(news, os.path.join(folder, "news20.svm"))
    yield "news20", news and os.path.join(folder, "news20.svm"), ["--scale", "rows"]


def speed_cells(told):
    if not told:
        return ["over the time"] + [""] * 3
    cut = " (cut after %d points)" % told["stages"] if told["cut"] else ""
    return ["%.3g%s" % (told["seconds"], cut), figure(told["fo_a_stage"]), "%.3g" % (1e6 * told["seconds"] / told["stages"]), told["missed"]]


def quickest(path, *options, within=None):
    """The quickest of three runs, or of one that takes long: what disturbs only adds."""
    told = train(path, *options, within=within or seconds)
    for _ in range(2 if told and told["seconds"] < 2 else 0):
        again = train(path, *options, within=within or seconds)
        told = again if again and not again["cut"] and again["seconds"] < told["seconds"] else told
    return told


def part_speed(folder):
    say("Logistic loss, lambda 5e-5, epsilon relative to the best objective, the first 20,000 points of each stream in file order, one thread;")
    say("`auto` ends after %g s, `refit` after 4 times what `auto` took. dense: 50 features, neighbours correlated by 0.9; sparse: 50,000 features, about 75 in a row, unit rows; news20:" % seconds)
    say("classes 1 to 10 against 11 to 20, unit rows. `refit` re-solves by Newton's method whenever the same proof fails. Seconds inside")
    say("the fit, reading not included; the ratio is of the seconds, and a lower bound where refit was cut.")
    say()
    head("data", "points", "epsilon", "auto is", "seconds", "FOs a stage", "us a point", "missed", "refit: seconds", "FOs a stage", "us a point",
         "missed", "refit / auto")
    for name, path, options in speed_streams(folder):
        if not path:
            row(name, "skipped: not there", *[""] * 11)
            continue
        for epsilon in ("1e-2", "1e-3", "1e-4"):
            same = (*options, *limit(20000), "--loss", "logistic", "--lambda", "5e-5", "--epsilon-kind", "relative", "--epsilon", epsilon)
            own = quickest(path, *same, "--method", "auto")
            bar = quickest(path, *same, "--method", "refit", within=READING + REFIT_TIMES * own["seconds"] if own else seconds)
            ended = own and bar and not own["cut"]
            row(name, own["stages"] if own else "", epsilon, own["chosen"] if own else "", *speed_cells(own), *speed_cells(bar),
                "%s%.2f" % ("above " if bar["cut"] else "", bar["seconds"] / own["seconds"]) if ended else "")


def write_minmax(path, out):
    """Each column to [-1, 1] over the whole file, so that a prefix of the stream is the same however long it is."""
    with open_text(path) as file:
        parts = [line.split() for line in file]
    values = np.zeros((len(parts), 1 + max(int(p.split(":")[0]) for line in parts for p in line[1:])))
    for line, words in zip(values, parts):
        line[0] = float(words[0])
        for word in words[1:]:
            index, value = word.split(":")
            line[int(index)] = float(value)
    low, high = values[:, 1:].min(axis=0), values[:, 1:].max(axis=0)
    values[:, 1:] = 2 * (values[:, 1:] - low) / np.where(high > low, high - low, 1) - 1
    with open(out, "w") as file:
        for line in values:
            file.write("%d %s\n" % (line[0], " ".join("%d:%.17g" % (k, v) for k, v in enumerate(line) if k)))


def count_rows(path):
    with open_text(path) as file:
        return sum(1 for _ in file)


def part_tenths(folder):
    say("Logistic loss, lambda 1e-3, absolute epsilon 1e-2: FOs a stage in each tenth of the stream, from ten runs over ever longer parts of it,")
    say("which are the same stage by stage. cod-rna: columns scaled to [-1, 1], order drawn with seed 1 (the file is sorted by class); a9a: as it is.")
    say("`estimate` is `--method table --guarantee estimate`, whose stages are not proved; `proved` is `auto`.")
    say()
    head("data", "points", "guarantee", *("%d" % k for k in range(1, 11)), "whole", "missed")
    for name in ("cod-rna", "a9a"):
        path = find(name)
        if not path:
            row(name, "skipped: not there", *[""] * 13)
            continue
        options = []
        if name == "cod-rna":
            write_minmax(path, os.path.join(folder, "cod-rna.svm"))
            path, options = os.path.join(folder, "cod-rna.svm"), ["--shuffle"]
        points = min(filter(None, (count_rows(path), most_rows)))
        for guarantee, method in (("estimate", "table"), ("proved", "auto")):
            before, cells, told = (0, 0), [], None
            for k in range(1, 11):
                told = train(path, *options, "--loss", "logistic", "--lambda", "1e-3", "--epsilon", "1e-2", "--method", method, "--guarantee",
                             guarantee, "--limit", points * k // 10, within=seconds)
                if not told or told["cut"]:
                    break
                cells.append(figure((told["fo"] - before[0]) / (told["stages"] - before[1])))
                before = (told["fo"], told["stages"])
            cells += ["over the time"] * (10 - len(cells))
            row(name, points, guarantee, *cells, figure(before[0] / max(before[1], 1)), told["missed"] if told else "")


def part_order(folder):
    say("Streams in file order, logistic loss, lambda 1e-3, absolute epsilon, `auto`. elec2 is in order of time; in skin_nonskin the second class appears")
    say("after 50,859 points of the first. With a window only the newest points count. `missed` counts stages whose bound exceeded epsilon: it has to be 0.")
    say()
    head("data", "points", "window", "epsilon", "auto is", "FOs a stage", "seconds", "largest bound", "missed")
    for name in ("elec2", "skin_nonskin"):
        for window, epsilon in ((w, e) for w in (0, 1000, 10000) for e in ("1e-2", "1e-3")) if find(name) else ():
            told = train(find(name), *limit(), "--loss", "logistic", "--lambda", "1e-3", "--epsilon", epsilon,
                         *(["--window", window] if window else []), within=seconds)
            if not told:
                row(name, "", window or "", epsilon, "over the time", *[""] * 4)
                continue
            row(name, "%d%s" % (told["stages"], " (cut after %g s)" % seconds if told["cut"] else ""), window or "", epsilon, told["chosen"],
                figure(told["fo_a_stage"]), "%.3g" % told["seconds"], "%.2e" % told["worst_bound"], told["missed"])
        if not find(name):
            row(name, "skipped: not there", *[""] * 7)


def part_refitting(folder):
    """Imports what only this part needs."""
    try:
        from sklearn.datasets import load_svmlight_file
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        say("skipped: scikit-learn is not there")
        return
    penalty, epsilon, every = 5e-5, 1e-3, 500
    say("a9a in file order, logistic loss, lambda %g, relative epsilon %g: `auto` against fitting again at every stage with scikit-learn, by the cheapest" % (penalty, epsilon))
    say("of its solvers (`liblinear` is the library of that name). Theirs was measured at every %dth stage only and *extrapolated*: the sum of the times, times %d." % (every, every))
    say("Before each, the solver fits all points but the newest, not counted, and starts from there where it can; then it fits all, with the largest of five tolerances that")
    say("meets epsilon (the gap measured against `newton-cholesky` with tolerance 1e-10). Seconds inside the fit for `auto`, the least of three runs, and inside")
    say("`fit` for the others; one thread each.")
    say()
    path = find("a9a")
    if not path:
        row("a9a", "skipped: not there")
        return
    own = min((train(path, *limit(), "--loss", "logistic", "--lambda", penalty, "--epsilon-kind", "relative", "--epsilon", epsilon) for _ in range(3)),
              key=lambda told: told["seconds"])
    rows, labels = load_svmlight_file(path)
    stages = range(every, own["stages"] + 1, every)

    def model(solver, tolerance, count):
        return LogisticRegression(C=1 / (2 * penalty * count), fit_intercept=False, solver=solver, tol=tolerance, max_iter=1000,
                                  warm_start=solver != "liblinear", random_state=1)

    def objective(x, count):
        return np.logaddexp(0, -labels[:count] * (rows[:count] @ x)).mean() + penalty * x @ x

    def timed(solver, count, least):
        """Seconds of the first tolerance that meets epsilon; None: none does."""
        for tolerance in (1e-1, 1e-2, 1e-3, 1e-4, 1e-6):
            fit = model(solver, tolerance, count)
            fit.fit(rows[:count - 1], labels[:count - 1])
            begun = time.perf_counter()
            fit.fit(rows[:count], labels[:count])
            seconds_taken = time.perf_counter() - begun
            if objective(fit.coef_[0], count) <= (1 + epsilon) * least:
                return seconds_taken
        return None

    taken = {solver: [] for solver in ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag")}
    for count in stages:
        best = model("newton-cholesky", 1e-10, count).fit(rows[:count], labels[:count])
        least = objective(best.coef_[0], count)
        for solver, list_of in taken.items():
            list_of.append(timed(solver, count, least))
    head("method", "seconds", "us a point", "times auto's")
    row("auto (%s)" % own["chosen"], "%.3g" % own["seconds"], figure(1e6 * own["seconds"] / own["stages"]), 1)
    for solver, list_of in taken.items():
        if None in list_of or not list_of:
            row(solver, "did not meet epsilon at %d stages" % list_of.count(None), "", "")
            continue
        whole = every * sum(list_of)
        row("%s, extrapolated" % solver, figure(whole), figure(1e6 * whole / own["stages"]), figure(whole / own["seconds"]))


def class_streams():
    """Name, rows, classes: scikit-learn's digits, and numbers with columns that are far from 1, or from 0."""
    try:
        from sklearn.datasets import load_digits
        digits = load_digits()
        yield "digits / 16", digits.data / 16, digits.target
    except ImportError:
        row("digits", "skipped: scikit-learn is not there", *[""] * 8)
    for name, count, classes, scales, shift in (("normal", 5000, 5, np.ones(8), 0), ("two columns times 1e8", 600, 4, np.array([1e8, 1e8, 1, 1]), 0),
                                                ("Unix times beside", 600, 4, np.array([100, 1, 1, 1]), np.array([1.7e9, 0, 0, 0]))):
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(count, len(scales)))
        scores = rows @ rng.normal(size=(len(scales), classes)) * 1.5 + rng.gumbel(size=(count, classes))
        yield name, rows * scales + shift, scores.argmax(1)


def part_classes(folder):
    say("Softmax with an intercept, lambda 1e-3, absolute epsilon, `auto`; rows are drawn with seed 1 but for the digits, which are in their order. Time is the")
    say("processor's, reading included. Stages")
    say("without a bound are among the first, when columns that cost nothing tell classes of a point or two apart.")
    say()
    head("data", "points", "features", "classes", "epsilon", "FOs a stage", "us a point", "largest bound", "missed", "without a bound")
    for name, rows, labels in class_streams():
        path = os.path.join(folder, "classes.csv")
        with open(path, "w") as file:
            file.write(",".join("x%d" % k for k in range(rows.shape[1])) + ",y\n")
            file.writelines(",".join("%.17g" % v for v in values) + ",%d\n" % label for values, label in zip(rows, labels))
        for epsilon in ("1e-2", "1e-3", "1e-4"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            told = train(path, *limit(), "--target", "y", "--loss", "softmax", "--intercept", "--lambda", "1e-3", "--epsilon", epsilon, within=seconds)
            row(name, told["stages"], rows.shape[1], len(set(labels)), epsilon, figure(told["fo_a_stage"]),
                figure(1e6 * (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) / told["stages"]), "%.2e" % told["worst_bound"],
                told["missed"], told["unproved"])


PARTS = (("Ridge: one or two gradients a point", part_ridge), ("Logistic: auto against the best csvrg of a grid", part_logistic),
         ("Speed: auto against refit", part_speed), ("Along the stream: estimated and proved", part_tenths),
         ("Order: every stage is held", part_order), ("Against fitting again at every stage", part_refitting),
         ("Several classes", part_classes))
OPENING = """# What the guarantee costs

Written by `bench/guarantee.py`, which `make bench` runs where `KEEPFIT_DATA` names the data sets. An FO is one gradient of one point; see
[docs/guarantee.md](../docs/guarantee.md). FOs hardly depend on the machine (rounding may); seconds come from a shared one with two cores and vary by a third.
"""


def written(path):
    """Title and text of each part that the file has."""
    if not os.path.exists(path):
        return {}
    sections = open(path).read().split("\n## ")[1:]
    return {title: text.strip("\n") for title, text in (s.split("\n", 1) for s in sections)}


results = written(os.path.join(here, "guarantee-results.md"))
wanted = option("--parts", "1,2,3,4,5,6,7").split(",")
with tempfile.TemporaryDirectory() as folder:
    for number, (title, part) in enumerate(PARTS, 1):
        if str(number) not in wanted:
            continue
        print("\n## %s\n" % title, flush=True)
        lines.clear()
        part(folder)
        results[title] = "\n".join(lines)
if "--write" in sys.argv:
    with open(os.path.join(here, "guarantee-results.md"), "w") as out:
        out.write(OPENING)
        for title, _ in PARTS:
            if title in results:
                out.write("\n## %s\n\n%s\n" % (title, results[title]))
    subprocess.run([os.path.join(here, "..", "scripts", "wrap"), out.name], check=True)
