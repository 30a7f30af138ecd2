"""How many clusters: answers of several methods to one question, and what they say together.

    silhouette   are rows nearer to their own cluster than to the next one?
    gap          are clusters more compact than those of data without any?
    stability    do two halves of the rows find the same ones?
    bic          are several Gaussians likelier than one, at a price for each number fitted?

Each is compared with the same on noise, uniform samples in the box of the data, so that the answer
can be "no structure".
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.stats import norm, t

from ..data.types import Seed
from ..data.validation import positive_whole
from ..runtime.config import effective_threads
from ..text.format import count, listed
from ._clusterer import clusterer
from ._n_clusters_input import generator, methods_of, numbers_of_clusters, rows_of
from ._n_clusters_result import DEFAULT, NClustersResult
from ._n_clusters_scores import Measured, Progress, References, Work, distinct
from ._n_clusters_verdict import (
    NO_BIC,
    Says,
    as_of_pairs,
    from_gains,
    from_gaps,
    from_silhouettes,
    from_stability,
    gap_of,
    verdict,
)


def choose_n_clusters(
    X: object,
    ks: object = range(1, 11),
    *,
    methods: Iterable[str] = DEFAULT,
    estimator: object = None,
    n_references: int = 20,
    n_resamples: int = 20,
    sample_weight: object = None,
    max_rows: int | None = 10_000,
    confidence: float = 0.95,
    random_state: Seed = None,
    threads: int | None = None,
    on_progress: Callable[[int, int], Any] | None = None,
) -> NClustersResult:
    """The number of clusters, with the evidence for every k, or "no structure".

    Each method has its own k; the verdict is what most of them say. Where fewer than half see
    clusters, there is no structure and ``n_clusters`` is None. Columns should be in comparable
    units: distances add them up.

    Parameters
    ----------
    X : array or frame of shape (n, p)
    ks : whole numbers
        Numbers of clusters to try. Keep 1 and a few more than you expect: the gap statistic
        compares each k with the next. Those above the number of different rows are left out.
    methods : some of "silhouette", "gap", "stability", "bic"
        Default: the first three. "bic" fits Gaussian mixtures, whatever the ``estimator``: for
        clusters that overlap or are long, at several times the cost of the others.
    estimator : clusterer, optional
        With a parameter ``n_clusters`` or ``n_components``. Default: k-means, the best of ten
        starts. Rows of the other half are given to clusters by its ``predict``, or where it has
        none by the nearest mean of a cluster.
    n_references : int
        Samples of noise, at least 2. Where there is no structure, silhouette, stability and BIC
        each find some by chance with probability 1/(n_references + 1).
    n_resamples : int
        Pairs of halves for the stability; noise gets a fifth as many for each sample.
    sample_weight : array of shape (n,), optional
        How often a row counts in fits, silhouettes, W_k, agreement and BIC, whose n is their sum. A
        half is a half of the rows, whatever they weigh.
    max_rows : int or None
        Of more rows a random sample of so many is clustered; None: all. Silhouettes are averaged
        over at most 2,000 rows, each compared with all.
    confidence : float
        Of the intervals.
    random_state : int, Generator, RandomState or None
    threads : int, optional
        At most so many; the answer has the same bits on any number.
    on_progress : callable, optional
        Called as ``on_progress(done, of)`` after each k, pair of halves, mixture and sample of
        noise, by the thread that did it.

    Returns
    -------
    NClustersResult
        ``n_clusters``, ``verdict``, ``says``, ``table()``, ``explain()``, ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import choose_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.uniform(size=(60, 2))
    >>> few = {"n_references": 5, "n_resamples": 5}
    >>> choice = choose_n_clusters(noise, range(1, 5), **few, random_state=0)
    >>> choice.n_clusters is None, choice.says["gap"]
    (True, 1)
    >>> choice.verdict.split(":")[0]
    'no structure'

    Two long clusters side by side, which k-means cuts across:

    >>> long = rng.normal(size=(120, 2)) * [6, 1] + np.repeat([[0, 0], [0, 6]], 60, axis=0)
    >>> choose_n_clusters(long, range(1, 4), **few, methods="bic", random_state=0)
    NClustersResult(2 clusters: bic alone was asked)
    """
    methods = methods_of(methods)
    if positive_whole("n_references", n_references) < 2:
        raise ValueError("n_references=1: give at least 2, their spread is needed")
    positive_whole("n_resamples", n_resamples)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: give a share between 0 and 1, such as 0.95")
    rng = generator(random_state)
    X, s, notes = rows_of(X, sample_weight, max_rows, rng)
    asked = numbers_of_clusters(ks)
    each = clusterer(estimator, s is not None)
    different = distinct(X, int(asked[-1]))
    ks = asked[asked <= different]
    if not len(ks):
        raise ValueError(
            f"X holds {count(different, 'different row')}, and the least of ks is {asked[0]}: "
            "give smaller ones"
        )
    if len(ks) < len(asked):
        left = listed([str(k) for k in asked[len(ks) :]])
        notes.append(f"The rows hold {different} different points: k = {left} was left out.")
    if ks[-1] == 1:
        return _of_one_k(X, s, methods, confidence, notes)
    progress = Progress(on_progress)
    work = Work(
        each, ks, methods, n_references, n_resamples,
        effective_threads(None if threads is None else positive_whole("threads", threads)),
        progress,
    )  # fmt: skip
    with progress:
        measured, noise = work.run(X, s, rng)
    return _choice(ks, methods, confidence, len(X), measured, noise, notes)


def _choice(
    ks: np.ndarray,
    methods: tuple[str, ...],
    confidence: float,
    n: int,
    found: Measured,
    noise: References,
    notes: list[str],
) -> NClustersResult:
    gap, gap_error = gap_of(found.W, noise.W)
    stability, stability_interval = _mean_of_pairs(found.stability, confidence)
    noise_stability = np.full(noise.W.shape, np.nan)
    if "stability" in methods:
        noise_stability = as_of_pairs(noise.stability, len(found.stability))
    half = norm.ppf((1 + confidence) / 2) * found.silhouette_error
    each: dict[str, Callable[[], Says]] = {
        "silhouette": lambda: from_silhouettes(ks, found.silhouette, noise.silhouette),
        "gap": lambda: from_gaps(ks, gap, gap_error),
        "stability": lambda: from_stability(ks, stability, noise_stability),
        "bic": lambda: from_gains(ks, found.bic_gain, noise.bic_gain, found.bic_shape),
    }
    says = {name: each[name]() for name in methods}
    k, told = verdict(says)
    if "gap" in methods and ks[0] > 1:
        notes.append("1 is not among ks, so that the gap statistic could not prefer it.")
    none = [str(k) for k in ks[np.isnan(found.bic)]]
    if "bic" in methods and none:
        notes.append(f"There is no BIC of k = {listed(none)}: {NO_BIC}.")
    if k is not None and k == ks[-1]:
        notes.append(f"{k} is the largest k that was tried: try more.")
    return NClustersResult(
        n_clusters=k, verdict=told,
        says={name: said.k for name, said in says.items()},
        why={name: said.why for name, said in says.items()},
        ks=ks, objective=found.W, silhouette=found.silhouette,
        silhouette_interval=np.clip(
            np.stack([found.silhouette - half, found.silhouette + half], axis=1), -1, 1
        ),
        gap=gap, gap_error=gap_error, stability=stability, stability_interval=stability_interval,
        bic=found.bic, bic_gain=found.bic_gain, bic_shape=found.bic_shape,
        noise={
            "silhouette": noise.silhouette, "stability": noise_stability, "objective": noise.W,
            "bic_gain": noise.bic_gain,
        },
        methods=methods, confidence=confidence, n=n, notes=tuple(notes),
    )  # fmt: skip


def _mean_of_pairs(pairs: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """(mean, Student's interval) over the pairs of halves that both hold k different rows."""
    known = np.isfinite(pairs)
    R = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, pairs, 0.0).sum(axis=0) / R
        spread = np.where(known, (pairs - mean) ** 2, 0.0).sum(axis=0) / (R - 1)
        half = t.ppf((1 + confidence) / 2, R - 1) * np.sqrt(spread / R)
    low, high = np.where(R > 1, mean - half, -1.0), np.where(R > 1, mean + half, 1.0)
    interval = np.clip(np.stack([low, high], axis=1), -1, 1)
    return mean, np.where(R[:, None] > 0, interval, np.nan)


