"""A result of ``staleness`` in words."""

from typing import TYPE_CHECKING

from ..text.box import box, preformatted
from ..text.format import count, listed, number, printable
from ..text.table import ResultTable

if TYPE_CHECKING:
    from .result import RefitGain, StalenessResult

MARKS = {"no sign of drift": "[OK]", "the model is stale": "[!!]"}
ICONS = {"no sign of drift": "✔", "the model is stale": "✖"}
TITLES = {"no sign of drift": "NO SIGN OF DRIFT", "the model is stale": "STALE"}
DOES_NOT_SAY = {
    "no sign of drift": "that nothing has changed; only that these rows do not show it",
    "the model is stale": "what changed, nor that a refit on these rows alone will do better",
}


def one_line(result: "StalenessResult") -> str:
    """The result as its repr shows it."""
    return printable(f"StalenessResult({result.verdict}: {summary(result.all_rows, result)})")


def summary(gain: "RefitGain", result: "StalenessResult") -> str:
    """A refit lowers the loss by 3.1 %; chance explains 2.8 %."""
    if gain.gain is None or gain.chance is None or gain.pvalue is None:
        return gain.reason
    if gain.gain <= 0:
        return f"a refit does not lower the {result.loss_name}; p = {probability(gain.pvalue)}"
    return (
        f"a refit lowers the {result.loss_name} by {percent(gain.gain)}; chance explains "
        f"{percent(gain.chance)}; p = {probability(gain.pvalue)}"
    )


def percent(share: float) -> str:
    """A share in percent, two digits."""
    return f"{number(100 * share, 2)} %"


def probability(p: float) -> str:
    """A p-value."""
    return "< 0.0001" if p < 1e-4 else number(p, 2)


def explain(result: "StalenessResult") -> str:
    """The whole finding as text."""
    gain, shape = result.all_rows, f"{count(result.all_rows.n, 'new row')}"
    mark = MARKS.get(result.verdict, "[?]")
    title = TITLES.get(result.verdict, result.verdict.upper())
    first = f"{mark} {title}   {result.model}, {shape} × {count(result.n_columns, 'column')}"
    lines = [f"{label:<14} {text}" for label, text in _lines(result, gain)]
    if result.periods:
        lines += ["", str(periods(result)), ""]
    lines += [f"{'Note':<14} {text}." for text in result.notes]
    if result.verdict in DOES_NOT_SAY:
        lines.append(f"{'Does not say':<14} {DOES_NOT_SAY[result.verdict]}")
    return printable("\n".join([first, *lines]))


def _lines(result: "StalenessResult", gain: "RefitGain") -> list[tuple[str, str]]:
    loss = result.loss_name.capitalize()
    if gain.gain is None or gain.loss_of_refit is None or gain.certificate is None:
        return [
            (loss if len(loss) <= 14 else "Loss", f"{number(gain.loss, 4)} by the old model"),
            ("No refit", gain.reason),
        ]
    lines = [
        ("Gain", f"{summary(gain, result)}"),
        ("Loss", f"{result.loss_name} {number(gain.loss, 5)} by the old model, "
                 f"{number(gain.loss_of_refit, 5)} by a refit, on the new rows"),
        ("Chance", _chance(result, gain)),
    ]  # fmt: skip
    if result.stale_periods:
        lines.append(("Stale in", listed(list(result.stale_periods))))
    c = gain.certificate
    lines.append(("Refit", f"{repr(c)[len('Certificate(') : -1]}"))
    if result.stale:
        lines.append(("What to do", "fit again, on these rows or on old and new ones"))
    elif gain.verdict.startswith("undecided"):
        lines.append(("What to do", "give n_old=, the number of rows that the model was fitted on"))
    return lines


def _chance(result: "StalenessResult", gain: "RefitGain") -> str:
    assert gain.chance is not None
    assert gain.chance_high is not None
    sure = number(100 * (1 - result.level), 3)
    old = "old coefficients taken as exact"
    if result.n_old is not None:
        old = f"the old fit had {count(result.n_old, 'row')}"
    how = result.method
    if gain.n_parameters is not None:
        how += f", {count(gain.n_parameters, 'parameter')}"
    text = (
        f"{percent(gain.chance)} on average, below {percent(gain.chance_high)} in {sure} of 100 "
        f"tables without drift ({how}; {old})"
    )
    if gain.stale_above is not None:
        text += f"; ruled out if the old fit had more than {number(gain.stale_above, 3)} rows"
    return text


def periods(result: "StalenessResult") -> ResultTable:
    """Return a table with a line for each period."""
    lines = result.periods
    return ResultTable(
        {
            "period": [str(p.name) for p in lines],
            "rows": [f"{p.n:,}" for p in lines],
            "loss": [number(p.loss, 4) for p in lines],
            "gain": ["" if p.gain is None else percent(p.gain) for p in lines],
            "by chance": ["" if p.chance is None else percent(p.chance) for p in lines],
            "p": ["" if p.pvalue is None else probability(p.pvalue) for p in lines],
            "verdict": [p.verdict + (f": {p.reason}" if p.reason else "") for p in lines],
        }
    )


def html(result: "StalenessResult") -> str:
    """The result as a box in a notebook."""
    icon = ICONS.get(result.verdict, "◐")
    head = result.verdict.capitalize()
    text = summary(result.all_rows, result)
    return box("staleness", icon, head, text, preformatted(explain(result)))
