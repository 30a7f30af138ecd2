"""What a fit of clusters warns of, in words."""

from .._words import count, printable


def degenerate(n: int, k: int, formed: int, objective: float) -> str:
    """Fewer clusters than were asked for."""
    if objective > 0:  # it was stopped before every empty cluster had found a row
        return printable(
            f"{formed} of {k:,} clusters own rows; the others are empty. Let the fit run longer, "
            "or ask for fewer. See n_clusters_effective_."
        )
    were = "was" if formed == 1 else "were"
    return printable(
        f"the {count(n, 'row')} hold {count(formed, 'distinct point')}, so {k:,} clusters cannot "
        f"exist. {formed:,} {were} formed; the objective is 0 and cannot be lower. "
        "See n_clusters_effective_."
    )
