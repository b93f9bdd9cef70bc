"""The right columns, the right class: what a model knows of its table, and what becomes of rows that do not fit."""

import csv
import io
import os
import random
import select
import shutil
import struct
import time

from harness import all_near, libsvm, near, numbers, over, same

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("amount", "hour", "age", "verdict")


def transactions(rows=72, seed=4, noise=0.0):
    """(amount, hour, age, verdict): fraud is what is large."""
    source = random.Random(seed)
    made = []
    for k in range(rows):
        fraud = source.random() < 0.5 if k else False
        shown = fraud if source.random() >= noise else not fraud
        made.append([round(source.gauss(2 if fraud else -2, 0.5), 3), round(source.gauss(0, 1), 3), round(source.gauss(0, 1), 3),
                     "fraud" if shown else "ok"])
    return made


def table(rows, columns, names=NAMES, head=True, separator=","):
    lines = [[row[names.index(name)] if name in names else "7" for name in columns] for row in rows]
    return "".join(separator.join(map(str, line)) + "\n" for line in ([list(columns)] if head else []) + lines)


def trained(box, *words, loss="logistic", rows=None):
    rows = rows or transactions()
    box.write("rows.csv", table(rows, NAMES))
    box.run("train", "-q", "--loss", loss, "--target", "verdict", "--intercept", "-m", "m.kf", *words, "rows.csv")
    return rows


def predicted(box, *words, **more):
    return box.run("predict", *words, **more).text.splitlines()


def columns_of(box, *words, **more):
    rows = list(csv.reader(io.StringIO(box.run("predict", *words, **more).text)))
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


# ---- columns ----


@over(("logistic", "softmax", "hinge"))
def case_without_the_label_the_last_feature_is_no_label(box, loss):
    """What was seen: a CSV file without the label column turned nearly all fraud into ok, without a word."""
    rows = trained(box, loss=loss)
    box.write("bare.csv", table(rows, NAMES[:3]))
    same(predicted(box, "m.kf", "bare.csv"), [row[3] for row in rows], "predictions")
    same(sum(row[3] == "fraud" for row in rows) > 20, True, "some are fraud")


def case_rows_without_names_are_taken_in_order_and_that_is_said(box):
    """Two columns that changed places would go unseen: nothing but their order says what they are."""
    rows = trained(box)
    box.write("bare.csv", table(rows, ("amount", "hour", "age"), head=False))
    plain = box.run("predict", "m.kf", "bare.csv")
    same(plain.text.split(), [row[3] for row in rows], "predictions")
    assert "bare.csv: its columns have no names" in plain.error and "'amount'" in plain.error, plain.error
    for words in (("-q",), ("--header", "no")):
        same(box.run("predict", *words, "m.kf", "bare.csv").error, "", words)
    assert "names" not in box.run("predict", "m.kf", "rows.csv").error


@over([",".join(order) for order in (NAMES[::-1], ("verdict", "age", "amount", "hour"), ("hour", "age", "amount"))])
def case_any_order_of_columns(box, order):
    rows = trained(box)
    box.write("other.csv", table(rows, order.split(",")))
    box.write("other.tsv", table(rows, order.split(","), separator="\t"))
    for name in ("other.csv", "other.tsv"):
        same(predicted(box, "m.kf", name), [row[3] for row in rows], "predictions")
    same(box.run("predict", "m.kf", "-", stdin=box.read("other.csv")).text, box.run("predict", "m.kf", "rows.csv").text, "from a pipe")


@over((("one missing", ("amount", "age", "verdict"), ["missing 'hour'"]),
       ("two missing, one unknown", ("age", "height", "verdict"), ["missing 'amount', 'hour'", "not known 'height'"]),
       ("one unknown", NAMES + ("height",), ["not known 'height'", "--extra-features"]),
       ("unknown in place of the label", ("amount", "hour", "age", "label2"), ["not known 'label2'"]),
       ("a feature twice", ("amount", "hour", "hour", "age"), ["more often than there 'hour'", "rename"]),
       ("other case", ("Amount", "hour", "age"), ["missing 'amount'", "not known 'Amount'"])))
def case_columns_that_are_not_the_models(box, case):
    rows = trained(box)
    box.write("other.csv", table(rows, case[1]))
    box.try_run("predict", "m.kf", "other.csv").refused(3, "other.csv: the columns", *case[2]).silent()


