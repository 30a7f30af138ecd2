"""Ordinal regression on streamed rows: the bits of fits on arrays, their order and their proofs."""

import numpy as np
import pytest
from sklearn.base import clone

import certus
from certus.exceptions import OrderWarning
from certus.linear_model import LogisticRegression, OrdinalRegression
from certus.solvers.separation import ordering
from tests.engines.parts_table import PartsTable
from tests.streamed.class_cases import CASES, LABELS, N, P, draw, table_of
from tests.streamed.linear_cases import assert_equal_bits
from tests.streams import ArrayTable, GuardedTable

pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.OrderWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]


def draw_ordered(K=3, n=N, weights=False, seed=0):
    """X, ordered class indices and s of a proportional-odds model."""
    X, _, s = draw(K, seed, n, weights=weights)
    z = X @ np.linspace(-1, 1, P) + np.random.default_rng(seed + 1).logistic(size=n)
    return X, np.digitize(z, np.quantile(z, np.linspace(0, 1, K + 1)[1:-1])), s


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_a_fit_to_a_table_has_the_bits_of_the_fit_to_arrays(alpha, case, K, small_blocks):
    X, k, s = CASES[case](K)
    table = table_of(X, k, s)
    streamed = OrdinalRegression(alpha=alpha).fit(table)
    on_arrays = OrdinalRegression(alpha=alpha).fit(X, LABELS[k], s)
    assert_equal_bits(streamed, on_arrays)
    assert streamed.certificate_.explain() == on_arrays.certificate_.explain()
    again = certus.verify(streamed, table)
    assert again.status == streamed.certificate_.status
    assert streamed.certificate_.certified == (again.status == "optimal")
    np.testing.assert_array_equal(streamed.predict_proba(table), on_arrays.predict_proba(X))
    np.testing.assert_array_equal(streamed.latent(table), on_arrays.latent(X))


@pytest.mark.parametrize("case", ["weights", "aliased", "nearly dependent", "separated"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_parts_with_an_engine_have_the_bits_of_arrays(alpha, case):
    X, k, s = CASES[case](3)
    table = PartsTable(X, k, s, cuts=(700, 701, 5000), classes=LABELS[:3])
    model = OrdinalRegression(alpha=alpha)
    streamed = clone(model).fit(table)
    assert_equal_bits(streamed, clone(model).fit(X, LABELS[k], s))
    assert certus.verify(streamed, table).status == streamed.certificate_.status


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_no_step_reads_more_than_a_share_of_the_rows(alpha, small_blocks):
    X, k, s = draw_ordered(n=4 * N, weights=True)
    table = GuardedTable(X, k, s, most=N, classes=LABELS[:3])
    model = OrdinalRegression(alpha=alpha).fit(table)
    assert certus.verify(model, table).certified
    assert model.score(table) > 0.5
    assert 0 < table.largest <= N


def test_classes_of_a_table_come_in_the_order_that_is_given(small_blocks):
    X, k, s = draw_ordered(weights=True)
    order = ["none", "low", "high"]
    names = np.array(order)
    ascending = np.sort(names)
    table = ArrayTable(X, np.searchsorted(ascending, names[k]), s, classes=ascending)
    model = OrdinalRegression(categories=order).fit(table)
    assert model.classes_.tolist() == order
    assert_equal_bits(model, OrdinalRegression(categories=order).fit(X, names[k], s))
    assert certus.verify(model, table).certified
    assert model.score(table) == pytest.approx(model.score(X, names[k], s), rel=1e-12)
    with pytest.warns(OrderWarning, match="order of text"):
        OrdinalRegression().fit(table)
    with pytest.raises(ValueError, match=r"y holds 'none', which is not among categories"):
        OrdinalRegression(categories=["low", "high"]).fit(table)


def test_two_classes_are_logistic_regression(small_blocks):
    X, k, s = draw_ordered(2, weights=True)
    ordinal = OrdinalRegression(alpha=0.5).fit(table_of(X, k, s))
    logistic = LogisticRegression(C=2.0).fit(table_of(X, k, s))
    np.testing.assert_allclose(ordinal.coef_, logistic.coef_, atol=1e-4)


@pytest.mark.parametrize("rows", [300, N])
def test_an_order_with_ties_is_never_certified(rows, small_blocks, monkeypatch):
    """The linear program of all rows, or of a sample, sees the order; rounding hides its ties."""
    monkeypatch.setattr(ordering, "MAX_LOADED_ENTRIES", 2 * (P + 3) * rows)
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, size=(N, P)).astype(float)
    z, coin = X @ [7, -11, 0, 0, 0, 0], rng.integers(0, 2, size=N)
    k = (z > -40).astype(int) + (z > 35)
    k[z == -40], k[z == 35] = coin[z == -40], 1 + coin[z == 35]
    model = OrdinalRegression().fit(table_of(X, k))
    on_arrays = OrdinalRegression().fit(X, LABELS[k])
    assert not model.certificate_.certified
    assert model.certificate_.status == on_arrays.certificate_.status


def test_a_table_without_labels_is_refused_in_words():
    X, k, _ = draw(3)
    with pytest.raises(ValueError, match="classes=True"):
        OrdinalRegression().fit(ArrayTable(X, k))
    with pytest.raises(ValueError, match=r"target="):
        OrdinalRegression().fit(ArrayTable(X))
