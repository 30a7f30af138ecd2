"""An audit as plain values for strict JSON; ``docs/schemas/coefficient_audit.json`` describes them.

Numbers that are not finite are the texts "inf", "-inf" and "nan".
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from .wording import explain

if TYPE_CHECKING:
    from ..certificate.as_dict import Plain
    from .result import CoefficientAudit

FIELDS = (
    "verdict", "holds", "shape", "digits", "mistake", "nearest", "cov", "n_omitted", "notes",
)  # fmt: skip


def as_dict(audit: "CoefficientAudit") -> "dict[str, Plain]":
    """Return the public fields of an audit."""
    values: dict[str, object] = {name: getattr(audit, name) for name in FIELDS}
    for name in ("fits", "weak", "terms"):
        values[name] = [asdict(one) for one in getattr(audit, name)]
    values["decisions"] = None if audit.decisions is None else asdict(audit.decisions)
    for name in ("certificate", "optimum_certificate"):
        certificate = getattr(audit, name)
        values[name] = None if certificate is None else certificate.to_dict()
    values["explanation"] = explain(audit)
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: object) -> "Plain":
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    assert value is None or isinstance(value, str | bool | int | float)
    return value
