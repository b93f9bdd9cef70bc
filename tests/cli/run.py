#!/usr/bin/env python3
"""Command-line tests of keepfit:  run.py PATH_TO_KEEPFIT [PART...]   prints TAP; exit 1 if any case fails.
Only cases whose name contains a PART run, if there are any.  run.py --update FILE.test PATH_TO_KEEPFIT rewrites what a
file expects with what keepfit does now. KEEPFIT_TEST_QUICK=1 leaves out what is slow with sanitizers.

Cases are functions in the modules cases_*.py (see harness.py) and the commands in the files *.test, which read

    # a comment, between commands
    --- file data.svm
    1 1:0.5
    -1 1:2

    $ KEEPFIT_LAMBDA=0.1 keepfit train --loss logistic data.svm > saved.txt
    --- stdin
    --- stdout
    refit: 2 stages, 1 features, {number} s
    --- stderr
    --- exit 0

All commands of a file run in order in one fresh directory, each with no KEEPFIT_* variables but those in front of it. The
words are split as a shell does, without its expansions; `> NAME` at the end saves standard output instead of comparing
it. `cat FILE` shows a file. A section that is missing is empty; exit is 0. A section ends at the next line that begins
with '--- ' or '$ ', expected output also at a comment; blank lines at its end do not count.

In files and standard input, \\xHH is a byte, \\\\ a backslash, and \\c at the end of a line leaves out its newline. In
expected output {number} stands for a number, {any} for any text within the line, and \\xHH is a byte."""

import concurrent.futures
import importlib
import os
import re
import shlex
import sys
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import harness  # noqa: E402

# ---- expectation files ----


OUTPUTS = ("stdout", "stderr")


class Command:
    def __init__(self, words, line):
        self.words, self.line = words, line
        self.files, self.sections = [], {"stdin": [], "stdout": [], "stderr": []}
        self.exit = 0


def parse(path):
    """The commands of a file; files that stand before a command are written before it."""
    commands, files, body = [], [], None
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        section = re.fullmatch(r"--- (file \S+|stdin|stdout|stderr|exit \d+)", line)
        if line.startswith("$ "):
            commands.append(Command(shlex.split(line[2:]), number))
            commands[-1].files, files, body = files, [], None
        elif section and section[1].startswith("file "):
            body = []
            files.append((section[1][5:], body))
        elif section and commands and section[1].startswith("exit "):
            commands[-1].exit, body = int(section[1][5:]), None
        elif section and commands:
            body = commands[-1].sections[section[1]]
        elif line.startswith("--- "):
            raise ValueError("%s:%d: what is this section?" % (path, number))
        elif line.startswith("#") and commands and any(body is commands[-1].sections[name] for name in OUTPUTS):
            body = None
        elif body is not None:
            body.append(line)
        elif line and not line.startswith("#"):
            raise ValueError("%s:%d: expected a command, a section or a comment" % (path, number))
    for command in commands:
        for body in [body for _, body in command.files] + list(command.sections.values()):
            while body and not body[-1]:
                body.pop()
    return commands


def unescape(text):
    pieces = re.split(rb"(\\x[0-9a-fA-F]{2}|\\\\)", text.encode())
    return b"".join(b"\\" if piece == rb"\\" else bytes([int(piece[2:], 16)]) if piece[:2] == rb"\x" else piece
                    for piece in pieces)


def content_of(lines):
    return b"".join(unescape(line[:-2]) if line.endswith("\\c") else unescape(line) + b"\n" for line in lines)


def escape(line):
    shown = "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else "\\x%02x" % byte for byte in line)
    return "\\x%02x%s" % (ord(shown[0]), shown[1:]) if shown.startswith(("--- ", "$ ", "#")) else shown


def lines_of(output):
    lines = output.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    else:
        lines[-1] += b"\\c"  # a last line without a newline never matches by accident
    return lines


def matches(expected, line):
    pattern = b""
    for piece in re.split(r"(\{number\}|\{any\})", expected):
        pattern += (rb"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?" if piece == "{number}"
                    else rb".*" if piece == "{any}" else re.escape(unescape(piece)))
    return re.fullmatch(pattern, line) is not None


def execute(box, command):
    """Runs one command; the exit code, standard output and standard error."""
    words, environment, saved = list(command.words), {}, None
    for name, body in command.files:
        box.write(name, content_of(body))
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if len(words) > 2 and words[-2] == ">":
        saved = words[-1]
        del words[-2:]
    if words[0] == "cat":
        return 0, box.read(words[1]), b""
    assert words[0] == "keepfit", "only keepfit and cat can be run"
    result = box.try_run(*words[1:], stdin=content_of(command.sections["stdin"]), env=environment)
    if saved:
        box.write(saved, result.out)
    return result.code, b"" if saved else result.out, result.err


def compare_lines(name, expected, output):
    found = lines_of(output)
    for k in range(max(len(expected), len(found))):
        wanted = expected[k] if k < len(expected) else None
        line = found[k] if k < len(found) else None
        if wanted is None or line is None or not matches(wanted, line):
            return ["%s, line %d" % (name, k + 1),
                    "  expected: %s" % (wanted if wanted is not None else "(the end)"),
                    "  found:    %s" % (escape(line) if line is not None else "(the end)")]
    return []


