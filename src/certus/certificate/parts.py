"""Certificates of the models inside a model that fits several, and the one that stands for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..audit import InnerModels
from ..text.format import count

if TYPE_CHECKING:
    from .certificate import Certificate

MOST_NAMED = 3


@dataclass(frozen=True)
class PartFinding:
    """What was found about one model inside another."""

    name: str
    model: str
    status: str
    certified: bool
    objective: float
    gap: float
    residual: float


def of_parts(outer: str, parts: InnerModels, verify: "Callable[..., Certificate]") -> "Certificate":
    """Return the certificate of the model inside ``outer`` that is farthest from its claim.

    It has the findings of all beside, and is certified only if every one is.
    """
    certificates = [verify(part.model, part.X, part.y, part.sample_weight) for part in parts.found]
    names = [part.name for part in parts.found]
    findings = tuple(
        PartFinding(name, c.model, c.status, c.certified, c.objective, c.gap, c.residual)
        for name, c in zip(names, certificates, strict=True)
    )
    worst = max(range(len(names)), key=lambda i: (not findings[i].certified, findings[i].residual))
    shown = certificates[worst]
    notes = [*shown.notes, f"of the models inside {outer}, this is the one farthest from its claim"]
    if parts.left_out:
        notes.append(f"not audited: {parts.left_out}")
    return replace(
        shown, model=f"{shown.model} ({names[worst]}, in {outer})", parts=findings,
        notes=tuple(notes),
    )  # fmt: skip


def in_words(parts: Sequence[PartFinding]) -> str:
    """Return how many parts hold, and which do not."""
    failed = [part for part in parts if not part.certified]
    if not failed:
        return f"{count(len(parts), 'model')} inside, and all hold"
    named = "; ".join(f"{part.name}: {part.status}" for part in failed[:MOST_NAMED])
    more = "; …" if len(failed) > MOST_NAMED else ""
    return f"{len(parts) - len(failed)} of {count(len(parts), 'model')} inside hold; {named}{more}"
