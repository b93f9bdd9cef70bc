#!/usr/bin/python3
"""Sweeps the constants that are marked `speed: bench/tuning.md`: tune.py [--data DIR] [--only NAME,...] [--write]

Each is halved and doubled in a copy of the tree, which is built, and run on the streams below. What counts is gradients (FOs) and believed
work (src/problem/costs.h), both the same in every run; of constants that change only how the same is computed, processor time, the least of
some runs. Prints a table in Markdown; --write puts its rows into bench/tuning.md, in which rows of constants that were not asked for stay.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import auto

here = os.path.dirname(os.path.abspath(__file__))
tree = os.path.dirname(here)
MARK = re.compile(r"^(#define ([A-Z][A-Z0-9_]*) +|    static const double (margins)\[\] = )(\{?[-0-9.e, ()/]+\}?);? */\* speed: bench/tuning\.md", re.M)
# Only the time of the same work depends on these.
BY_CLOCK = ("src/objective/", "src/iterate/", "src/optimum/optimum.h")
RUNS = 5
HEAD = ["| constant | value | half: FOs | work | double: FOs | work |", "|---|---|---|---|---|---|"]
HEAD_CLOCK = ["| constant | value | half: time | double: time |", "|---|---|---|---|"]


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def streams(folder, data):
    """(name, file, options)"""
    def made(name, maker, *arguments):
        path = os.path.join(folder, name + ".svm")
        if not os.path.exists(path):
            auto.write_rows(path, *maker(*arguments))
        return path
    relative = "epsilon-kind=relative epsilon=1e-3 threads=1"
    two = made("two", auto.embedded, 4000, 40, 2, False)
    yield "logistic", two, "loss=logistic lambda=1e-4 %s" % relative
    yield "small", made("small", auto.embedded, 6000, 12, 2, False), "loss=logistic lambda=1e-4 epsilon=1e-4 threads=1"
    yield "window", two, "loss=logistic lambda=1e-3 window=500 epsilon=1e-3 threads=1"
    yield "intercept", two, "loss=logistic lambda=1e-4 intercept=true %s" % relative
    yield "estimate", two, "loss=logistic lambda=1e-3 guarantee=estimate method=quadratic epsilon=1e-3 threads=1"
    yield "latency", two, "loss=logistic lambda=1e-3 max-stage-work=5 epsilon=1e-3 threads=1"
    yield "wide", made("wide", auto.embedded, 1500, 200, 2, False), "loss=logistic lambda=1e-5 method=quadratic %s" % relative
    yield "hinge", made("hinge", auto.embedded, 2000, 20, 2, False), "loss=hinge lambda=1e-3 %s" % relative
    yield "table", two, "loss=logistic lambda=1e-3 method=table %s" % relative
    yield "auto", made("auto", auto.embedded, 4000, 100, 2, False), "loss=logistic lambda=1e-3 %s" % relative
    yield "auto, hard", made("hard", auto.embedded, 2000, 150, 1, True), "loss=squared lambda=1e-5 %s" % relative
    yield "sparse", made("sparse", auto.sparse, 2000, 5000, 40, 2), "loss=logistic lambda=1e-3 %s" % relative
    yield "box", made("box", auto.embedded, 1000, 20, 2, False), "loss=logistic lambda=1e-3 domain=box:-1:1 method=refit %s" % relative
    yield "softmax", made("softmax", auto.embedded, 1500, 10, 4, False), "loss=softmax lambda=1e-3 method=refit %s" % relative
    yield "classes", made("softmax", auto.embedded, 1500, 10, 4, False), "loss=softmax lambda=1e-3 intercept=true epsilon=1e-3 threads=1"
    yield "exact", made("numbers", auto.embedded, 2000, 30, 1, True), "loss=squared lambda=1e-3 method=exact %s" % relative
    if data:
        yield "a9a", os.path.join(data, "a9a.gz"), "loss=logistic lambda=5e-5 limit=6000 %s" % relative
        yield "elec2", os.path.join(data, "elec2.gz"), "loss=logistic lambda=1e-3 limit=8000 window=1000 epsilon=1e-3 threads=1"


def clock_streams(folder, data):
    by_name = {name: (name, path, options) for name, path, options in streams(folder, data)}
    yield from (by_name[name] for name in ("logistic", "table", "wide", "sparse", "softmax", "classes"))
    yield "network", by_name["softmax"][1], "loss=network:64 method=csvrg inner=20 threads=1 limit=400"


def copy_tree(folder):
    listed = subprocess.run(["git", "ls-files"], cwd=tree, capture_output=True, text=True, check=True).stdout.split()
    for name in listed:
        if os.path.isfile(os.path.join(tree, name)):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy(os.path.join(tree, name), os.path.join(folder, name))
    subprocess.run(["meson", "setup", "build", "-Db_lto=false"], cwd=folder, check=True, capture_output=True)


def build(folder):
    done = subprocess.run(["nice", "ninja", "-C", "build", "bench/bench_work"], cwd=folder, capture_output=True, text=True)
    return done.returncode == 0


def measure(folder, list_of, runs):
    """For each stream its line of bench_work, with the least time of all runs; None where it failed."""
    told = {}
    for _ in range(runs):
        for name, path, options in list_of:
            try:
                run = subprocess.run([os.path.join(folder, "build/bench/bench_work"), path, *options.split()], capture_output=True, text=True, timeout=60)
                now = json.loads(run.stdout)
            except (subprocess.TimeoutExpired, ValueError):
                now = None
            before = told.get(name)
            told[name] = now if not (now and before) or now["seconds"] < before["seconds"] else before
    return told


def constants():
    for folder, _, names in sorted(os.walk(os.path.join(tree, "src"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), tree)
            for found in MARK.finditer(open(os.path.join(tree, path), encoding="utf-8").read()):
                yield path, found.group(2) or found.group(3), found.group(4)


def times(text, factor):
    """Numbers of a value, multiplied; whole ones stay whole."""
    if "/" in text:
        return "(%s * %s)" % (factor, text)
    return re.sub(r"[0-9.]+(e-?[0-9]+)?", lambda n: "%d" % max(1, int(int(n.group()) * factor)) if n.group().isdigit() else "%.6g" % (float(n.group()) * factor),
                  text)


def change(folder, path, name, value):
    file = os.path.join(folder, path)
    text = open(file, encoding="utf-8").read()

    def replace(found):
        mine = (found.group(2) or found.group(3)) == name
        whole = found.group(0)
        return whole.replace(found.group(1) + found.group(4), found.group(1) + value + " ", 1) if mine else whole
    with open(file, "w", encoding="utf-8") as out:
        out.write(MARK.sub(replace, text))
    return text


def cell(base, told, key):
    """The largest rise and the largest fall, with the streams' names; nothing below half a percent."""
    shares = sorted((told[s][key] / base[s][key] - 1, s) if told[s] else (float("inf"), s) for s in base if base[s])
    ends = [e for e in (shares[-1], shares[0]) if abs(e[0]) >= 0.005]
    said = ["fails: %s" % s if share == float("inf") else "%+.0f%% %s" % (100 * share, s) for share, s in dict.fromkeys(ends)]
    worse = [s for s in base if base[s] and told[s] and told[s]["missed"] + told[s]["unproved"] > base[s]["missed"] + base[s]["unproved"]]
    return "; ".join(said + ["more missed: %s" % s for s in worse[:1]]) or "0"


