"""Full disks, places that cannot be written, and damaged models."""

import os
import stat

from harness import QUICK, libsvm, numbers, over, read_trace, same, two_classes, without_seconds

OLD = b"an old file that must stay\n"


def model(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.run("train", "-m", "model.kf", "data.svm")


@over((("train", "train data.svm"), ("train --json", "train --json data.svm"), ("predict", "predict model.kf data.svm"),
       ("predict --score", "predict --score model.kf data.svm"), ("inspect", "inspect model.kf"),
       ("inspect --json", "inspect --json --weights model.kf"), ("generate", "generate --rows 10"),
       ("generate much", "generate --rows 5000"), ("generate sorted", "generate --order sorted"),
       ("list", "list methods"), ("list --json", "list --json options"), ("help", "help"), ("help train", "help train"),
       ("--help", "--help"), ("train --help", "train --help"), ("--version", "--version"), ("man", "help --man"),
       ("completion", "help --completion bash"), ("trace", "train -q --trace - data.svm"),
       ("compare", "compare --methods auto --runs 1 -q data.svm"),
       ("compare --json", "compare --methods auto --runs 1 -q --json data.svm")))
def case_full_standard_output(box, case):
    model(box)
    with open("/dev/full", "wb") as full:
        result = box.try_run(*case[1].split(), stdout=full)
    lines = [line for line in result.error.splitlines() if line.startswith("keepfit: ")]
    result.check(result.code == 1, "expected exit 1")
    result.check(len(lines) == 1 and "cannot write" in lines[0], "expected one message that it cannot write")


def case_full_standard_output_when_epsilon_is_missed(box):
    """Another failure must not hide that the summary is lost."""
    model(box)
    with open("/dev/full", "wb") as full:
        result = box.try_run("train", "--method", "sgd", "--epsilon", "1e-12", "--gap", "data.svm", stdout=full)
    result.check(result.code in (1, 5), "expected exit 1 or 5")
    result.check("cannot write" in result.error, "expected a message that it cannot write")


@over(("train", "compare"))
def case_full_trace(box, command):
    model(box)
    words = [command, "--trace", "/dev/full"] + (["--methods", "auto", "--runs", "1"] if command == "compare" else [])
    result = box.try_run(*words, "data.svm")
    result.check(result.code == 1 and "keepfit: /dev/full: " in result.error, "expected exit 1 and the file's name")


@over([("%s, %d bytes, %s" % (name, limit, kind), name, limit, kind) for kind in ("new", "old")
       for name, limits in (("model", (0, 1, 100)), ("every", (0, 100)), ("trace", (0, 60, 200))) for limit in limits])
def case_full_disk(box, case):
    _, what, limit, kind = case
    box.write("data.svm", libsvm(numbers(30)))
    if kind == "old":
        box.write("out", OLD)
    words = {"model": ["-m", "out"], "every": ["-m", "out", "--save-every", "7"], "trace": ["--trace", "out"]}[what]
    before = box.contents()
    box.try_run("train", *words, "data.svm", limit=limit).refused(1, "keepfit: out: ").silent()
    same(box.contents() == before, True, "files unchanged (now %s)" % sorted(box.contents()))


@over([("%d bytes, %s" % (limit, kind), limit, kind) for kind in ("new", "old") for limit in (0, 100, 3000, 8000)])
def case_full_disk_for_the_report(box, case):
    """Each file is either the old one or whole; and nothing else is left."""
    _, limit, kind = case
    box.write("data.svm", libsvm(numbers(30)))
    names = ["trace.csv", "gap-by-stage.svg", "gap-by-gradients.svg", "report.html"]
    words = ("compare", "--methods", "auto,csvrg", "--runs", "1", "--trace-stages", "9", "-o", "r", "data.svm")
    os.mkdir(box.at("r"))
    for name in names if kind == "old" else []:
        box.write("r/" + name, OLD)
    result = box.try_run(*words, limit=limit).refused(1, "keepfit: r/").silent()
    left = {name: content for name, content in box.contents().items() if name.startswith("r/")}
    for name, content in left.items():
        assert name[2:] in names, "%s is left behind" % name
        whole = content.rstrip().endswith(b"</svg>") if name.endswith("svg") else content.endswith(b"\n")
        result.check(content == OLD or (whole and len(content) <= limit), "%s is neither old nor whole" % name)
    if limit == 0:
        same([content for content in left.values() if content != OLD], [], "new files")
    if kind == "old":
        same(box.read("r/report.html"), OLD, "report")


@over((("/dev/null", "/dev/null"), ("a directory", "folder"), ("a missing directory", "none/m.kf"),
       ("below a file", "data.svm/m.kf"), ("an empty name", "")))
def case_model_cannot_be_there(box, case):
    box.write("data.svm", libsvm(numbers(30)))
    os.mkdir(box.at("folder"))
    before = box.contents()
    result = box.try_run("train", "-m", case[1], "data.svm")
    result.refused(2 if case[1] == "" and result.code == 2 else 1).silent()
    same(box.contents(), before, "files")
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")


@over((("a directory", "folder"), ("a missing directory", "none/t.csv"), ("below a file", "data.svm/t.csv")))
def case_trace_cannot_be_there(box, case):
    box.write("data.svm", libsvm(numbers(30)))
    os.mkdir(box.at("folder"))
    before = box.contents()
    box.try_run("train", "--trace", case[1], "data.svm").refused(1, "keepfit: %s: " % case[1]).silent()
    same(box.contents(), before, "files")


@over((("a file", "data.svm"), ("a missing directory", "none/r"), ("/dev/null", "/dev/null")))
def case_report_cannot_be_there(box, case):
    box.write("data.svm", libsvm(numbers(30)))
    before = box.contents()
    box.try_run("compare", "--methods", "auto", "--runs", "1", "-o", case[1],
                "data.svm").refused(1, "keepfit: " + case[1]).silent()
    same(box.contents(), before, "files")


def case_trace_to_what_is_no_file(box):
    """A device or a pipe cannot be replaced, so it is written straight: as the file would be, but for the seconds."""
    box.write("data.svm", libsvm(numbers(30)))
    box.run("train", "-q", "--trace", "/dev/null", "data.svm")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null has been replaced"
    box.run("train", "-q", "--trace", "t.csv", "data.svm")
    expected = without_seconds(box.trace("t.csv"))
    same(len(expected), 30, "stages")
    piped = box.run("train", "-q", "--trace", "/dev/stdout", "data.svm").text
    same(without_seconds(read_trace(piped)), expected, "the trace on a pipe")


def case_failed_training_keeps_the_old_model(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.write("m.kf", OLD)
    box.write("t.csv", OLD)
    before = box.contents()
    box.try_run("train", "--method", "sgd", "--step", "1e300", "-m", "m.kf", "--trace", "t.csv",
                "data.svm").refused(1, "finite").silent()
    same(box.contents(), before, "files")


def case_new_model_replaces_the_old(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.write("m.kf", OLD)
    os.chmod(box.at("m.kf"), 0o600)
    box.run("train", "-m", "m.kf", "data.svm")
    same(os.stat(box.at("m.kf")).st_mode & 0o777, 0o600, "permissions of the old model")
    same(sorted(box.contents()), ["data.svm", "m.kf"], "files")
    same(box.weights("m.kf")["stages"], 30, "stages")


# ---- damaged models ----

SLICES = 12


def small_model(box):
    box.write("data.svm", libsvm(two_classes((1, 2), 10)))
    box.run("train", "--loss", "logistic", "-m", "good.kf", "data.svm")
    return box.read("good.kf")


def refuse_damaged(box, content, what, predict):
    box.write("bad.kf", content)
    words = [("inspect", "bad.kf")] + ([("predict", "bad.kf", "data.svm")] if predict else [])
    for line in words:
        result = box.try_run(*line)
        result.check(result.code == 4, what + ": expected exit 4")
        result.refused(4, "keepfit: bad.kf: ").silent()


@over(range(SLICES))
def case_every_bit_of_a_model(box, part):
    good = small_model(box)
    count = 8 * len(good)
    predicted = count // 50
    step = SLICES * (25 if QUICK else 1)
    for bit in range(part, count, step):
        content = bytearray(good)
        content[bit // 8] ^= 1 << bit % 8
        refuse_damaged(box, content, "bit %d flipped" % bit, bit % predicted == 0)


@over(range(2))
def case_every_length_of_a_model(box, part):
    good = small_model(box)
    for length in range(part, len(good), 2 * (10 if QUICK else 1)):
        refuse_damaged(box, good[:length], "cut to %d bytes" % length, length % 16 == part)


@over((("a zero", b"\0"), ("a newline", b"\n"), ("itself", None), ("a megabyte", b"x" * 1000000)))
def case_something_behind_a_model(box, case):
    good = small_model(box)
    refuse_damaged(box, good + (good if case[1] is None else case[1]), "something behind it", True)


@over((("empty", b""), ("text", b"1 1:0.5\n"), ("only the magic", b"keepfitM"), ("zeros", bytes(500))))
def case_not_a_model(box, case):
    small_model(box)
    refuse_damaged(box, case[1], case[0], True)
