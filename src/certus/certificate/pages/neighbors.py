"""Calls of the pages of models that compare rows: neighbours, trees of clusters, NCFS."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ...audit import Labels
from ...definitions.terms import distances as terms
from ...definitions.terms import linkages
from ...definitions.terms import ncfs as ncfs_terms
from ...definitions.terms.targets import NoTargets, TargetColumn, TargetColumns
from ..parameters import Parameters
from .problem import PageCall

Term = object  # a NamedTuple of ``definitions/terms``
Number = float | list[float] | list[list[float]]  # or several: a parameter of a distance

TERMS: dict[str, Callable[..., Term]] = {
    "manhattan": terms.Manhattan, "euclidean": terms.Euclidean,
    "sqeuclidean": terms.SquaredEuclidean, "chebyshev": terms.Chebyshev,
    "minkowski": terms.Minkowski, "seuclidean": terms.StandardizedEuclidean,
    "mahalanobis": terms.Mahalanobis, "cosine": terms.Cosine, "correlation": terms.Correlation,
    "spearman": terms.Spearman, "phi_s": terms.PhiS, "hamming": terms.Hamming,
    "canberra": terms.Canberra, "braycurtis": terms.BrayCurtis, "yule": terms.Yule,
    "nan_euclidean": terms.NanEuclidean, "haversine": terms.Haversine,
    "precomputed": terms.Precomputed,
}  # fmt: skip
ALIASES = {
    "l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean", "p": "minkowski",
    "infinity": "chebyshev", "matching": "hamming", "sokalmichener": "rogerstanimoto",
}  # fmt: skip
# counts of columns that are true in both rows, in the first, in the second, in none: their factors
# in the numerator and in the denominator
BOOLEAN_COUNTS: dict[str, tuple[list[float], list[float]]] = {
    "dice": ([0, 1, 1, 0], [2, 1, 1, 0]), "jaccard": ([0, 1, 1, 0], [1, 1, 1, 0]),
    "rogerstanimoto": ([0, 2, 2, 0], [1, 2, 2, 1]), "russellrao": ([0, 1, 1, 1], [1, 1, 1, 1]),
    "sokalsneath": ([0, 2, 2, 0], [1, 2, 2, 0]),
}  # fmt: skip
POWER_METRICS = {"manhattan", "euclidean", "chebyshev", "minkowski", "precomputed"}


def distance_of(metric: object, params: Mapping[str, object] | None) -> Term | None:
    """The term of a metric; None for a function of the user's, and for Gower's distance."""
    if not isinstance(metric, str):
        return None
    name, given = ALIASES.get(metric, metric), _plain(params or {})
    if name == "minkowski" and given.get("p") == np.inf:
        name = "chebyshev"
    if name != "minkowski":
        given.pop("p", None)
    if not all(np.isfinite(np.asarray(value, dtype=float)).all() for value in given.values()):
        return None
    try:
        if name in BOOLEAN_COUNTS:
            boolean: Callable[..., Term] = terms.Boolean
            return boolean(*BOOLEAN_COUNTS[name], **given)
        return TERMS[name](**given) if name in TERMS else None
    except TypeError:  # a parameter that the metric does not have
        return None


def _plain(params: Mapping[str, object]) -> dict[str, Number]:
    """Parameters as plain numbers and lists, which a script can hold."""
    given = {name: value for name, value in params.items() if value is not None}
    return {name: np.asarray(value).tolist() for name, value in given.items()}


def neighbors(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem of all sampled queries; none if the metric or weights are a function."""
    distance, votes = distance_of(p["metric"], p.get("metric_params")), p.get("votes")
    if distance is None:
        return
    arguments: dict[str, object] = {
        "query_pairs": p["query_pairs"], "start": p["start"], "distances": p["distances"],
        "indices": p["indices"], "distance": distance, "k": p.get("k"), "radius": p.get("radius"),
        "ours": p.get("ours", False),
    }  # fmt: skip
    if votes is None:
        yield PageCall("neighbors", NoTargets(), arguments)
        return
    if not isinstance(votes["weights"], str):
        return
    names = votes.get("names")
    arguments["votes"] = {
        "weights": votes["weights"], "predicted": votes["predicted"],
        "classes": None if names is None else [len(classes) for classes in names],
        "probabilities": votes.get("probabilities"),
    }  # fmt: skip
    yield PageCall("neighbors", TargetColumns(), arguments)