def case_extra_columns_can_be_left_out(box):
    rows = trained(box)
    box.write("more.csv", table(rows, ("id",) + NAMES[::-1] + ("note",)).replace(",7\n", ",any text\n"))
    same(predicted(box, "--extra-features", "ignore", "m.kf", "more.csv"), [row[3] for row in rows], "predictions")
    box.write("fewer.csv", table(rows, ("id", "amount")))
    box.try_run("predict", "--extra-features", "ignore", "m.kf", "fewer.csv").refused(3, "missing 'hour', 'age'").silent()


def case_without_names_the_number_of_columns_decides(box):
    """As many as features: no label. One more: the label, where it was in training."""
    rows = transactions()
    order = ("amount", "verdict", "hour", "age")
    box.write("rows.csv", table(rows, order, head=False))
    box.run("train", "-q", "--loss", "logistic", "--target", "2", "-m", "m.kf", "rows.csv")
    wanted = [row[3] for row in rows]
    for name, columns in (("same", order), ("bare", ("amount", "hour", "age"))):
        box.write(name + ".csv", table(rows, columns, head=False))
        same(predicted(box, "m.kf", name + ".csv"), wanted, name)
    box.write("last.csv", table(rows, ("amount", "hour", "age", "verdict"), head=False))
    same(predicted(box, "--target", "4", "m.kf", "last.csv"), wanted, "--target")
    box.write("weighed.csv", table(rows, ("w", "amount", "hour", "age"), head=False))
    same(predicted(box, "--weight-column", "1", "m.kf", "weighed.csv"), wanted, "--weight-column")
    for columns, told in ((("amount", "hour"), "2 columns leave 2"), (("amount", "hour", "age", "w", "verdict"), "5 columns leave 5")):
        box.write("other.csv", table(rows, columns, head=False))
        box.try_run("predict", "m.kf", "other.csv").refused(3, "other.csv: ", told, "the model has 3").silent()
    box.try_run("predict", "--target", "none", "m.kf", "same.csv").refused(3, "4 columns leave 4").silent()


def case_a_named_file_for_a_model_without_names(box):
    rows = numbers(30)
    box.write("rows.svm", libsvm(rows))
    box.run("train", "-m", "m.kf", "rows.svm")
    wanted = predicted(box, "m.kf", "rows.svm")
    for names in (("a", "b", "c", "y"), ("a", "b", "c")):
        shown = [list(map(repr, row)) + [repr(target)] for row, target in rows]
        box.write("rows.csv", ",".join(names) + "\n" + "".join(",".join(row[:len(names)]) + "\n" for row in shown))
        same(predicted(box, "m.kf", "rows.csv"), wanted, "predictions")
    box.write("few.csv", "a,b,y\n1,2,3\n")
    box.try_run("predict", "m.kf", "few.csv").refused(3, "3 columns leave 2 features beside the target, but the model has 3").silent()


def case_a_named_model_for_a_file_without_names(box):
    rows = trained(box)
    box.write("bare.csv", table(rows, NAMES[:3], head=False))
    box.write("rows2.csv", table(rows, NAMES, head=False))
    for name in ("bare.csv", "rows2.csv"):
        same(predicted(box, "m.kf", name), [row[3] for row in rows], name)


def case_the_weight_column_is_no_feature(box):
    rows = [row + [1 + k % 3] for k, row in enumerate(transactions())]
    names = NAMES[:2] + ("w",) + NAMES[2:]
    rows = [row[:2] + [row[4]] + row[2:4] for row in rows]
    box.write("rows.csv", table(rows, names, names))
    box.run("train", "-q", "--loss", "logistic", "--target", "verdict", "--weight-column", "w", "-m", "m.kf", "rows.csv")
    box.write("bare.csv", table(rows, NAMES[:3], names))
    for name in ("rows.csv", "bare.csv"):
        same(predicted(box, "m.kf", name), [row[4] for row in rows], name)
    same(box.weights("m.kf")["feature_names"], list(NAMES[:3]), "features")


def case_without_a_score_nobody_looks_at_the_label(box):
    rows = trained(box)
    box.write("rows2.csv", table([row[:3] + ["" if k % 2 else "nan"] for k, row in enumerate(rows)], NAMES))
    same(predicted(box, "m.kf", "rows2.csv"), [row[3] for row in rows], "predictions")
    box.try_run("predict", "--score", "m.kf", "rows2.csv").refused(3, "rows2.csv:3:", "cell 4 (the target 'verdict') is empty")


