"""What a certificate says first where the coefficients are known less well than the objective.

    f(w) − f* ≥ α‖w − w*‖²

so a small excess fixes w only where α (or the data's own curvature) is not small as well.
"""

from typing import TYPE_CHECKING

import numpy as np

from ._words import small

if TYPE_CHECKING:
    from .certificate import Certificate

WORTH_SAYING = 1e-3  # of ‖w‖: a coefficient may be off by this before the first line says so


def known_only_to(c: "Certificate") -> str:
    """; coefficients known only to ±0.02. Nothing where they are known well, or nothing is claimed
    of them."""
    if not c.certified or c.coef_error is None:
        return ""
    share = c.found.get("coef_share")
    if share is None:
        w = c.parameters.get("w", c.parameters.get("beta"))
        length = 0.0 if w is None else float(np.linalg.norm(w))
        share = c.coef_error / length if length > 0 else 0.0
    if not share > WORTH_SAYING:
        return ""
    if not np.isfinite(c.coef_error):
        return "; coefficients not known"
    return f"; coefficients known only to ±{small(c.coef_error)}"
