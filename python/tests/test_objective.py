"""Objectives written in Python: the same optimum as the library's own, and exceptions that come through."""
import numpy as np
import pytest
import scipy.sparse
from conftest import cloud

import keepfit
from keepfit import Fit, KeepfitRegressor, Objective


def squared(dimension, **replaced):
    parts = {"value": lambda x, row, target: (row @ x - target) ** 2, "gradient": lambda x, row, target: 2 * (row @ x - target) * row,
             "curvature": lambda row, target: 2 * row @ row}
    return Objective(dimension, **dict(parts, **replaced))


def test_the_same_optimum_as_the_librarys_own():
    X, y = cloud("numbers", rows=60, features=4)
    own = Fit(squared(4), lam=1e-2, epsilon=1e-8)
    for at in range(0, 60, 10):
        own.extend(X[at:at + 10], y[at:at + 10])
        assert own.stage().bound <= 1e-8
    theirs = KeepfitRegressor(lam=1e-2, fit_intercept=False, epsilon=1e-12).fit(X, y)
    assert own.measure().objective == pytest.approx(theirs.measure().objective, abs=1e-8)
    assert np.abs(own.iterate() - theirs.coef_).max() < 1e-3
    own.remove(range(30))
    assert own.report.points == 30 and own.stage().bound <= 1e-8


def test_exceptions_come_through():
    X, y = cloud("numbers", rows=10, features=4)

    def bad(*arguments):
        raise ZeroDivisionError("mine")

    for name in ("gradient", "curvature"):
        with pytest.raises(ZeroDivisionError, match="mine"):
            Fit(squared(4, **{name: bad})).extend(X, y)
    with pytest.raises(ValueError, match="shape"):
        Fit(squared(4, gradient=lambda x, row, target: np.zeros(3))).extend(X, y)
    with pytest.raises(ValueError, match="smoothness"):
        Fit(squared(4, curvature=None))
    Fit(squared(4, curvature=None), smoothness=100.0).extend(X, y)


@pytest.mark.parametrize("name", ["value", "curvature"])
@pytest.mark.parametrize("result", [None, "a word", np.zeros(2), 1j], ids=repr)
def test_what_is_no_number_is_told_once(name, result, capfd):
    X, y = cloud("numbers", rows=10, features=4)
    calls = []
    fit = Fit(squared(4, **{name: lambda *arguments: calls.append(1) or result}))
    with pytest.raises(TypeError, match="%s is .* number" % name):
        fit.extend(X, y).measure()
    assert len(calls) == 1
    assert capfd.readouterr().err == ""  # nothing is told past the exception


def test_sparse_rows_are_as_long_as_full_ones():
    X, y = cloud("numbers", rows=30, features=4)
    X[:, 3], X[7] = 0, 0
    full, sparse = (Fit(squared(4), lam=1e-2).extend(form(X), y) for form in (np.asarray, scipy.sparse.csr_matrix))
    assert np.array_equal(full.iterate(), sparse.iterate())


def test_ctrl_c_between_the_lines_of_a_callback(monkeypatch):
    X, y = cloud("numbers", rows=10, features=4)
    fit, made, calls = Fit(squared(4), lam=1e-2), keepfit.objective._row, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 15:
            raise KeyboardInterrupt
        return made(*arguments)

    monkeypatch.setattr(keepfit.objective, "_row", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit.extend(X, y)
    assert fit.extend(X[:1], y[:1]).stage().bound <= 1e-3


def test_the_points_cannot_be_written_to():
    X, y = cloud("numbers", rows=10, features=4)

    def careless(x, row, target):
        row *= 2
        return row

    with pytest.raises(ValueError, match="read-only"):
        Fit(squared(4, gradient=careless)).extend(X, y)


def test_an_objective_cannot_use_its_own_fit():
    X, y = cloud("numbers", rows=10, features=4)
    fit = Fit(squared(4, gradient=lambda x, row, target: fit.extend(X, y)))
    with pytest.raises(RuntimeError, match="calling it"):
        fit.extend(X, y)
