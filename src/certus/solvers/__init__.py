"""How it is found. Fast, and trusted by nobody: every answer is checked against its definition.

What minimises a loss and a penalty can be passed as an object: ``Newton``, ``NewtonCG``, ``LBFGS``,
``CoordinateDescent``, ``ProximalGradient``, ``Subgradient``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .coordinate_descent import CoordinateDescent
    from .lbfgs import LBFGS
    from .newton import Newton
    from .newton_cg import NewtonCG
    from .proximal_gradient import ProximalGradient
    from .subgradient import Subgradient

__all__ = ["LBFGS", "CoordinateDescent", "Newton", "NewtonCG", "ProximalGradient", "Subgradient"]

_LAZY = {
    "CoordinateDescent": "coordinate_descent",
    "LBFGS": "lbfgs",
    "Newton": "newton",
    "NewtonCG": "newton_cg",
    "ProximalGradient": "proximal_gradient",
    "Subgradient": "subgradient",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
