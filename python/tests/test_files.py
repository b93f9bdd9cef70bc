"""What lasts: pickles that go on bit for bit, the command's model files, journals."""
import copy
import os
import pickle
import subprocess

import numpy as np
import pytest
import scipy.sparse
from conftest import cloud
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import keepfit
from keepfit import CorruptFileError, KeepfitClassifier, KeepfitRegressor

COMMAND = os.environ.get("KEEPFIT_COMMAND")
journals = pytest.mark.skipif("journal" not in keepfit.OPTIONS, reason="this library has no journals")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", [KeepfitRegressor(), KeepfitRegressor(method="csvrg", fit_intercept=False), KeepfitRegressor("huber"),
                                   KeepfitClassifier(bias=2.0), KeepfitClassifier("softmax", method="table", bias=1.0),
                                   KeepfitClassifier("hinge", window=150), KeepfitRegressor(lam_total=0.5, trace=True)],
                         ids=lambda model: repr(model)[7:].replace("\n", ""))
def test_a_pickle_goes_on_bit_for_bit(model, sparse):
    X, y = cloud("numbers" if isinstance(model, KeepfitRegressor) else 2)
    X[np.abs(X) < 0.5] = 0
    X = scipy.sparse.csr_matrix(X) if sparse else X
    model.fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200]).forget([180, 199])
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(again.coef_, model.coef_) and repr(again.report_) == repr(model.report_)
        other = copy.deepcopy(model)
        for one in (again, other):
            one.partial_fit(X[200:300], y[200:300]).forget([190])
            list(one.stages(X[300:310], y[300:310]))
        assert np.array_equal(again.coef_, other.coef_) and again.n_gradients_ == other.n_gradients_
        assert again.trace_[-1:] == [] or again.trace_[-1].points == other.trace_[-1].points


def test_named_classes_survive_a_pickle():
    X, y = cloud(3)
    names = np.array(["c", "a", "b"])[y]
    model = KeepfitClassifier().partial_fit(X[y < 2], names[y < 2])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[y == 2], names[y == 2])
    assert list(again.classes_) == ["a", "b", "c"] and again.score(X, names) > 0.6
    assert pickle.loads(pickle.dumps(KeepfitClassifier(lam=2.0))).lam == 2.0


@pytest.mark.parametrize("kind, target", [("numbers", "numbers"), (2, 2), (3, 3)])
def test_files_are_the_commands(tmp_path, kind, target):
    X, y = cloud(kind)
    X, y = X.round(3), y.round(3)
    model = (KeepfitRegressor() if kind == "numbers" else KeepfitClassifier()).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = keepfit.load(tmp_path / "model.kf")
    assert np.array_equal(again.coef_, model.coef_) and np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(again)).predict(X), model.predict(X))
    for call in (lambda: again.partial_fit(X, y), lambda: again.forget([0]), lambda: again.measure()):
        with pytest.raises(ValueError, match="no points"):
            call()
    assert not hasattr(again, "gap_bound_")
    assert again.fit(X, y).n_points_ == len(y)
    if COMMAND:
        dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
        told = subprocess.run([COMMAND, "predict", tmp_path / "model.kf", tmp_path / "rows.svm"], capture_output=True, check=True)
        first = [float(line.split()[0]) for line in told.stdout.decode().splitlines()]
        assert np.allclose(first, model.predict(X), rtol=1e-12, atol=1e-12)
        subprocess.run([COMMAND, "train", "--quiet", "--loss", again._kept.loss, "--intercept", "--model", tmp_path / "theirs.kf",
                        tmp_path / "rows.svm"], check=True, capture_output=True)
        assert keepfit.load(tmp_path / "theirs.kf").score(X, y) == pytest.approx(model.score(X, y), abs=0.02)


