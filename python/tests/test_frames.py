"""Frames with columns of many types: the same models as the command makes of the same tables as CSV files."""
import os
import pickle
import subprocess
import threading

import numpy as np
import pytest
from conftest import cloud
from sklearn.linear_model import Ridge

import keepfit
from keepfit import KeepfitClassifier, KeepfitRegressor, Predictor

pandas = pytest.importorskip("pandas")
COMMAND = os.environ.get("KEEPFIT_COMMAND")
command = pytest.mark.skipif(not COMMAND, reason="KEEPFIT_COMMAND is not set")


def events(rows=240, seed=0):
    """An event log: times, categories, blanks, truth values, texts, and a name for each row."""
    random = np.random.default_rng(seed)
    start = pandas.Timestamp("2024-02-27 21:30:00")
    frame = pandas.DataFrame({
        "event_id": ["e%06d" % (k + rows * seed) for k in range(rows)],
        "ts": start + pandas.to_timedelta(random.integers(1, 5000, rows).cumsum(), unit="s"),
        "merchant": pandas.Categorical(["m, %d" % min(k, 40) for k in random.pareto(0.7, rows).astype(int)]),
        "country": random.choice(["DE", 'the "US"', None, "Österreich"], rows),
        "amount": np.where(random.random(rows) < 0.1, np.nan, random.normal(size=rows)),
        "is_new": random.random(rows) < 0.5,
        "n_prev": random.integers(0, 6, rows),
        "note": random.choice(["Paid late, again", "refund asked for", None, "no hint at all"], rows)})
    score = frame.amount.fillna(1) + (frame.country == "DE") + frame.is_new + 0.3 * random.normal(size=rows)
    return frame, pandas.Series(np.where(score > 1, "ok", "fraud"), name="label")


def sales(rows=150):
    """Numbers as targets; nullable types, times with zones, objects of many kinds."""
    random = np.random.default_rng(5)
    when = pandas.date_range("2023-12-30", periods=rows, freq="7h", tz="Europe/Berlin")
    mixed = random.choice(np.array([1, 2.5, None, 7], object), rows)
    frame = pandas.DataFrame({"when": when, "rooms": pandas.array(random.choice([1, 2, None], rows), "Int64"), "mixed": mixed,
                              "town": pandas.array(random.choice(["Ulm", "Kiel"], rows), "string"),
                              "open": pandas.array(random.choice([True, False, None], rows), "boolean")})
    return frame, pandas.Series(random.normal(size=rows) + (frame.town == "Ulm").to_numpy(float), name="price")


def visits(rows=200):
    """Many categories, most of them late, and no time; the index is not 0, 1, 2."""
    random = np.random.default_rng(7)
    page = ["p%d" % min(int(k), 90) for k in random.pareto(0.5, rows)]
    frame = pandas.DataFrame({"page": page, "hits": random.choice([np.nan, 1, 2.5], rows), "bot": random.choice(["yes", "no"], rows)},
                             index=np.arange(rows) * 3 + 5)
    return frame, pandas.Series(np.where([p == "p0" for p in page], "stays", "goes"), index=frame.index, name="class")


def run(*words, **more):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=True, **more)


CASES = [(events, {}, []), (events, {"type": {"note": "text:2"}, "cross": ["country*is_new"], "ignore": ["merchant"]},
                            ["--type", "note=text:2", "--cross", "country*is_new", "--ignore", "merchant"]),
         (events, {"hash": 5, "missing": "zero"}, ["--hash", "5", "--missing", "zero"]),
         (sales, {}, []), (sales, {"columns": ["town", "rooms"]}, ["--columns", "town,rooms"]), (visits, {}, [])]


@command
@pytest.mark.parametrize("table, options, words", CASES)
def test_the_same_model_as_the_command_of_the_same_table(tmp_path, table, options, words):
    X, y = table()
    X.assign(**{y.name: y}).to_csv(tmp_path / "rows.csv", index=False)
    kind = KeepfitRegressor if y.dtype == float else KeepfitClassifier
    model = kind(epsilon=1e-9, lam=1e-2, options=options)
    for _ in model.stages(X, y):
        pass
    loss = "squared" if kind is KeepfitRegressor else "logistic"
    run("train", "--loss", loss, "--target", y.name, "--intercept", "--epsilon", "1e-9", "--lambda", "0.01", *words, "--model",
        tmp_path / "command.kf", tmp_path / "rows.csv")
    theirs = keepfit.Model.load(tmp_path / "command.kf")
    assert list(model.get_feature_names_out()) == theirs.feature_names and theirs.types
    assert model._kept.model.types == theirs.types
    assert np.array_equal(model._kept.model.weights, theirs.weights)
    assert np.array_equal(model._kept.model.intercepts, theirs.intercepts)


