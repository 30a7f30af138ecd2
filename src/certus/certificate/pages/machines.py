"""Calls of the pages of kernel machines."""

from collections.abc import Iterator

import numpy as np

from ...audit import Labels
from ...definitions.terms import kernels
from ...definitions.terms.density_weights import DensityWeights
from ...definitions.terms.targets import Classes, SignColumns, TargetColumns
from ..parameters import Parameters
from .problem import PageCall


def lssvm(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem: all columns of β share the kernel."""
    targets = TargetColumns() if labels is None else SignColumns(_class_weights(p))
    arguments = {**_machine(p), "fit_intercept": p["fit_intercept"]}
    yield PageCall("lssvm", targets, arguments)


def lssvm_primal(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; the model is always a classifier."""
    arguments = {**_machine(p), "epsilon": p["epsilon"]}
    yield PageCall("lssvm_primal", SignColumns(_class_weights(p)), arguments)


def svc(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem: all pairs of classes share the kernel."""
    yield PageCall("svc", Classes(_class_weights(p)), {**_machine(p), "pairs": p["pairs"].tolist()})


def _machine(p: Parameters) -> dict[str, object]:
    C, density = p["C"], p.get("density")
    arguments: dict[str, object] = {
        "beta": p["beta"], "b": p["b"], "C": C if isinstance(C, np.ndarray) else float(C),
        "kernel": _kernel(p),
    }  # fmt: skip
    if density is not None:
        arguments["density"] = DensityWeights(int(density[0]), bool(density[1]))
    return arguments


def _kernel(p: Parameters) -> tuple[object, ...]:
    name, gamma = p["kernel"], p["gamma"]
    if not isinstance(name, str):
        return kernels.FunctionKernel(name)
    match name:
        case "rbf":
            return kernels.RBF(gamma)
        case "poly":
            return kernels.Polynomial(gamma, p["degree"], p["coef0"])
        case "sigmoid":
            return kernels.Sigmoid(gamma, p["coef0"])
        case "laplacian":
            return kernels.Laplacian(float(gamma))
    other = {
        "linear": kernels.Linear,
        "cosine": kernels.CosineKernel,
        "precomputed": kernels.PrecomputedKernel,
    }
    return other[name]()


def _class_weights(p: Parameters) -> list[float] | str | None:
    c = p.get("class_weight")
    return c.tolist() if isinstance(c, np.ndarray) else c
