"""certus: classical machine learning you can check.

scikit-learn's interface, faster, and every fit carries a certificate: the objective that was
minimised, a bound on how far from the optimum it can be, and a plain-NumPy definition that
recomputes the claim. ``certus.verify`` does the same for models that scikit-learn fitted.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .runtime.config import config_context, get_config, set_config

if TYPE_CHECKING:
    from . import (
        cluster,
        distances,
        exceptions,
        feature_selection,
        linear_model,
        losses,
        metrics,
        mixture,
        neighbors,
        penalties,
        plotting,
        preprocessing,
        solvers,
        svm,
        testing,
    )
    from .certificate import Certificate, verify
    from .coefficient_audit import CoefficientAudit, audit_coefficients
    from .derivatives import check_gradient
    from .drift import staleness
    from .inference import CallableModule
    from .model_files import load, save
    from .model_inference import infer as infer
    from .reporting.report import report
    from .sources import open_rows
    from .testing.audited import Audited

    inference: CallableModule

__version__ = "0.1.0"
__all__ = [
    "Audited",
    "Certificate",
    "CoefficientAudit",
    "audit_coefficients",
    "check_gradient",
    "cluster",
    "config_context",
    "distances",
    "exceptions",
    "feature_selection",
    "get_config",
    "inference",
    "linear_model",
    "load",
    "losses",
    "metrics",
    "mixture",
    "neighbors",
    "open_rows",
    "penalties",
    "plotting",
    "preprocessing",
    "report",
    "save",
    "set_config",
    "solvers",
    "staleness",
    "svm",
    "testing",
    "verify",
]

_LAZY = {
    "Audited": "testing.audited",
    "Certificate": "certificate",
    "CoefficientAudit": "coefficient_audit",
    "audit_coefficients": "coefficient_audit",
    "check_gradient": "derivatives",
    "infer": "model_inference",  # what calling the package ``inference`` does
    "load": "model_files",
    "open_rows": "sources",
    "report": "reporting.report",
    "save": "model_files",
    "staleness": "drift",
    "verify": "certificate",
}
_MODULES = (
    "cluster", "distances", "exceptions", "feature_selection", "inference", "linear_model",
    "losses", "metrics", "mixture", "neighbors", "penalties", "plotting", "preprocessing",
    "solvers", "svm", "testing",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load public names on first use, so that ``import certus`` is cheap."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name in _LAZY:
        value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
