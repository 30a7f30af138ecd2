"""Poisson and Gamma regression on streamed rows: the bits of fits on arrays, and their proofs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import certus
from certus.exceptions import CannotVerifyError
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
    with pytest.raises(ValueError, match=r"exposure as numbers: .*read block by block"):
        PoissonRegressor().fit(table_of(X, y), exposure=np.ones(N))
    e = np.ones(N)
    table, names = table_of(X, np.column_stack([y, e])), ("claims", "years")
    table.target_names = names
    with pytest.raises(ValueError, match=r"exposure='yeras': .* The targets of .*: claims, years"):
        PoissonRegressor().fit(table, exposure="yeras")
    with pytest.raises(ValueError, match="has 2 targets: say which of them is the exposure"):
        PoissonRegressor().fit(table)
    model = PoissonRegressor().fit(table, exposure="years")
    with pytest.raises(CannotVerifyError, match="has 2 targets: say which of them is the exposure"):
        certus.verify(model, table)
    alone = table_of(X, y)
    alone.target_names = ("claims",)
    with pytest.raises(ValueError, match=r"has 1 target \(claims\).*open it with two"):
        PoissonRegressor().fit(alone, exposure="claims")
    e[4321] = 0
    table = table_of(X, np.column_stack([y, e]))
    table.target_names = names
    with pytest.raises(ValueError, match=r"'years' has 1 value not above 0 \(first: row 4321, 0"):
        PoissonRegressor().fit(table, exposure="years")


@pytest.mark.parametrize("kind", ["blocks", "parts"])
@pytest.mark.parametrize("role", ["exposure", "offset"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_an_exposure_is_a_second_target_of_a_table(model, role, kind, small_blocks):
    X, y, s = draw(weights=True)
    e = np.random.default_rng(3).uniform(0.5, 3.0, size=len(X))
    y = positive(model, X, y) * (e if isinstance(model, GammaRegressor) else 1.0)
    column = e if role == "exposure" else np.log(e)
    both = np.column_stack([column, y])  # in any order
    table = table_of(X, both, s)
    if kind == "parts":
        table = PartsTable(X, both, s, cuts=(700, 701, 5000))
    table.target_names = ("years", "claims")
    streamed = clone(model).fit(table, **{role: "years"})
    on_arrays = clone(model).fit(X, y, s, **{role: column})
    assert_equal_bits(streamed, on_arrays)
    assert certus.verify(streamed, table, **{role: "years"}).status == (
        on_arrays.certificate_.status
    )
    assert streamed.score(table, **{role: "years"}) == pytest.approx(
        on_arrays.score(X, y, s, **{role: column}), rel=1e-12
    )
    np.testing.assert_array_equal(
        streamed.predict(table, **{role: "years"}), on_arrays.predict(X, **{role: column})
    )
    if model.alpha == 0 and on_arrays.certificate_.certified:
        np.testing.assert_allclose(
            streamed.inference(table, **{role: "years"}).standard_errors,
            on_arrays.inference(X, y, s, **{role: column}).standard_errors,
            rtol=1e-12,
        )


def test_exposures_of_a_csv_file_are_named(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=300), "years": rng.uniform(0.5, 3, size=300)})
    frame["claims"] = rng.poisson(frame.years * np.exp(0.3 * frame.age))
    frame.to_csv(tmp_path / "claims.csv", index=False)
    with certus.open_rows(tmp_path / "claims.csv", target=["claims", "years"]) as rows:
        model = PoissonRegressor(alpha=0).fit(rows, exposure="years")
        assert certus.verify(model, rows, exposure="years").certified
    other = PoissonRegressor(alpha=0).fit(frame[["age"]], frame.claims, exposure=frame.years)
    np.testing.assert_array_equal(model.coef_, other.coef_)
