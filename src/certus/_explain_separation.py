"""What separates the classes, in words.

A direction (u, c) separates where y(xᵀu + c) ≥ 0 for every row. One column: x_j above −c/u_j is one
class, below it the other.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._words import count, listed, name_of, number, printable

if TYPE_CHECKING:
    from .certificate import Certificate


class Finding(NamedTuple):
    told: str  # what separates
    grows: str
    remedy: str


def explain_separation(c: "Certificate") -> str:
    """SeparationWarning."""
    told, grows, remedy = finding(c)
    return printable(
        f"no finite optimum. {told}, so {grows}. Do not read the coefficients, odds ratios or "
        f"p-values. {remedy[0].upper()}{remedy[1:]}."
    )


def in_one_line(c: "Certificate") -> str:
    told = finding(c).told
    return told[0].lower() + told[1:]


def no_finite_optimum(c: "Certificate") -> list[tuple[str, str]]:
    told, grows, remedy = finding(c)
    return [
        ("Objective", f"{number(c.objective, 7)}, and other coefficients have a lower one, always"),
        ("What is wrong", f"{told}, so {grows}"),
        ("What to do", f"do not read the coefficients, odds ratios or p-values; {remedy}"),
    ]


def finding(c: "Certificate") -> Finding:
    assert c.labels is not None
    separated = c.found["separated"]
    u, b = separated["direction"]
    u, b = np.reshape(u, (len(u), -1)), np.ravel(b)
    labels = [repr(label) for label in c.labels.classes.tolist()]
    used = np.flatnonzero(u.any(axis=1))
    grows = "its coefficients grow without limit"
    if len(labels) == 2 and len(used) == 1:
        j = int(used[0])
        told = _one_column(c, j, -b[0] / u[j, 0], labels[:: 1 if u[j, 0] > 0 else -1], separated)
        grows = "its coefficient grows without limit"
        return Finding(told, grows, f"use a finite C, or drop {name_of(j, c.feature_names)}")
    largest = used[np.argsort(-np.abs(u[used]).max(axis=1), kind="stable")]
    named = listed([name_of(int(i), c.feature_names) for i in sorted(largest[:5])])
    what = f"A combination of {named if len(used) <= 5 else f'{len(used)} columns'}"
    whom = " from ".join(labels) if len(labels) == 2 else "the classes"
    how = "" if separated["kind"] == "complete" else ", up to rows on the boundary"
    return Finding(f"{what} separates {whom}{how}", grows, "use a finite C, or fewer columns")


def _one_column(
    c: "Certificate", j: int, threshold: float, labels: list[str], separated: dict[str, Any]
) -> str:
    """``labels``: of the rows below, of those above."""
    names = c.feature_names
    name = str(names[j]) if names is not None else f"column {j}"
    at, (below, above) = number(threshold, 6), labels
    if separated["kind"] != "complete":
        return f"No {above} row has {name} < {at} and no {below} row has {name} > {at}"
    counts = dict(zip(_labels(c), c.found.get("rows_of_class", ()), strict=False))
    return (
        f"Every row with {name} > {at} is {_counted(above, counts)} and every other row is "
        f"{_counted(below, counts)}"
    )


def _labels(c: "Certificate") -> list[str]:
    assert c.labels is not None
    return [repr(label) for label in c.labels.classes.tolist()]


def _counted(label: str, counts: dict[str, Any]) -> str:
    return f"{label} ({count(int(counts[label]), 'row')})" if label in counts else label
