"""standardise and half_life: the problems that they stand for, solved without keepfit."""
import numpy as np
import pytest

from keepfit import KeepfitClassifier, KeepfitRegressor


def data(rows):
    generator = np.random.default_rng(4)
    X = generator.normal(size=(rows, 3)) * [1e4, 1, 1e-3] + [3e4, 0, 0]
    return X, X @ [1e-4, 0.5, 700] + generator.normal(size=rows)


def least(X, y, weights, penalty):
    """The intercept and the coefficients of the mean square plus sum of penalty*x^2."""
    mean, target = np.average(X, axis=0, weights=weights), np.average(y, weights=weights)
    centred = X - mean
    coef = np.linalg.solve((centred.T * weights) @ centred / weights.sum() + np.diag(penalty),
                           (centred.T * weights) @ (y - target) / weights.sum())
    return target - mean @ coef, coef


def test_columns_are_penalised_in_units_of_their_spreads():
    X, y = data(64)  # a power of two: the spreads are those of all rows
    scale = 2.0 ** np.round(np.log2(X.std(axis=0)))
    model = KeepfitRegressor(standardise=True, lam=0.1, method="exact")
    for part in np.array_split(np.arange(64), 16):
        model.partial_fit(X[part], y[part])
    intercept, coef = least(X, y, np.ones(64), 0.1 * scale**2)
    assert model.coef_ == pytest.approx(coef, rel=1e-8) and model.intercept_ == pytest.approx(intercept, rel=1e-8)
    assert model.gap_bound_ <= model.gap_target_


def test_weights_halve():
    X, y = data(80)
    model = KeepfitRegressor(half_life=10, lam=0.1, method="exact").partial_fit(X, y)
    intercept, coef = least(X, y, 2.0 ** (np.arange(80) / 10), np.full(3, 0.1))
    assert model.coef_ == pytest.approx(coef, rel=1e-7) and model.intercept_ == pytest.approx(intercept, rel=1e-7)


def test_without_an_intercept_it_is_refused():
    X, y = data(20)
    with pytest.raises(ValueError, match="intercept"):
        KeepfitClassifier(standardise=True, fit_intercept=False).fit(X, y > 0)