@pytest.mark.skipif(not COMMAND, reason="KEEPFIT_COMMAND is not set")
def test_a_network_is_not_taken_for_a_linear_model(tmp_path):
    X, y = cloud(3, rows=50)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
    done = subprocess.run([COMMAND, "train", "--quiet", "--loss", "network:4", "--method", "sgd", "--step", "0.01", "--model",
                           tmp_path / "network.kf", tmp_path / "rows.svm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with pytest.raises(ValueError, match="network"):
        keepfit.load(tmp_path / "network.kf")
    network = keepfit.Model.load(tmp_path / "network.kf")
    scores = np.maximum(0, X @ network.hidden_weights + network.hidden_intercepts) @ network.weights + network.intercepts
    told = subprocess.run([COMMAND, "predict", tmp_path / "network.kf", tmp_path / "rows.svm"], capture_output=True, check=True)
    assert np.array_equal(network.labels[scores.argmax(axis=1)], np.array(told.stdout.decode().split(), float))


@pytest.mark.skipif(not COMMAND, reason="KEEPFIT_COMMAND is not set")
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber", "logcosh", "hinge", "squared-hinge", "softmax"])
def test_the_command_and_a_fit_leave_the_same_bytes(tmp_path, loss, form):
    X, y = cloud(4 if loss == "softmax" else 2 if loss in ("logistic", "hinge", "squared-hinge") else "numbers", rows=100, features=24)
    y = np.asarray(y, float)
    fit = keepfit.Fit(loss=loss, lam=1e-3, epsilon=1e-4)
    if form == "sparse":
        dump_svmlight_file(X, y, str(tmp_path / "rows"), zero_based=False, multilabel=False)
        X, y = load_svmlight_file(str(tmp_path / "rows"))
    else:
        np.savetxt(tmp_path / "rows", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
        np.save(tmp_path / "rows.npy", X)
        np.save(tmp_path / "targets.npy", y)
        fit.name(X.shape[1])  # which a table says
    for k in range(len(y)):
        fit.extend(X[k:k + 1], y[k:k + 1])
    fit.model().save(tmp_path / "ours.kf")
    words = [COMMAND, "train", "--quiet", "--loss", loss, "--lambda", "1e-3", "--epsilon", "1e-4", "--model", tmp_path / "theirs.kf"]
    data = ["--format", "libsvm", tmp_path / "rows"] if form == "sparse" else ["--targets", tmp_path / "targets.npy", tmp_path / "rows.npy"]
    subprocess.run(words + data, check=True, capture_output=True)
    same = (tmp_path / "ours.kf").read_bytes() == (tmp_path / "theirs.kf").read_bytes()
    assert same
    if form == "dense":  # where the target stands among the columns is in the file besides
        subprocess.run(words + ["--format", "csv", tmp_path / "rows"], check=True, capture_output=True)
        ours, theirs = (keepfit.Model.load(tmp_path / name) for name in ("ours.kf", "theirs.kf"))
        assert np.array_equal(ours.weights, theirs.weights) and np.array_equal(ours.intercepts, theirs.intercepts)
        assert (ours.fo, ours.stages, ours.n_features) == (theirs.fo, theirs.stages, theirs.n_features)


def test_damaged_and_impossible_files(tmp_path):
    X, y = cloud(2)
    model = KeepfitClassifier().fit(X, y)
    path = tmp_path / "model.kf"
    model.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match="model.kf"):
        keepfit.load(path)
    with pytest.raises(OSError):
        keepfit.load(tmp_path / "missing")
    with pytest.raises(OSError):
        model.save(tmp_path / "missing" / "model.kf")
    state = model._kept.fit.__getstate__()
    state["snapshot"] = state["snapshot"][:-9]
    with pytest.raises(CorruptFileError):
        keepfit.Fit.__new__(keepfit.Fit).__setstate__(state)


@journals
def test_a_journal_goes_on_where_it_was_left(tmp_path):
    X, y = cloud(2)
    unbroken = KeepfitClassifier(bias=1.0)
    for k in range(100):
        unbroken.partial_fit(X[k:k + 1], y[k:k + 1])
    for start in (0, 30, 60):
        model = KeepfitClassifier(bias=1.0, journal=str(tmp_path / "journal"))
        for k in range(start, start + 30 if start < 60 else 100):
            model.partial_fit(X[k:k + 1], y[k:k + 1])
        del model
    model = KeepfitClassifier(bias=1.0, journal=str(tmp_path / "journal")).resume()
    assert model.n_points_ == 100 and np.array_equal(model.coef_, unbroken.coef_)
    assert np.array_equal(model.predict(X), unbroken.predict(X))
    with pytest.raises(TypeError, match="journal"):
        pickle.dumps(model)
    assert model.classes_.dtype == unbroken.classes_.dtype
    del model
    with pytest.raises(ValueError, match="classes that are numbers"):
        KeepfitClassifier(bias=1.0, journal=str(tmp_path / "journal")).partial_fit(X, np.array(["a", "b"])[y])


@journals
def test_an_empty_journal_is_resumed_by_the_first_row(tmp_path):
    X, y = cloud("numbers")
    for expected in (0, 200):
        model = KeepfitRegressor(journal=tmp_path / "journal").resume()
        assert getattr(model, "n_points_", 0) == expected
        model.partial_fit(X[:200], y[:200])
        del model
    with pytest.raises(ValueError, match="7 features.*have 8"):
        KeepfitRegressor(journal=tmp_path / "journal").partial_fit(X[:, :7], y)
    assert KeepfitRegressor(journal=tmp_path / "journal").resume().n_points_ == 400


@journals
def test_fit_wants_an_empty_journal(tmp_path):
    X, y = cloud("numbers")
    model = KeepfitRegressor(journal=str(tmp_path / "journal")).fit(X, y)
    assert model.n_points_ == len(y)
    del model
    with pytest.raises(ValueError, match="already"):
        KeepfitRegressor(journal=str(tmp_path / "journal")).fit(X, y)


def test_without_journals_in_the_library_a_journal_is_an_error(tmp_path):
    if "journal" in keepfit.OPTIONS:
        pytest.skip("this library has journals")
    X, y = cloud("numbers")
    with pytest.raises(ValueError, match="journal"):
        KeepfitRegressor(journal=str(tmp_path)).fit(X, y)


@journals
def test_a_journal_gives_its_model_while_it_is_being_written(tmp_path):
    X, y = cloud(2)
    model = KeepfitClassifier(bias=1.0, journal=str(tmp_path / "journal")).partial_fit(X[:200], y[:200])
    loaded = keepfit.load(tmp_path / "journal")
    assert np.array_equal(loaded.coef_, model.coef_) and np.array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(OSError, match="no journal"):
        keepfit.load(tmp_path)


@journals
@pytest.mark.skipif(not COMMAND, reason="KEEPFIT_COMMAND is not set")
def test_a_journal_of_scaled_rows_takes_none_from_here(tmp_path):
    """The command scaled its rows, and nobody would scale these."""
    X, y = cloud("numbers")
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
    subprocess.run([COMMAND, "train", "--quiet", "--intercept", "--scale", "rows", "--journal", tmp_path / "journal", tmp_path / "rows.svm"],
                   check=True, capture_output=True)
    with pytest.raises(ValueError, match="scaled"):
        KeepfitRegressor(journal=tmp_path / "journal").partial_fit(X, y)


def test_weights_of_zero_are_meant():
    X, y = cloud("numbers")
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    some = KeepfitRegressor(epsilon=1e-9).fit(X, y, sample_weight=weight)
    assert np.allclose(some.coef_, KeepfitRegressor(epsilon=1e-9).fit(X[weight > 0], y[weight > 0]).coef_, atol=1e-3)
    assert some.n_points_ == len(X)
    again = pickle.loads(pickle.dumps(some))
    assert np.array_equal(again.partial_fit(X[:5], y[:5], sample_weight=np.zeros(5)).coef_, again.coef_)
