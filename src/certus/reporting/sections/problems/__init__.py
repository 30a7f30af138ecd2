"""Section 10: problems of the data, each with a stable code, its rows, a reason and a fix.

D-ID     columns that look like ids        D-ALIAS  columns that repeat others
D-DATE   dates that no model uses          D-RARE   rare classes and categories
D-DUP    repeated rows                     D-SCALE  sentinels, far values, extreme scales
D-LEAK   columns that give the target away D-LABEL  targets at odds with all similar rows
D-GROUP  several rows of one unit          D-SHIFT  test or later rows that differ
D-CONST  columns without information       D-TEXT   text that no model can use as it is
D-MISS   missing values
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....text.format import count
from ...content.data import DataProblem, Problems
from . import (
    aliases,
    constants,
    dates,
    duplicates,
    groups,
    ids,
    labels,
    leaks,
    missing,
    rare,
    scales,
    shift,
    texts,
)
from .view import DataView

if TYPE_CHECKING:
    from ...prepared import Prepared, PreparedTest
    from ...procedure.result import ProcedureResult
    from ...settings import Settings

CHECKS: dict[str, Callable[[DataView], "list[DataProblem] | None"]] = {
    "D-LEAK": leaks.find,
    "D-GROUP": groups.find,
    "D-DUP": duplicates.find,
    "D-SHIFT": shift.find,
    "D-LABEL": labels.find,
    "D-MISS": missing.find,
    "D-SCALE": scales.find,
    "D-RARE": rare.find,
    "D-ALIAS": aliases.find,
    "D-ID": ids.find,
    "D-DATE": dates.find,
    "D-TEXT": texts.find,
    "D-CONST": constants.find,
}  # None: the check does not apply
SEVERITIES = ("severe", "warning", "info")


def find(
    prepared: "Prepared",
    settings: "Settings",
    test: "PreparedTest | None" = None,
    result: "ProcedureResult | None" = None,
) -> Problems:
    """Return all problems, the severe ones first, and the codes that were looked for in vain."""
    view = DataView(prepared, settings, test, result)
    found: list[DataProblem] = []
    not_found = []
    for code, check in CHECKS.items():
        problems = check(view)
        if problems is None:
            continue
        found += problems
        if not problems:
            not_found.append(code)
    found.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    return Problems(_summary(found), tuple(found), tuple(not_found))


def _summary(problems: list[DataProblem]) -> str:
    if not problems:
        return "None of the checks found a problem. That does not prove that there is none."
    counts = [sum(p.severity == severity for p in problems) for severity in SEVERITIES]
    names = ("severe problem", "warning", "remark")
    parts = [count(n, name) for n, name in zip(counts, names, strict=True) if n]
    return f"{parts[0] if len(parts) == 1 else ', '.join(parts[:-1]) + ' and ' + parts[-1]}."
