"""Three explained rows: a typical one, a borderline one, and the surest mistake.

Their answers are those of models that had not seen the row. Reasons are of the model that is kept,

    linear models    w·(v − v₀): what each column adds to the score, against the median row v₀
                     (medians, commonest levels)

and neighbours are the nearest rows in standardised columns, for every model. Rows are named by
their number in the file; cells are shown with ``--show-rows`` alone. Without it, what a column adds
has two digits, and of a target of numbers only the tenth is told: neither gives a cell back.
"""

import numpy as np

from ..content.data import Unchecked
from ..content.model import Case, Cases, Vote
from ..content.phrases import digits3, share, signed
from ..prepared import Prepared
from ..procedure.encoding import encoder_for
from ..procedure.result import ProcedureResult
from ..settings import Settings
from .parts.answers import Answered, answered
from .parts.linear import LinearModel, levels_of, linear_model, numbers_of

N_NEIGHBORS, N_REASONS = 5, 5
MIN_ROWS = 10
MAX_ROWS = 50_000  # that are searched for neighbours
CHECK = "Explained cases"
RANGES_OF_ERRORS = ((0.4, 0.6), (0.86, 0.94))  # shares of rows with a smaller error


def make(
    prepared: Prepared, settings: Settings, result: ProcedureResult
) -> tuple[Cases | None, tuple[Unchecked, ...]]:
    """The cases; None with the reason where there are too few rows."""
    found = answered(prepared, result)
    if found.n < MIN_ROWS:
        return None, (Unchecked(CHECK, f"fewer than {MIN_ROWS} rows have an answer"),)
    chosen = choose(prepared, result, found, settings.seed)
    rows = [int(found.rows[i]) for i in chosen.values()]
    reasons = _reasons(prepared, settings, result, rows)
    near = _neighbors(prepared, settings, rows)
    cases = []
    for (kind, i), adds, votes in zip(chosen.items(), reasons, near, strict=True):
        cases.append(_case(prepared, settings, result, found, kind, i, adds, votes))
    why = (
        ""
        if any(reasons)
        else (
            " The chosen model has no contributions of columns, so its neighbours alone are shown."
        )
    )
    text = (
        "Each answer is that of a model that had not seen the row. Rows are named by their number "
        f"in the file, the header not counted.{why}"
    )
    unchecked = (
        () if len(chosen) == 3 else (Unchecked("A wrong case", "every row was answered rightly"),)
    )
    return Cases(text, tuple(cases)), unchecked


# --- which rows -----------------------------------------------------------------------------------


def choose(
    prepared: Prepared, result: ProcedureResult, found: Answered, seed: int
) -> dict[str, int]:
    """Places among the answered rows, by kind.

    Of numbers: an error near the median, one near the 90 % quantile, and the largest. Which row
    near the quantile is drawn: its error is not the quantile that the page shows.
    """
    if prepared.task == "numbers":
        order = np.argsort(np.abs(found.target - found.output), kind="stable")
        rng, last = np.random.default_rng(seed), found.n - 1
        places = [
            int(rng.integers(round(a * last), round(b * last) + 1)) for a, b in RANGES_OF_ERRORS
        ]
        typical, large = (int(order[place]) for place in places)
        return {"typical": typical, "borderline": large, "wrong": int(order[-1])}
    t = 0.5 if result.threshold is None else result.threshold
    if found.output.ndim == 1:
        p = found.output
        right = (p >= t) == (found.target == 1)
        doubt = -np.abs(_log_odds(p) - _log_odds(np.array(t)))  # 0 at the threshold
    else:
        ordered = np.sort(found.output, axis=1)
        p, doubt = found.output.max(axis=1), ordered[:, -2] - ordered[:, -1]
        right = found.output.argmax(axis=1) == found.target
    sureness = -doubt
    among = np.flatnonzero(right) if right.any() else np.arange(found.n)
    middle = float(np.median(sureness[among]))
    typical = int(among[np.argmin(np.abs(sureness[among] - middle))])
    chosen = {"typical": typical, "borderline": int(np.argmax(doubt))}
    wrong = np.flatnonzero(~right)
    if len(wrong):
        chosen["wrong"] = int(wrong[np.argmax(sureness[wrong])])
    return chosen


def _log_odds(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(p / (1 - p)))


def _case(
    prepared: Prepared, settings: Settings, result: ProcedureResult, found: Answered, kind: str,
    i: int, reasons: tuple[tuple[str, float], ...], votes: tuple[Vote, ...],
) -> Case:  # fmt: skip
    row = int(found.rows[i])
    number = int(prepared.row_numbers[row])
    if prepared.task == "numbers":
        predicted, actual, probability = digits3(float(found.output[i])), _actual(
            prepared, settings, row), None  # fmt: skip
    else:
        if found.output.ndim == 1:
            assert prepared.positive is not None
            t = 0.5 if result.threshold is None else result.threshold
            is_positive = bool(found.output[i] >= t)
            k = prepared.positive if is_positive else 1 - prepared.positive
            p = float(found.output[i])
            probability = p if is_positive else 1 - p
        else:
            k = int(found.output[i].argmax())
            probability = float(found.output[i, k])
        predicted, actual = prepared.classes[k], prepared.classes[int(prepared.codes()[row])]
    text = _text(prepared, result, kind, predicted, probability, reasons)
    cells = _cells(prepared, row) if settings.show_rows else ()
    return Case(kind, number, predicted, probability, actual, text, reasons, votes, cells)


