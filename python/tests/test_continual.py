"""What only a continual fit has: blocks, stages, points that leave, classes that come, budgets."""
import math
import pickle
import warnings

import numpy as np
import pytest
from conftest import cloud
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from keepfit import Fit, KeepfitClassifier, KeepfitRegressor, NotProvedWarning, Stage


def test_stages_are_partial_fits_row_by_row():
    X, y = cloud(2)
    weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
    rows, stages = KeepfitClassifier(epsilon=1e-4), KeepfitClassifier(epsilon=1e-4)
    for k in range(len(y)):
        rows.partial_fit(X[k:k + 1], y[k:k + 1], sample_weight=weight[k:k + 1])
    seen = list(stages.stages(X, y, weight))
    assert np.array_equal(rows.coef_, stages.coef_) and np.array_equal(rows.intercept_, stages.intercept_)
    assert [stage.stage for stage in seen] == list(range(1, len(y) + 1)) and isinstance(seen[0], Stage)
    assert seen[-1].bound == stages.gap_bound_ and seen[-1].fo == stages.n_gradients_
    blocks = list(KeepfitClassifier().stages(X, y, every=150))
    assert [stage.points for stage in blocks] == [150, 300, 400]


def test_a_progress_bar_changes_nothing(capsys):
    X, y = cloud("numbers", rows=40)
    quiet, bar = KeepfitRegressor(), KeepfitRegressor(verbose=1)
    list(quiet.stages(X, y)), list(bar.stages(X, y))
    assert np.array_equal(quiet.coef_, bar.coef_)
    out, err = capsys.readouterr()
    assert out == ""
    pytest.importorskip("tqdm")
    assert "40/40" in err


@pytest.mark.parametrize("kind, target", [(KeepfitRegressor, "numbers"), (KeepfitClassifier, 2), (KeepfitClassifier, 4)])
def test_forgotten_rows_were_never_there(kind, target):
    X, y = cloud(target)
    gone = np.r_[0, 5, 17:90, 399]
    model = kind(epsilon=1e-5, bias=1.0)
    model.partial_fit(X[:200], y[:200]).forget([17, 5]).partial_fit(X[200:], y[200:])
    model.forget(np.setdiff1d(gone, [5, 17]))
    left = np.setdiff1d(np.arange(len(y)), gone)
    fresh = kind(epsilon=1e-12, bias=1.0).fit(X[left], y[left])
    assert model.n_points_ == len(left)
    assert model.measure().objective - fresh.measure(optimum=True).optimum <= model.gap_bound_ <= 1e-5
    for bad in ([17], [400], [-1], [0]):
        with pytest.raises(IndexError, match="not present"):
            model.forget(bad)
    assert model.n_points_ == len(left)
    assert model.forget([]) is model


def test_rows_to_forget_are_named_by_number():
    X, y = cloud("numbers")
    model = KeepfitRegressor().fit(X, y)
    for bad in (y > 0, [True, False], [1.0], ["1"], [[1, 2]]):
        with pytest.raises(TypeError, match="whole numbers"):
            model.forget(bad)
    assert model.n_points_ == 400
    for k, good in enumerate((3, {4}, range(5, 6), np.array([6], np.uint8), (number for number in [7]))):
        assert model.forget(good).n_points_ == 399 - k


@pytest.mark.parametrize("window", [None, 25])
def test_rows_keep_their_numbers_when_the_third_class_comes(window):
    X, y = cloud(3, rows=60)
    first = np.flatnonzero(y < 2)[:30]
    order = np.r_[first, np.setdiff1d(np.arange(60), first)]
    X, y = X[order], y[order]
    model = KeepfitClassifier(bias=1.0, window=window).partial_fit(X[:30], y[:30])
    gone = [29, 27] if window else [0, 1, 5, 29]
    model.forget(gone)
    model.partial_fit(X[30:35], y[30:35]).partial_fit(X[35:], y[35:])
    assert len(model.classes_) == 3
    model = pickle.loads(pickle.dumps(model))
    left = np.setdiff1d(np.arange(60), gone)
    left = left if window is None else left[-window:]
    for number in (left[0], 36, left[3], 59):
        model.forget([number])
        left = left[left != number]
        with pytest.raises(IndexError, match="point %d " % number):
            model.forget([number])
    for number in (29, -1, 60):
        with pytest.raises(IndexError, match="point %d " % number):
            model.forget([number])
    rows, targets, _ = model._kept.fit.points()
    assert np.array_equal(rows.toarray()[:, -8:], X[left]) and np.array_equal(targets, y[left])


