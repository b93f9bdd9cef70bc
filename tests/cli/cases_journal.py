"""Journals on the command line: resuming, skipping, refusing, looking, checking, exporting, compacting, stopping, failing disks."""

import os
import shutil
import signal
import struct
import subprocess

from harness import *

TRAIN = ("train", "--quiet", "--lambda", "0.1")


def stream(box, rows=60, name="all.svm"):
    made = numbers(rows)
    box.write(name, libsvm(made))
    box.write("first.svm", libsvm(made[:25]))
    return made


def segment(journal="j", number=1):
    return os.path.join(journal, "000001", "%020d.segment" % number)


@over((("always", "--sync", "always"), ("batch", "--sync", "batch:7"), ("interval", "--sync", "interval:5"), ("none", "--sync", "none"),
       ("small segments", "--segment-bytes", "4096"), ("checkpoints", "--checkpoint-gradients", "10"),
       ("checkpoints by time", "--checkpoint-seconds", "0")))
def case_goes_on(box, case):
    stream(box)
    box.run(*TRAIN, "-m", "whole.kf", "all.svm")
    box.run(*TRAIN, "--journal", "j", *case[1:], "first.svm")
    told = box.run("train", "--json", "--journal", "j", *case[1:], "-m", "parts.kf", "all.svm").json
    same((told["resumed"], told["stages"], told["cut"]), (25, 60, 0), "resumed, stages, cut")
    same(told["lambda"], 0.1, "lambda, which the journal remembers")
    same(box.read("parts.kf"), box.read("whole.kf"), "the model")


def case_nothing_new(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "-m", "one.kf", "all.svm")
    told = box.run("train", "--json", "--journal", "j", "-m", "two.kf", "all.svm").json
    same((told["resumed"], told["replayed"], told["stages"]), (60, 0, 60), "resumed, replayed, stages")
    same(box.read("one.kf"), box.read("two.kf"), "the model")


def case_another_point(box):
    made = stream(box)
    box.run(*TRAIN, "--journal", "j", "first.svm")
    made[7] = (made[7][0], made[7][1] + 1)
    box.write("other.svm", libsvm(made))
    box.try_run("train", "-q", "--journal", "j", "other.svm").refused(3, "other.svm:8:1: point 8 ", "--resume append").silent()
    told = box.run("train", "--json", "--journal", "j", "--resume", "append", "other.svm").json
    same((told["resumed"], told["stages"]), (25, 85), "resumed and stages")


def case_refused_points_are_passed_over(box):
    made = two_classes((-1.0, 1.0), 30)
    lines = libsvm(made).splitlines(True)
    lines[10:10] = ["5 1:1\n"]  # a third class, which the fit does not take
    box.write("all.svm", "".join(lines))
    box.write("first.svm", "".join(lines[:20]))
    options = ("--loss", "logistic", "--on-error", "skip", "--journal", "j")
    box.run("train", "-q", *options, "first.svm")
    told = box.run("train", "--json", *options, "all.svm").json
    same((told["resumed"], told["stages"], told["skipped"]), (19, 30, 1), "resumed, stages, skipped")


@over((("lambda", "0.2", "0.1"), ("loss", "huber", "squared"), ("window", "5", "none"), ("scale", "rows", "none")))
def case_other_options(box, case):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "first.svm")
    before = box.contents()
    box.try_run("train", "--" + case[0], case[1], "--journal", "j", "all.svm").refused(2, "--" + case[0], case[1], case[2])
    after = box.contents()
    before.pop("j/lock"), after.pop("j/lock")
    assert before == after, "the journal was changed"


def case_acknowledge(box):
    stream(box)
    out = box.run(*TRAIN, "--journal", "j", "--acknowledge", "all.svm").text.split()
    same([int(n) for n in out], list(range(1, 61)), "acknowledged")
    box.try_run(*TRAIN, "--acknowledge", "all.svm").refused(2, "--acknowledge needs --journal")


@over(("--resume append", "--sync none", "--segment-bytes 100000", "--checkpoint-seconds 5", "--checkpoint-gradients 100"))
def case_what_is_said_of_a_journal_needs_one(box, words):
    """What was seen: without --journal they did nothing, without a word."""
    box.write("all.svm", "1 1:1\n2 1:2\n")
    box.try_run("train", *words.split(), "all.svm").refused(2, words.split()[0], "needs --journal").silent()
    box.run("train", "--journal", "j", *words.split(), "all.svm")


