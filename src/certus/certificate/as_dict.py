"""A certificate as plain values for strict JSON; ``docs/schemas/certificate.json`` describes them.

Numbers that are not finite are the texts "inf", "-inf" and "nan".
"""

from dataclasses import asdict
from typing import TYPE_CHECKING

from ..text.plain import Plain, plain
from .explain.certificate import explain

if TYPE_CHECKING:
    from .certificate import Certificate

FIELDS = (
    "model", "shape", "formula", "definition", "status", "certified", "kind", "maximized",
    "objective", "bound", "gap", "residual", "tol", "coef_error", "notes", "other_rows",
    "feature_names",
)  # fmt: skip


def as_dict(c: "Certificate") -> dict[str, Plain]:
    """The public fields of a certificate; parameters, trace and seconds are left out."""
    values = {name: getattr(c, name) for name in FIELDS}
    values["decisions"] = None if c.decisions is None else asdict(c.decisions)
    values["parts"] = [asdict(part) for part in c.parts]
    values["fingerprint"] = asdict(c.fingerprint)
    values["explanation"] = explain(c)
    return {name: plain(value) for name, value in values.items()}
