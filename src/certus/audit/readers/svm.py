"""Least-squares kernel machines of certus, and KernelRidge of scikit-learn.

    LSSVC, LSSVR      ½‖w‖² + C/2 Σ sᵢcᵢdᵢ² (yᵢ − wᵀφ(xᵢ) − b)²
    KernelRidge       the same without b, C = 1/α

They differ in the weights of rows and in the layout of dual coefficients.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Labels
from ..types import FittedModel
from .classifiers import COLUMN_PER_CLASS_NOTE, SINGLE_COLUMN_NOTE

if TYPE_CHECKING:
    from ...data.rows import Rows


CLASS_WEIGHT_TOLERANCE = 1e-9  # relative
MAX_LEFT_OUT_ROWS = 1000  # as in proofs/lssvm/_claims.py
UNCHECKED_SCORES_NOTE = (
    "loo_scores_ and effective_parameters_ of more than 1,000 rows were not recomputed"
)
UNCHECKED_CHOICE_NOTE = "scores_ were not recomputed, the fit at C_ and gamma_ was"
SAMPLED_SCORES_NOTE = "of scores_, those at C_ and gamma_ and at some others were recomputed"
KERNEL_NAMES = {  # names of kernels, as definitions have them
    "linear": "linear", "rbf": "rbf", "poly": "poly", "polynomial": "poly", "sigmoid": "sigmoid",
    "laplacian": "laplacian", "cosine": "cosine", "precomputed": "precomputed",
}  # fmt: skip


# --- least squares --------------------------------------------------------------------------------


def read_lssvc(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return _read_classes(model, rows, model.C)


def read_lssvc_cv(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    reading = _read_classes(model, rows, model.C_, chosen=True)
    reading["extra_claims"]["claims"]["choice"] = {
        "scores": model.scores_, "gammas": model.gammas_, "Cs": model.Cs_,
        "best_score": float(model.best_score_), "scoring": model.scoring, "requested_Cs": model.Cs,
        "requested_gammas": None if requested_kernel(model) is None else model.gammas,
    }  # fmt: skip
    unseen = rows.shape[0] > MAX_LEFT_OUT_ROWS or callable(model.scoring)
    return {
        **reading,
        "notes": (*reading["notes"], UNCHECKED_CHOICE_NOTE if unseen else SAMPLED_SCORES_NOTE),
    }


def read_density_lssvc(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    reading = _read_classes(model, rows, model.C, density=True)
    if model.formulation != "primal":
        return reading
    parameters = reading["parameters"]
    del parameters["fit_intercept"]
    parameters["epsilon"] = epsilon = float(model.epsilon)
    lam = 1 / float(model.C) + epsilon
    weight = weight_words(parameters, "²")
    formula = f"{lam / 2:.4g} (‖β‖² + b²) + ½ Σ {weight}(yᵢ − Σⱼ βⱼK(xᵢ, xⱼ) − b)²"
    return {**reading, "definition": "lssvm_primal", "formula": formula + kernel_words(parameters)}


def read_lssvr(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    return {**_read_squares(model, rows, model.C, None), "contradictions": ()}


def read_kernel_ridge(model: FittedModel, rows: "Rows") -> dict[str, Any]:
    alpha = np.asarray(model.alpha, dtype=float).ravel()
    if not (alpha > 0).all():
        raise ValueError("KernelRidge(alpha=0) has no penalty, so it interpolates the rows")
    beta = np.asarray(model.dual_coef_, dtype=float)
    beta = beta.reshape(len(beta), -1)
    kernel, p = model.kernel, rows.shape[1]
    if callable(kernel):
        kernel = _pairwise(kernel, model.kernel_params or {})
    elif kernel not in KERNEL_NAMES:
        raise ValueError(f"KernelRidge(kernel={kernel!r}) cannot be audited: its kernel is unknown")
    parameters = {
        "beta": _require_all_rows(beta, rows), "b": np.zeros(beta.shape[1]),
        "C": np.broadcast_to(1 / alpha, (beta.shape[1],)).copy(),
        "kernel": kernel if callable(kernel) else KERNEL_NAMES[kernel],
        "gamma": 1.0 / p if model.gamma is None else float(model.gamma),
        "degree": float(model.degree), "coef0": float(model.coef0), "fit_intercept": False,
    }  # fmt: skip
    shown = f"{alpha[0]:.4g}" if len(set(alpha.tolist())) == 1 else "α"
    formula = f"½‖w‖² + 1/(2·{shown}) Σ sᵢ(yᵢ − wᵀφ(xᵢ))²{kernel_words(parameters)}"
    kept = model.X_fit_ if isinstance(model.X_fit_, np.ndarray) else None
    return {
        "definition": "lssvm", "formula": formula, "parameters": parameters,
        "extra_claims": {"claims": {"kept": kept}},
        "notes": ("this is 1/(2α) of Σ sᵢ(yᵢ − wᵀφ(xᵢ))² + α‖w‖²",),
    }  # fmt: skip


def _pairwise(function: Any, params: dict[str, Any]) -> Any:
    """Return a kernel that applies a function of two rows to all pairs."""

    def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.array([[float(function(a, b, **params)) for b in B] for a in A])

    return kernel


def _read_classes(
    model: FittedModel, rows: "Rows", C: np.ndarray, density: bool = False, chosen: bool = False
) -> dict[str, Any]:
    classes = np.asarray(model.classes_)
    weight, wrong = class_weights(model, rows)
    reading = _read_squares(model, rows, C, weight, density, chosen)
    signs = SINGLE_COLUMN_NOTE if len(classes) == 2 else COLUMN_PER_CLASS_NOTE
    return {
        **reading, "labels": Labels(classes, "signs"), "contradictions": wrong,
        "notes": (*reading["notes"], signs),
    }  # fmt: skip


def _read_squares(
    model: FittedModel,
    rows: "Rows",
    C: np.ndarray,
    weight: Any,
    density: bool = False,
    chosen: bool = False,
) -> dict[str, Any]:
    fitted = vars(model)
    beta = np.atleast_2d(np.asarray(model.dual_coef_, dtype=float)).T
    parameters = {
        "beta": _require_all_rows(beta, rows),
        "b": np.asarray(model.intercept_, dtype=float).ravel(),
        "C": float(C), **kernel_of(model), "class_weight": weight,
        "fit_intercept": bool(fitted.get("fit_intercept", True)),
    }  # fmt: skip
    if len(parameters["b"]) != beta.shape[1]:
        raise ValueError("intercept_ must hold a number for each row of dual_coef_")
    claims = {
        "objective": float(model.objective_), "kept": fitted.get("X_fit_"),
        "gamma": None if chosen else requested_gamma(model),
        "effective": fitted.get("effective_parameters_"), "loo_scores": fitted.get("loo_scores_"),
        "loo_accuracy": fitted.get("loo_accuracy_"), "loo_r2": fitted.get("loo_r2_"),
    }  # fmt: skip
    if density:
        parameters["density"] = (int(model.n_neighbors), model.density == "per_class")
        claims["density_weights"] = np.asarray(model.density_weights_, dtype=float)
    times = "½" if C == 1 else f"{float(C) / 2:.4g}"
    b = " − b" if parameters["fit_intercept"] else ""
    formula = f"½‖w‖² + {times} Σ {weight_words(parameters, '²')}(yᵢ − wᵀφ(xᵢ){b})²"
    unseen = claims["loo_scores"] is not None and rows.shape[0] > MAX_LEFT_OUT_ROWS
    return {
        "definition": "lssvm",
        "formula": formula + kernel_words(parameters),
        "parameters": parameters,
        "extra_claims": {"claims": {k: v for k, v in claims.items() if v is not None}},
        "notes": (UNCHECKED_SCORES_NOTE,) if unseen else (),
    }


def _require_all_rows(beta: np.ndarray, rows: "Rows") -> np.ndarray:
    if len(beta) != rows.shape[0]:
        raise ValueError(
            f"dual_coef_ has numbers for {len(beta):,} rows, X has {rows.shape[0]:,}: give the "
            "rows of the fit"
        )
    return beta


def kernel_of(model: FittedModel) -> dict[str, Any]:
    name = model.kernel if callable(model.kernel) else KERNEL_NAMES[model.kernel]
    return {
        "kernel": name, "gamma": float(model.gamma_), "degree": float(model.degree),
        "coef0": float(model.coef0),
    }  # fmt: skip


def requested_gamma(model: FittedModel) -> Any:
    """Return the parameter gamma, or None if the kernel has none."""
    return None if requested_kernel(model) is None else model.gamma


def requested_kernel(model: FittedModel) -> str | None:
    """Return the kernel's name, or None if it has no γ."""
    with_gamma = not callable(model.kernel) and model.kernel in ("rbf", "poly", "sigmoid")
    return str(model.kernel) if with_gamma else None


