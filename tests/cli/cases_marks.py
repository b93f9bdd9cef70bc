"""Keys and times of rows: a row with a key that is present takes the other's place, and spans of time go by what rows say."""

import json
import random

from harness import near, over, same

HEAD = ["id", "ts", "c", "x", "y"]
START = 1700000000


def log(count=60, keys=25, seed=4):
    """Rows in the order of their times, some of whose keys come again with another target."""
    source, rows, now = random.Random(seed), [], START
    for _ in range(count):
        now += source.randrange(60, 86400)
        x = source.gauss(0, 1)
        rows.append(["order-%d" % source.randrange(keys), now, source.choice("ab"), "%.3f" % x, "%.3f" % (2 * x + source.gauss(0, 0.3))])
    return rows


def table(rows, head=HEAD):
    return "".join(",".join(str(row[HEAD.index(name)]) for name in head) + "\n" for row in [HEAD] * 1 + rows)


def last_of_each(rows):
    """The rows that are present in the end, in the order in which they came."""
    last = {row[0]: k for k, row in enumerate(rows)}
    return [rows[k] for k in sorted(last.values())]


def optimum(box, *words):
    result = box.run("train", "--json", "-q", "--gap", "--trace-stages", "1", "--lambda", "0.01", "--ignore", "ts", "-m", "m.kf", *words).json
    return result["optimum"], result["objective"]


@over(("csv", "jsonl", "shuffle", "one thread"))
def case_a_row_takes_the_place_of_that_with_its_key(box, how):
    """The problem at the end is that of the last row of each key; without the option it is another one."""
    rows, words = log(), []
    name = "log.jsonl" if how == "jsonl" else "log.csv"
    box.write(name, "".join(json.dumps(dict(zip(HEAD, row))) + "\n" for row in rows) if how == "jsonl" else table(rows))
    words = {"shuffle": ["--shuffle", "--seed", "3", "--limit", "60"], "one thread": ["--threads", "1"]}.get(how, [])
    if how == "shuffle":  # which of the rows is the last depends on the order: all of one key are the same
        first = {}
        rows = [first.setdefault(row[0], row) for row in rows]
        box.write(name, table(rows))
    box.write("final.csv", table(last_of_each(rows)))
    found = optimum(box, "--target", "y", "--key", "id", *words, name)
    wanted = optimum(box, "--target", "y", "--ignore", "ts,id", "final.csv")
    plain = optimum(box, "--target", "y", "--ignore", "ts,id", name)
    assert near(found[0], wanted[0], 1e-9), (found, wanted)
    assert not near(found[0], plain[0], 1e-4), (found, plain)
    assert found[1] <= found[0] + 1e-3 + 1e-12, "epsilon is held, for the rows that are there"


def case_the_key_is_no_feature_and_predict_needs_neither(box):
    rows = log()
    box.write("log.csv", table(rows))
    box.run("train", "-q", "--target", "y", "--key", "id", "--time", "ts", "--half-life", "30d", "-m", "m.kf", "log.csv")
    names = box.weights("m.kf")["features"] if "features" in box.weights("m.kf") else json.dumps(box.weights("m.kf"))
    same("order-" in json.dumps(names), False, "keys in the model")
    box.write("bare.csv", table(rows, ["x", "ts", "c"]))
    same(box.run("predict", "m.kf", "bare.csv").out, box.run("predict", "m.kf", "log.csv").out, "predictions")
    same(box.run("predict", "--key", "id", "--time", "ts", "m.kf", "bare.csv").out, box.run("predict", "m.kf", "log.csv").out, "predictions")


def weighted(rows, half_life):
    """The same rows with the weights that they have in the end."""
    head = ["c", "x", "w", "y"]
    lines = [[row[2], row[3], "%.17g" % 2 ** ((row[1] - rows[-1][1]) / half_life), row[4]] for row in rows]
    return "".join(",".join(map(str, line)) + "\n" for line in [head] + lines)


@over((1, 4))
def case_weights_halve_by_the_times_of_rows(box, threads):
    """As the weights say that each row has at the end; so for ISO 8601 as for Unix seconds."""
    rows = log(40)
    box.write("log.csv", table(rows))
    box.write("weighted.csv", weighted(rows, 7 * 86400))
    words = ("--target", "y", "--ignore", "ts,id", "--threads", str(threads))
    found = optimum(box, *words, "--ignore", "ts,id", "--time", "ts", "--half-life", "7d", "log.csv")
    wanted = optimum(box, "--target", "y", "--ignore", "", "--weight-column", "w", "weighted.csv")
    assert near(found[0], wanted[0], 1e-9), (found, wanted)


