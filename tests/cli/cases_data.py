"""Bad input data: exit 3, one line that names the place, and no output touched.

A bad line is written with @ before the place that the message must name: '1 1:0.5 2:@nan' is line 11, column 9.
"""

import gzip
import os
import re
import struct
import subprocess
import sys

from harness import QUICK, Result, Skipped, as_bytes, clean_environment, libsvm, numbers, over, same

GOOD = b"1 1:0.5 2:1\n-1 1:-0.25 2:2\n" * 5
OLD = b"an old file that must stay\n"
COMMANDS = ("train", "predict", "compare")


def marked(before, line, after):
    """The content, and the place that @ marks in the line."""
    line = as_bytes(line)
    column = line.find(b"@") + 1
    assert column > 0, line
    return before + line.replace(b"@", b"", 1) + after, ":%d:%d: " % (before.count(b"\n") + 1, column)


def squeeze(content):
    return gzip.compress(content, mtime=0)


LINES = {
    "missing colon": "1 @1 2:1",
    "word as value": "1 1:0.5 2:@abc",
    "word as label": "@spam 1:0.5",
    "NaN value": "1 1:0.5 2:@nan",
    "infinite value": "1 1:0.5 2:@inf",
    "NaN label": "@nan 1:0.5",
    "1e999": "1 1:@1e999",
    "repeated index": "1 1:0.5 @1:1",
    "descending index": "1 2:0.5 @1:1",
    "index 0": "1 @0:0.5",
    "negative index": "1 @-1:0.5",
    "index 2^31": "1 @2147483648:1",
    "index 2^32+2": "1 @4294967298:1",
    "index 2^64+2": "1 @18446744073709551618:1",
    "fractional index": "1 @1.5:1",
    "NUL byte": b"1 1:0@\0.5 2:1",
    "decimal comma": "1 1:@0,5 2:1",
    "trailing garbage": "1 1:0.5 2:1 @garbage",
    "gzip bytes in the text": b"@" + squeeze(b"1 1:0.5\n").replace(b"\n", b"").replace(b"\0", b"\1"),
    "double colon": "1 1:@:0.5",
    # beyond the 27
    "no label": "@1:0.5",
    "no value": "1 1:@",
    "hexadecimal value": "1 1:@0x10",
    "bad qid": "1 @qid:x 1:0.5",
    "infinite label": "@-inf 1:0.5",
    "two points": "1 1:@1.2.3",
    "a sign alone": "1 1:@-",
    "a space inside a pair": "1 1:@ 0.5",
    "high bytes": b"1 1:@\xff\xfe",
    "full-width digit": "1 1:@\uff11",
}


def libsvm_cases():
    """Name, content (None: no file; 'folder': a directory) and place."""
    cases = [(name, *marked(GOOD, line, b"\n" + GOOD)) for name, line in LINES.items()]
    cases += [
        ("empty file", b"", ": "),
        ("only comments and blank lines", b"# nothing\n\n \n", ": "),
        ("cut inside a value", GOOD + b"1 1:0.5 2:0.1e", ":11:"),
        ("cut inside a token", GOOD + b"1 1:0.5 2", ":11:"),
        ("binary junk", bytes(range(128, 256)) * 4 + b"\n", ":1:"),
        ("CSV", b"1,0.5,1\n-1,0.25,2\n", ":1:1: "),
        ("a directory", "folder", ": "),
        ("a missing file", None, ": "),
        ("truncated gzip", squeeze(GOOD * 50)[:-12], ": "),
        ("gzip cut in its header", squeeze(GOOD)[:7], ": "),
        ("gzip without its trailer", squeeze(GOOD)[:-8], ": "),
        ("damaged gzip", squeeze(GOOD)[:-6] + b"\xaa\xaa\xaa\xaa\xaa\xaa", ": "),
        ("gzip magic and text behind it", b"\x1f\x8b" + GOOD, ": "),
        ("garbage behind gzip", squeeze(GOOD) + b"1 1:0.5\n", ": "),
        ("bad line inside gzip", squeeze(GOOD + b"1 1:nan\n"), ":11:5: "),
        ("first line", b"x 1:1\n" + GOOD, ":1:1: "),
        ("behind a byte order mark", b"\xef\xbb\xbfx 1:1\n" + GOOD, ":1:1: "),
        ("CRLF", b"1 1:1\r\n1 1:x\r\n", ":2:5: "),
    ]
    return cases


