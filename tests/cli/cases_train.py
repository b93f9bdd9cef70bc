"""train: what it prints, writes and follows."""

import json
import math
import os
import threading
import time

from harness import TRACE_HEAD, libsvm, near, numbers, over, read_trace, same, two_classes, without_seconds

METHODS = ("auto", "csvrg", "gd", "sgd", "sgd-sparse", "svrg", "lsvrg", "saga", "sarah", "katyusha", "strsaga", "dynasaga", "ssvrg",
           "exact", "refit", "quadratic", "table")
LOSSES = ("squared", "logistic", "huber", "logcosh", "hinge", "squared-hinge", "softmax")
DOMAINS = ("none", "ball:1", "box:-1:1", "simplex")
CONTRACT = ("method", "loss", "lambda", "epsilon", "stages", "features", "fo", "steps", "seconds", "objective", "bound",
            "max_gap")


def lambda_of(box, *words, **more):
    return box.run("train", "--json", *words, "data.svm", **more).json["lambda"]


def case_tables_are_known_here(box):
    """The lists above are those of the program, so a new member is tested too."""
    same(tuple(box.names("methods")), METHODS, "methods")
    same(tuple(box.names("losses")), LOSSES + ("network:H",), "losses")
    same(tuple(name.split(":")[0] for name in box.names("domains")),
         tuple(name.split(":")[0] for name in DOMAINS), "domains")


@over(LOSSES)
def case_json_has_the_contract(box, loss):
    box.generate("data.svm", "--rows", "40", "--features", "4", "--loss", loss)
    told = box.run("train", "--json", "--loss", loss, "--gap", "data.svm", code=(0, 5)).json
    for name in CONTRACT:
        assert name in told, "the summary has no " + name
    same((told["method"], told["loss"], told["stages"], told["features"]), ("auto", loss, 40, 4), "summary")
    same((told["lambda"], told["epsilon"]), (0.001, 0.001), "lambda and epsilon")
    for name in ("fo", "objective", "bound", "max_gap", "seconds"):
        assert isinstance(told[name], (int, float)), "%s is %r" % (name, told[name])
    assert told["fo"] >= 40 and told["bound"] >= told["gap"] - 1e-12 and told["max_gap"] >= told["gap"]


def case_json_is_null_where_not_computed(box):
    box.write("data.svm", libsvm(numbers()))
    told = box.run("train", "--json", "--method", "sgd", "data.svm").json
    assert told["max_gap"] is None and told["optimum"] is None and told["gap"] is None
    assert told["worst_bound"] is None


def case_json_objective_is_the_mean_loss(box):
    """The objective, from the saved weights, by its definition."""
    rows = numbers()
    box.write("data.svm", libsvm(rows))
    told = box.run("train", "--json", "--lambda", "0.01", "-m", "m.kf", "data.svm").json
    x = box.weights("m.kf")["vectors"][0]
    loss = sum((sum(w * v for w, v in zip(x, row)) - target) ** 2 for row, target in rows) / len(rows)
    assert near(told["objective"], loss + 0.01 * sum(w * w for w in x), 1e-12)


def case_progressive_validation(box):
    """Each point is predicted by the model for those before it: here by the exact optimum of one feature."""
    rows = numbers(25, 1)
    box.write("data.svm", libsvm(rows))
    told = box.run("train", "--json", "--method", "exact", "--lambda", "0.1", "data.svm").json
    squares = []
    for k in range(1, len(rows)):
        before = rows[:k]
        x = sum(r[0] * b for r, b in before) / (sum(r[0] ** 2 for r, _ in before) + 0.1 * k)
        squares.append((x * rows[k][0][0] - rows[k][1]) ** 2)
    mean = sum(squares) / len(squares)
    assert near(told["validation_error"], math.sqrt(mean), 1e-9), told
    assert near(told["validation_loss"], mean, 1e-9), told


def case_progressive_validation_of_classes(box):
    box.generate("data.svm", "--rows", "200", "--features", "5", "--loss", "softmax")
    told = box.run("train", "--json", "--loss", "softmax", "data.svm").json
    assert 0 <= told["validation_error"] < 0.6 and told["validation_loss"] > 0
    errors = told["validation_error"] * 199
    assert near(errors, round(errors), 1e-9), "a share of the 199 points that were predicted"


