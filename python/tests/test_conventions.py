"""scikit-learn's own checks, its tools, and parameters that are the library's options."""
import inspect

import numpy as np
import pytest
from conftest import cloud
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import keepfit
from keepfit import KeepfitClassifier, KeepfitRegressor

ESTIMATORS = [KeepfitRegressor(), KeepfitRegressor("huber"), KeepfitRegressor("logcosh"), KeepfitRegressor(bias=1.0), KeepfitRegressor(fit_intercept=False),
              KeepfitRegressor(lam_total=0.1, method="refit"), KeepfitClassifier(), KeepfitClassifier("softmax"),
              KeepfitClassifier("hinge"), KeepfitClassifier("squared_hinge"), KeepfitClassifier(bias=1.0), KeepfitClassifier(method="refit", epsilon=1e-6)]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [KeepfitRegressor, KeepfitClassifier])
def test_parameters_are_the_librarys_options(kind):
    for name, parameter in inspect.signature(kind).parameters.items():
        if name not in keepfit.OPTIONS or name in ("loss", "fit_intercept"):
            continue
        initial = keepfit.OPTIONS[name].initial
        if parameter.default is None:
            assert initial == "" or name in ("random_state", "lam"), name  # lam: so that one beside lam_total is noticed
        else:
            assert (float(initial) == parameter.default if isinstance(parameter.default, float)
                    else initial == str(parameter.default).lower() if isinstance(parameter.default, bool)
                    else initial == parameter.default), name
    mine = {"options", "trace", "verbose", "class_weight", "journal", "fit_intercept", "loss"}
    assert set(inspect.signature(kind).parameters) - mine <= set(keepfit.OPTIONS)
    assert set(kind._options) <= set(kind().get_params())


def test_options_reach_the_library():
    X, y = cloud("numbers")
    steps = [KeepfitRegressor(method="sgd", options={"inner": inner, "step": "capped"}, bias=1.0).fit(X, y).n_iter_ for inner in (7, 14)]
    assert steps == [7 * len(X), 14 * len(X)]
    for bad in ({"options": {"nonsense": 1}}, {"epsilon": -1}, {"epsilon": float("nan")}, {"method": "nonsense"}, {"domain": "disc"},
                {"loss": "logistic"}, {"stage_budget": 1.5}, {"bias": 0.0}):
        with pytest.raises(ValueError):
            KeepfitRegressor(**bad).fit(X, y)
    with pytest.raises(ValueError, match="none of"):
        KeepfitClassifier("squared").fit(X, y > 0)


@pytest.mark.parametrize("bad, told", [({"lam": -1}, "^lam: "), ({"random_state": -1}, "^random_state: "), ({"stage_budget": 0}, "^stage_budget: "),
                                       ({"method": "nonsense"}, "^method: 'nonsense' is none of auto, "), ({"lam": 0, "method": "table"}, "^lam: .* for method='table'"),
                                       ({"options": {"setting": "theory"}, "method": "csvrg"}, "^setting='theory' needs a bounded domain"), ({"options": {"lambda": 1}}, "'lam'"),
                                       ({"journal": ""}, "path"), ({"options": {"lam": 1}}, "parameter of its own"), ({"options": {"max-stage-work": 0}}, "^max_stage_work")])
def test_messages_speak_of_parameters(bad, told):
    X, y = cloud("numbers")
    with pytest.raises(ValueError, match=told):
        KeepfitRegressor(**bad).fit(X, y)


@pytest.mark.parametrize("name", ["scale", "limit", "shuffle", "format", "target", "targets", "on_error", "on-error", "header", "delimiter",
                                  "weight_column", "zero_based", "accept_cut", "strict_end", "extra_features", "extra-features"])
