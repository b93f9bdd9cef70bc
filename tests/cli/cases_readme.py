"""The commands of the README and of the page for operators run as printed, and print what is said there, up to the seconds they
take."""

import math
import os
import re
import subprocess

from harness import QUICK, Skipped, clean_environment, same

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUMBER = re.compile(r"^-?\d+(\.\d+)?(e[+-]\d+)?$")


def printed(page, begins="keepfit "):
    """(command, the lines below it) for each line of the page that begins with "$ keepfit"."""
    with open(os.path.join(TOP, page), encoding="utf-8") as file:
        blocks = re.findall(r"^```\n(.*?)^```", file.read(), re.S | re.M)
    for block in blocks:
        for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, lines = piece.partition("\n")
            if command.startswith(begins):
                yield command, lines.splitlines()


def words_of(line, table):
    """Without the seconds: the last column of a table, a number before "s" elsewhere."""
    return (line.split()[:-1] if table else re.sub(r"\S+ s$", "", line).split())


def alike(left, right):
    """Numbers may differ a little: another C library rounds otherwise."""
    if NUMBER.match(left) and NUMBER.match(right):
        return math.isclose(float(left), float(right), rel_tol=0.02)
    return left == right


def case_readme(box):
    if QUICK:
        raise Skipped("slow with sanitizers")
    told = 0
    for command, lines in printed("README.md"):
        words, _, target = command.partition(" > ")
        result = box.run(*words.split()[1:])
        if target:
            box.write(target, result.out)
        if not lines:
            continue
        table = lines[0].startswith("method ")
        found = [words_of(line, table) for line in result.text.splitlines()]
        expected = [words_of(line, table) for line in lines]
        result.check([len(line) for line in found] == [len(line) for line in expected] and
                     all(alike(*pair) for line in zip(found, expected) for pair in zip(*line)), "the README says:\n" + "\n".join(lines))
        told += 1
    assert told >= 3, "the README shows what only %d commands print" % told


def case_the_page_for_operators(box):
    """Its commands in their order, as a shell runs them; the ranking is one, and a model that goes on is that of all rows."""
    if QUICK:
        raise Skipped("slow with sanitizers")
    path = {"PATH": os.path.dirname(os.path.abspath(box.keepfit)) + ":/usr/bin:/bin"}
    commands, ranking = list(printed("docs/operators.md", "")), None
    assert len(commands) > 12, "the page shows only %d commands" % len(commands)
    for command, lines in commands:
        done = subprocess.run(["sh", "-c", command], cwd=box.path, env=clean_environment(path), capture_output=True, text=True, timeout=120)
        same((done.returncode, command), (0, command), "exit code; " + done.stderr)
        if command.startswith("head"):
            same(done.stdout.splitlines(), lines, command)
        if "sort -rg" in command:
            ranking = [float(line.split(",")[0]) for line in done.stdout.splitlines()]
    assert len(ranking) == 10 and ranking == sorted(ranking, reverse=True) and ranking[0] > 0.8, ranking
    box.write("both.csv", box.read("day1.csv") + b"".join(box.read("day2.csv").splitlines(True)[1:]))
    box.run("train", "--target", "label", "--model", "both.kf", "both.csv")
    same(box.read("both.kf"), box.read("live.kf"), "a file after the other, and both as one")
