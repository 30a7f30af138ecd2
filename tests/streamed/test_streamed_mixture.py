"""Mixtures on streamed rows: from the same start, the bits of the fit on arrays; certificates."""

import numpy as np
import pytest
import sklearn.mixture as sk
from sklearn.base import clone

import certus
from certus.exceptions import CannotVerifyError
from certus.mixture import BernoulliMixture, GaussianMixture, PoissonMixture
from certus.solvers.mixture import densities, em, missing_patterns, starts
from tests.engines.parts_table import PartsTable
from tests.streamed.linear_cases import assert_equal_bits
from tests.streamed.mixture_cases import (
    COUNT_CASES,
    EVERY_CASE,
    GAUSSIAN_CASES,
    SHAPES,
    K,
    N,
    clouds,
    counts,
    given_start,
    table_of,
    with_holes,
    with_repeated_row,
)
from tests.streams import GuardedTable, cut_small, watch_blocks

pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
]


def assert_equal_answers(streamed, arrays, table, X):
    for method in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(streamed, method)(table), getattr(arrays, method)(X))


def assert_same_verdict(model, table):
    certificate = certus.verify(model, table)
    assert certificate.status == model.certificate_.status
    assert certificate.objective == model.certificate_.objective


@pytest.mark.parametrize("case", [c for c in GAUSSIAN_CASES if c != "fewer rows than columns"])
@pytest.mark.parametrize("shape", SHAPES)
def test_from_a_given_start_the_bits_are_those_of_arrays(shape, case, small_blocks):
    X, s = GAUSSIAN_CASES[case]()
    model = GaussianMixture(K, covariance_type=shape, max_iter=12, **given_start(shape, X))
    table = table_of(X, s)
    streamed, arrays = clone(model).fit(table), clone(model).fit(X, sample_weight=s)
    assert_equal_bits(streamed, arrays)
    assert_equal_answers(streamed, arrays, table, X)
    assert_same_verdict(streamed, table)


@pytest.mark.parametrize(("model", "make"), COUNT_CASES.values(), ids=COUNT_CASES)
def test_counts_continue_from_a_given_start_with_the_bits_of_arrays(model, make, small_blocks):
    X, s = make()
    begun = clone(model).set_params(max_iter=2, warm_start=True).fit(X, sample_weight=s)
    streamed, arrays = (clone(begun).set_params(max_iter=8) for _ in range(2))
    for other in (streamed, arrays):
        vars(other).update({k: v for k, v in vars(begun).items() if k.endswith("s_")})
    table = table_of(X, s)
    assert_equal_bits(streamed.fit(table), arrays.fit(X, sample_weight=s))
    assert_equal_answers(streamed, arrays, table, X)
    assert_same_verdict(streamed, table)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random_from_data"])
@pytest.mark.parametrize("case", EVERY_CASE)
def test_a_table_no_larger_than_its_sample_starts_as_arrays_do(case, init, small_blocks):
    model, make = EVERY_CASE[case]
    X, s = make()
    model = clone(model).set_params(init_params=init, max_iter=5, n_init=2)
    assert_equal_bits(clone(model).fit(table_of(X, s)), clone(model).fit(X, sample_weight=s))


@pytest.mark.parametrize("solver", ["em", "lbfgs"])
@pytest.mark.parametrize("annealing", [None, [4.0, 2.0]])
def test_other_ways_to_the_optimum_have_the_bits_of_arrays(annealing, solver, small_blocks):
    X, s = clouds(weights=True)
    model = GaussianMixture(K, solver=solver, annealing=annealing, random_state=0, max_iter=6)
    assert_equal_bits(clone(model).fit(table_of(X, s)), clone(model).fit(X, sample_weight=s))


def test_compiled_loops_have_the_bits_of_arrays(monkeypatch):
    monkeypatch.setattr(densities, "MIN_COMPILED_MULTIPLICATIONS", 0)
    monkeypatch.setattr(em, "MIN_COMPILED_RESPONSIBILITIES", 0)
    X, s = clouds(weights=True)
    for shape in ("full", "diag"):
        model = GaussianMixture(K, covariance_type=shape, max_iter=5, random_state=0)
        assert_equal_bits(clone(model).fit(table_of(X, s)), clone(model).fit(X, sample_weight=s))


STATUS = {"repeated row": ("local optimum", "degenerate")}  # the start decides which