def case_a_score_needs_the_label(box):
    rows = trained(box, rows=transactions(noise=0.1))
    box.write("bare.csv", table(rows, NAMES[:3]))
    box.try_run("predict", "--score", "m.kf", "bare.csv").refused(3, "bare.csv: --score needs the target", "'verdict'").silent()
    found = predicted(box, "m.kf", "rows.csv")
    words = box.run("predict", "--score", "m.kf", "rows.csv").error.split()
    right = sum(label == row[3] for label, row in zip(found, rows)) / len(rows)
    assert 0.5 < right < 1 and near(float(words[1]), right), words
    box.write("unknown.csv", table([row[:3] + ["who knows"] for row in rows], NAMES))
    warning, score = box.run("predict", "--score", "m.kf", "unknown.csv").error.splitlines()
    assert "unknown.csv: %d rows have a class that the model does not have" % len(rows) in warning, warning
    assert float(score.split()[1]) == 0 and float(score.split()[3]) > 100, score


@over(("npy", "idx"))
def case_arrays_have_the_models_columns(box, kind):
    """idx rows leave out zeros: what the table's width was is known all the same."""
    pixels = [[k % 5, (3 * k) % 7, 0] for k in range(1, 20)]

    def write(name, columns, labels=True):
        rows = [(row + [9, 9])[:columns] for row in pixels]
        if kind == "idx":
            box.write(name, b"\0\0\x08\x02" + struct.pack(">II", len(rows), columns) + bytes(v for row in rows for v in row))
            box.write("labels.idx", b"\0\0\x08\x01" + struct.pack(">I", len(rows)) + bytes(row[0] for row in rows))
            return ["--targets", "labels.idx"] if labels else []
        rows = [row + [row[0]] * labels for row in rows]
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), columns + labels)
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        box.write(name, b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head
                  + b"".join(struct.pack("<%dd" % len(row), *row) for row in rows))
        return []

    name = "rows." + kind
    words = write(name, 3)
    box.run("train", "-q", "-m", "m.kf", *words, name)
    wanted = predicted(box, "m.kf", *words, name)
    same(len(wanted), 19, "predictions")
    write(name, 3, labels=False)
    same(predicted(box, "m.kf", name), wanted, "without labels")
    for columns in (1, 2, 5):
        write(name, columns, labels=False)
        box.try_run("predict", "m.kf", name).refused(3, name + ": ", "but the model has 3").silent()


def case_resumed_with_other_columns(box):
    """Training goes on by name too: the same weights as in one run, whatever the order of the columns."""
    rows = transactions(noise=0.1)
    box.write("all.csv", table(rows, NAMES))
    words = ("train", "-q", "--loss", "logistic", "--target", "verdict")
    box.run(*words, "-m", "one.kf", "all.csv")
    box.write("first.csv", table(rows[:40], NAMES))
    box.write("second.csv", table(rows[40:], NAMES[::-1]))
    box.run(*words, "--journal", "j", "first.csv")
    box.run(*words, "--journal", "j", "--resume", "append", "-m", "two.kf", "second.csv")
    one, two = box.weights("one.kf"), box.weights("two.kf")
    for part in ("weights", "intercepts", "labels", "classes", "feature_names", "target"):
        same(two[part], one[part], part)
    box.write("third.csv", table(rows, ("amount", "hour", "verdict")))
    before = box.contents()
    box.try_run(*words, "--journal", "j", "--resume", "append", "third.csv").refused(3, "third.csv: ", "missing 'age'")
    same(box.run("verify", "j").text.count("72 points"), 1, "the journal is as it was")
    assert set(before) == set(box.contents())


# ---- classes ----


@over([(loss, loss, first) for loss in ("logistic", "softmax", "hinge") for first in ("ok", "fraud")])
def case_names_of_classes_come_back(box, case):
    _, loss, first = case
    rows = sorted(transactions(), key=lambda row: row[3] != first)
    trained(box, loss=loss, rows=rows)
    same(predicted(box, "m.kf", "rows.csv"), [row[3] for row in rows], "predictions")
    told = box.run("inspect", "--json", "m.kf").json
    same((sorted(told["classes"]), told["feature_names"], told["target"]), (["fraud", "ok"], list(NAMES[:3]), "verdict"), "inspect")
    for word in NAMES + ("fraud", "ok"):
        assert word in box.run("inspect", "--weights", "m.kf").text, word


def case_a_row_with_a_text_is_no_header(box):
    """Numbers and a class: the first line of a table without names."""
    box.write("rows.csv", "1.5,2,fraud\n-1,0.5,ok\n2,1,fraud\n")
    box.run("train", "-q", "--loss", "logistic", "-m", "m.kf", "rows.csv")
    same(predicted(box, "m.kf", "rows.csv"), ["fraud", "ok", "fraud"], "predictions")
    for head in ("0,1,label", "1,2,class", "0,1,kind", "a,b,c"):
        box.write("named.csv", head + "\n" + box.read("rows.csv").decode())
        box.run("train", "-q", "--loss", "logistic", "-m", "n.kf", "named.csv")
        same(box.weights("n.kf")["feature_names"], head.split(",")[:2], "names")
    box.run("train", "-q", "--loss", "logistic", "--header", "yes", "-m", "n.kf", "rows.csv")
    same(box.weights("n.kf")["feature_names"], ["1.5", "2"], "--header yes")


