"""inspect, generate, list, help: what keepfit tells."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import threading
import time

from harness import Skipped, clean_environment, libsvm, numbers, over, same, two_classes

COMMANDS = ("train", "predict", "compare", "reproduce", "inspect", "verify", "export", "compact", "generate", "serve", "push", "ask", "list", "help")
NUMBERS, TWO_CLASSES = ("squared", "huber", "logcosh"), ("logistic", "hinge", "squared-hinge")
LOSSES = NUMBERS + TWO_CLASSES + ("softmax",)
FAMILIES = ("methods", "losses", "domains", "formats", "options", "features")


def points(text):
    made = []
    for line in text.splitlines():
        words = line.split()
        made.append((float(words[0]), [int(word.split(":")[0]) for word in words[1:]],
                     [float(word.split(":")[1]) for word in words[1:]]))
    return made


# ---- inspect ----


@over(LOSSES)
def case_inspect(box, loss):
    box.generate("data.svm", "--rows", "40", "--features", "3", "--loss", loss)
    told = box.run("train", "--json", "--loss", loss, "--lambda", "0.02", "--epsilon", "0.01", "--bias", "2", "-m", "m.kf",
                   "data.svm", code=(0, 5)).json
    model = box.run("inspect", "--json", "m.kf").json
    assert "weights" not in model
    same((model["kind"], model["loss"], model["lambda"], model["epsilon"], model["stages"], model["features"], model["fo"],
          model["bias"], model["method"]),
         ("model", loss, 0.02, 0.01, 40, 3, told["fo"], 2, told["chosen"]), "what the model tells")
    outputs = 3 if loss == "softmax" else 1
    same((model["outputs"], len(model["intercepts"])), (outputs, outputs), "outputs")
    full = box.run("inspect", "--json", "--weights", "m.kf").json
    same(len(full["weights"]), 3 * outputs, "weights")
    text = box.run("inspect", "m.kf").text
    for part in ("keepfit model", loss, "0.02", "0.01", "40"):
        assert part in text, "%r is not in the text" % part
    lines = box.run("inspect", "--weights", "m.kf").text[len(text):].splitlines()
    same([float(v) for line in lines for v in line.split()[1:]], full["weights"], "weights as text")
    same([line.split()[0] for line in lines], ["1", "2", "3"], "features counted from 1")


def case_inspect_changes_nothing(box):
    box.write("data.svm", libsvm(numbers(10)))
    box.run("train", "-m", "m.kf", "data.svm")
    before = box.contents()
    box.run("inspect", "m.kf")
    box.run("predict", "m.kf", "data.svm")
    same(box.contents(), before, "files")


# ---- generate ----


@over(LOSSES)
def case_generate(box, loss):
    words = ("generate", "--rows", "200", "--features", "6", "--loss", loss, "--seed", "5")
    first = box.run(*words)
    same(first.err, b"", "standard error")
    same(box.run(*words).out, first.out, "the same seed")
    assert box.run(*words[:-1], "6").out != first.out, "the seed has no effect"
    made = points(first.text)
    same(len(made), 200, "rows")
    assert all(index == [1, 2, 3, 4, 5, 6] for _, index, _ in made), "all features in every row"
    targets = {target for target, _, _ in made}
    if loss in TWO_CLASSES:
        same(targets, {-1, 1}, "labels")
    elif loss == "softmax":
        same(targets, {1, 2, 3}, "labels")
    else:
        assert len(targets) == 200
    box.write("g.svm", first.out)
    told = box.run("train", "--json", "--loss", loss, "g.svm", code=(0, 5)).json
    same((told["stages"], told["features"]), (200, 6), "what train sees")
    if loss not in NUMBERS:
        assert told["validation_error"] < 0.4, "the hidden model cannot be learnt"
    else:
        assert told["validation_error"] < 0.7, "the hidden model cannot be learnt"


@over(("1", "3", "20", "1000"))
def case_generate_sparse(box, nnz):
    features = "1000" if nnz != "20" else "20"
    result = box.run("generate", "--rows", "50", "--features", features, "--nnz", nnz)
    for _, index, values in points(result.text):
        assert len(index) == int(nnz) and index == sorted(set(index)) and 1 <= index[0] and index[-1] <= int(features)
        assert all(value != 0 for value in values)
    box.write("g.svm", result.out)
    box.run("train", "--method", "csvrg", "g.svm")


def case_generate_classes(box):
    made = points(box.run("generate", "--rows", "400", "--loss", "softmax", "--classes", "7").text)
    same({target for target, _, _ in made}, set(range(1, 8)), "labels")


@over(LOSSES)
def case_generate_sorted(box, loss):
    words = ("generate", "--rows", "100", "--features", "4", "--loss", loss)
    plain, ordered = box.run(*words).text, box.run(*words, "--order", "sorted").text
    same(sorted(plain.splitlines()), sorted(ordered.splitlines()), "the same rows in another order")
    targets = [target for target, _, _ in points(ordered)]
    same(targets, sorted(targets), "ascending targets")
    box.write("g.svm", ordered)
    box.run("train", "--loss", loss, "g.svm", code=(0, 5))


def case_generate_noise_and_drift(box):
    def rmse(*words):
        box.generate("g.svm", "--rows", "400", "--features", "5", *words)
        box.run("train", "--lambda", "1e-6", "-m", "m.kf", "g.svm")
        return float(box.run("predict", "--score", "m.kf", "g.svm").error.split()[1])

    quiet, loud, moving = rmse("--noise", "0"), rmse("--noise", "0.5"), rmse("--noise", "0", "--drift", "2")
    assert quiet < 0.01 and 0.4 < loud < 0.6 and moving > 0.2, (quiet, loud, moving)


# ---- list ----


@over(FAMILIES)
def case_list(box, family):
    told = box.run("list", "--json", family).json
    text = box.run("list", family).text.splitlines()
    same(len(told), len(text), "members")
    for entry, line in zip(told, text):
        same(sorted(entry), ["name", "summary"], "fields")
        assert entry["name"] and len(entry["summary"]) > 5, entry
        assert line.split()[0].lstrip("-") == entry["name"] and entry["summary"] in line, line
    assert len({entry["name"] for entry in told}) == len(told)


# ---- help ----


@over(COMMANDS)
def case_help(box, command):
    told = box.run("help", command)
    same(told.err, b"", "standard error")
    for words in ((command, "--help"), (command, "-h"), (command, "--help", "x", "y", "z")):
        result = box.run(*words)
        same((result.out, result.err), (told.out, b""), " ".join(words))
    assert told.text.startswith("keepfit %s - " % command) and "usage: keepfit %s" % command in told.text
    assert "example:" in told.text[:1000], "an example on the first screen"
    assert max(len(line) for line in told.text.splitlines()) <= 105, "lines are wrapped"


def case_overview(box):
    told = box.run("--help").text
    for words in (("-h",), ("help",)):
        same(box.run(*words).text, told, " ".join(words))
    for command in COMMANDS:
        assert re.search(r"^  %s " % command, told, re.M), command


def case_list_and_help_have_the_same_options(box):
    listed = {"--" + entry["name"] for entry in box.run("list", "--json", "options").json}
    same(sorted(listed - {"--help", "--version"}), sorted(option_names(box)), "options")


@over([(" ".join(words), words) for words in (["--version"], ["-V"], ["train", "--version"], ["list", "-V"])])
def case_version(box, case):
    result = box.run(*case[1])
    assert re.fullmatch(r"keepfit \d+\.\d+\.\d+\n", result.text), result.text
    same(result.err, b"", "standard error")


def option_names(box):
    found = set()
    for command in COMMANDS:
        found |= set(re.findall(r"^  (--[a-z-]+)", box.run("help", command).text, re.M))
    return found - {"--help", "--version"}


def case_man_page(box):
    page = box.run("help", "--man").out
    plain = page.replace(b"\\-", b"-").decode()
    for option in sorted(option_names(box)):
        assert option in plain, "the man page does not have " + option
    for command in COMMANDS:
        assert "keepfit " + command in plain, command
    program = shutil.which("groff")
    if not program:
        raise Skipped("no groff")
    done = subprocess.run([program, "-man", "-Tascii", "-ww"], input=page, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={"LC_ALL": "C", "PATH": os.environ["PATH"]}, check=False)
    same((done.returncode, done.stderr), (0, b""), "groff")
    shown = re.sub(rb"\x1b\[[0-9;]*m|.\x08", b"", done.stdout).decode("ascii", "replace")
    for part in ("NAME", "SYNOPSIS", "EXIT STATUS", "--epsilon", "--save-every", "KEEPFIT_LAMBDA"):
        assert part in shown, "%r is not on the page" % part


def case_man_page_by_man(box):
    program = shutil.which("man")
    if not program:
        raise Skipped("no man")
    box.write("keepfit.1", box.run("help", "--man").out)
    done = subprocess.run([program, "--warnings", "-l", "keepfit.1"], cwd=box.path, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={"LC_ALL": "C", "PATH": os.environ["PATH"], "MANPAGER": "cat", "HOME": box.path})
    if b"minimized" in done.stdout + done.stderr:
        raise Skipped("man is a stub here")
    same((done.returncode, done.stderr), (0, b""), "man")
    assert b"keepfit" in done.stdout


def complete(box, *words):
    """What bash proposes for the last word."""
    script = box.run("help", "--completion", "bash").text
    box.write("complete.bash", script)
    line = "source ./complete.bash; COMP_WORDS=(%s); COMP_CWORD=%d; _keepfit; printf '%%s\\n' \"${COMPREPLY[@]}\"" % (
        " ".join('"%s"' % word for word in ("keepfit", *words)), len(words))
    done = subprocess.run(["bash", "--norc", "-c", line], cwd=box.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    same(done.stderr, b"", "standard error of bash")
    return done.stdout.decode().split()


def need_bash():
    if not shutil.which("bash"):
        raise Skipped("no bash")


@over(("bash", "zsh"))
def case_completion_script(box, shell):
    program = shutil.which(shell)
    if not program:
        raise Skipped("no " + shell)
    box.write("complete", box.run("help", "--completion", shell).out)
    done = subprocess.run([program, "-n", "complete"], cwd=box.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    same((done.returncode, done.stdout), (0, b""), shell + " -n")


def case_completion(box):
    need_bash()
    same(complete(box, ""), list(COMMANDS), "commands")
    same(complete(box, "tr"), ["train"], "commands that begin so")
    same(complete(box, "train", "--los"), ["--loss"], "options")
    same(complete(box, "train", "--loss", "h"), ["huber", "hinge"], "losses")
    same(complete(box, "train", "--method", "katy"), ["katyusha"], "methods")
    box.write("data.svm", "")
    same(complete(box, "train", "da"), ["data.svm"], "files")
    for command in COMMANDS:
        proposed = set(complete(box, command, "--"))
        told = set(re.findall(r"^  (--[a-z-]+)", box.run("help", command).text, re.M))
        same(proposed, told, "options of " + command)


def case_json_escapes(box):
    """A name with quotes and control characters is still JSON."""
    box.write("data.svm", libsvm(two_classes((1, 2))))
    result = box.try_run("compare", "--json", "-q", "--runs", "1", "--methods", 'sgd:step=0.1:target="a\tb\\', "data.svm")
    if result.code == 0:
        same(json.loads(result.text)[0]["method"], 'sgd:step=0.1:target="a\tb\\', "name")
    else:
        result.refused(2)


# ---- what train took the data for ----


FRAUD = "amount,fraud,country\n" + "".join("%d.5,%d,%d\n" % (k, k % 3 == 0, k % 4) for k in range(24))


@over((("defaults", (), "squared (default), no intercept (default;", "country"),
       ("loss", ("--loss", "logistic", "--target", "fraud"), "logistic, no intercept (default;", "fraud"),
       ("intercept", ("--intercept",), "squared (default), with an intercept\n", "country"),
       ("bias", ("--bias", "2", "--loss", "squared"), "squared, bias 2\n", "country"),
       ("column by number", ("--target", "2", "--loss", "softmax"), "softmax, no intercept (default;", "fraud"),
       ("network", ("--loss", "network:2", "--target", "fraud", "--method", "sgd"), "network:2, with biases in both layers\n", "fraud")))
def case_the_summary_names_loss_target_and_classes(box, case):
    """Nobody could see what had been taken for the target, nor that Python takes an intercept where the command does not."""
    _, words, loss, target = case
    box.write("data.csv", FRAUD)
    text = box.run("train", *words, "data.csv").text
    told = box.run("train", "--json", *words, "data.csv").json
    classes = target == "fraud"
    assert "\n  loss         " + loss in text, text
    assert "\n  target       column %d, %s\n" % (2 if target == "fraud" else 3, target) in text, text
    assert ("\n  classes      1, 0\n" in text or "\n  classes      0, 1\n" in text) == classes, text
    same(told["target_column"], target, "target_column")
    same(sorted(told["labels"]), [0, 1] if classes else [], "labels")
    same((told["intercept"], told["bias"]), ("--intercept" in words, 2 if "--bias" in words else None), "intercept and bias")
    same(told["defaults"], [name for name in ("loss", "intercept") if not any("--" + one in words for one in
                                                                             ((name, "bias") if name == "intercept" else (name,)))], "defaults")
    assert told["loss"] == words[words.index("--loss") + 1] if "--loss" in words else told["loss"] == "squared"


def case_the_summary_of_other_formats(box):
    box.write("data.svm", libsvm(numbers(12)))
    assert "\n  target       the number that begins each line\n" in box.run("train", "data.svm").text
    box.write("plain.csv", "1,2,3\n4,5,6\n")
    assert "\n  target       column 3\n" in box.run("train", "plain.csv").text
    same(box.run("train", "--json", "plain.csv").json["target_column"], 3, "target_column")
    assert "\n  target       column 1\n" in box.run("train", "--target", "1", "--shuffle", "plain.csv").text
    assert "\n  target       none: 0 for each row\n" in box.run("train", "--target", "none", "plain.csv").text
    same(box.run("train", "--json", "data.svm").json["target_column"], None, "target_column")
    box.run("train", "-q", "--journal", "j", "data.svm")
    assert "target" not in box.run("train", "--journal", "j").text, "without data nothing is known of the target"
    letters = "".join("%d 1:%d\n" % (k % 26, k) for k in range(60))
    assert "classes      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (26)\n" in box.run("train", "--loss", "softmax", "-", stdin=letters, code=(0, 5)).text


def case_classes_taken_for_numbers(box):
    """The command takes squared loss where Python's classifier takes logistic: it says so, loudly."""
    box.write("data.csv", FRAUD)
    warning = "the targets are 0 and 1 alone, and --loss squared (the default) takes them for numbers"
    for words in (("train",), ("train", "--json"), ("train", "--intercept")):
        assert warning in box.run(*words, "--target", "fraud", "data.csv").error
    for words in (("-q",), ("--loss", "squared"), ("--loss", "logistic")):
        same(box.run("train", *words, "--target", "fraud", "data.csv").error, "", "standard error")
    same(box.run("train", "data.csv").error, "", "standard error of a target with four values")
    process = box.start("train", "-")
    process.stdin.write(b"1 1:1\n0 1:2\n" * 60)  # the end of a live stream may be far
    process.stdin.flush()
    try:
        assert b"takes them for numbers" in process.stderr.readline()
    finally:
        process.kill()
        process.communicate()


