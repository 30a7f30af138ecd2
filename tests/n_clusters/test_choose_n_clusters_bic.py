"""The number of components by BIC, compared with one group and with samples of one Gaussian."""

import warnings

import numpy as np
import pytest
import sklearn.mixture

from certus.cluster import (
    _n_clusters_bic,
    _n_clusters_verdict,
    choose_n_clusters,
)
from certus.mixture import GaussianMixture

FEW = {"n_references": 3, "n_resamples": 2}
ALL = ("silhouette", "gap", "stability", "bic")
THREE = [[0, 0], [8, 0], [4, 7]]


def blobs(seed, centers=THREE, n=60, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    return spread * rng.normal(size=(n, centers.shape[1])) + centers[np.arange(n) % len(centers)]


def strips(seed):
    """Long and side by side: k-means cuts them across."""
    return blobs(seed, [[0, 0], [0, 1]], n=150) * [6, 1] + [[0, 0], [0, 5]] * 75


def crossed(seed):
    """Two long clusters with the same mean."""
    X = blobs(seed, [[0, 0]], n=150) * [6, 1]
    return np.where(np.arange(150)[:, None] < 75, X, X[:, ::-1])


def overlapping(seed):
    return blobs(seed, [[0, 0], [4, 0], [2, 3.5]], n=150)


def many_columns(seed):
    return blobs(seed, 5 * np.eye(8)[:3], n=150)


NOTHING = {
    "uniform": lambda rng: rng.uniform(size=(90, 2)),
    "one column": lambda rng: rng.uniform(size=(90, 1)),
    "many columns": lambda rng: rng.uniform(size=(60, 12)),
    "long": lambda rng: rng.uniform(size=(90, 2)) * [5, 1],
    "one blob": lambda rng: rng.normal(size=(90, 2)),
    "a long blob": lambda rng: rng.normal(size=(90, 3)) * [4, 1, 1],
}


# --- the number -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_it_is_that_of_the_mixtures(k):
    X = blobs(0)
    result = _n_clusters_bic.bic_of(X, k, None, 0)
    assert result.shape == "spherical"
    for library in (GaussianMixture, sklearn.mixture.GaussianMixture):
        model = library(k, covariance_type="spherical", tol=1e-9, max_iter=1000, random_state=0)
        assert result.value == pytest.approx(model.fit(X).bic(X), rel=1e-6)
    full = GaussianMixture(k, random_state=0).fit(X)
    assert full.bic(X) > result.value


def test_weight_two_is_the_row_twice():
    X, s = blobs(1), np.random.default_rng(1).integers(1, 3, size=60)
    for k in (1, 3):
        once = _n_clusters_bic.bic_of(X, k, s.astype(float), 0)
        twice = _n_clusters_bic.bic_of(np.repeat(X, s, axis=0), k, None, 0)
        assert once.value == pytest.approx(twice.value, rel=1e-6)
        assert once.shape == twice.shape


def test_a_constant_column_counts_for_nothing():
    X = blobs(2)
    beside = np.column_stack([X, np.full(60, 3.0)])
    one, other = (_n_clusters_bic.bic_of(rows, 1, None, 0).value for rows in (X, beside))
    assert one == pytest.approx(other, rel=1e-9)


def test_collapsed_mixtures_and_those_of_too_few_rows_have_none():
    points = np.repeat([[0.0, 0.0], [5.0, 1.0], [1.0, 7.0]], 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(_n_clusters_bic.bic_of(points, 3, None, 0).value)
    X = blobs(3, n=12)
    assert np.isnan(_n_clusters_bic.bic_of(X, 4, None, 0).value)  # 15 numbers, also of balls
    light = np.full(12, 0.1)  # as 1.2 rows
    assert np.isnan(_n_clusters_bic.bic_of(X, 1, light, 0).value)


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "k", "shape"),
    [(strips, 2, "full"), (crossed, 2, "full"), (overlapping, 3, None), (many_columns, 3, None)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_long_overlapping_and_wide_clusters_are_counted(rows, k, shape):
    choice = choose_n_clusters(rows(0), range(1, 5), methods="bic", random_state=0, **FEW)
    assert (choice.n_clusters, choice.verdict) == (k, f"{k} Gaussian components: by bic alone")
    if shape is not None:
        assert choice.bic_shape[k - 1] == shape


def test_it_sees_strips_where_silhouettes_and_gaps_do_not():
    choice = choose_n_clusters(strips(0), range(1, 4), methods=ALL, random_state=0, **FEW)
    assert choice.n_clusters_by_method["bic"] == 2
    assert choice.n_clusters_by_method["silhouette"] == choice.n_clusters_by_method["gap"] == 1


@pytest.mark.parametrize("case", ["uniform", "many columns", "one blob"])
def test_noise_and_one_blob_are_one_component(case):
    X = NOTHING[case](np.random.default_rng(1))
    choice = choose_n_clusters(X, range(1, 4), methods="bic", random_state=0, **FEW)
    assert choice.n_clusters is None
    assert choice.verdict == "no structure: no mixture gains enough in BIC over one group"


@pytest.mark.slow
@pytest.mark.parametrize("case", NOTHING)
def test_structure_in_noise_is_found_as_seldom_as_is_stated(case):
    """One of 10 by chance; 5 or more of 8 have probability 4e-4."""
    result = [
        choose_n_clusters(
            NOTHING[case](np.random.default_rng(seed)), range(1, 6), methods="bic",
            n_references=9, random_state=seed,
        ).n_clusters_by_method["bic"]
        for seed in range(8)
    ]  # fmt: skip
    assert sum(k != 1 for k in result) <= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "k"), [(strips, 2), (crossed, 2), (overlapping, 3), (many_columns, 3)]
)
def test_clusters_are_counted_again_and_again(rows, k):
    for seed in range(5):
        choice = choose_n_clusters(
            rows(seed), range(1, 6), methods="bic", n_references=9, random_state=seed
        )
        assert choice.n_clusters == k, (seed, choice.reasons)