class Script:
    """A .test file: a case for each command, which run in order."""

    def __init__(self, path):
        self.path, self.commands = path, parse(path)
        self.title = os.path.basename(path)

    def count(self):
        return len(self.commands)

    def names(self):
        return ["%s:%d %s" % (self.title, command.line, " ".join(command.words)[:78]) for command in self.commands]

    def run(self, keepfit):
        box, verdicts = harness.Box(keepfit), []
        try:
            for command in self.commands:
                try:
                    code, out, err = execute(box, command)
                    problems = [] if code == command.exit else ["exit %d, expected %d" % (code, command.exit)]
                    problems += compare_lines("stdout", command.sections["stdout"], out)
                    problems += compare_lines("stderr", command.sections["stderr"], err)
                except Exception:  # a case must not end the others
                    problems = traceback.format_exc().split("\n")
                verdicts.append((problems, None))
        finally:
            box.close()
        return verdicts


class Function:
    """A coded case, or one value of it."""

    def __init__(self, module, function, value=None, has_value=False):
        self.function, self.value, self.has_value = function, value, has_value
        self.name = "%s.%s" % (module[6:], function.__name__[5:])
        if has_value:
            self.name += "[%s]" % (value[0] if isinstance(value, tuple) else value)

    def count(self):
        return 1

    def names(self):
        return [self.name]

    def run(self, keepfit):
        box = harness.Box(keepfit)
        try:
            self.function(box, *([self.value] if self.has_value else []))
            return [([], None)]
        except harness.Skipped as reason:
            return [([], str(reason))]
        except AssertionError as reason:
            place = traceback.extract_tb(reason.__traceback__)
            own = [frame for frame in place if os.path.basename(frame.filename).startswith("cases_")]
            where = "%s:%d" % (os.path.basename(own[-1].filename), own[-1].lineno) if own else ""
            return [((str(reason) or "the assertion failed").split("\n") + [where], None)]
        except Exception:
            return [(traceback.format_exc().split("\n"), None)]
        finally:
            box.close()


def find_cases():
    cases = []
    for name in sorted(os.listdir(HERE)):
        if name.startswith("cases_") and name.endswith(".py"):
            module = importlib.import_module(name[:-3])
            for key, function in vars(module).items():
                if key.startswith("case_") and callable(function):
                    if hasattr(function, "values"):
                        cases += [Function(name[:-3], function, value, True) for value in function.values]
                    else:
                        cases.append(Function(name[:-3], function))
        elif name.endswith(".test"):
            cases.append(Script(os.path.join(HERE, name)))
    return cases


# ---- running ----


def tap_name(name):
    return re.sub(r"[^ -~]", "?", name).replace("#", "?")


def run_all(keepfit, parts):
    cases = find_cases()
    if parts:
        cases = [case for case in cases if any(part in name for part in parts for name in case.names())]
    number, failed = 0, 0
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        waiting = [(case, pool.submit(case.run, keepfit)) for case in cases]
        for case, future in waiting:
            for name, (problems, skipped) in zip(case.names(), future.result()):
                number += 1
                failed += bool(problems)
                print("%sok %d - %s%s" % ("not " if problems else "", number, tap_name(name),
                                          " # SKIP " + skipped if skipped else ""))
                for line in problems:
                    print("# " + line.rstrip().encode("ascii", "backslashreplace").decode())
                sys.stdout.flush()
    print("1..%d" % number)
    return 1 if failed else 0


def update(path, keepfit):
    """Lines that still match are kept, so that wildcards survive."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    box, made, at = harness.Box(keepfit), [], 0
    for command in parse(path):
        code, out, err = execute(box, command)
        made += lines[at:command.line]
        at, kept, keeping = command.line, [], True
        while at < len(lines) and not lines[at].startswith(("$ ", "--- file ") if keeping and kept else
                                                           ("$ ", "--- file ", "#")):
            if lines[at].startswith("--- "):
                keeping = lines[at] == "--- stdin"
            if keeping and lines[at]:
                kept.append(lines[at])
            at += 1
        made += kept
        for name, output in (("stdout", out), ("stderr", err)):
            old = command.sections[name]
            new = [old[k] if k < len(old) and matches(old[k], line) else escape(line)
                   for k, line in enumerate(lines_of(output))]
            made += (["--- " + name] + new) if new else []
        made += ["--- exit %d" % code] if code else []
        made.append("")
    box.close()
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(made + lines[at:]).rstrip("\n") + "\n")
    return 0


def main(words):
    if len(words) == 3 and words[0] == "--update":
        return update(words[1], os.path.abspath(words[2]))
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    keepfit = os.path.abspath(words[0])
    if not os.access(keepfit, os.X_OK):
        print("Bail out! %s is not a program" % keepfit)
        return 1
    return run_all(keepfit, words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