CSV_HEAD = b"a,b,y\n"
CSV_GOOD = b"0.5,1,2\n0.25,2,3\n"
CSV_LINES = {
    "word as value": "@abc,1,2",
    "word as target": "1,2,@abc",
    "empty cell": "1,@,2",
    "NaN": "1,@nan,2",
    "NaN target": "1,2,@nan",
    "infinite": "1,@Infinity,2",
    "1e999": "1,@1e999,2",
    "too many cells": "1,2,3,@4",
    "too few cells": "1,2@",
    "unclosed quote": '1,@"2,3',
    "text behind a quote": '1,"2"@x,3',
    "NUL byte": b"1,2@\0,3",
    "semicolons": "@1;2;3",
    "hexadecimal": "1,@0x1F,3",
}


def csv_cases():
    cases = [(name, *marked(CSV_HEAD + CSV_GOOD, line, b"\n" + CSV_GOOD)) for name, line in CSV_LINES.items()]
    cases += [
        ("empty file", b"", ": "),
        ("only a header", CSV_HEAD, ": "),
        ("cut inside a value", CSV_HEAD + CSV_GOOD + b"1,2,3e", ":4:"),
        ("cut inside a row", CSV_HEAD + CSV_GOOD + b"1,2", ":4:"),
        ("binary junk", bytes(range(128, 256)) * 4 + b"\n", ":"),
        ("one column", b"y\n1\n2\n", ": "),
        ("a directory", "folder", ": "),
        ("a missing file", None, ": "),
        ("truncated gzip", squeeze(CSV_HEAD + CSV_GOOD * 50)[:-12], ": "),
        ("NaN in the first row", b"1,nan,3\n", ":1:3: "),
    ]
    return cases


def npy(rows, columns, values, descr="<f8", order="False", shape=None, version=1, magic=b"\x93NUMPY"):
    shape = shape or "(%d, %d)" % (rows, columns)
    head = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return magic + bytes([version, 0]) + struct.pack("<H", len(head)) + head + struct.pack("<%dd" % len(values), *values)


NPY_GOOD = npy(2, 3, [1, 2, 3, 4, 5, 6])


def npy_cases():
    return [
        ("empty file", b"", ": "),
        ("wrong magic", npy(2, 3, [1, 2, 3, 4, 5, 6], magic=b"\x93NUMPX"), ": "),
        ("text", b"1 1:1\n", ": "),
        ("unknown version", npy(2, 3, [1, 2, 3, 4, 5, 6], version=9), ": "),
        ("cut in the magic", NPY_GOOD[:5], ": "),
        ("cut in the header", NPY_GOOD[:40], ": "),
        ("cut in the data", NPY_GOOD[:-3], ": "),
        ("cut by a row", NPY_GOOD[:-24], ": "),
        ("bytes behind the data", NPY_GOOD + b"\0", ": "),
        ("NaN", npy(2, 3, [1, 2, 3, 4, float("nan"), 6]), ":2:2: "),
        ("NaN target", npy(2, 3, [1, 2, float("nan"), 4, 5, 6]), ":1:3: "),
        ("infinite", npy(2, 3, [1, 2, 3, 4, 5, float("-inf")]), ":2:3: "),
        ("complex numbers", npy(2, 3, [0] * 12, descr="<c16"), ": "),
        ("objects", npy(2, 3, [0] * 6, descr="|O"), ": "),
        ("three dimensions", npy(2, 3, [0] * 6, shape="(2, 3, 1)"), ": "),
        ("negative shape", npy(2, 3, [0] * 6, shape="(-2, 3)"), ": "),
        ("huge shape", npy(2, 3, [0] * 6, shape="(9223372036854775807, 9223372036854775807)"), ": "),
        ("no rows", npy(0, 3, []), ": "),
        ("no columns", npy(2, 0, []), ": "),
        ("only the target", npy(2, 1, [1, 2]), ": "),
        ("no dictionary", npy(2, 3, [0] * 6).replace(b"{", b"["), ": "),
        ("order is a word", npy(2, 3, [0] * 6, order="Maybe"), ": "),
        ("truncated gzip", squeeze(NPY_GOOD)[:-10], ": "),
        ("cut inside gzip", squeeze(NPY_GOOD[:-3]), ":"),
        ("a directory", "folder", ": "),
        ("a missing file", None, ": "),
    ]


