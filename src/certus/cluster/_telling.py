"""What a fit of clusters warns of, in words."""

from .._words import count, number, printable
from ..certificate import Certificate


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


def not_certified(c: Certificate, max_iter: int | None) -> str:
    """A fit that is not where one more step gains nothing. ``max_iter``: what ended it."""
    if c.status == "contradicted":
        return printable(f"{c.model}: {'; '.join(c.found['wrong'])}.")
    how, remedy = "is not at a fixed point", "See certificate_.explain()"
    if c.status == "stopped":
        how, remedy = f"stopped {c.found['stopped']}", "Let it run longer"
    elif max_iter is not None:
        how, remedy = f"stopped at max_iter={max_iter} before a fixed point", "Raise max_iter"
    gain = ""
    if c.residual < float("inf"):
        gain = f", and one more step lowers it by {number(100 * c.residual, 2)} %"
    return printable(f"{c.model} {how}: objective {number(c.objective, 4)}{gain}. {remedy}.")
