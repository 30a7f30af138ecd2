"""Progress of choose_n_clusters, and what is left when it is stopped."""

import io
import signal
import sys

import numpy as np
import pytest

from certus.cluster import _n_clusters_progress, choose_n_clusters
from tests.n_clusters.n_clusters_cases import QUICK, SMALL, THREE, X0, blobs


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