def case_no_half_of_a_liblinear_model(box):
    """What was seen: a model that liblinear cannot have left its first line on standard output."""
    box.write("one.svm", "1 1:1\n1 1:2\n")
    box.run("train", "--loss", "logistic", "-m", "m.kf", "one.svm")
    box.try_run("export", "--to", "liblinear", "m.kf").refused(3, "fewer than two classes").silent()
    box.try_run(*TRAIN, "--journal", "", "all.svm").refused(2, "--journal names no folder")


def case_locked(box):
    stream(box)
    process = box.start("train", "--journal", "j", "--acknowledge", "--quiet", "-")
    process.stdin.write(box.read("first.svm"))
    process.stdin.flush()
    for _ in range(25):
        process.stdout.readline()
    box.try_run(*TRAIN, "--journal", "j", "all.svm").refused(1, "j: the journal is in use by process %d" % process.pid)
    box.run("verify", "j")  # looking needs no lock
    process.communicate()
    same(process.returncode, 0, "exit")


@over((("SIGINT", signal.SIGINT, 130), ("SIGTERM", signal.SIGTERM, 143), ("SIGHUP", signal.SIGHUP, 129)))
def case_stops(box, case):
    stream(box)
    box.run(*TRAIN, "-m", "whole.kf", "all.svm")
    process = box.start("train", "--lambda", "0.1", "--journal", "j", "--acknowledge", "--json", "--quiet", "-")
    process.stdin.write(box.read("first.svm"))
    process.stdin.flush()
    for _ in range(25):
        process.stdout.readline()
    process.send_signal(case[1])
    out, err = process.communicate(timeout=TIMEOUT)
    same(process.returncode, case[2], "exit")
    assert b'"stages": 25' in out, "a summary is printed"
    told = box.run("train", "--json", "--journal", "j", "-m", "parts.kf", "all.svm").json
    same((told["resumed"], told["replayed"]), (25, 0), "resumed from the checkpoint that was written on the way out")
    same(box.read("parts.kf"), box.read("whole.kf"), "the model")


# ---- looking and checking ----


def case_inspect(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "--window", "10", "all.svm")
    told = box.run("inspect", "--json", "j").json
    same((told["kind"], told["points"], told["present"], told["records"], told["torn"], told["damage"]),
         ("journal", 60, 10, 61, 0, None), "the journal")
    assert "set lambda 0.1\n" in told["settings"] and "default epsilon 0.001\n" in told["settings"], told["settings"]
    assert "60, of which 10 are present" in box.run("inspect", "j").text
    checkpoint = [n for n in os.listdir(box.at("j/000001")) if n.endswith(".checkpoint")][0]
    same(box.run("inspect", "--json", "j/000001/" + checkpoint).json, {"kind": "checkpoint", "record": 61}, "the checkpoint")


def case_verify(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "-m", "m.kf", "all.svm")
    for name in ("j", "m.kf", "j/000001/%020d.checkpoint" % 61):
        assert name + ": whole" in box.run("verify", name).text


def flip(box, name, at):
    data = bytearray(box.read(name))
    data[at] ^= 1
    box.write(name, bytes(data))


def case_torn_tail(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "all.svm")
    for name in os.listdir(box.at("j/000001")):
        if name.endswith("checkpoint"):
            os.unlink(box.at("j/000001/" + name))
    box.write(segment(), box.read(segment())[:-13])
    shutil.copytree(box.at("j"), box.at("k"))
    box.try_run("verify", "j").refused(4, "j: ", "behind record 60", "--repair").silent()
    assert "60 records" in box.run("verify", "--repair", "j").text
    box.run("verify", "j")
    box.run(*TRAIN, "-m", "whole.kf", "all.svm")
    for journal in ("j", "k"):  # repaired, or by itself
        result = box.run("train", "--json", "--journal", journal, "-m", "parts.kf", "all.svm")
        same((result.json["resumed"], result.json["cut"] > 0), (59, journal == "k"), "resumed, cut")
        same("cut off" in result.error, journal == "k", "a warning")
        same(box.read("parts.kf"), box.read("whole.kf"), "the model")


