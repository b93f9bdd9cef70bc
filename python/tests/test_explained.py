"""What a fit says of itself: against NumPy, and against rows really left out."""
import numpy as np
import pytest
from keepfit import KeepfitClassifier, KeepfitRegressor


def drawn(count=300, seed=3):
    source = np.random.default_rng(seed)
    X = source.normal(size=(count, 3))
    return X, X @ [1.0, -2.0, 0.5] + source.normal(size=count)


def test_standard_errors_are_those_of_least_squares():
    X, y = drawn()
    model = KeepfitRegressor(lam=0.01, epsilon=1e-12).fit(X, y)
    whole = np.column_stack([np.ones(len(X)), X])
    inverse = np.linalg.inv(2 * whole.T @ whole + np.diag([0, 1, 1, 1]) * 2 * 0.01 * len(X))
    missed = whole @ np.r_[model.intercept_, model.coef_] - y
    free = np.trace(inverse @ (2 * whole.T @ whole))
    plain = np.sqrt(np.diag(2 * inverse * (missed ** 2).sum() / (len(X) - free)))
    robust = np.sqrt(np.diag(inverse @ (whole.T * (2 * missed) ** 2 @ whole) @ inverse))
    for errors, expected in ((model.standard_errors(), plain), (model.standard_errors(robust=True), robust)):
        assert np.allclose(np.r_[errors[1], errors[0].ravel()], expected, rtol=1e-5)


def test_influence_is_what_leaving_out_does():
    X, y = drawn()
    model = KeepfitRegressor(lam=0.01, epsilon=1e-12).fit(X, y)
    said = model.influence(17)
    left = KeepfitRegressor(lam=0.01, epsilon=1e-12).fit(np.delete(X, 17, 0), np.delete(y, 17))
    assert np.allclose(said.weights.ravel(), (left.coef_ - model.coef_).ravel(), atol=1e-7)
    assert np.allclose(said.scores_without, left.predict(X[17:18]), atol=1e-6) and 0 < said.leverage < 1
    with pytest.raises(ValueError, match="not there"):
        model.influence(300)


def test_validation_counts_rows_before_they_are_learnt():
    X, y = drawn(400)
    y = np.where(y > 0, "yes", "no")
    model = KeepfitClassifier().fit(X[:200], y[:200])
    before = model.decision_function(X[200:])
    wrong = (before > 0) != (y[200:] == "yes")
    earlier = model.validation_
    found = model.partial_fit(X[200:], y[200:]).validation_
    assert found.judged - earlier.judged == 200 and found.window == found.judged
    assert np.isclose(found.error * found.judged - earlier.error * earlier.judged, wrong.sum())
    assert 0.5 < found.auc < 1 and sum(part.count for part in found.calibration) >= 200 and found.drift == ""


def test_errors_of_a_classifier_go_with_its_coefficients():
    X, y = drawn()
    model = KeepfitClassifier(lam=0.01, epsilon=1e-10).fit(X, np.where(y > 0, "a", "b"))
    errors, intercepts = model.standard_errors()
    assert errors.shape == model.coef_.shape and intercepts.shape == model.intercept_.shape
    assert (errors > 0).all() and (np.abs(model.coef_) > errors).all()
