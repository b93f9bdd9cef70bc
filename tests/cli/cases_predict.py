"""predict: values, scores, labels, scaling."""

import csv
import io
import math

from harness import all_near, dot, libsvm, near, numbers, over, same, two_classes

PAIRS = ((1, 2), (2, 4), (0, 1), (-1, 1), (-3.5, 1e10))


def predictions(box, *words):
    return [float(line) for line in box.run("predict", *words).text.split("\n")[:-1]]


def table(box, *words):
    """What predict prints in columns with names, each as numbers."""
    rows = list(csv.reader(io.StringIO(box.run("predict", *words).text)))
    return {name: [float(row[k]) for row in rows[1:]] for k, name in enumerate(rows[0])}


def score_of(result):
    words = result.error.split()
    return dict(zip(words[::2], map(float, words[1::2])))


@over(("squared", "huber"))
def case_regression(box, loss):
    rows = numbers()
    box.write("data.svm", libsvm(rows))
    box.run("train", "--loss", loss, "--intercept", "-m", "m.kf", "data.svm")
    model = box.weights("m.kf")
    expected = [dot(model["vectors"][0], row) + model["intercepts"][0] for row, _ in rows]
    found = predictions(box, "m.kf", "data.svm")
    assert all_near(found, expected, 1e-12), "values"
    for output in ("margin", "scores"):
        same(predictions(box, "--output", output, "m.kf", "data.svm"), found, output)
    result = box.run("predict", "--score", "m.kf", "data.svm")
    rmse = math.sqrt(sum((p - b) ** 2 for p, (_, b) in zip(expected, rows)) / len(rows))
    assert near(score_of(result)["rmse"], rmse, 1e-12) and score_of(result)["rows"] == len(rows), result.error
    box.try_run("predict", "--output", "probability", "m.kf", "data.svm").refused(2, "--output").silent()


@over([("%s, %s first, %s" % (pair[order], pair[order], loss) + " of %g and %g" % pair, pair, order, loss)
       for pair in PAIRS for order in (0, 1) for loss in ("logistic", "hinge", "squared-hinge", "softmax")])
def case_labels_come_back(box, case):
    """In whichever order the labels appear first, the predictions are the labels of the data."""
    _, pair, order, loss = case
    labels = pair if order == 0 else (pair[1], pair[0])
    rows = two_classes(labels)
    box.write("data.svm", libsvm(rows))
    box.run("train", "--loss", loss, "-m", "m.kf", "data.svm")
    same(predictions(box, "m.kf", "data.svm"), [float(b) for _, b in rows], "labels")
    model = box.weights("m.kf")
    if loss != "softmax":
        same(model["labels"], sorted(float(label) for label in pair), "labels of the model")
        margins = predictions(box, "--output", "margin", "m.kf", "data.svm")
        expected = [dot(model["vectors"][0], row) for row, _ in rows]
        assert all_near(margins, expected, 1e-12), "margins"
        assert all((m > 0) == (b == max(pair)) for m, (_, b) in zip(margins, rows)), "the sign of the margins"
    score = score_of(box.run("predict", "--score", "m.kf", "data.svm"))
    same((score["accuracy"], score["rows"]), (1.0, len(rows)), "accuracy")
    same("log-loss" in score, "hinge" not in loss, "log-loss where there are probabilities")


@over(PAIRS)
def case_order_of_labels_does_not_matter(box, pair):
    """The optimum does not depend on which class came first."""
    found = []
    for k in (0, 1):
        rows = two_classes(pair, noise=0.2)
        if k:
            rows.reverse()
        box.write("data.svm", libsvm(rows))
        box.run("train", "--loss", "logistic", "--epsilon", "1e-12", "--lambda", "0.01", "-m", "m.kf", "data.svm")
        found.append(box.weights("m.kf")["vectors"][0])
    assert all_near(found[0], found[1], 1e-5), found


