"""The page of the gap statistic, against the proof and ``choose_n_clusters``."""

import numpy as np
import pytest

from certus.cluster import KMeans, choose_n_clusters
from certus.definitions import gap_statistic
from certus.proofs.n_clusters.gap_statistic import first_within_one_error, gaps, within

KS = np.arange(1, 6)


def case(seed=0, n=40):
    """X, weights, labels (n, 5) and W* (B, 5)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 6 * rng.integers(2, size=(n, 1))
    labels = np.stack([rng.integers(k, size=n) for k in KS], axis=1)
    labels[:, 1] = X[:, 0] > 3
    return X, rng.integers(1, 4, size=n).astype(float), labels, rng.uniform(50, 900, size=(7, 5))


def stated(X, s, labels, noise):
    gap, error = gaps(np.log([within(X, own, s) for own in labels.T]), np.log(noise))
    return {"gap": gap, "error": error, "chosen": first_within_one_error(KS, gap, error)}


def check(X, s, labels, noise, **claims):
    return gap_statistic.check(X, None, s, ks=KS, labels=labels, noise=noise, **claims)


def test_the_spread_within_clusters_is_that_of_a_literal_loop():
    X, s, labels, _ = case()
    total = 0.0
    for c in range(3):
        rows = np.flatnonzero(labels[:, 2] == c)
        mean = sum(s[i] * X[i] for i in rows) / sum(s[i] for i in rows)
        total += sum(s[i] * ((X[i] - mean) ** 2).sum() for i in rows)
    assert gap_statistic.within(X, s, labels[:, 2]) == pytest.approx(total, rel=1e-12)
    far = X + 1e12
    near = gap_statistic.within(far - far[0], s, labels[:, 2])
    assert gap_statistic.within(far, s, labels[:, 2]) == pytest.approx(near, rel=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_what_the_proof_says_is_exact(seed):
    X, s, labels, noise = case(seed)
    claims = stated(X, s, labels, noise)
    claim = check(X, s, labels, noise, **claims)
    assert (claim.kind, claim.holds) == ("exact", True)
    assert claim.miss <= 1e-12
    k = claims["chosen"]
    assert claim.objective == pytest.approx(claims["gap"][-1 if k is None else k - 1])


def test_a_gap_that_rises_to_the_end_chooses_nothing():
    X, s, labels, noise = case()
    noise = noise * 0 + np.geomspace(100, 1e20, 5)
    claims = stated(X, s, labels, noise)
    assert claims["chosen"] is None
    assert check(X, s, labels, noise, **claims).holds
    assert not check(X, s, labels, noise, **{**claims, "chosen": 5}).holds


def test_the_first_gap_within_one_error_of_the_next_is_chosen():
    X, s, labels, noise = case()
    gap, error = gaps(np.log([within(X, own, s) for own in labels.T]), np.log(noise))
    for errors, chosen in ((0.9, 1), (1.1, 2)):
        moved = noise * np.exp([gap[1] - errors * error[1] - gap[0], 0.0, 0.0, -9.0, -9.0])
        claims = stated(X, s, labels, moved)
        assert claims["chosen"] == chosen
        assert check(X, s, labels, moved, **claims).holds


def test_clusters_of_equal_rows_have_an_infinite_gap():
    X, s, labels, noise = case()
    X = np.where(labels[:, 1:2] == 1, 6.0, 0.0) * np.ones((1, 2))
    W = np.array([within(X, own, s) for own in labels.T])
    assert W[1] == 0
    with np.errstate(divide="ignore"):
        gap, error = gaps(np.log(W), np.log(noise))
    chosen = first_within_one_error(KS, gap, error)
    claim = check(X, s, labels, noise, gap=gap, error=error, chosen=chosen)
    assert (claim.holds, claim.objective, chosen) == (True, np.inf, 2)
    gap[1] = 5.0
    assert not check(X, s, labels, noise, gap=gap, error=error, chosen=chosen).holds


def test_other_numbers_are_refused():
    X, s, labels, noise = case(1)
    claims = stated(X, s, labels, noise)
    for name in ("gap", "error"):
        for t in range(5):
            for wrong in (1.01 * claims[name][t] + 1e-5, np.nan, np.inf):
                edited = claims[name].copy()
                edited[t] = wrong
                assert not check(X, s, labels, noise, **{**claims, name: edited}).holds
    assert not check(X, s, labels, noise, **{**claims, "chosen": claims["chosen"] + 1}).holds
    assert not check(X, 2.0 * s, labels, noise, **claims).holds


def test_the_table_of_choose_n_clusters_is_exact():
    X, *_ = case(2)
    found = choose_n_clusters(X, KS, n_references=2, methods="gap", random_state=0, threads=1)
    labels = np.stack([KMeans(int(k), random_state=0).fit(X).labels_ for k in KS], axis=1)
    W = [within(X, own) for own in labels.T]
    same = np.isclose(W, found.objective, rtol=1e-12)  # the same clusters were found
    assert same[:2].all()
    claims = {
        "gap": found.gap[same],
        "error": found.gap_error[same],
        "chosen": found.n_clusters_by_method["gap"],
    }
    claim = gap_statistic.check(
        X, None, np.ones(len(X)), ks=KS[same], labels=labels[:, same],
        noise=found.noise["objective"][:, same], **claims,
    )  # fmt: skip
    assert claim.miss <= 1e-10
