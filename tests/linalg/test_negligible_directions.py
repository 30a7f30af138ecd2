"""The rule that says which directions of the coefficients a proof may leave out."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import certus
from certus.certificate.data import Data
from certus.certificate.facts import LeftOutDirection
from certus.data.rows import Rows
from certus.exceptions import AliasWarning, NotCertifiedWarning
from certus.linear_model import LogisticRegression
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.negligible_directions import (
    effect_of,
    left_out_findings,
    negligible_in_span,
    split_span,
)


def data_of(X, s=None):
    return Data(Rows(np.asarray(X), None, s))


@pytest.mark.parametrize("seed", range(4))
def test_products_that_cancel_are_as_accurate_as_exact_fractions_say(seed):
    rng = np.random.default_rng(seed)
    p = 9
    X, T = (
        rng.normal(size=(6, p)),
        rng.normal(size=(p, 3)) * 10.0 ** rng.integers(0, 14, p)[:, None],
    )
    X[:, 0] = X[:, 1] + 1e-12 * rng.normal(size=6)
    T[0] = -T[1]
    high, low = accurate_product(X, T)
    for i in range(6):
        for k in range(3):
            terms = [Fraction(a) * Fraction(b) for a, b in zip(X[i], T[:, k], strict=True)]
            off = abs(Fraction(high[i, k]) + Fraction(low[i, k]) - sum(terms))
            assert float(off) <= product_error(p) * float(sum(map(abs, terms)))


def of_two(relative, dtype=float, n=200):
    """Columns a and b with ‖a − b‖ = relative·eps·‖|a| + |b|‖, about."""
    rng = np.random.default_rng(3)
    a = rng.integers(2**20, 2**21, n).astype(dtype)
    b = a * (1 + 2 * relative * np.finfo(dtype).eps)
    return np.column_stack([a, b.astype(dtype)])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("relative", "expected"), [(1, True), (3, True), (6, False), (32, False)])
def test_a_direction_is_negligible_within_four_roundings(dtype, relative, expected):
    data = data_of(of_two(relative, dtype))
    found = effect_of(data, np.array([[1.0], [-1.0]]), None).negligible(data.eps)
    assert found.tolist() == [expected]


def test_the_sum_of_two_columns_is_named_by_small_whole_numbers():
    rng = np.random.default_rng(0)
    price, tax, other = rng.uniform(1, 100, (3, 300))
    X = np.column_stack([price, tax, price + tax, other, np.ones(300)])
    size = np.linalg.norm(X, axis=0)
    N = np.linalg.svd(X / size)[2][-1:].T / size[:, None]
    (found,) = negligible_in_span(data_of(X[:, :4]), N, size, 1.0)
    assert np.abs(found.d).tolist() == [1, 1, 1, 0, 0]
    assert 0 < found.largest < 1e-13
    (finding,) = left_out_findings([found], 4)
    assert finding["columns"] == [0, 1, 2]
    assert finding["constant"] == 0


def test_columns_that_repeat_others_exactly_leave_nothing_out():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    X = np.column_stack([a, b, a, np.full(100, 3.0), np.ones(100)])
    size = np.linalg.norm(X, axis=0)
    N = np.linalg.svd(X / size)[2][-2:].T / size[:, None]
    found = negligible_in_span(data_of(X[:, :4]), N, size, 1.0)
    assert [one.largest for one in found] == [0, 0]
    assert left_out_findings(found, 4) == []
    assert 4 not in [one.pivot for one in found]  # a column is given up, never the intercept


@pytest.mark.parametrize("exponent", [-150, 150])
def test_scales_of_columns_change_nothing(exponent):
    X = of_two(2.0) * np.array([1.0, 2.0**exponent])
    d = np.array([[1.0], [-(2.0**-exponent)]])
    data = data_of(X)
    assert effect_of(data, d, None).negligible(data.eps).all()
    far = data_of(of_two(64.0) * np.array([1.0, 2.0**exponent]))
    assert not effect_of(far, d, None).negligible(far.eps).any()


def test_rows_of_weight_0_are_not_looked_at():
    X = of_two(1.0)
    X[7, 0] *= 2
    d, s = np.array([[1.0], [-1.0]]), np.ones(len(X))
    assert not effect_of(data_of(X, s), d, None).negligible(2.0**-52).any()
    s[7] = 0.0
    assert effect_of(data_of(X, s), d, None).negligible(2.0**-52).all()


def test_blocks_make_no_difference():
    X = of_two(1.0, n=40_000)
    d = np.array([[1.0], [-1.0]])
    whole = effect_of(data_of(X), d, None)
    assert whole.norm == pytest.approx(np.linalg.norm(X[:, 0] - X[:, 1]), rel=1e-12)
    assert whole.size == pytest.approx(np.linalg.norm(X.sum(axis=1)), rel=1e-12)
    assert whole.largest == np.abs(X[:, 0] - X[:, 1]).max()


@pytest.fixture(scope="module")
def certificate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = (rng.random(50) < 0.5).astype(int)
    found = LogisticRegression(C=np.inf).fit(X, y).certificate_
    names = ("price", "tax", "total", "x")
    return replace(found, feature_names=names)


def leaving_out(certificate, *directions):
    findings = tuple(LeftOutDirection(tuple(j), tuple(c), level) for j, c, level in directions)
    return replace(certificate, _finding=replace(certificate._finding, left_out=findings))


SUM = ([0, 1, 2], [-1.0, -1.0, 1.0], 0.0)


def test_every_form_of_the_claim_says_among_which_models_it_holds(certificate):
    c = leaving_out(certificate, SUM)
    claim = "among models that do not use 'total' − 'price' − 'tax'"
    assert repr(c).startswith(f"Certificate(optimal {claim}: objective ")
    assert c.explain().splitlines()[0].startswith(f"[OK] OPTIMAL {claim}   LogisticRegression")
    assert "Left out       'total' − 'price' − 'tax': all that the rows show of it" in c.explain()
    assert f"above the best possible {claim} (certus" in c.note()
    assert f"✔ Optimal {claim}" in c._repr_html_().replace("&#x27;", "'")


def test_a_claim_that_leaves_nothing_out_reads_as_before(certificate):
    plain = repr(certificate)
    assert "among" not in plain + certificate.explain() + certificate.note()
    assert repr(leaving_out(certificate)) == plain


@pytest.mark.parametrize(
    ("directions", "text"),
    [
        ([([3], [1.0], -2.5)], "'x' − 2.5"),
        ([([0, 3], [-1.0, -2.0], 0.0)], "'price' + 2 × 'x'"),
        ([([0, 1], [1.0, -1.0], 0.0), SUM], "'price' − 'tax' or 'total' − 'price' − 'tax'"),
        ([([0, 1], [1.0, -1.0], 0.0)] * 5, "2 more such combinations"),
        ([([0, 1, 2, 3] * 2, [1.0] * 8, 0.0)], "a combination of 'price', 'tax', 'total', 'x' and"),
    ],
)
def test_directions_in_words(certificate, directions, text):
    assert text in repr(leaving_out(certificate, *directions))


def hidden(n=80):
    """x1 = 1e6 up to rounding, beside which rotated directions hide x0 as well."""
    rng = np.random.default_rng(0)
    x0 = (1 + 1e-3 * rng.normal(size=n)).astype(np.float32)
    x1 = (1e6 + 0.05 * rng.normal(size=n)).astype(np.float32)
    return np.column_stack([x0, x1])


def test_directions_are_left_out_together_only_where_each_has_a_column_of_its_own():
    X = hidden()
    data, size = data_of(X), np.append(np.linalg.norm(X.astype(float), axis=0), np.sqrt(len(X)))
    rotated = np.array([[97.0, 1.3, -1.3e6 - 97.0], [-97.0, 1.3, -1.3e6 + 97.0]]).T
    assert effect_of(data, rotated, 1.0).negligible(data.eps).all()
    found, rest = split_span(data, rotated, size, 1.0)
    assert [one.pivot for one in found] == [1]
    assert rest.shape == (3, 1)
    assert not effect_of(data, rest, 1.0).negligible(data.eps).any()


def test_what_hides_behind_a_large_column_is_used():
    X = hidden()
    rng = np.random.default_rng(1)
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-2000 * (X[:, 0] - 1)))).astype(int)
    model = LogisticRegression(C=np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AliasWarning)
        warnings.simplefilter("ignore", NotCertifiedWarning)
        found = model.fit(X, y).certificate_
    alone = LogisticRegression(C=np.inf).fit(X[:, :1], y).certificate_
    assert found.objective <= alone.objective * (1 + 1e-6) or not found.certified
    model.coef_ = np.zeros((1, 2))
    model.intercept_ = np.log([y.mean() / (1 - y.mean())])
    assert not certus.verify(model, X, y).certified
