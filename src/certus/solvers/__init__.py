"""Fast solvers. They are not trusted: every result is checked against its definition.

Solvers of a loss plus a penalty, which can be passed as ``solver=``: ``Newton``, ``NewtonCG``,
``LBFGS``, ``CoordinateDescent``, ``ProximalGradient``, ``Subgradient``. Methods that take X as it
is, for comparison: ``GradientDescent``, ``HeavyBall``, ``Nesterov``, ``SGD``, ``SAGA``. Their step
rules: ``Fixed``, ``Lipschitz``, ``Backtracking``, ``Wolfe``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .first_order.gradient_descent import GradientDescent
    from .first_order.heavy_ball import HeavyBall
    from .first_order.lbfgs import LBFGS
    from .first_order.nesterov import Nesterov
    from .first_order.proximal_gradient import ProximalGradient
    from .first_order.saga import SAGA
    from .first_order.sgd import SGD
    from .first_order.step_rules import Backtracking, Fixed, Lipschitz, Wolfe
    from .first_order.subgradient import Subgradient
    from .glm.newton import Newton
    from .glm.newton_cg import NewtonCG
    from .lasso.coordinate_descent import CoordinateDescent

__all__ = [
    "LBFGS", "SAGA", "SGD", "Backtracking", "CoordinateDescent", "Fixed", "GradientDescent",
    "HeavyBall", "Lipschitz", "Nesterov", "Newton", "NewtonCG", "ProximalGradient", "Subgradient",
    "Wolfe",
]  # fmt: skip

_LAZY = {
    "Backtracking": "first_order.step_rules",
    "CoordinateDescent": "lasso.coordinate_descent",
    "Fixed": "first_order.step_rules",
    "GradientDescent": "first_order.gradient_descent",
    "HeavyBall": "first_order.heavy_ball",
    "LBFGS": "first_order.lbfgs",
    "Lipschitz": "first_order.step_rules",
    "Nesterov": "first_order.nesterov",
    "Newton": "glm.newton",
    "NewtonCG": "glm.newton_cg",
    "ProximalGradient": "first_order.proximal_gradient",
    "SAGA": "first_order.saga",
    "SGD": "first_order.sgd",
    "Subgradient": "first_order.subgradient",
    "Wolfe": "first_order.step_rules",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
