"""Many rows: few columns' sums give what all sums give, and what they miss is found."""

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.linear_model import ElasticNet, Lasso
from certus.runtime.pool import blas_limiter
from certus.solvers.lasso import elastic_net_path, screened_gram

N, P = 3000, 12


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(screened_gram, "MIN_SCREENING_WORK", 0)


def draw(order="F", seed=0):
    rng = np.random.default_rng(seed)
    X = np.asarray(rng.normal(size=(N, P)), order=order)
    return X, X[:, :2] @ [2.0, -1.0] + 1 + rng.normal(size=N), rng.uniform(size=N)


def both(model, X, y, s, monkeypatch):
    """Fitted this way, and by the sums of all columns."""
    screened = model.fit(X, y, s)
    found = screened.coef_.copy(), screened.intercept_, screened.certificate_
    with monkeypatch.context() as patch:
        patch.setattr(screened_gram.ScreenedGram, "suits", lambda rows: False)
        return found, model.fit(X, y, s)


def first_fit(X, y, s, alpha, l1_ratio=1.0):
    (regression,) = elastic_net_path.regressions_of_one_fit(Rows(X, y[:, None], s), True, N)
    assert isinstance(regression.columns, screened_gram.ScreenedGram)
    l1, l2 = np.full(P, alpha * l1_ratio), np.full(P, alpha * (1 - l1_ratio))
    penalty = elastic_net_path.CoordinatePenalty(l1, l2)
    return regression, penalty, regression.first_fit(penalty, 1e-6)


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize(
    "model",
    [Lasso(0.3), Lasso(0.3, fit_intercept=False), Lasso(0.3, positive=True), Lasso(1e-3),
     ElasticNet(0.3, l1_ratio=0.7), Lasso(1e3)],
    ids=repr,
)  # fmt: skip
def test_few_columns_give_what_all_give(order, weighted, dtype, model, monkeypatch):
    X, y, s = draw(order)
    X = np.asarray(X * (10 if dtype == np.int8 else 1), dtype=dtype, order=order)
    (w, b, certificate), full = both(model, X, y, s if weighted else None, monkeypatch)
    np.testing.assert_allclose(w, full.coef_, atol=1e-12)
    np.testing.assert_allclose(b, full.intercept_, atol=1e-12)
    assert certificate.certified
    assert certificate.residual <= 2 * full.certificate_.residual + 1e-12


def test_the_first_fit_looks_at_few_columns():
    X, y, s = draw()
    regression, _, found = first_fit(X, y, s, 0.3)
    np.testing.assert_array_equal(np.flatnonzero(found.w), [0, 1])
    assert len(regression.columns.A) <= P / 3
    assert regression.columns.full is None
    assert found.gap == np.inf  # other columns may be needed


@pytest.mark.parametrize("alpha", [1e-4, 1e3])
def test_where_all_columns_or_none_are_needed_there_is_no_first_fit(alpha):
    regression, _, found = first_fit(*draw(), alpha)
    assert found is None
    assert regression.columns.full is not None


def hidden(order):
    """Column 7 says much about y, in rows that the first fit does not see."""
    X, y, s = draw(order)
    seen = screened_gram.chunked_subsample(Rows(np.arange(N, dtype=float)[:, None]), 16 * P).X[:, 0]
    X[seen.astype(int), 7] = 0.0
    unseen = np.setdiff1d(np.arange(N), seen.astype(int))
    X[unseen, 7] *= 3
    return X, y + 2 * X[:, 7], s


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_column_that_was_missed_is_found(order, weighted, monkeypatch):
    X, y, s = hidden(order)
    s = s if weighted else None
    regression, _, first = first_fit(X, y, s, 0.5)
    assert first.w[7] == 0
    residuals = regression.columns.evaluate(first.w)
    r = y - X @ first.w - regression.columns.intercept(first.w)
    r *= 1 if s is None else s
    np.testing.assert_allclose(residuals.v, X.T @ r / N, atol=1e-10)
    (w, b, certificate), full = both(Lasso(0.5), X, y, s, monkeypatch)
    assert w[7] != 0
    np.testing.assert_allclose(w, full.coef_, atol=1e-10)
    np.testing.assert_allclose(b, full.intercept_, atol=1e-10)
    assert certificate.residual <= 2 * full.certificate_.residual + 1e-12


def test_columns_far_away_or_out_of_range_take_all_sums(monkeypatch):
    X, y, _ = draw()
    for change in (lambda X: X + 1e6, lambda X: X * 10.0 ** np.where(np.arange(P) == 3, 200, 0)):
        (w, _, certificate), full = both(Lasso(0.3), change(X), y, None, monkeypatch)
        np.testing.assert_array_equal(w, full.coef_)
        assert certificate.certified


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")  # either way
def test_a_number_out_of_range_that_was_not_seen_takes_all_sums(monkeypatch):
    X, y, _ = draw()
    X[1, 3] = 1e300  # of row 1 the first fit knows nothing
    (w, _, _), full = both(Lasso(0.3), X, y, None, monkeypatch)
    np.testing.assert_allclose(w, full.coef_, atol=1e-12)


@pytest.mark.parametrize("before", [1e3, 0.5, 1e-3])
def test_a_warm_start_begins_anywhere(before):
    X, y, s = draw()
    cold, model = Lasso(0.3).fit(X, y, s), Lasso(before, warm_start=True).fit(X, y, s)
    model.set_params(alpha=0.3).fit(X, y, s)
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-10)
    assert model.certificate_.certified


@pytest.mark.parametrize("column", [0, 7])
def test_a_value_that_is_no_number_is_named(column):
    X, y, _ = draw()
    X[1, column] = np.nan
    with pytest.raises(ValueError, match=rf"column {column} of X .*rows? 1"):
        Lasso(0.3).fit(np.vstack([X] * 40), np.tile(y, 40))  # too large to be looked at before


def test_same_bits_on_any_number_of_threads():
    X, y, s = hidden("F")
    X, y, s = np.asfortranarray(np.vstack([X] * 40)), np.tile(y, 40), np.tile(s, 40)
    found = []
    for threads in (1, 3):
        columns = screened_gram.ScreenedGram(Rows(X, y[:, None], s, threads=threads), s.sum(), True)
        penalty = elastic_net_path.CoordinatePenalty(np.full(P, 0.5), np.zeros(P))
        with blas_limiter:
            first = columns.first_fit(penalty, 1e-9)
            found.append((first.w, *columns.evaluate(first.w)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_first_fit_is_a_step():
    X, y, _ = draw()
    _, _, found = first_fit(X, y, None, 0.3)
    assert found.step().objective == pytest.approx(found.objective)
    assert found.step().parameters().w is found.w
    assert Lasso(0.3, max_iter=1).fit(X, y).certificate_.certified
