"""choose_n_clusters: the right number where there are clusters, and none where there are none."""

import io
import itertools
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

import certus
from certus.cluster import (
    NClustersResult,
    _clusterer,
    _n_clusters_progress,
    _n_clusters_scores,
    _n_clusters_verdict,
    choose_n_clusters,
)
from certus.proofs.n_clusters import gap_statistic, stability

ROOT = Path(__file__).parents[2]
THREE_METHODS = ("silhouette", "gap", "stability")
QUICK = {
    "estimator": KMeans(n_init=2), "n_references": 8, "n_resamples": 6, "methods": THREE_METHODS,
}  # fmt: skip
SMALL = QUICK | {"estimator": KMeans(n_init=1), "n_references": 3, "n_resamples": 3}


def blobs(seed, centers, n=90, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    return spread * rng.normal(size=(n, centers.shape[1])) + centers[np.arange(n) % len(centers)]


THREE = [[0, 0], [8, 0], [4, 7]]
SQUARE = [[0, 0], [8, 0], [0, 8], [8, 8]]
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


# --- each number is that of its definition --------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    X = load_iris().data
    return X, choose_n_clusters(X, range(1, 6), random_state=0, **QUICK)


def test_silhouettes_and_objectives_are_those_of_the_clusters(iris):
    X, choice = iris
    for k in range(2, 6):
        model = KMeans(k, n_init=10, random_state=0).fit(X)
        if model.inertia_ == pytest.approx(choice.at(k)["objective"], rel=1e-9):
            score = silhouette_score(X, model.labels_)
            assert choice.at(k)["silhouette"] == pytest.approx(score, abs=1e-6)
    assert choice.at(1)["objective"] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())
    assert np.isnan(choice.silhouette[0])


def test_gaps_are_those_of_the_scatters(iris):
    _, choice = iris
    gap, s = gap_statistic.gaps(np.log(choice.objective), np.log(choice.noise["objective"]))
    np.testing.assert_allclose(choice.gap, gap)
    np.testing.assert_allclose(choice.gap_error, s)
    assert choice.n_clusters_by_method["gap"] == gap_statistic.first_within_one_error(
        choice.ks, gap, s
    )


class Halves:
    """A clusterer that remembers what it was given, and cuts the first column at its mean."""

    fits = ()

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def get_params(self, deep=True):
        return {"n_clusters": self.n_clusters}

    def set_params(self, n_clusters):
        self.n_clusters = n_clusters
        return self

    def fit(self, X, y=None):
        self.edges_ = np.quantile(X[:, 0], np.arange(1, self.n_clusters) / self.n_clusters)
        Halves.fits = (*Halves.fits, X)
        return self

    def predict(self, X):
        return np.searchsorted(self.edges_, X[:, 0])


def test_stability_is_the_agreement_of_two_disjoint_halves_on_all_rows():
    X = np.random.default_rng(0).normal(size=(31, 2))
    Halves.fits = ()
    choice = choose_n_clusters(
        X, [2, 3], methods=["stability"], estimator=Halves(), n_references=2, n_resamples=3,
        random_state=0, threads=1,
    )  # fmt: skip
    rows_of_data = {tuple(row) for row in X}
    halves = [rows for rows in Halves.fits if len(rows) == 15]
    fits = [rows for rows in halves if tuple(rows[0]) in rows_of_data]  # not those of noise
    assert len(fits) == 12
    agreement = []
    for one, other in itertools.batched(fits, 2) if sys.version_info >= (3, 12) else _pairs(fits):
        assert not {tuple(row) for row in one} & {tuple(row) for row in other}
        assert {tuple(row) for row in (*one, *other)} <= rows_of_data
        k = (2, 3)[len(agreement) % 2]
        labels = [Halves(k).fit(half).predict(X) for half in (one, other)]
        agreement.append(stability.adjusted_rand(*labels))
    result = np.reshape(agreement, (3, 2))
    np.testing.assert_allclose(choice.stability, result.mean(axis=0))
    half = stats.t.ppf(0.975, 2) * result.std(axis=0, ddof=1) / np.sqrt(3)
    low = np.clip(result.mean(axis=0) - half, -1, 1)
    np.testing.assert_allclose(choice.stability_interval[:, 0], low)


def _pairs(fits):
    return zip(fits[::2], fits[1::2], strict=True)