def test_a_gain_within_what_noise_reaches_is_none():
    ks, shape = np.array([1, 2, 3]), np.array(["full", "full", "spherical"])

    def answer(gain, noise):
        return _n_clusters_verdict.from_gains(
            ks, np.array(gain), np.array(noise), shape, "Gaussian"
        )

    assert answer([0.0, 10.0, 21.0], [-5.0, 20.0]) == (
        3,
        "it is 21 below that of one group (Gaussian) at k = 3 (spherical covariances); samples of "
        "one Gaussian gain at most 20",
    )
    chance = answer([0.0, np.nan, 20.0], [-5.0, 20.5])
    assert chance == (
        1,
        "the largest gain over one group (Gaussian), 20 at k = 3 (spherical covariances), is no "
        "more than chance: samples of one Gaussian gain at most 20.5",
    )
    weak = answer([0.0, 9.7, np.nan], [-5.0])
    assert weak == (
        1,
        "the largest gain over one group (Gaussian), 9.7 at k = 2 (full covariances), is not above "
        "10",
    )
    less = answer([0.0, -0.1, -0.2], [-5.0])
    assert less == (
        1,
        "one group (Gaussian) has the least; the next is 0.1 above it, at k = 2 (full covariances)",
    )
    none = answer([0.0, np.nan, np.nan], [-5.0])
    assert none.k is None
    assert "collapses" in none.why


VERDICTS = [  # what silhouette, gap, stability and bic say, k, the words
    (3, 3, 3, 3, 3, "3 clusters: silhouette, gap, stability and bic agree"),
    (3, 1, 3, 1, 3, "3 clusters: silhouette and stability agree; the gap statistic prefers 1; no "
     "mixture gains enough in BIC over one group"),
    (2, 2, 4, 4, 4, "4 clusters: stability and bic agree; silhouette says 2; gap says 2"),
    (1, 1, 1, 2, None, "no separated groups: silhouettes are no larger than those of noise, the "
     "gap statistic prefers 1 and stability is within what noise reaches; two fit better"),
    (1, 1, 1, 1, None, "no structure: silhouettes are no larger than those of noise, the gap "
     "statistic prefers 1, stability is within what noise reaches and no mixture gains enough in "
     "BIC over one group"),
    (1, None, 2, 2, None, "no separated groups: silhouettes are no larger than those of noise; "
     "stability says 2; two fit better; gap cannot say"),
    (2, 3, 1, 5, 2, "2 clusters, but methods disagree: silhouette says 2, gap says 3, bic says 5"
     "; stability is within what noise reaches"),
]  # fmt: skip


