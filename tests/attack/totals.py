"""Counts of outcomes for each target, as a table."""

from collections import Counter, defaultdict

from .trials import Outcome

COLUMNS = (
    "trials", "certified", "judged", "false", "refused", "crashes", "over the limit", "edits",
    "missed", "not covered",
)  # fmt: skip


class Totals:
    def __init__(self) -> None:
        self.of: dict[str, Counter[str]] = defaultdict(Counter)
        self.statuses: Counter[str] = Counter()

    def add(self, o: Outcome) -> None:
        count = self.of[o.target]
        count["trials"] += 1
        count["certified"] += o.certified
        count["judged"] += o.judged
        count["false"] += bool(o.faults)
        count["refused"] += o.refused
        count["crashes"] += bool(o.crash)
        count["over the limit"] += o.status == "over the time limit"
        count["edits"] += o.edits
        count["missed"] += len(o.missed)
        count["not covered"] += o.uncovered
        self.statuses["refused" if o.refused else o.status] += 1

    def total(self, column: str) -> int:
        return sum(count[column] for count in self.of.values())

    def table(self) -> str:
        width = max((len(name) for name in self.of), default=5)
        lines = [" " * width + "".join(f"{name:>15}" for name in COLUMNS)]
        rows = [*sorted(self.of.items()), ("all", {c: self.total(c) for c in COLUMNS})]
        for name, count in rows:
            lines.append(f"{name:<{width}}" + "".join(f"{count[c]:>15,}" for c in COLUMNS))
        return "\n".join(lines)