def test_means_over_few_pairs_are_spread_as_those_over_many():
    rng = np.random.default_rng(0)
    B, few, many = 4000, 4, 20
    level = 0.1 * rng.normal(size=(B, 1, 1))
    pairs = 0.5 + level + 0.3 * rng.normal(size=(B, many, 1))
    truth = pairs.mean(axis=1).std()
    assert pairs[:, :few].mean(axis=1).std() > 1.4 * truth
    result = _n_clusters_verdict.shrink_to_pairs(pairs[:, :few], many)
    assert result.std() == pytest.approx(truth, rel=0.05)
    assert result.mean() == pytest.approx(pairs[:, :few].mean())
    constant = _n_clusters_verdict.shrink_to_pairs(np.ones((3, 2, 2)), 10)
    np.testing.assert_array_equal(constant, np.ones((3, 2)))


def test_silhouettes_of_many_rows_are_those_of_some_with_an_interval(monkeypatch):
    X = blobs(1, THREE, n=300, spread=2.0)
    queried = {**SMALL, "methods": ["silhouette"], "random_state": 0}
    every = choose_n_clusters(X, [1, 3], **queried)
    monkeypatch.setattr(_n_clusters_scores, "MAX_SILHOUETTE_ROWS", 60)
    some = choose_n_clusters(X, [1, 3], **queried)
    assert some.silhouette[1] != every.silhouette[1]
    assert np.ptp(some.silhouette_interval[1]) > 1.2 * np.ptp(every.silhouette_interval[1])
    low, high = some.silhouette_interval[1]
    assert low < every.silhouette[1] < high


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


# --- the answers of the methods, and the verdict --------------------------------------------------


VERDICTS = [  # what silhouette, gap and stability say ("": not requested), k, the words
    (3, 3, 3, 3, "3 clusters: silhouette, gap and stability agree"),
    (3, 4, 3, 3, "3 clusters: silhouette and stability agree; gap says 4"),
    (3, 1, 3, 3, "3 clusters: silhouette and stability agree; the gap statistic prefers 1"),
    (3, None, 3, 3, "3 clusters: silhouette and stability agree; gap cannot say"),
    (1, 1, 1, None, "no structure: silhouettes are no larger than those of noise, the gap "
     "statistic prefers 1 and stability is within what noise reaches"),
    (2, 1, 1, None, "no structure: the gap statistic prefers 1 and stability is within what noise "
     "reaches; silhouette says 2"),
    (2, 5, 3, 3, "3 clusters, but methods disagree: stability says 3, silhouette says 2, gap "
     "says 5"),
    (2, 5, 1, 2, "2 clusters, but methods disagree: silhouette says 2, gap says 5; stability is "
     "within what noise reaches"),
    (2, 1, "", None, "no structure: the gap statistic prefers 1; silhouette says 2"),
    ("", 4, "", 4, "4 clusters: by gap alone"),
    ("", None, "", None, "no answer: gap: it knows why"),
]  # fmt: skip


@pytest.mark.parametrize(("silhouette", "gap", "stable", "k", "words"), VERDICTS)
def test_the_verdict_is_what_most_say_and_names_who_differs(silhouette, gap, stable, k, words):
    each = {"silhouette": silhouette, "gap": gap, "stability": stable}
    answers = {
        name: _n_clusters_verdict.MethodAnswer(message, "it knows why")
        for name, message in each.items()
        if message != ""
    }
    assert _n_clusters_verdict.verdict(answers) == (k, words)


def test_a_silhouette_within_what_noise_reaches_is_none():
    ks, noise = np.array([1, 2, 3]), np.array([[np.nan, 0.3, 0.4], [np.nan, 0.5, 0.2]])
    above = _n_clusters_verdict.from_silhouettes(ks, np.array([np.nan, 0.4, 0.51]), noise)
    assert above.k == 3
    assert above.why == "the largest mean, 0.51 at k = 3; noise reaches 0.5"
    within = _n_clusters_verdict.from_silhouettes(ks, np.array([np.nan, 0.4, 0.49]), noise)
    assert within.k == 1
    assert _n_clusters_verdict.from_silhouettes(ks[:1], np.array([np.nan]), noise[:, :1]).k is None