def _actual(prepared: Prepared, settings: Settings, row: int) -> str:
    """The number itself with ``show_rows``, else in which tenth of all rows it is."""
    value = float(prepared.y[row])
    if settings.show_rows:
        return digits3(value)
    tenth = int(10 * float(np.mean(prepared.y < value))) + 1
    return {1: "lowest tenth", 10: "highest tenth"}.get(tenth, f"tenth {tenth} of 10")


def _cells(prepared: Prepared, row: int) -> tuple[tuple[str, str], ...]:
    names = prepared.X.column_names
    values = [prepared.X.column(name)[row].as_py() for name in names]
    return tuple(
        (name, "missing" if value is None else str(value))
        for name, value in zip(names, values, strict=True)
    )


# --- reasons and neighbours -----------------------------------------------------------------------


def _reasons(
    prepared: Prepared, settings: Settings, result: ProcedureResult, rows: list[int]
) -> list[tuple[tuple[str, float], ...]]:
    """The columns that add most to the score, against the median row; none without a sum."""
    linear = linear_model(prepared, result)
    if linear is None:
        return [()] * len(rows)
    A = np.asarray(result.pipeline[:-1].transform(prepared.X.take(rows)), dtype=float)
    difference = A - median_row(prepared, result, linear)
    made = []
    for i, row in enumerate(rows):
        k = (
            0
            if len(linear.w) == 1
            else int(result.outer.output[row].argmax() if result.outer.output.ndim == 2 else 0)
        )
        added = {
            column.name: float(sum(linear.w[k, j] * difference[i, j] for j in places))
            for column in prepared.columns
            if (places := linear.places(column.name))
        }
        largest = sorted(added.items(), key=lambda pair: -abs(pair[1]))[:N_REASONS]
        digits = 3 if settings.show_rows else 2
        made.append(tuple((name, float(f"{adds:.{digits}g}")) for name, adds in largest if adds))
    return made


def median_row(prepared: Prepared, result: ProcedureResult, linear: LinearModel) -> np.ndarray:
    """Encoded values of a row of medians and commonest levels."""
    middle = np.zeros(len(linear.steps))
    for column in prepared.columns:
        places = linear.places(column.name)
        if not places:
            continue
        if column.role == "number":
            step, values = linear.steps[places[0]], numbers_of(prepared, column.name)
            if len(values):
                middle[places[0]] = (float(np.median(values)) - step.shift) / step.scale
        else:
            for j in places:
                middle[j] = -linear.steps[j].shift / linear.steps[j].scale
            levels = levels_of(prepared, linear, column.name)[0]
            for j, weight in levels[0].shares if levels else ():
                middle[j] += weight / linear.steps[j].scale
    return middle


def _neighbors(prepared: Prepared, settings: Settings, rows: list[int]) -> list[tuple[Vote, ...]]:
    """The nearest other rows in standardised columns, nearest first."""
    A = np.asarray(encoder_for(prepared.columns, prepared.n).fit_transform(prepared.X), dtype=float)
    searched = np.arange(prepared.n)
    if prepared.n > MAX_ROWS:
        drawn = np.random.default_rng(settings.seed).permutation(prepared.n)[:MAX_ROWS]
        searched = np.unique(drawn)
    made = []
    for row in rows:
        others = searched[searched != row]
        distance = np.sqrt(((A[others] - A[row]) ** 2).sum(axis=1))
        nearest = np.argsort(distance, kind="stable")[:N_NEIGHBORS]
        made.append(tuple(
            Vote(int(prepared.row_numbers[others[i]]), _answer(prepared, settings, int(others[i])),
                 float(f"{distance[i]:.3g}"))
            for i in nearest
        ))  # fmt: skip
    return made


def _answer(prepared: Prepared, settings: Settings, row: int) -> str:
    if prepared.task == "numbers":
        return _actual(prepared, settings, row)
    return prepared.classes[int(prepared.codes()[row])]


# --- words ----------------------------------------------------------------------------------------


def _text(
    prepared: Prepared, result: ProcedureResult, kind: str, predicted: str,
    probability: float | None, reasons: tuple[tuple[str, float], ...],
) -> str:  # fmt: skip
    if prepared.task == "numbers":
        start = {
            "typical": "About half of the rows have a smaller error than this one",
            "borderline": "About nine of ten rows have a smaller error",
            "wrong": "The largest error of all",
        }[kind]
    else:
        start = {
            "typical": "Answered rightly, and about as surely as most",
            "borderline": "The row about which the model is least sure",
            "wrong": "Answered wrongly, and of all mistakes the surest",
        }[kind]
        if probability is not None and prepared.positive is not None:
            positive = prepared.classes[prepared.positive]
            p = probability if predicted == positive else 1 - probability
            t = 0.5 if result.threshold is None else result.threshold
            start += f": the probability of '{positive}' is {share(p)}, the threshold {share(t)}"
        elif probability is not None:
            start += f": '{predicted}' has a probability of {share(probability)}"
    if not reasons:
        return f"{start}."
    name, value = reasons[0]
    of = "the prediction" if prepared.task == "numbers" else "the score"
    return f"{start}. Against the median row, '{name}' changes {of} most ({signed(value)})."
