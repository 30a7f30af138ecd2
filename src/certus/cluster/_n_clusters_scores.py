"""The clusters of the data for every k, of halves of them, and of data without structure.

    data         log W_k, silhouettes                   the table
    halves       ARI of the clusters that two disjoint halves find, on all rows
    mixtures     BIC of k Gaussians
    references   the same of B uniform samples in the box of the data: what noise gives

Every piece of work has a seed of its own, drawn beforehand: the same bits on any number of threads.
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
from ..solvers.n_clusters.gap_statistic import Box, within
from ..solvers.n_clusters.silhouette import mean_silhouettes, means_and_errors
from ..solvers.n_clusters.stability import adjusted_rand
from ..text.format import count
from ._clusterer import BestOfTen, Clusterer
from ._n_clusters_bic import NONE, Bic, bic_of

ASKED = 2000  # rows whose silhouettes are averaged: a standard error of about 0.01 at most
SEEDS = 2**31 - 1


class Measured(NamedTuple):
    """Of one data set, for each k; NaN where k = 1 or a method was not asked for."""

    W: np.ndarray  # (m,)
    silhouette: np.ndarray  # (m,)
    silhouette_error: np.ndarray  # (m,)
    stability: np.ndarray  # (pairs, m)
    bic: np.ndarray  # (m,)
    bic_shape: np.ndarray  # (m,) str, of Σ
    bic_gain: np.ndarray  # (m,)


class References(NamedTuple):
    """The same of each reference."""

    W: np.ndarray  # (B, m)
    silhouette: np.ndarray  # (B, m)
    stability: np.ndarray  # (B, pairs, m)
    bic_gain: np.ndarray  # (B, m)


class Work(NamedTuple):
    """What is to be measured, and with what."""

    clusterer: BestOfTen | Clusterer
    ks: np.ndarray
    methods: Sequence[str]
    n_references: int
    n_resamples: int
    threads: int
    progress: "Progress"

    def run(
        self, X: np.ndarray, s: np.ndarray | None, rng: np.random.RandomState
    ) -> tuple[Measured, References]:
        B, R = self.n_references, self.n_resamples if "stability" in self.methods else 0
        pairs = pairs_of_a_reference(R)
        own, halves, drawn = (rng.randint(SEEDS, size=size) for size in (len(self.ks), R, B))
        asked = rng.permutation(len(X))[:ASKED] if len(X) > ASKED else None
        mixed = self._mixed_ks()
        mixtures = rng.randint(SEEDS, size=len(mixed))
        self.progress.of = len(self.ks) + R + len(mixed) + B
        labels = np.zeros((len(X), len(self.ks)), dtype=np.intp)

        def fit(t: int) -> None:
            labels[:, t] = self.clusterer.fit(X, int(self.ks[t]), s, int(own[t])).labels

        self._do(fit, len(self.ks))
        stability = np.full((R, len(self.ks)), np.nan)
        box = Box.of(X, s)
        each = B, len(self.ks)
        shapes = each, each, (B, pairs, len(self.ks)), each
        noise = References(*(np.full(shape, np.nan) for shape in shapes))
        bics = [NONE] * len(mixed)

        def split(r: int) -> None:
            stability[r] = self._agreement(X, s, np.random.RandomState(halves[r]))

        def mix(t: int) -> None:
            bics[t] = bic_of(X, mixed[t], s, int(mixtures[t]))

        def refer(b: int) -> None:
            rng = np.random.RandomState(drawn[b])
            Z = box.draw(len(X), rng).astype(X.dtype, copy=False)
            found = [self.clusterer.fit(Z, int(k), s, rng.randint(SEEDS)).labels for k in self.ks]
            noise.W[b] = [within(Z, own, s) for own in found]
            if "silhouette" in self.methods:
                several, labels = clusterings(np.stack(found, axis=1))
                noise.silhouette[b, several] = mean_silhouettes(Z, labels, s, asked, 1)
            for r in range(pairs):
                noise.stability[b, r] = self._agreement(Z, s, rng)
            if mixed:
                seeds = rng.randint(SEEDS, size=len(mixed))
                of_noise = [bic_of(Z, k, s, int(u)) for k, u in zip(mixed, seeds, strict=True)]
                noise.bic_gain[b] = self._bics(of_noise, s, len(X))[2]

        with warnings.catch_warnings():
            # about halves, noise and mixtures, which nobody has asked for
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DegenerateWarning)
            self._do(split, R)
            self._do(mix, len(mixed))
            self._do(refer, B)
        W = np.array([within(X, own, s) for own in labels.T])
        mean, error = (np.full(len(self.ks), np.nan) for _ in range(2))
        if "silhouette" in self.methods:
            several, labels = clusterings(labels)
            mean[several], error[several] = means_and_errors(X, labels, s, asked, self.threads)
        return Measured(W, mean, error, stability, *self._bics(bics, s, len(X))), noise

    def _mixed_ks(self) -> list[int]:
        """How many components are mixed: 1, which gains are measured from, and ks."""
        return [int(k) for k in np.union1d([1], self.ks)] if "bic" in self.methods else []

    def _bics(
        self, found: list[Bic], s: np.ndarray | None, rows: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(BIC, shape of Σ, gain a row) for each of ks."""
        asked = found[-len(self.ks) :] if found else [NONE] * len(self.ks)
        bic = np.array([one.value for one in asked])
        of_one = found[0].value if found else np.nan
        n = rows if s is None else float(s.sum())
        return bic, np.array([one.shape for one in asked]), (of_one - bic) / n

    def _do(self, task: Callable[[int], None], number: int) -> None:
        def one(i: int) -> None:
            with config_context(threads=1):  # what a fit would use of its own
                task(i)
            self.progress.step()

        with blas_limiter:  # the bits of a product depend on how many threads share it
            run_on_threads(one, number, self.threads)

    def _agreement(
        self, X: np.ndarray, s: np.ndarray | None, rng: np.random.RandomState
    ) -> np.ndarray:
        """ARI of what two disjoint halves say of all rows, for each k."""
        n, half = len(X), len(X) // 2
        order, seeds = rng.permutation(n), rng.randint(SEEDS, size=(len(self.ks), 2))
        found = np.full(len(self.ks), np.nan)
        parts = order[:half], order[half : 2 * half]
        most = min(distinct(X[part], int(self.ks[-1])) for part in parts)
        for t, k in enumerate(self.ks):
            if 1 < k <= most:
                one, other = (
                    self.clusterer.fit(
                        X[part], int(k), None if s is None else s[part], int(seed)
                    ).assign(X)
                    for part, seed in zip(parts, seeds[t], strict=True)
                )
                found[t] = adjusted_rand(one, other, s)
        return found


