#!/usr/bin/env python3
"""The binary interface:  abi.py LIBRARY.so KEEPFIT_H COMPILER   prints TAP; exit 1 if a check fails.
abi.py --update KEEPFIT_H COMPILER   writes baseline.abi anew, when something has been added: never for a change.

That the library exports what the header declares and nothing else, under the name of its major version, and that programs
compiled with version 1.0 still fit: abidiff compares with baseline.abi. What is compared is compiled from the header, with
debug information, in which the types that programs see are, and no others; and the library itself, where it has some. The
header's last part may change, and is left out."""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

BASELINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.abi")
checks = failures = 0


def check(good, name, details=""):
    global checks, failures
    checks += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", checks, name))
    for line in details.splitlines()[:60] if not good else []:
        print("# " + line)


def skip(name, why):
    global checks
    checks += 1
    print("ok %d - %s # SKIP %s" % (checks, name, why))


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def declarations(text):
    """What the header declares, each up to its semicolon."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [" ".join(found.split()) for found in re.findall(r"^KEEPFIT_API ([^;{}]*)", text, re.M)]


def name_of(declaration):
    return re.search(r"(keepfit_\w+)\(", declaration).group(1)


def split(path):
    """Text and declarations of the header, and names of the functions that may change."""
    text = open(path, encoding="utf-8").read()
    stable, unstable = text.split("#ifdef KEEPFIT_UNSTABLE")
    unstable += open(os.path.join(os.path.dirname(path), "keepfit-team.h"), encoding="utf-8").read()
    return text, declarations(stable), [name_of(d) for d in declarations(unstable)]


def compile_interface(folder, text, stable, compiler, name="interface"):
    """A library with the functions that do not change, which do nothing."""
    header, source, library = (os.path.join(folder, f) for f in ("keepfit.h", name + ".c", name + ".so"))
    with open(header, "w", encoding="utf-8") as file:
        file.write(text)
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "keepfit.h"\n')
        file.writelines("%s\n{\n    __builtin_trap();\n}\n" % d for d in stable)
    subprocess.run(compiler + ["-std=c11", "-g", "-O0", "-w", "-fPIC", "-shared", "-Wl,-soname,libkeepfit.so.1", "-o", library, source],
                   check=True)
    return library


def differences(library, unstable):
    """What abidiff finds; new functions are none. (What stands behind the handles is nobody's business, and it knows.)"""
    drop = [word for name in unstable for word in ("--drop-fn", "^%s$" % name)]
    done = subprocess.run(["abidiff", "--no-added-syms", "--no-architecture", "--no-corpus-path"] + drop + [BASELINE, library],
                          capture_output=True, text=True)
    hint = "If this only adds: abi.py --update takes it in; a struct that has grown since 1.0 needs its line in src/base/sized.h.\n"
    return hint + done.stdout + done.stderr if done.returncode else ""


def compare(library, text, stable, unstable, compiler):
    if not shutil.which("abidiff"):
        return skip("programs compiled with 1.0 still fit", "abidiff is not installed")
    if platform.machine() != "x86_64":
        return skip("programs compiled with 1.0 still fit", "the baseline is of x86_64")
    with tempfile.TemporaryDirectory() as folder:
        found = differences(compile_interface(folder, text, stable, compiler), unstable)
        check(not found, "programs compiled with 1.0 still fit: the header", found)
        for what, here, there in BENT:
            bent = "\n".join(stable).replace(here, there).split("\n")
            made = compile_interface(folder, text.replace(here, there), bent, compiler)
            check(here in text and differences(made, unstable), "and it would be found if %s" % what)
    if ".debug_info" in output("readelf", "-S", "-W", library):
        found = differences(library, unstable)
        check(not found, "programs compiled with 1.0 still fit: the library", found)


# What must not happen, done to a copy.
BENT = [("an argument changed its type", "keepfit_fit_remove(keepfit_fit *fit, uint64_t index)",
         "keepfit_fit_remove(keepfit_fit *fit, uint32_t index)"),
        ("an argument was added", "keepfit_fit_sync(keepfit_fit *fit)", "keepfit_fit_sync(keepfit_fit *fit, bool all)"),
        ("a field stood elsewhere", "    uint64_t stage;  ", "    uint64_t epoch, stage;  "),
        ("a point grew", "    bool weightless;\n", "    bool weightless;\n    uint64_t id;\n"),
        ("a number came to mean something else", "X(USAGE, 17,", "X(USAGE, 27,"),
        ("a function was gone", "bool keepfit_fit_find(", "bool keepfit_fit_found(")]


def main():
    library, header, compiler = sys.argv[1], sys.argv[2], sys.argv[3:]
    text, stable, unstable = split(header)
    if library == "--update":
        with tempfile.TemporaryDirectory() as folder:
            made = compile_interface(folder, text, stable, compiler)
            written = output("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
                             "--no-parameter-names", made)
        with open(BASELINE, "w", encoding="utf-8") as file:
            file.write(re.sub(r" path='[^']*'", " path='interface.c'", written))
        return
    exported = [line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()]
    exported = [name for name in exported if not name.startswith("__")]  # a sanitizer's own
    declared = [name_of(d) for d in stable] + unstable
    check(len(stable) > 80 and len(unstable) > 4 and sorted(declared) == sorted(exported), "the library exports what the header declares, and nothing else",
          "\n".join(sorted(set(declared) ^ set(exported))))
    major = re.search(r"KEEPFIT_VERSION_MAJOR (\d+)", text).group(1)
    found = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", "-W", library)).group(1)
    check(found == "libkeepfit.so." + major, "it is called by its major version", found)
    compare(library, text, stable, unstable, compiler)
    print("1..%d" % checks)
    sys.exit(failures > 0)


main()
