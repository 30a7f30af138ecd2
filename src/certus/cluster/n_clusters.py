"""The number of clusters, by several methods.

    silhouette   are rows nearer to their own cluster than to the next one?
    gap          are clusters more compact than those of unstructured data?
    stability    do two halves of the rows give the same clusters?
    bic          are several Gaussians likelier than one, penalising each parameter?

Scores are compared with those of noise, samples without groups, so that the answer can be "no
structure".
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.stats import norm, t

from ..data.types import Seed
from ..data.validation import positive_whole
from ..runtime.config import effective_threads
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import count, listed
from ._clusterer import clusterer
from ._n_clusters_input import generator, methods_of, numbers_of_clusters, rows_of
from ._n_clusters_progress import ScoringProgress
from ._n_clusters_result import DEFAULT_METHODS, NClustersResult
from ._n_clusters_scores import Scores, Scoring, count_distinct
from ._n_clusters_verdict import (
    WHY_NO_BIC,
    MethodAnswer,
    from_gains,
    from_gaps,
    from_silhouettes,
    from_stability,
    gap_of,
    mixture_in_words,
    shrink_to_pairs,
    verdict,
)


@refuses_in_one_frame
def choose_n_clusters(
    X: object,
    ks: object = range(1, 11),
    *,
    methods: Iterable[str] = DEFAULT_METHODS,
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
    """Choose the number of clusters, with the evidence for every k, or find no structure.

    Each method gives its own k. Silhouette, gap and stability look for separated groups: unless
    more than half of them find some, ``n_clusters`` is None. BIC compares mixtures of Gaussians,
    which may overlap, with one group; the verdict then says "no separated groups; a mixture of 2
    overlapping Gaussians fits better …". Columns should be in comparable units, since distances
    add them up.

    Parameters
    ----------
    X : array or frame of shape (n, p)
    ks : integers
        Numbers of clusters to try. Include 1 and a few more than you expect: the gap statistic
        compares each k with the next. Those above the number of distinct rows are left out.
    methods : some of "silhouette", "gap", "stability", "bic"
        Default: all. "bic" fits Gaussian mixtures, regardless of ``estimator``: for overlapping or
        elongated clusters. Alone, it gives the number of components.
    estimator : clusterer, optional
        With a parameter ``n_clusters`` or ``n_components``. Default: k-means, the best of ten
        starts (of four beyond 4,096 rows). Rows of the other half are assigned by its ``predict``,
        or if it has none to the nearest cluster mean.
    n_references : int
        Number of noise samples, at least 2. Without structure, silhouette, stability and BIC each
        find some by chance with probability 1/(n_references + 1).
    n_resamples : int
        Number of pairs of halves for the stability; each noise sample gets a fifth as many.
    sample_weight : array of shape (n,), optional
        Weights of rows in fits, silhouettes, W_k, agreement and BIC, whose n is their sum. A half
        contains half of the rows, regardless of weight.
    max_rows : int or None
        If there are more rows, a random sample of so many is clustered; None: all. Silhouettes are
        averaged over at most 2,000 rows, each compared with all, and halves have at most 1,000
        (more with more than 20 clusters); the intervals hold what that costs in precision.
    confidence : float
        Confidence level of the intervals.
    random_state : int, Generator, RandomState or None
    threads : int, optional
        Maximum number of threads; the result has the same bits for any number.
    on_progress : callable, optional
        Called as ``on_progress(done, of)`` after each k, pair of halves, mixture and noise sample,
        in the thread that computed it; True ends the search, and the result is what there is.
        Default: after a second, a line on a terminal or in a notebook.

    Returns
    -------
    NClustersResult
        ``n_clusters``, ``verdict``, ``table()``, ``explain()``, ``plot()``.

    Notes
    -----
    Ctrl-C raises KeyboardInterrupt, whose ``result`` is an ``NClustersResult`` of what was computed
    until then (in a session: ``sys.last_value.result``).

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import choose_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.uniform(size=(60, 2))
    >>> few = {"n_references": 5, "n_resamples": 5}
    >>> choice = choose_n_clusters(noise, range(1, 5), **few, random_state=0)
    >>> choice.n_clusters is None, choice.n_clusters_by_method["gap"]
    (True, 1)
    >>> choice.verdict.split(":")[0]
    'no structure'

    Two long clusters side by side, which k-means cuts across:

    >>> long = rng.normal(size=(120, 2)) * [6, 1] + np.repeat([[0, 0], [0, 6]], 60, axis=0)
    >>> choose_n_clusters(long, range(1, 4), **few, methods="bic", random_state=0)
    NClustersResult(2 Gaussian components: by bic alone)
    """
    methods = methods_of(methods)
    if positive_whole("n_references", n_references) < 2:
        raise ValueError("n_references=1: give at least 2, their spread is needed")
    positive_whole("n_resamples", n_resamples)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: give a share between 0 and 1, such as 0.95")
    rng = generator(random_state)
    X, s, notes = rows_of(X, sample_weight, max_rows, rng)
    requested = numbers_of_clusters(ks)
    model = clusterer(estimator, s is not None)
    n_distinct = count_distinct(X, int(requested[-1]))
    ks = requested[requested <= n_distinct]
    if not len(ks):
        raise ValueError(
            f"X holds {count(n_distinct, 'different row')}, and the least of ks is {requested[0]}: "
            "give smaller ones"
        )
    if len(ks) < len(requested):
        omitted = listed([str(k) for k in requested[len(ks) :]])
        notes.append(f"The rows hold {n_distinct} different points: k = {omitted} was left out.")
    if ks[-1] == 1:
        return _result_of_one_k(X, s, methods, confidence, notes)
    progress = ScoringProgress(on_progress)
    scoring = Scoring(
        model, ks, methods, n_references, n_resamples,
        effective_threads(None if threads is None else positive_whole("threads", threads)),
        progress,
    )  # fmt: skip
    with progress:
        found = scoring.run(X, s, rng)
    if found.stopped is None:
        return _make_result(found, methods, confidence, len(X), notes)
    notes.append(_note_of_stop(found, scoring))
    result = _make_result(found, methods, confidence, len(X), notes)
    if isinstance(found.stopped, KeyboardInterrupt):
        found.stopped.result = result  # type: ignore[attr-defined]
        found.stopped.add_note(
            f"choose_n_clusters stopped by you {progress.where()}; what there is was kept as the "
            "interrupt's result (in a session: sys.last_value.result)."
        )
        raise found.stopped
    return result


def _note_of_stop(found: Scores, scoring: Scoring) -> str:
    done = f"Stopped {scoring.progress.where()}"
    if len(found.ks) < len(scoring.ks):
        return f"{done}: k = {listed([str(k) for k in found.ks])} and no noise were clustered."
    B, R, methods = scoring.n_references, scoring.n_resamples, scoring.methods
    each = [
        ("noise samples", len(found.noise.W), B, tuple(methods) != ("bic",)),
        ("pairs of halves", len(found.data.stability), R, "stability" in methods),
        ("samples of one Gaussian", len(found.noise.bic_gain), B, "bic" in methods),
    ]
    parts = [f"{there} of {of} {kind}" for kind, there, of, used in each if used and there < of]
    return f"{done}: {listed(parts)} were compared, so that chance finds structure more often."


def _make_result(
    found: Scores, methods: tuple[str, ...], confidence: float, n: int, notes: list[str]
) -> NClustersResult:
    ks, scores, noise, stopped = found
    gap, gap_error = gap_of(scores.W, noise.W)
    stability, stability_interval = _mean_of_pairs(scores.stability, confidence)
    noise_stability = np.full(noise.W.shape, np.nan)
    if "stability" in methods and len(noise.W) > 1:
        noise_stability = shrink_to_pairs(noise.stability, max(1, len(scores.stability)))
    half = norm.ppf((1 + confidence) / 2) * scores.silhouette_error
    gain = scores.one_group.value - scores.bic
    group = scores.one_group.name
    rules: dict[str, Callable[[], MethodAnswer]] = {
        "silhouette": lambda: from_silhouettes(ks, scores.silhouette, noise.silhouette),
        "gap": lambda: from_gaps(ks, gap, gap_error),
        "stability": lambda: from_stability(ks, stability, noise_stability),
        "bic": lambda: from_gains(ks, gain, noise.bic_gain, scores.bic_shape, group),
    }
    answers = {name: rules[name]() for name in methods}
    components = answers["bic"].k or 1 if "bic" in methods else 1
    mixture = ""
    if components > 1:
        at = int(np.flatnonzero(ks == components)[0])
        mixture = mixture_in_words(ks, gain, scores.bic_overlap, at, group)
    k, verdict_text = verdict(answers, mixture)
    if "gap" in methods and ks[0] > 1:
        notes.append("1 is not among ks, so that the gap statistic could not prefer it.")
    without_bic = [str(k) for k in ks[np.isnan(scores.bic)]]
    if "bic" in methods and without_bic and stopped is None:
        notes.append(f"There is no BIC of k = {listed(without_bic)}: {WHY_NO_BIC}.")
    if k is not None and k == ks[-1]:
        notes.append(f"{k} is the largest k that was tried: try more.")
    return NClustersResult(
        n_clusters=k, verdict=verdict_text,
        n_clusters_by_method={name: answer.k for name, answer in answers.items()},
        reasons={name: answer.why for name, answer in answers.items()},
        ks=ks, objective=scores.W, silhouette=scores.silhouette,
        silhouette_interval=np.clip(
            np.stack([scores.silhouette - half, scores.silhouette + half], axis=1), -1, 1
        ),
        gap=gap, gap_error=gap_error, stability=stability, stability_interval=stability_interval,
        bic=scores.bic, bic_gain=gain, bic_shape=scores.bic_shape, bic_overlap=scores.bic_overlap,
        one_group=group, bic_one_group=scores.one_group.value if "bic" in methods else np.nan,
        noise={
            "silhouette": noise.silhouette, "stability": noise_stability, "objective": noise.W,
            "bic_gain": noise.bic_gain,
        },
        methods=methods, confidence=confidence, n=n, notes=tuple(notes),
    )  # fmt: skip


def _mean_of_pairs(pairs: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (mean, Student's interval) over the pairs of halves that both hold k distinct rows."""
    known = np.isfinite(pairs)
    R = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, pairs, 0.0).sum(axis=0) / R
        spread = np.where(known, (pairs - mean) ** 2, 0.0).sum(axis=0) / (R - 1)
        half = t.ppf((1 + confidence) / 2, R - 1) * np.sqrt(spread / R)
    low, high = np.where(R > 1, mean - half, -1.0), np.where(R > 1, mean + half, 1.0)
    interval = np.clip(np.stack([low, high], axis=1), -1, 1)
    return mean, np.where(R[:, None] > 0, interval, np.nan)


