"""Unpenalised logistic and softmax fits where columns nearly repeat others: what is certified is
true in 60 digits, and directions that the data hold are used."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import certus
from certus.exceptions import AliasWarning, NotCertifiedWarning, SeparationWarning
from certus.linear_model import LogisticRegression
from tests.linalg.collinear_cases import KINDS, collinear, exact_loss, exact_optimum

EPSILONS = [10.0**-k for k in range(4, 15)]


def fitted(X, y, s=None, **how):
    with warnings.catch_warnings():
        for kind in (AliasWarning, NotCertifiedWarning, SeparationWarning):
            warnings.simplefilter("ignore", kind)
        return LogisticRegression(C=np.inf, max_iter=200, **how).fit(X, y, s)


def the_claim_is_true(model, X, y, s, fit_intercept, classes=2):
    """Check a certificate that leaves nothing out; return the excess over the null loss."""
    found = model.certificate_
    value = exact_loss(X, y, s, model.coef_.T, model.intercept_)
    excess = float(value - exact_optimum(X, y, s, fit_intercept, classes))
    if found.certified and not found._finding.left_out:
        assert excess <= found.gap
        assert abs(float(value - found.objective)) <= found.gap
    return excess / found._finding.null_objective


def the_example(eps=1e-8):
    rng = np.random.default_rng(0)
    n = 60
    a, b, u, v = rng.normal(size=(4, n))
    X = np.column_stack([a, a + eps * u, b, b + 1e-3 * v])
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * (X[:, 1] - X[:, 0]) / eps))).astype(int)
    return X, y


def test_a_direction_that_the_data_hold_to_eight_digits_is_used():
    X, y = the_example()
    model = fitted(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.objective == pytest.approx(19.2247548687, abs=1e-9)
    assert the_claim_is_true(model, X, y, np.ones(60), True) < 1e-12


def test_the_optimum_of_three_columns_is_not_certified_as_that_of_four():
    X, y = the_example()
    model, less = fitted(X, y), fitted(X[:, [0, 2, 3]], y)
    model.coef_ = np.insert(less.coef_, 1, 0.0, axis=1)
    model.intercept_ = less.intercept_
    found = certus.verify(model, X, y)
    assert found.objective == pytest.approx(40.147, abs=1e-3)
    assert not found.certified


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eps", [1e-5, 1e-8, 1e-12])
def test_fits_are_certified_at_the_true_optimum(kind, eps):
    X, y = collinear(kind, eps, seed=1)
    model = fitted(X, y)
    assert model.certificate_.certified
    assert the_claim_is_true(model, X, y, np.ones(len(y)), True) <= 1e-6


@pytest.mark.exhaustive
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(2, 4))
@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("kind", KINDS)
def test_claims_are_true_however_near_columns_are(kind, eps, seed, fit_intercept):
    X, y = collinear(kind, eps, seed)
    s = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = fitted(X, y, s, fit_intercept=fit_intercept)
    excess = the_claim_is_true(model, X, y, s, fit_intercept)
    if eps > 5e-13:
        assert model.certificate_.certified
        assert excess <= 1e-6


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("eps", EPSILONS[::2])
@pytest.mark.parametrize("kind", ["pair", "low rank"])
def test_softmax_claims_are_true(kind, eps, seed):
    X, y = collinear(kind, eps, seed, n=30, classes=3)
    model = fitted(X, y)
    excess = the_claim_is_true(model, X, y, np.ones(len(y)), True, classes=3)
    if eps > 5e-13:
        assert model.certificate_.certified
        assert excess <= 1e-6


def test_a_softmax_fit_uses_the_direction_too():
    X, y = collinear("triple", 1e-9, seed=0, n=24, classes=3)
    model = fitted(X, y)
    assert model.certificate_.certified
    assert the_claim_is_true(model, X, y, np.ones(24), True, classes=3) <= 1e-9


@pytest.mark.parametrize("eps", [1e-4, 1e-9, 1e-13])
def test_points_beside_the_optimum_are_not_certified(eps):
    """Whatever is certified is within its gap, also of coefficients that no fit made."""
    X, y = collinear("pair", eps, seed=3)
    model, s = fitted(X, y), np.ones(len(y))
    best, w = exact_optimum(X, y, s, True), model.coef_.copy()
    rng = np.random.default_rng(0)
    for size in 10.0 ** -np.arange(1, 12):
        model.coef_ = w * (1 + size * rng.normal(size=w.shape))
        found = certus.verify(model, X, y)
        value = exact_loss(X, y, s, model.coef_.T, model.intercept_)
        if found.certified:
            assert float(value - best) <= found.gap


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sum_up_to_rounding_is_left_out_and_named(dtype, classes):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    price, tax, other = rng.uniform(1, 100, (3, 300)).astype(dtype)
    X = pd.DataFrame({"price": price, "tax": tax, "total": price + tax, "other": other})
    y = np.digitize((price - tax) / 20 + rng.logistic(size=300), [-1, 1][: classes - 1])
    with pytest.warns(AliasWarning):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert model.certificate_.certified
    claim = "optimal among models that do not use 'total' − 'price' − 'tax'"
    assert claim in repr(model.certificate_)
    less = LogisticRegression(C=np.inf).fit(X.drop(columns="total"), y)
    assert model.certificate_.objective == pytest.approx(less.certificate_.objective, rel=1e-6)


def test_what_repeats_exactly_leaves_nothing_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X = np.column_stack([X, X[:, 0], np.full(200, 3.0), np.zeros(200)])
    y = (rng.random(200) < 1 / (1 + np.exp(-X[:, 1]))).astype(int)
    with pytest.warns(AliasWarning):
        model = LogisticRegression(C=np.inf).fit(X, y)
    assert repr(model.certificate_).startswith("Certificate(optimal: objective")


def test_what_separates_along_such_a_direction_is_not_certified():
    X, _ = the_example()
    y = (X[:, 1] > X[:, 0]).astype(int)
    found = fitted(X, y).certificate_
    assert found.status == "no finite optimum"


@pytest.mark.parametrize("block", ["one", "many"])
def test_many_rows_are_looked_at_in_blocks(block):
    n = 2000 if block == "one" else 120_000
    rng = np.random.default_rng(0)
    a, b, u = rng.normal(size=(3, n))
    X = np.column_stack([a, b, a + b + 1e-9 * u])
    y = (rng.random(n) < 1 / (1 + np.exp(-u))).astype(int)
    model = fitted(X, y)
    assert model.certificate_.certified
    plain = np.column_stack([a, b, (X[:, 2] - (a + b)) * 1e9])
    reference = fitted(plain, y).certificate_
    assert model.certificate_.objective == pytest.approx(reference.objective, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_one_far_row_hides_nothing(seed):
    """Its probability is 1 to rounding, so that the other rows alone show the curvature."""
    X, y = collinear("scales", 1e-6, seed)
    X[0] *= 1e6
    model = fitted(X, y)
    assert model.certificate_.certified
    assert the_claim_is_true(model, X, y, np.ones(len(y)), True) <= 1e-6


@pytest.mark.parametrize("repeat", [1e-9, 0.0], ids=["nearly", "up to rounding"])
def test_a_script_repeats_the_proof(repeat, tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    a, b, u = rng.normal(size=(3, 200))
    names = ["a", 'b"""\\', "c{}"]
    X = pd.DataFrame(np.column_stack([a, b, a + b + repeat * u]), columns=names)
    y = (rng.random(200) < 1 / (1 + np.exp(-u))).astype(int)
    fitted(X, y).certificate_.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X.to_numpy())
    np.save(tmp_path / "y.npy", y)
    ran = subprocess.run(
        [sys.executable, "-I", "check.py", "X.npy", "y.npy"], cwd=tmp_path, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = (tmp_path / "check.py").read_text(encoding="utf-8").splitlines()
    (claimed,) = (line for line in lines if line.startswith("Claimed:"))
    assert ("among models that do not use" in claimed) == (repeat == 0)