def test_a_window_fits_the_newest_rows():
    X, y = cloud("numbers")
    model = KeepfitRegressor(window=100, epsilon=1e-6)
    for k in range(0, 400, 40):
        model.partial_fit(X[k:k + 40], y[k:k + 40])
        newest = slice(max(0, k - 60), k + 40)
        alone = KeepfitRegressor(epsilon=1e-13).fit(X[newest], y[newest])
        assert model.n_points_ == len(y[newest])
        assert model.measure().objective - alone.measure().objective <= 1e-6


def test_classes_may_come_at_any_call():
    X, y = cloud(4)
    names = np.array(["plum", "apple", "fig", "pear"])[y]
    order = np.argsort(y, kind="stable")  # one class after the other
    model = KeepfitClassifier(epsilon=1e-5, bias=1.0, trace=True)
    for k, part in enumerate(np.split(order, np.flatnonzero(np.diff(y[order])) + 1)):
        model.partial_fit(X[part], names[part])
        assert len(model.classes_) == k + 1 and list(model.classes_) == sorted(model.classes_)
        assert set(model.predict(X)) <= set(model.classes_) and model.predict_proba(X).shape == (len(X), k + 1)
    fresh = KeepfitClassifier(epsilon=1e-12, bias=1.0).fit(X, names)
    assert list(model.classes_) == list(fresh.classes_) == ["apple", "fig", "pear", "plum"]
    assert model.measure().objective - fresh.measure(optimum=True).optimum <= model.gap_bound_ <= 1e-5
    assert np.abs(model.predict_proba(X) - fresh.predict_proba(X)).max() < 0.05
    assert len(model.trace_) == 4


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared-hinge"])
def test_refused_rows_bring_no_class(loss):
    X, y = cloud(2)
    bad = X[:5].copy()
    bad[2, 2] = np.nan
    for known in ([0], [0, 1]):
        rows = np.isin(y, known)
        model, calm = (KeepfitClassifier(loss).partial_fit(X[rows], y[rows]) for _ in range(2))
        with pytest.raises(ValueError, match="row 2" if len(known) == 1 or loss == "logistic" else "binary"):
            model.partial_fit(bad, np.full(5, 2))
        assert list(model.classes_) == known
        for each in (model, calm):
            each.partial_fit(X, y)
        assert np.array_equal(model.coef_, calm.coef_) and np.array_equal(model.gap_bound_, calm.gap_bound_, equal_nan=True)


@pytest.mark.parametrize("kind", [KeepfitRegressor, KeepfitClassifier])
def test_a_first_call_that_is_refused_fits_nothing(kind):
    X, y = cloud(2)
    model = kind()
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit(X * 1e200, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.partial_fit(X, y).n_points_ == len(y)


def test_numbers_between_classes_are_refused_at_every_call():
    X, y = cloud(2)
    model = KeepfitClassifier()
    for _ in range(2):
        with pytest.raises(ValueError, match="continuous"):
            model.partial_fit(X[:9], np.linspace(0, 1, 9))
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="told apart"):
        model.partial_fit(X, y + 2**60)
    assert list(model.classes_) == [0, 1]
    assert list(KeepfitClassifier().fit(X, y + 2**60).partial_fit(X, y).classes_) == [0, 1, 2**60, 2**60 + 1]