NCFS_DISTANCES: dict[object, Term] = {
    "manhattan": ncfs_terms.WeightedManhattan(), "sqeuclidean": ncfs_terms.WeightedSquares(),
    "euclidean": ncfs_terms.WeightedEuclidean(), "phi_s": ncfs_terms.WeightedPhiS(),
}  # fmt: skip
NCFS_LOSSES: dict[str, Callable[..., Term]] = {
    "absolute": ncfs_terms.AbsoluteLoss, "squared": ncfs_terms.SquaredLoss,
    "epsilon_insensitive": ncfs_terms.EpsilonInsensitiveLoss,
}  # fmt: skip


def ncfs(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; none if the loss is a function of the user's."""
    gains, loss, prior = p.get("gains"), p.get("loss"), p.get("prior")
    if gains is not None:
        gain: Term = ncfs_terms.ClassGain(np.asarray(gains, dtype=float).tolist())
    elif isinstance(loss, str) and loss in NCFS_LOSSES:
        epsilon = [float(p["epsilon"] or 0.0)] if loss == "epsilon_insensitive" else []
        gain = NCFS_LOSSES[loss](*epsilon)
    else:
        return
    arguments: dict[str, object] = {
        "W": p["W"], "sigma": p["sigma"], "alpha": p["alpha"],
        "distance": NCFS_DISTANCES[p["metric"]], "gain": gain, "shift": p["shift"],
        "scale": p["scale"], "prior": prior.tolist() if isinstance(prior, np.ndarray) else prior,
        "mean": p["mean"],
    }  # fmt: skip
    if p.get("batch_size") is not None:
        arguments["batch_size"] = p["batch_size"]
    yield PageCall("ncfs", TargetColumn(0), arguments)


LINKS: dict[str, Term] = {
    "single": linkages.Single(), "complete": linkages.Complete(), "average": linkages.Average(),
    "weighted": linkages.Weighted(), "centroid": linkages.Centroid(), "median": linkages.Median(),
    "ward": linkages.Ward(),
}  # fmt: skip


def _tree(p: Parameters) -> dict[str, object] | None:
    """Arguments that agglomerative and divisive trees share; None without a page."""
    distance = distance_of(p["metric"], p.get("metric_params"))
    if distance is None:
        return None
    return {
        "merges": p["merges"], "distance": distance, "scale": p.get("scale"),
        "labels": p.get("labels"), "n_clusters": p.get("n_clusters"),
        "threshold": p.get("threshold"),
        "angles": ALIASES.get(str(p["metric"]), p["metric"]) not in POWER_METRICS,
    }  # fmt: skip


def linkage(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; none if the metric is a function of the user's."""
    arguments = _tree(p)
    if arguments is None:
        return
    arguments |= {"link": LINKS[p["method"]], "columns": p.get("columns", False)}
    if p.get("absolute"):
        arguments["distance"] = terms.Absolute(arguments["distance"])
    if p.get("representatives") is not None:
        arguments["representatives"] = p["representatives"]
    if "precision" in p:
        arguments["precision"] = p["precision"]
    yield PageCall("linkage", NoTargets(), arguments)


def diana(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; none if the metric is a function of the user's."""
    arguments = _tree(p)
    if arguments is not None:
        yield PageCall("diana", NoTargets(), arguments)


def spanning_tree(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; none if the metric is a function of the user's."""
    distance = distance_of(p["metric"], p.get("metric_params"))
    if distance is None:
        return
    names = ("merges", "k", "alpha", "core_alpha", "edges", "labels", "probabilities",
             "least_size", "most_size", "leaves", "rounding")  # fmt: skip
    arguments = {name: p[name] for name in names if name in p}  # type: ignore[literal-required]
    yield PageCall("spanning_tree", NoTargets(), {**arguments, "distance": distance})
