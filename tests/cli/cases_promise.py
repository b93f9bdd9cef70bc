"""What a stage promises and what came of it: counters, exit codes, and what is said where nothing is proved."""
from harness import libsvm, numbers, over, same, two_classes

SCALES = (1e-8, 1e-4, 1e3, 1e8)


def unscaled(rows, classes):
    """Columns from 1e-8 to 1e8, as CSV with a header."""
    drawn = numbers(rows, features=4, seed=6)
    lines = ["a,b,c,d,y"]
    for row, target in drawn:
        label = "%.17g" % target if classes == 0 else str(int(abs(target) * 10) % classes)
        lines.append(",".join(["%.17g" % (value * scale) for value, scale in zip(row, SCALES)] + [label]))
    return "\n".join(lines) + "\n"


def counted(told):
    return told["proved"] + told["missed"] + told["unproved"]


NOTHING = {"lambda 0": (("--lambda", "0"), "lambda is 0"),
           "lambda 0 and a method": (("--lambda", "0", "--method", "csvrg"), "lambda is 0"),
           "network": (("--loss", "network:2"), "not convex"),
           "no promise": (("--method", "svrg", "--epsilon", "1e-3"), "promises nothing"),
           "estimates": (("--guarantee", "estimate"), "estimates")}


@over(tuple(NOTHING))
def case_nothing_is_proved(box, name):
    """It is said once on standard error and in both summaries, and with --quiet not at all."""
    words, reason = NOTHING[name]
    words = ("train", "--loss", "logistic") + words + ("data.svm",)
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    result = box.run(*words)
    said = [line for line in result.error.splitlines() if "nothing is proved: " in line and reason in line]
    same(len(said), 1, "warnings")
    assert any(line.startswith("  unproved ") and reason in line for line in result.text.splitlines()), result.text
    told = box.run(*words, "--json").json
    assert reason in told["no_proof"] and told["proved"] == 0, told
    same(box.run(*words, "--quiet").error, "", "what is said with --quiet")


@over(("sgd", "auto"))
def case_no_warning_where_none_is_due(box, method):
    """A method that promises nothing and was asked for nothing, and one that proves."""
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    same(box.run("train", "--loss", "logistic", "--method", method, "data.svm").error, "", "standard error")


def case_no_bound_with_both_classes(box):
    """table proves nothing of a free intercept: it was neither missed nor in the exit code."""
    box.write("data.svm", libsvm(two_classes((1, 2), noise=0.2)))
    result = box.try_run("train", "--json", "--loss", "logistic", "--intercept", "--method", "table", "data.svm")
    result.check(result.code == 5 and "not proved" in result.error, "expected exit 5 and a reason")
    same((result.json["proved"], result.json["missed"], result.json["unproved"]), (0, 0, 40), "stages")


def case_waiting_for_a_class(box):
    """Before the second class comes there is no optimum: unproved, but no failure."""
    rows = sorted(two_classes((1, 2), noise=0.2), key=lambda one: one[1])
    box.write("data.svm", libsvm(rows))
    told = box.run("train", "--json", "--loss", "logistic", "--intercept", "data.svm").json
    assert told["unproved"] == told["waiting"] >= 5 and told["missed"] == 0, told
    same(counted(told), 40, "stages that are counted")
    assert "before each class had points" in box.run("train", "--loss", "logistic", "--intercept", "data.svm").text


@over((1, 2))
def case_weight_0_leaves_a_window(box, window):
    """A segmentation fault in exact."""
    box.write("data.csv", "x1,y,w\n1,2,0\n2,3,1\n1,2,2\n")
    told = box.run("train", "--json", "--loss", "squared", "--window", str(window), "--weight-column", "w", "data.csv").json
    same((told["stages"], told["missed"]), (3, 0), "stages and missed ones")


def case_singular_row_with_a_journal(box):
    """One row 1e8,3e8: 'not positive definite', and the journal could not go on."""
    box.write("one.csv", "a,b,y\n1e8,3e8,1\n")
    box.write("more.csv", "a,b,y\n1e8,3e8,1\n1,2,3\n2,-1,1\n")
    box.run("train", "--loss", "squared", "--journal", "history", "one.csv")
    told = box.run("train", "--json", "--loss", "squared", "--journal", "history", "more.csv", code=(0, 5)).json
    same((told["stages"], told["resumed"]), (3, 1), "stages and those of the journal")


@over(("softmax", "logistic"))
def case_unscaled_columns(box, loss):
    """19 s for 70 rows in the simplex, and 10 points a second with table: now stages end with what they have, and that is said once."""
    box.write("data.csv", unscaled(70, 3 if loss == "softmax" else 2))
    method = ("--domain", "simplex") if loss == "softmax" else ("--method", "table", "--lambda", "1e-6")
    words = ("train", "--loss", loss) + method + ("data.csv",)
    result = box.try_run(*words)
    result.check(result.code == 5, "expected exit 5")
    same(result.error.count("was given up"), 1, "warnings")
    told = box.try_run(*words, "--json").json
    same(counted(told), 70, "stages that are counted")
    assert 0 < told["given_up"] <= told["missed"] + told["unproved"], told
    assert told["fo"] < 2e5 if loss == "softmax" else told["fo"] < 2e7, told["fo"]