def test_parameters_stay_as_they_were_at_the_first_row():
    X, y = cloud(2)
    for name, value in (("epsilon", 1e-9), ("loss", "hinge"), ("options", {"max_stage_work": 3})):
        model = KeepfitClassifier().fit(X, y)
        model.set_params(**{name: value})
        for call in (lambda: model.partial_fit(X, y), lambda: model.forget([0])):
            with pytest.raises(ValueError, match="%s changed" % name):
                call()
        model.fit(X, y).partial_fit(X, y)
    model.set_params(class_weight={0: 1, 1: 2}, verbose=1).partial_fit(X, y)


def test_classes_that_are_told_beforehand():
    X, y = cloud(3)
    model = KeepfitClassifier(bias=1.0).partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert list(model.classes_) == [0, 1, 2] and model.predict_proba(X).shape == (len(X), 3)
    assert model.predict_proba(X)[:, 2].mean() < 0.2
    model.partial_fit(X[y == 2], y[y == 2])
    fresh = KeepfitClassifier(bias=1.0, epsilon=1e-12).fit(X, y)
    assert model.measure().objective - fresh.measure(optimum=True).optimum <= 1e-3
    binary = KeepfitClassifier(bias=1.0).partial_fit(X[:1], ["no"], classes=["no", "yes"])
    assert list(binary.classes_) == ["no", "yes"] and binary.predict(X[:1]) == ["no"]
    assert binary.decision_function(X).shape == (len(X),)


@pytest.mark.parametrize("names", [["b", "a"], [1, 0], [5.0, -2.0], [True, False]])
def test_two_classes_in_any_order(names):
    X, y = cloud(2)
    order = np.argsort(-y, kind="stable")
    labels = np.array(names)[y]
    model = KeepfitClassifier(epsilon=1e-9).partial_fit(X[order[:5]], labels[order[:5]]).partial_fit(X[order[5:]], labels[order[5:]])
    fresh = KeepfitClassifier(epsilon=1e-9).fit(X, labels)
    assert list(model.classes_) == sorted(names) and model.classes_.dtype == labels.dtype
    assert np.allclose(model.coef_, fresh.coef_, atol=1e-3)
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == model.classes_[1])
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))
    assert model.score(X, labels) > 0.7


def test_hinge_refuses_a_third_class_and_goes_on():
    X, y = cloud(3)
    model = KeepfitClassifier("hinge", bias=1.0).partial_fit(X[y < 2], y[y < 2])
    before = model.coef_
    with pytest.raises(ValueError, match="binary"):
        model.partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    model.partial_fit(X[y < 2], y[y < 2])
    assert not hasattr(model, "predict_proba")