def sweep(folder, base, path, name, value, list_of, by_clock):
    cells = []
    for factor in (0.5, 2):
        before = change(folder, path, name, times(value.strip(), factor))
        told = measure(folder, list_of, RUNS if by_clock else 1) if build(folder) else None
        with open(os.path.join(folder, path), "w", encoding="utf-8") as out:
            out.write(before)
        for key in ("seconds",) if by_clock else ("fo", "work"):
            cells.append(cell(base, told, key) if told else "does not build")
    return "| %s %s | %s | %s |" % (os.path.basename(path), name, value.strip(), " | ".join(cells))


def rows_of(path, head):
    """Rows of the table below this head, by constant."""
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    lines = text.split(head[0] + "\n")[1].split("\n\n")[0].splitlines()[1:] if head[0] in text else []
    return {line.split("|")[1].strip(): line for line in lines}


OPENING = """# Constants of speed

Written by `bench/tune.py`: each constant that is marked so in the source is halved and doubled, all else as it is, and runs on %d streams. The cells
have the largest rise and the largest fall of gradients (FOs) and of believed work over the streams, both the same in every run.

%s

Of these only the time of the same work depends; seconds of processor time, the least of %d runs, on a machine where they vary by a tenth.

%s
"""


def main():
    only, data, target = option("--only", ""), option("--data", ""), os.path.join(here, "tuning.md")
    rows = (rows_of(target, HEAD), rows_of(target, HEAD_CLOCK))
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(folder)
        if not build(folder):
            sys.exit("the tree does not build")
        lists = (list(streams(folder, data)), list(clock_streams(folder, data)))
        bases = (measure(folder, lists[0], 1), measure(folder, lists[1], RUNS))
        print({name: told and (told["fo"], round(told["seconds"], 3), told["missed"], told["method"]) for name, told in bases[0].items()}, flush=True)
        named = set()
        for path, name, value in constants():
            key = "%s %s" % (os.path.basename(path), name)
            named.add(key)
            if only and name not in only.split(",") and os.path.basename(path) not in only.split(","):
                continue
            by_clock = path.startswith(BY_CLOCK)
            rows[by_clock][key] = sweep(folder, bases[by_clock], path, name, value, lists[by_clock], by_clock)
            print(rows[by_clock][key], flush=True)
            if "--write" in sys.argv:
                tables = ["\n".join(head + sorted(r[k] for k in r if k in named or only)) for head, r in zip((HEAD, HEAD_CLOCK), rows)]
                with open(target, "w", encoding="utf-8") as out:
                    out.write(OPENING % (len(lists[0]), tables[0], RUNS, tables[1]))
                subprocess.run([os.path.join(tree, "scripts", "wrap"), target], check=True)


main()
