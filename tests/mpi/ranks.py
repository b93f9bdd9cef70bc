#!/usr/bin/env python3
"""Teams over MPI:  ranks.py MPIRUN KEEPFIT_MPI KEEPFIT [all]   prints TAP; exit 1 if a check fails.

Model, trace and report of 1, 2, 3, 4 and 7 ranks on this machine are byte for byte those of one process without MPI, but for seconds.
`all` tries every case with every number of ranks; otherwise each case has one. KEEPFIT_TEST_KILLS ranks are killed (2)."""
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

checks = failures = 0
# What the package's own rules would have it ask for; harmless elsewhere.
RUN = ["--oversubscribe"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])


def check(good, name, details=""):
    global checks, failures
    checks += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", checks, name), flush=True)
    for line in details.splitlines()[:30] if not good else []:
        print("# " + line)


def write_points(path, count, features, stored, targets, seed):
    draw = random.Random(seed)
    direction = [draw.gauss(0, 1) for _ in range(features)]
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            row = {k: draw.gauss(0, 1) for k in sorted(draw.sample(range(features), stored))}
            score = sum(direction[k] * v for k, v in row.items()) / math.sqrt(stored) + draw.gauss(0, 0.4)
            target = {"two": 1 if score > 0 else -1, "many": min(2, max(0, round(score + 1))), "number": score}[targets]
            file.write("%s %s\n" % (target, " ".join("%d:%.4f" % (k + 1, v) for k, v in row.items())))


def environment():
    made = {k: v for k, v in os.environ.items() if not k.startswith("KEEPFIT_")}
    made.update(KEEPFIT_MPI_BLOCK="10", KEEPFIT_MPI_TIMEOUT="60", OMPI_MCA_btl_vader_single_copy_mechanism="none")
    return made


def run(words, folder):
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, re.sub(r"[0-9.e+-]+ s$", "", done.stdout, flags=re.M), done.stderr


def read(folder, name):
    path = os.path.join(folder, name)
    return open(path, "rb").read() if os.path.exists(path) else None


def without_seconds(trace):
    return trace and [line.split(b",")[:5] + line.split(b",")[6:] for line in trace.splitlines()]