def test_a_budget_that_is_too_small_warns():
    X, y = cloud(2)
    model = KeepfitClassifier(epsilon=1e-9, stage_budget=450, bias=1.0)
    with pytest.warns(ConvergenceWarning, match="asked for"):
        model.fit(X, y)
    assert model.gap_bound_ > model.gap_target_ == 1e-9 and model.report_.missed == 1
    assert model.gap_bound_ >= model.measure(optimum=True).gap
    with pytest.warns(ConvergenceWarning, match="nothing could be proved"):
        assert math.isnan(KeepfitClassifier(stage_budget=10).fit(X, y).gap_bound_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KeepfitClassifier(epsilon=1e-9, bias=1.0).fit(X, y)


@pytest.mark.parametrize("options, reason", [({"lam": 0.0}, "lambda is 0"), ({"guarantee": "estimate"}, "estimates"),
                                             ({"method": "svrg", "epsilon": 1e-2}, "promises nothing")])
def test_nothing_is_proved_and_a_warning_says_so_once(options, reason):
    X, y = cloud(2)
    model = KeepfitClassifier(fit_intercept=False, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    said = [str(one.message) for one in caught if issubclass(one.category, NotProvedWarning)]
    assert len(said) == 1 and reason in said[0] and model.report_.proved == 0
    with pytest.warns(NotProvedWarning, match=reason):
        Fit(**options)


def test_every_stage_is_counted_once():
    X, y = cloud(2)
    y = np.sort(y)  # the second class comes late
    model = KeepfitClassifier(method="table")
    with pytest.warns(NotProvedWarning, match="nothing could be proved"):
        for k in range(0, 400, 20):
            model.partial_fit(X[k:k + 20], y[k:k + 20])
    found = model.report_
    assert found.proved == found.missed == 0 and found.unproved == 20 and 0 < found.waiting < 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KeepfitClassifier()
        for k in range(0, 400, 20):
            model.partial_fit(X[k:k + 20], y[k:k + 20])
    found = model.report_
    assert found.unproved == found.waiting > 0 and found.proved == 20 - found.waiting and found.missed == 0


@pytest.mark.parametrize("kind, epsilon", [("absolute", 1e-3), ("relative", 1e-2), ("stat", 0.1)])
def test_kinds_of_epsilon(kind, epsilon):
    X, y = cloud(2)
    model = KeepfitClassifier(epsilon=epsilon, epsilon_kind=kind, bias=1.0, trace=True)
    for k in range(0, 400, 50):
        model.partial_fit(X[k:k + 50], y[k:k + 50])
        found = model.measure(optimum=True)
        wanted = {"absolute": epsilon, "relative": epsilon * found.optimum, "stat": epsilon / (k + 50)}[kind]
        assert found.gap <= model.gap_bound_ <= wanted * (1 + 1e-9)
    assert [stage.points for stage in model.trace_] == list(range(50, 401, 50))


def test_domains_and_estimates():
    X, y = cloud("numbers")
    ball = KeepfitRegressor(domain="ball:0.5", fit_intercept=False).fit(X, y)
    assert np.linalg.norm(ball.coef_) <= 0.5 + 1e-12
    box = KeepfitRegressor(domain="box:0:1", fit_intercept=False).fit(X, y)
    assert box.coef_.min() >= 0 and box.coef_.max() <= 1
    for kind, loss in ((KeepfitRegressor, "huber"), (KeepfitClassifier, "hinge"), (KeepfitClassifier, "softmax")):
        free = kind(loss).fit(X, y if loss == "huber" else y > 0)
        assert math.isnan(free.gap_bound_) == free.report_.unproved
        assert not free.gap_bound_ < free.measure(optimum=True).gap - 1e-12
    assert KeepfitClassifier(guarantee="estimate").fit(X, y > 0).score(X, y > 0) > 0.8


def test_fit_starts_anew():
    X, y = cloud(2)
    model = KeepfitClassifier(trace=True).fit(X, y).partial_fit(X, 1 - y)
    once = KeepfitClassifier().fit(X, y).coef_
    assert not np.array_equal(model.coef_, once) and len(model.trace_) == 2
    assert np.array_equal(model.fit(X, y).coef_, once) and len(model.trace_) == 1 and model.n_points_ == len(y)


def test_before_fitting_nothing_is_known():
    X, y = cloud(2)
    for model in (KeepfitClassifier(), KeepfitRegressor()):
        for name in ("coef_", "intercept_", "gap_bound_", "n_iter_", "n_gradients_", "report_"):
            assert not hasattr(model, name)
        for call in (lambda: model.predict(X), lambda: model.forget([0]), lambda: model.measure(), lambda: model.save("x")):
            with pytest.raises(NotFittedError):
                call()
    assert not hasattr(KeepfitClassifier(), "classes_")


def test_class_weights_multiply_the_rows_weights():
    X, y = cloud(2)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    one = KeepfitClassifier(class_weight={0: 3.0, 1: 0.5}).fit(X, y, weight)
    two = KeepfitClassifier().fit(X, y, weight * np.where(y == 0, 3.0, 0.5))
    three = KeepfitClassifier(class_weight={0: 3.0, 1: 0.5}).partial_fit(X, y, sample_weight=weight)
    assert np.array_equal(one.coef_, two.coef_) and np.array_equal(one.coef_, three.coef_)
    share = len(y) / (2 * np.bincount(y))
    assert np.allclose(KeepfitClassifier(class_weight="balanced").fit(X, y).coef_,
                       KeepfitClassifier(class_weight=dict(enumerate(share))).fit(X, y).coef_)
    with pytest.raises(ValueError, match="balanced"):
        KeepfitClassifier(class_weight="balanced").partial_fit(X, y)
