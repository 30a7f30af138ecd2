"""choose_n_clusters where groups overlap: what it says is what was found, and BIC is right.

The rows have the shape of a table of card holders: a balance of two groups whose means are 1.3
standard deviations apart, an income of which the smaller group has less and varies less. k-means
cuts across, and no silhouette shows them; a mixture of two Gaussians does.
"""

import numpy as np
import pytest
import scipy.stats

from certus.cluster import choose_n_clusters
from certus.mixture import GaussianMixture
from certus.solvers.n_clusters.one_group import least_uniform_bic

FEW = {"n_references": 3, "n_resamples": 3, "random_state": 0}


def card_holders(n, seed=0):
    rng = np.random.default_rng(seed)
    second = rng.random(n) < 0.3
    income = np.where(second, rng.normal(18, 4.5, n), rng.normal(40, 9.5, n))
    balance = np.where(second, rng.normal(990, 450, n), rng.normal(770, 450, n))
    X = np.column_stack([balance, income])
    return (X - X.mean(axis=0)) / X.std(axis=0), second.astype(int)


def bic_by_hand(X, k, seed=0):
    """−2L + m log n of the best of some full mixtures, with L summed by SciPy's densities."""
    n, p = X.shape
    m = k * p * (p + 1) // 2 + k * p + k - 1
    model = GaussianMixture(k, n_init=5, tol=1e-9, max_iter=2000, random_state=seed).fit(X)
    density = sum(
        w * scipy.stats.multivariate_normal(mu, S).pdf(X)
        for w, mu, S in zip(model.weights_, model.means_, model.covariances_, strict=True)
    )
    return -2 * np.log(density).sum() + m * np.log(n)


@pytest.fixture(scope="module")
def holders():
    X, group = card_holders(2500)
    return X, group, choose_n_clusters(X, range(1, 5), **FEW)


def test_a_mixture_finds_what_no_silhouette_shows(holders):
    X, group, choice = holders
    assert choice.n_clusters is None
    assert choice.verdict.startswith("no separated groups: silhouettes are no larger than those of")
    assert choice.verdict.endswith(
        "; a mixture of 2 overlapping Gaussians fits better than one Gaussian, by BIC "
        f"{choice.at(2)['bic_gain']:.0f}"
    )
    assert choice.n_clusters_by_method["bic"] == 2
    labels = GaussianMixture(2, n_init=5, random_state=0).fit_predict(X)
    assert max(np.mean(labels == group), np.mean(labels != group)) > 0.9


def test_the_bic_and_its_gain_are_those_of_the_definition(holders):
    X, _, choice = holders
    for k in (1, 2):
        assert choice.at(k)["bic"] == pytest.approx(bic_by_hand(X, k), rel=1e-5)
    gain = bic_by_hand(X, 1) - bic_by_hand(X, 2)
    assert gain > 100
    assert choice.at(2)["bic_gain"] == pytest.approx(gain, rel=1e-2)
    assert 0.01 < choice.at(2)["bic_overlap"] < 0.2


def test_bic_alone_never_prefers_one_component_where_two_have_the_lower_bic(holders):
    X, _, _ = holders
    choice = choose_n_clusters(X, range(1, 4), methods="bic", **FEW)
    assert choice.bic[1] < choice.bic[0]
    assert (choice.n_clusters, choice.verdict) == (2, "2 Gaussian components: by bic alone")


def test_separated_blobs_are_groups_by_every_method():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 80, axis=0)
    choice = choose_n_clusters(X, range(1, 6), **FEW)
    assert choice.verdict == "3 clusters: silhouette, gap, stability and bic agree"
    assert choice.at(3)["bic_overlap"] < 1e-3


@pytest.mark.parametrize("turn", [0, np.pi / 4], ids=["square", "turned"])
def test_uniform_rows_are_one_group_though_several_gaussians_beat_one(turn):
    turned = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    X = np.random.default_rng(0).uniform(size=(2000, 2)) @ turned
    choice = choose_n_clusters(X, range(1, 6), methods="bic", **FEW)
    assert choice.bic[1:].min() < choice.bic[0]
    assert choice.n_clusters_by_method["bic"] == 1
    assert choice.one_group.startswith("uniform ")
    assert choice.bic_one_group < choice.bic.min()


def test_the_uniform_bic_is_that_of_the_volume():
    X = np.random.default_rng(0).uniform(size=(500, 2)) * [3, 2] + 100
    sides = np.ptp(X, axis=0)
    box = 2 * 500 * np.log(sides).sum() + 4 * np.log(500)
    value, name = least_uniform_bic(X, None)
    assert (value, name) == (pytest.approx(box), "uniform box")
    twice = least_uniform_bic(X, np.full(500, 2.0)).value
    assert twice == pytest.approx(least_uniform_bic(np.repeat(X, 2, axis=0), None).value)
    beside = np.column_stack([X, np.full(500, 7.0)])
    assert least_uniform_bic(beside, None).value == pytest.approx(box)
    scaled = least_uniform_bic(X * 2.0**30, None).value
    assert scaled == pytest.approx(box + 2 * 500 * 2 * 30 * np.log(2))


NOTHING = {
    "uniform": lambda rng, n: rng.uniform(size=(n, 2)),
    "turned": lambda rng, n: rng.uniform(size=(n, 2)) @ [[1, 1], [-1, 1]],
    "disc": lambda rng, n: _disc(rng, n),
    "one column": lambda rng, n: rng.uniform(size=(n, 1)),
    "one Gaussian": lambda rng, n: rng.normal(size=(n, 2)),
    "a long Gaussian": lambda rng, n: rng.normal(size=(n, 8)) * [4, *[1] * 7],
}


def _disc(rng, n):
    angle, radius = 2 * np.pi * rng.random(n), np.sqrt(rng.random(n))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(60, marks=pytest.mark.exhaustive),
        pytest.param(400, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("case", NOTHING)
def test_bic_claims_components_in_one_group_as_seldom_as_is_stated(case, n):
    """One of 6 by chance for samples of one Gaussian: 7 or more of 10 have probability 3e-4."""
    claims = 0
    for seed in range(10):
        X = NOTHING[case](np.random.default_rng(seed), n)
        choice = choose_n_clusters(X, range(1, 6), methods="bic", n_references=5, random_state=seed)
        claims += choice.n_clusters_by_method["bic"] not in (1, None)
    assert claims <= 6


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ["uniform", "one Gaussian"])
def test_no_structure_is_claimed_in_one_group_of_many_rows(case):
    for seed in range(4):
        X = NOTHING[case](np.random.default_rng(seed), 3000)
        choice = choose_n_clusters(X, range(1, 6), n_references=9, n_resamples=6, random_state=seed)
        assert choice.verdict.startswith("no structure: "), choice.verdict


@pytest.mark.exhaustive
def test_overlapping_groups_are_found_for_every_seed():
    for seed in range(6):
        X, _ = card_holders(1500, seed)
        choice = choose_n_clusters(X, range(1, 6), methods="bic", **FEW)
        assert choice.n_clusters == 2