def case_texts_and_numbers_do_not_mix(box):
    box.write("a.csv", "x,y\n1,ok\n2,fraud\n3,1\n")
    box.try_run("train", "--loss", "logistic", "a.csv").refused(3, "a.csv:4:3: label '1' is a number").silent()
    box.write("b.csv", "x,y\n1,0\n2,1\n3,ok\n")
    box.try_run("train", "--loss", "logistic", "b.csv").refused(3, "b.csv:4:3: label 'ok' is a text").silent()
    box.try_run("train", "b.csv").refused(3, "b.csv:4:3: target 'ok' is not a number", "--loss logistic").silent()
    box.write("c.csv", "x,y\n1,a\n2,b\n3,c\n")
    box.try_run("train", "--loss", "logistic", "c.csv").refused(3, "c.csv:4:1: label 'c' is a third class besides 'a' and 'b'").silent()
    box.write("d.csv", "x,y\n1,a\n2,\n")
    box.try_run("train", "--loss", "logistic", "d.csv").refused(3, "d.csv:3:3: cell 2 (the target 'y') is empty").silent()


def case_a_resumed_journal_keeps_which_class_is_which(box):
    """New rows that begin with another class mean the same classes; a checkpoint, compacting and a lost checkpoint change nothing."""
    rows = transactions(noise=0.1)
    box.write("first.csv", table(rows[:40], NAMES))
    box.write("second.csv", table(sorted(rows[40:], key=lambda row: row[3]), NAMES))
    words = ("train", "-q", "--loss", "logistic", "--target", "verdict", "--resume", "append")
    box.run(*words, "--journal", "j", "first.csv")
    classes = box.run("inspect", "--json", "j").json["classes"]
    same(sorted(classes), ["fraud", "ok"], "names")
    for change in ("as it is", "no checkpoint", "compacted"):
        shutil.rmtree(box.at("k"), ignore_errors=True)
        shutil.copytree(box.at("j"), box.at("k"))
        for folder, _, files in os.walk(box.at("k")):
            for file in files:
                if change == "no checkpoint" and file.endswith(".checkpoint"):
                    os.unlink(os.path.join(folder, file))
        if change == "compacted":
            box.run("compact", "k")
        box.run(*words, "--journal", "k", "-m", change + ".kf", "second.csv")
        same(box.run("inspect", "--json", "k").json["classes"], classes, change)
        same(box.read(change + ".kf"), box.read("as it is.kf"), change)
        assert "whole" in box.run("verify", "k").text
    assert set(predicted(box, "as it is.kf", "second.csv")) == {"ok", "fraud"}
    box.write("third.csv", table([row[:3] + ["who knows"] for row in rows[:2]], NAMES))
    box.try_run(*words, "--journal", "k", "third.csv").refused(3, "'who knows' is a third class besides")


@over((("logistic", "as it is"), ("softmax", "as it is"), ("softmax", "no checkpoint"), ("logistic", "compacted")))
def case_a_journals_model_has_its_names(box, case):
    """A journal's folder in the model's place: columns find their features, classes are called as in the data."""
    loss, change = case
    rows = trained(box, "--journal", "j", loss=loss)
    for folder, _, files in os.walk(box.at("j")):
        for file in files:
            if change == "no checkpoint" and file.endswith(".checkpoint"):
                os.unlink(os.path.join(folder, file))
    if change == "compacted":
        box.run("compact", "j")
    box.write("turned.csv", table(rows, ("age", "verdict", "hour", "amount")))
    box.write("bare.csv", table(rows, ("hour", "age", "amount")))
    before = box.contents()
    for name in ("rows.csv", "turned.csv", "bare.csv"):
        same(predicted(box, "j", name), [row[3] for row in rows], "predictions for " + name)
    for words in (("--class", "fraud"), ("--output", "label,probability,scores"), ("--score",)):
        ours, theirs = box.run("predict", *words, "j", "turned.csv"), box.run("predict", *words, "m.kf", "turned.csv")
        same((ours.out, ours.err), (theirs.out, theirs.err), " ".join(words))
    box.write("other.csv", table(rows, ("amount", "age")))
    box.try_run("predict", "j", "other.csv").refused(3, "other.csv: the columns", "missing 'hour'").silent()
    same(box.run("export", "--to", "json", "j").text, box.run("export", "--to", "json", "m.kf").text, "json")
    told = box.run("export", "--to", "json", "j").json
    same((told["feature_names"], told["target"], sorted(told["classes"])), (list(NAMES[:3]), "verdict", ["fraud", "ok"]), "names")
    for name, label in zip(told["classes"], told["labels"]):
        assert "%g stands for '%s'" % (label, name) in box.run("export", "--to", "liblinear", "j").error
    same({name: content for name, content in box.contents().items() if name in before and name != "other.csv"}, before, "the journal")