def case_damage(box):
    made = stream(box)
    box.run(*TRAIN, "--journal", "j", "all.svm")
    flip(box, segment(), len(box.read(segment())) // 2)
    before = box.read(segment())
    for words in (("verify", "j"), ("verify", "--repair", "j"), ("train", "-q", "--journal", "j", "all.svm")):
        box.try_run(*words).refused(4, segment(), "record ", " at byte ").silent()
    same(box.read(segment()), before, "the segment")
    result = box.try_run("export", "j")
    same(result.code, 4, "exit")
    got = result.text.splitlines()
    assert 20 < len(got) < 60 and len(result.error.splitlines()) == 1
    same([float(line.split()[0]) for line in got], [target for _, target in made[:len(got)]], "the points before the damage")


def case_spoilt_checkpoint(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "-m", "whole.kf", "all.svm")
    checkpoint = "j/000001/%020d.checkpoint" % 61
    flip(box, checkpoint, 100)
    box.try_run("verify", "j").refused(4, "1 checkpoints are damaged", "--repair")
    box.try_run("verify", checkpoint).refused(4, checkpoint, "checksum")
    result = box.run("train", "--json", "--journal", "j", "-m", "again.kf", "all.svm")
    same((result.json["resumed"], result.json["replayed"]), (60, 60), "resumed, replayed")
    assert "could not be used" in result.error
    same(box.read("again.kf"), box.read("whole.kf"), "the model")


def case_not_a_journal(box):
    stream(box)
    os.mkdir(box.at("full"))
    box.write("full/precious.txt", "x")
    box.try_run(*TRAIN, "--journal", "full", "all.svm").refused(2, "full: ", "precious.txt")
    box.try_run(*TRAIN, "--journal", "all.svm", "all.svm").refused(2, "all.svm: is not a folder")
    box.try_run(*TRAIN, "--journal", "no/such/place", "all.svm").refused(1, "no/such/place")
    for command in ("inspect", "verify", "export", "compact"):
        box.try_run(command, "full").refused(1, "full: there is no journal")
    assert not box.exists("no")


# ---- exporting ----


@over((("libsvm", ()), ("npy", ()), ("csv", ("--target", "target", "--weight-column", "weight"))))
def case_export(box, case):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "--bias", "2", "-m", "one.kf", "all.svm")
    name = "points." + {"libsvm": "svm"}.get(case[0], case[0])
    box.run("export", "--to", case[0], "j", name)
    box.run(*TRAIN, "--bias", "2", "-m", "two.kf", *case[1], name)
    one, two = (box.weights(name) for name in ("one.kf", "two.kf"))
    for part in ("weights", "intercepts", "stages", "fo"):
        same(one[part], two[part], part + " of the model of the exported points")
    same(box.run("export", "--to", case[0], "j").out, box.read(name), "standard output")


@over((("a network",), ("a network with a bias", "--bias", "2")))
def case_export_of_a_networks_journal(box, case):
    """Its rows carry a constant in front, which is none of the features that came."""
    points = "1 1:0.5 3:2\n0 2:1\n1 1:0.25 2:-3\n"
    box.write("few.svm", points)
    box.run("train", "-q", "--loss", "network:2", "--method", "sgd", *case[1:], "--journal", "j", "few.svm")
    same(box.run("export", "--to", "libsvm", "j").text, points, "the points")


def case_export_weights(box):
    box.write("w.csv", "x1,weight,target\n1,2,3\n2,1,5\n4,0.5,6\n")
    options = ("--weight-column", "weight", "--target", "target")
    box.run(*TRAIN, "--journal", "j", *options, "w.csv")
    box.try_run("export", "j").refused(3, "weights", "--to csv").silent()
    exported = box.run("export", "--to", "csv", "j")
    same(exported.text, box.read("w.csv").decode(), "csv")
    assert "--weight-column 2" in exported.error, exported.error
    box.write("back.csv", exported.out)
    box.run(*TRAIN, "-m", "back.kf", "--weight-column", "2", "back.csv")
    box.run(*TRAIN, "-m", "w.kf", *options, "w.csv")
    same(box.weights("back.kf")["weights"], box.weights("w.kf")["weights"], "weights of the model of what came back")
    box.try_run("export", "--to", "xml", "j").refused(2, "--to", "libsvm|csv|npy")


@over((("logistic", (-1.0, 1.0), ()), ("logistic with bias", (3.0, 7.0), ("--bias", "1")), ("hinge", (0.0, 1.0), ("--loss", "hinge"))))
def case_liblinear(box, case):
    program = shutil.which("liblinear-predict")
    box.write("data.svm", libsvm(two_classes(case[1], 80, noise=0.2)))
    box.run("train", "-q", "--loss", "logistic", *case[2], "-m", "m.kf", "data.svm")
    box.run("export", "--to", "liblinear", "m.kf", "m.liblinear")
    if not program:
        raise Skipped("liblinear-predict is not installed")
    subprocess.run([program, "data.svm", "m.liblinear", "out.txt"], cwd=box.path, stdout=subprocess.DEVNULL, check=True)
    ours = [float(line) for line in box.run("predict", "m.kf", "data.svm").text.split()]
    same([float(line) for line in box.read("out.txt").split()], ours, "liblinear's predictions")


def case_liblinear_numbers(box):
    program = shutil.which("liblinear-predict")
    stream(box)
    box.run(*TRAIN, "--intercept", "-m", "m.kf", "all.svm")
    box.run("export", "--to", "liblinear", "m.kf", "m.liblinear")
    if not program:
        raise Skipped("liblinear-predict is not installed")
    subprocess.run([program, "all.svm", "m.liblinear", "out.txt"], cwd=box.path, stdout=subprocess.DEVNULL, check=True)
    ours = [float(line) for line in box.run("predict", "m.kf", "all.svm").text.split()]
    assert all_near([float(line) for line in box.read("out.txt").split()], ours, 1e-5), "liblinear prints six digits"


def case_export_model(box):
    stream(box)
    box.run(*TRAIN, "--intercept", "-m", "m.kf", "all.svm")
    same(box.run("export", "m.kf").out, box.run("inspect", "--json", "--weights", "m.kf").out, "json")
    data = box.run("export", "--to", "npy", "m.kf").out
    told = box.weights("m.kf")
    assert data.startswith(b"\x93NUMPY\x01\x00") and b"(1, 4)" in data and (len(data) - 32) % 64 == 0, data[:128]
    same(list(struct.unpack("<4d", data[-32:])), told["weights"] + told["intercepts"], "weights and intercept")
    box.run(*TRAIN, "--scale", "rows", "-m", "r.kf", "all.svm")
    box.try_run("export", "--to", "liblinear", "r.kf").refused(3, "unit norm")
    box.try_run("export", "--to", "libsvm", "m.kf").refused(2, "json|npy|liblinear")


# ---- the model of a journal ----


@over((("squared", "--intercept"), ("logistic", "--loss", "logistic", "--bias", "1"), ("softmax", "--loss", "softmax"),
       ("rows", "--scale", "rows"), ("window", "--window", "20"), ("network", "--loss", "network:3", "--method", "sgd")))
def case_a_journal_gives_its_model(box, case):
    """predict, export and train take the folder for the model; nothing in it changes, but for train's checkpoint."""
    name, words = case[0], case[1:]
    two = name in ("logistic", "softmax", "network")
    box.write("all.svm", libsvm(two_classes((1, 2), 60, noise=0.2) if two else numbers(60)))
    box.run("train", "-q", *words, "--journal", "j", "-m", "m.kf", "all.svm")
    for checkpoints in (True, False):
        if not checkpoints:
            [os.unlink(box.at("j/000001/" + n)) for n in os.listdir(box.at("j/000001")) if n.endswith("checkpoint")]
        before = box.contents()
        same(box.run("predict", "j", "all.svm").out, box.run("predict", "m.kf", "all.svm").out, "predictions")
        same(box.run("export", "--to", "json", "j").out, box.run("export", "m.kf").out, "the model as JSON")
        same(box.contents(), before, "files")
    for k, (words, data) in enumerate((((), b""), (("-",), b""), (("empty.svm",), b""))):
        box.write("empty.svm", "")
        told = box.run("train", "--json", "--journal", "j", "-m", "%d.kf" % k, *words, stdin=data).json
        same((told["stages"], told["resumed"]), (60, 60), "stages, resumed")
        same(box.read("%d.kf" % k), box.read("m.kf"), "the model that train takes from the journal")
    assert ": 60 stages" in box.run("train", "--journal", "j").text


