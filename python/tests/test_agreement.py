"""The same optimum as scikit-learn's solvers, on real data; partial_fit as good as fit."""
import numpy as np
import pytest
import scipy.optimize
from conftest import cloud, images, real
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.preprocessing import StandardScaler

from keepfit import KeepfitClassifier, KeepfitRegressor

LAM, FINE, CLOSE = 1e-3, 1e-14, 1e-6
SETS = ["breast-cancer_scale", "diabetes_scale", "german.numer_scale", "heart_scale", "a9a"]


def weights_for(y, weighted):
    return np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None


def both(function):
    function = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])(function)
    return pytest.mark.parametrize("intercept", [False, True], ids=["through-0", "intercept"])(function)


@pytest.mark.parametrize("name", SETS + ["cadata"])
@both
def test_ridge(name, intercept, weighted):
    X, y = real(name, scale=name == "cadata")
    y = y / y.std()
    weight = weights_for(y, weighted)
    total = len(y) if weight is None else weight.sum()
    theirs = Ridge(alpha=LAM * total, fit_intercept=intercept, solver="cholesky").fit(X, y, weight)
    for regulariser in ({"lam": LAM}, {"lam_total": LAM * total}):
        ours = KeepfitRegressor(fit_intercept=intercept, epsilon=FINE, **regulariser).fit(X, y, weight)
        assert np.abs(ours.coef_ - theirs.coef_).max() < CLOSE
        assert abs(ours.intercept_ - theirs.intercept_) < CLOSE
        assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-9)


@pytest.mark.parametrize("name", SETS)
@both
def test_logistic(name, intercept, weighted):
    X, y = real(name)
    weight = weights_for(y, weighted)
    total = len(y) if weight is None else weight.sum()
    theirs = LogisticRegression(C=1 / (2 * LAM * total), fit_intercept=intercept, solver="newton-cholesky", tol=1e-12,
                                max_iter=100).fit(X, y, weight)
    ours = KeepfitClassifier(lam=LAM, fit_intercept=intercept, epsilon=FINE).fit(X, y, weight)
    assert np.abs(ours.coef_ - theirs.coef_).max() < CLOSE
    assert np.abs(ours.intercept_ - theirs.intercept_).max() < CLOSE
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=CLOSE)
    assert np.array_equal(ours.classes_, theirs.classes_)


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def houses_by_quarter_of_price():
    X, price = real("cadata", scale=True)
    return X, np.searchsorted(np.quantile(price, [0.25, 0.5, 0.75]), price)


CLASSES = {"iris": lambda: scaled(load_iris), "wine": lambda: scaled(load_wine), "digits": lambda: scaled(load_digits),
           "cadata": houses_by_quarter_of_price, "mnist": lambda: images(300)}


@pytest.mark.parametrize("name", CLASSES)
@both
def test_multinomial(name, intercept, weighted):
    X, y = CLASSES[name]()
    weight = weights_for(y, weighted)
    total = len(y) if weight is None else weight.sum()
    theirs = LogisticRegression(C=1 / (2 * LAM * total), fit_intercept=intercept, solver="newton-cg", tol=1e-10,
                                multi_class="multinomial", max_iter=100).fit(X, y, weight)
    ours = KeepfitClassifier(lam=LAM, fit_intercept=intercept, epsilon=FINE).fit(X, y, weight)
    assert np.abs(ours.coef_ - theirs.coef_).max() < CLOSE
    # all intercepts together may move freely
    assert np.abs((ours.intercept_ - ours.intercept_.mean()) - (theirs.intercept_ - theirs.intercept_.mean())).max() < CLOSE
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=CLOSE)


@pytest.mark.parametrize("name", ["squared-hinge", "squared_hinge"])
def test_squared_hinge_is_that_of_linear_svc(name):
    X, y = cloud(2)
    theirs = LinearSVC(C=1 / (2 * LAM * len(y)), loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-12, max_iter=100000).fit(X, y)
    ours = KeepfitClassifier(name, lam=LAM, fit_intercept=False, epsilon=1e-13).fit(X, y)
    assert np.abs(ours.coef_ - theirs.coef_).max() < CLOSE
    assert not hasattr(ours, "predict_proba") and np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("intercept", [False, True])
def test_logcosh_is_that_of_scipy(intercept):
    X, y = cloud("numbers")
    rows = np.column_stack([np.ones(len(y)), X])

    def objective(x):
        r = rows @ x - y
        slope = rows.T @ np.tanh(r) / len(y) + 2 * LAM * np.concatenate([[0], x[1:]])
        slope[0] *= intercept
        return np.mean(np.logaddexp(r, -r) - np.log(2)) + LAM * x[1:] @ x[1:], slope

    theirs = scipy.optimize.minimize(objective, np.zeros(rows.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    ours = KeepfitRegressor("logcosh", lam=LAM, fit_intercept=intercept, epsilon=1e-13).fit(X, y)
    assert np.abs(ours.coef_ - theirs[1:]).max() < CLOSE and abs(ours.intercept_ - theirs[0]) < CLOSE
    assert ours.gap_bound_ <= 1e-13 or intercept


@pytest.mark.parametrize("kind, loss, target", [(KeepfitRegressor, "squared", "numbers"), (KeepfitRegressor, "huber", "numbers"),
                                                (KeepfitRegressor, "logcosh", "numbers"), (KeepfitClassifier, "squared_hinge", 2),
                                                (KeepfitClassifier, "logistic", 2), (KeepfitClassifier, "hinge", 2),
                                                (KeepfitClassifier, "logistic", 4), (KeepfitClassifier, "softmax", 2)])
@pytest.mark.parametrize("constant", [{"fit_intercept": False}, {"fit_intercept": True}, {"bias": 1.0}],
                         ids=["through-0", "intercept", "bias"])
def test_point_by_point_is_as_good_as_all_at_once(kind, loss, target, constant):
    X, y = cloud(target)
    weight = weights_for(y, True)
    epsilon = 1e-4
    whole = kind(loss, epsilon=1e-12, **constant).fit(X, y, weight)
    slow = kind(loss, epsilon=epsilon, **constant)
    for k in range(len(y)):
        slow.partial_fit(X[k:k + 1], y[k:k + 1], sample_weight=weight[k:k + 1])
        proved = np.isfinite(slow.gap_bound_)
        assert slow.gap_bound_ <= epsilon if proved else constant.get("fit_intercept")
        if not proved and k % 20 == 19 and len(set(y[:k + 1])) == len(set(y)):
            assert slow.measure(optimum=True).gap <= epsilon
    best = whole.measure(optimum=True)
    now = slow.measure()
    assert best.optimum - 1e-12 <= now.objective <= best.optimum + epsilon
    assert best.objective == pytest.approx(best.optimum, abs=1e-12)
    assert not now.objective - best.optimum > slow.gap_bound_ + 1e-12


def test_unscaled_data_is_fitted_as_well():
    X, y = cloud("numbers")
    X = X * 10.0 ** np.arange(-3, 5)
    model = KeepfitRegressor(bias=1.0, epsilon=1e-6).fit(X, y)
    assert model.gap_bound_ <= 1e-6 and model.measure(optimum=True).gap <= 1e-6
