"""Rows of X, y and weights whose pandas indices name the same rows in another order.

Rows are matched by position. Where two indices hold the same labels, each once, in another order,
one of them was sorted or shuffled and the other was not. Other indices say nothing: they differ
after ``reset_index`` or where y comes from another table.
"""

from typing import Any

from .reading import library_of


def require_same_order(X: object, y: object = None, sample_weight: object = None) -> None:
    """Raise ValueError where indices have the same labels in another order."""
    given = (("X", X), ("y", y), ("sample_weight", sample_weight))
    indexed = [(name, _index(values)) for name, values in given if _index(values) is not None]
    for i, (name, index) in enumerate(indexed):
        for of, other in indexed[:i]:
            row = _first_moved(other, index)
            if row is not None:
                raise ValueError(
                    f"{name} has the same index labels as {of} in another order: row {row} of "
                    f"{of} is {_label(other, row)!r}, of {name} {_label(index, row)!r}: reindex "
                    f"with {name}.loc[{of}.index], or give {name}.to_numpy() if the rows belong "
                    "together as they stand"
                )


def _index(values: object) -> Any:
    """Return the index of a pandas object; None for all others."""
    has_index = library_of(values) == "pandas" and hasattr(values, "iloc")
    return values.index if has_index else None  # type: ignore[attr-defined]


def _first_moved(one: Any, other: Any) -> int | None:
    """Return the first row with another label, where both have the same labels; else None."""
    if one is other or len(one) != len(other) or one.equals(other):
        return None
    if not (one.is_unique and other.is_unique and one.isin(other).all()):
        return None
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


def _label(index: Any, row: int) -> Any:
    """Return a label as Python writes it."""
    label = index[row]
    return label.item() if hasattr(label, "item") else label