@pytest.mark.parametrize("init", starts.STARTS)
@pytest.mark.parametrize("case", [c for c in EVERY_CASE if c != "fewer rows than columns"])
def test_starts_from_a_sample_lead_to_a_certified_local_optimum(
    case, init, small_blocks, monkeypatch
):
    monkeypatch.setattr(starts, "sample_rows", lambda p: 100)
    model, make = EVERY_CASE[case]
    X, s = make()
    table = table_of(X, s)
    streamed = clone(model).set_params(init_params=init).fit(table)
    assert streamed.certificate_.status in STATUS.get(case, ("local optimum",))
    assert certus.verify(streamed, X, sample_weight=s).status == streamed.certificate_.status
    assert_same_verdict(streamed, table)
    assert np.isfinite(streamed.score(table))


def test_well_separated_clouds_are_found_from_a_sample(small_blocks, monkeypatch):
    monkeypatch.setattr(starts, "sample_rows", lambda p: 60)
    X, s = clouds(weights=True)
    streamed = GaussianMixture(K, random_state=0).fit(table_of(X, s))
    arrays = GaussianMixture(K, random_state=0).fit(X, sample_weight=s)
    assert streamed.lower_bound_ == pytest.approx(arrays.lower_bound_, abs=1e-5)


def test_random_starts_are_repeated_by_the_seed_on_any_number_of_threads(small_blocks):
    X, s = clouds(weights=True)
    model = GaussianMixture(K, init_params="random", random_state=3, max_iter=3)
    first = clone(model).fit(table_of(X, s))
    with certus.config_context(threads=1):
        again = clone(model).fit(table_of(X, s))
    np.testing.assert_array_equal(first.means_, again.means_)
    other = clone(model).set_params(random_state=4).fit(table_of(X, s))
    assert (first.means_ != other.means_).all()


# --- scores, scikit-learn's models, refusals ------------------------------------------------------