def case_a_window_of_time_goes_by_the_times_of_rows(box):
    rows = log(40)
    box.write("log.csv", table(rows))
    box.write("late.csv", table([row for row in rows if row[1] > rows[-1][1] - 7 * 86400]))
    words = ("--target", "y", "--ignore", "ts,id")
    found = optimum(box, *words, "--time", "ts", "--window", "7d", "log.csv")
    wanted = optimum(box, *words, "late.csv")
    assert near(found[0], wanted[0], 1e-9), (found, wanted)


@over((1, 30, 59))
def case_a_journal_goes_on_with_keys_and_times(box, count):
    """In two runs, the second of which need not say again which columns they are: the model is that of one run, bit for bit."""
    rows = log()
    box.write("all.csv", table(rows))
    box.write("half.csv", table(rows[:count]))
    words = ("train", "-q", "--target", "y", "--lambda", "0.01", "--key", "id", "--time", "ts", "--half-life", "30d")
    box.run(*words, "-m", "one.kf", "all.csv")
    box.run(*words, "--journal", "j", "half.csv")
    box.run("train", "-q", "--journal", "j", "-m", "two.kf", "all.csv")
    same(box.read("two.kf") == box.read("one.kf"), True, "the models")
    box.run("inspect", "--influence", rows[-1][0], "j")
    other = [list(row) for row in rows]
    other[-1][0] = "another"
    box.write("other.csv", table(other))
    box.try_run("train", "-q", "--journal", "j", "other.csv").refused(3, "other.csv:61:1: point 60 is not the one that the journal has")
    box.try_run("train", "-q", "--journal", "j", "--key", "c", "all.csv").refused(2, "--key: is c, but")


def case_compare_goes_by_keys(box):
    """In an order of each seed's own, too; of rows that are the same, which is the last does not matter."""
    first = {}
    rows = [first.setdefault(row[0], row) for row in log()]
    box.write("log.csv", table(rows))
    box.write("final.csv", table(last_of_each(rows)))
    box.run("compare", "-q", "--target", "y", "--lambda", "0.01", "--ignore", "ts", "--key", "id", "--shuffle", "--methods", "auto", "--runs", "3",
            "--out", "r", "log.csv")
    wanted = optimum(box, "--target", "y", "--ignore", "ts,id", "final.csv")[0]
    found = {row["run"]: row for row in box.trace("r/trace.csv")}
    same(len(found), 3, "runs")
    for row in found.values():
        assert near(float(row["optimum"]), wanted, 1e-9), (row, wanted)


def case_errors_of_keys_and_times(box):
    box.write("t.csv", "id,ts,x,y\na,2024-01-01,1,2\nb,2024-01-02T08:00Z,2,3\n,2024-01-03,3,4\n")
    timed = ("train", "-q", "--time", "ts", "--half-life", "7d")
    box.try_run("train", "-q", "--key", "id", "t.csv").refused(3, "t.csv:4:1: key '' in column 'id' is missing: each row needs one (--on-error skip")
    same(box.run("train", "-q", "--json", "--key", "id", "--on-error", "skip", "t.csv").json["stages"], 2, "stages")
    box.try_run("train", "-q", "--key", "idd", "t.csv").refused(2, "t.csv: no column is called 'idd' (--key); did you mean id?")
    box.try_run("train", "-q", "--key", "y", "t.csv").refused(2, "column 4 cannot be both target and key (--key)")
    box.try_run("train", "-q", "--key", "id", "--type", "id=category", "t.csv").refused(2, "--key leaves out column 'id', to which --type")
    box.write("long.csv", "id,x,y\na,1,2\n%s,2,3\n" % ("k" * 256))
    box.try_run("train", "-q", "--key", "id", "long.csv").refused(3, "long.csv:3:1: key 'kkk", "is longer than 255 bytes")
    box.run(*timed, "t.csv")
    box.write("bad.csv", "id,ts,x,y\na,2024-01-01,1,2\nb,soon,2,3\n")
    box.try_run(*timed, "bad.csv").refused(3, "bad.csv:3:3: time 'soon' in column 'ts' is neither ISO 8601 (2024-05-31T08:15:02Z) nor Unix")
    box.write("none.jsonl", '{"ts": 1700000000, "x": 1, "y": 2}\n{"x": 2, "y": 3}\n')
    box.try_run(*timed, "none.jsonl").refused(3, "none.jsonl:2:1: time '' in column 'ts' is missing")
    box.write("back.csv", "ts,x,y\n2024-01-02,1,2\n2024-01-01,2,3\n")
    box.try_run(*timed, "back.csv").refused(3, "back.csv:3:1: the point's time is 86400 s before", "sort the rows")
    box.try_run("train", "-q", "--half-life", "7d", "t.csv").refused(3, "the point has no time, by which --half-life 1w goes (--time COLUMN names a table's)")
    box.write("t.svm", "1 1:2\n")
    box.try_run("train", "-q", "--key", "id", "t.svm").refused(2, "--key names a column of a table (CSV, JSON lines); this format has none")
    box.try_run(*timed, "t.svm").refused(2, "--time names a column of a table")
