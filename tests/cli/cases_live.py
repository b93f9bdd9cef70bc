"""Live streams: how they end, by a bad line, a signal, two signals, `timeout`; what is kept then."""

import shutil
import signal
import subprocess
import time

from harness import *

KINDS = (("bad line", "1 1:x\n", (), "<stdin>:5:5: value 'x' is not a number"),
         ("third class", "7 1:1\n", ("--loss", "logistic"), "<stdin>:5:1: label 7 is a third class"),
         ("bad line, and more behind it", "1 1:x\n1 1:1\n", (), "<stdin>:5:5: "))
GOOD = "1 1:1\n2 1:2\n1 1:1.5\n2 1:2.5\n"


@over(KINDS)
def case_a_bad_line_keeps_the_model(box, case):
    _, bad, words, message = case
    box.run("train", *words, "-m", "whole.kf", "-", stdin=GOOD)
    result = box.try_run("train", *words, "-m", "m.kf", "--trace", "t.csv", "--journal", "j", "-", stdin=GOOD + bad)
    result.check(result.code == 3 and len(result.error.splitlines()) == 1, "expected exit 3 and one line")
    result.check(message in result.error and "the model of the 4 points before it is saved" in result.error, "expected the place")
    result.check(": 4 stages" in result.text, "expected a summary")
    same(box.read("m.kf"), box.read("whole.kf"), "the model of the rows before")
    same(int(box.trace("t.csv")[-1]["stage"]), 4, "stages in the trace")
    same(box.run("inspect", "--json", "j").json["points"], 4, "points in the journal")
    same(box.run("inspect", "--json", "j").json["checkpoint"] > 4, True, "the checkpoint on the way out")


def case_a_bad_line_of_a_file_writes_nothing(box):
    """It will be mended and read again; the model that is there stays."""
    box.write("bad.svm", GOOD + "1 1:x\n")
    box.write("m.kf", "precious")
    box.try_run("train", "-m", "m.kf", "bad.svm").refused(3, "bad.svm:5:5: ").silent()
    box.try_run("train", "-m", "m.kf", "-", stdin_file="bad.svm").refused(3, "<stdin>:5:5: ").silent()
    same(box.read("m.kf"), b"precious", "the model")


def case_a_bad_first_line_has_no_model(box):
    box.try_run("train", "-m", "m.kf", "-", stdin="1 1:x\n").refused(3, "<stdin>:1:5: ").silent()
    same(box.contents(), {}, "files")


# ---- signals ----


def start(box, *words):
    """A run that has taken four points in and waits for more."""
    shutil.rmtree(box.at("j"), ignore_errors=True)
    process = box.start("train", "-q", "-m", "m.kf", "--journal", "j", "--sync", "none", "--acknowledge", *words, "-")
    process.stdin.write(GOOD.encode())
    process.stdin.flush()
    return process


def wait(process, seconds=20):
    """How it ended; it is killed if it does not."""
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError("the process did not end within %g s" % seconds) from None


@over((("INT, INT", signal.SIGINT, signal.SIGINT, 130), ("TERM, TERM", signal.SIGTERM, signal.SIGTERM, 143),
       ("INT, TERM", signal.SIGINT, signal.SIGTERM, 130)))
def case_two_signals_within_a_second(box, case):
    """The second came while the model was being written, and it was lost."""
    _, first, second, code = case
    for turn in range(6 if QUICK else 30):
        process = start(box, "--sync", "always")
        try:
            for _ in range(4):
                process.stdout.readline()
            process.send_signal(first)
            time.sleep(turn % 6 * 0.0004)
            process.send_signal(second)
        finally:
            _, err = wait(process)
        same((turn, process.returncode, err), (turn, code, b""), "turn, exit, standard error")
        same(box.weights("m.kf")["stages"], 4, "stages of the model")
        os.unlink(box.at("m.kf"))


def case_nohup_outlives_its_terminal(box):
    """What nohup set to be ignored stays so."""
    process = box.start("train", "-m", "m.kf", "--journal", "j", "--acknowledge", "-q", "-",
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    try:
        process.stdin.write(GOOD.encode())
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        process.stdin.write(GOOD.encode())
    finally:
        _, err = wait(process)
    same((process.returncode, err), (0, b""), "exit, standard error")
    same(box.weights("m.kf")["stages"], 2 * GOOD.count("\n"), "stages of the model")


def case_timeout_sends_two_signals(box):
    """`timeout -s INT` sends one to the process and one to its group."""
    program = shutil.which("timeout")
    if not program:
        raise Skipped("timeout is not installed")
    lines = GOOD.encode() * 50
    for turn in range(3 if QUICK else 14):
        process = subprocess.Popen([program, "--preserve-status", "-s", "INT", "0.3", box.keepfit, "train", "-m", "m.kf", "--json", "-"],
                                   cwd=box.path, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(lines)
        process.stdin.flush()
        out, err = process.stdout.read(), process.stderr.read()  # the pipe stays open: only the signals end it
        process.stdin.close()
        same((turn, process.wait(20)), (turn, 130), "turn and exit (%r)" % err)
        process.stdout.close()
        process.stderr.close()
        same((json.loads(out)["stages"], box.weights("m.kf")["stages"]), (200, 200), "stages of summary and model")
        os.unlink(box.at("m.kf"))


def case_a_signal_after_the_acknowledgement_stops_at_once(box):
    """In a stage that takes minutes: the first signal waits for its end, and says so; the next one does not."""
    box.generate("wide.svm", "--rows", "3000", "--features", "60", "--loss", "logistic")
    process = box.start("train", "--loss", "logistic", "--method", "gd", "--inner", "1000000", "--epsilon", "1e-12", "--lambda", "1e-9",
                        "--journal", "j", "--acknowledge", "--quiet", "wide.svm")
    try:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        told = process.stderr.readline()
        # nothing: it has come to its end, if only just
        assert b"another signal stops at once" in told or (not told and process.wait(20) is not None), told
        process.send_signal(signal.SIGTERM)
    finally:
        wait(process, 60)
    assert process.returncode in (-signal.SIGTERM, 143), process.returncode
    box.run("verify", "j", code=(0, 4))