def case_a_journal_is_not_followed(box):
    """Its folder stays as it is while files in it grow, so that nobody would notice."""
    trained(box, "--journal", "j")
    box.try_run("predict", "--follow-model", "j", "rows.csv").refused(2, "j: --follow-model", "--save-every").silent()


@over(("logistic", "softmax", "hinge"))
def case_the_summary_names_the_classes(box, loss):
    """Texts were shown as the numbers that stand for them."""
    box.write("rows.csv", table(transactions(), NAMES))
    words = ("train", "--loss", loss, "--target", "verdict")
    assert "\n  target       column 4, verdict\n  classes      ok, fraud\n" in box.run(*words, "rows.csv").text
    told = box.run(*words, "--journal", "j", "--json", "rows.csv").json
    same((told["target_column"], told["labels"], told["class_names"]), ("verdict", [0, 1], ["ok", "fraud"]), "target, labels, names")
    assert "\n  classes      ok, fraud\n" in box.run("train", "--journal", "j").text, "without data the journal knows them"
    same(box.run("train", "--journal", "j", "--json").json["class_names"], ["ok", "fraud"], "names")
    box.write("numbers.svm", libsvm([([1.0], 7), ([2.0], 3)]))
    same(sorted(box.run("train", "--json", "--loss", loss, "numbers.svm").json["class_names"]), [3, 7], "numbers without names")


@over(("one more row", "half a label", "half a number", "too few cells"))
def case_half_a_last_line_of_a_pipe_has_no_prediction(box, kind):
    """It is no row, so it has no line either, not even an empty one."""
    rows = trained(box)
    half = {"one more row": "3,0,0,fraud", "half a label": "3,0,0,fr", "half a number": "3,0,0.", "too few cells": "3,"}[kind]
    if kind == "half a number":
        half, asked = "3,0,0.", table(rows[:4], NAMES[:3])
    else:
        asked = table(rows[:4], NAMES)
    for words in ((), ("--on-error", "skip"), ("--output", "label,probability")):
        whole = box.run("predict", *words, "m.kf", "-", stdin=asked)
        result = box.run("predict", *words, "m.kf", "-", stdin=asked + half)
        same(result.out, whole.out, "predictions")
        same(result.error.count("<stdin>:6: the last line has no newline at its end, so it may have been cut, and was left out"), 1, "warnings")
    box.write("cut.csv", table(rows[:4], NAMES) + "3,0,0,fraud")
    same(predicted(box, "m.kf", "cut.csv")[-1], "fraud", "the last line of a file, which is whole")


def case_names_are_exported(box):
    rows = trained(box, "--journal", "j")
    box.run("export", "--to", "csv", "j", "points.csv")
    shown = list(csv.DictReader(io.StringIO(box.read("points.csv").decode())))
    same([[float(row[name]) for name in NAMES[:3]] + [row["verdict"]] for row in shown], rows, "points as csv")
    box.run("train", "-q", "--loss", "logistic", "--intercept", "--weight-column", "weight", "--target", "verdict", "-m", "n.kf", "points.csv")
    same(box.weights("n.kf")["weights"], box.weights("m.kf")["weights"], "weights of the exported points")
    told = box.run("export", "m.kf").json
    same((told["feature_names"], told["target"], sorted(told["classes"])), (list(NAMES[:3]), "verdict", ["fraud", "ok"]), "json")
    numbered = dict(zip(told["classes"], told["labels"]))
    for words in (("--to", "liblinear", "m.kf"), ("--to", "libsvm", "j"), ("--to", "npy", "j")):
        result = box.run("export", *words)
        for name, label in numbered.items():
            assert "%g stands for '%s'" % (label, name) in result.error, result.error
    same(box.run("export", "-q", "--to", "liblinear", "m.kf").err, b"", "with --quiet")
    box.write("points.svm", box.run("export", "-q", "j").out)
    same(predicted(box, "m.kf", "points.svm"), [row[3] for row in rows], "predictions")
    assert float(box.run("predict", "--score", "m.kf", "points.svm").error.split()[1]) == 1