# ---- on a terminal ----


def on_terminal(box, columns, words, feed=None, stream="stdout"):
    """What keepfit writes to a terminal of that width."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([box.keepfit, *words], cwd=box.path, env=clean_environment({"TERM": "xterm"}), stdin=subprocess.PIPE,
                               **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: inner})
    os.close(inner)
    reader, seen = threading.Thread(target=lambda: seen.extend(iter_read(outer))), []
    reader.start()
    if feed:
        feed(process.stdin)
    process.communicate(timeout=60)
    reader.join()
    os.close(outer)
    return process.returncode, b"".join(seen).decode()


def iter_read(descriptor):
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # the other end is closed
            return
        if not piece:
            return
        yield piece


@over((40, 59, 60, 80, 300))
def case_help_is_as_wide_as_the_terminal(box, columns):
    for words in ((), ("train",)):
        code, text = on_terminal(box, columns, ("help", *words))
        same(code, 0, "exit code")
        lines = [line for line in text.replace("\r", "").splitlines()  # but for examples, and words that are too long for a line
                 if max(map(len, line.split()), default=0) < 14 and not line.startswith(("  keepfit ", "usage:"))]
        widest = max(len(line) for line in lines)
        assert widest <= min(columns, 120), (widest, columns)
        assert widest > min(columns, 120) - 16, "no more than %d of %d columns" % (widest, columns)


def case_progress_fits_the_terminal_and_knows_the_limit(box):
    def feed(pipe):
        end = time.monotonic() + 1.6
        for k in range(100000):
            pipe.write(b"".join(b"%d 1:%d 2:1\n" % (1 if (k + j) % 3 else -1, (k + j) % 7) for j in range(16)))
            pipe.flush()
            time.sleep(0.01)
            if time.monotonic() > end:
                return

    widths = {}
    for columns in (30, 200):
        code, text = on_terminal(box, columns, ("train", "--loss", "logistic", "--limit", "100000", "-"), feed, "stderr")
        same(code, 0, "exit code")
        drawn = [line for line in text.split("\r\x1b[K") if line.startswith("stage ")]
        assert drawn, "nothing was drawn: %r" % text
        widths[columns] = max(len(line) for line in drawn)
        assert widths[columns] < columns, drawn
        assert columns == 30 or all("%," in line and "left" in line and "FO a point" in line for line in drawn), drawn
    assert widths[200] > 60, widths
