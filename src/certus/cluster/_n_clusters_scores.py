"""Scores of the clusters for every k: of the data, of halves of them, and of noise.

    data         log W_k, silhouettes
    halves       ARI, on all rows, of the clusters of two disjoint halves
    mixtures     BIC of k Gaussians
    references   the same for B uniform samples in the box of the data (noise)

Every task has its own seed, drawn beforehand, so that results have the same bits on any number of
threads.
"""

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import DegenerateWarning
from ..runtime.config import config_context
from ..runtime.pool import blas_limiter, run_on_threads
from ..solvers.n_clusters.gap_statistic import ReferenceBox, within
from ..solvers.n_clusters.silhouette import mean_silhouettes, means_and_errors
from ..solvers.n_clusters.stability import adjusted_rand
from ..text.format import count
from ._clusterer import BestOfTenKMeans, Clusterer
from ._n_clusters_bic import MISSING_BIC, Bic, bic_of

MAX_SILHOUETTE_ROWS = 2000  # averaging over so many rows gives a standard error of at most 0.01
MAX_SEED = 2**31 - 1


class DataScores(NamedTuple):
    """Scores of the data for each k; NaN for k = 1 and for methods that were not requested."""

    W: np.ndarray  # (m,)
    silhouette: np.ndarray  # (m,)
    silhouette_error: np.ndarray  # (m,)
    stability: np.ndarray  # (pairs, m)
    bic: np.ndarray  # (m,)
    bic_shape: np.ndarray  # (m,) str, covariance_type
    bic_gain: np.ndarray  # (m,)


class NoiseScores(NamedTuple):
    """Scores of each reference."""

    W: np.ndarray  # (B, m)
    silhouette: np.ndarray  # (B, m)
    stability: np.ndarray  # (B, pairs, m)
    bic_gain: np.ndarray  # (B, m)


