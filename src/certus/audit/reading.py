"""The claim of a fitted model, as the name of a definition and its parameters.

A reader is given the model and the rows, of which it may use the shape and, for a classifier, the
indices of the classes. If a model makes no claim that can be checked, it raises ValueError with the
reason.

A model is recognised by the public name of its class, so nothing of another library is imported to
read its models. A subclass is read as its nearest recognised base class.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import statsmodels_results
from .labels import Labels
from .readers import (
    classifiers,
    clusters,
    hdbscan,
    linear,
    linkage,
    mixture,
    ncfs,
    neighbors,
    penalized,
    spanning_tree,
    svc,
    svm,
)
from .shapes import require_coefficients, require_penalties
from .types import FittedModel

if TYPE_CHECKING:
    from ..data.rows import Rows


@dataclass(frozen=True)
class Reading:
    """``definition.check(data, **parameters)`` recomputes what ``model`` claims."""

    model: str  # name of the class, as printed
    definition: str
    formula: str
    parameters: dict[str, Any]
    cv_claim: dict[str, Any] | None = None  # arguments of proofs.ridge_cv.check
    rank: int | None = None
    spectrum: dict[str, Any] = field(default_factory=dict)  # singular_ and condition_, if stated
    notes: tuple[str, ...] = ()
    labels: Labels | None = None  # of a classifier
    iteration: dict[str, Any] = field(default_factory=dict)  # max_iter if it was reached, and tol
    contradictions: tuple[str, ...] = ()  # found by the reader itself
    # further arguments of check, which certificates do not store
    extra_claims: dict[str, Any] = field(default_factory=dict)
    bound_on_demand: bool = False  # check(…, bound=True) computes one
    ours: bool = True


Reader = Callable[[Any, Any], dict[str, Any]]

_READERS_OF_BOTH: dict[str, Reader] = {
    "linear_model.LinearRegression": linear.read_least_squares,
    "linear_model.Ridge": linear.read_ridge,
    "linear_model.RidgeCV": linear.read_ridge_cv,
    "linear_model.Lasso": penalized.read_elastic_net,
    "linear_model.ElasticNet": penalized.read_elastic_net,
    "linear_model.PoissonRegressor": penalized.read_poisson,
    "linear_model.GammaRegressor": penalized.read_gamma,
    "linear_model.LassoCV": penalized.read_elastic_net_cv,
    "linear_model.ElasticNetCV": penalized.read_elastic_net_cv,
    "neighbors.NearestNeighbors": neighbors.read_k_nearest,
    "neighbors.KNeighborsClassifier": neighbors.read_k_nearest,
    "neighbors.KNeighborsRegressor": neighbors.read_k_nearest,
    "neighbors.RadiusNeighborsClassifier": neighbors.read_within_radius,
    "neighbors.RadiusNeighborsRegressor": neighbors.read_within_radius,
    "cluster.KMeans": clusters.read_kmeans,
    "cluster.MiniBatchKMeans": clusters.read_mini_batch,
    "cluster.BisectingKMeans": clusters.read_bisecting,
    "mixture.GaussianMixture": mixture.read_gaussian,
    "svm.LinearSVC": classifiers.read_linear_svc,
}
_READERS: dict[str, dict[str, Reader]] = {
    "certus": {
        **_READERS_OF_BOTH,
        "linear_model.LogisticRegression": classifiers.read_logistic,
        "linear_model.LogisticRegressionCV": classifiers.read_logistic_cv,
        "linear_model.FirthLogisticRegression": classifiers.read_firth,
        "linear_model.OrdinalRegression": classifiers.read_ordinal,
        "linear_model.PenalizedClassifier": classifiers.read_penalized,
        "linear_model.PenalizedRegressor": penalized.read_penalized_regressor,
        "cluster.Tree": linkage.read_tree,
        "cluster.AgglomerativeClustering": linkage.read_ours,
        "cluster.DivisiveClustering": linkage.read_ours,
        "cluster.VariableClustering": linkage.read_variables,
        "feature_selection.NCFSClassifier": ncfs.read_classifier,
        "feature_selection.NCFSClassifierCV": ncfs.read_classifier_cv,
        "feature_selection.NCFSRegressor": ncfs.read_regressor,
        "svm.LSSVC": svm.read_lssvc,
        "svm.LSSVR": svm.read_lssvr,
        "svm.LSSVCCV": svm.read_lssvc_cv,
        "svm.DensityWeightedLSSVC": svm.read_density_lssvc,
        "svm.DensityWeightedSVC": svc.read_density_svc,
        "mixture.BernoulliMixture": mixture.read_bernoulli,
        "mixture.PoissonMixture": mixture.read_poisson,
        "mixture.MultinomialMixture": mixture.read_multinomial,
    },
    "sklearn": {
        **_READERS_OF_BOTH,
        "linear_model.LogisticRegression": classifiers.read_logistic,
        "linear_model.LogisticRegressionCV": classifiers.read_sklearn_logistic_cv,
        "linear_model.SGDClassifier": classifiers.read_sgd,
        "linear_model.RidgeClassifier": classifiers.read_ridge_classifier,
        "linear_model.RidgeClassifierCV": classifiers.read_ridge_classifier_cv,
        "linear_model.LassoLars": penalized.read_lasso_lars,
        "linear_model.LassoLarsCV": penalized.read_chosen_lasso_lars,
        "linear_model.LassoLarsIC": penalized.read_chosen_lasso_lars,
        "linear_model.SGDRegressor": penalized.read_sgd_regressor,
        "linear_model.HuberRegressor": penalized.read_huber_regressor,
        "cluster.AgglomerativeClustering": linkage.read_sklearn,
        "cluster.FeatureAgglomeration": linkage.read_features,
        "cluster.HDBSCAN": hdbscan.read_sklearn,
        "svm.SVC": svc.read_svc,
        "kernel_ridge.KernelRidge": svm.read_kernel_ridge,
        "linear_model.MultiTaskLasso": penalized.refuse_multi_task,
        "linear_model.MultiTaskLassoCV": penalized.refuse_multi_task,
        "linear_model.MultiTaskElasticNet": penalized.refuse_multi_task,
        "linear_model.MultiTaskElasticNetCV": penalized.refuse_multi_task,
    },
    "hdbscan": {"hdbscan.HDBSCAN": hdbscan.read_hdbscan},
}
REFUSING_READERS = {penalized.refuse_multi_task}  # they raise, with the reason


def _public_name(cls: type) -> str:
    """sklearn.linear_model._base.LinearRegression → sklearn.linear_model.LinearRegression."""
    names = cls.__module__.split(".")
    parts = [part.rstrip("_") for part in names if not part.startswith("_")]
    return ".".join([*parts[:2], cls.__name__])


def _known_name(model: FittedModel) -> str | None:
    for cls in type(model).__mro__:
        library, _, name = _public_name(cls).partition(".")
        if name in _READERS.get(library, {}):
            return f"{library}.{name}"
    return None


def readable() -> list[str]:
    """Return the public names of the classes that can be read."""
    return sorted(
        f"{library}.{name}"
        for library, readers in _READERS.items()
        for name, reader in readers.items()
        if reader not in REFUSING_READERS
    )


def known(model: FittedModel) -> bool:
    return _known_name(model) is not None or statsmodels_results.is_fit(model)


def read(model: Any, rows: "Rows") -> Reading:
    """Read the claim of a fitted model of a known class about its own rows."""
    if statsmodels_results.is_fit(model):
        found, shown, ours = statsmodels_results.read(model, rows), model.public_name, False
    else:
        public_name = _known_name(model)
        assert public_name is not None
        library, _, name = public_name.partition(".")
        ours = library == "certus"
        found, shown = _READERS[library][name](model, rows), public_name
        shown = type(model).__name__ if ours else shown
    reading = Reading(model=shown, ours=ours, **found)
    require_coefficients(model, reading.parameters, rows, reading.labels)
    require_penalties(reading.parameters)
    return reading


def read_matrix(matrix: linkage.LinkageMatrix, method: str, rows: "Rows") -> Reading:
    """Read a matrix of merges, as of SciPy's ``linkage``, as the tree of this method."""
    return Reading(model="linkage matrix", ours=False, **linkage.read_matrix(matrix, method, rows))


def read_spanning_tree(tree: spanning_tree.SpanningTree) -> Reading:
    """Read a sparse matrix of edges, as of SciPy's ``minimum_spanning_tree``."""
    claim = spanning_tree.read_spanning_tree(tree)
    return Reading(model="spanning tree", ours=False, **claim)
