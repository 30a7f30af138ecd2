"""Poisson and Gamma regression on streamed rows: the bits of fits on arrays, and their proofs."""

import numpy as np
import pytest
from sklearn.base import clone

import certus
from certus.linear_model import GammaRegressor, PoissonRegressor
from tests.engines.parts_table import PartsTable
from tests.streamed.linear_cases import CASES, N, assert_equal_bits, draw, table_of
from tests.streams import GuardedTable

pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]
MODELS = [
    PoissonRegressor(alpha=0.0), PoissonRegressor(alpha=0.1), GammaRegressor(alpha=0.0),
    PoissonRegressor(alpha=0.05, l1_ratio=1.0), PoissonRegressor(alpha=0.1, solver="newton-cg"),
    GammaRegressor(alpha=0.1), GammaRegressor(alpha=0.05, l1_ratio=1.0),
]  # fmt: skip


def positive(model, X, y):
    """Targets in the range of a model, of about the scores of the case."""
    z = (y - y.mean()) / (3 * y.std() + 1e-300)
    rng = np.random.default_rng(2)
    if isinstance(model, GammaRegressor):
        return np.exp(z) * rng.gamma(2.0, 0.5, size=len(y))
    return rng.poisson(2 * np.exp(z)).astype(float)


@pytest.mark.parametrize("case", [name for name in CASES if name != "two targets"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_to_a_table_has_the_bits_of_the_fit_to_arrays(model, case, small_blocks):
    X, y, s = CASES[case]()
    y = positive(model, X, y)
    table = table_of(X, y, s)
    streamed, on_arrays = clone(model).fit(table), clone(model).fit(X, y, s)
    assert_equal_bits(streamed, on_arrays)
    assert streamed.certificate_.explain() == on_arrays.certificate_.explain()
    assert certus.verify(streamed, table).status == on_arrays.certificate_.status
    np.testing.assert_array_equal(streamed.predict(table), on_arrays.predict(X))
    assert streamed.score(table) == pytest.approx(on_arrays.score(X, y, s), rel=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_parts_with_an_engine_have_the_bits_of_arrays(model):
    X, y, s = draw(weights=True)
    y = positive(model, X, y)
    table = PartsTable(X, y, s, cuts=(700, 701, 5000))
    streamed = clone(model).fit(table)
    assert_equal_bits(streamed, clone(model).fit(X, y, s))
    assert certus.verify(streamed, table).certified


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_step_reads_more_than_a_share_of_the_rows(model, small_blocks):
    X, y, s = draw(n=4 * N, weights=True)
    table = GuardedTable(X, positive(model, X, y), s, most=N)
    fitted = clone(model).fit(table)
    assert certus.verify(fitted, table).certified
    assert fitted.score(table) > 0
    assert 0 < table.largest <= N


def test_a_category_of_zeros_is_named_block_by_block(small_blocks):
    X, y, _ = draw()
    X[:, 0] = np.arange(N) % 5 == 0
    y = positive(MODELS[0], X, y) * (X[:, 0] == 0)
    with pytest.warns(certus.exceptions.SeparationWarning, match="column 0 = 1 has count 0"):
        model = PoissonRegressor(alpha=0).fit(table_of(X, y))
    assert certus.verify(model, table_of(X, y)).status == "no finite optimum"


def test_bad_targets_and_exposures_of_a_table_are_refused(small_blocks):
    X, y, _ = draw()
    y = positive(MODELS[0], X, y)
    y[4321] = -3
    with pytest.raises(ValueError, match=r"1 target below 0.*first: row 4321, -3"):
        PoissonRegressor().fit(table_of(X, y))
    y[4321] = 3
    with pytest.raises(ValueError, match="read block by block"):
        PoissonRegressor().fit(table_of(X, y), exposure=np.ones(N))
