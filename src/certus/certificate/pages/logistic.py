"""How the page of logistic regression is called."""

from collections.abc import Iterator

import numpy as np

from ...audit import Labels
from ...definitions.terms.targets import AgainstRest, Signs
from ..parameters import Parameters
from .problem import Problem


def logistic(p: Parameters, labels: Labels | None) -> Iterator[Problem]:
    """A problem for each column of w: of two classes one, else one for each against the rest."""
    c = p.get("class_weight")
    c = c.tolist() if isinstance(c, np.ndarray) else c
    for k, (w, b) in enumerate(zip(p["w"].T, p["b"], strict=True)):
        targets = AgainstRest(k, c) if p.get("one_vs_rest") else Signs(1, c)
        arguments: dict[str, object] = {
            "C": p["C"], "l1": p["l1"], "l2": p["l2"], "fit_intercept": p["fit_intercept"],
        }  # fmt: skip
        direction = p.get("direction")
        if direction is not None:
            arguments["direction"] = np.ravel(direction[0]), float(np.ravel(direction[1])[0])
        scaling = p.get("intercept_scaling") if p["fit_intercept"] else None
        if scaling:  # the intercept is penalised, as the coefficient of one more column
            w, b, arguments["fit_intercept"] = np.append(w, b / scaling), 0.0, False
        yield Problem("logistic", targets, {"w": w, "b": float(b), **arguments}, scaling)