@pytest.mark.parametrize("case", EVERY_CASE)
def test_scores_of_a_table_count_rows_by_their_weights(case, small_blocks):
    model, make = EVERY_CASE[case]
    X, s = make()
    streamed = clone(model).set_params(max_iter=3).fit(table_of(X, s))
    repeated = X if s is None or (s % 1).any() else np.repeat(X, s.astype(int), axis=0)
    table = table_of(X) if repeated is X else table_of(X, s)
    assert streamed.score(table) == pytest.approx(streamed.score(repeated), rel=1e-11)
    assert streamed.bic(table) == pytest.approx(streamed.bic(repeated), rel=1e-11)
    assert streamed.aic(table) == pytest.approx(streamed.aic(repeated), rel=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_model_of_scikit_learn_is_verified_on_streamed_rows(shape, small_blocks):
    X, _ = clouds()
    model = sk.GaussianMixture(K, covariance_type=shape, tol=1e-12, max_iter=500, random_state=0)
    table = table_of(X)
    assert certus.verify(model.fit(X), table).status == "local optimum"
    model.means_[0] += 0.5
    assert certus.verify(model, table).status != "local optimum"


def test_an_edited_model_and_other_rows_are_refused(small_blocks):
    X, s = clouds(weights=True)
    model = GaussianMixture(K, random_state=0).fit(table_of(X, s))
    other = X.copy()
    other[np.flatnonzero(s)[N // 3]] += 0.5
    assert certus.verify(model, table_of(other, s)).status == "other rows"
    assert certus.verify(model, table_of(X)).status == "other rows"
    model.means_[1, 0] += 0.1
    assert not certus.verify(model, table_of(X, s)).certified


def test_the_row_onto_which_a_component_collapsed_is_named(small_blocks):
    X, s = with_repeated_row()
    model = GaussianMixture(4, random_state=0, n_init=3)
    found = [
        clone(model).fit(*given).certificate_._finding.degenerate
        for given in ((table_of(X, s),), (X, None, s))
    ]
    assert found[0]
    assert found[0] == found[1]
    np.testing.assert_array_equal(X[found[0][0].row], X[5])


def test_what_does_not_fit_a_mixture_is_refused_in_words():
    X, _ = clouds()
    holes, _ = with_holes()
    for model, table, words in [
        (GaussianMixture(5), table_of(X[:4]), "n_samples >= n_components"),
        (GaussianMixture(1), table_of(X[:3], [0, 0, 2.0]), "1 with a weight above 0"),
        (GaussianMixture(2), table_of(np.ones((9, 2))), "every column of X is constant"),
        (BernoulliMixture(2), table_of(2 * np.abs(X)), r"column 0 of X holds .*row \d+"),
        (PoissonMixture(2), table_of(X), "Negative values in data: column"),
        (PoissonMixture(2), table_of(np.abs(holes)), "missing=True, and PoissonMixture"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(table)
    with pytest.raises(ValueError, match="sample_weight was given beside"):
        GaussianMixture(2).fit(table_of(X), sample_weight=np.ones(N))
    model = GaussianMixture(2, max_iter=2).fit(table_of(X))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(table_of(X[:, :3]))
    with pytest.raises(CannotVerifyError, match="expecting 4 features"):
        certus.verify(model, table_of(X[:, :3]))


def test_the_first_entry_out_of_range_is_named(small_blocks):
    X, _ = counts()
    X[2345, 3], X[2700, 0] = -2.0, -1.0
    with pytest.raises(ValueError, match=r"column 3 of X holds -2 \(row 2345\)"):
        PoissonMixture(2).fit(table_of(X))


def test_a_sample_without_weights_grows_or_is_refused(monkeypatch):
    monkeypatch.setattr(starts, "sample_rows", lambda p: 20)
    X, _ = clouds()
    s = np.zeros(N)
    s[::40] = 1.0
    model = GaussianMixture(K, random_state=0).fit(table_of(X, s))
    assert model.certificate_.certified
    monkeypatch.setattr(starts, "MAX_SAMPLE_GROWTH", 1)
    s[:] = 0.0
    s[[7, 8, 9, 10]] = 1.0
    with pytest.raises(ValueError, match="of 48 sampled rows have a weight above 0"):
        GaussianMixture(K, random_state=0).fit(table_of(X, s))


def test_patterns_beyond_the_cache_change_no_bit(small_blocks, monkeypatch):
    X, s = with_holes()
    model = GaussianMixture(K, random_state=0, max_iter=4)
    expected = clone(model).fit(X, sample_weight=s)
    monkeypatch.setattr(missing_patterns, "MAX_CACHED_BLOCKS", 2)
    assert_equal_bits(clone(model).fit(table_of(X, s)), expected)


# --- blocks and memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("case", EVERY_CASE)
def test_blocks_of_mixtures_are_pure(case, compiled, monkeypatch):
    cut_small(monkeypatch, 1 << 14)
    called = watch_blocks(monkeypatch, streamed_alone=True)
    if compiled:
        monkeypatch.setattr(densities, "MIN_COMPILED_MULTIPLICATIONS", 0)
        monkeypatch.setattr(em, "MIN_COMPILED_RESPONSIBILITIES", 0)
    model, make = EVERY_CASE[case]
    X, s = make()
    table = table_of(X, s)
    fitted = clone(model).set_params(max_iter=3).fit(table)
    random = clone(model).set_params(max_iter=1, init_params="random")
    random.fit(table)
    certus.verify(fitted, table)
    assert_equal_answers(fitted, fitted, table, X)
    assert np.isfinite(fitted.score(table))
    assert len(set(called)) > 5
    assert not any("lambda" in name or "locals" in name for name in called)


@pytest.mark.parametrize("case", EVERY_CASE)
def test_parts_give_the_bits_of_arrays(case):
    model, make = EVERY_CASE[case]
    X, s = make()
    n = len(X)
    table = table_of(X, s, PartsTable, cuts=(n // 7, n // 2, n // 2, n - 1))
    model = clone(model).set_params(max_iter=3)
    streamed, arrays = clone(model).fit(table), clone(model).fit(X, sample_weight=s)
    assert_equal_bits(streamed, arrays)
    assert_equal_answers(streamed, arrays, table, X)
    assert_same_verdict(streamed, table)


@pytest.mark.parametrize("case", [c for c in EVERY_CASE if c != "fewer rows than columns"])
def test_no_step_reads_more_than_a_share_of_the_rows(case, small_blocks, monkeypatch):
    monkeypatch.setattr(starts, "sample_rows", lambda p: 500)
    monkeypatch.setattr("certus.mixture._gaussian_components.MIN_PATTERN_BLOCK_ROWS", 128)
    monkeypatch.setattr("certus.solvers.mixture.gaussian.BLOCK_ELEMENTS", 1 << 12)
    monkeypatch.setattr("certus.solvers.mixture.counts.BLOCK_ELEMENTS", 1 << 12)
    model, make = EVERY_CASE[case]
    X, s = tiled(*make())
    table = table_of(X, s, GuardedTable, most=len(X) // 4)
    fitted = clone(model).set_params(max_iter=3).fit(table)
    certus.verify(fitted, table)
    assert fitted.score_samples(table).shape == (len(X),)
    assert fitted.fit_predict(table).shape == (len(X),)
    assert np.isfinite(fitted.bic(table))
    assert 0 < table.largest <= len(X) // 4


def tiled(X, s):
    times = 20 * N // len(X)
    return np.tile(X, (times, 1)), None if s is None else np.tile(s, times)