def case_a_journal_that_is_being_written_gives_its_model(box):
    stream(box)
    process = box.start("train", "--lambda", "0.1", "--journal", "j", "--acknowledge", "--quiet", "-")
    process.stdin.write(box.read("first.svm"))
    process.stdin.flush()
    for _ in range(25):
        process.stdout.readline()
    box.run(*TRAIN, "-m", "first.kf", "first.svm")
    same(box.run("predict", "j", "all.svm").out, box.run("predict", "first.kf", "all.svm").out, "predictions")
    process.communicate()
    same(process.returncode, 0, "exit of the one that writes")


def case_a_journal_without_a_model(box):
    stream(box)
    for words in (("predict", "none", "all.svm"), ("export", "--to", "json", "none"), ("train", "--journal", "none", "-m", "m.kf")):
        box.try_run(*words).refused(1, "none").silent()
    os.mkdir(box.at("empty"))
    box.try_run("predict", "empty", "all.svm").refused(1, "empty: there is no journal").silent()
    box.try_run("train", "--journal", "empty", "-m", "m.kf").refused(1, "empty: there is no journal").silent()
    box.try_run("train", "-m", "m.kf").refused(2, "FILE", "--journal").silent()
    box.run(*TRAIN, "--journal", "s", "--scale", "columns", "-m", "s.kf", "all.svm")
    box.try_run("predict", "s", "all.svm").refused(2, "s: ", "scaled by their columns").silent()
    box.try_run("train", "--journal", "s", "-m", "m.kf").refused(2, "s: ", "scaled by their columns").silent()
    flip(box, segment("s"), len(box.read(segment("s"))) // 2)
    box.try_run("predict", "s", "all.svm").refused(4, "record ").silent()
    assert not box.exists("m.kf") and not box.exists("none") and os.listdir(box.at("empty")) == []


# ---- compacting ----


def case_compact(box):
    stream(box)
    options = ("--window", "10")
    box.run(*TRAIN, *options, "-m", "whole.kf", "all.svm")
    box.run(*TRAIN, *options, "--journal", "j", "first.svm")
    assert "10 points" in box.run("compact", "j").text
    same(sorted(os.listdir(box.at("j"))), ["000002", "lock"], "the folder")
    told = box.run("inspect", "--json", "j").json
    same((told["generation"], told["points"], told["arrived"]), (2, 10, 25), "generation, points, arrived")
    told = box.run("train", "--json", "--journal", "j", "-m", "parts.kf", "all.svm").json
    same((told["resumed"], told["replayed"]), (25, 0), "resumed, replayed")
    same(box.read("parts.kf"), box.read("whole.kf"), "the model")


def case_nothing_to_compact(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "first.svm")
    before = box.contents()
    assert "nothing to leave out" in box.run("compact", "j").text
    same(box.contents(), before, "the folder")


# ---- disks that fail ----


def case_full_disk(box):
    """A limit on the size of files stands for a full disk; the model and the summary still come."""
    stream(box, 400)
    result = box.try_run("train", "--lambda", "0.1", "--journal", "j", "--json", "-m", "m.kf", "all.svm", limit=12000)
    result.check(result.code == 1 and "cannot write the journal" in result.error, "expected the reason, and exit 1")
    stages = result.json["stages"]
    assert 20 < stages < 400, stages
    same(box.run("inspect", "--json", "m.kf").json["stages"], stages, "the model's stages")
    box.run(*TRAIN, "-m", "whole.kf", "all.svm")
    told = box.run("train", "--json", "--journal", "j", "-m", "parts.kf", "all.svm").json
    assert told["resumed"] in (stages - 1, stages), "the last point was in the model, but its record did not fit"
    same(box.read("parts.kf"), box.read("whole.kf"), "the model")


def case_read_only(box):
    stream(box)
    box.run(*TRAIN, "--journal", "j", "first.svm")
    points = box.run("export", "j").out
    before = box.contents()
    for name, content in before.items():
        if name.startswith("j"):
            os.chmod(box.at(name), 0o500 if content is None else 0o400)
    box.run("verify", "j", permissions=True)
    same(box.run("export", "j", permissions=True).out, points, "the points")
    box.try_run(*TRAIN, "--journal", "j", "all.svm", permissions=True).refused(1, "Permission denied").silent()
    assert box.contents() == before, "files have changed"
    os.chmod(box.at("j"), 0o700), os.chmod(box.at("j/000001"), 0o700)
