#!/usr/bin/python3
"""What a journal costs, as ratios measured in one run: journal.py BUILD [FOLDER] [--write]

FOLDER is where the journals are made (default: a temporary folder). --write also writes bench/journal.md, which is committed.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
build = os.path.abspath(arguments[0])
program, command = os.path.join(build, "bench", "bench_journal"), os.path.join(build, "keepfit")
folder = tempfile.mkdtemp(prefix="keepfit-journal-", dir=arguments[1] if len(arguments) > 1 else None)
here = os.path.dirname(os.path.abspath(__file__))
MANY = 10000000
rows = []


def say(what, figure, bar="", met=None):
    rows.append((what, figure, bar, "" if met is None else "yes" if met else "no"))
    print("%-70s %-30s %-20s %s" % rows[-1], flush=True)


def say_ratio(what, pairs, scale=1):
    """The fastest of several runs, without and with in turn: what disturbs only adds."""
    without, kept = (scale * min(column) for column in zip(*pairs))
    say(what + ", with --sync batch:1000 against none", "%.2f / %.2f us = %.2f" % (kept, without, kept / without), "at most 1.3", kept / without <= 1.3)


def measure(*words):
    environment = dict(os.environ)
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in done.stdout.strip().split(",")]


def fetch_memory():
    """A virtual machine's host may have taken back memory that lay free, and is slow to return it: it does so here, untimed."""
    memory = bytearray(1 << 29)
    memory[::4096] = bytes(1 << 17)


def push(path, points, features, method, sync):
    """Microseconds a point. What others have written, and journals that were removed, is off the disk's mind first."""
    os.sync()
    fetch_memory()
    return measure("push", path, points, features, method, sync)[0]


def train(stream, *options):
    """Seconds of the whole command."""
    os.sync()
    fetch_memory()
    begin = time.perf_counter()
    subprocess.run([command, "train", "--quiet", "--loss", "logistic", *options, stream], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def new_journal():
    return tempfile.mkdtemp(dir=folder)


def bench_train():
    """The command reads lines in a thread of its own, so on two processors its syncs find none free."""
    for features, lines in ((10, 300000), (40, 100000)):
        stream = os.path.join(folder, "stream.svm")
        with open(stream, "wb") as file:
            subprocess.run([command, "generate", "--rows", str(lines), "--features", str(features), "--loss", "logistic"], check=True, stdout=file)
        pairs = [(train(stream), train(stream, "--journal", new_journal(), "--sync", "batch:1000")) for _ in range(15)]
        say_ratio("keepfit train, lines of %d features" % features, pairs, 1e6 / lines)


def bench_append():
    for features, points, runs in ((10, 100000, 40), (40, 50000, 20), (200, 5000, 10)):
        pairs = [(push("-", points, features, "auto", "none"), push(new_journal(), points, features, "auto", "batch:1000")) for _ in range(runs)]
        say_ratio("a point of %d features, auto, logistic" % features, pairs)
    always = push(new_journal(), 2000, 40, "auto", "always")
    say("the same with --sync always, 40 features", "%.0f us, which is the disk's sync" % always)


def bench_opening():
    journal = new_journal()
    push(journal, MANY, 10, "exact", "none")
    found = [measure("open", journal, 10) for _ in range(3)]
    seconds = min(found)[0]
    say("opening a journal of %s points, to the first prediction" % format(int(found[0][1]), ","), "%.2f s" % seconds, "below 2 s", seconds < 2)


try:
    bench_append()
    bench_train()
    bench_opening()
finally:
    shutil.rmtree(folder, ignore_errors=True)
if "--write" in sys.argv:
    with open(os.path.join(here, "journal.md"), "w", encoding="utf-8") as file:
        file.write("# What a journal costs\n\nMeasured by `bench/journal.py`, the fastest of several runs; files in the page cache.\n\n"
                   "| what | figure | bar | met |\n|---|---|---|---|\n" + "".join("| %s |\n" % " | ".join(row) for row in rows))
