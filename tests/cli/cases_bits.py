"""The same bits on any processor: with each kind of vectors that this one has, without fused multiplication in the C library, with the kernels
that a BLAS would choose, on several threads."""

import random

from harness import Skipped, libsvm, over, same, without_seconds

# Of a C library that has others for processors with more.
OLDER = "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F"
VECTORS = ("plain", "avx2", "avx512")
NUMBERS = ("squared", "huber", "logcosh")  # what the losses that predict one are called

RUNS = (
    ("logistic", "logistic", 50, 1200, ("--epsilon", "1e-5", "--lambda", "1e-4", "--bias", "1")),
    ("logistic, solved again", "logistic", 20, 400, ("--method", "refit", "--epsilon", "1e-6", "--intercept")),
    ("logistic, many features", "logistic", 200, 300, ("--method", "quadratic", "--epsilon", "1e-4", "--lambda", "1e-3")),
    ("squared, exact", "squared", 40, 500, ("--method", "exact", "--lambda", "1e-3")),
    ("squared, in a ball", "squared", 30, 400, ("--domain", "ball:0.7", "--epsilon", "1e-5", "--lambda", "1e-3")),
    ("hinge", "hinge", 30, 500, ("--epsilon", "1e-4", "--lambda", "1e-3")),
    ("squared-hinge", "squared-hinge", 20, 400, ("--epsilon", "1e-4", "--lambda", "1e-3", "--intercept")),
    ("huber", "huber", 20, 400, ("--epsilon", "1e-4", "--lambda", "1e-3")),
    ("logcosh", "logcosh", 20, 400, ("--epsilon", "1e-5", "--lambda", "1e-3", "--intercept")),
    ("softmax", "softmax", 12, 500, ("--epsilon", "1e-4", "--lambda", "1e-3")),
    ("network", "network:20", 90, 40, ("--inner", "5", "--epsilon", "1e-1", "--lambda", "1e-3")),
)


def rows_of(loss, features, count):
    source = random.Random(5)
    outputs = 4 if loss == "softmax" or loss.startswith("network") else 1
    weights = [[source.gauss(0, 1) for _ in range(features)] for _ in range(outputs)]
    rows = []
    for _ in range(count):
        row = [round(source.gauss(0, 1), 3) for _ in range(features)]
        scores = [sum(w * v for w, v in zip(one, row)) + source.gauss(0, 1) for one in weights]
        if outputs > 1:
            target = float(scores.index(max(scores)))
        else:
            target = round(scores[0], 3) if loss in NUMBERS else 1.0 if scores[0] > 0 else -1.0
        rows.append((row, target))
    return rows


def told(box, words, environment, threads="1"):
    """The model, and objective and proof after every point."""
    box.run("train", *words, "--threads", threads, "--model", "m.kf", "--trace", "t.csv", "--trace-stages", "all", "data.svm",
            env=environment, code=(0, 5))
    return box.read("m.kf"), without_seconds(box.trace("t.csv"))


@over(RUNS)
def case_every_processor_gives_the_same_bits(box, case):
    _, loss, features, count, words = case
    box.write("data.svm", libsvm(rows_of(loss, features, count)))
    words = ("--quiet", "--loss", loss, *words)
    first = told(box, words, {"KEEPFIT_VECTORS": "plain", "GLIBC_TUNABLES": OLDER})
    there = box.names("features")
    for name in VECTORS:
        if name in there:
            assert told(box, words, {"KEEPFIT_VECTORS": name}) == first, "%s vectors give another model or trace" % name
    for kind in ("Nehalem", "Haswell", "SkylakeX", "Zen"):
        assert told(box, words, {"OPENBLAS_CORETYPE": kind}) == first, "BLAS for %s give another model or trace" % kind
    for threads in ("2", "4"):
        assert told(box, words, {}, threads) == first, "%s threads give another model or trace" % threads


@over(VECTORS)
def case_vectors_are_chosen_by_the_environment(box, name):
    def used(environment):
        entries = box.run("list", "--json", "features", env=environment).json
        return [entry["name"] for entry in entries if "in use" in entry["summary"]]

    if name not in box.names("features"):
        raise Skipped("this processor has no %s" % name)
    same(used({"KEEPFIT_VECTORS": name}), [name], "vectors in use")
    same(used({"KEEPFIT_VECTORS": "none"}), used({}), "vectors in use, if the name is not known")
