"""The README's commands run as printed, and print what it says, up to the seconds they take."""

import math
import os
import re

from harness import QUICK, Skipped

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")
NUMBER = re.compile(r"^-?\d+(\.\d+)?(e[+-]\d+)?$")


def printed():
    """(command, the lines below it) for each line of the README that begins with "$ keepfit"."""
    with open(README, encoding="utf-8") as file:
        blocks = re.findall(r"^```\n(.*?)^```", file.read(), re.S | re.M)
    for block in blocks:
        for piece in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, lines = piece.partition("\n")
            if command.startswith("keepfit "):
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
    for command, lines in printed():
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