@command
def test_models_are_the_same_on_both_sides(tmp_path):
    X, y = events()
    later, _ = events(seed=1)
    later = later[later.columns[::-1]]
    later.to_csv(tmp_path / "later.csv", index=False)
    model = KeepfitClassifier().fit(X, y)
    model.save(tmp_path / "model.kf")
    printed = [float(line) for line in run("predict", "--class", "ok", tmp_path / "model.kf", tmp_path / "later.csv").stdout.split()]
    for reader in (model, keepfit.load(tmp_path / "model.kf"), Predictor.load(tmp_path / "model.kf"), model.predictor()):
        assert np.allclose(reader.predict_proba(later)[:, list(reader.classes_).index("ok")], printed, rtol=0, atol=1e-14)
        # the target beside the features is not looked at by what knows it as such
        assert np.array_equal(reader.predict_proba(later.assign(label="?")), reader.predict_proba(later))


def test_types_are_those_of_the_frame():
    X, y = events()
    model = KeepfitClassifier().fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns) and model.n_features_in_ == 8
    names = list(model.get_feature_names_out())
    assert names[:3] == ["amount", "is_new", "n_prev"] and "merchant=m, 0" in names and "country=NA" in names and "amount=NA" in names
    assert any(name.startswith("ts=age since 2024-02-2") for name in names) and not any(name.startswith("event_id") for name in names)
    assert model.coef_.shape == (1, len(names))
    assert list(KeepfitRegressor().fit(X[["amount", "n_prev"]].fillna(0), y == "ok").get_feature_names_out()) == ["amount", "n_prev"]
    numbers = pandas.DataFrame({"code": pandas.Categorical([3, 1, 3, 1])})
    assert list(KeepfitRegressor().fit(numbers, [1, 2, 3, 4]).get_feature_names_out()) == ["code=3", "code=1"]


def test_blocks_come_to_what_all_rows_at_once_come_to():
    X, y = events()
    whole = KeepfitClassifier(epsilon=1e-10).fit(X, y)
    parts = KeepfitClassifier(epsilon=1e-10)
    for at in range(0, len(X), 60):
        parts.partial_fit(X[at:at + 60], y[at:at + 60])
        assert parts.gap_bound_ <= 1e-10
    assert list(parts.get_feature_names_out()) == list(whole.get_feature_names_out())  # in the order in which they come
    assert np.abs(parts.coef_ - whole.coef_).max() < 1e-3
    assert abs(parts.measure(optimum=True).optimum - whole.measure(optimum=True).optimum) < 1e-12


def test_what_is_not_known_counts_as_nothing():
    X, y = events()
    model = KeepfitClassifier().fit(X, y)
    strange = X.assign(country="Atlantis", merchant="nobody", note="")
    names, rows = list(model.get_feature_names_out()), model._tabled(strange, False, False)
    assert not [name for k, name in enumerate(names) if rows[:, k].nnz and name.startswith(("country", "merchant"))]
    before = model.coef_.shape
    model.partial_fit(strange, y)
    assert model.coef_.shape[1] == before[1] + 2 + ("note=NA" not in names)


def test_what_is_wrong_is_refused_by_name_and_leaves_nothing():
    X, y = events()
    model = KeepfitClassifier(epsilon=1e-6).fit(X, y)
    names, coefficients = list(model.get_feature_names_out()), model.coef_.copy()
    wrong = X.assign(amount=X.amount.astype(object), country="new land")
    wrong.loc[17, "amount"] = "a lot"
    with pytest.raises(ValueError, match="row 17: column 'amount': 'a lot' is not a number"):
        model.partial_fit(wrong, y)
    with pytest.raises(ValueError, match="row 3: column 'amount': 'inf'"):
        model.predict(X.assign(amount=[np.inf if k == 3 else 0.0 for k in range(len(X))]))
    with pytest.raises(ValueError, match="missing 'country'"):
        model.predict(X.drop(columns="country"))
    with pytest.raises(ValueError, match="not known 'more'"):
        model.predict(X.assign(more=1))
    with pytest.raises(ValueError, match="no frame"):
        model.predict(np.zeros((2, 8)))
    with pytest.raises(ValueError, match="different names"):
        KeepfitClassifier().fit(pandas.concat([X, X], axis=1), y)
    with pytest.raises(ValueError, match="no frame"):
        KeepfitClassifier(options={"type": "a=time"}).fit(np.zeros((3, 2)), [0, 1, 0])
    with pytest.raises(ValueError, match="NUL"):
        model.predict(X.assign(note="a\0b"))
    assert list(model.get_feature_names_out()) == names and np.array_equal(model.coef_, coefficients)
    with pytest.raises(ValueError):  # the rows are good, a weight is not: what they name is given up, too
        model.partial_fit(X.assign(country="newer land"), y, sample_weight=np.full(len(X), -1.0))
    model.partial_fit(X, y)
    assert model.coef_.shape == (1, len(model.get_feature_names_out()))


