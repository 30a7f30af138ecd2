"""Terms of a table as columns of numbers: what each coefficient is multiplied by.

    speciesGentoo, species_Gentoo, C(species)[T.Gentoo], Parameter species with Level Gentoo
    smokerTRUE      log(x)      I(x^2)      a:b, a*b of these

The reference level of a factor is the one without a coefficient.
"""

import re
from dataclasses import dataclass

import numpy as np

from ...exceptions import TableError
from ...text.format import listed
from ...text.suggestions import unknown
from .columns import DataColumns
from .expressions import FORMULA, NotAnExpression, evaluate

FACTOR = re.compile(r"^(?:C|factor|as\.factor|ordered)\(\s*`?([^,`()]+)`?\s*(?:,.*)?\)(.*)$")
CALL = re.compile(r"^(?:\w+::)?([A-Za-z_.][\w.]*)\(")
REBUILT_BY_HAND = (
    "it is made by a function that cannot be computed again from the data: give its columns as "
    "columns of X, under the names that the table has"
)


@dataclass(frozen=True, eq=False)
class TermColumn:
    """One term: its values, NaN where a column that it uses is missing."""

    name: str
    values: np.ndarray
    columns: tuple[str, ...]  # those of the data that it uses
    level: tuple[str, str] | None = None  # column and level, where it is one


class TermReader:
    """Reads terms by the columns of the data."""

    def __init__(self, data: DataColumns):
        self.data = data
        self._spelt: dict[str, list[tuple[str, str]]] | None = None

    def read(self, term: str, level: str = "") -> TermColumn:
        """Return a term, perhaps with a level in a column of its own as SAS prints it."""
        if level:
            return self._level_beside(term, level)
        found = self._single(term) or self._product(term)
        if found is not None:
            return found
        call = CALL.match(term)
        if call and call[1] not in ("C", "factor", "as.factor", "I"):
            raise TableError(f"the term '{term}' cannot be rebuilt: {REBUILT_BY_HAND}")
        known = [*self.data.names, *self._levels()]
        raise TableError(unknown("column or level for the term", term, known, "the data"))

    # --- one factor -------------------------------------------------------------------------------

    def _single(self, text: str) -> TermColumn | None:
        text = text.strip()
        bare = text.strip("`") if text.count("`") == 2 and text[0] == text[-1] == "`" else text
        places = self._levels().get(bare, [])
        if bare in self.data.values and not (places and not self.data.is_number(bare)):
            if places:
                self._refuse_two(text, [f"column '{bare}'", *map(_level_words, places)])
            return TermColumn(text, self.data.numbers(bare), (bare,))
        if len(places) > 1:
            self._refuse_two(text, [_level_words(place) for place in places])
        if places:
            return self._level(text, *places[0])
        return self._of_factor(text) or self._formula(text) or self._any_case(text)

    def _level(self, text: str, column: str, level: str) -> TermColumn:
        return TermColumn(text, self.data.levels(column)[level], (column,), (column, level))

    def _of_factor(self, text: str) -> TermColumn | None:
        match = FACTOR.match(text)
        if match is None or match[1].strip() not in self.data.values:
            return None
        column, spelt = match[1].strip(), match[2].strip()
        if spelt[:1] == "[" and spelt[-1:] == "]":
            spelt = spelt[1:-1].removeprefix("T.")
        for level in self.data.levels(column):
            if f"{column}{spelt}" in self.data.spelt(column, level):
                return self._level(text, column, level)
        raise TableError(unknown(f"level of '{column}'", spelt, self.data.levels(column)))

    def _formula(self, text: str) -> TermColumn | None:
        powers = re.fullmatch(r"`?[\w.]+`?\s*(\^|\*\*)\s*\d+", text)
        if not (FORMULA.match(text) or powers):
            return None
        used: list[str] = []

        def column(name: str) -> np.ndarray:
            if name not in self.data.values:
                raise TableError(unknown("column", name, self.data.names, f"the term '{text}'"))
            used.append(name)
            return self.data.numbers(name)

        try:
            values = evaluate(text, column)
        except NotAnExpression as error:
            raise TableError(
                f"the term '{text}' cannot be rebuilt ({error}): {REBUILT_BY_HAND}"
            ) from None
        values = np.broadcast_to(values, self.data.n).astype(float)
        known = ~np.any(
            [self.data.missing(name) for name in used] or [np.zeros(self.data.n)], axis=0
        )
        wrong = np.flatnonzero(~np.isfinite(values) & known)
        if len(wrong):
            raise TableError(f"the term '{text}' is not finite in row {wrong[0]} of the data")
        return TermColumn(text, values, tuple(used))

    def _any_case(self, text: str) -> TermColumn | None:
        """Return a column whose name differs in case, as SAS and SQL write it."""
        known = [*self.data.names, *self._levels()]
        same = [name for name in known if name.casefold() == text.casefold()]
        if len(same) != 1 or same[0] == text:
            return None
        found = self._single(same[0])
        return None if found is None else TermColumn(text, found.values, found.columns, found.level)

    def _level_beside(self, term: str, level: str) -> TermColumn:
        columns = [name for name in self.data.names if name.casefold() == term.casefold()]
        columns = [term] if term in columns else columns
        if len(columns) != 1:
            raise TableError(unknown("column for the term", term, self.data.names, "the data"))
        for known in self.data.levels(columns[0]):
            if known == level or f"{columns[0]}{level}" in self.data.spelt(columns[0], known):
                return self._level(f"{term} {level}", columns[0], known)
        raise TableError(unknown(f"level of '{term}'", level, self.data.levels(columns[0])))

    def _levels(self) -> dict[str, list[tuple[str, str]]]:
        """Return the levels of all columns, by every way in which they are spelt."""
        if self._spelt is None:
            self._spelt = {}
            for column in self.data.names:
                for level in self.data.levels(column):
                    for text in self.data.spelt(column, level):
                        self._spelt.setdefault(text, []).append((column, level))
        return self._spelt

    def _refuse_two(self, text: str, places: list[str]) -> None:
        raise TableError(
            f"the term '{text}' may be {listed(places)}: rename a column, in the table too"
        )

    # --- products ---------------------------------------------------------------------------------

    def _product(self, text: str) -> TermColumn | None:
        """Return a product of terms; a name may itself hold the sign between them."""
        for sign in (":", "*", "#"):
            for at in _outside_brackets(text, sign):
                left = self._single(text[:at]) or self._product(text[:at])
                right = self._single(text[at + 1 :]) or self._product(text[at + 1 :])
                if left is not None and right is not None:
                    columns = (*left.columns, *right.columns)
                    return TermColumn(text, left.values * right.values, columns)
        return None


def _level_words(place: tuple[str, str]) -> str:
    return f"level '{place[1]}' of '{place[0]}'"


def _outside_brackets(text: str, sign: str) -> list[int]:
    found, depth, quoted = [], 0, False
    for i, c in enumerate(text):
        quoted ^= c == "`"
        depth += (c in "([") - (c in ")]")
        if c == sign and not depth and not quoted and 0 < i < len(text) - 1:
            found.append(i)
    return found
