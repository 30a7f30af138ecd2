"""Warning about repeated columns, shared by all linear estimators."""

from ..certificate.explain.linear import repeated_columns
from ..exceptions import AliasWarning
from ..runtime.user_frame import warn_user
from ..solvers.glm.linear_problem import Solution
from ..solvers.loop import Fit


def warn_of_aliases(model: object, solution: Solution | Fit, n: int) -> None:
    """Warn if some columns of the n rows are linear combinations of others."""
    if solution.aliases is not None:
        names = vars(model).get("feature_names_in_")
        text = repeated_columns(solution.aliases, names, n, len(solution.w))
        warn_user(text, AliasWarning)
