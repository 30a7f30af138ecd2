"""A certificate as plain values for strict JSON; ``docs/schemas/certificate.json`` describes them.

Numbers that are not finite are the texts "inf", "-inf" and "nan".
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from .explain.certificate import explain

if TYPE_CHECKING:
    from .certificate import Certificate

Plain = dict[str, "Plain"] | list["Plain"] | str | float | bool | None
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
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: object) -> Plain:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    assert value is None or isinstance(value, str | bool | int | float)
    return value