@over(("1", "2", "5", "50", "all"))
def case_trace_stages(box, stages):
    box.write("data.svm", libsvm(numbers(60)))
    box.run("train", "--trace", "t.csv", "--trace-stages", stages, "data.svm")
    rows = box.trace("t.csv")
    at = [int(row["stage"]) for row in rows]
    assert at == sorted(set(at)) and at[-1] == 60, at
    if stages == "all":
        same(at, list(range(1, 61)), "stages")
    else:
        assert len(at) <= int(stages), at
    if stages == "1":
        same(at, [60], "stages")
    if stages == "5":
        same(at[0], 1, "first traced stage")
        ratios = [b / a for a, b in zip(at[1:], at[2:])]
        assert max(ratios) / min(ratios) < 1.6, "not spaced geometrically: %s" % at


def case_trace_of_a_pipe_has_the_last_stage(box):
    box.run("train", "--trace", "t.csv", "--trace-stages", "4", "-", stdin=libsvm(numbers(60)))
    assert [int(row["stage"]) for row in box.trace("t.csv")][-1] == 60


def case_trace_of_a_pipe_with_a_limit(box):
    """The limit tells how long the stream is, so the traced stages are those of a file."""
    content = libsvm(numbers(60))
    words = ("train", "--limit", "40", "--trace-stages", "5", "--trace")
    box.run(*words, "file.csv", box.write("data.svm", content))
    box.run(*words, "pipe.csv", "-", stdin=content)
    same(*([row["stage"] for row in box.trace(name)] for name in ("pipe.csv", "file.csv")), "stages")


