"""What the service does in a second, on this machine, load included.

    bench/serving.py BUILD [--write] [--seconds S] [--part NAME]     prints the table; --write puts it into bench/serving.md
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "service"))
from client import Service  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
KEEPFIT, LOAD = os.path.join(BUILD, "keepfit"), os.path.join(BUILD, "bench", "bench_load")
SECONDS = sys.argv[sys.argv.index("--seconds") + 1] if "--seconds" in sys.argv else "4"
REPEATS = 3


def load(service, path, body, connections, kind="application/json"):
    name = os.path.join(service.folder, "body")
    with open(name, "w", encoding="utf-8") as file:
        file.write(body)
    told = json.loads(subprocess.run([LOAD, str(service.port), path, kind, name, str(connections), SECONDS], check=True,
                                     capture_output=True, text=True).stdout)
    assert told["failures"] == 0, told
    return told


def best(how):
    return max((how() for _ in range(REPEATS)), key=lambda told: told["per_second"])


def libsvm(count, features, seed=1):
    source = random.Random(seed)
    out = []
    for _ in range(count):
        row = [source.gauss(0, 1) for _ in range(features)]
        out.append("%d %s\n" % (sum(row) + source.gauss(0, 1) > 0, " ".join("%d:%.4f" % (k + 1, v) for k, v in enumerate(row))))
    return "".join(out)


def fresh(*options):
    return Service(KEEPFIT, tempfile.mkdtemp(prefix="keepfit-bench-"), "--loss", "logistic", "--epsilon", "1e-2", *options)


def predictions(rows):
    with fresh() as service:
        assert service.push(libsvm(1000, 40), "application/x-libsvm")[0] == 200
        row = [round(random.Random(2).gauss(0, 1), 4) for _ in range(40)]
        told = best(lambda: load(service, "/v1/predict", json.dumps({"features": row}), 32))
        rows.append(("predictions a second, 40 features, a row a request, 32 connections", "%d" % told["per_second"], "30,000",
                     told["per_second"] >= 30000))


def batches(rows):
    for features in (10, 40):
        def one():
            with fresh("--sync", "batch:1000") as service:
                return load(service, "/v1/points", libsvm(1000, features), 4, "application/x-libsvm")
        told = best(one)
        rows.append(("points a second, %d features, batches of 1,000 (LIBSVM), `--sync batch:1000`" % features,
                     "%d" % (1000 * told["per_second"]), "200,000", told["per_second"] >= 200))


def groups(rows):
    def one(connections):
        with fresh("--sync", "always") as service:
            point = json.dumps({"features": [0.5, -1, 2], "target": 1})
            service.push([{"features": [1, 1, 1], "target": 0}])
            return load(service, "/v1/points", point, connections)
    alone, many = best(lambda: one(1)), best(lambda: one(64))
    ratio = many["per_second"] / alone["per_second"]
    rows.append(("points a second, `--sync always`, 64 clients (%d) over one (%d)" % (many["per_second"], alone["per_second"]),
                 "%.1f" % ratio, "10", ratio >= 10))


def latency(rows):
    """Predictions while the learner makes passes over many points: points of a large weight each ask for some."""
    with fresh("--sync", "none", "--max-body", "500000000", "--max-points", "1000000") as service:
        row = json.dumps({"features": [0.1] * 10})
        for k in range(10):
            assert service.push(libsvm(100000, 10, k), "application/x-libsvm")[0] == 200
        idle = min((load(service, "/v1/predict", row, 1) for _ in range(REPEATS)), key=lambda told: told["p99"])
        ending = threading.Event()
        passes, source = [], random.Random(3)

        def learn():
            while not ending.is_set():
                heavy = {"features": [source.gauss(0, 3) for _ in range(10)], "target": source.randrange(2), "weight": 30000}
                begin = time.time()
                assert service.push(heavy)[0] == 200
                passes.append(time.time() - begin)
        worker = threading.Thread(target=learn)
        worker.start()
        busy = min((load(service, "/v1/predict", row, 1) for _ in range(REPEATS)), key=lambda told: told["p99"])
        ending.set()
        worker.join()
        print("# %d heavy points, %.3f s each" % (len(passes), sum(passes) / len(passes)))
        ratio = busy["p99"] / idle["p99"]
        rows.append(("99th percentile of a prediction's time during passes over 10^6 points (%d us) over an idle learner's (%d us)" %
                     (busy["p99"], idle["p99"]), "%.2f" % ratio, "2", ratio <= 2))


def main():
    rows = []
    only = sys.argv[sys.argv.index("--part") + 1] if "--part" in sys.argv else ""
    for part in (predictions, batches, groups, latency):
        if only in part.__name__:
            part(rows)
    text = "| what | measured | bar | met |\n|---|---|---|---|\n"
    text += "".join("| %s | %s | %s | %s |\n" % (*row[:3], "yes" if row[3] else "no") for row in rows)
    print(text)
    if "--write" in sys.argv:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "serving.md"), "w", encoding="utf-8") as file:
            file.write("# The service\n\nOn loopback, two cores, the load generator (`bench_load`) on the same ones; the best of %d runs of %s "
                       "s.\n`bench/serving.py BUILD --write` makes this table.\n\n%s" % (REPEATS, SECONDS, text))


main()