# --- class weights, and formulas ------------------------------------------------------------------


def class_weights(model: FittedModel, rows: "Rows") -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return class_weight_ (None: all 1, as requested), and what differs from the request."""
    classes, given = np.asarray(model.classes_), model.class_weight
    stated = np.asarray(model.class_weight_, dtype=float)
    if stated.shape != classes.shape or not np.isfinite(stated).all():
        raise ValueError("class_weight_ must hold a finite number for each class")
    true = np.ones(len(classes))
    if isinstance(given, str):
        assert rows.y is not None
        s = np.bincount(rows.y[:, 0].astype(np.intp), weights=rows.s, minlength=len(classes))
        true = np.divide(s.sum() / len(s), s, out=np.zeros(len(s)), where=s > 0)
    elif given is not None:
        true = np.array([given.get(label, 1.0) for label in classes.tolist()], dtype=float)
    off = np.flatnonzero(~(np.abs(stated - true) <= CLASS_WEIGHT_TOLERANCE * np.abs(true)))
    wrong = tuple(
        f"class_weight_ of {classes.tolist()[k]!r} is {stated[k]:.9g}, class_weight={given!r} "
        f"makes it {true[k]:.9g}"
        for k in off[:1]
    )
    return None if given is None and not len(off) else stated, wrong


def weight_words(parameters: dict[str, Any], power: str) -> str:
    c = "" if parameters.get("class_weight") is None else "cᵢ"
    d = "" if parameters.get("density") is None else f"dᵢ{power}"
    return f"sᵢ{c}{d}"


def kernel_words(parameters: dict[str, Any]) -> str:
    """Return the end of a formula, such as ", K = exp(−0.25‖x − z‖²)"."""
    kernel, gamma, c = parameters["kernel"], parameters["gamma"], parameters["coef0"]
    g = "γ" if isinstance(gamma, str) else f"{gamma:.4g}"
    inner = f"{g} xᵀz" if g != "1" else "xᵀz"
    inner += f" + {c:.4g}" if c > 0 else f" − {-c:.4g}" if c < 0 else ""
    known = {
        "linear": "xᵀz", "rbf": f"exp(−{g}‖x − z‖²)", "cosine": "xᵀz/(‖x‖‖z‖)",
        "laplacian": f"exp(−{g} Σ|x − z|)", "sigmoid": f"tanh({inner})",
        "poly": f"({inner})^{parameters['degree']:.4g}", "precomputed": "X as given",
    }  # fmt: skip
    return f", K = {known[kernel] if isinstance(kernel, str) else 'a function of yours'}"
