"""What became of the tests, in numbers and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import expected


@dataclass
class Summary:
    """Counts of the tests that use a class of certus; others of the same modules are left out."""

    passed: dict[str, float] = field(default_factory=dict)  # test: seconds
    reasons: Counter[str] = field(default_factory=Counter)  # of the failures that are listed
    unexpected: dict[str, str] = field(default_factory=dict)  # test: message
    failed: set[str] = field(default_factory=set)
    others: dict[str, str] = field(default_factory=dict)  # failures without a class of certus
    absent: set[str] = field(default_factory=set)  # asked for, but scikit-learn has no such test
    unused: list[str] = field(default_factory=list)  # lines of the list that no failure needs

    @classmethod
    def of(cls, records: Iterable[dict[str, Any]], requested: set[str]) -> Summary:
        """Sum up the records of a run in which ``asked`` (if any) had to be there."""
        summary = cls(absent=set(requested))
        outcomes: dict[str, dict[str, Any]] = {}
        for record in records:  # of a test that fails when it is taken down there are two
            summary.absent.discard(record["test"])
            if record["outcome"] == "failed" or record["test"] not in outcomes:
                outcomes[record["test"]] = record
        for test, record in outcomes.items():
            if record["outcome"] == "failed" and not record["uses"]:
                summary.others[test] = record["message"]
            elif record["outcome"] == "failed":
                summary.failed.add(test)
                reason = expected.reason(test)
                if reason:
                    summary.reasons[reason] += 1
                else:
                    summary.unexpected[test] = record["message"]
            elif record["outcome"] == "passed" and record["uses"]:
                summary.passed[test] = record["seconds"]
        return summary

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.passed | other.passed,
            self.reasons + other.reasons,
            self.unexpected | other.unexpected,
            self.failed | other.failed,
            self.others | other.others,
            self.absent | other.absent,
        )

    def line(self) -> str:
        """Return the counts in one line."""
        return (
            f"{len(self.passed)} passed, {sum(self.reasons.values())} failed as expected, "
            f"{len(self.unexpected)} unexpectedly"
        )

    def report(self) -> str:
        """Return the counts by reason, and every failure that is not listed."""
        lines = ["", self.line()]
        lines += [
            f"  {count:5} {expected.REASONS[reason]}"
            for reason, count in self.reasons.most_common()
        ]
        passed = len(self.passed)
        total = passed + sum(self.reasons.values()) + len(self.unexpected)
        open_ones = len(self.unexpected) + self.reasons[expected.OPEN]
        if total:
            lines.append(f"{passed / total:.1%} of {total} tests pass")
            share = passed / max(passed + open_ones, 1)
            lines.append(f"{share:.1%} pass without those that are documented or private")
        for test, message in sorted(self.unexpected.items()):
            first = message.strip().splitlines() or [""]
            lines.append(f"UNEXPECTED {test}\n    {first[0][:200]}")
        lines += [f"WITHOUT certus, and failed: {test}" for test in sorted(self.others)]
        lines += [f"ABSENT {test}" for test in sorted(self.absent)]
        lines += [f"UNUSED in expected.py: {line}" for line in self.unused]
        return "\n".join(lines)
