"""Support vector machines: SVC of scikit-learn, and the density-weighted one built on it.

    ½‖w‖² + C Σ sᵢcᵢdᵢ [1 − yᵢ(wᵀφ(xᵢ) + b)]₊        for each pair of classes

dual_coef_ has libsvm's layout: for a support vector of class k, line l (line l − 1 where l > k) is
its coefficient in the problem of classes k and l. y is 1 for the first class of a pair; if there
are only two classes, for the second.
"""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Labels
from ..types import FittedModel
from .classifiers import SINGLE_COLUMN_NOTE
from .svm import KERNEL_NAMES, class_weights, kernel_of, kernel_words, requested_gamma, weight_words

if TYPE_CHECKING:
    from ...data.rows import Rows


SHIFTED_KERNEL_NOTE = (
    "support_ counts the rows of positive weight only, which is how scikit-learn leaves rows of "
    "weight 0 out"
)
OTHER_KERNELS_NOTE = (
    "with a precomputed kernel or a function, scikit-learn uses the kernel values of other rows "
    "where rows have weight 0: drop these before the fit"
)
ONE_VS_ONE_NOTE = "for each pair of classes, on their rows; the objective is the sum"


def read_svc(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    """Read SVC of scikit-learn: its γ is that of all entries of X, without weights."""
    if callable(model.kernel):
        kernel = model.kernel
    elif model.kernel in KERNEL_NAMES:
        kernel = KERNEL_NAMES[model.kernel]
    else:
        raise ValueError(f"SVC(kernel={model.kernel!r}) cannot be audited: its kernel is unknown")
    _require_libsvm_arrays(model)
    weight = np.asarray(model.class_weight_, dtype=float)
    stops = {"tol": model.tol, "max_iter": model.max_iter if model.fit_status_ else None}
    kernel_parameters = {
        "kernel": kernel, "gamma": model.gamma, "degree": float(model.degree),
        "coef0": float(model.coef0),
    }  # fmt: skip
    class_weight = weight if (weight != 1).any() else None
    reading = _read_pairs(model, rows, kernel_parameters, class_weight)
    return {**reading, "iteration": stops}


def _require_libsvm_arrays(model: FittedModel) -> None:
    """Check the arrays that predict passes to libsvm, which reads past the end of short ones."""
    K, m = len(model.classes_), len(model.support_)
    pairs, width = K * (K - 1) // 2, model.support_vectors_.shape[-1]
    shapes = {
        "support_": (m,), "support_vectors_": (m, width), "_n_support": (K,),
        "dual_coef_": (K - 1, m), "_dual_coef_": (K - 1, m), "intercept_": (pairs,),
        "_intercept_": (pairs,),
    }  # fmt: skip
    if model.kernel == "precomputed" or callable(model.kernel):
        del shapes["support_vectors_"]  # such models store none
    for name, shape in shapes.items():
        if np.shape(getattr(model, name)) != shape:
            raise ValueError(
                f"{name} has shape {np.shape(getattr(model, name))}, and {shape} fits the other "
                "attributes: fit again"
            )
    if int(np.sum(model._n_support)) != m:
        raise ValueError("n_support_ does not add up to the number of support vectors: fit again")
    indices = np.asarray(model.support_)
    if m and not 0 <= indices.min() <= indices.max() < int(model.shape_fit_[0]):
        raise ValueError("support_ names rows that do not exist: fit again")


def read_density_svc(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    weight, wrong = class_weights(model, rows)
    reading = _read_pairs(model, rows, kernel_of(model), weight, density=True)
    claims = {
        "objective": float(model.objective_), "gamma": requested_gamma(model),
        "density_weights": np.asarray(model.density_weights_, dtype=float),
    }  # fmt: skip
    reading["extra_claims"] = {"claims": {name: v for name, v in claims.items() if v is not None}}
    reading["contradictions"] = (*wrong, *reading["contradictions"])
    stops = {"tol": model.tol, "max_iter": None}
    return {**reading, "iteration": stops}


def _read_pairs(
    model: FittedModel, rows: "Rows", kernel: dict[str, Any], weight: Any, density: bool = False
) -> dict[str, Any]:
    classes, (n, _) = np.asarray(model.classes_), rows.shape
    pairs = [(1, 0)] if len(classes) == 2 else list(combinations(range(len(classes)), 2))
    support, notes, wrong = _support(model, rows)
    dual = model.dual_coef_
    dual = np.asarray(dual if isinstance(dual, np.ndarray) else dual.toarray(), dtype=float)
    counts = np.asarray(model.n_support_)
    if dual.shape != (len(classes) - 1, len(support)) or counts.sum() != len(support):
        raise ValueError("dual_coef_, support_ and n_support_ do not fit together")
    owner = np.repeat(np.arange(len(classes)), counts)
    assert rows.y is not None
    if not np.array_equal(rows.y[support, 0], owner):
        wrong = (*wrong, "the rows that support_ names are not of the classes of n_support_")
    beta = np.zeros((n, len(pairs)))
    for t, (k, l) in enumerate(pairs):
        for own, other in ((k, l), (l, k)):
            vectors = owner == own
            line = 0 if len(classes) == 2 else other - (other > own)
            beta[support[vectors], t] = dual[line, vectors]
    parameters = {
        "beta": beta, "b": np.asarray(model.intercept_, dtype=float).ravel(),
        "pairs": np.array(pairs), "C": float(model.C), **kernel, "class_weight": weight,
    }  # fmt: skip
    if len(parameters["b"]) != len(pairs):
        raise ValueError("intercept_ must hold a number for each pair of classes")
    if density:
        parameters["density"] = (int(model.n_neighbors), model.density == "per_class")
    times = "" if model.C == 1 else f"{model.C:.4g} "
    formula = f"½‖w‖² + {times}Σ {weight_words(parameters, '')} [1 − yᵢ(wᵀφ(xᵢ) + b)]₊"
    formula = formula.replace("Σ  [", "Σ [")
    return {
        "definition": "svc", "formula": formula + kernel_words(parameters),
        "parameters": parameters, "labels": Labels(classes), "contradictions": wrong,
        "notes": (*notes, SINGLE_COLUMN_NOTE if len(pairs) == 1 else ONE_VS_ONE_NOTE),
    }  # fmt: skip


def _support(
    model: FittedModel, rows: "Rows"
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Return the row numbers of the support vectors, notes, and contradictions."""
    support = np.asarray(model.support_, dtype=np.intp)
    kept = model.support_vectors_
    kept = kept if isinstance(kept, np.ndarray) else kept.toarray()
    if support.size and not 0 <= support.min() <= support.max() < rows.shape[0]:
        raise ValueError("support_ names rows that do not exist: give the rows of the fit")
    if kept.shape != (len(support), rows.shape[1]):  # a precomputed kernel: none are stored
        has_zero_weights = rows.s is not None and not rows.s.all()
        return support, (OTHER_KERNELS_NOTE,) if has_zero_weights else (), ()
    if _same_rows(rows, support, kept):
        return support, (), ()
    used = np.arange(rows.shape[0]) if rows.s is None else np.flatnonzero(rows.s > 0)
    if support.max() < len(used) and _same_rows(rows, used[support], kept):
        return used[support], (SHIFTED_KERNEL_NOTE,), ()
    return support, (), ("support_vectors_ are not the rows that support_ names",)


def _same_rows(rows: "Rows", i: np.ndarray, kept: np.ndarray) -> bool:
    X = rows.take(i).block(0, len(i))[0]
    return np.array_equal(X if isinstance(X, np.ndarray) else X.toarray(), kept)