def case_binary_score(box):
    rows = two_classes((1, 2), 60, noise=0.2)
    box.write("data.svm", libsvm(rows))
    box.run("train", "--loss", "logistic", "--bias", "1", "-m", "m.kf", "data.svm")
    model = box.weights("m.kf")
    z = [dot(model["vectors"][0], row) + model["intercepts"][0] for row, _ in rows]
    chance = [1 / (1 + math.exp(-v)) for v in z]
    right = sum((v > 0) == (b == 2) for v, (_, b) in zip(z, rows)) / len(rows)
    log_loss = -sum(math.log(p if b == 2 else 1 - p) for p, (_, b) in zip(chance, rows)) / len(rows)
    result = box.run("predict", "--score", "m.kf", "data.svm")
    score = score_of(result)
    assert 0.5 < right < 1 and near(score["accuracy"], right) and near(score["log-loss"], log_loss), result.error
    shown = table(box, "--output", "probability", "m.kf", "data.svm")
    same(list(shown), ["probability_1", "probability_2"], "columns")
    assert all_near(shown["probability_2"], chance, 1e-12), "the probability of the second class"
    assert all_near(shown["probability_1"], [1 - p for p in chance], 1e-9), "the probability of the first class"
    for name in ("1", "2", "2.0"):
        same(predictions(box, "--class", name, "m.kf", "data.svm"), shown["probability_%g" % float(name)], "--class " + name)
    box.try_run("predict", "--class", "3", "m.kf", "data.svm").refused(2, "'3'", "1, 2").silent()
    box.try_run("predict", "--class", "1", "--output", "label", "m.kf", "data.svm").refused(2, "--class").silent()


def case_softmax_score(box):
    box.generate("data.svm", "--rows", "80", "--features", "4", "--loss", "softmax", "--classes", "4", "--noise", "0.2")
    rows = []
    for line in box.read("data.svm").decode().splitlines():
        words = line.split()
        rows.append(([float(word.split(":")[1]) for word in words[1:]], float(words[0])))
    box.run("train", "--loss", "softmax", "--bias", "1", "-m", "m.kf", "data.svm")
    model = box.weights("m.kf")
    same(sorted(model["labels"]), [1, 2, 3, 4], "labels")
    scores = [[dot(x, row) + b for x, b in zip(model["vectors"], model["intercepts"])] for row, _ in rows]
    best = [model["labels"][z.index(max(z))] for z in scores]
    chance = [[math.exp(v) / sum(map(math.exp, z)) for v in z] for z in scores]
    own = [p[model["labels"].index(b)] for p, (_, b) in zip(chance, rows)]
    result = box.run("predict", "--score", "m.kf", "data.svm")
    same([float(line) for line in result.text.split()], best, "labels")
    score = score_of(result)
    assert near(score["accuracy"], sum(p == b for p, (_, b) in zip(best, rows)) / len(rows)), result.error
    assert near(score["log-loss"], -sum(map(math.log, own)) / len(rows)), result.error
    shown = table(box, "--output", "label,probability,scores,margin", "m.kf", "data.svm")
    names = ["%g" % label for label in model["labels"]]
    same(list(shown), ["label"] + ["probability_" + n for n in names] + ["score_" + n for n in names] + ["margin"], "columns")
    same(shown["label"], best, "labels in a column")
    for k, name in enumerate(names):
        assert all_near(shown["probability_" + name], [p[k] for p in chance], 1e-12), "probabilities"
        assert all_near(shown["score_" + name], [z[k] for z in scores], 1e-9), "scores"
    assert all_near(shown["margin"], [max(z) for z in scores], 1e-9), "margins"


def case_label_unknown_to_the_model(box):
    box.write("data.svm", libsvm(two_classes((1, 2))))
    box.write("other.svm", "7 1:1\n")
    box.run("train", "--loss", "logistic", "-m", "m.kf", "data.svm")
    result = box.run("predict", "--score", "m.kf", "other.svm")
    assert "other.svm: 1 row has a class that the model does not have" in result.error, result.error
    result = box.run("predict", "--score", "--quiet", "m.kf", "other.svm")
    score = score_of(result)
    assert score["accuracy"] == 0 and score["log-loss"] > 100 and math.isfinite(score["log-loss"]), result.error


@over(("logistic", "hinge", "softmax"))
def case_one_class_only(box, loss):
    box.write("data.svm", "5 1:1\n5 1:2\n")
    box.run("train", "--loss", loss, "-m", "m.kf", "data.svm")
    same(predictions(box, "m.kf", "data.svm"), [5, 5], "labels")


def case_feature_beyond_the_model(box):
    """A feature that the model does not have makes a row a bad one, unless it is told to leave such out."""
    box.write("data.svm", libsvm(numbers(20, 2)))
    box.write("wide.svm", "0 1:1 2:1\n0 1:1 2:1 3:9 900:7\n0 900:1\n0\n")
    box.run("train", "-m", "m.kf", "data.svm")
    result = box.try_run("predict", "m.kf", "wide.svm").refused(3, "wide.svm:2: ", "900", "--extra-features")
    same(len(result.out.splitlines()), 1, "predictions before it")
    found = predictions(box, "--extra-features", "ignore", "m.kf", "wide.svm")
    assert found[0] == found[1] != 0 and found[2:] == [0, 0], found
    skipped = predictions(box, "-q", "--on-error", "skip", "m.kf", "wide.svm")
    assert skipped[0] == found[0] and math.isnan(skipped[1]) and math.isnan(skipped[2]) and skipped[3] == 0, skipped


def scaled(rows, kind):
    """The scaling by its definition."""
    columns = list(zip(*[row for row, _ in rows]))
    made = []
    for row, target in rows:
        if kind == "columns":
            new = [v / math.sqrt(dot(c, c)) for v, c in zip(row, columns)]
        elif kind == "minmax":
            new = [2 * (v - min(c)) / (max(c) - min(c)) - 1 for v, c in zip(row, columns)]
        elif kind == "rows":
            new = [v / math.sqrt(dot(row, row)) for v in row]
        else:
            new = row
        made.append((new, target))
    return made


def as_csv(rows):
    return "".join(",".join(repr(v) for v in row) + ",%r\n" % target for row, target in rows)


@over([("%s, %s, %s" % (kind, loss, extra), kind, loss, extra) for kind in ("none", "columns", "rows", "minmax")
       for loss in ("squared", "logistic", "softmax") for extra in ("plain", "intercept")])
def case_scaled_model_predicts_raw_rows(box, case):
    """A model trained with --scale gives raw rows what one trained on scaled rows gives these."""
    _, kind, loss, extra = case
    rows = [([10 * v[0] + 3, v[1], -0.1 * v[2]], b if loss == "squared" else 1 + (b > 0)) for v, b in numbers(40)]
    box.write("raw.csv", as_csv(rows))
    box.write("scaled.csv", as_csv(scaled(rows, kind)))
    words = ["--loss", loss, "--lambda", "0.01", "--epsilon", "1e-12"] + (["--intercept"] if extra == "intercept" else [])
    box.run("train", *words, "--scale", kind, "-m", "raw.kf", "raw.csv", code=(0, 5))
    box.run("train", *words, "-m", "scaled.kf", "scaled.csv", code=(0, 5))
    # softmax does not tell by how much all scores are shifted together
    words = ["--class", "1"] if loss == "softmax" else ["--output", "margin"]
    expected = predictions(box, *words, "scaled.kf", "scaled.csv")
    found = predictions(box, *words, "raw.kf", "raw.csv")
    tolerance = 1e-4 if loss == "softmax" else 1e-5
    assert all_near(found, expected, tolerance), list(zip(found, expected))[:5]
    for given in ("none", kind):  # the model has the scaling built in: predict's own is not applied again
        same(predictions(box, "--scale", given, *words, "raw.kf", "raw.csv"), found, "--scale " + given)
    same(box.weights("raw.kf")["scale"], kind, "scale that the model names")


def case_rows_one_by_one(box):
    """A row's prediction does not depend on the rows around it, nor on the format it comes in."""
    rows = numbers(20)
    box.write("data.svm", libsvm(rows))
    box.write("data.csv", as_csv(rows))
    box.run("train", "-m", "m.kf", "data.svm")
    whole = box.run("predict", "m.kf", "data.svm").out
    single = b"".join(box.run("predict", "m.kf", "-", stdin=libsvm([row])).out for row in rows)
    same(single, whole, "rows alone")
    same(box.run("predict", "m.kf", "data.csv").out, whole, "rows from CSV")
    same(box.run("predict", "--limit", "3", "m.kf", "data.svm").out, b"".join(whole.splitlines(True)[:3]), "three rows")


def case_shuffled_rows(box):
    """Each row once, in an order that the seed draws: the one in which train would see them."""
    box.write("data.svm", libsvm(numbers(20)))
    box.run("train", "-m", "m.kf", "data.svm")
    plain = box.run("predict", "m.kf", "data.svm").text.splitlines()
    orders = []
    for seed in ("1", "2"):
        words = ("--shuffle", "--seed", seed, "data.svm")
        box.run("train", "-q", "--journal", "order-" + seed, *words)
        box.run("export", "order-" + seed, "order-" + seed + ".svm")
        orders.append(box.run("predict", "--threads", "2", "m.kf", *words).text.splitlines())
        same(sorted(orders[-1]), sorted(plain), "predictions")
        same(orders[-1], box.run("predict", "m.kf", "order-" + seed + ".svm").text.splitlines(), "order")
    assert orders[0] != orders[1] and plain not in orders, "a seed draws no order of its own"


def case_no_line_is_missing_from_shuffled_rows(box):
    """A row that is skipped would leave no line."""
    box.write("data.svm", libsvm(numbers(20)))
    box.run("train", "-m", "m.kf", "data.svm")
    box.write("bad.svm", libsvm(numbers(3)) + "1 1:x\n")
    box.try_run("predict", "--shuffle", "--on-error", "skip", "m.kf", "bad.svm").refused(2, "--shuffle", "--on-error").silent()


def case_skips_bad_rows_if_told(box):
    box.write("data.svm", libsvm(numbers(5)) + "1 1:nan\n")
    box.run("train", "--on-error", "skip", "-m", "m.kf", "data.svm")
    result = box.run("predict", "--on-error", "skip", "m.kf", "data.svm")
    lines = result.text.splitlines()
    same((len(lines), lines[5], "nan" in lines[:5]), (6, "nan", False), "lines")
    same(result.error, "keepfit: warning: data.svm: 1 bad rows were skipped\n", "warning")
    same(box.run("predict", "-q", "--on-error", "skip", "m.kf", "data.svm").err, b"", "warning with --quiet")


def case_without_targets(box):
    rows = numbers(10)
    box.write("data.csv", as_csv(rows))
    box.write("bare.csv", "".join(",".join(repr(v) for v in row) + "\n" for row, _ in rows))
    box.run("train", "-m", "m.kf", "data.csv")
    same(predictions(box, "--target", "none", "m.kf", "bare.csv"), predictions(box, "m.kf", "data.csv"), "values")


@over((("missing", "none.kf"), ("directory", ".")))
def case_no_model(box, case):
    box.write("data.svm", libsvm(numbers(5)))
    for words in (("predict", case[1], "data.svm"), ("inspect", case[1])):
        box.try_run(*words).refused(1, case[1] + ": ").silent()


def case_data_is_not_a_model(box):
    box.write("data.svm", libsvm(numbers(5)))
    for words in (("predict", "data.svm", "data.svm"), ("inspect", "data.svm")):
        box.try_run(*words).refused(4, "data.svm: ").silent()
