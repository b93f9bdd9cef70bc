"""Rows of every kind give the same model; bad ones a clear error, and leave the fit as it was."""
import numpy as np
import pytest
import scipy.sparse
from conftest import cloud

from keepfit import Fit, KeepfitClassifier, KeepfitRegressor


def holes(X):
    X = X.copy()
    X[np.abs(X) < 0.8] = 0
    return X


@pytest.mark.parametrize("form", [np.asfortranarray, lambda X: X.astype(np.float32), lambda X: X.tolist(), scipy.sparse.csr_matrix,
                                  scipy.sparse.csc_matrix, scipy.sparse.coo_matrix, lambda X: scipy.sparse.csr_matrix(X.astype("f4")),
                                  lambda X: X[:, ::-1][:, ::-1], lambda X: scipy.sparse.csr_matrix(X).astype(np.float64)])
def test_every_form_gives_the_same_model(form):
    X, y = cloud(2)
    X = holes(X).astype(np.float32).astype(np.float64)  # so that nothing is lost in single precision
    plain = KeepfitClassifier(epsilon=1e-10).fit(X, y)
    other = KeepfitClassifier(epsilon=1e-10).fit(form(X), y)
    twice = KeepfitClassifier(epsilon=1e-10).partial_fit(form(X[:300]), y[:300]).partial_fit(form(X[300:]), y[300:])
    assert np.allclose(plain.coef_, other.coef_, atol=1e-8) and np.allclose(plain.coef_, twice.coef_, atol=1e-4)
    assert np.allclose(plain.decision_function(X), plain.decision_function(form(X)), atol=1e-12)


@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix, scipy.sparse.lil_matrix,
                                  lambda X: X.tolist(), np.asfortranarray])
def test_a_bare_fit_takes_every_form(form):
    X, y = cloud("numbers", rows=8)  # square: rows and columns can be told apart by what is in them alone
    assert np.array_equal(Fit(loss="squared").extend(form(X), y).iterate(), Fit(loss="squared").extend(X, y).iterate())
    with pytest.raises(ValueError, match="two dimensions"):
        Fit(loss="squared").extend(X[0], y)


def test_untidy_compressed_rows():
    X, y = cloud("numbers")
    tidy = scipy.sparse.csr_matrix(holes(X))
    untidy = tidy.copy()
    for row in range(untidy.shape[0]):  # indices descend, and the first entry comes in two parts
        part = slice(untidy.indptr[row], untidy.indptr[row + 1])
        untidy.indices[part], untidy.data[part] = untidy.indices[part][::-1].copy(), untidy.data[part][::-1].copy()
    doubled = scipy.sparse.csr_matrix((np.r_[untidy.data / 2, untidy.data / 2],
                                       (np.r_[untidy.tocoo().row, untidy.tocoo().row],
                                        np.r_[untidy.tocoo().col, untidy.tocoo().col])), shape=X.shape)
    long = scipy.sparse.csr_matrix((tidy.data, tidy.indices.astype(np.int64), tidy.indptr.astype(np.int64)), shape=X.shape)
    claimed = untidy.copy()
    claimed.has_sorted_indices = claimed.has_canonical_format = True  # which is not true
    untidy.has_sorted_indices = untidy.has_canonical_format = False
    models = [KeepfitRegressor(epsilon=1e-10).fit(rows, y).coef_ for rows in (tidy, untidy, claimed, doubled, long)]
    for other in models[1:]:
        assert np.allclose(models[0], other, atol=1e-8)


def test_more_features_than_can_be_counted():
    rows = scipy.sparse.csr_matrix(([1.0], ([0], [2**32 + 1])), shape=(1, 2**33))
    with pytest.raises(ValueError, match="8589934592 features"):
        Fit(loss="squared").extend(rows, [1.0])


def test_indices_beyond_the_features():
    for index in (3, -1, 2**32 + 1):  # the last is 1 in 32 bits
        rows = scipy.sparse.csr_matrix((1, 3))
        rows.data, rows.indices, rows.indptr = np.ones(1), np.array([index]), np.array([0, 1])
        with pytest.raises(ValueError, match="do not fit together"):
            Fit(loss="squared").extend(rows, [1.0])


def test_compressed_rows_are_not_copied():
    X, y = cloud("numbers")
    rows = scipy.sparse.csr_matrix(holes(X))
    from keepfit.fit import compressed
    value, index, _ = compressed(rows)
    assert value is rows.data and index is rows.indices


