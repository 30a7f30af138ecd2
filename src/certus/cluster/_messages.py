"""Texts of warnings about clusters without rows."""

import numpy as np

from ..text.format import count, printable


def in_units(model: str, unit: float) -> str:
    """Return the warning of a fit whose objective float64 cannot hold in the units of X."""
    e = round(float(np.log2(unit)))
    return (
        f"squares of the differences in X {'overflow' if e > 0 else 'underflow'}, so {model} "
        f"states its objective in units of unit_**2, with unit_ = 2**{e}: inertia_ and score() too"
    )


def empty_clusters(k: int, formed: int) -> str:
    """Return the warning of a fit that was stopped before every empty cluster was refilled."""
    return printable(
        f"{formed} of {k:,} clusters own rows; the others are empty. Let the fit run longer, "
        "or ask for fewer. See n_clusters_effective_."
    )


def degenerate(n: int, k: int, points: int) -> str:
    """Return the warning of fewer distinct rows than clusters, as the certificate counted them."""
    were = "was" if points == 1 else "were"
    return printable(
        f"the {count(n, 'row')} hold {count(points, 'distinct point')}, so {k:,} clusters cannot "
        f"exist. {points:,} {were} formed; the objective is 0 and cannot be lower. "
        "See n_clusters_effective_."
    )
