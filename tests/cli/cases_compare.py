"""compare: table, JSON, trace, plots and report."""

import html.parser
import os
import xml.etree.ElementTree

from harness import libsvm, over, same, two_classes, without_seconds

FILES = ["gap-by-gradients.svg", "gap-by-stage.svg", "report.html", "trace.csv"]


def compare(box, *words, **more):
    return box.run("compare", *words, **more)


def data(box, loss="squared", rows="60"):
    return box.generate("data.svm", "--rows", rows, "--features", "5", "--loss", loss)


def trace_of(box, folder):
    return box.trace(folder + "/trace.csv")


class Page(html.parser.HTMLParser):
    """The tags of a page, and whether they nest."""

    EMPTY = {"meta", "br", "hr", "img", "link", "input", "col", "path", "rect", "line", "circle", "polyline", "polygon"}
    OPTIONAL = {"p", "li", "td", "th", "tr", "thead", "tbody", "html", "head", "body", "dt", "dd", "option"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.faults, self.text, self.links = [], [], [], [], []
        self.feed(text)
        self.close()
        self.faults += [tag + " is not closed" for tag in self.open if tag not in self.OPTIONAL]

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.look(attributes)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.look(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def look(self, attributes):
        self.links += [value for name, value in attributes if name in ("href", "src", "xlink:href", "data", "action")]
        self.faults += [name + " is a script" for name, _ in attributes if name.startswith("on")]

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in self.OPTIONAL:
            self.open.pop()
        if tag in self.EMPTY:
            return
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.faults.append("</%s> closes nothing" % tag)

    def handle_data(self, text):
        self.text.append(text)


def case_table(box):
    data(box)
    result = compare(box, "--methods", "auto,csvrg:setting=paper:inner=50,sgd:step=capped", "--runs", "2", "data.svm")
    lines = result.text.splitlines()
    same(len(lines), 4, "lines of the table")
    same([line.split()[0] for line in lines],
         ["method", "auto", "csvrg:setting=paper:inner=50", "sgd:step=capped"], "methods")
    same(len({len(line) for line in lines}), 1, "widths of the lines")
    same([len(line.split()) for line in lines[1:]], [7, 7, 7], "cells")
    same(result.error, "keepfit: report in keepfit-report/report.html\n", "message")
    same(sorted(os.listdir(box.at("keepfit-report"))), FILES, "files")


def case_json(box):
    data(box)
    result = compare(box, "--json", "-q", "--methods", "auto,sgd", "--runs", "2", "-o", "r", "data.svm")
    result.check(result.err == b"", "expected nothing on standard error with --quiet")
    told = result.json
    same([row["method"] for row in told], ["auto", "sgd"], "methods")
    for row in told:
        for name in ("runs", "fo_per_stage", "steps_per_stage", "final_gap", "max_gap", "objective", "seconds", "lambda",
                     "epsilon", "stages", "features", "fo", "steps", "bound"):
            assert isinstance(row[name], (int, float)), "%s is %r" % (name, row[name])
        assert row["failure"] is None and row["runs"] == 2 and row["loss"] == "squared" and row["stages"] == 60
    rows = trace_of(box, "r")
    for entry in told:
        own = [row for row in rows if row["method"] == entry["method"]]
        assert abs(max(float(row["gap"]) for row in own) - entry["max_gap"]) < 1e-15
        finals = [float(row["gap"]) for row in own if row["stage"] == "60"]
        assert abs(sum(finals) / 2 - entry["final_gap"]) < 1e-15
        fos = [int(row["fo"]) for row in own if row["stage"] == "60"]
        assert abs(sum(fos) / 2 / 60 - entry["fo_per_stage"]) < 1e-9
        assert abs(sum(fos) / 2 - entry["fo"]) < 1e-6


def case_gap_is_measured_anyway(box):
    data(box)
    words = ("--json", "-q", "--methods", "svrg", "--runs", "1", "data.svm")
    plain, asked = (compare(box, *more, *words).json for more in ((), ("--gap",)))
    same(asked[0]["max_gap"], plain[0]["max_gap"], "largest gap")


@over(("5", "all"))
def case_skipped_rows(box, stages):
    """Points that the fits refuse shorten the stream; its last stage is measured all the same, and they are counted."""
    rows = two_classes((1, 2), 40)
    box.write("data.svm", libsvm(rows[:20] + [(rows[0][0], 3)] + rows[20:]) + "1 1:nan\n")
    result = compare(box, "--loss", "logistic", "--on-error", "skip", "--methods", "auto,sgd", "--runs", "1",
                     "--trace-stages", stages, "-o", "r", "data.svm")
    assert "2 bad rows were skipped" in result.error, result.error
    lasts = {row["method"]: row["stage"] for row in trace_of(box, "r")}
    same(lasts, {"auto": "40", "sgd": "40"}, "last stages")


def case_a_bad_row_is_told_once(box):
    box.write("data.svm", libsvm(two_classes((1, 2), 40)) + "3 1:1\n")
    words = ("--loss", "logistic", "--methods", "auto", "--runs", "4", "-j", "4", "data.svm")
    box.try_run("compare", *words).refused(3, "data.svm:41:1").silent()


def case_no_row_can_be_used(box):
    box.write("data.svm", "1 1:1e300\n2 1:1e300\n")
    box.try_run("compare", "--on-error", "skip", "--methods", "auto", "data.svm").refused(3, "data.svm").silent()


@over(("squared", "logistic", "huber", "hinge", "softmax"))
def case_files(box, loss):
    data(box, loss)
    methods = ["auto", "csvrg", "saga:inner=20"]
    compare(box, "--loss", loss, "--methods", ",".join(methods), "--runs", "2", "--trace-stages", "6", "-o", "r",
            "--trace", "t.csv", "data.svm")
    same(sorted(os.listdir(box.at("r"))), FILES, "files")
    same(box.read("t.csv"), box.read("r/trace.csv"), "--trace and the trace of the report")
    rows = trace_of(box, "r")
    stages = sorted({int(row["stage"]) for row in rows})
    assert 3 <= len(stages) <= 6 and stages[-1] == 60, stages
    found = sorted((row["method"], int(row["run"]), int(row["stage"])) for row in rows)
    same(found, sorted((m, run, s) for m in methods for run in (1, 2) for s in stages), "rows of the trace")
    for row in rows:
        assert float(row["gap"]) >= -1e-9 and int(row["fo"]) > 0, row
        assert row["bound"] == "" or float(row["bound"]) >= float(row["gap"]) - 1e-9, row
    for name in ("r/gap-by-stage.svg", "r/gap-by-gradients.svg"):
        root = xml.etree.ElementTree.fromstring(box.read(name))
        same(root.tag, "{http://www.w3.org/2000/svg}svg", "root of " + name)
        drawn = xml.etree.ElementTree.tostring(root, encoding="unicode")
        assert "nan" not in drawn.lower().replace("finance", "") and "inf" not in drawn, name + " has bad numbers"
        for method in methods:
            assert method in drawn, "%s does not name %s" % (name, method)


def case_report(box):
    data(box)
    compare(box, "--methods", "auto,csvrg,sgd:step=1000000", "--runs", "1", "-o", "r", "data.svm")
    text = box.read("r/report.html").decode("utf-8")
    low = text.lower()
    assert low.startswith("<!doctype html>"), "no doctype"
    outside = low.replace('xmlns="http://www.w3.org/2000/svg"', "").replace("http-equiv=", "").replace("url(#", "")
    for part in ("http", "<script", "@import", "url(", "javascript:"):
        assert part not in outside, "the report has %r" % part
    page = Page(text)
    same(page.faults, [], "faults of the page")
    assert all(link.startswith(("#", "data:")) or "/" not in link for link in page.links), page.links
    same((page.tags.count("svg") >= 2, "table" in page.tags, "title" in page.tags), (True, True, True), "parts")
    shown = " ".join(page.text)
    for part in ("auto", "csvrg", "sgd:step=1000000", "data.svm", "failed", "keepfit compare"):
        assert part in shown, "the report does not tell of %r" % part


@over(("a<b>&'\".svm", "<script>alert(1)</script>.svm".replace("/", "")))
def case_report_escapes(box, name):
    data(box, rows="20")
    os.rename(box.at("data.svm"), box.at(name))
    compare(box, "--methods", "auto", "--runs", "1", "-o", "r", name)
    text = box.read("r/report.html").decode()
    assert "<script" not in text.lower() and "a<b>" not in text
    page = Page(text)
    same(page.faults, [], "faults of the page")
    assert name in "".join(page.text), "the name, escaped"
    for plot in ("r/gap-by-stage.svg", "r/gap-by-gradients.svg"):
        xml.etree.ElementTree.fromstring(box.read(plot))


def case_a_failing_method(box):
    data(box)
    words = ("--methods", "sgd:step=1000000,auto", "--runs", "2", "data.svm")
    lines = compare(box, *words).text.splitlines()
    assert lines[1].startswith("sgd:step=1000000") and "failed: stage " in lines[1], lines
    assert lines[2].startswith("auto") and "failed" not in lines[2], lines
    told = compare(box, "--json", *words).json
    assert told[0]["failure"] and told[0]["final_gap"] is None and told[1]["failure"] is None
    rows = trace_of(box, "keepfit-report")
    assert [row["stage"] for row in rows if row["method"] == "auto"].count("60") == 2
    for row in rows:
        assert "nan" not in ",".join(row.values()) and "inf" not in ",".join(row.values()), row


def case_same_seed_same_trace(box):
    data(box, "logistic")
    found = []
    for k, more in enumerate(([], [], ["--threads", "2"], ["--seed", "9"])):
        compare(box, "--loss", "logistic", "--methods", "auto,csvrg,sgd", "--runs", "3", *more, "-o", "r%d" % k, "data.svm")
        found.append(without_seconds(trace_of(box, "r%d" % k)))
    assert found[0] == found[1], "the same seed gives another trace"
    assert found[0] == found[2], "two threads give another trace"
    assert found[0] != found[3], "the seed has no effect"


def case_same_as_train(box):
    """A run of compare is what train does with that seed."""
    data(box)
    compare(box, "--methods", "csvrg,sgd", "--runs", "2", "--seed", "5", "--trace-stages", "all", "-o", "r", "data.svm")
    for run, seed in ((1, "5"), (2, "6")):
        for method in ("csvrg", "sgd"):
            box.run("train", "--method", method, "--seed", seed, "--trace", "t.csv", "--trace-stages", "all", "data.svm")
            own = [row["objective"] for row in trace_of(box, "r") if (row["method"], row["run"]) == (method, str(run))]
            same(own, [row["objective"] for row in box.trace("t.csv")], "%s with seed %s" % (method, seed))


@over(("lambda=1", "loss=huber", "domain=ball:0.1", "intercept=true", "seed=9", "limit=5", "epsilon=0.1"))
def case_options_of_one_method(box, option):
    """A method's own options either are refused, or its gap is still measured against the optimum of its own problem."""
    data(box)
    result = box.try_run("compare", "--methods", "refit,refit:" + option, "--runs", "1", "-o", "r", "data.svm")
    if result.code == 2:
        return
    result.check(result.code == 0, "expected exit 0 or 2")
    for row in trace_of(box, "r"):
        result.check(float(row["gap"]) >= -1e-9, "a gap below 0: %r" % row)
        result.check(row["bound"] == "" or float(row["gap"]) <= float(row["bound"]) + 1e-9,
                     "a gap above its proved bound: %r" % row)


def case_pipe(box):
    data(box)
    result = compare(box, "--methods", "auto", "--runs", "1", "-", stdin=box.read("data.svm"))
    same(len(result.text.splitlines()), 2, "lines of the table")


def case_one_point(box):
    box.write("data.svm", "1 1:1\n")
    compare(box, "--methods", "auto,csvrg,sgd", "--runs", "1", "-o", "r", "data.svm")
    for name in ("r/gap-by-stage.svg", "r/gap-by-gradients.svg"):
        xml.etree.ElementTree.fromstring(box.read(name))


def case_old_folder_is_overwritten(box):
    data(box)
    os.mkdir(box.at("r"))
    box.write("r/mine.txt", "mine")
    box.write("r/report.html", "old")
    compare(box, "--methods", "auto", "--runs", "1", "-o", "r", "data.svm")
    same(box.read("r/mine.txt"), b"mine", "somebody else's file")
    assert b"<svg" in box.read("r/report.html")
    same(sorted(os.listdir(box.at("r"))), sorted(FILES + ["mine.txt"]), "files")


def case_default_methods(box):
    data(box, "logistic", "40")
    told = compare(box, "--loss", "logistic", "--json", "--runs", "1", "data.svm").json
    same([row["method"] for row in told], ["auto", "csvrg", "sgd", "sgd-sparse", "svrg", "katyusha"], "methods")
