"""Losses, penalties and solvers by name, or as objects."""

from collections.abc import Callable
from typing import Any

from ..data.validation import one_of
from ..losses import Huber, Logistic, Softmax, Squared, SquaredHinge
from ..penalties import L1, L2, MCP, SCAD, ElasticNet, NonNegative, Simplex
from ..solvers.first_order.gradient_descent import GradientDescent
from ..solvers.first_order.heavy_ball import HeavyBall
from ..solvers.first_order.lbfgs import LBFGS
from ..solvers.first_order.nesterov import Nesterov
from ..solvers.first_order.proximal_gradient import ProximalGradient
from ..solvers.first_order.saga import SAGA
from ..solvers.first_order.sgd import SGD
from ..solvers.first_order.subgradient import Subgradient
from ..solvers.glm.dispatch import supports_coordinate_descent
from ..solvers.glm.newton import Newton
from ..solvers.glm.newton_cg import NewtonCG
from ..solvers.lasso.working_sets import WorkingSets
from ..solvers.loop import Solver
from ..solvers.problem import Problem

REGRESSION: dict[str, Any] = {"squared": Squared, "huber": Huber}
CLASSIFICATION: dict[str, Any] = {
    "logistic": Logistic, "softmax": Softmax, "squared_hinge": SquaredHinge, **REGRESSION,
}  # fmt: skip
PENALTIES: dict[str, Any] = {
    "l1": L1, "l2": L2, "elasticnet": ElasticNet, "mcp": MCP, "scad": SCAD,
    "nonnegative": NonNegative, "simplex": Simplex,
}  # fmt: skip
PENALTIES_WITH_ARGUMENTS = {  # penalties that need arguments
    "group": "GroupL2(strength, groups=…)", "group_l2": "GroupL2(strength, groups=…)",
    "box": "Box(low, high)",
}  # fmt: skip
PLAIN_OPTIMIZERS: dict[str, Any] = {  # on X as it is
    "gd": GradientDescent, "agd": HeavyBall, "nesterov": Nesterov, "sgd": SGD,
    "asgd": lambda: SGD(momentum=0.9),
}  # fmt: skip
SOLVERS: dict[str, Any] = {
    "newton": Newton, "newton-cg": NewtonCG, "cd": lambda: _coordinate_descent(),
    "proximal-gradient": ProximalGradient, "fista": ProximalGradient,
    "ista": lambda: ProximalGradient(accelerated=False), "subgradient": Subgradient,
    **PLAIN_OPTIMIZERS,
}  # fmt: skip
# with these names scikit-learn's users mean "whatever suits the problem"; the method itself is
# requested by an object
OBJECT_FOR_NAME = {"lbfgs": "LBFGS()", "saga": "SAGA()"}
SMOOTH_SOLVERS = (Newton, NewtonCG, LBFGS, GradientDescent, HeavyBall, Nesterov, SGD, SAGA)

# attributes that a user's own object must have
REQUIRED_ATTRIBUTES = {
    "loss": ("value", "slope", "evaluate", "curvature_product", "several", "curvature_bound"),
    "penalty": ("value", "prox"),
    "solver": ("name", "init", "step"),
}


def component(name: str, given: object, known: dict[str, Any]) -> Any:
    """Return the loss, penalty or solver of that name, or the object itself."""
    if isinstance(given, str):
        return known[one_of(name, given, known)]()
    missing = [
        attribute for attribute in REQUIRED_ATTRIBUTES[name] if not hasattr(given, attribute)
    ]
    if isinstance(given, type) or missing:
        module = {"loss": "losses", "penalty": "penalties", "solver": "solvers"}[name]
        example = f"{given.__name__}()" if isinstance(given, type) else f"those of certus.{module}"
        raise ValueError(
            f"{name}={given!r}: give one of {', '.join(map(repr, known))}, or an object with "
            f"{', '.join(REQUIRED_ATTRIBUTES[name])}, as {example}"
        )
    return given


def make_penalty(given: object) -> Any:
    """Return the penalty of that name, or the object itself; None means no penalty."""
    if isinstance(given, str) and given in PENALTIES_WITH_ARGUMENTS:
        raise ValueError(
            f"penalty={given!r}: give certus.penalties.{PENALTIES_WITH_ARGUMENTS[given]}"
        )
    return L2(0.0) if given is None else component("penalty", given, PENALTIES)


def make_solver(given: object, problem: Problem, choose: Callable[[Problem], Solver]) -> Solver:
    """Return the solver of that name, or the object itself, after checking that it applies.

    ``choose``: problem → solver, for "auto".
    """
    if isinstance(given, str):
        if given in OBJECT_FOR_NAME:
            raise ValueError(
                f"solver={given!r}: give certus.solvers.{OBJECT_FOR_NAME[given]} for this method, "
                "or 'auto' for whatever suits the problem"
            )
        one_of("solver", given, ("auto", *SOLVERS))
        solver = SOLVERS[given]() if given in SOLVERS else choose(problem)
        if given == "cd" and WorkingSets.fits(problem):
            solver = WorkingSets()
    else:
        solver = component("solver", given, SOLVERS)
    if isinstance(solver, SMOOTH_SOLVERS) and (problem.positive or not problem.l1 == 0):
        raise ValueError(
            f"solver={given!r} needs a smooth penalty, and {problem.penalty!r} is not smooth: "
            "use solver='auto'"
        )
    supports = WorkingSets.fits if isinstance(solver, WorkingSets) else supports_coordinate_descent
    if solver.name == "cd" and not supports(problem):
        raise ValueError(
            f"solver={given!r} takes L1, L2 and ElasticNet of any sign (squared loss: also MCP and "
            f"SCAD, and w ≥ 0), and {problem.penalty!r} is none of them: use solver='auto'"
        )
    chosen: Solver = solver
    return chosen


def _coordinate_descent() -> Solver:
    from ..solvers.lasso.coordinate_descent import CoordinateDescent

    return CoordinateDescent()
