"""--loss network:H: what it does and what it refuses."""

import json

from harness import over, same


def stream(box):
    return box.generate("data.svm", "--loss", "network:4", "--rows", "80", "--features", "5", "--seed", "3")


@over(("exact", "refit", "quadratic", "table"))
def case_methods_that_prove_are_refused(box, method):
    box.try_run("train", "--loss", "network:4", "--method", method, stream(box)).refused(2, "--method " + method)


@over((("--gap",), ("--setting", "theory", "--domain", "ball:1"), ("--intercept",)))
def case_what_needs_convexity_is_refused(box, words):
    for command in ("train", "compare"):
        box.try_run(command, "--loss", "network:4", *words, stream(box)).refused(2, words[0])


@over(("network", "network:", "network:0", "network:100001", "network:1.5", "network:4x", "network4"))
def case_wrong_sizes_are_refused(box, loss):
    box.try_run("train", "--loss", loss, stream(box)).refused(2, "--loss: '%s'" % loss, "network:H")


def case_auto_is_csvrg(box):
    result = json.loads(box.run("train", "--loss", "network:4", "--json", stream(box)).text)
    same((result["method"], result["chosen"], result["loss"]), ("auto", "csvrg", "network:4"), "the method")
    assert "convex" in result["reason"], result["reason"]
    same([result[name] for name in ("bound", "worst_bound", "optimum", "gap")], [None] * 4, "nothing is proved")


def case_compare_compares_objectives(box):
    result = box.run("compare", "--loss", "network:4", "--methods", "csvrg,sgd,svrg", "--runs", "1", "--out", "report",
                     stream(box))
    assert "objective" in result.text and "failed" not in result.text, result.text
    rows = box.trace("report/trace.csv")
    assert rows and all(row["gap"] == "" and float(row["objective"]) > 0 for row in rows), rows[:2]


def case_inspect_tells_both_layers(box):
    box.run("train", "--loss", "network:4", "-m", "m.kf", stream(box))
    model = json.loads(box.run("inspect", "--json", "--weights", "m.kf").text)
    same((model["loss"], model["hidden"], model["outputs"]), ("network", 4, 3), "sizes")
    same([len(model[name]) for name in ("hidden_weights", "hidden_intercepts", "weights", "intercepts")], [20, 4, 12, 3],
         "numbers")
    assert "4 units" in box.run("inspect", "m.kf").text


@over((1, 2, 3))
def case_threads_do_not_matter(box, threads):
    """The bits of the model are the same for any number of threads."""
    words = ("train", "--loss", "network:60", "--method", "svrg", "--outer", "1", "--inner", "5", "--limit", "60")
    box.run(*words, "--threads", "1", "-m", "one.kf", stream(box))
    box.run(*words, "--threads", str(threads), "-m", "some.kf", stream(box))
    same(box.read("one.kf"), box.read("some.kf"), "models")
