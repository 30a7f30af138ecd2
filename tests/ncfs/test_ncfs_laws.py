"""How the answer of NCFS changes when the problem does, besides the laws of ``contract/laws.py``.

| law | what changes |
|---|---|
| far shift of columns | nothing, with any scaling inside and without (Φ_s alone has an origin) |
| unit of columns | nothing with scaling inside; else W is in these units |
| names of classes | nothing |
| unit of the weights of rows | F grows along; with λ = "auto" the weights stay |
| unit and origin of y | of numbers: nothing, see ``test_ncfs_regressor.py`` |
| σ | cσ with λ/c and metric L1: W grows along |
| float32 | the same numbers in float64 |
| threads | nothing, not a bit |

Weight 3 is not the row three times: weights are of rows that are asked, and a copy of a row is its
nearest neighbour. Weight 0 is a row that is not asked and still answers.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import certus
from certus.feature_selection import NCFSClassifier, NCFSRegressor
from tests.contract.problems import weights
from tests.ncfs.ncfs_cases import METRICS, curve, signal

few = settings(max_examples=5, deadline=None, derandomize=True)
SEEDS = range(3)
SCALES = ["minmax", "standard", None]


def regular(seed):
    """On a grid of 1/64, with a maximum for every metric."""
    return signal([0, 3, 9][seed % 3], n=120, P=6, informative=4)


def fit(X, y, s=None, **how):
    return NCFSClassifier(how.pop("alpha", 0.5), tol=1e-9, **how).fit(X, y, s)


def same(there, here, W=None, rtol=1e-5):
    W = here.weights_ if W is None else W
    np.testing.assert_allclose(there.weights_, W, rtol=0, atol=rtol * W.max())
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)


pytestmark = pytest.mark.filterwarnings(
    "ignore::certus.exceptions.NotCertifiedWarning"  # rounding hides so small a residual
)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", SCALES)
@few
@given(seed=st.integers(0, 2), power=st.integers(0, 25), sign=st.sampled_from([-1, 1]))
def test_a_shift_of_the_columns_changes_nothing(metric, scale, seed, power, sign):
    if metric == "phi_s" and scale is None:
        return  # variance of a row about its mean: columns have an origin
    X, y = regular(seed)
    c = sign * np.rint(2.0**power * np.linspace(0.5, 1, X.shape[1]))
    there, here = (fit(Z, y, metric=metric, scale=scale) for Z in (X + c, X))
    same(there, here)
    np.testing.assert_allclose(there.predict_proba(X + c), here.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", SCALES[:2])
@few
@given(seed=st.integers(0, 2), spread=st.floats(0, 30))
def test_each_column_may_have_its_own_unit(metric, scale, seed, spread):
    X, y = regular(seed)
    d = 10 ** np.linspace(-spread, spread, X.shape[1])
    there, here = (fit(Z, y, metric=metric, scale=scale) for Z in (X * d, X))
    same(there, here)
    np.testing.assert_allclose(there.predict_proba(X * d), here.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("c", [0.1, 3.0, 20.0])
def test_without_scaling_weights_are_in_the_units_of_the_columns(c):
    """Σ (W/c)|cΔ| = Σ W|Δ|, and λ counts c times as much for a c-th of the weight."""
    X, y = regular(0)
    there, here = fit(c * X, y, scale=None, alpha=0.5 * c), fit(X, y, scale=None)
    same(there, here, here.weights_ / c)


@pytest.mark.parametrize("c", [0.25, 4.0])
def test_a_wider_neighbourhood_is_larger_distances(c):
    X, y = regular(1)
    there, here = fit(X, y, sigma=c, alpha=0.5 / c), fit(X, y)
    same(there, here, c * here.weights_)


@pytest.mark.parametrize("prior", ["empirical", "balanced", "uniform"])
def test_names_of_classes_change_nothing(prior):
    X, y = regular(0)
    there, here = (fit(X, k, alpha="auto", prior=prior) for k in (9 - y, y))
    same(there, here)
    np.testing.assert_array_equal(9 - there.predict(X), here.predict(X))
    np.testing.assert_allclose(there.predict_proba(X)[:, ::-1], here.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("prior", ["empirical", "balanced", "uniform"])
@pytest.mark.parametrize("form", ["sum", "mean"])
@pytest.mark.parametrize("c", [1e-6, 7.0, 1e6])
def test_weights_of_rows_count_relative_to_each_other(prior, form, c):
    X, y = regular(0)
    s = weights(0, len(X))
    how = {"alpha": "auto", "prior": prior, "form": form}
    there, here = fit(X, y, c * s, **how), fit(X, y, s, **how)
    np.testing.assert_allclose(there.weights_, here.weights_, atol=1e-5 * here.weights_.max())
    degree = (form == "sum") - (prior == "balanced")  # of F in s
    assert there.objective_ == pytest.approx(c**degree * here.objective_, rel=1e-9)
    same(fit(X, y, np.ones(len(X)), **how), fit(X, y, **how))


def test_weight_three_is_not_the_row_three_times():
    X, y = regular(0)
    s = np.where(np.arange(len(X)) < 20, 3, 1)
    weighted, repeated = fit(X, y, s), fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert np.abs(weighted.weights_ - repeated.weights_).max() > 0.1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", SEEDS)
def test_float32_rows_are_the_same_numbers(metric, seed):
    X, y = regular(seed)
    X = (X + 0.1).astype(np.float32)
    there, here = (NCFSClassifier(0.5, metric=metric).fit(Z, y) for Z in (X, X.astype(float)))
    same(there, here, rtol=1e-4)
    assert there.certificate_.residual <= 1e-6
    assert there.loo_score_ == here.loo_score_
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_bits_on_any_number_of_threads(metric, dtype):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=700)
    X = (rng.normal(size=(700, 150)) + (np.arange(150) < 4) * y[:, None]).astype(dtype)
    found = []
    for threads in (1, 2, 3):
        with certus.config_context(threads=threads):
            model = NCFSClassifier(1.0, metric=metric, max_iter=6).fit(X, y, weights(1, 700))
            found.append((model, model.predict_proba(X[:50])))
        for name in ("weights_", "objective_", "loo_score_", "n_iter_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(found[0][0], name))
        np.testing.assert_array_equal(found[-1][1], found[0][1])
        assert model.certificate_.residual == found[0][0].certificate_.residual


@pytest.mark.parametrize("how", [{}, {"loss": "squared"}, {"solver": "yang"}])
def test_numbers_on_any_number_of_threads(how):
    X, y = curve(0, n=500, P=80)
    found = []
    for threads in (1, 2):
        with certus.config_context(threads=threads):
            found.append(NCFSRegressor(max_iter=5, **how).fit(X, y).weights_)
    np.testing.assert_array_equal(*found)