def test_frames_and_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = cloud(2, features=3)
    frame = pandas.DataFrame(X, columns=["one", "two", "three"])
    series = pandas.Series(np.array(["no", "yes"])[y])
    model = KeepfitClassifier().partial_fit(frame, series).partial_fit(frame, series)
    assert list(model.feature_names_in_) == ["one", "two", "three"] and model.n_points_ == 800
    assert list(model.classes_) == ["no", "yes"] and set(model.predict(frame)) <= {"no", "yes"}
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["two", "one", "three"]], series)
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    assert len(list(KeepfitClassifier().stages(frame, series, every=100))) == 4


def test_columns_that_are_empty_have_coefficients_too():
    X, y = cloud("numbers")
    X[:, -2:] = 0
    for rows in (X, scipy.sparse.csr_matrix(X)):
        model = KeepfitRegressor().fit(rows, y)
        assert model.coef_.shape == (X.shape[1],) and not model.coef_[-2:].any()


BAD = [("nan", lambda X, y: X.__setitem__((3, 1), np.nan), "NaN|not finite"), ("infinite", lambda X, y: X.__setitem__((3, 1), np.inf), "infinity|not finite"),
       ("huge", lambda X, y: X.__setitem__((3, 1), 1e200), "row 3.*too large")]


@pytest.mark.parametrize("name, spoil, message", BAD, ids=[case[0] for case in BAD])
@pytest.mark.parametrize("sparse", [False, True])
def test_bad_values_are_refused_and_change_nothing(name, spoil, message, sparse):
    X, y = cloud("numbers")
    form = scipy.sparse.csr_matrix if sparse else np.ascontiguousarray
    model = KeepfitRegressor().partial_fit(form(X), y)
    before, points = model.coef_.copy(), model.n_points_
    bad = X.copy()
    spoil(bad, y)
    for call in (model.partial_fit, KeepfitRegressor().fit):
        with pytest.raises(ValueError, match=message):
            call(form(bad), y)
    assert np.array_equal(model.coef_, before) and model.n_points_ == points
    model.partial_fit(form(X), y)
    if name != "huge":
        with pytest.raises(ValueError, match=message):
            model.predict(form(bad))


def test_other_bad_arguments():
    X, y = cloud("numbers")
    model = KeepfitRegressor().partial_fit(X, y)
    for call in (lambda: model.partial_fit(X[:, 1:], y), lambda: model.partial_fit(X, y[1:]), lambda: model.partial_fit(X[:0], y[:0]),
                 lambda: model.partial_fit(X, y, sample_weight=-np.ones(len(y))), lambda: model.partial_fit(X, np.full(len(y), np.nan)),
                 lambda: model.partial_fit(X, y, sample_weight=np.ones(3)), lambda: model.predict(X[:, 1:]), lambda: model.predict(X[0]),
                 lambda: KeepfitClassifier().fit(X, y)):
        with pytest.raises(ValueError):
            call()
    assert model.n_points_ == len(y)
    names = KeepfitClassifier().partial_fit(X, np.where(y > 0, "a", "b"))
    with pytest.raises(ValueError, match="cannot join"):
        names.partial_fit(X, (y > 0).astype(int))


def test_rows_of_weight_0_count_for_nothing():
    X, y = cloud(2)
    weight = np.ones(len(y))
    weight[200:] = 0
    ours = KeepfitClassifier(epsilon=1e-12).fit(X, y, weight)
    half = KeepfitClassifier(epsilon=1e-12).fit(X[:200], y[:200])
    assert np.allclose(ours.coef_, half.coef_, atol=1e-7) and ours.n_points_ == 400


@pytest.mark.parametrize("options", [{}, {"fit_intercept": True}, {"bias": 2.0}])
def test_points_come_back_as_they_went_in(options):
    X, y = cloud(3)
    rows, weight = scipy.sparse.csr_matrix(holes(X)), np.linspace(0, 2, len(y))
    fit = Fit(loss="softmax", **options).extend(rows, y.astype(float), weight)
    back, targets, weights = fit.points()
    assert (back != rows).nnz == 0 and np.array_equal(targets, y) and np.array_equal(weights, weight)


def test_arrays_that_do_not_fit_together_are_refused():
    X, y = cloud("numbers")
    model = KeepfitRegressor().partial_fit(scipy.sparse.csr_matrix(X), y)
    for part, at, number in (("indices", -1, 8), ("indices", 7, -1), ("indptr", 5, 10**6), ("indptr", 400, 10**6), ("indptr", 3, -4)):
        bad = scipy.sparse.csr_matrix(X)
        getattr(bad, part)[at] = number
        bad.has_canonical_format = True
        with pytest.raises(ValueError, match="fit together"):
            model.partial_fit(bad, y)
    fit = Fit()
    for rows, targets, weight in ((X, y[1:], None), (X, y, y[1:]), (X[0], y, None)):
        with pytest.raises(ValueError):
            fit.extend(rows, targets, weight)
    assert fit.extend(X.tolist() and X.astype(np.float32), y.astype(int)).report.points == len(y)
