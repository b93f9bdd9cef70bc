"""What the coded cases share: a fresh directory to run keepfit in, and checks that say what went wrong.

A case is a function `case_...(box)` in a module cases_*.py. `@over(values)` makes one case of it for each value, which
it then gets behind the box; a value is named by its first element if it is a tuple. A case fails by raising.
"""

import contextlib
import csv
import io
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

QUICK = bool(os.environ.get("KEEPFIT_TEST_QUICK"))
TIMEOUT = 300

# Runs the words behind N with files limited to N bytes; a write beyond fails with EFBIG instead of a signal.
LIMITER = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""

# Runs the words without the superuser's right to pass over a file's permissions (CAP_DAC_OVERRIDE): exec gives it back
# to uid 0 only as far as the bounding set has it.
BOUND_BY_PERMISSIONS = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
if os.geteuid() == 0 and ctypes.CDLL(None, use_errno=True).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) != 0:
    sys.exit("cannot give up the superuser's right: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"""

TRACE_HEAD = "method,run,stage,fo,steps,seconds,objective,optimum,gap,bound"


class Skipped(Exception):
    """The case does not apply here; the text says why."""


def over(values):
    def mark(function):
        function.values = list(values)
        return function

    return mark


def clean_environment(extra=None):
    """Nothing of the caller's that could change what keepfit does; what a sanitizer or coverage needs stays."""
    kept = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
            "MSAN_OPTIONS", "LLVM_PROFILE_FILE", "GCOV_PREFIX", "GCOV_PREFIX_STRIP")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["LC_ALL"] = "C"
    environment.update(extra or {})
    return environment


def as_bytes(text):
    return text.encode() if isinstance(text, str) else text


class Result:
    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    @property
    def text(self):
        return self.out.decode("utf-8", "backslashreplace")

    @property
    def error(self):
        return self.err.decode("utf-8", "backslashreplace")

    @property
    def json(self):
        def refuse(name):
            raise ValueError(name + " is not JSON")

        try:
            return json.loads(self.text, parse_constant=refuse)
        except ValueError as reason:
            self.fail("standard output is not JSON: %s" % reason)

    def fail(self, message):
        raise AssertionError("%s\ncommand: keepfit %s\nexit %s\nstdout: %s\nstderr: %s" % (
            message, " ".join(self.words), self.code, shorten(self.text), shorten(self.error)))

    def check(self, condition, message):
        if not condition:
            self.fail(message)
        return self

    def refused(self, code, *parts):
        """Ended with the code and exactly one line on standard error, which has all the parts."""
        lines = self.error.split("\n")
        self.check(self.code == code, "expected exit %d" % code)
        self.check(len(lines) == 2 and lines[1] == "", "expected exactly one line on standard error")
        self.check(lines[0].startswith("keepfit: "), "expected a message that begins with 'keepfit: '")
        for part in parts:
            self.check(part in lines[0], "expected %r in the message" % part)
        return self

    def silent(self):
        return self.check(self.out == b"", "expected nothing on standard output")


def shorten(text, most=1500):
    return text if len(text) <= most else text[:most] + "... (%d characters)" % len(text)


class Box:
    """A fresh directory, and keepfit to run in it."""

    def __init__(self, keepfit):
        self.keepfit = keepfit
        self.path = tempfile.mkdtemp(prefix="keepfit-cli-")

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def at(self, name):
        return os.path.join(self.path, name)

    def write(self, name, content):
        with open(self.at(name), "wb") as file:
            file.write(as_bytes(content))
        return name

    def read(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def exists(self, name):
        return os.path.lexists(self.at(name))

    def contents(self):
        """Every file and folder below, with its bytes."""
        found = {}
        for folder, folders, files in os.walk(self.path):
            for name in folders:
                found[os.path.relpath(os.path.join(folder, name), self.path)] = None
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, self.path)] = file.read()
        return found

    def try_run(self, *words, stdin=b"", env=None, limit=None, stdout=subprocess.PIPE, stdin_file=None,
                permissions=False):
        """Runs keepfit, whatever comes of it. `limit`: the largest file it can write. `stdin_file`: standard input is this file,
        not a pipe. `permissions`: those of files hold for the superuser, too."""
        command = [self.keepfit, *words]
        if permissions:
            command = [sys.executable, "-I", "-S", "-c", BOUND_BY_PERMISSIONS, *command]
        if limit is not None:
            command = [sys.executable, "-I", "-S", "-c", LIMITER, str(limit), *command]
        with contextlib.ExitStack() as opened:
            source = {"stdin": opened.enter_context(open(self.at(stdin_file), "rb"))} if stdin_file else {"input": as_bytes(stdin)}
            done = subprocess.run(command, cwd=self.path, env=clean_environment(env), stdout=stdout, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT, check=False, **source)
        return Result(words, done.returncode, done.stdout or b"", done.stderr)

    def run(self, *words, code=0, **more):
        result = self.try_run(*words, **more)
        codes = code if isinstance(code, tuple) else (code,)
        return result.check(result.code in codes, "expected exit %s" % " or ".join(map(str, codes)))

    def start(self, *words, **more):
        """Keeps running; standard input is a pipe that the case feeds."""
        return subprocess.Popen([self.keepfit, *words], cwd=self.path, env=clean_environment(), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def generate(self, name, *words):
        return self.write(name, self.run("generate", *words).out)

    def names(self, family):
        return [entry["name"] for entry in self.run("list", "--json", family).json]

    def weights(self, model):
        """The model as inspect tells it, with a weight vector for each output."""
        told = self.run("inspect", "--json", "--weights", model).json
        outputs = told["outputs"]
        told["vectors"] = [told["weights"][k::outputs] for k in range(outputs)]
        return told

    def trace(self, name):
        return read_trace(self.read(name).decode())


def read_trace(text):
    lines = text.split("\n")
    assert lines[0] == TRACE_HEAD, "the trace begins with %r" % lines[0]
    assert lines[-1] == "", "the trace does not end with a newline"
    return list(csv.DictReader(io.StringIO(text)))


def without_seconds(rows):
    return [{name: cell for name, cell in row.items() if name != "seconds"} for row in rows]


def near(a, b, tolerance=1e-9):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def all_near(left, right, tolerance=1e-9):
    return len(left) == len(right) and all(near(a, b, tolerance) for a, b in zip(left, right))


def same(left, right, what):
    assert left == right, "%s: expected %r, found %r" % (what, right, left)


# ---- data ----


def libsvm(rows):
    return "".join("%r %s\n" % (target, " ".join("%d:%r" % (k + 1, value) for k, value in enumerate(row)))
                   for row, target in rows)


def numbers(rows=40, features=3, seed=1):
    """Rows of dense values and a target that nearly is linear in them."""
    source = random.Random(seed)
    weights = [source.gauss(0, 1) for _ in range(features)]
    made = []
    for _ in range(rows):
        row = [source.gauss(0, 1) for _ in range(features)]
        made.append((row, sum(w * v for w, v in zip(weights, row)) + 0.1 * source.gauss(0, 1)))
    return made


def two_classes(labels, rows=40, seed=1, noise=0.0):
    """Rows that the sign of their first value divides; the label named first also comes first."""
    source = random.Random(seed)
    made = []
    for k in range(rows):
        second = k >= 2 and source.random() < 0.5
        if k == 2:
            second = True
        shown = second if source.random() >= noise else not second
        made.append(([(1 if second else -1) * (0.5 + source.random()), source.gauss(0, 0.3)], labels[shown]))
    return made


def dot(left, right):
    return sum(a * b for a, b in zip(left, right))