@pytest.mark.parametrize(("silhouette", "gap", "stable", "bic", "k", "words"), VERDICTS)
def test_overlapping_components_are_no_separated_groups(silhouette, gap, stable, bic, k, words):
    each = {"silhouette": silhouette, "gap": gap, "stability": stable, "bic": bic}
    answers = {
        name: _n_clusters_verdict.MethodAnswer(message, "it knows why")
        for name, message in each.items()
    }
    assert _n_clusters_verdict.verdict(answers, "two fit better") == (k, words)


# --- together with the other methods --------------------------------------------------------------


@pytest.fixture(scope="module")
def four():
    return choose_n_clusters(blobs(4), range(1, 5), methods=ALL, random_state=0, **FEW)


def test_the_others_have_the_same_numbers_with_it_and_without(four):
    three = choose_n_clusters(blobs(4), range(1, 5), methods=ALL[:3], random_state=0, **FEW)
    assert three.methods == ALL[:3]
    assert np.isnan(three.bic).all()
    for name in ("objective", "silhouette", "gap", "stability"):
        np.testing.assert_array_equal(getattr(three, name), getattr(four, name), name)


def test_the_table_has_the_bic_and_its_gain(four):
    assert four.n_clusters == four.n_clusters_by_method["bic"] == 3
    np.testing.assert_allclose(four.bic_gain, four.bic_one_group - four.bic)
    assert four.bic_one_group <= four.bic[0]
    assert four.to_frame().columns.tolist()[-3:] == ["bic", "bic_gain", "bic_overlap"]
    assert four.at(3)["bic"] == four.bic.min()
    assert four.noise["bic_gain"].shape == (3,)
    assert four.bic_overlap[0] == 0
    assert 0 <= four.bic_overlap[2] < 0.01
    text = four.explain()
    assert max(map(len, text.splitlines())) <= 80
    assert "BIC            k = 3: it is" in text
    assert "a cluster that is skewed has several" in " ".join(text.split())


def test_the_picture_has_a_panel_of_gains(four):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    display = four.plot()
    assert [ax.get_ylabel() for ax in display.ax_][-1] == "BIC(one group) − BIC"
    np.testing.assert_array_equal(display.lines_["bic"].get_ydata(), four.bic_gain)
    assert "bic" not in display.noise_
    assert display.marks_["bic"].get_xdata()[0] == 3
    plt.close("all")


def test_gains_are_over_one_component_also_where_that_was_not_asked():
    reported = []
    queried = {"methods": "bic", "random_state": 0, **FEW}
    choice = choose_n_clusters(
        blobs(4), [2, 3], on_progress=lambda *at: reported.append(at), **queried
    )
    # 2 clusterings, 3 mixtures, 3 samples of one Gaussian
    assert reported == [(i, 8) for i in range(1, 9)]
    assert choice.n_clusters == 3
    assert (choice.bic_gain > 0).all()
    nothing = choose_n_clusters(NOTHING["one blob"](np.random.default_rng(0)), [2, 3], **queried)
    assert nothing.n_clusters_by_method["bic"] == 1


def test_same_bits_on_any_number_of_threads():
    X = blobs(5, n=45)
    queried = {"methods": "bic", "random_state": 3, "n_references": 3}
    one, other = (choose_n_clusters(X, range(1, 4), threads=t, **queried) for t in (1, 3))
    np.testing.assert_array_equal(one.bic, other.bic)
    np.testing.assert_array_equal(one.noise["bic_gain"], other.noise["bic_gain"])


def test_k_without_a_bic_are_reported_and_warnings_are_not():
    points = np.repeat([[0.0, 0.0], [5.0, 1.0], [1.0, 7.0]], 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choice = choose_n_clusters(points, methods="bic", n_references=2, random_state=0)
    assert choice.n_clusters_by_method["bic"] is None
    assert choice.verdict.startswith("no answer: bic: mixtures of several components have none")
    assert any(note.startswith("There is no BIC of k = 2, 3: ") for note in choice.notes)
    assert "BIC            –: " in choice.explain()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_very_few_rows_have_an_answer(n):
    choice = choose_n_clusters(blobs(0)[:n], methods=ALL, random_state=0, **FEW)
    assert choice.explain()
    assert np.isnan(choice.bic[-1])


def test_a_slip_in_its_name_is_reported():
    with pytest.raises(ValueError, match="Did you mean 'bic'"):
        choose_n_clusters(blobs(0), [1, 2], methods=["bci"])