def test_stability_takes_the_largest_k_that_is_nearly_the_most_stable():
    ks = np.array([1, 2, 3, 4])
    noise = np.array([[np.nan, 0.5, 0.4, 0.9], [np.nan, 0.6, 0.5, 0.8]])
    message = _n_clusters_verdict.from_stability(ks, np.array([np.nan, 1.0, 0.97, 0.8]), noise)
    assert message.k == 3
    # more stable, but noise of 4 clusters (a square) is as stable as that
    assert _n_clusters_verdict.from_stability(ks, np.array([np.nan, 0.5, 0.4, 0.85]), noise).k == 1
    perfect = np.array([[np.nan, 1.0, 1.0, 1.0]] * 2)
    assert _n_clusters_verdict.from_stability(ks, perfect[0], perfect).k == 1
    assert _n_clusters_verdict.from_stability(ks[:1], np.array([np.nan]), noise[:, :1]).k is None


def test_a_gap_that_still_rises_cannot_say():
    ks, none = np.array([1, 2, 3]), np.zeros(3)
    message = _n_clusters_verdict.from_gaps(ks, np.array([0.1, 0.2, 0.3]), none)
    assert message == (None, "it still rises at k = 3: try more clusters")
    assert _n_clusters_verdict.from_gaps(ks[:1], none[:1], none[:1]).k is None


def test_sentences_do_not_contradict_their_numbers():
    ks = np.array([1, 2, 3])

    def gaps(*gap):
        return _n_clusters_verdict.from_gaps(ks[:2], np.array(gap), np.array([0.0, 0.031])).why

    assert gaps(1.41, 1.43) == (
        "it rises from 1.41 at k = 1 to 1.43 at 2, by 0.02, which is not more than its error, 0.031"
    )
    assert gaps(1.404, 1.402) == "it falls from 1.404 at k = 1 to 1.402 at 2"
    assert gaps(1.4, 1.4) == "it is 1.4 at k = 1 and at 2"
    noise = np.array([[np.nan, 0.5, 0.3], [np.nan, 0.6, 0.2]])
    within = _n_clusters_verdict.from_silhouettes(ks, np.array([np.nan, 0.597, 0.4]), noise)
    assert within.why == "the largest mean, 0.597 at k = 2, is not above what noise reaches, 0.6"
    noise = np.array([[np.nan, 0.95], [np.nan, 0.1], [np.nan, 0.57]])
    message = _n_clusters_verdict.from_stability(ks[:2], np.array([np.nan, 0.89]), noise)
    assert message.k == 1
    # 0.11 over the mean 1 − 0.54 of noise; the first sample 0.05 over the mean of the others
    assert message.why == (
        "relative to noise, halves disagree least at k = 2: 0.24 times as much as those of noise "
        "on average, and those of single noise samples 0.075 times"
    )


def test_a_cluster_for_each_point_has_an_infinite_gap():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [1.0, 7.0]], 10, axis=0)
    choice = choose_n_clusters(X, random_state=0, **SMALL)
    assert choice.ks.tolist() == [1, 2, 3]
    assert choice.objective[-1] == 0
    assert choice.gap[-1] == np.inf
    assert choice.notes[0] == (
        "The rows hold 3 different points: k = 4, 5, 6, 7, 8 and 2 more was left out."
    )
    assert choice.n_clusters == 3
    assert "3 is the largest k that was tried: try more." in choice.notes
    assert choice.explain()


# --- text, table and plot -------------------------------------------------------------------------


def test_the_explanation_has_the_verdict_the_reasons_and_a_table(iris):
    _, choice = iris
    text = choice.explain()
    lines = text.splitlines()
    assert lines[0].startswith("[OK] ")
    assert max(map(len, lines)) <= 80
    for name in ("Silhouette", "Gap", "Stability"):
        assert sum(line.startswith(name) for line in lines) == 1
    assert "Does not say" in text
    marked = [line for line in lines if "*" in line and line[0].isdigit()]
    assert {line.split()[0] for line in marked} <= {
        str(k) for k in choice.n_clusters_by_method.values()
    }
    assert repr(choice) == f"NClustersResult({choice.verdict})"


def test_the_frame_has_a_row_for_each_k(iris):
    _, choice = iris
    frame = choice.to_frame()
    assert frame.index.tolist() == [1, 2, 3, 4, 5]
    assert frame.columns.tolist() == [
        "objective", "silhouette", "silhouette_low", "silhouette_high", "silhouette_noise", "gap",
        "gap_error", "stability", "stability_low", "stability_high", "stability_noise",
    ]  # fmt: skip
    np.testing.assert_array_equal(frame["gap"], choice.gap)
    assert frame.loc[3].to_dict() == pytest.approx(choice.at(3))
    with pytest.raises(KeyError, match="k = 9 was not tried: 1, 2, 3, 4, 5 were"):
        choice.at(9)


