"""What epsilon means, what a stage may spend, and points that leave."""
from harness import libsvm, near, numbers, over, same, two_classes


@over(("quadratic", "table", "refit", "auto"))
def case_kinds_of_epsilon(box, method):
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    words = ["train", "--json", "--loss", "logistic", "--lambda", "0.01", "--gap", "--method", method, "data.svm"]
    for kind, target in (("absolute", lambda told: 0.01), ("stat", lambda told: 0.01 / told["points"]),
                         ("relative", lambda told: 0.01 * told["objective"])):
        told = box.run(*words, "--epsilon", "0.01", "--epsilon-kind", kind).json
        same((told["epsilon_kind"], told["missed"]), (kind, 0), "kind and missed stages")
        assert told["gap"] <= told["bound"] + 1e-12 and told["bound"] <= told["target"]
        assert near(told["target"], target(told), 0.03), (kind, told["target"], target(told))


@over(("quadratic", "table", "refit"))
def case_stage_budget(box, method):
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    words = ("--loss", "logistic", "--lambda", "0.001", "--epsilon", "1e-6", "--method", method)
    result = box.try_run("train", "--json", *words, "--stage-budget", "5", "--trace", "t.csv", "--trace-stages", "1000",
                         "--gap", "data.svm")
    result.check(result.code == 5 and "not reached" in result.error, "expected exit 5 and a reason")
    rows = box.trace("t.csv")
    spent = [int(b["fo"]) - int(a["fo"]) for a, b in zip(rows, rows[1:])]
    assert max(spent) <= 6, spent
    assert all(float(r["bound"]) >= float(r["gap"]) - 1e-12 for r in rows if r["bound"])


@over(("logistic", "softmax"))
def case_stage_budget_without_a_proof(box, loss):
    """With a free intercept and few gradients nothing is proved, and that is said: no stage is called missed, none is passed over."""
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    words = ("train", "--json", "--loss", loss, "--intercept", "--epsilon", "1e-6")
    result = box.try_run(*words, "--stage-budget", "3", "data.svm")
    result.check(result.code == 5 and "not proved" in result.error, "expected exit 5 and a reason")
    told = result.json
    assert told["missed"] == 0 and told["unproved"] > told["waiting"], told
    same(told["proved"] + told["unproved"], told["stages"], "stages that are counted")
    whole = box.run(*words, "data.svm").json
    same((whole["missed"], whole["unproved"] - whole["waiting"]), (0, 0), "missed and unproved stages without a limit")


@over(("auto", "quadratic", "refit"))
def case_flat_latency(box, method):
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    words = ("--loss", "logistic", "--lambda", "0.001", "--epsilon", "1e-6", "--method", method)
    result = box.try_run("train", "--json", *words, "--max-stage-work", "5", "--trace", "t.csv", "--trace-stages", "1000", "--gap", "data.svm")
    result.check(result.code in (0, 5), "expected exit 0 or 5")
    rows = box.trace("t.csv")
    for before, row in zip(rows, rows[1:]):
        mean = max(1, int(before["fo"]) / int(before["stage"]))
        assert int(row["fo"]) - int(before["fo"]) <= 5 * mean, (before, row)
    assert all(float(r["bound"]) >= float(r["gap"]) - 1e-12 for r in rows if r["bound"])
    missed = sum(float(r["bound"]) > 1e-6 for r in rows if r["bound"])
    same((result.code == 5, result.json["missed"]), (missed > 0, missed), "exit code and missed stages")


def case_flat_latency_refused(box):
    box.write("data.svm", libsvm(numbers(5)))
    box.try_run("train", "--max-stage-work", "2", "data.svm").refused(2, "--max-stage-work").silent()


@over(("auto", "table", "csvrg", "exact"))
def case_window(box, method):
    rows = numbers(40)
    box.write("data.svm", libsvm(rows))
    box.write("tail.svm", libsvm(rows[-7:]))
    words = ("--lambda", "0.1", "--epsilon", "1e-9", "--gap", "--json")
    told = box.try_run("train", *words, "--method", method, "--window", "7", "data.svm").json
    alone = box.run("train", *words, "tail.svm").json
    same((told["stages"], told["points"]), (40, 7), "stages and points")
    assert near(told["optimum"], alone["optimum"], 1e-9), (told["optimum"], alone["optimum"])


def case_window_refused(box):
    box.write("data.svm", libsvm(numbers(5)))
    box.try_run("train", "--window", "0", "data.svm").refused(2, "--window").silent()


@over(("squared", "logistic"))
def case_times_beside_an_intercept(box, loss):
    """Unix times are held and proved as if they had been centred by hand, and predictions are in their units."""
    rows = numbers(80) if loss == "squared" else two_classes((1, 2), rows=80, noise=0.2)
    hand = [([round(20 * row[0], 3)] + row[1:], target) for row, target in rows]
    times = [([1.7e9 + row[0]] + row[1:], target) for row, target in hand]
    hand = [([row[0] - 1.7e9] + row[1:], target) for row, target in times]
    words = ("train", "--json", "--gap", "--loss", loss, "--intercept", "--epsilon", "1e-6")
    told, found = {}, {}
    for name, data in (("times", times), ("hand", hand)):
        box.write(name + ".svm", libsvm(data))
        result = box.run(*words, "--model", name + ".kf", name + ".svm")
        result.check("times larger" not in result.error, "expected no warning of a column's scale")
        told[name] = result.json
        lines = box.run("predict", "--output", "margin" if loss == "logistic" else "value", name + ".kf", name + ".svm").text
        found[name] = [float(line) for line in lines.split("\n")[:-1]]
    same(told["times"]["missed"], 0, "missed stages")
    same(told["times"]["unproved"], told["hand"]["unproved"], "stages without a proof")
    assert told["times"]["gap"] <= told["times"]["bound"] <= 1e-6, told["times"]
    assert told["times"]["fo"] <= 3 * told["hand"]["fo"], (told["times"]["fo"], told["hand"]["fo"])
    assert near(told["times"]["optimum"], told["hand"]["optimum"], 1e-9), told
    assert max(abs(a - b) for a, b in zip(found["times"], found["hand"])) < 1e-2, "predictions"