def case_trace_cells(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.run("train", "--method", "sgd", "--trace", "plain.csv", "--trace-stages", "all", "data.svm")
    box.run("train", "--method", "sgd", "--trace", "gap.csv", "--trace-stages", "all", "--gap", "data.svm", code=(0, 5))
    for plain, gap in zip(box.trace("plain.csv"), box.trace("gap.csv")):
        same(plain["optimum"] + plain["gap"], "", "cells that were not computed")
        same((plain["method"], plain["stage"], plain["objective"]), (gap["method"], gap["stage"], gap["objective"]), "row")
        assert near(float(gap["objective"]) - float(gap["optimum"]), float(gap["gap"]), 1e-9)
        assert float(gap["gap"]) >= -1e-12


@over(("auto", "refit", "gd", "exact"))
def case_bound_is_above_gap(box, method):
    loss = "squared" if method == "exact" else "logistic"
    box.generate("data.svm", "--rows", "60", "--features", "5", "--loss", loss)
    box.run("train", "--loss", loss, "--method", method, "--trace", "t.csv", "--trace-stages", "all", "--gap",
            "data.svm", code=(0, 5))
    for row in box.trace("t.csv"):
        assert row["bound"] != "" and float(row["bound"]) >= float(row["gap"]) - 1e-12, row


def case_trace_to_standard_output(box):
    box.write("data.svm", libsvm(numbers(30)))
    result = box.run("train", "-q", "--trace", "-", "data.svm")
    assert read_trace(result.text)[-1]["stage"] == "30"


def case_trace_to_standard_output_of_standard_input(box):
    result = box.run("train", "-q", "--trace", "-", "-", stdin=libsvm(numbers(30)))
    assert read_trace(result.text)[-1]["stage"] == "30"


@over(("squared", "logistic"))
def case_gradients_are_not_paid_for_by_features(box, loss):
    """The same points with one feature moved far away take about as many gradients."""
    rows = two_classes((-1, 1), 20)
    box.write("near.svm", libsvm(rows))
    box.write("far.svm", libsvm(rows).replace(" 2:", " 200000:"))
    words = ("train", "-q", "--json", "--method", "table", "--loss", loss)
    close, far = (box.run(*words, name).json for name in ("near.svm", "far.svm"))
    same((close["features"], far["features"]), (2, 200000), "features")
    assert far["fo"] <= 4 * close["fo"], "%d gradients, %d with the features close" % (far["fo"], close["fo"])


def case_numbers_read_back_exactly(box):
    box.write("data.svm", libsvm(numbers(30)))
    told = box.run("train", "--json", "--trace", "t.csv", "-m", "m.kf", "data.svm").json
    last = box.trace("t.csv")[-1]
    same(float(last["objective"]), told["objective"], "objective in trace and summary")
    model = box.weights("m.kf")
    text = box.run("inspect", "--weights", "m.kf").text.split("\n")[-4:-1]
    same([float(line.split()[1]) for line in text], model["vectors"][0], "weights as text and as JSON")


def case_epsilon_not_reached(box):
    box.write("data.svm", libsvm(numbers(30)))
    result = box.try_run("train", "--method", "sgd", "--epsilon", "1e-12", "--gap", "-m", "m.kf", "--trace", "t.csv",
                         "data.svm")
    result.refused(5, "epsilon").check("measured" in result.text, "the summary is printed all the same")
    assert box.exists("m.kf") and box.exists("t.csv"), "what was reached is saved all the same"


@over(("text", "json"))
def case_quiet(box, kind):
    box.write("data.svm", libsvm(numbers(30)) + "1 1:nan\n")
    more = ["--json"] if kind == "json" else []
    result = box.run("train", "--quiet", "--on-error", "skip", *more, "data.svm")
    result.check(result.err == b"", "expected nothing on standard error")
    if kind == "text":
        result.silent()
    else:
        result.check(result.json["skipped"] == 1, "expected the result that was asked for")


def case_quiet_measuring(box):
    """A gap that cannot be measured is worth a warning, but not with --quiet."""
    box.generate("data.svm", "--rows", "40", "--loss", "softmax")
    result = box.run("train", "--quiet", "--loss", "softmax", "--intercept", "--method", "gd", "--gap", "data.svm",
                     code=(0, 5)).silent()
    result.check("warning" not in result.error, "expected no warnings")


def case_ways_to_write_options(box):
    data = libsvm(numbers(30))
    box.write("data.svm", data)
    box.write("-odd.svm", data)
    box.run("train", "--method", "sgd", "--lambda", "0.01", "--model", "1.kf", "data.svm")
    box.run("train", "--method=sgd", "--lambda=0.01", "-m", "2.kf", "data.svm")
    box.run("train", "data.svm", "--method=sgd", "-m3.kf", "--lambda=0.01")
    box.run("train", "--method=sgd", "-m", "4.kf", "--lambda=0.01", "--", "-odd.svm")
    box.run("train", "-qm", "5.kf", "--method=sgd", "--lambda=0.01", "-", stdin=data)
    box.run("train", "-q", "-j2", "-m", "6.kf", "--method=sgd", "--lambda=0.01", "-", stdin=data)
    for k in range(2, 7):
        same(box.read("%d.kf" % k), box.read("1.kf"), "model %d" % k)


def case_precedence(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.write("c.conf", "# options\n\n lambda =  0.25 \nseed=3\nmethod = sgd\n")
    both = {"KEEPFIT_LAMBDA": "0.5"}
    same(lambda_of(box), 0.001, "default")
    same(lambda_of(box, "--config", "c.conf"), 0.25, "file")
    same(lambda_of(box, env={"KEEPFIT_CONFIG": "c.conf"}), 0.25, "file named by the environment")
    same(lambda_of(box, env=both), 0.5, "environment")
    same(lambda_of(box, "--config", "c.conf", env=both), 0.5, "environment before file")
    same(lambda_of(box, "--config", "c.conf", "--lambda", "0.75", env=both), 0.75, "flag before both")
    same(lambda_of(box, "--config=c.conf", "--lambda=0.75"), 0.75, "flag before file")
    told = box.run("train", "--json", "--config", "c.conf", "data.svm", env=both).json
    same((told["method"], told["lambda"]), ("sgd", 0.5), "each option on its own")


def case_environment_sets_every_kind(box):
    box.write("data.svm", libsvm(numbers(30)))
    told = box.run("train", "data.svm", env={"KEEPFIT_JSON": "true", "KEEPFIT_LIMIT": "7", "KEEPFIT_MODEL": "e.kf",
                                             "KEEPFIT_METHOD": "saga", "KEEPFIT_ON_ERROR": "skip"}).json
    same((told["stages"], told["method"]), (7, "saga"), "options of the environment")
    assert box.exists("e.kf")


def case_config_sets_options_of_the_command_line_too(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.write("c.conf", "json = true\r\nmodel = c.kf\r\ntrace-stages = 3\r\ntrace = c.csv\r\n")
    box.run("train", "--config", "c.conf", "data.svm").json
    assert box.exists("c.kf") and len(box.trace("c.csv")) <= 3


@over((("no equals sign", b"lambda 1\n", ":1:1:"), ("unknown key", b"# x\nfoo = 1\n", ":2:1:"),
       ("bad value", b"lambda = x\n", "lambda"), ("key of another command", b"rows = 1\n", ":1:1:")))
def case_bad_config(box, case):
    _, content, place = case
    box.write("data.svm", libsvm(numbers(30)))
    box.write("c.conf", content)
    box.try_run("train", "--config", "c.conf", "data.svm").refused(2, place).silent()


@over(("a missing file", "a directory"))
def case_unreadable_config(box, kind):
    box.write("data.svm", libsvm(numbers(30)))
    path = "." if kind == "a directory" else "none.conf"
    box.try_run("train", "--config", path, "data.svm").refused(2, path + ":").silent()


def case_bad_environment(box):
    box.write("data.svm", libsvm(numbers(30)))
    box.try_run("train", "data.svm", env={"KEEPFIT_LAMBDA": "x"}).refused(2, "lambda").silent()


@over(("KEEPFIT_VERSION", "KEEPFIT_HELP", "KEEPFIT_FOO"))
def case_environment_that_sets_nothing(box, name):
    """--help and --version are questions, not settings: a variable of that name is somebody else's."""
    box.write("data.svm", libsvm(numbers(30)))
    told = box.run("train", "--json", "data.svm", env={name: "1.2.3"}).json
    same(told["stages"], 30, "stages")


def case_skipped_rows_are_counted(box):
    good = libsvm(numbers(20)).split("\n")
    bad = good[:5] + ["1 1:nan", "x 1:1"] + good[5:12] + ["1 0:1"] + good[12:]
    box.write("good.svm", "\n".join(good))
    box.write("bad.svm", "\n".join(bad))
    box.run("train", "-m", "good.kf", "good.svm")
    result = box.run("train", "--json", "--on-error", "skip", "-m", "bad.kf", "bad.svm")
    same((result.json["skipped"], result.json["stages"]), (3, 20), "skipped and stages")
    result.check("bad.svm" in result.error and "3" in result.error, "expected a warning with the number")
    same(box.read("bad.kf"), box.read("good.kf"), "model without the bad rows")


def case_skipped_third_class_is_counted(box):
    box.write("data.svm", "1 1:1\n-1 1:-1\n3 1:1\n1 1:2\n")
    told = box.run("train", "--json", "--loss", "logistic", "--on-error", "skip", "data.svm").json
    same((told["skipped"], told["stages"], told["classes"]), (1, 3, 2), "skipped, stages and classes")


def case_everything_skipped(box):
    box.write("data.svm", "x 1:1\ny 1:1\n")
    box.try_run("train", "--on-error", "skip", "-m", "m.kf", "data.svm").refused(3, "data.svm: ").silent()
    assert not box.exists("m.kf")


def case_limit_and_shuffle(box):
    box.write("data.svm", libsvm(numbers(50)))
    same(box.run("train", "--json", "--limit", "7", "data.svm").json["stages"], 7, "stages")
    same(box.run("train", "--json", "--limit", "700", "data.svm").json["stages"], 50, "stages")
    models = []
    for k, seed in enumerate(("1", "1", "2")):
        box.run("train", "--shuffle", "--limit", "10", "--seed", seed, "-m", "%d.kf" % k, "data.svm")
        models.append(box.read("%d.kf" % k))
    assert models[0] == models[1] != models[2], "the permutation is drawn from the seed"
    box.run("train", "--limit", "10", "-m", "first.kf", "data.svm")
    assert box.read("first.kf") != models[0], "the limit counts after the shuffle"


def case_scaling_warning(box):
    rows = [([v[0], 1e6 * v[1]], b) for v, b in numbers(40, 2)]
    box.write("data.svm", libsvm(rows))
    result = box.run("train", "data.svm")
    result.check("keepfit: warning: data.svm: feature 2" in result.error, "expected a warning about the scale")
    box.run("train", "-q", "data.svm").check(True, "").silent()


@over(METHODS)
def case_same_seed_same_bits(box, method):
    box.generate("data.svm", "--rows", "80", "--features", "6", "--seed", "3")
    runs = []
    for k, more in enumerate(([], [], ["--threads", "2"], ["--seed", "8"])):
        box.run("train", "--method", method, "--seed", "7", *more, "-m", "%d.kf" % k, "--trace", "%d.csv" % k,
                "--trace-stages", "all", "data.svm", code=(0, 5))
        runs.append((box.read("%d.kf" % k), without_seconds(box.trace("%d.csv" % k))))
    assert runs[0] == runs[1], "the same seed gives another model or trace"
    assert runs[0] == runs[2], "two threads give another model or trace"
    if method in ("csvrg", "sgd", "sgd-sparse", "svrg", "lsvrg", "saga", "sarah", "katyusha", "strsaga", "dynasaga"):
        assert runs[0][0] != runs[3][0], "the seed has no effect"


@over([(method + ", " + loss, method, loss) for method in METHODS for loss in LOSSES
       if method != "exact" or loss == "squared"])
def case_every_domain(box, case):
    _, method, loss = case
    box.generate("data.svm", "--rows", "30", "--features", "4", "--loss", loss)
    for domain in DOMAINS:
        result = box.run("train", "--json", "--method", method, "--loss", loss, "--domain", domain, "-m", "m.kf",
                         "data.svm", code=(0, 5))
        objective = result.json["objective"]
        result.check(isinstance(objective, (int, float)) and math.isfinite(objective), "the objective is not finite")
        x = box.weights("m.kf")["weights"]
        inside = {"none": True, "ball:1": sum(v * v for v in x) <= 1 + 1e-9,
                  "box:-1:1": all(-1 <= v <= 1 for v in x),
                  "simplex": all(v >= 0 for v in x) and near(sum(x), 1, 1e-9)}[domain]
        result.check(inside, "the model is not in %s: %s" % (domain, x))


@over(("bias", "intercept", "lambda-total", "weights"))
def case_variants_of_the_objective(box, what):
    """Against the closed form for one feature."""
    rows = numbers(30, 1, seed=5)
    weight = [1 + k % 3 for k in range(30)] if what == "weights" else [1] * 30
    box.write("data.csv", "x,y,w\n" + "".join("%r,%r,%d\n" % (r[0], b + 2, w) for (r, b), w in zip(rows, weight)))
    words = {"bias": ["--bias", "1"], "intercept": ["--intercept"], "lambda-total": ["--lambda-total", "3"],
             "weights": []}[what] + ([] if what == "lambda-total" else ["--lambda", "0.1"])
    box.run("train", *words, "--epsilon", "1e-13", "--weight-column", "w", "--target", "y", "-m", "m.kf", "data.csv")
    model = box.weights("m.kf")
    total = sum(weight)
    xx = sum(w * r[0] ** 2 for (r, _), w in zip(rows, weight)) / total
    x1 = sum(w * r[0] for (r, _), w in zip(rows, weight)) / total
    xb = sum(w * r[0] * (b + 2) for (r, b), w in zip(rows, weight)) / total
    b1 = sum(w * (b + 2) for (_, b), w in zip(rows, weight)) / total
    penalty = 3 / total if what == "lambda-total" else 0.1
    if what in ("bias", "intercept"):
        corner = 1 + (penalty if what == "bias" else 0)
        det = (xx + penalty) * corner - x1 * x1
        expected = ((xb * corner - x1 * b1) / det, ((xx + penalty) * b1 - x1 * xb) / det)
    else:
        expected = (xb / (xx + penalty), 0)
    found = (model["weights"][0], model["intercepts"][0])
    assert near(found[0], expected[0], 1e-6) and near(found[1], expected[1], 1e-6), (found, expected)


@over([(loss + ", " + order, loss, order) for loss in LOSSES for order in ("iid", "sorted")])
def case_intercept_only_helps(box, case):
    """An intercept adds freedom, so the least objective cannot rise; epsilon is held for both."""
    _, loss, order = case
    box.generate("data.svm", "--rows", "60", "--features", "4", "--loss", loss, "--order", order)
    with_it, without = [box.run("train", "--json", "--loss", loss, *more, "data.svm", code=(0, 5))
                        for more in (["--intercept"], [])]
    with_it.check(with_it.json["objective"] <= without.json["objective"] + 0.001,
                  "the objective is %g without the intercept" % without.json["objective"])


# ---- following a pipe ----


def wait_for(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def end(process, seconds=30):
    """Waits for the end; standard output and standard error."""
    try:
        return process.communicate(timeout=seconds)
    except Exception:
        process.kill()
        process.communicate()
        raise


def case_save_every_follows_a_pipe(box):
    lines = libsvm(numbers(12)).encode().splitlines(True)
    process = box.start("train", "--model", "m.kf", "--save-every", "5", "-")
    try:
        for count, stages in ((5, 5), (10, 10)):
            process.stdin.write(b"".join(lines[count - 5:count]))
            process.stdin.flush()
            wait_for(lambda: box.exists("m.kf") and box.weights("m.kf")["stages"] == stages,
                     "the model of stage %d is not written while the pipe is open" % stages)
            assert process.poll() is None
        process.stdin.write(b"".join(lines[10:]))
    finally:
        end(process)
    same(process.returncode, 0, "exit")
    same(box.weights("m.kf")["stages"], 12, "stages in the end")
    same(sorted(box.contents()), ["m.kf"], "files")


class Feeder(threading.Thread):
    """Writes lines for ever, until the reader is gone."""

    def __init__(self, process, pause):
        super().__init__(daemon=True)
        self.process, self.pause, self.written = process, pause, 0

    def run(self):
        lines = libsvm(numbers(50)).encode().splitlines(True)
        try:
            while True:
                self.process.stdin.write(lines[self.written % 50])
                self.process.stdin.flush()
                self.written += 1
                time.sleep(self.pause)
        except (BrokenPipeError, ValueError):
            pass


@over((("SIGTERM", 15, 143, "busy"), ("SIGINT", 2, 130, "busy"), ("SIGTERM, quick lines", 15, 143, "quick"),
       ("SIGTERM, json", 15, 143, "json"), ("SIGTERM, idle pipe", 15, 143, "idle"), ("SIGHUP", 1, 129, "busy"),
       ("SIGINT, idle pipe", 2, 130, "idle")))
def case_signal(box, case):
    _, number, code, kind = case
    words = ["--json"] if kind == "json" else []
    process = box.start("train", *words, "-m", "m.kf", "--trace", "t.csv", "--save-every", "3", "-")
    try:
        if kind == "idle":
            process.stdin.write(libsvm(numbers(4)).encode())
            process.stdin.flush()
        else:
            Feeder(process, 0 if kind == "quick" else 0.005).start()
        wait_for(lambda: box.exists("m.kf"), "no model yet")
        time.sleep(0.1)
        process.send_signal(number)
        try:
            process.wait(5)
        except Exception:
            raise AssertionError("the process did not end within 5 s of the signal") from None
        out, err = process.stdout.read().decode(), process.stderr.read().decode()
    finally:
        process.kill()
        try:
            process.stdin.close()
        except (OSError, ValueError):
            pass
        process.wait()
        process.stdout.close()
        process.stderr.close()
    same(process.returncode, code, "exit (stderr %r)" % err)
    stages = box.weights("m.kf")["stages"]
    if kind == "json":
        same(json.loads(out)["stages"], stages, "stages of summary and model")
    else:
        assert "quadratic: %d stages" % stages in out, "no summary for %d stages: %r" % (stages, out)
    same(int(box.trace("t.csv")[-1]["stage"]), stages, "stages of trace and model")
    same(sorted(box.contents()), ["m.kf", "t.csv"], "files")
    assert out and (kind != "idle" or stages == 4)


@over((("SIGTERM", 15, 143), ("SIGINT", 2, 130)))
def case_signal_before_the_first_point(box, case):
    _, number, code = case
    process = box.start("train", "-m", "m.kf", "-")
    time.sleep(0.5)
    process.send_signal(number)
    try:
        process.wait(5)
    except Exception:
        process.kill()
        process.communicate()
        raise AssertionError("the process did not end within 5 s of the signal") from None
    end(process)
    same(process.returncode, code, "exit")
    same(box.contents(), {}, "files")


def case_trace_head_is_the_contract(box):
    box.write("data.svm", libsvm(numbers(5)))
    box.run("train", "--trace", "t.csv", "data.svm")
    same(box.read("t.csv").split(b"\n")[0].decode(), TRACE_HEAD, "first line")
    assert os.stat(box.at("t.csv")).st_mode & 0o777 == 0o644