def test_only_the_methods_that_are_asked_for_are_measured(monkeypatch):
    X = blobs(0, THREE, n=45)
    choice = choose_n_clusters(X, range(1, 5), random_state=0, **(QUICK | {"methods": "gap"}))
    assert (choice.methods, choice.n_clusters) == (("gap",), 3)
    assert choice.verdict == "3 clusters: by gap alone"
    assert np.isnan(choice.silhouette).all()
    assert choice.to_frame().columns.tolist() == ["objective", "gap", "gap_error"]
    assert "Silhouette" not in choice.explain()
    choice = choose_n_clusters(X, [2, 3], random_state=0, **SMALL)
    assert "1 is not among ks, so that the gap statistic could not prefer it." in choice.notes


def test_columns_of_very_different_spread_are_reported():
    X = blobs(0, THREE, n=45) * [1.0, 1e4]
    notes = choose_n_clusters(X, [1, 2], random_state=0, **SMALL).notes
    assert notes[0].startswith("Spreads of the columns differ by a factor of 1e4")


def test_the_picture_shows_the_numbers(iris):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, choice = iris
    display = choice.plot()
    assert [ax.get_ylabel() for ax in display.ax_] == ["silhouette", "gap", "stability"]
    k, gap = display.lines_["gap"].get_data()
    np.testing.assert_array_equal(k, choice.ks)
    np.testing.assert_array_equal(gap, choice.gap)
    k, silhouette = display.lines_["silhouette"].get_data()
    np.testing.assert_array_equal(k, choice.ks[1:])
    np.testing.assert_array_equal(silhouette, choice.silhouette[1:])
    top = display.noise_["stability"].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(choice.noise["stability"][:, 1:].max())
    marks = {name: int(mark.get_xdata()[0]) for name, mark in display.marks_.items()}
    message = {name: k for name, k in choice.n_clusters_by_method.items() if k is not None}
    assert marks.items() <= message.items()
    assert display.figure_.get_size_inches().tolist() == [6.0, 6.6]
    figure, axes = plt.subplots(3)
    assert choice.plot(axes).figure_ is figure
    with pytest.raises(ValueError, match="1 axes were given for 3 methods"):
        choice.plot(axes[0])
    plt.close("all")


def test_nothing_at_all_is_stated_and_drawn_too():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    choice = choose_n_clusters(np.ones((7, 2)), random_state=0, **SMALL)
    assert choice.verdict == "no structure: all rows are one point"
    assert (choice.n_clusters, choice.ks.tolist(), choice.objective.tolist()) == (None, [1], [0.0])
    assert "all rows are one point" in choice.explain()
    assert len(choice.to_frame()) == 1
    choice.plot()
    plt.close("all")
    choice = choose_n_clusters(blobs(0, THREE, n=9), [1], **SMALL)
    assert choice.verdict == "no answer: only k = 1 was tried"


# --- bad input, and stopping ----------------------------------------------------------------------


X0 = blobs(0, THREE, n=12)
REFUSED = [
    ({"X": np.where(np.eye(12, 2), np.nan, X0)}, ValueError, "missing value"),
    ({"X": sparse.csr_array(X0)}, TypeError, "choose_n_clusters needs a dense array"),
    ({"X": np.array([["a", 1], ["b", 2]], dtype=object)}, ValueError, "column 0 of X holds text"),
    ({"X": X0 * 1e300}, ValueError, "squares of that are out of range"),
    ({"X": X0 * 1e-200}, ValueError, "squares of that are out of range"),
    ({"ks": []}, ValueError, "give whole numbers of clusters, such as range"),
    ({"ks": [1.5]}, ValueError, "give whole numbers of clusters"),
    ({"ks": "many"}, ValueError, "ks holds something that is no number"),
    ({"ks": [0, 1]}, ValueError, "ks holds 0: at least 1 cluster is needed"),
    ({"ks": [13, 14]}, ValueError, "X holds 12 different rows, and the least of ks is 13"),
    ({"methods": []}, ValueError, "methods is empty"),
    ({"methods": ["silhouete"]}, ValueError, "Did you mean 'silhouette'"),
    ({"n_references": 1}, ValueError, "give at least 2"),
    ({"n_references": 0}, ValueError, "n_references=0: give a whole number above 0"),
    ({"n_resamples": 2.5}, ValueError, "n_resamples=2.5"),
    ({"max_rows": 0}, ValueError, "max_rows=0"),
    ({"confidence": 95}, ValueError, "confidence=95: give a share between 0 and 1"),
    ({"threads": 0}, ValueError, "threads=0"),
    ({"sample_weight": -np.ones(12)}, ValueError, "Negative values"),
    ({"sample_weight": np.zeros(12)}, ValueError, "all are 0"),
    ({"estimator": KMeans}, TypeError, "give a clusterer, such as KMeans"),
    ({"estimator": certus.linear_model.Ridge()}, TypeError, "Ridge has no parameter n_clusters"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "kind", "words"), REFUSED, ids=[str(i) for i in range(22)])