def _of_one_k(
    X: np.ndarray,
    s: np.ndarray | None,
    methods: tuple[str, ...],
    confidence: float,
    notes: list[str],
) -> NClustersResult:
    """k = 1 alone: there is nothing to compare it with."""
    weight = np.ones(len(X)) if s is None else s
    centred = X - X[0].astype(np.float64)
    W = float(np.dot(weight, ((centred - np.average(centred, axis=0, weights=s)) ** 2).sum(axis=1)))
    why = "all rows are one point" if W == 0 else "k = 1 alone was tried"
    unknown = np.full(1, np.nan)
    return NClustersResult(
        n_clusters=None, verdict=f"no structure: {why}" if W == 0 else f"no answer: {why}",
        says=dict.fromkeys(methods), why=dict.fromkeys(methods, why),
        ks=np.array([1]), objective=np.array([W]), silhouette=unknown,
        silhouette_interval=np.full((1, 2), np.nan), gap=unknown, gap_error=unknown,
        stability=unknown, stability_interval=np.full((1, 2), np.nan),
        bic=unknown, bic_gain=unknown, bic_shape=np.array([""]),
        noise=dict.fromkeys(("silhouette", "stability", "objective", "bic_gain"), unknown[None]),
        methods=methods, confidence=confidence, n=len(X), notes=tuple(notes),
    )  # fmt: skip