class Scoring(NamedTuple):
    """Computes the scores of the data and of the references."""

    clusterer: BestOfTenKMeans | Clusterer
    ks: np.ndarray
    methods: Sequence[str]
    n_references: int
    n_resamples: int
    threads: int
    progress: "ScoringProgress"

    def run(
        self, X: np.ndarray, s: np.ndarray | None, rng: np.random.RandomState
    ) -> tuple[DataScores, NoiseScores]:
        B, R = self.n_references, self.n_resamples if "stability" in self.methods else 0
        pairs = pairs_per_reference(R)
        fit_seeds, split_seeds, noise_seeds = (
            rng.randint(MAX_SEED, size=size) for size in (len(self.ks), R, B)
        )
        silhouette_rows = (
            rng.permutation(len(X))[:MAX_SILHOUETTE_ROWS] if len(X) > MAX_SILHOUETTE_ROWS else None
        )
        mixture_ks = self._mixture_ks()
        mixture_seeds = rng.randint(MAX_SEED, size=len(mixture_ks))
        self.progress.total = len(self.ks) + R + len(mixture_ks) + B
        labels = np.zeros((len(X), len(self.ks)), dtype=np.intp)

        def fit(t: int) -> None:
            labels[:, t] = self.clusterer.fit(X, int(self.ks[t]), s, int(fit_seeds[t])).labels

        self._run_tasks(fit, len(self.ks))
        stability = np.full((R, len(self.ks)), np.nan)
        box = ReferenceBox.of(X, s)
        each = B, len(self.ks)
        shapes = each, each, (B, pairs, len(self.ks)), each
        noise = NoiseScores(*(np.full(shape, np.nan) for shape in shapes))
        bics = [MISSING_BIC] * len(mixture_ks)

        def score_split(r: int) -> None:
            stability[r] = self._agreement(X, s, np.random.RandomState(split_seeds[r]))

        def fit_mixture(t: int) -> None:
            bics[t] = bic_of(X, mixture_ks[t], s, int(mixture_seeds[t]))

        def score_noise(b: int) -> None:
            rng = np.random.RandomState(noise_seeds[b])
            Z = box.draw(len(X), rng).astype(X.dtype, copy=False)
            results = [
                self.clusterer.fit(Z, int(k), s, rng.randint(MAX_SEED)).labels for k in self.ks
            ]
            noise.W[b] = [within(Z, column, s) for column in results]
            if "silhouette" in self.methods:
                columns, labels = clusterings(np.stack(results, axis=1))
                noise.silhouette[b, columns] = mean_silhouettes(Z, labels, s, silhouette_rows, 1)
            for r in range(pairs):
                noise.stability[b, r] = self._agreement(Z, s, rng)
            if mixture_ks:
                seeds = rng.randint(MAX_SEED, size=len(mixture_ks))
                noise_bics = [
                    bic_of(Z, k, s, int(u)) for k, u in zip(mixture_ks, seeds, strict=True)
                ]
                noise.bic_gain[b] = self._bics(noise_bics, s, len(X))[2]

        with warnings.catch_warnings():
            # warnings about halves, noise and mixtures do not concern the user's data
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DegenerateWarning)
            self._run_tasks(score_split, R)
            self._run_tasks(fit_mixture, len(mixture_ks))
            self._run_tasks(score_noise, B)
        W = np.array([within(X, column, s) for column in labels.T])
        mean, error = (np.full(len(self.ks), np.nan) for _ in range(2))
        if "silhouette" in self.methods:
            columns, labels = clusterings(labels)
            mean[columns], error[columns] = means_and_errors(
                X, labels, s, silhouette_rows, self.threads
            )
        return DataScores(W, mean, error, stability, *self._bics(bics, s, len(X))), noise

    def _mixture_ks(self) -> list[int]:
        """Return the numbers of components to fit: ks, and 1, from which gains are measured."""
        return [int(k) for k in np.union1d([1], self.ks)] if "bic" in self.methods else []

    def _bics(
        self, results: list[Bic], s: np.ndarray | None, rows: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (BIC, covariance type, gain per row) for each of ks."""
        silhouette_rows = results[-len(self.ks) :] if results else [MISSING_BIC] * len(self.ks)
        bic = np.array([one.value for one in silhouette_rows])
        bic_of_one = results[0].value if results else np.nan
        n = rows if s is None else float(s.sum())
        return bic, np.array([one.shape for one in silhouette_rows]), (bic_of_one - bic) / n

    def _run_tasks(self, task: Callable[[int], None], number: int) -> None:
        def one(i: int) -> None:
            with config_context(threads=1):  # tasks run in parallel, so each fit uses one thread
                task(i)
            self.progress.step()

        with blas_limiter:  # the bits of a product depend on how many threads share it
            run_on_threads(one, number, self.threads)

    def _agreement(
        self, X: np.ndarray, s: np.ndarray | None, rng: np.random.RandomState
    ) -> np.ndarray:
        """Return, for each k, the ARI of the labels that two disjoint halves give to all rows."""
        n, half = len(X), len(X) // 2
        order, seeds = rng.permutation(n), rng.randint(MAX_SEED, size=(len(self.ks), 2))
        results = np.full(len(self.ks), np.nan)
        parts = order[:half], order[half : 2 * half]
        most = min(count_distinct(X[part], int(self.ks[-1])) for part in parts)
        for t, k in enumerate(self.ks):
            if 1 < k <= most:
                one, other = (
                    self.clusterer.fit(
                        X[part], int(k), None if s is None else s[part], int(seed)
                    ).assign(X)
                    for part, seed in zip(parts, seeds[t], strict=True)
                )
                results[t] = adjusted_rand(one, other, s)
        return results


def clusterings(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of ``labels`` with several clusters: their numbers and labels."""
    columns = np.flatnonzero(labels.max(axis=0) > 0)
    return columns, labels[:, columns]


def pairs_per_reference(n_resamples: int) -> int:
    """Return the number of pairs of halves for each reference: a fifth of the data's, at least 2.

    References are many, and their variance over pairs is corrected for
    (``_n_clusters_verdict.shrink_to_pairs``).
    """
    return max(2, -(-n_resamples // 5)) if n_resamples else 0


def count_distinct(X: np.ndarray, most: int) -> int:
    """Return the number of distinct rows, or ``most`` if there are at least as many."""
    rows_seen: set[bytes] = set()
    for start in range(0, len(X), 1024):
        block = X[start : start + 1024] + 0.0  # −0 is 0
        rows_seen.update(row.tobytes() for row in block)
        if len(rows_seen) >= most:
            return most
    return len(rows_seen)


class ScoringProgress:
    """Reports progress to a callback, and adds it to a KeyboardInterrupt."""

    def __init__(self, callback: Callable[[int, int], Any] | None):
        self.callback, self.done, self.total = callback, 0, 0
        self.lock = threading.Lock()

    def step(self) -> None:
        with self.lock:
            self.done += 1
            if self.callback is not None:
                self.callback(self.done, self.total)

    def __enter__(self) -> "ScoringProgress":
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KeyboardInterrupt):
            where = (
                f"after {self.done:,} of {count(self.total, 'step')}" if self.total else "at once"
            )
            error.add_note(f"choose_n_clusters stopped by you {where}; nothing was kept.")