def case_odd_names(box):
    """Whatever a header may hold comes back, and stands in the right place."""
    names = ('a,b', 'say "x"', "", "naïve", "#", "  ", "target")
    rows = numbers(20, 6)

    def cell(text):
        return '"%s"' % text.replace('"', '""')

    box.write("rows.csv", ",".join(map(cell, names)) + "\n" + "".join(
        ",".join(map(repr, row)) + ",%s\n" % (cell('très, "vrai"') if target > 0 else "no") for row, target in rows))
    box.run("train", "-q", "--loss", "logistic", "-m", "m.kf", "--journal", "j", "rows.csv")
    same(sorted(box.weights("m.kf")["classes"]), ["no", 'très, "vrai"'], "classes")
    box.run("export", "--to", "csv", "j", "again.csv")
    with open(box.at("again.csv"), encoding="utf-8", newline="") as file:
        same(next(csv.reader(file))[:6], list(names[:6]), "names in csv")
    box.run("predict", "--weight-column", "weight", "m.kf", "again.csv")
    shown = columns_of(box, "--output", "label,probability", "m.kf", "rows.csv")
    same(sorted(shown), ["label", "probability_no", 'probability_très, "vrai"'], "columns")
    same(set(shown["label"]), {"no", 'très, "vrai"'}, "labels")


def case_names_that_are_no_text(box):
    """A header may hold any bytes; JSON holds characters, and the columns are found all the same."""
    box.write("rows.csv", b"a\xff,b\xc3\xa4\xed\xa0\x80,y\n1,2,3\n2,1,4\n4,4,5\n")
    box.run("train", "-q", "-m", "m.kf", "rows.csv")
    same(box.weights("m.kf")["feature_names"], ["a\ufffd", "b\u00e4\ufffd\ufffd\ufffd"], "names")
    box.write("turned.csv", b"b\xc3\xa4\xed\xa0\x80,a\xff\n2,1\n1,2\n4,4\n")
    same(predicted(box, "m.kf", "turned.csv"), predicted(box, "m.kf", "rows.csv"), "predictions")
    box.write("other.csv", b"b,a\xff\n2,1\n")
    box.try_run("predict", "m.kf", "other.csv").refused(3, "missing 'b\u00e4\\xed\\xa0\\x80'").silent()


@over((("squared", "1-squared", "numbers"), ("logistic", "1-logistic", "two"), ("softmax", "1-softmax", "three"), ("network", "2-network", "three")))
def case_older_model_files_are_read(box, case):
    """Files from before models knew names: tests/models has what that version predicted."""
    _, model, rows = case
    for name in (model + ".kf", model + ".txt", rows + ".csv"):
        shutil.copy(os.path.join(HERE, "..", "models", name), box.at(name))
    wanted = [float(line) for line in box.read(model + ".txt").split()]
    assert all_near([float(line) for line in predicted(box, model + ".kf", rows + ".csv")], wanted, 1e-12)
    box.write("bare.csv", "".join(line.rsplit(",", 1)[0] + "\n" for line in box.read(rows + ".csv").decode().splitlines()))
    assert all_near([float(line) for line in predicted(box, model + ".kf", "bare.csv")], wanted, 1e-12), "without the label"
    same(box.run("inspect", "--json", model + ".kf").json["feature_names"], None, "names")
    box.try_run("predict", "--target", "none", model + ".kf", rows + ".csv").refused(3, "4 columns leave 4").silent()


def case_an_older_journal_learns_names(box):
    shutil.copytree(os.path.join(HERE, "..", "models", "journal"), box.at("j"))
    shutil.copy(os.path.join(HERE, "..", "models", "two.csv"), box.at("two.csv"))
    box.run("train", "-q", "--journal", "j", "-m", "m.kf", "two.csv")
    same(box.run("inspect", "--json", "j").json["feature_names"], ["a", "b", "c"], "names")
    wanted = [float(line) for line in open(os.path.join(HERE, "..", "models", "1-logistic.txt"), encoding="ascii").read().split()]
    same([float(line) for line in predicted(box, "m.kf", "two.csv")], wanted, "predictions")
    box.write("text.csv", "a,b,c,y\n1,2,3,ok\n")
    box.try_run("train", "--journal", "j", "--resume", "append", "text.csv").refused(3, "text.csv:2:7: target 'ok' is not a number, but")


# ---- output ----


