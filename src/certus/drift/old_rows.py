"""The number of rows that a fitted model was fitted on, where the model or a step records it."""

from ..audit import Unwrapped, is_result
from ..certificate.fingerprint import Fingerprint


def fingerprint_of_fit(inner: Unwrapped) -> Fingerprint | None:
    """Return that of the rows of the fit; models of certus have one."""
    certificate = vars(inner.model).get("certificate_")
    found: Fingerprint | None = None if certificate is None else certificate.fingerprint
    return found


def rows_of_old_fit(model: object, inner: Unwrapped) -> tuple[int | None, str]:
    """Return the rows of the fit, and who recorded them; None: nobody did."""
    seen = fingerprint_of_fit(inner)
    if seen is not None:
        return seen.shape[0], "its certificate"
    if is_result(model):
        return int(getattr(model, "nobs", 0)) or None, "the result"
    for record in inner.recorded:
        if not record.at_least:
            return record.rows, record.who
    return None, ""
