"""choose_n_clusters: the right number where there are clusters, and none where there are none."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

from certus.cluster import _clusterer, choose_n_clusters
from certus.proofs.n_clusters import stability
from tests.n_clusters.n_clusters_cases import QUICK, SMALL, SQUARE, THREE, blobs

FAR_APART = {
    "two": ([[0, 0, 0], [8, 0, 0]], 2),
    "three": (THREE, 3),
    "square": (SQUARE, 4),
    "five": ([[0, 0], [7, 0], [14, 7], [14, 14], [0, 14]], 5),
}
NOTHING = {
    "uniform": lambda rng: rng.uniform(size=(90, 2)),
    "one column": lambda rng: rng.uniform(size=(90, 1)),
    "many columns": lambda rng: rng.uniform(size=(60, 12)),
    "long": lambda rng: rng.uniform(size=(90, 2)) * [5, 1],
    "one blob": lambda rng: rng.normal(size=(90, 2)),
    "a long blob": lambda rng: rng.normal(size=(90, 3)) * [4, 1, 1],
}


# --- the verdict ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", FAR_APART)
def test_blobs_far_apart_are_counted(case, seed):
    centers, k = FAR_APART[case]
    choice = choose_n_clusters(blobs(seed, centers), range(1, 8), random_state=seed, **QUICK)
    assert choice.n_clusters == k, choice.verdict
    assert (
        choice.n_clusters_by_method["silhouette"] == choice.n_clusters_by_method["stability"] == k
    )
    assert choice.verdict.startswith(f"{k} clusters: ")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", NOTHING)
def test_noise_and_one_blob_have_no_structure(case, seed):
    X = NOTHING[case](np.random.default_rng(seed))
    choice = choose_n_clusters(X, range(1, 7), random_state=seed, **QUICK)
    assert choice.n_clusters is None, choice.verdict
    assert choice.verdict.startswith("no structure: ")


@pytest.mark.slow
@pytest.mark.parametrize("case", NOTHING)
def test_structure_in_noise_is_found_as_seldom_as_is_stated(case):
    """Each method alone may report structure in one of 21 data sets; a verdict needs two."""
    result = [
        choose_n_clusters(
            NOTHING[case](np.random.default_rng(seed)), range(1, 8), estimator=KMeans(n_init=3),
            random_state=seed,
        )
        for seed in range(25)
    ]  # fmt: skip
    assert sum(choice.n_clusters is not None for choice in result) <= 2
    for method in ("silhouette", "stability"):
        # 1/21 of 25 is 1.2; more than 5 has probability 1e-3
        assert sum(choice.n_clusters_by_method[method] != 1 for choice in result) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("case", FAR_APART)
def test_blobs_far_apart_are_counted_again_and_again(case):
    centers, k = FAR_APART[case]
    for seed in range(12):
        choice = choose_n_clusters(
            blobs(seed, centers), range(1, 9), estimator=KMeans(n_init=5), random_state=seed
        )
        assert choice.n_clusters == k, (seed, choice.verdict)


def test_the_default_is_k_means_of_ten_starts():
    X = blobs(0, THREE, n=45)
    queried = {"n_references": 3, "n_resamples": 2, "random_state": 0}
    choice = choose_n_clusters(X, range(1, 5), **queried)
    assert choice.n_clusters == 3
    best = KMeans(3, n_init=10, random_state=0).fit(X).inertia_
    assert choice.at(3)["objective"] == pytest.approx(best, rel=1e-12)


# --- rows, weights, units -------------------------------------------------------------------------


def test_weights_count_rows_in_the_data_s_own_numbers():
    X = blobs(3, THREE, n=60)
    s = np.random.default_rng(3).integers(0, 3, size=60)
    rows = np.repeat(np.arange(60), s)
    given = choose_n_clusters(X, [1, 3], sample_weight=s, random_state=0, **SMALL)
    repeated = choose_n_clusters(X[rows], [1, 3], random_state=0, **SMALL)
    np.testing.assert_allclose(given.objective, repeated.objective, rtol=1e-9)
    np.testing.assert_allclose(given.silhouette[1], repeated.silhouette[1], rtol=1e-9)
    assert given.n == np.count_nonzero(s)
    assert given.n_clusters_by_method["silhouette"] == given.n_clusters_by_method["stability"] == 3


def test_weights_are_given_to_all_fits_and_to_agreement():
    X = blobs(4, THREE, n=40)
    s = np.random.default_rng(4).uniform(0.1, 1, size=40)
    one = choose_n_clusters(X, [2, 4], sample_weight=s, random_state=0, **SMALL)
    plain = choose_n_clusters(X, [2, 4], random_state=0, **SMALL)
    assert (one.stability != plain.stability).any()
    same = choose_n_clusters(X, [2, 4], sample_weight=np.full(40, 1.0), random_state=0, **SMALL)
    np.testing.assert_allclose(same.stability, plain.stability, rtol=1e-12)
    with pytest.raises(TypeError, match="AgglomerativeClustering takes no sample_weight"):
        choose_n_clusters(X, [2], sample_weight=s, estimator=AgglomerativeClustering())


def test_far_from_the_origin_and_in_other_units_the_answer_is_the_same():
    X = np.round(blobs(5, THREE, n=60) * 1024) / 1024
    near = choose_n_clusters(X, range(1, 5), random_state=0, **QUICK)
    for other, factor in ((X + 2.0**20, 1.0), (X * 2.0**40, 2.0**80)):
        far = choose_n_clusters(other, range(1, 5), random_state=0, **QUICK)
        assert far.n_clusters_by_method == near.n_clusters_by_method
        np.testing.assert_allclose(far.objective, near.objective * factor, rtol=1e-6)
        np.testing.assert_allclose(far.silhouette, near.silhouette, rtol=1e-6)


def test_float32_and_whole_numbers_are_taken():
    X = np.round(blobs(6, THREE, n=45) * 4)
    queried = {"random_state": 0, **SMALL}
    whole = choose_n_clusters(X.astype(np.int16), range(1, 5), **queried)
    single = choose_n_clusters(X.astype(np.float32), range(1, 5), **queried)
    np.testing.assert_allclose(whole.objective, single.objective, rtol=1e-6)
    assert (
        whole.n_clusters_by_method["silhouette"] == single.n_clusters_by_method["silhouette"] == 3
    )


def test_of_many_rows_a_sample_is_clustered_and_that_is_stated():
    X = blobs(7, THREE, n=400)
    choice = choose_n_clusters(X, [1, 2, 3, 4], max_rows=80, random_state=0, **QUICK)
    assert (choice.n, choice.n_clusters) == (80, 3)
    assert "A random sample of 80 of 400 rows was clustered." in choice.notes
    every = choose_n_clusters(X, [1, 3], max_rows=None, random_state=0, **SMALL)
    assert every.n == 400


@pytest.mark.parametrize("threads", [2, 5])
def test_same_bits_on_any_number_of_threads(threads):
    X = blobs(8, SQUARE, n=40)
    one = choose_n_clusters(X, range(1, 5), threads=1, random_state=3, **SMALL)
    other = choose_n_clusters(X, range(1, 5), threads=threads, random_state=3, **SMALL)
    for name in ("objective", "silhouette", "silhouette_interval", "gap", "gap_error", "stability"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name, noise in one.noise.items():
        np.testing.assert_array_equal(noise, other.noise[name], name)


def test_a_seed_a_generator_and_a_random_state_are_taken():
    X = blobs(9, THREE, n=30)
    for make in (int, np.random.default_rng, np.random.RandomState):
        result = [choose_n_clusters(X, [1, 2], random_state=make(4), **SMALL) for _ in range(2)]
        np.testing.assert_array_equal(result[0].gap, result[1].gap)
    other = choose_n_clusters(X, [1, 2], random_state=5, **SMALL)
    assert (other.gap != result[0].gap).any()


# --- other clusterers -----------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [
    AgglomerativeClustering(), GaussianMixture(covariance_type="spherical"), KMeans(n_init=1),
], ids=lambda e: type(e).__name__)  # fmt: skip
def test_other_clusterers_are_asked_by_their_own_names(estimator):
    choice = choose_n_clusters(
        blobs(10, THREE), range(1, 6), random_state=0, **(QUICK | {"estimator": estimator})
    )
    assert choice.n_clusters == 3, choice.verdict
    before = estimator.get_params()
    assert before == type(estimator)(**before).get_params(), "it is not changed"


def test_rows_of_the_other_half_go_to_the_nearest_mean_where_there_is_no_predict():
    X = blobs(0, THREE, n=30)
    result = _clusterer.Clusterer(AgglomerativeClustering(), False).fit(X, 3, None, 0)
    Z = blobs(1, THREE, n=30)
    means = np.array([X[result.labels == c].mean(axis=0) for c in range(3)])
    nearest = ((Z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert stability.adjusted_rand(result.assign(Z), nearest) == 1


def test_warnings_are_those_of_fits_of_the_data_alone():
    X = np.repeat(blobs(0, SQUARE, n=4, spread=0.01), 5, axis=0)  # halves often lack a point
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choice = choose_n_clusters(X, [1, 2, 3, 4], random_state=0, **SMALL)
    assert choice.stability[-1] == 1