def idx(sizes, values, code=8, letter="B", zeros=b"\0\0"):
    return (zeros + bytes([code, len(sizes)]) + b"".join(struct.pack(">I", size) for size in sizes)
            + struct.pack(">%d%s" % (len(values), letter), *values))


IDX_GOOD, IDX_LABELS = idx((2, 2, 2), range(8)), idx((2,), (0, 1))


def idx_cases():
    """Images, labels."""
    return [
        ("empty file", b"", IDX_LABELS, ": "),
        ("wrong type", b"\0\0\x07" + IDX_GOOD[3:], IDX_LABELS, ": "),
        ("no zeros in front", b"\1\0" + IDX_GOOD[2:], IDX_LABELS, ": "),
        ("no dimensions", b"\0\0\x08\0", IDX_LABELS, ": "),
        ("too many dimensions", idx((1,) * 200, (1,)), IDX_LABELS, ": "),
        ("cut in the header", IDX_GOOD[:10], IDX_LABELS, ": "),
        ("cut in the data", IDX_GOOD[:-1], IDX_LABELS, ": "),
        ("bytes behind the data", IDX_GOOD + b"\0", IDX_LABELS, ": "),
        ("more than memory", idx((2 ** 32 - 1,) * 4, (1,)), IDX_LABELS, ": "),
        ("no rows", idx((0, 2, 2), ()), idx((0,), ()), ": "),
        ("NaN", idx((2, 2), (1, 2, float("nan"), 4), 0x0e, "d"), IDX_LABELS, ":2:1: "),
        ("truncated gzip", squeeze(IDX_GOOD)[:-9], IDX_LABELS, ": "),
        ("no labels file", IDX_GOOD, None, ": "),
        ("fewer labels", IDX_GOOD, idx((1,), (0,)), ":"),
        ("more labels", IDX_GOOD, idx((3,), (0, 1, 1)), ":"),
        ("labels cut", IDX_GOOD, IDX_LABELS[:-1], ": "),
        ("labels empty", IDX_GOOD, b"", ": "),
        ("labels of the wrong type", IDX_GOOD, b"\0\0\x07" + IDX_LABELS[3:], ": "),
        ("labels damaged", IDX_GOOD, squeeze(IDX_LABELS)[:-3], ": "),
    ]


def place_data(box, name, content):
    if content == "folder":
        os.mkdir(box.at(name))
    elif content is not None:
        box.write(name, content)


def check_refusal(box, command, name, words, place, data_names=None, features=2):
    """Without outputs, nothing appears; with old ones, they stay; the message names the file and the place. The model that is to
    predict has as many features as the file, so that it is the file that is refused."""
    if command == "predict":
        box.write("good.svm", GOOD + b"1 %d:1\n" % features)
        box.run("train", "-m", "model.kf", "good.svm")
        words = [word for word in words if word not in ("--loss", "logistic")]
    line = {
        "train": ["train", "-m", "m.kf", "--trace", "t.csv", "--gap", *words, name],
        "predict": ["predict", "--score", *words, "model.kf", name],
        "compare": ["compare", "--runs", "1", "--methods", "auto,sgd", "--trace", "t.csv", "-o", "report", *words, name],
    }[command]
    for old in (False, True):
        if old:
            box.write("m.kf", OLD)
            box.write("t.csv", OLD)
            os.makedirs(box.at("report"), exist_ok=True)
            for file in ("trace.csv", "report.html", "gap-by-stage.svg", "gap-by-gradients.svg"):
                box.write("report/" + file, OLD)
        before = box.contents()
        result = box.try_run(*line)
        result.refused(3)
        names = data_names or [name]
        result.check(any(("keepfit: " + one + place) in result.error for one in names),
                     "expected the place %s" % " or ".join(one + place for one in names))
        if command != "predict":
            result.silent()
        else:
            result.check("rmse" not in result.error, "expected no score")
        same(sorted(box.contents()), sorted(before), "files")
        same(box.contents() == before, True, "old files unchanged")