def clusterings(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(their numbers, labels) of those that have several clusters."""
    several = np.flatnonzero(labels.max(axis=0) > 0)
    return several, labels[:, several]


def pairs_of_a_reference(n_resamples: int) -> int:
    """A fifth of the data's, at least 2: references are many, and their spread over pairs is known
    (``_n_clusters_verdict.as_of_pairs``)."""
    return max(2, -(-n_resamples // 5)) if n_resamples else 0


def distinct(X: np.ndarray, most: int) -> int:
    """How many different rows there are; ``most`` if there are as many, or more."""
    seen: set[bytes] = set()
    for start in range(0, len(X), 1024):
        block = X[start : start + 1024] + 0.0  # −0 is 0
        seen.update(row.tobytes() for row in block)
        if len(seen) >= most:
            return most
    return len(seen)


class Progress:
    """Tells how far the work is, and says it when Ctrl-C ends it."""

    def __init__(self, told: Callable[[int, int], Any] | None):
        self.told, self.done, self.of = told, 0, 0
        self.lock = threading.Lock()

    def step(self) -> None:
        with self.lock:
            self.done += 1
            if self.told is not None:
                self.told(self.done, self.of)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, KeyboardInterrupt):
            where = f"after {self.done:,} of {count(self.of, 'step')}" if self.of else "at once"
            error.add_note(f"choose_n_clusters stopped by you {where}; nothing was kept.")