def compare(tools, folder, ranks, data, options):
    mpirun, team, alone = tools
    for name in ("one.kf", "one.csv", "team.kf", "team.csv"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    words = ["train", data, "--trace-stages", "5"] + options.split()
    expected = run([alone] + words + ["--threads", "2", "--model", "one.kf", "--trace", "one.csv"], folder)
    found = run([mpirun] + RUN + ["-n", str(ranks), team] + words + ["--threads", "1", "--model", "team.kf", "--trace", "team.csv"], folder)
    same = [expected[:2] == found[:2], read(folder, "one.kf") == read(folder, "team.kf") is not None,
            without_seconds(read(folder, "one.csv")) == without_seconds(read(folder, "team.csv")) is not None]
    check(all(same), "%d ranks, %s %s: report, model and trace of one process" % (ranks, data, options),
          "report, model, trace: %s\n%s\n%s" % (same, expected, found))


def killed(tools, folder, kills):
    """Random ranks are killed at random instants, and the job started again with another number of ranks, or by one process: what was
    acknowledged is there, and the model is that of a run that nobody disturbed."""
    mpirun, team, alone = tools
    draw = random.Random(int(os.environ.get("KEEPFIT_TEST_SEED", "5")))
    words = ["train", "sparse.svm", "--quiet", "--journal", "journal", "--acknowledge", "--checkpoint-gradients", "200000", "--sync", "always", "--model", "team.kf"]
    made = ["--loss", "logistic", "--method", "svrg", "--inner", "10", "--limit", "3000"]
    run([alone, "train", "sparse.svm", "--quiet", "--model", "one.kf"] + made, folder)
    done = lost = rounds = broken = 0
    while rounds < kills + 30:
        rounds += 1
        ranks = draw.choice([1, 2, 3, 4, 7])
        job = subprocess.Popen([mpirun] + RUN + ["-n", str(ranks), team] + words + made, cwd=folder, env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done < kills:
            time.sleep(draw.uniform(0.3, 1.2 + 0.1 * ranks))
            victims = children(job.pid)
            if victims and job.poll() is None:
                os.kill(draw.choice(victims), signal.SIGKILL)
                done += 1
        try:
            said, _ = job.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            job.kill()
            broken += 1
            break
        safe = [int(word) for word in said.split() if word.isdigit()]
        there = re.search(r"(\d+) points", run([alone, "verify", "journal"], folder)[1])
        lost += bool(safe) and int(there.group(1)) < safe[-1] if there else bool(safe)
        if job.returncode == 0:
            break
    check(done > 0 and not lost and not broken, "%d ranks killed: all that was acknowledged is there" % done, "%d lost, %d hang" % (lost, broken))
    check(job.returncode == 0 and read(folder, "one.kf") == read(folder, "team.kf") is not None,
          "after %d starts with 1 to 7 ranks the model is that of one process" % rounds)


CASES = [(2, "dense.svm", "--loss logistic"), (3, "sparse.svm", "--loss logistic --method refit --lambda 1e-2"),
         (4, "many.svm", "--loss softmax --lambda 1e-2 --intercept"), (7, "number.svm", "--loss huber"),
         (2, "number.svm", "--loss squared --method exact"), (1, "dense.svm", "--loss hinge --lambda 1e-2"),
         (3, "dense.svm", "--loss logistic --window 2500 --method table --lambda 1e-2"),
         (2, "sparse.svm", "--loss logistic --method csvrg --lambda 1e-1 --inner 5 --gap")]


def refuse(tools, folder):
    """Every rank refuses, one of them says why, and the job's exit code is that of one process."""
    for words, said, code in [(["train", "dense.svm", "--loss", "network:3"], "linear models only", 2),
                              (["train", "no.svm", "--loss", "logistic"], "no.svm", 3),
                              (["predict", "a.kf", "dense.svm"], "needs no team", 2)]:
        found = run([tools[0]] + RUN + ["-n", "2", tools[1]] + words, folder)
        check(found[0] == code and found[2].count(said) == 1, "2 ranks, %s: refused once" % " ".join(words), str(found))


def children(parent):
    found = []
    for name in os.listdir("/proc"):
        try:
            fields = open("/proc/%s/stat" % name, encoding="utf-8").read().rsplit(")", 1)[1].split() if name.isdigit() else []
        except OSError:
            continue
        if len(fields) > 1 and int(fields[1]) == parent:
            found.append(int(name))
    return found


def lose(tools, folder):
    """A rank is killed: the job ends, soon, and not well."""
    job = subprocess.Popen([tools[0]] + RUN + ["-n", "3", tools[1], "train", "sparse.svm", "--loss", "logistic", "--method", "svrg", "--inner", "5000"],
                           cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.time() + 20
    while len(children(job.pid)) < 3 and time.time() < end and job.poll() is None:
        time.sleep(0.05)
    time.sleep(1)
    ranks = children(job.pid)
    if len(ranks) == 3:
        os.kill(ranks[1], signal.SIGKILL)
    try:
        _, said = job.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        job.kill()
        said = "it hangs"
    check(len(ranks) == 3 and job.returncode not in (0, None) and "hangs" not in said, "a rank is killed: the job ends, with a failure",
          "%s ranks, %s: %s" % (len(ranks), job.returncode, said))


def main():
    mpirun, team, alone = (os.path.abspath(word) for word in sys.argv[1:4])
    tools = (mpirun, team, alone)
    with tempfile.TemporaryDirectory() as folder:
        write_points(os.path.join(folder, "dense.svm"), 4200, 6, 6, "two", 1)
        write_points(os.path.join(folder, "sparse.svm"), 4200, 40, 6, "two", 2)
        write_points(os.path.join(folder, "many.svm"), 3500, 5, 5, "many", 3)
        write_points(os.path.join(folder, "number.svm"), 4200, 6, 6, "number", 4)
        for ranks, data, options in CASES:
            for number in [1, 2, 3, 4, 7] if "all" in sys.argv[4:] else [ranks]:
                compare(tools, folder, number, data, options)
        refuse(tools, folder)
        lose(tools, folder)
        killed(tools, folder, int(os.environ.get("KEEPFIT_TEST_KILLS", "2")))
    print("1..%d" % checks)
    sys.exit(1 if failures else 0)


main()