@over([("%s, %s" % (case[0], command), command, *case[1:]) for case in libsvm_cases() for command in COMMANDS])
def case_libsvm(box, case):
    _, command, content, place = case
    place_data(box, "data.svm", content)
    check_refusal(box, command, "data.svm", [], place)


@over([case for case in libsvm_cases() if isinstance(case[1], bytes)])
def case_libsvm_from_a_pipe(box, case):
    """Named <stdin>; the rows before a bad one are kept; where there are none, the trace, which is opened before the first row is
    known, must go again."""
    _, content, place = case
    strict = ["--strict-end"] if content and not content.endswith(b"\n") else []
    line = re.match(r":(\d+):", place)
    good = len([row for row in content.split(b"\n")[:int(line[1]) - 1] if row]) if line and content[:2] != b"\x1f\x8b" else 0
    if "inside gzip" in case[0]:
        good = 10
    for old in (False, True):
        if old and not good:
            box.write("t.csv", OLD)
        result = box.try_run("train", "--loss", "squared", "--format", "libsvm", *strict, "-m", "m.kf", "--trace", "t.csv", "--trace-stages", "all", "-",
                             stdin=content)
        result.refused(3, "keepfit: <stdin>" + place)
        if good:
            result.check("the model of the %d points before it is saved" % good in result.error, "expected %d points" % good)
            same((box.weights("m.kf")["stages"], int(box.trace("t.csv")[-1]["stage"])), (good, good), "stages")
        else:
            result.silent()
            same(box.contents(), {"t.csv": OLD} if old else {}, "files")


@over([("%s, %s" % (case[0], command), command, *case[1:]) for case in csv_cases() for command in COMMANDS])
def case_csv(box, case):
    _, command, content, place = case
    place_data(box, "data.csv", content)
    check_refusal(box, command, "data.csv", [], place)


@over([("%s, %s" % (case[0], command), command, *case[1:]) for case in npy_cases() for command in COMMANDS])
def case_npy(box, case):
    _, command, content, place = case
    place_data(box, "data.npy", content)
    check_refusal(box, command, "data.npy", [], place)


@over([("%s, %s" % (case[0], command), command, *case[1:]) for case in idx_cases() for command in COMMANDS])
def case_idx(box, case):
    _, command, images, labels, place = case
    box.write("a-images-idx3-ubyte", images)
    if labels is not None:
        box.write("a-labels-idx1-ubyte", labels)
    check_refusal(box, command, "a-images-idx3-ubyte", [], place, ["a-images-idx3-ubyte", "a-labels-idx1-ubyte"],
                  features=2 if case[0].startswith("NaN") else 4)


@over([("%s, %s, %s" % (loss, command, kind), loss, command, kind) for loss in ("logistic", "hinge")
       for command in ("train", "compare") for kind in ("file", "shuffled")])
def case_third_class(box, case):
    _, loss, command, kind = case
    box.write("data.svm", GOOD + b"3 1:1\n" if kind == "file" else b"1 1:1\n-1 1:1\n3 1:1\n" * 3)
    words = ["--loss", loss] + (["--shuffle"] if kind == "shuffled" else [])
    check_refusal(box, command, "data.svm", words, ":11:1: " if kind == "file" else ":")
    if kind == "shuffled":
        label, third = re.search(r"data.svm:(\d+):1: label (\S+) is", box.try_run(command, *words, "data.svm").error).groups()
        same([1, -1, 3][(int(label) - 1) % 3], int(third), "label of the line that is named")


@over(COMMANDS)
def case_weights(box, command):
    box.write("data.csv", "a,w,b,y\n1,1,0,2\n12,-2,1,3\n")
    check_refusal(box, command, "data.csv", ["--weight-column", "w"], ":3:4: ", features=2)


@over(COMMANDS)
def case_too_wide(box, command):
    box.write("data.svm", GOOD + b"1 1:1 101:1\n")
    check_refusal(box, command, "data.svm", ["--max-features", "100"], ":11:7: ")


