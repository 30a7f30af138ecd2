"""The answers of the methods, and the verdict that they make."""

import numpy as np
import pytest

from certus.cluster import _n_clusters_verdict, choose_n_clusters
from tests.n_clusters.n_clusters_cases import SMALL

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
