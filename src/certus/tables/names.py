"""Names of columns: present, different from each other, without spaces around them."""

from collections.abc import Sequence


def numbered_names(n_columns: int) -> list[str]:
    """column_1, column_2, …"""
    return [f"column_{j + 1}" for j in range(n_columns)]


def unique_names(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names without repetitions, and notes on those that were changed."""
    stripped = [" ".join(name.split()) for name in given]
    names: list[str] = []
    notes = []
    reserved = set(stripped)
    for j, name in enumerate(stripped):
        wanted = name or f"column_{j + 1}"
        unique, number = wanted, 2
        while unique in names or (unique != name and unique in reserved):
            unique, number = f"{wanted}_{number}", number + 1
        if not name:
            notes.append(f"column {j + 1} has no name: it is read as '{unique}'")
        elif unique != name:
            notes.append(f"several columns are called '{name}': number {j + 1} is '{unique}'")
        names.append(unique)
    return names, notes