def test_what_cannot_be_is_refused_by_name(given, kind, words):
    queried = {"X": X0, "ks": [1, 2], "random_state": 0, **SMALL, **given}
    with pytest.raises(kind, match=words):
        choose_n_clusters(**queried)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_very_few_rows_have_an_answer(n):
    choice = choose_n_clusters(X0[:n], random_state=0, **SMALL)
    assert choice.ks[-1] == n
    assert isinstance(choice, NClustersResult)
    assert choice.explain()


def test_frames_are_taken():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs(0, THREE, n=45), columns=["a", "b"])
    assert choose_n_clusters(frame, range(1, 5), random_state=0, **QUICK).n_clusters == 3
    frame.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match="column 'b' has 1 missing value"):
        choose_n_clusters(frame, **SMALL)


def test_progress_is_reported():
    reported = []
    choose_n_clusters(X0, [1, 2], on_progress=lambda *at: reported.append(at), **SMALL)
    assert reported == [(i, 8) for i in range(1, 9)]


def interrupted_at(step, X, ks, **given):
    def stop(done, of):
        if done == step:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as stopped:
        choose_n_clusters(X, ks, on_progress=stop, threads=1, random_state=0, **given)
    return stopped.value


def test_ctrl_c_keeps_what_there_is():
    X = blobs(0, THREE, n=45)
    whole = choose_n_clusters(X, [1, 2, 3], random_state=0, **QUICK)
    # three fits, then noise and pairs of halves by turns
    interrupt = interrupted_at(12, X, [1, 2, 3], **QUICK)
    assert "choose_n_clusters stopped by you after 12 of 17 steps" in interrupt.__notes__[0]
    choice = interrupt.result
    np.testing.assert_array_equal(choice.objective, whole.objective)
    np.testing.assert_array_equal(choice.silhouette, whole.silhouette)
    assert len(choice.noise["objective"]) == 5
    np.testing.assert_array_equal(choice.noise["objective"], whole.noise["objective"][:5])
    assert choice.n_clusters == 3
    assert choice.notes[0].startswith(
        "Stopped after 12 of 17 steps: 5 of 8 noise samples, 4 of 6 pairs of halves were compared"
    )
    assert choice.explain()
    assert choice.plot


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_ctrl_c_before_noise_was_clustered_gives_no_answer(step):
    choice = interrupted_at(step, blobs(0, THREE, n=45), [1, 2, 3], **QUICK).result
    assert len(choice.ks) == min(step, 3)
    assert choice.n_clusters is None
    assert choice.verdict.startswith("no answer: ")
    assert choice.explain()
    assert len(choice.to_frame()) == len(choice.ks)


def test_a_callback_that_returns_true_ends_the_search():
    X = blobs(0, THREE, n=45)
    choice = choose_n_clusters(
        X, [1, 2, 3], on_progress=lambda done, of: done == 12, threads=1, random_state=0, **QUICK
    )
    assert choice.n_clusters == 3
    assert choice.notes[0].startswith("Stopped after 12 of 17 steps")


def test_progress_is_a_line_on_a_terminal_alone(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(_n_clusters_progress, "SECONDS_OF_SILENCE", 0.0)
    monkeypatch.setattr(_n_clusters_progress, "SECONDS_BETWEEN_LINES", 0.0)
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        choose_n_clusters(X0, [1, 2], threads=1, **SMALL)
        text = stream.getvalue()
        assert ("choose_n_clusters: 4 of 8 steps" in text) == shown
        assert not text.strip(" \r").endswith("steps"), "the line is removed"


@pytest.mark.exhaustive
def test_the_example_draws_its_picture(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "clusters.png"
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "choose_n_clusters.py", picture, "--rows", "60",
         "--quick"],
        capture_output=True, text=True, timeout=120, check=True,
        env={"MPLBACKEND": "Agg", "PATH": "", "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert picture.stat().st_size > 5000
    assert "3 clusters: " in done.stdout
    assert "No structure: " in done.stdout
    assert "2 Gaussian components: by bic alone" in done.stdout
