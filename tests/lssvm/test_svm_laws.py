"""How the answer of a kernel machine changes when the problem does, besides ``contract/laws.py``.

| law | what changes |
|---|---|
| one shift of all columns | nothing with gamma="scale" (rbf) |
| unit of X up to 2^±100 | nothing with gamma="scale" (rbf) |
| order of rows | β follows |
| names of classes | nothing; of two classes exchanged, f changes its sign |
| weight 2 | the row twice (without density) |
| weight 0 | the row is not there (without density) |
| unit of weights | C counts as much less |
| shift and unit of y | of numbers: f follows |
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certus.svm import LSSVC, LSSVCCV, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC
from tests.contract.problems import weights
from tests.lssvm.svm_cases import blobs, curve

few = settings(max_examples=8, deadline=None, derandomize=True)
CLASSIFIERS = [LSSVC, LSSVCCV, DensityWeightedLSSVC, DensityWeightedSVC]
each_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
SEEDS = range(3)
NEAR = {DensityWeightedSVC: 1e-3}  # it is certified to 1e-6 of the objective, √ of that in f


def tol(cls):
    return NEAR.get(cls, 1e-8)


def on_a_grid(seed, **options):
    """Rows on multiples of 1/64: shifts and scales by powers of 2 are exact."""
    X, y = blobs(seed, **options)
    return np.rint(64 * X) / 64, y


@each_classifier
@few
@given(seed=st.integers(0, 5), power=st.integers(0, 20))
def test_a_shift_of_the_columns_changes_nothing(cls, seed, power):
    X, y = on_a_grid(seed)
    there, here = cls().fit(X + 2.0**power, y), cls().fit(X, y)
    f = here.decision_function(X)
    np.testing.assert_allclose(there.decision_function(X + 2.0**power), f, atol=10 * tol(cls))


@each_classifier
@few
@given(seed=st.integers(0, 5), power=st.integers(-100, 100))
def test_the_unit_of_x_changes_nothing(cls, seed, power):
    X, y = on_a_grid(seed, classes=3)
    c = 2.0**power
    there, here = cls().fit(c * X, y), cls().fit(X, y)
    np.testing.assert_allclose(
        there.decision_function(c * X), here.decision_function(X), atol=10 * tol(cls)
    )


@each_classifier
@pytest.mark.parametrize("seed", SEEDS)
def test_no_row_knows_its_place(cls, seed):
    X, y = blobs(seed, classes=3)
    s, order = weights(seed, len(X)), np.random.default_rng(seed).permutation(len(X))
    here, there = cls().fit(X, y, s), cls().fit(X[order], y[order], s[order])
    np.testing.assert_allclose(
        there.decision_function(X), here.decision_function(X), atol=10 * tol(cls)
    )
    if cls is not DensityWeightedSVC:
        np.testing.assert_allclose(there.dual_coef_, here.dual_coef_[:, order], atol=1e-8)


@each_classifier
@pytest.mark.parametrize("seed", SEEDS)
def test_two_classes_exchanged_change_the_sign(cls, seed):
    X, y = blobs(seed, share=0.3)
    here, there = cls().fit(X, y), cls().fit(X, 1 - y)
    np.testing.assert_allclose(
        there.decision_function(X), -here.decision_function(X), atol=10 * tol(cls)
    )
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-5)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@few
@given(seed=st.integers(0, 20))
def test_weight_two_equals_a_repeated_row_and_weight_zero_none(kernel, class_weight, seed):
    X, y = blobs(seed, n=40, classes=3, shift=1.0)
    s = np.random.default_rng(seed).integers(0, 4, size=len(X))
    options = {"kernel": kernel, "class_weight": class_weight, "coef0": 1.0, "degree": 2}
    weighted = LSSVC(**options).fit(X, y, s)
    repeated = LSSVC(**options).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert weighted.gamma_ == pytest.approx(repeated.gamma_)
    f = repeated.decision_function(X)
    np.testing.assert_allclose(weighted.decision_function(X), f, atol=1e-7)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    assert (weighted.dual_coef_[:, s == 0] == 0).all()


@pytest.mark.parametrize("cls", [LSSVC, DensityWeightedLSSVC, DensityWeightedSVC])
@pytest.mark.parametrize("c", [1e-3, 50.0])
def test_weights_of_rows_multiply_their_loss_so_does_C(cls, c):
    X, y = blobs(1, share=0.3)
    s = weights(1, len(X))
    here, there = cls(2.0).fit(X, y, c * s), cls(2.0 * c).fit(X, y, s)
    if cls().get_params()["class_weight"] == "balanced":  # shares of weights: the unit is gone
        np.testing.assert_allclose(here.class_weight_, there.class_weight_, rtol=1e-12)
    np.testing.assert_allclose(
        here.decision_function(X), there.decision_function(X), atol=10 * tol(cls)
    )


@few
@given(seed=st.integers(0, 20), power=st.integers(-40, 40), shift=st.integers(-1000, 1000))
def test_predictions_follow_the_unit_and_the_origin_of_y(seed, power, shift):
    X, y = curve(seed)
    y, c = np.rint(64 * y) / 64, 2.0**power
    here, there = LSSVR(3.0).fit(X, y), LSSVR(3.0).fit(X, c * (y + shift))
    f = here.predict(X) + shift
    np.testing.assert_allclose(there.predict(X) / c, f, atol=1e-9 * (1 + abs(shift)))
    assert there.loo_r2_ == pytest.approx(here.loo_r2_, abs=1e-7)