@over(("libsvm", "csv"))
def case_last_line_without_newline_in_a_file(box, kind):
    """Public data sets end so: it is taken, with a warning."""
    name, whole = ("d.svm", libsvm(numbers(5))) if kind == "libsvm" else ("d.csv", "1,2\n3,4\n5,6\n")
    lines = len(whole.splitlines())
    box.write(name, whole)
    box.run("train", "-m", "whole.kf", name)
    box.write(name, whole[:-1])
    for words in (("train", "-m", "cut.kf"), ("predict", "whole.kf"), ("compare", "--methods", "auto", "--runs", "1")):
        result = box.run(*words, name)
        result.check("keepfit: warning: %s:%d: the last line has no newline at its end; it was taken" % (name, lines) in result.error,
                     "expected a warning")
    same(box.read("cut.kf"), box.read("whole.kf"), "model of the file without its last newline")
    same(len(box.run("predict", "cut.kf", name).text.splitlines()), lines, "predictions")
    result = box.run("train", "-q", "--accept-cut", "-m", "cut.kf", name)
    same((result.error, box.read("cut.kf")), ("", box.read("whole.kf")), "nothing is said of what is asked for")
    box.run("train", "-m", "cut.kf", "-", stdin_file=name)  # redirected from a file, it is a file
    same(box.read("cut.kf"), box.read("whole.kf"), "model of the redirected file")
    os.unlink(box.at("cut.kf"))
    for more in ((), ("--on-error", "skip")):
        box.try_run("train", "--strict-end", *more, "-m", "cut.kf", name).refused(3, "%s:%d:" % (name, lines), "--strict-end").silent()
    assert not box.exists("cut.kf"), "a model of a file that was refused"
    box.try_run("train", "--strict-end", "--accept-cut", name).refused(2, "--strict-end", "--accept-cut")


@over((("libsvm", "1 1:1\n2 1:2\n", "3 1:31415"), ("csv", "1,1\n2,2\n", "3,31415")))
def case_last_line_without_newline_in_a_pipe(box, case):
    """It may be half a line: it is never learnt."""
    _, whole, half = case
    box.run("train", "-m", "whole.kf", "-", stdin=whole)
    result = box.run("train", "-m", "cut.kf", "-", stdin=whole + half)
    result.check("keepfit: warning: <stdin>:3: the last line has no newline at its end, so it may have been cut, and was left out" in
                 result.error, "expected a warning")
    same(box.read("cut.kf"), box.read("whole.kf"), "model without the half line")
    result = box.run("predict", "whole.kf", "-", stdin=whole + half)
    same((len(result.text.splitlines()), "left out" in result.error), (2, True), "predictions, warning")
    same(box.run("train", "-q", "-", stdin=whole + half).error, "", "warnings with --quiet")
    result = box.try_run("train", "--strict-end", "-m", "strict.kf", "-", stdin=whole + half)
    result.check(result.code == 3 and "<stdin>:3:" in result.error and "--strict-end" in result.error, "expected a refusal")
    same(box.read("strict.kf"), box.read("whole.kf"), "the model of the rows before, which a live stream keeps")
    told = box.run("train", "--json", "--accept-cut", "-", stdin=whole + half).json
    same(told["stages"], 3, "stages with --accept-cut")
    box.try_run("train", "-", stdin=half).refused(3, "<stdin>: no points", "left out").silent()


@over(("CRLF", "byte order mark", "blank lines", "tabs", "comments", "qid", "gzip", "trailing blanks", "two gzip members",
       "plus signs", "gzip from a pipe", "zero-based"))
