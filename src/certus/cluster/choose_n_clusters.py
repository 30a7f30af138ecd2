"""How many clusters: three answers to one question, and what they say together.

    silhouette   are rows nearer to their own cluster than to the next one?
    gap          are clusters more compact than those of data without any?
    stability    do two halves of the rows find the same ones?

Each is compared with the same on noise, uniform samples in the box of the data, so that the answer
can be "no structure".
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.stats import norm, t
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._config import effective_threads
from .._finite import require_finite
from .._validation import as_numbers, data_for_search, one_of, positive_whole
from .._validation import weights as row_weights
from .._words import count, listed, magnitude
from ..csr import CSR
from ._clusterer import clusterer
from ._evidence import (
    Says,
    as_of_pairs,
    from_gaps,
    from_silhouettes,
    from_stability,
    gap_of,
    verdict,
)
from ._measuring import Measured, Progress, References, Work, distinct
from ._n_clusters_choice import METHODS, NClustersChoice

UNEVEN = 100.0  # times the spread of another column: that one hardly counts


def choose_n_clusters(
    X: Any,
    ks: Any = range(1, 11),
    *,
    methods: Iterable[str] = METHODS,
    estimator: Any = None,
    n_references: int = 20,
    n_resamples: int = 20,
    sample_weight: Any = None,
    max_rows: int | None = 10_000,
    confidence: float = 0.95,
    random_state: Any = None,
    threads: int | None = None,
    on_progress: Callable[[int, int], Any] | None = None,
) -> NClustersChoice:
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
    methods : some of "silhouette", "gap", "stability"
    estimator : clusterer, optional
        With a parameter ``n_clusters`` or ``n_components``. Default: k-means, the best of ten
        starts. Rows of the other half are given to clusters by its ``predict``, or where it has
        none by the nearest mean of a cluster.
    n_references : int
        Samples of noise, at least 2. Where there is no structure, silhouette and stability each
        find some by chance with probability 1/(n_references + 1).
    n_resamples : int
        Pairs of halves for the stability; noise gets a fifth as many for each sample.
    sample_weight : array of shape (n,), optional
        How often a row counts in fits, silhouettes, W_k and agreement. A half is a half of the
        rows, whatever they weigh.
    max_rows : int or None
        Of more rows a random sample of so many is clustered; None: all. Silhouettes are averaged
        over at most 2,000 rows, each compared with all.
    confidence : float
        Of the intervals.
    random_state : int, Generator, RandomState or None
    threads : int, optional
        At most so many; the answer has the same bits on any number.
    on_progress : callable, optional
        Called as ``on_progress(done, of)`` after each k, pair of halves and sample of noise, by
        the thread that did it.

    Returns
    -------
    NClustersChoice
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
    """
    methods = _methods(methods)
    if positive_whole("n_references", n_references) < 2:
        raise ValueError("n_references=1: give at least 2, their spread is needed")
    positive_whole("n_resamples", n_resamples)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: give a share between 0 and 1, such as 0.95")
    rng = _generator(random_state)
    X, s, notes = _rows(X, sample_weight, max_rows, rng)
    asked = _numbers_of_clusters(ks)
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
) -> NClustersChoice:
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
    }
    says = {name: each[name]() for name in methods}
    k, told = verdict(says)
    if "gap" in methods and ks[0] > 1:
        notes.append("1 is not among ks, so that the gap statistic could not prefer it.")
    if k is not None and k == ks[-1]:
        notes.append(f"{k} is the largest k that was tried: try more.")
    return NClustersChoice(
        n_clusters=k, verdict=told,
        says={name: said.k for name, said in says.items()},
        why={name: said.why for name, said in says.items()},
        ks=ks, objective=found.W, silhouette=found.silhouette,
        silhouette_interval=np.clip(
            np.stack([found.silhouette - half, found.silhouette + half], axis=1), -1, 1
        ),
        gap=gap, gap_error=gap_error, stability=stability, stability_interval=stability_interval,
        noise={"silhouette": noise.silhouette, "stability": noise_stability, "objective": noise.W},
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
) -> NClustersChoice:
    """k = 1 alone: there is nothing to compare it with."""
    weight = np.ones(len(X)) if s is None else s
    centred = X - X[0].astype(np.float64)
    W = float(np.dot(weight, ((centred - np.average(centred, axis=0, weights=s)) ** 2).sum(axis=1)))
    why = "all rows are one point" if W == 0 else "k = 1 alone was tried"
    unknown = np.full(1, np.nan)
    return NClustersChoice(
        n_clusters=None, verdict=f"no structure: {why}" if W == 0 else f"no answer: {why}",
        says=dict.fromkeys(methods), why=dict.fromkeys(methods, why),
        ks=np.array([1]), objective=np.array([W]), silhouette=unknown,
        silhouette_interval=np.full((1, 2), np.nan), gap=unknown, gap_error=unknown,
        stability=unknown, stability_interval=np.full((1, 2), np.nan),
        noise=dict.fromkeys(("silhouette", "stability", "objective"), unknown[None]),
        methods=methods, confidence=confidence, n=len(X), notes=tuple(notes),
    )  # fmt: skip


