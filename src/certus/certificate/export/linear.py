"""Slots of models with coefficients: the objective and its distance to the best possible.

Where no bound is known, the script claims that it is stationary, in the terms of the family.
"""

from typing import TYPE_CHECKING

from ..explain.classes import newton_gain
from ..explain.left_out import among
from ..facts import FirthFacts
from ..findings import facts_of
from .readers import targets
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate

USAGE = (
    "X.npy y.npy [weights.npy]         (or .csv files, without a header; sparse X as\n"
    "                                                     .npz from scipy.sparse.save_npz, CSR)"
)
CLAIMED = """\
Minimised: {formula}
Claimed:   objective {objective!r}, {claim}"""
REPORT = """\
    print(f"objective {{found['objective']!r}}, claimed {objective!r}")
    print(f"{near}, claimed {distance:.3g}")
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * abs({objective!r}) + {slack!r}
    holds = bool(same and found["residual"] <= {tol!r})"""
ABOVE = "at most {} above the best possible"
COLUMNS = 'len(PARAMETERS["b"])'  # of targets


def slots(
    c: "Certificate", near: str = ABOVE, distance: float | None = None, found: str = "found['gap']",
    slack: float | None = None,
) -> Slots:  # fmt: skip
    """Slots of a claim that ``distance`` is ``near``, which ``found`` recomputes.

    ``slack``: by how much the objective may differ.
    """
    distance = c.gap if distance is None else distance
    claim = near.format(repr(distance)) + _among(c)
    report = REPORT.format(
        objective=c.objective, near=near.format(f"{{{found}:.3g}}"), distance=distance, tol=c.tol,
        slack=distance if slack is None else slack,
    )  # fmt: skip
    return Slots(
        claimed=CLAIMED.format(formula=c.formula, objective=c.objective, claim=claim),
        usage=USAGE,
        reader=targets(c, COLUMNS),
        report=report,
        parameters="the model's parameters",
    )


def penalized(c: "Certificate") -> Slots:
    if c.bound is not None:
        return slots(c)
    near = "no slope is more than {} of the largest there can be"
    return slots(c, near, c.residual, "found['residual']", slack=0.0)


def classifier(c: "Certificate") -> Slots:
    if c.bound is not None:
        return slots(c)
    found = "found['residual'] * found['null_objective']"
    return slots(c, "one more Newton step would gain {}", newton_gain(c), found)


def firth(c: "Certificate") -> Slots:
    gain = facts_of(c, FirthFacts).gain
    return slots(c, "one more step would gain {}", gain, "found['gain']", slack=0.0)


def _among(c: "Certificate") -> str:
    """Which models the claim speaks of, for a docstring: names of columns may hold anything."""
    return among(c).replace("\\", "/").replace('"', "'")
