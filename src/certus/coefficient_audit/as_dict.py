"""An audit as plain values for strict JSON; ``docs/schemas/coefficient_audit.json`` describes them.

Numbers that are not finite are the texts "inf", "-inf" and "nan".
"""

from dataclasses import asdict
from typing import TYPE_CHECKING

from ..text.plain import Plain, plain
from .wording import explain

if TYPE_CHECKING:
    from .result import CoefficientAudit

FIELDS = (
    "verdict", "holds", "shape", "digits", "mistake", "nearest", "cov", "n_omitted", "notes",
)  # fmt: skip


def as_dict(audit: "CoefficientAudit") -> dict[str, Plain]:
    """Return the public fields of an audit."""
    values: dict[str, object] = {name: getattr(audit, name) for name in FIELDS}
    for name in ("fits", "weak", "terms"):
        values[name] = [asdict(one) for one in getattr(audit, name)]
    values["decisions"] = None if audit.decisions is None else asdict(audit.decisions)
    for name in ("certificate", "optimum_certificate"):
        certificate = getattr(audit, name)
        values[name] = None if certificate is None else certificate.to_dict()
    values["explanation"] = explain(audit)
    return {name: plain(value) for name, value in values.items()}