def test_pickles_journals_and_third_classes_know_types(tmp_path):
    X, y = events()
    later, more = events(seed=2)
    model = KeepfitClassifier(epsilon=1e-6).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.partial_fit(later, more).coef_, model.partial_fit(later, more).coef_)

    first = KeepfitClassifier("softmax", epsilon=1e-6, journal=str(tmp_path / "journal")).partial_fit(X, y)
    coefficients, names = first.coef_, list(first.get_feature_names_out())
    del first
    second = KeepfitClassifier("softmax", epsilon=1e-6, journal=str(tmp_path / "journal"))
    second.partial_fit(later[later.columns[::-1]], more)
    assert list(second.get_feature_names_out())[:len(names)] == names and second.n_points_ == 480
    del second
    assert coefficients.shape == (1, len(names))

    three = KeepfitClassifier().fit(X, y).partial_fit(later, np.where(later.n_prev == 3, "who knows", more))
    assert list(three.classes_) == ["fraud", "ok", "who knows"] and three.coef_.shape == (3, len(three.get_feature_names_out()))
    assert three.n_points_ == 480 and len(three.predict(X)) == 240


def test_threads_predict_with_one_model():
    X, y = events()
    model = KeepfitClassifier().fit(X, y)
    wanted, found = model.predict_proba(X), []

    def predict():
        for _ in range(20):
            found.append(np.array_equal(model.predict_proba(X), wanted))

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


def test_several_outputs_are_as_many_regressions():
    X, y = cloud("numbers")
    Y = np.column_stack([y, -2 * y + X[:, 0], X[:, 1] ** 2])
    model, theirs = KeepfitRegressor(lam_total=3.0, epsilon=1e-12).fit(X, Y), Ridge(alpha=3.0).fit(X, Y)
    assert np.abs(model.coef_ - theirs.coef_).max() < 1e-9 and np.abs(model.intercept_ - theirs.intercept_).max() < 1e-9
    assert model.predict(X).shape == Y.shape and model.gap_bound_ <= model.gap_target_ == pytest.approx(1e-12)
    parts = KeepfitRegressor("huber", epsilon=1e-6, bias=1.0)
    single = [KeepfitRegressor("huber", epsilon=1e-6 / 3, bias=1.0) for _ in range(3)]
    for at in range(0, 400, 100):
        parts.partial_fit(X[at:at + 100], Y[at:at + 100])
        for k in range(3):
            single[k].partial_fit(X[at:at + 100], Y[at:at + 100, k])
    for model in [parts, *single]:
        model.forget([3, 50])
    assert np.array_equal(parts.coef_, [model.coef_ for model in single]) and parts.n_points_ == 398
    assert parts.gap_bound_ == pytest.approx(sum(model.gap_bound_ for model in single)) and parts.gap_bound_ <= 1e-6
    found = parts.measure(optimum=True)
    assert found.gap <= parts.gap_bound_ + 1e-15 and np.array_equal(pickle.loads(pickle.dumps(parts)).predict(X), parts.predict(X))
    with pytest.raises(ValueError, match="outputs"):
        parts.partial_fit(X, Y[:, :2])
    with pytest.raises(ValueError, match="one output"):
        parts.save("nowhere")
    with pytest.raises(ValueError, match="one output"):
        KeepfitRegressor(journal="nowhere").fit(X, Y)
    assert len(parts.models_) == 3 and np.array_equal(parts.models_[1].weights[:, 0], parts.coef_[1])


@pytest.mark.parametrize("kind, word, ours", [
    (KeepfitClassifier, "log_loss", "logistic"), (KeepfitClassifier, "squared_hinge", "squared-hinge"),
    (KeepfitRegressor, "squared_error", "squared"), (KeepfitClassifier, "multinomial", "softmax")])
def test_words_of_scikit_learn_for_losses(kind, word, ours):
    X, y = cloud(2 if kind is KeepfitClassifier else "numbers")
    assert np.array_equal(kind(word).fit(X, y).coef_, kind(ours).fit(X, y).coef_)
    if word == "log_loss":
        assert np.array_equal(kind(word).fit(X, y).predict_proba(X), kind(ours).fit(X, y).predict_proba(X))


@command
@pytest.mark.parametrize("words, parameters", [(["--half-life", "40"], {"half_life": 40}), (["--standardise"], {"standardise": True})])
def test_half_lives_and_standardising_are_the_commands(tmp_path, words, parameters):
    X, y = events()
    X.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    model = KeepfitClassifier(epsilon=1e-6, **parameters)
    for stage in model.stages(X, y):
        assert stage.waiting or stage.bound <= 1e-6
    run("train", "--target", "label", "--intercept", *words, "--epsilon", "1e-6", "--model", tmp_path / "m.kf", tmp_path / "rows.csv")
    assert np.array_equal(model._kept.model.weights, keepfit.Model.load(tmp_path / "m.kf").weights)
    assert not np.array_equal(model.coef_, KeepfitClassifier(epsilon=1e-6).fit(X, y).coef_)
