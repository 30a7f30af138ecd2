"""Values as strict JSON has them.

Numbers that are not finite are the texts "inf", "-inf" and "nan".
"""

from collections.abc import Mapping

import numpy as np

Plain = dict[str, "Plain"] | list["Plain"] | str | float | bool | None


def plain(value: object) -> Plain:
    """Return a value of mappings, sequences, text and numbers, which ``json.dumps`` accepts."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    assert value is None or isinstance(value, str | bool | int | float)
    return value
