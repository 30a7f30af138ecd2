"""How it is found. Fast, and trusted by nobody: every answer is checked against its definition.

What minimises a loss and a penalty can be passed as an object: ``Newton``, ``NewtonCG``, ``LBFGS``,
``CoordinateDescent``, ``ProximalGradient``, ``Subgradient``; and on X as it is, to be compared:
``GradientDescent``, ``HeavyBall``, ``Nesterov``, ``SGD``, ``SAGA``. How long steps are: ``Fixed``,
``Lipschitz``, ``Backtracking``, ``Wolfe``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .coordinate_descent import CoordinateDescent
    from .gradient_descent import GradientDescent
    from .heavy_ball import HeavyBall
    from .lbfgs import LBFGS
    from .nesterov import Nesterov
    from .newton import Newton
    from .newton_cg import NewtonCG
    from .proximal_gradient import ProximalGradient
    from .saga import SAGA
    from .sgd import SGD
    from .step_rules import Backtracking, Fixed, Lipschitz, Wolfe
    from .subgradient import Subgradient

__all__ = [
    "LBFGS", "SAGA", "SGD", "Backtracking", "CoordinateDescent", "Fixed", "GradientDescent",
    "HeavyBall", "Lipschitz", "Nesterov", "Newton", "NewtonCG", "ProximalGradient", "Subgradient",
    "Wolfe",
]  # fmt: skip

_LAZY = {
    "Backtracking": "step_rules",
    "CoordinateDescent": "coordinate_descent",
    "Fixed": "step_rules",
    "GradientDescent": "gradient_descent",
    "HeavyBall": "heavy_ball",
    "LBFGS": "lbfgs",
    "Lipschitz": "step_rules",
    "Nesterov": "nesterov",
    "Newton": "newton",
    "NewtonCG": "newton_cg",
    "ProximalGradient": "proximal_gradient",
    "SAGA": "saga",
    "SGD": "sgd",
    "Subgradient": "subgradient",
    "Wolfe": "step_rules",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
