"""Compare the rows of a certificate with those that the model was fitted on.

    |F now − F of the fit| ≤ 1e-9·|F of the fit| + its gap,  unless a parameter was edited

A model of certus holds a fingerprint of its rows. Models of other libraries hold none: there
``other_rows.py`` looks for evidence where the claim fails, and without any a note says so.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from ..audit import Reading
from ..audit.wrappers import Unwrapped
from ..data.rows import Rows
from .other_rows import evidence_of_other_rows
from .registry import CLAIMS

if TYPE_CHECKING:
    from .certificate import Certificate

OBJECTIVE_RTOL = 1e-9  # relative difference of two objectives on the same rows
ROWS_GIVEN = "on the rows given. If the model was fitted on other rows, this says nothing"
WEIGHTS_GIVEN = "weights used in fit must be given here too (sample_weight)"


def compared_with_fit(
    certificate: "Certificate", inner: Unwrapped, reading: Reading, rows: Rows,
    sample_weight: ArrayLike | None,
) -> "Certificate":  # fmt: skip
    """The certificate with a note on its rows; "other rows" where they are not those of the fit."""
    notes = list(certificate.notes)
    if inner.path:
        notes.append(f"found inside {' → '.join(inner.path)}, on the data that reached it")
    if not reading.ours and CLAIMS[reading.definition].keeps_rows:
        return replace(certificate, notes=tuple(notes))
    if not reading.ours and not certificate.certified and certificate.status != "contradicted":
        evidence = evidence_of_other_rows(inner, reading, rows, certificate._finding)
        if evidence:
            return replace(certificate, notes=tuple(notes), other_rows=evidence)
    if not reading.ours and inner.same_rows:
        return replace(certificate, notes=tuple(notes))
    if not reading.ours:
        notes.append(ROWS_GIVEN)
        if sample_weight is None and certificate.kind != "exact":
            notes.append(WEIGHTS_GIVEN)
        return replace(certificate, notes=tuple(notes))
    fit_certificate = vars(inner.model).get("certificate_")
    difference = None
    if fit_certificate is not None:
        difference = fit_certificate.fingerprint.differs(certificate.fingerprint)
        slack = fit_certificate.gap if np.isfinite(fit_certificate.gap) else 0.0
        moved = (
            abs(fit_certificate.objective - certificate.objective)
            > OBJECTIVE_RTOL * abs(fit_certificate.objective) + slack
        )
        edited = any(
            not _same(value, fit_certificate.parameters.get(name))
            for name, value in reading.parameters.items()
        )
        if difference is None and moved and not edited:
            difference = "the objective on these rows differs from that of the fit"
    if difference is None:
        return replace(certificate, notes=tuple(notes))
    notes.append(f"not the rows it was fitted on: {difference}")
    return replace(certificate, status="other rows", certified=False, notes=tuple(notes))


def _same(a: object, b: object) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    return a is b or np.array_equal(cast(ArrayLike, a), cast(ArrayLike, b))
