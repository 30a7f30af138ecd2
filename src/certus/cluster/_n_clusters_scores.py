"""Scores of the clusters for every k: of the data, of halves of them, and of noise.

    data         log W_k, silhouettes
    halves       ARI of the clusters of two disjoint halves
    mixtures     BIC of k Gaussians
    references   the same as of the data and halves, for B uniform samples in their box (noise)
    Gaussians    the largest gain of BIC in B samples of one Gaussian

Every task has its own seed, drawn beforehand, so that results have the same bits on any number of
threads. The data come first: what is stopped later has fewer halves and samples.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import DegenerateWarning
from ..runtime.config import config_context
from ..runtime.pool import blas_limiter, run_on_threads
from ..solvers.n_clusters.gap_statistic import ReferenceBox, within
from ..solvers.n_clusters.one_group import GroupBic, OneGaussian
from ..solvers.n_clusters.silhouette import mean_silhouettes, means_and_errors
from ..solvers.n_clusters.stability import adjusted_rand
from ._clusterer import Clusterer, RestartedKMeans
from ._n_clusters_bic import MISSING_BIC, Bic, bic_of, largest_gain, single_group
from ._n_clusters_progress import ScoringProgress, Stopped

MAX_SILHOUETTE_ROWS = 2000  # averaging over so many rows gives a standard error of at most 0.01
# Rows of a half, and for each cluster: fits of 1,000 rows take a thirtieth of those of 5,000, and
# the spread of their agreement is part of the interval.
MAX_HALF_ROWS, MIN_HALF_ROWS_PER_CLUSTER = 1000, 50
# Rows of a sample of one Gaussian. The largest gain of several components over one is smaller in
# larger samples, since each parameter costs log n: the bound is on the safe side.
MAX_GAUSSIAN_ROWS = 500
MAX_SEED = 2**31 - 1


class DataScores(NamedTuple):
    """Scores of the data for each k; NaN for k = 1 and for methods that were not requested."""

    W: np.ndarray  # (m,)
    silhouette: np.ndarray  # (m,)
    silhouette_error: np.ndarray  # (m,)
    stability: np.ndarray  # (pairs, m)
    bic: np.ndarray  # (m,)
    bic_shape: np.ndarray  # (m,) str, covariance_type
    bic_overlap: np.ndarray  # (m,)
    one_group: GroupBic


class NoiseScores(NamedTuple):
    """Scores of each reference, and the largest gain of each sample of one Gaussian."""

    W: np.ndarray  # (B, m)
    silhouette: np.ndarray  # (B, m)
    stability: np.ndarray  # (B, pairs, m)
    bic_gain: np.ndarray  # (B,)


class Scores(NamedTuple):
    """What was computed: all, or what there was when it was stopped."""

    ks: np.ndarray  # those whose clusters are known
    data: DataScores
    noise: NoiseScores
    stopped: BaseException | None


class Scoring(NamedTuple):
    """Computes the scores of the data and of the references."""

    clusterer: RestartedKMeans | Clusterer
    ks: np.ndarray
    methods: Sequence[str]
    n_references: int
    n_resamples: int
    threads: int
    progress: ScoringProgress

    def run(self, X: np.ndarray, s: np.ndarray | None, rng: np.random.RandomState) -> Scores:
        """Compute the scores; after Ctrl-C or a callback that returns True, those that are done."""
        B, R = self.n_references, self.n_resamples if "stability" in self.methods else 0
        n_gaussians = B if "bic" in self.methods else 0
        B = 0 if tuple(self.methods) == ("bic",) else B
        pairs = pairs_per_reference(R)
        fit_seeds, split_seeds, noise_seeds = (
            rng.randint(MAX_SEED, size=size) for size in (len(self.ks), R, B)
        )
        silhouette_rows = (
            rng.permutation(len(X))[:MAX_SILHOUETTE_ROWS] if len(X) > MAX_SILHOUETTE_ROWS else None
        )
        mixture_ks = self._mixture_ks()
        mixture_seeds = rng.randint(MAX_SEED, size=len(mixture_ks))
        gaussian_seeds = rng.randint(MAX_SEED, size=n_gaussians)
        labels = np.zeros((len(X), len(self.ks)), dtype=np.intp)
        box, each = ReferenceBox.of(X, s), (B, len(self.ks))
        noise = NoiseScores(*(
            np.full(shape, np.nan)
            for shape in (each, each, (B, pairs, len(self.ks)), (n_gaussians,))
        ))  # fmt: skip
        stability = np.full((R, len(self.ks)), np.nan)
        bics = [MISSING_BIC] * len(mixture_ks)

        def fit(t: int) -> None:
            labels[:, t] = self.clusterer.fit(X, int(self.ks[t]), s, int(fit_seeds[t])).labels

        def fit_mixture(t: int) -> None:
            bics[t] = bic_of(X, mixture_ks[t], s, int(mixture_seeds[t]))

        def score_split(r: int) -> None:
            stability[r] = self._agreement(X, s, np.random.RandomState(split_seeds[r]))

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

        def score_gaussian(b: int) -> None:
            rng = np.random.RandomState(gaussian_seeds[b])
            rows = rng.permutation(len(X))[:MAX_GAUSSIAN_ROWS]
            Z = gaussian.draw(len(rows), rng).astype(X.dtype, copy=False)
            seeds = rng.randint(MAX_SEED, size=len(mixture_ks))
            noise.bic_gain[b] = largest_gain(Z, mixture_ks, None if s is None else s[rows], seeds)

        gaussian = OneGaussian.of(X, s)
        each_task = {
            "fit": (fit, len(self.ks)), "mixture": (fit_mixture, len(mixture_ks)),
            "noise": (score_noise, B), "split": (score_split, R),
            "gaussian": (score_gaussian, n_gaussians),
        }  # fmt: skip
        done, stopped = self._run_tasks(each_task)
        known = done["fit"]
        if not known.any():
            assert stopped is not None
            raise stopped
        W = np.array([within(X, column, s) for column in labels.T])
        mean, error = (np.full(len(self.ks), np.nan) for _ in range(2))
        if "silhouette" in self.methods:
            columns, several = clusterings(labels[:, known])
            columns = np.flatnonzero(known)[columns]
            if len(columns):
                mean[columns], error[columns] = means_and_errors(
                    X, several, s, silhouette_rows, self.threads
                )
        if not done["mixture"].all():
            bics = [MISSING_BIC] * len(bics)
        bic, shape, overlap = self._bics(bics)
        first = bics[0] if bics else MISSING_BIC
        data = DataScores(
            W[known], mean[known], error[known], stability[done["split"]][:, known],
            bic[known], shape[known], overlap[known], single_group(X, s, first),
        )  # fmt: skip
        of_noise = NoiseScores(
            noise.W[done["noise"]][:, known], noise.silhouette[done["noise"]][:, known],
            noise.stability[done["noise"]][..., known], noise.bic_gain[done["gaussian"]],
        )  # fmt: skip
        return Scores(self.ks[known], data, of_noise, stopped)

    def _mixture_ks(self) -> list[int]:
        """Return the numbers of components to fit: ks, and 1, from which gains are measured."""
        return [int(k) for k in np.union1d([1], self.ks)] if "bic" in self.methods else []

    def _bics(self, results: list[Bic]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (BIC, covariance type, overlap) for each of ks."""
        those = results[-len(self.ks) :] if results else [MISSING_BIC] * len(self.ks)
        value, shape, overlap = zip(*those, strict=True)
        return np.array(value), np.array(shape), np.array(overlap)

    def _run_tasks(
        self, each: dict[str, tuple[Callable[[int], None], int]]
    ) -> tuple[dict[str, np.ndarray], BaseException | None]:
        """Run the tasks, in order of their kind; noise, splits and Gaussians by turns.

        Return which are done, and the interrupt that stopped them.
        """
        done = {kind: np.zeros(number, dtype=bool) for kind, (_, number) in each.items()}
        order = [(kind, i) for kind in ("fit", "mixture") for i in range(each[kind][1])]
        rest = [(i, kind) for kind in ("noise", "split", "gaussian") for i in range(each[kind][1])]
        order += [(kind, i) for i, kind in sorted(rest, key=lambda task: task[0])]
        self.progress.total = len(order)

        def one(t: int) -> None:
            kind, i = order[t]
            with config_context(threads=1):  # tasks run in parallel, so each fit uses one thread
                each[kind][0](i)
            done[kind][i] = True
            self.progress.step()

        with warnings.catch_warnings():
            # warnings about halves, noise and mixtures do not concern the user's data
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", DegenerateWarning)
            try:
                with blas_limiter:  # the bits of a product depend on how many threads share it
                    run_on_threads(one, len(order), self.threads)
            except (KeyboardInterrupt, Stopped) as stopped:
                return done, stopped
        return done, None

    def _agreement(
        self, X: np.ndarray, s: np.ndarray | None, rng: np.random.RandomState
    ) -> np.ndarray:
        """Return, for each k, the ARI of the labels that two disjoint halves give to all rows.

        Halves of many rows are of a sample, and give labels to its rows.
        """
        n = len(X)
        half = min(n // 2, max(MAX_HALF_ROWS, MIN_HALF_ROWS_PER_CLUSTER * int(self.ks[-1])))
        order, seeds = rng.permutation(n), rng.randint(MAX_SEED, size=(len(self.ks), 2))
        if 2 * half + 1 < n:
            order = order[: 2 * half]
            X, s = X[order], None if s is None else s[order]
            order = np.arange(2 * half)
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
