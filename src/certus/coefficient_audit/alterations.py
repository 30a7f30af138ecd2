"""The usual mistakes: what, changed in the table or the data, would make the table an optimum.

Each alteration is a design and printed coefficients that are judged as the table itself is; the
first that fits names the mistake.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from .judge import UNKNOWN_HALF_UNIT, Printed
from .objective import DesignMatrix, Objective
from .optimum import NoOptimumError, minimize
from .presets import Loss
from .table.columns import DataColumns
from .table.terms import TermColumn

MAX_UNUSED = 10  # columns that are tried as weights and offsets


@dataclass(frozen=True, eq=False)
class Alteration:
    """A changed design or table, and the sentence that is true if it fits."""

    name: str
    text: str
    design: DesignMatrix
    printed: Printed


def alterations(
    design: DesignMatrix, printed: Printed, terms: Sequence[TermColumn], data_levels: DataColumns,
    keep: np.ndarray, losses: Sequence[Loss], classes: tuple[object, object] | None,
) -> Iterator[Alteration]:  # fmt: skip
    """Yield the alterations of a table, the likeliest mistakes first."""
    if classes is not None and "logistic" in losses:
        yield Alteration(
            "class",
            f"the table is that of the class {classes[0]!r}, and {classes[1]!r} was taken as the "
            f"positive one: every sign is the other way round (positive_class={classes[0]!r})",
            replace(design, y=1 - design.y), printed,
        )  # fmt: skip
    if design.s is not None:
        yield Alteration(
            "weights", "the table was fitted without the weights that were given",
            replace(design, s=None), printed,
        )  # fmt: skip
    if design.offset is not None:
        yield Alteration(
            "offset", "the table was fitted without the offset that was given",
            replace(design, offset=None), printed,
        )  # fmt: skip
    yield from _forgotten(design, printed, terms, data_levels, keep, losses)
    yield from _references(design, printed, terms, data_levels, keep)
    yield from _standardized(design, printed)


def _forgotten(
    design: DesignMatrix, printed: Printed, terms: Sequence[TermColumn], data: DataColumns,
    keep: np.ndarray, losses: Sequence[Loss],
) -> Iterator[Alteration]:  # fmt: skip
    """Yield columns that no term uses as weights, and of counts their logarithms as offsets."""
    used = {name for term in terms for name in term.columns}
    unused = [name for name in data.names if name not in used and data.is_number(name)]
    for name in unused[:MAX_UNUSED]:
        values = data.numbers(name)[keep]
        if not (np.isfinite(values).all() and (values >= 0).all() and np.ptp(values) > 0):
            continue
        if design.s is None:
            yield Alteration(
                "weights",
                f"the table was fitted with the weights in column '{name}', and none were given "
                f"(sample_weight='{name}')",
                replace(design, s=values), printed,
            )  # fmt: skip
        if design.offset is None and "poisson" in losses and values.min() > 0:
            yield Alteration(
                "offset",
                f"the table was fitted with the log of column '{name}' as offset, and none was "
                "given (offset=)",
                replace(design, offset=np.log(values)), printed,
            )  # fmt: skip


def _references(
    design: DesignMatrix, printed: Printed, terms: Sequence[TermColumn], data: DataColumns,
    keep: np.ndarray,
) -> Iterator[Alteration]:  # fmt: skip
    """Yield other reference levels of each factor, and effects (+1, 0, −1) for its levels."""
    columns = dict.fromkeys(term.level[0] for term in terms if term.level is not None)
    for column in columns:
        level_of = {
            j: term.level[1]
            for j, term in enumerate(terms)
            if term.level is not None and term.level[0] == column
        }
        at, used = [*level_of], [*level_of.values()]
        levels = list(data.levels(column))
        absent = [level for level in levels if level not in used]
        if len(absent) != 1:
            continue
        place = {j: levels.index(level) for j, level in level_of.items()}
        for other in used:
            others = [level for level in levels if level != other]
            by_order = sorted(at, key=place.__getitem__)
            X = design.X.copy()
            for j, level in zip(by_order, others, strict=True):
                X[:, j] = data.levels(column)[level][keep]
            yield Alteration(
                "reference level",
                f"the coefficients of '{column}' are those with the reference level '{other}', in "
                f"the order of the other levels, and the table has '{absent[0]}' as the reference",
                replace(design, X=X), printed,
            )  # fmt: skip
        X = design.X.copy()
        X[:, at] -= data.levels(column)[absent[0]][keep][:, None]
        yield Alteration(
            "effect coding",
            f"the levels of '{column}' are coded by effects, −1 for '{absent[0]}' (the default of "
            "PROC LOGISTIC; contr.sum in R), not by 0 and 1",
            replace(design, X=X), printed,
        )  # fmt: skip


def _standardized(design: DesignMatrix, printed: Printed) -> Iterator[Alteration]:
    share = design.weights / design.weights.sum()
    n = float(np.count_nonzero(design.weights))
    mean = share @ design.X
    for divisor, factor in (("n", 1.0), ("n − 1", np.sqrt(n / max(n - 1, 1.0)))):
        scaled = (design.X - mean) / (design.scales * factor)
        yield Alteration(
            "standardised",
            "the coefficients are those of standardised columns (mean 0, standard deviation 1 with "
            f"the divisor {divisor}), and the data are not standardised",
            replace(design, X=scaled), printed,
        )  # fmt: skip
        yield Alteration(
            "standardised",
            f"the coefficients are those of columns divided by their standard deviations (divisor "
            f"{divisor}), and the data are in other units",
            replace(design, X=design.X / (design.scales * factor)), printed,
        )  # fmt: skip


def swapped(design: DesignMatrix, printed: Printed) -> Iterator[Alteration]:
    """Yield the tables in which two coefficients have changed places."""
    first = int(design.intercept)
    for j, k in combinations(range(len(design.names)), 2):
        order = np.arange(len(printed.values))
        order[[first + j, first + k]] = order[[first + k, first + j]]
        yield Alteration(
            "swapped",
            f"the coefficients of '{design.names[j]}' and '{design.names[k]}' are exchanged",
            design, Printed(printed.values[order], printed.half_units[order]),
        )  # fmt: skip


def with_intercept(design: DesignMatrix, printed: Printed, loss: Loss) -> Alteration | None:
    """Return the table with an intercept that was fitted and not printed."""
    if design.intercept:
        return None
    plain = Objective(design, loss, False, False)
    with np.errstate(all="ignore"):
        scores = plain.scores(printed.values)
    b = _alone(design, loss, scores, None)
    if b is None:
        return None
    values = np.concatenate([[b], printed.values])
    half = np.concatenate([[UNKNOWN_HALF_UNIT], printed.half_units])
    return Alteration(
        "intercept", "the model has an intercept that the table does not show",
        replace(design, intercept=True), Printed(values, half),
    )  # fmt: skip


def one_unknown(design: DesignMatrix, printed: Printed, loss: Loss) -> Iterator[Alteration]:
    """Yield the tables in which one coefficient may be any number."""
    plain, first = Objective(design, loss, False, False), int(design.intercept)
    for j in range(len(printed.values)):
        values, half = printed.values.copy(), printed.half_units.copy()
        values[j] = 0.0
        with np.errstate(all="ignore"):
            scores = plain.scores(values)
        best = _alone(design, loss, scores, None if j < first else design.X[:, j - first])
        if best is None:
            continue
        values[j], half[j] = best, UNKNOWN_HALF_UNIT
        name = "intercept" if j < first else f"coefficient of '{design.names[j - first]}'"
        yield Alteration(
            "one coefficient", f"the {name} alone is wrong: every other one fits",
            design, Printed(values, half),
        )  # fmt: skip


def _alone(
    design: DesignMatrix, loss: Loss, scores: np.ndarray, column: np.ndarray | None
) -> float | None:
    """Return the best coefficient of a column (None: the intercept) beside given scores."""
    X = np.empty((len(design.y), 0)) if column is None else column[:, None]
    offset = scores
    if loss == "gaussian" and design.offset is not None:
        offset = scores + design.offset
    alone = replace(
        design, X=X, names=("",) * X.shape[1], intercept=column is None, offset=offset
    )  # fmt: skip
    try:
        with np.errstate(all="ignore"):
            best = minimize(Objective(alone, loss, False, False), 0.0, 0.0, np.zeros(1))
    except NoOptimumError:
        return None
    return float(best.v[0])
