"""Texts of warnings about clusters without rows."""

from ..text.format import count, printable


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