def test_options_of_files_are_refused(name):
    """They say how the command reads files; with arrays they did nothing, and nobody was told."""
    X, y = cloud("numbers")
    value = {"scale": "columns", "limit": 5, "format": "csv", "on_error": "skip", "on-error": "skip", "header": "no", "extra_features": "ignore",
             "extra-features": "ignore"}.get(name, True)
    with pytest.raises(ValueError, match="would do nothing"):
        KeepfitRegressor(options={name: value}).fit(X, y)
    with pytest.raises(ValueError, match="would do nothing"):
        keepfit.Fit(**{name: value})


def test_options_that_are_parameters_are_refused():
    X, y = cloud("numbers")
    for name, value in (("class_weight", "balanced"), ("trace", True), ("verbose", 1), ("options", {}), ("loss", "logistic"), ("n_jobs", 2)):
        with pytest.raises(ValueError, match="parameter of its own"):
            KeepfitClassifier(options={name: value}).fit(X, y > 0)
    assert KeepfitRegressor(options={"max_features": 8}).fit(X, y).n_points_ == len(X)  # which the library does look at
    with pytest.raises(ValueError, match="more than max_features=7"):
        KeepfitRegressor(options={"max_features": 7}).fit(X, y)


@pytest.mark.parametrize("lam", [0.1, 1e-3])
def test_lam_with_lam_total_is_refused(lam):
    """lam had no effect then."""
    X, y = cloud("numbers")
    with pytest.raises(ValueError, match="lam and lam_total exclude each other"):
        KeepfitRegressor(lam=lam, lam_total=1.0).fit(X, y)
    same = [KeepfitRegressor(lam=lam).fit(X, y).coef_ for lam in (None, 1e-3)]
    assert np.array_equal(*same) and KeepfitRegressor().fit(X, y).report_.lambda_ == 1e-3


@pytest.mark.parametrize("wrong, meant", [({"method": "quadratc"}, "quadratic"), ({"options": {"iner": 3}}, "inner"), ({"domain": "bal:2"}, "ball:R"),
                                          ({"loss": "squred"}, "squared"), ({"epsilon_kind": "relativ"}, "relative"),
                                          ({"options": {"iterate": "dens"}}, "dense")])
def test_a_misspelling_gets_a_suggestion(wrong, meant):
    X, y = cloud("numbers")
    with pytest.raises(ValueError, match="; did you mean %s\\?" % meant):
        KeepfitRegressor(**wrong).fit(X, y)


def test_the_tables_are_those_of_the_library():
    assert {"squared", "logistic", "huber", "logcosh", "hinge", "squared-hinge", "softmax"} <= set(keepfit.LOSSES)
    assert "auto" in keepfit.METHODS and keepfit.OPTIONS["lam"].key == "lambda"


def test_pipeline_grid_search_and_clone():
    X, y = cloud(3)
    pipeline = make_pipeline(StandardScaler(), KeepfitClassifier())
    search = GridSearchCV(pipeline, {"keepfitclassifier__lam": [1e-4, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_["keepfitclassifier__lam"] == 1e-4
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.6
    fitted = KeepfitClassifier(lam=0.5, trace=True).fit(X, y)
    again = clone(fitted)
    assert again.get_params() == fitted.get_params() and not hasattr(again, "coef_")
    assert clone(again).set_params(lam=0.25).lam == 0.25


def test_one_against_the_rest_serves_hinge():
    X, y = cloud(4)
    assert OneVsRestClassifier(KeepfitClassifier("hinge", lam=1e-4)).fit(X, y).score(X, y) > 0.6


def test_the_same_seed_gives_the_same_bits():
    X, y = cloud(2, features=300)
    one, two, other = (KeepfitClassifier(method="saga", bias=1.0, random_state=seed).fit(X, y).coef_ for seed in (7, 7, 8))
    assert np.array_equal(one, two) and not np.array_equal(one, other)
    threads = [KeepfitClassifier(n_jobs=jobs).fit(X, y).coef_ for jobs in (1, 2, -1)]
    assert np.array_equal(threads[0], threads[1]) and np.array_equal(threads[0], threads[2])
    KeepfitClassifier(method="saga", random_state=np.random.RandomState(3)).fit(X, y)
