"""The Cover–Hart bracket: its algebra, its coverage, and that it contains a known Bayes error."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from certus.neighbors import bayes_error_bracket
from certus.neighbors.bayes_error import design_effect, least_bayes_error
from certus.text.proportions import clopper_pearson
from tests.neighbors.neighbor_choices import blobs, nearest


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_lower_limit_inverts_cover_and_harts_inequality(classes):
    for share in np.linspace(0, 1, 41):
        best = share * (classes - 1) / classes
        R = best * (2 - classes / (classes - 1) * best)
        assert least_bayes_error(R, classes) == pytest.approx(best, abs=1e-8)
        assert best <= R + 1e-15


def test_the_lower_limit_is_exact_where_the_root_is():
    # c = 2, R = 2 R*(1 − R*):  R* = 1/10 gives 18/100
    for best in (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5)):
        assert least_bayes_error(float(2 * best * (1 - best)), 2) == pytest.approx(float(best))
    tiny = 1e-18  # 1 − √(1 − x) would be 0
    assert least_bayes_error(tiny, 2) == pytest.approx(tiny / 2, rel=1e-14)


def test_worse_than_guessing_is_guessing():
    X = np.arange(20.0)[:, None]
    bracket = bayes_error_bracket(X, np.arange(20) % 2)  # every neighbour is of the other class
    assert bracket.R == 1
    assert (bracket.lower, bracket.upper) == (0.5, 0.5)
    assert bracket.interval[1] == 1
    assert bracket.confident == (0.5, 0.5)
    assert "no better than guessing (50 %)" in bracket.text


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("seed", range(3))
def test_R_is_the_share_of_rows_with_a_nearest_row_of_another_class(seed, metric):
    X, y = blobs(seed, n=60, grid=seed == 1)
    rows = [np.delete(np.arange(60), i) for i in range(60)]
    wrong = sum(
        y[rest][nearest(X[rest], X[i], 1, metric)[1][0]] != y[i] for i, rest in enumerate(rows)
    )
    bracket = bayes_error_bracket(X, y, metric=metric)
    assert round(bracket.R * 60) == wrong
    assert (bracket.n, bracket.rows, bracket.classes) == (60, 60, 3)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_the_interval_is_clopper_pearsons(confidence):
    bracket = bayes_error_bracket(*load_iris(return_X_y=True), confidence=confidence)
    f = bracket.design_effect
    tail = (1 - confidence) / 2
    low, high = (6 / f, (150 - 6) / f + 1), (6 / f + 1, (150 - 6) / f)
    truth = stats.beta.ppf(tail, *low), stats.beta.ppf(1 - tail, *high)
    np.testing.assert_allclose(bracket.interval, truth, rtol=1e-10)
    independent = stats.binomtest(6, 150).proportion_ci(confidence, method="exact")
    np.testing.assert_allclose(clopper_pearson(6, 150, confidence), independent, rtol=1e-10)
    assert bracket.interval[0] < independent.low
    assert independent.high < bracket.interval[1]
    low, high = bracket.confident
    assert low == least_bayes_error(bracket.interval[0], 3)
    assert high == bracket.interval[1]
    assert low <= bracket.lower <= bracket.upper <= high


def test_no_mistake_at_all():
    X = np.concatenate([np.arange(10.0), 100 + np.arange(10.0)])[:, None]
    bracket = bayes_error_bracket(X, np.repeat(["a", "b"], 10))
    assert (bracket.lower, bracket.upper, bracket.R) == (0, 0, 0)
    assert bracket.design_effect == 1.2  # 0, 1 and 100, 101 are each other's nearest
    assert bracket.interval == (0, pytest.approx(1 - 0.025 ** (1.2 / 20)))


@pytest.mark.parametrize("seed", range(5))
def test_the_design_effect_is_the_sum_over_pairs_that_share_a_row(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    d = ((X[:, None] - X) ** 2).sum(axis=2) + np.diag(np.full(40, np.inf))
    nearest = d.argmin(axis=1)
    queries = np.sort(rng.permutation(40)[: 40 if seed % 2 else 25])
    known = np.where(np.isin(np.arange(40), queries), nearest, -1)
    wrong = y[nearest[queries]] != y[queries]
    r = wrong - wrong.mean()
    total = sum(
        r[a] * r[b]
        for a, i in enumerate(queries)
        for b, j in enumerate(queries)
        if {i, nearest[i]} & {j, nearest[j]}
    )
    least = 1 + np.mean([known[nearest[i]] == i for i in queries])
    assert design_effect(queries, known, wrong) == pytest.approx(max(least, total / (r @ r)))


def two_intervals(rng, n, classes=2, flip=0.2):
    """Uniform on a line of ``classes`` pieces; a label is another one with probability ``flip``."""
    x = rng.uniform(0, classes, size=n)
    y = x.astype(int)
    other = (y + rng.integers(1, classes, size=n)) % classes
    return x[:, None], np.where(rng.uniform(size=n) < flip, other, y)


@pytest.mark.parametrize(("classes", "flip"), [(2, 0.2), (2, 0.05), (4, 0.3)])
def test_the_bracket_holds_the_bayes_error_of_many_samples(classes, flip):
    """R* = flip; one column and 800 rows are near enough to infinitely many.

    Noise alone is the worst case: R* is at the lower limit. Treating rows as independent, coverage
    was 85 %.
    """
    held = []
    for seed in range(60):
        X, y = two_intervals(np.random.default_rng(seed), 800, classes, flip)
        low, high = bayes_error_bracket(X, y).confident
        held.append(low <= flip <= high)
    assert np.mean(held) >= 0.93


def test_a_sample_asks_fewer_rows_among_all():
    X, y = two_intervals(np.random.default_rng(0), 500)
    all_rows = bayes_error_bracket(X, y)
    some = [bayes_error_bracket(X, y, sample=100, random_state=seed) for seed in range(60)]
    assert {(b.n, b.rows) for b in some} == {(100, 500)}
    assert "of 100 rows sampled from 500" in some[0].text
    result = np.array([b.R for b in some])
    # without replacement: the mean of 60 samples is within 4 of its standard errors
    error = np.sqrt(all_rows.R * (1 - all_rows.R) / 100 * (400 / 499) / 60)
    assert abs(result.mean() - all_rows.R) < 4 * error
    again = bayes_error_bracket(X, y, sample=100, random_state=3)
    assert again == some[3]
    assert bayes_error_bracket(X, y, sample=500) == all_rows


def test_same_answer_on_any_number_of_threads():
    X, y = blobs(3, n=200)
    one, two = (bayes_error_bracket(X, y, threads=threads) for threads in (1, 2))
    assert one == two


def test_it_says_that_it_is_measured_and_asymptotic():
    bracket = bayes_error_bracket(*load_iris(return_X_y=True))
    assert bracket.kind == "measured"
    assert "asymptotic" in bracket.text
    assert "asymptotic" in repr(bracket)
    assert max(map(len, bracket.text.splitlines())) <= 100


def test_what_cannot_be_is_refused_in_words():
    X, y = blobs(0)
    with pytest.raises(ValueError, match="only one class"):
        bayes_error_bracket(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="sample=0"):
        bayes_error_bracket(X, y, sample=0)
    with pytest.raises(ValueError, match="confidence=1"):
        bayes_error_bracket(X, y, confidence=1)
    with pytest.raises(ValueError, match="continuous"):
        bayes_error_bracket(X, X[:, 0])