# --- what is asked --------------------------------------------------------------------------------


def _methods(methods: Iterable[str]) -> tuple[str, ...]:
    given = [methods] if isinstance(methods, str) else list(methods)
    if not given:
        raise ValueError(f"methods is empty: give some of {', '.join(map(repr, METHODS))}")
    for method in given:
        one_of("methods", method, METHODS)
    return tuple(method for method in METHODS if method in given)


def _numbers_of_clusters(ks: Any) -> np.ndarray:
    given = [ks] if isinstance(ks, str) or not hasattr(ks, "__iter__") else list(ks)
    values = as_numbers(given, "ks")
    if values.ndim != 1 or not len(values) or not (values == np.floor(values)).all():
        raise ValueError(f"ks={ks!r}: give whole numbers of clusters, such as range(1, 11)")
    values = np.unique(values.astype(np.intp))
    if values[0] < 1:
        raise ValueError(f"ks holds {values[0]}: at least 1 cluster is needed")
    return values


def _rows(
    X: Any, sample_weight: Any, max_rows: int | None, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """(X, weights or None, notes) of the rows that count, at most ``max_rows``."""
    asker = type("choose_n_clusters", (BaseEstimator,), {"fit": None})()
    X = data_for_search(asker, X, reset=True)
    if isinstance(X, CSR):
        raise TypeError(
            "Sparse data was passed, but choose_n_clusters needs a dense array, since noise is "
            "dense: use X.toarray(), or reduce the columns with TruncatedSVD"
        )
    X = np.asarray(X)
    require_finite(X, vars(asker).get("feature_names_in_"))
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    s = row_weights(sample_weight, len(X))
    rows = np.arange(len(X)) if s is None else np.flatnonzero(s)
    notes = []
    if max_rows is not None and len(rows) > positive_whole("max_rows", max_rows):
        notes.append(f"A random sample of {max_rows:,} of {count(len(rows), 'row')} was clustered.")
        rows = np.sort(rng.permutation(rows)[:max_rows])
    if len(rows) < len(X):
        X, s = X[rows], None if s is None else s[rows]
    _require_squares(X)
    spread = X.std(axis=0, dtype=np.float64)
    low, high = spread[spread > 0].min(initial=np.inf), spread.max()
    if high > UNEVEN * low:
        notes.append(
            f"Spreads of the columns differ by a factor of {magnitude(float(high / low))}: the "
            "narrow ones hardly count. Scale the columns first, unless their units are comparable."
        )
    return X, s, notes


def _require_squares(X: np.ndarray) -> None:
    half = X.max(axis=0).astype(np.float64) / 2 - X.min(axis=0).astype(np.float64) / 2
    widest = float(half.max())  # a whole one could overflow
    if 0 < widest < 1e-140 or widest > 1e150:
        raise ValueError(
            f"the values of a column of X differ by up to {widest:.2g}, and squares of that are "
            "out of range: multiply X by a power of 10"
        )


def _generator(random_state: Any) -> np.random.RandomState:
    """As scikit-learn's ``check_random_state``, which does not know Generators."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng
