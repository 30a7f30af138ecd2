"""LogisticRegression: difficult inputs are fitted, or refused by name."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import certus
from certus.exceptions import AliasWarning, NotCertifiedWarning, SeparationWarning
from certus.linear_model import LogisticRegression
from tests.contract.problems import classification
from tests.references.logistic_peers import agree, classes, tight


@classes
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_shift_by_3000_changes_nothing(K, C):
    X, y, _ = classification(7, classes=K)
    reference = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    other = LogisticRegression(C=C, tol=1e-10).fit(X + 3000, y)
    np.testing.assert_allclose(other.coef_, reference.coef_, atol=1e-7)
    np.testing.assert_allclose(other.predict_proba(X + 3000), reference.predict_proba(X), atol=1e-7)
    assert other.certificate_.certified
    assert other.n_iter_ <= reference.n_iter_ + 1


@classes
@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
def test_columns_of_other_scales_are_certified(K, C, solver):
    X, y, _ = classification(7, n=200, p=3, classes=K)
    d = np.array([1, 1e5, 1])
    model = LogisticRegression(C=C, solver=solver).fit(X * d, y)
    assert model.certificate_.certified
    if np.isinf(C):
        agree_in_units = LogisticRegression(C=C).fit(X, y).coef_
        np.testing.assert_allclose(model.coef_ * d, agree_in_units, atol=5e-3)


@pytest.mark.parametrize("y", [np.zeros(20, dtype=int), ["yes"] * 20, [True] * 20], ids=str)
def test_one_class_is_refused_in_plain_words(y):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"y holds only one class, .* \(20 rows\)"):
        LogisticRegression().fit(X, y)


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("size", [1e200, 1e150, 1e-150, 1e-200])
@classes
def test_columns_near_the_limits_of_float64(K, size, solver):
    X, y, _ = classification(7, classes=K)
    model = LogisticRegression(solver=solver)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model.fit(size * X, y)
    if size > 1:  # as good as unpenalised
        truth = LogisticRegression(C=np.inf).fit(X, y).predict_proba(X)
    else:  # as good as absent
        truth = np.broadcast_to(np.bincount(y) / len(y), (len(y), K))
    np.testing.assert_allclose(model.predict_proba(size * X), truth, atol=2e-3)
    # of three classes, the penalty of what all scores share is below rounding: not proven
    assert {w.category for w in warned} <= ({NotCertifiedWarning} if K == 3 and size > 1 else set())


@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("size", [1e200, 1e150, 1e-150, 1e-200])
def test_one_column_near_the_limits_of_float64(size, solver):
    X, y, _ = classification(7)
    d = np.array([size, 1, 1, 1])
    model = LogisticRegression(solver=solver, tol=1e-8).fit(X * d, y)  # warnings are errors
    assert model.certificate_.certified
    like = np.array([1e5, 1, 1, 1]) if size > 1 else np.array([0, 1, 1, 1])
    reference = LogisticRegression(tol=1e-8).fit(X * like, y)
    np.testing.assert_allclose(model.coef_[0, 1:], reference.coef_[0, 1:], atol=1e-4)


@classes
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_units_of_1e200_and_no_penalty(K, size):
    X, y, _ = classification(7, classes=K)
    d = np.array([size, 1, 1 / size, 1])
    model = LogisticRegression(C=np.inf, tol=1e-9).fit(X * d, y)
    reference = LogisticRegression(C=np.inf, tol=1e-9).fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_ * d, reference.coef_, atol=1e-5)


@classes
@pytest.mark.parametrize("value", [1e200, -1e200])
def test_a_row_of_1e200_is_either_fitted_or_named_as_the_cause(K, value):
    X, y, _ = classification(7, classes=K)
    X[5, 2] = value
    model = LogisticRegression()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert {w.category for w in caught} <= {NotCertifiedWarning}
    if not model.certificate_.certified:
        assert "column scales differ by" in str(caught[0].message)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("value", [0.0, 7.0, 1e9])
def test_a_constant_column_gets_no_coefficient(K, solver, value):
    X, y, _ = classification(7, classes=K)
    more = np.column_stack([X, np.full(len(X), value)])
    model = LogisticRegression(solver=solver, tol=1e-10).fit(more, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[:, 4], 0, atol=1e-12)
    reference = LogisticRegression(tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_[:, :4], reference.coef_, atol=1e-7)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_columns_of_zeros_alone_leave_the_intercept(K, solver):
    _, y, _ = classification(7, classes=K)
    model = LogisticRegression(solver=solver).fit(np.zeros((len(y), 3)), y)
    np.testing.assert_array_equal(model.coef_, 0)
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 3)))[0], share, rtol=1e-12)
    assert model.certificate_.certified
    nothing = LogisticRegression(fit_intercept=False).fit(np.zeros((len(y), 3)), y)
    np.testing.assert_allclose(nothing.predict_proba(np.zeros((1, 3)))[0], 1 / K)


@classes
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_a_column_given_twice_shares_its_coefficient(K, solver):
    X, y, _ = classification(7, classes=K)
    model = LogisticRegression(solver=solver, tol=1e-10).fit(X[:, [0, 1, 2, 3, 0]], y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 4], atol=1e-7)
    # w₀ = w₄ = v/2: ½(v²/4 + v²/4) is what a column √2 as large pays for v/√2
    reference = LogisticRegression(tol=1e-10).fit(X * [np.sqrt(2), 1, 1, 1], y)
    np.testing.assert_allclose(model.coef_[:, 0] * 2, reference.coef_[:, 0] * np.sqrt(2), atol=1e-6)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_class_with_one_row(C):
    X, y, _ = classification(7, classes=2)
    y = y.copy()
    y[np.argmin((X**2).sum(axis=1))] = 2  # amid the others
    model = LogisticRegression(C=C, tol=1e-10).fit(X, y)
    assert model.certificate_.certified
    agree(model, tight(C=C).fit(X, y), 1e-6)


def test_one_of_three_classes_that_lies_apart_is_no_finite_optimum():
    """… although the other two overlap. Its only row touches the plane that a program finds."""
    for seed, n in [*((seed, 90) for seed in range(6)), (0, 20_000)]:
        X, y, _ = classification(seed, n)
        y = y.copy()
        y[np.argmax((X**2).sum(axis=1))] = 2  # farther out than all others
        with pytest.warns(SeparationWarning, match="no finite optimum"):
            model = LogisticRegression(C=np.inf).fit(X, y)
        assert model.certificate_.status == "no finite optimum"


@pytest.mark.parametrize("n", [3, 5, 20])
def test_as_many_classes_as_rows(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    model = LogisticRegression(tol=1e-10).fit(X, np.arange(n))
    assert model.coef_.shape == (n, 3)
    assert model.certificate_.certified
    agree(model, tight().fit(X, np.arange(n)))
    with pytest.warns(SeparationWarning, match="no finite optimum"):
        model = LogisticRegression(C=np.inf).fit(X, np.arange(n))
    assert model.certificate_.status == "no finite optimum"


def test_more_classes_than_columns_and_nearly_a_class_a_row_are_reported():
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(UserWarning, match="every row has a class of its own in 30 rows"):
        model = LogisticRegression().fit(X, np.arange(30))
    assert model.certificate_.certified


@pytest.mark.parametrize(
    ("missing", "row"), [(np.nan, 3), (None, 3), (pd.NA, 3), (float("nan"), 0)], ids=str
)
def test_a_missing_label_is_named_with_its_row(missing, row):
    X, y, _ = classification(7)
    labels = y.astype(object)
    labels[row] = missing
    with pytest.raises(ValueError, match=rf"y has 1 missing label .*row {row}\)"):
        LogisticRegression().fit(X, labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("dress", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_missing_value_is_named_with_row_and_column(bad, solver, dress):
    X, y, _ = classification(7)
    X[6, 2] = bad
    with pytest.raises(ValueError, match=r"column 2 of X has 1 .*row 6\)"):
        LogisticRegression(solver=solver).fit(dress(X), y)
    fitted = LogisticRegression().fit(np.nan_to_num(X, posinf=0, neginf=0), y)
    with pytest.raises(ValueError, match=r"column 2 of X has 1 .*row 6\)"):
        fitted.predict(dress(X))


def test_one_row_two_rows_and_one_column():
    with pytest.raises(ValueError, match=r"only one class, 1 \(1 row\)"):
        LogisticRegression().fit([[1.0, 2.0]], [1])
    two = LogisticRegression(tol=1e-10).fit([[1.0], [2.0]], [0, 1])
    assert two.certificate_.certified
    # both rows pull alike: w = 1 − σ(w/2) solved by hand, b puts the border in the middle
    w = two.coef_[0, 0]
    assert w == pytest.approx(1 / (1 + np.exp(w / 2)), abs=1e-7)
    assert two.intercept_[0] == pytest.approx(-1.5 * w, abs=1e-7)
    X, y, _ = classification(7, p=1)
    agree(LogisticRegression(tol=1e-12).fit(X, y), tight().fit(X, y))
    with pytest.raises(ValueError, match="0 feature"):
        LogisticRegression().fit(np.empty((20, 0)), np.arange(20) % 2)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("dress", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_separable_classes_are_named_not_fitted(intercept, dress):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 2)
    X[:, 1] += np.where(X[:, 1] > 0, 0.5, -0.5)
    y = np.where(X[:, 1] > 0, "malignant", "benign")
    model = LogisticRegression(C=np.inf, fit_intercept=intercept)
    with pytest.warns(SeparationWarning) as warned:
        model.fit(dress(X), y)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    text = str(warned[0].message)
    assert text.startswith("no finite optimum. Every row with column 1 > ")
    assert f"is 'malignant' ({(X[:, 1] > 0).sum()} rows)" in text
    assert "Do not read the coefficients" in text
    assert model.certificate_.status == "no finite optimum"
    assert not model.certificate_.certified
    assert LogisticRegression(fit_intercept=intercept).fit(dress(X), y).certificate_.certified


@classes
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_column_given_twice_and_no_penalty(K, intercept, solver, seed):
    X, y, _ = classification(seed, n=120, classes=K)
    more = X[:, [0, 1, 2, 3, 0]]
    parameters = {"C": np.inf, "tol": 1e-8, "solver": solver, "fit_intercept": intercept}
    model = LogisticRegression(**parameters)
    with pytest.warns(AliasWarning, match="column 4 = column 0") as warned:
        model.fit(more, y)
    assert [w.filename for w in warned] == [__file__]
    assert model.certificate_.certified
    reference = LogisticRegression(**parameters).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(more), reference.predict_proba(X), atol=1e-4)
    # of all that do, the smallest
    np.testing.assert_allclose(model.coef_[:, 0] * 2, reference.coef_[:, 0], atol=1e-3)
    np.testing.assert_allclose(model.coef_[:, 0], model.coef_[:, 4], atol=1e-9)


@classes
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_constant_column_and_no_penalty(K, seed, value):
    X, y, _ = classification(seed, n=120, classes=K)
    model = LogisticRegression(C=np.inf)
    with pytest.warns(AliasWarning, match="column 4 is constant"):
        model.fit(np.column_stack([X, np.full(len(X), value)]), y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[:, 4], 0, atol=1e-9)


def test_a_spoiled_coefficient_of_any_kind_is_refused():
    for K, C, value in itertools.product((2, 3), (1.0, np.inf), (np.nan, np.inf, 1e308)):
        X, y, _ = classification(7, classes=K)
        model = LogisticRegression(C=C).fit(X, y)
        model.coef_[0, 1] = value
        assert not certus.verify(model, X, y).certified
        model.coef_[0, 1] = 0
        model.intercept_[0] = value
        assert not certus.verify(model, X, y).certified


def test_a_separation_that_rounding_hides_is_not_called_stationary():
    # two groups of classes share a plane, turned so that no float lies on it
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 400)
    side = np.where(group == 0, -1.0, 1.0) * rng.integers(0, 4, 400)
    other = rng.normal(size=400)
    y = 2 * group + (other + rng.logistic(size=400) > 0)
    X = np.column_stack([side, other]) @ np.array([[1.0, 0.3], [-0.7, 1.1]])
    with pytest.warns(NotCertifiedWarning):
        model = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    assert not model.certificate_.certified
    assert not certus.verify(model, X, y, tol=1e-3).certified