def _result_of_one_k(
    X: np.ndarray,
    s: np.ndarray | None,
    methods: tuple[str, ...],
    confidence: float,
    notes: list[str],
) -> NClustersResult:
    """Return the result if only k = 1 was tried, which leaves nothing to compare."""
    weight = np.ones(len(X)) if s is None else s
    centered = X - X[0].astype(np.float64)
    W = float(
        np.dot(weight, ((centered - np.average(centered, axis=0, weights=s)) ** 2).sum(axis=1))
    )
    why = "all rows are one point" if W == 0 else "only k = 1 was tried"
    unknown = np.full(1, np.nan)
    return NClustersResult(
        n_clusters=None, verdict=f"no structure: {why}" if W == 0 else f"no answer: {why}",
        n_clusters_by_method=dict.fromkeys(methods), reasons=dict.fromkeys(methods, why),
        ks=np.array([1]), objective=np.array([W]), silhouette=unknown,
        silhouette_interval=np.full((1, 2), np.nan), gap=unknown, gap_error=unknown,
        stability=unknown, stability_interval=np.full((1, 2), np.nan),
        bic=unknown, bic_gain=unknown, bic_shape=np.array([""]), bic_overlap=unknown,
        one_group="", bic_one_group=np.nan,
        noise={
            **dict.fromkeys(("silhouette", "stability", "objective"), unknown[None]),
            "bic_gain": unknown,
        },
        methods=methods, confidence=confidence, n=len(X), notes=tuple(notes),
    )  # fmt: skip