@over(("logistic", "softmax"))
def case_probability_of_each_class(box, loss):
    rows = trained(box, loss=loss, rows=transactions(noise=0.2))
    shown = columns_of(box, "--output", "label,probability,scores", "m.kf", "rows.csv")
    chance = {name: [float(v) for v in shown["probability_" + name]] for name in ("ok", "fraud")}
    assert all(near(p + q, 1, 1e-12) for p, q in zip(chance["ok"], chance["fraud"])), "they sum to 1"
    same(shown["label"], ["fraud" if p > q else "ok" for p, q in zip(chance["fraud"], chance["ok"])], "labels")
    same(sorted(shown), sorted(["label", "probability_ok", "probability_fraud"] + (["score"] if loss == "logistic" else ["score_ok", "score_fraud"])),
         "columns")
    for words in (("--class", "fraud"), ("--class", "fraud", "--output", "probability")):
        same(predicted(box, *words, "m.kf", "rows.csv"), shown["probability_fraud"], "--class fraud")
    same(columns_of(box, "--output", "label,probability", "--class", "ok", "m.kf", "rows.csv"),
         {name: shown[name] for name in ("label", "probability_ok")}, "one class beside the label")
    same(predicted(box, "--output", "label", "m.kf", "rows.csv"), predicted(box, "m.kf", "rows.csv"), "labels alone have no header")
    box.try_run("predict", "--class", "frod", "m.kf", "rows.csv").refused(2, "'frod'", "ok", "fraud").silent()
    box.try_run("predict", "--output", "label,nonsense", "m.kf", "rows.csv").refused(2, "'nonsense'").silent()
    box.try_run("predict", "--output", "label,", "m.kf", "rows.csv").refused(2, "--output").silent()
    same(len(rows), len(shown["label"]), "rows")


@over((("labels", (), ""), ("one probability", ("--class", "fraud"), "nan"), ("several", ("--output", "label,probability,scores"), ",nan,nan,nan")))
def case_skipped_rows_have_their_lines(box, case):
    """What was seen: with --on-error skip the lines no longer stood beside their rows."""
    rows = trained(box)
    whole = predicted(box, *case[1], "m.kf", "rows.csv")
    head = len(whole) - len(rows)
    lines = box.read("rows.csv").decode().splitlines()
    bad = {3: "x,1,2,ok", 4: "1,2", 20: "1,nan,2,fraud", len(lines) - 1: "1,2,3,4,5"}
    box.write("bad.csv", "".join(bad.get(k, line) + "\n" for k, line in enumerate(lines)))
    found = predicted(box, "-q", "--on-error", "skip", *case[1], "m.kf", "bad.csv")
    same(len(found), len(whole), "lines")
    for k, (line, wanted) in enumerate(zip(found[head:], whole[head:])):
        same(line, case[2] if k + 1 in bad else wanted, "line %d" % (k + 1))
    piped = box.run("predict", "-q", "--on-error", "skip", *case[1], "m.kf", "-", stdin=box.read("bad.csv"))
    same(piped.text.splitlines(), found, "from a pipe")


# ---- live ----


class Live:
    """A running predict -: a line in, a line out."""

    def __init__(self, box, *words):
        self.process = box.start("predict", *words, "-")

    def send(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def line(self, seconds=20):
        line = b""
        end = time.monotonic() + seconds
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            assert ready, "no answer within %d s, only %r" % (seconds, line)
            byte = os.read(self.process.stdout.fileno(), 1)
            assert byte, "predict has ended: %r" % self.process.stderr.read()
            line += byte
        return line.decode().rstrip("\n")

    def ask(self, text):
        self.send(text)
        return self.line()

    def end(self, code=0):
        self.process.stdin.close()
        error = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        assert self.process.wait(20) == code, error
        return error


@over(("csv", "libsvm"))
def case_each_line_is_answered_as_it_comes(box, kind):
    """What was seen: predict - answered nothing before its buffer was full."""
    rows = trained(box)
    live = Live(box, "--format", kind, "m.kf")
    if kind == "csv":
        live.send("age,amount,hour\n")
    for row in rows[:10]:
        asked = "%g,%g,%g\n" % (row[2], row[0], row[1]) if kind == "csv" else "0 1:%g 2:%g 3:%g\n" % tuple(row[:3])
        same(live.ask(asked), row[3], "answer")
    live.send(asked * 5000)
    same({live.line() for _ in range(5000)}, {row[3]}, "answers")
    same(live.end(), "", "messages")


def case_a_bad_line_is_answered_too(box):
    trained(box)
    live = Live(box, "--on-error", "skip", "--header", "no", "--format", "csv", "m.kf")
    for _ in range(3):
        same([live.ask("3,0,0\n"), live.ask("what is this\n"), live.ask("-3,0,0\n"), live.ask("\"3,0,0\n"), live.ask("nan,0,0\n")],
             ["fraud", "", "ok", "", ""], "answers")
    assert "9 bad rows were skipped" in live.end()
    live = Live(box, "--header", "no", "--format", "csv", "m.kf")
    same(live.ask("3,0,0\n"), "fraud", "answer")
    live.send("x,0,0\n")
    assert "<stdin>:2:1: " in live.end(3)


def case_a_replaced_model_is_followed(box):
    rows = trained(box)
    box.run("train", "-q", "--loss", "logistic", "--target", "verdict", "-m", "n.kf",
            box.write("other.csv", table([row[:3] + ["ok" if row[3] == "fraud" else "fraud"] for row in rows], NAMES)))
    first, second = box.read("m.kf"), box.read("n.kf")
    live, still = Live(box, "--header", "no", "--format", "csv", "--follow-model", "m.kf"), Live(box, "--header", "no", "--format", "csv", "m.kf")
    same((live.ask("3,0,0\n"), still.ask("3,0,0\n")), ("fraud", "fraud"), "the first model")
    box.run("train", "-q", "--loss", "logistic", "--target", "verdict", "-m", "m.kf", "other.csv")
    same((live.ask("3,0,0\n"), still.ask("3,0,0\n")), ("ok", "fraud"), "the second, where it is followed")
    for k in range(1, 4):  # half written, byte by byte as it were
        box.write("m.kf", first[:len(first) * k // 4])
        same(live.ask("3,0,0\n"), "ok", "the last one that could be read")
    box.write("m.kf", first)
    same(live.ask("3,0,0\n"), "fraud", "the first again")
    os.unlink(box.at("m.kf"))
    same(live.ask("3,0,0\n"), "fraud", "no file at all")
    box.write("m.kf", "nonsense")
    same(live.ask("3,0,0\n"), "fraud", "no model")
    os.rename(box.at("n.kf"), box.at("m.kf"))
    same(live.ask("3,0,0\n"), "ok", "the second, renamed")
    same(second, box.read("m.kf"), "which it is")
    error = live.end()
    same(error.count("warning"), 2, "one warning for each time that it could not be read: " + error)
    same(still.end(), "", "messages of the other")


def case_a_followed_model_must_have_the_same_columns(box):
    rows = trained(box)
    box.write("fewer.csv", table(rows, ("amount", "hour", "verdict")))
    box.write("turned.csv", table(rows, ("hour", "amount", "age", "verdict")))
    live = Live(box, "--format", "csv", "--follow-model", "--output", "label,probability", "m.kf")
    live.send("amount,hour,age\n")
    same(live.line().split(",")[0], "label", "names")
    same(live.ask("3,0,0\n").split(",")[0], "fraud", "answer")
    for name in ("fewer.csv", "turned.csv"):
        box.run("train", "-q", "--loss", "logistic", "--target", "verdict", "-m", "m.kf", name)
        same(live.ask("3,0,0\n").split(",")[0], "fraud", "answer")
    same(live.end().count("other features"), 1, "warnings")


def case_a_followed_model_may_grow(box):
    """A stream of sparse rows: the model has more features later, and more classes."""
    box.write("a.svm", "1 1:1\n2 1:-1\n" * 10)
    box.write("b.svm", "1 1:1\n2 1:-1\n3 2:5\n" * 10)
    box.run("train", "-q", "--loss", "softmax", "-m", "m.kf", "a.svm")
    live = Live(box, "--format", "libsvm", "--follow-model", "--extra-features", "ignore", "m.kf")
    same(live.ask("0 1:1\n"), "1", "answer")
    box.run("train", "-q", "--loss", "softmax", "-m", "m.kf", "b.svm")
    same([live.ask("0 1:1\n"), live.ask("0 2:5\n")], ["1", "3"], "answers")
    same(live.end(), "", "messages")


@over((("--class", "fraud"), ("--output", "label,probability")))
def case_a_followed_model_with_other_classes_says_so(box, words):
    """What was seen: the probability of a class that the new model does not have became 'nan', without a word."""
    rows = trained(box)
    live = Live(box, "--format", "csv", "--follow-model", *words, "m.kf")
    live.send("amount,hour,age\n")
    if words[0] == "--output":
        live.line()
    live.ask("3,0,0\n")
    trained(box, rows=[row[:3] + ["good" if row[3] == "ok" else "bad"] for row in rows])
    answers = [live.ask("3,0,0\n") for _ in range(2)]
    same(answers, ["nan"] * 2 if words[0] == "--class" else ["bad,nan,nan"] * 2, "answers")
    same(live.end().count("m.kf: the new model has other classes"), 1, "warnings")
