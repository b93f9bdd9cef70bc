"""Names of features and classes: in files, in journals, and in what predicts without rows."""
import csv
import os
import pickle
import subprocess

import numpy as np
import pytest
import scipy.sparse
from conftest import cloud

import keepfit
from keepfit import KeepfitClassifier, KeepfitRegressor, Predictor

pandas = pytest.importorskip("pandas")
COMMAND = os.environ.get("KEEPFIT_COMMAND")
command = pytest.mark.skipif(not COMMAND, reason="KEEPFIT_COMMAND is not set")
COLUMNS = ["amount", "hour", "näme", "a,b", "e", "f", "g", "h"]


def named(classes):
    """A frame, and classes with names."""
    X, y = cloud(classes)
    return pandas.DataFrame(X.round(4), columns=COLUMNS), pandas.Series(np.array(["ok", "fraud", "who knows"])[y], name="verdict")


def run(*words, **more):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=True, **more).stdout


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_named_classes_come_back_from_a_file(tmp_path, classes, loss):
    X, y = named(classes)
    model = KeepfitClassifier(loss).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = keepfit.load(tmp_path / "model.kf")
    assert list(again.classes_) == sorted(set(y)) and list(again.feature_names_in_) == COLUMNS
    assert np.array_equal(again.predict(X), model.predict(X)) and np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert keepfit.Model.load(tmp_path / "model.kf").target == "verdict"


@pytest.mark.parametrize("labels", [[3, 7], [-1.0, 1.0], [False, True], [2**60, 2**60 + 1], ["x", ""], ["1", "2"]])
def test_labels_of_any_sort_come_back(tmp_path, labels):
    X, y = cloud(2)
    model = KeepfitClassifier().fit(X, np.array(labels)[y])
    model.save(tmp_path / "model.kf")
    for again in (keepfit.load(tmp_path / "model.kf"), Predictor.load(tmp_path / "model.kf")):
        wanted = [type(again.classes_.tolist()[0])(label) for label in sorted(labels)]
        assert again.classes_.tolist() == wanted and type(wanted[0]) in (int, str)
        found = [wanted.index(label) for label in again.predict(X).tolist()]
        assert found == [sorted(labels).index(label) for label in model.predict(X).tolist()]


def test_a_predictor_predicts_as_the_estimator_without_rows(tmp_path):
    for classes in (2, 3):
        X, y = named(classes)
        for model in (KeepfitClassifier().fit(X, y), KeepfitClassifier("softmax").fit(X, y)):
            predictor = model.predictor()
            assert np.array_equal(predictor.predict(X), model.predict(X))
            assert np.allclose(predictor.predict_proba(X), model.predict_proba(X), rtol=1e-14, atol=0)
            assert np.allclose(predictor.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)
            assert list(predictor.classes_) == list(model.classes_) and list(predictor.feature_names_in_) == COLUMNS
            content = pickle.dumps(predictor)
            assert len(content) < 1000 + 20 * X.shape[1] * classes < len(pickle.dumps(model))
            assert np.array_equal(pickle.loads(content).predict(X), model.predict(X))
            assert np.array_equal(predictor.predict(scipy.sparse.csr_matrix(X)), model.predict(X))
    hinge = KeepfitClassifier("hinge").fit(*cloud(2)).predictor()
    with pytest.raises(ValueError, match="no probabilities"):
        hinge.predict_proba(cloud(2)[0])
    X, y = cloud("numbers")
    numbers = KeepfitRegressor().fit(X, y)
    predictor = pickle.loads(pickle.dumps(numbers.predictor()))
    assert np.array_equal(predictor.predict(X), numbers.predict(X)) and not hasattr(predictor, "classes_")
    with pytest.raises(ValueError, match="no classes"):
        predictor.predict_proba(X)


def test_a_predictor_finds_columns_by_name(tmp_path):
    X, y = named(2)
    predictor = KeepfitClassifier().fit(X, y).predictor()
    wanted = predictor.predict(X)
    assert np.array_equal(predictor.predict(X[COLUMNS[::-1]]), wanted)
    with pytest.raises(ValueError, match="missing 'hour'"):
        predictor.predict(X.drop(columns="hour"))
    with pytest.raises(ValueError, match="not known 'verdict'"):
        predictor.predict(X.assign(verdict=1))
    with pytest.raises(ValueError, match="8 features"):
        predictor.predict(X.to_numpy()[:, :7])
    with pytest.raises(ValueError, match="not finite"):
        predictor.predict(np.full((1, 8), np.nan))


def test_a_journal_keeps_names(tmp_path):
    X, y = named(3)
    path = tmp_path / "journal"
    first = KeepfitClassifier("softmax", journal=path).partial_fit(X[:100], y[:100])
    numbers = dict(first._kept.fit.schema().classes)
    del first
    second = KeepfitClassifier("softmax", journal=path).partial_fit(X[100:200][::-1], y[100:200][::-1])
    assert second._kept.fit.schema().classes == numbers and second.n_points_ == 200
    coefficients = second.coef_
    del second
    third = KeepfitClassifier("softmax", journal=path).resume()
    assert list(third.classes_) == sorted(set(y)) and list(third.feature_names_in_) == COLUMNS
    assert np.array_equal(third.coef_, coefficients) and third.score(X, y) > 0.6
    del third
    with pytest.raises(ValueError, match="classes that are texts"):
        KeepfitClassifier("softmax", journal=path).partial_fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="called 'other'"):
        KeepfitClassifier("softmax", journal=path).partial_fit(X.rename(columns={"hour": "other"}), y)


def test_names_survive_a_third_class_and_a_pickle():
    X, y = named(3)
    few = (y != "who knows").to_numpy()
    model = KeepfitClassifier().partial_fit(X[few], y[few])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[~few], y[~few])
    assert list(again.predictor().classes_) == sorted(set(y))
    assert np.array_equal(again.predictor().predict(X), again.predict(X))


@command
def test_the_command_reads_names_and_writes_them(tmp_path):
    X, y = named(3)
    X.assign(verdict=y).to_csv(tmp_path / "rows.csv", index=False)
    X[COLUMNS[::-1]].to_csv(tmp_path / "bare.csv", index=False)
    model = KeepfitClassifier("softmax").fit(X, y)
    model.save(tmp_path / "ours.kf")
    for rows in ("rows.csv", "bare.csv"):
        assert run("predict", tmp_path / "ours.kf", tmp_path / rows).splitlines() == model.predict(X).tolist()
    run("train", "-q", "--loss", "softmax", "--intercept", "-m", tmp_path / "theirs.kf", "--journal", tmp_path / "theirs", "--target",
        "verdict", tmp_path / "rows.csv")
    predictor, kept = Predictor.load(tmp_path / "theirs.kf"), Predictor.load(tmp_path / "theirs")
    assert kept.to_bytes() == predictor.to_bytes() and keepfit.load(tmp_path / "theirs").predict(X).tolist() == kept.predict(X).tolist()
    assert list(predictor.feature_names_in_) == COLUMNS and list(predictor.classes_) == sorted(set(y))
    told = run("predict", tmp_path / "theirs.kf", tmp_path / "rows.csv", "--output", "label,probability")
    rows = list(csv.DictReader(told.splitlines()))
    assert [row["label"] for row in rows] == predictor.predict(X).tolist()
    chance = [[float(row["probability_" + name]) for name in predictor.classes_] for row in rows]
    assert np.allclose(chance, predictor.predict_proba(X), rtol=1e-9, atol=1e-12)
    resumed = KeepfitClassifier("softmax", journal=tmp_path / "theirs").resume()
    assert np.array_equal(resumed.predict(X), predictor.predict(X)) and resumed.partial_fit(X[:5], y[:5]).n_points_ == 405


@command
def test_a_predictor_of_scaled_rows_and_of_a_network(tmp_path):
    X, y = named(3)
    X.assign(verdict=y).to_csv(tmp_path / "rows.csv", index=False)
    for words in (("--loss", "softmax", "--scale", "rows"), ("--loss", "network:4", "--method", "sgd", "--step", "0.05"),
                  ("--loss", "softmax", "--scale", "columns")):
        run("train", "-q", "--target", "verdict", "-m", tmp_path / "model.kf", *words, tmp_path / "rows.csv")
        told = run("predict", tmp_path / "model.kf", tmp_path / "rows.csv").splitlines()
        predictor = pickle.loads(pickle.dumps(Predictor.load(tmp_path / "model.kf")))
        assert predictor.predict(X).tolist() == told
        assert predictor.predict(scipy.sparse.csr_matrix(X)).tolist() == told
        if "columns" not in words:
            with pytest.raises(ValueError, match="Predictor"):
                keepfit.load(tmp_path / "model.kf")


@pytest.mark.parametrize("name", ["1-squared", "1-logistic", "1-softmax", "2-network"])
def test_older_files_are_read(name):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "models")
    if not os.path.isdir(folder):
        pytest.skip("the tree's tests are not here")
    rows = {"1-squared": "numbers", "1-logistic": "two"}.get(name, "three")
    X = np.loadtxt(os.path.join(folder, rows + ".csv"), delimiter=",", skiprows=1)[:, :3]
    told = np.loadtxt(os.path.join(folder, name + ".txt"))
    assert np.allclose(Predictor.load(os.path.join(folder, name + ".kf")).predict(X), told, rtol=1e-12)
