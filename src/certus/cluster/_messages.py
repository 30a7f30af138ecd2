"""What a fit of clusters warns of, in words."""

from ..text.format import count, printable


def empty_clusters(k: int, formed: int) -> str:
    """A fit that was stopped before every empty cluster had found a row."""
    return printable(
        f"{formed} of {k:,} clusters own rows; the others are empty. Let the fit run longer, "
        "or ask for fewer. See n_clusters_effective_."
    )


def degenerate(n: int, k: int, points: int) -> str:
    """Fewer distinct rows than clusters, which the certificate has found by comparing rows."""
    were = "was" if points == 1 else "were"
    return printable(
        f"the {count(n, 'row')} hold {count(points, 'distinct point')}, so {k:,} clusters cannot "
        f"exist. {points:,} {were} formed; the objective is 0 and cannot be lower. "
        "See n_clusters_effective_."
    )