def case_good_libsvm(box, kind):
    """What must be accepted, and gives the same model as the plain file."""
    plain = libsvm(numbers(6)).encode()
    lines = plain.splitlines()
    varied = {
        "CRLF": plain.replace(b"\n", b"\r\n"),
        "byte order mark": b"\xef\xbb\xbf" + plain,
        "blank lines": b"\n \n" + plain.replace(b"\n", b"\n\n\t\n"),
        "tabs": plain.replace(b" ", b"\t"),
        "comments": b"# head\n" + plain.replace(b"\n", b" # 1:nan\n#\n"),
        "qid": b"".join(line.replace(b" ", b" qid:7 ", 1) + b"\n" for line in lines),
        "gzip": squeeze(plain),
        "trailing blanks": plain.replace(b"\n", b"  \t\n"),
        "two gzip members": squeeze(plain[:50]) + squeeze(plain[50:]),
        "plus signs": re.sub(rb"(^|:)(?=\d)", rb"\1+", plain, flags=re.M),
        "gzip from a pipe": squeeze(plain),
        "zero-based": re.sub(rb" (\d+):", lambda m: b" %d:" % (int(m[1]) - 1), plain),
    }[kind]
    box.write("plain.svm", plain)
    box.write("varied.svm", varied)
    box.run("train", "-m", "plain.kf", "plain.svm")
    if kind == "gzip from a pipe":
        box.run("train", "-m", "varied.kf", "-", stdin=varied)
    else:
        box.run("train", *(["--zero-based"] if kind == "zero-based" else []), "-m", "varied.kf", "varied.svm")
    same(box.read("varied.kf"), box.read("plain.kf"), "model")


def case_formats_agree(box):
    """The same numbers in every format, by name and by content, give the same weights."""
    rows = [([float(k % 5), float(3 * k % 7), float(k % 2 + 1)], float(k % 3)) for k in range(1, 20)]
    flat = [v for row, b in rows for v in row + [b]]
    names = {
        "d.svm": libsvm(rows),
        "d.csv": "".join("%r,%r,%r,%r\n" % (*row, b) for row, b in rows),
        "d.tsv": "a\tb\tc\ty\n" + "".join("%r\t%r\t%r\t%r\n" % (*row, b) for row, b in rows),
        "d.npy": npy(19, 4, flat),
        "d-images-idx3-ubyte": idx((19, 3, 1), [int(v) for row, _ in rows for v in row]),
        "plain-svm": libsvm(rows),
        "plain-npy": npy(19, 4, flat),
        "d.csv.gz": squeeze("".join("%r;%r;%r;%r\n" % (*row, b) for row, b in rows).encode()),
    }
    box.write("d-labels-idx1-ubyte", idx((19,), [int(b) for _, b in rows]))
    box.write("labels.npy", npy(19, 1, [b for _, b in rows], shape="(19,)"))
    box.write("rows.npy", npy(19, 3, [v for row, _ in rows for v in row]))
    found = []
    for name, content in names.items():
        box.write(name, content)
        box.run("train", "-m", "m.kf", name)
        found.append(box.weights("m.kf")["weights"])
    assert "\n  target       from labels.npy\n" in box.run("train", "-m", "m.kf", "--targets", "labels.npy", "rows.npy").text
    found.append(box.weights("m.kf")["weights"])
    for name, weights in zip([*names, "rows.npy"], found):
        assert all(abs(a - b) < 1e-9 for a, b in zip(weights, found[0])), "%s: %s, not %s" % (name, weights, found[0])


ENDLESS_LINE = """
import sys
out = sys.stdout.buffer
try:
    out.write(b"1 1:1\\n1 1:0.")
    for _ in range(300):
        out.write(b"1" * 1000000)
    out.write(b"\\n")
    out.flush()
except BrokenPipeError:
    sys.stdout = None
"""


@over((("one number", "libsvm"), ("CSV", "csv")))
def case_endless_line(box, case):
    """A line of 300 MB is refused, not held."""
    if QUICK:
        raise Skipped("slow")
    source = subprocess.Popen([sys.executable, "-c", ENDLESS_LINE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    words = ("train", "--format", case[1], "-m", "m.kf", "-")
    done = subprocess.run([box.keepfit, *words], cwd=box.path, env=clean_environment(), stdin=source.stdout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    source.stdout.close()
    source.kill()
    source.wait()
    result = Result(words, done.returncode, done.stdout, done.stderr)
    result.refused(3, "<stdin>:2", "longer") if case[1] == "libsvm" else result.refused(3, "<stdin>:")
    if case[1] == "libsvm":
        same(box.weights("m.kf")["stages"], 1, "stages of the model of the row before")
    else:
        same(box.contents(), {}, "files")
