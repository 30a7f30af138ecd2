"""Losses, penalties and solvers by name, or as objects that a user passes."""

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
NEED_MORE = {  # penalties that a name alone does not say
    "group": "GroupL2(strength, groups=…)", "group_l2": "GroupL2(strength, groups=…)",
    "box": "Box(low, high)",
}  # fmt: skip
AS_GIVEN: dict[str, Any] = {  # on X as it is
    "gd": GradientDescent, "agd": HeavyBall, "nesterov": Nesterov, "sgd": SGD,
    "asgd": lambda: SGD(momentum=0.9),
}  # fmt: skip
SOLVERS: dict[str, Any] = {
    "newton": Newton, "newton-cg": NewtonCG, "cd": lambda: _coordinate_descent(),
    "proximal-gradient": ProximalGradient, "fista": ProximalGradient,
    "ista": lambda: ProximalGradient(accelerated=False), "subgradient": Subgradient,
    **AS_GIVEN,
}  # fmt: skip
# scikit-learn's names for "what suits the problem": an object names the method itself
BY_OBJECT = {"lbfgs": "LBFGS()", "saga": "SAGA()"}
SMOOTH = (Newton, NewtonCG, LBFGS, GradientDescent, HeavyBall, Nesterov, SGD, SAGA)

# what is asked of an object that a user passes
NEEDS = {
    "loss": ("value", "slope", "evaluate", "curvature_product", "several", "curvature_bound"),
    "penalty": ("value", "prox"),
    "solver": ("name", "init", "step"),
}


def part(name: str, given: object, known: dict[str, Any]) -> Any:
    """A loss, penalty or solver by its name, or the object itself."""
    if isinstance(given, str):
        return known[one_of(name, given, known)]()
    missing = [need for need in NEEDS[name] if not hasattr(given, need)]
    if isinstance(given, type) or missing:
        room = {"loss": "losses", "penalty": "penalties", "solver": "solvers"}[name]
        what = f"{given.__name__}()" if isinstance(given, type) else f"those of certus.{room}"
        raise ValueError(
            f"{name}={given!r}: give one of {', '.join(map(repr, known))}, or an object with "
            f"{', '.join(NEEDS[name])}, as {what}"
        )
    return given


def penalty_of(given: object) -> Any:
    """None: no penalty."""
    if isinstance(given, str) and given in NEED_MORE:
        raise ValueError(f"penalty={given!r}: give certus.penalties.{NEED_MORE[given]}")
    return L2(0.0) if given is None else part("penalty", given, PENALTIES)


def solver_of(given: object, problem: Problem, choose: Callable[[Problem], Solver]) -> Solver:
    """``choose``: problem → solver, for "auto"."""
    if isinstance(given, str):
        if given in BY_OBJECT:
            raise ValueError(
                f"solver={given!r}: give certus.solvers.{BY_OBJECT[given]} for this method, or "
                "'auto' for what suits the problem"
            )
        one_of("solver", given, ("auto", *SOLVERS))
        solver = SOLVERS[given]() if given in SOLVERS else choose(problem)
        if given == "cd" and WorkingSets.fits(problem):
            solver = WorkingSets()
    else:
        solver = part("solver", given, SOLVERS)
    if isinstance(solver, SMOOTH) and (problem.positive or not problem.l1 == 0):
        raise ValueError(
            f"solver={given!r} needs a smooth penalty, and {problem.penalty!r} is none: "
            "use solver='auto'"
        )
    takes = WorkingSets.fits if isinstance(solver, WorkingSets) else supports_coordinate_descent
    if solver.name == "cd" and not takes(problem):
        raise ValueError(
            f"solver={given!r} takes L1, L2 and ElasticNet of any sign (squared loss: also MCP and "
            f"SCAD, and w ≥ 0), and {problem.penalty!r} is none of them: use solver='auto'"
        )
    chosen: Solver = solver
    return chosen


def _coordinate_descent() -> Solver:
    from ..solvers.lasso.coordinate_descent import CoordinateDescent

    return CoordinateDescent()
