"""Kills keepfit with SIGKILL at random instants while it appends, writes checkpoints, compacts and resumes, until the stream has been
learnt to its end; as TAP. After every kill the journal must be whole and hold every point that was acknowledged, and the final model must be
that of a run that was never broken, byte for byte.

    kill.py KEEPFIT [kills [seed [folder]]]

By default few kills, in a temporary folder; 10,000 take some minutes on a file system in memory (/dev/shm).
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

KEEPFIT = os.path.abspath(sys.argv[1])
QUICK = bool(os.environ.get("KEEPFIT_TEST_QUICK"))
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 15 if QUICK else 60
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
ROWS = 2500

PROBLEMS = [
    ["--loss", "logistic", "--epsilon", "1e-2", "--bias", "1"],
    ["--loss", "logistic", "--epsilon", "1e-2", "--window", "200"],
    ["--loss", "squared", "--method", "csvrg", "--inner", "5"],
    ["--loss", "squared", "--method", "exact", "--window", "150"],
]


def run(*words, **more):
    return subprocess.run([KEEPFIT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300, **more)


def need(result):
    if result.returncode != 0:
        raise AssertionError("exit %d: %s" % (result.returncode, result.stderr.decode()))
    return result.stdout


def killed(words, longest, source):
    """Runs keepfit for a random while; its output as far as it got, and whether it ended by itself."""
    process = subprocess.Popen([KEEPFIT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=source.uniform(0, longest))
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    ended = process.returncode >= 0
    if ended and process.returncode != 0:
        raise AssertionError("exit %d: %s" % (process.returncode, err.decode()))
    return out, ended


def acknowledged(out):
    """The last number that was printed whole."""
    lines = out.split(b"\n")[:-1]
    numbers = [int(line) for line in lines if line.isdigit()]
    return numbers[-1] if numbers else 0


def arrived(journal):
    """How many points the journal knows; 0 before it exists."""
    if not os.path.exists(journal) or not [n for n in os.listdir(journal) if n.isdigit()]:
        return 0
    told = json.loads(need(run("inspect", "--json", journal)))
    assert told["damage"] is None, told["damage"]
    return told["arrived"]


def live(folder, source, problem, stream, unbroken):
    """One journal from its creation to the end of the stream; how many kills it took."""
    journal, model = os.path.join(folder, "journal"), os.path.join(folder, "model.kf")
    shutil.rmtree(journal, ignore_errors=True)
    settings = ["--sync", source.choice(["always", "batch:50", "interval:1", "none"]),
                "--segment-bytes", str(source.choice([4096, 40000]))]
    if source.random() < 0.7:
        settings += ["--checkpoint-gradients", str(source.choice([300, 3000]))]
    train = ["train", "--journal", journal, "--acknowledge", "--quiet", "--model", model, *settings, *problem, stream]
    longest = source.choice([0.02, 0.06])
    safe = kills = 0
    ended = False
    while not ended:
        out, ended = killed(train, longest, source)
        kills += not ended
        safe = max(safe, acknowledged(out))
        there = arrived(journal)
        assert there >= safe, "%d points were acknowledged, %d are there" % (safe, there)
        if not ended and there and source.random() < 0.3:
            kills += not killed(["compact", journal], longest, source)[1]
            assert arrived(journal) >= safe, "compacting has lost points"
        longest *= 1.02  # so that it does come to an end
    need(run("verify", journal))
    with open(model, "rb") as file:
        assert file.read() == unbroken, "the model is not that of the unbroken run"
    return kills


def main():
    parent = sys.argv[4] if len(sys.argv) > 4 else None
    folder = tempfile.mkdtemp(prefix="keepfit-kill-", dir=parent)
    source = random.Random(SEED)
    failures = 0
    start = time.time()
    try:
        for number, problem in enumerate(PROBLEMS, 1):
            stream, model = os.path.join(folder, "stream.svm"), os.path.join(folder, "unbroken.kf")
            with open(stream, "wb") as file:
                file.write(need(run("generate", "--rows", str(ROWS), "--features", "8", "--loss", problem[1])))
            need(run("train", "--quiet", "--model", model, *problem, stream))
            with open(model, "rb") as file:
                unbroken = file.read()
            kills = lives = 0
            message = ""
            try:
                while kills < KILLS / len(PROBLEMS):
                    kills += live(folder, source, problem, stream, unbroken)
                    lives += 1
            except AssertionError as reason:
                message = str(reason)
            print("%sok %d - %s: %d kills in %d lives: nothing acknowledged is lost, the same model" % (
                "not " if message else "", number, " ".join(problem), kills, lives))
            if message:
                failures += 1
                print("# " + message)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("# %.0f s, seed %d" % (time.time() - start, SEED))
    print("1..%d" % len(PROBLEMS))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
