"""What certificates of Firth's logistic regression say.

For the words that all certificates share see ``_explain.py``.
"""

from typing import TYPE_CHECKING

import numpy as np

from ._explain_stopping import stopped_by
from ._words import number, small

if TYPE_CHECKING:
    from .certificate import Certificate


def certified(c: "Certificate") -> list[tuple[str, str]]:
    loss, log_det = -c.found["log_likelihood"], c.found["log_det"]
    return [
        ("Objective", f"{number(c.objective, 7)}: losses {number(loss, 7)}, log det of the "
                      f"information {number(log_det, 7)}"),
        ("Stationary", f"one more scoring step would gain {small(c.found['gain'])}, "
                       f"{small(c.residual)} of what the intercept alone leaves"),
        ("Not known", "whether another point is better: the objective need not be convex"),
        ("Probabilities", _shrunk(c)),
    ]  # fmt: skip


def _shrunk(c: "Certificate") -> str:
    assert c.labels is not None
    mean, share = (number(c.found[name][1], 3) for name in ("mean_probability", "share"))
    label = c.labels.classes.tolist()[1]
    return f"mean {mean}, observed share {share} of {label!r}: the penalty is why they differ"


def best(c: "Certificate") -> str:
    return too_steep(c)


def stationary(c: "Certificate") -> str:
    return (
        "a stationary point: no small change of the coefficients lowers the objective (one more "
        f"scoring step would gain {small(c.found['gain'])}); nothing is known of a global optimum"
    )


def too_steep(c: "Certificate") -> str:
    if c.found["infeasible"] or not np.isfinite(c.found["gain"]):
        return str(c.found["infeasible"] or "the objective is not finite")
    return f"one scoring step would lower the objective by about {number(c.found['gain'], 2)}"


def refused(c: "Certificate") -> list[tuple[str, str]]:
    rows = [("Objective", number(c.objective, 7)), ("What is wrong", too_steep(c))]
    cause = likely_cause(c)
    if cause:
        rows.append(("Likely cause", cause))
    return [*rows, ("What to do", "raise max_iter, or fit again")]


def likely_cause(c: "Certificate") -> str | None:
    return stopped_by(c)
