"""audit_coefficients(): is a printed table of coefficients what it says, on these rows?

table ─► digits and terms ─► design ─► every objective of ``presets`` ─► the optimum, certified
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..certificate import TOL
from ..exceptions import TableError, UsageError
from ..runtime.refusals import refuses_in_one_frame
from ..text.format import count
from .certified import conclude
from .matching import Matcher, Matches
from .mistakes import find_mistake
from .presets import Preset, select
from .result import CoefficientAudit
from .rows import AuditedRows, audited_rows
from .table.read_table import read_coefficients

NA = ("error", "omit")


@refuses_in_one_frame
def audit_coefficients(
    table: Any,
    X: Any,
    y: Any,
    *,
    objective: str | None = None,
    penalty: float | Mapping[str, float] | None = None,
    sample_weight: ArrayLike | str | None = None,
    positive_class: Any = None,
    offset: ArrayLike | None = None,
    na: Literal["error", "omit"] = "error",
    tol: float = TOL,
) -> CoefficientAudit:
    """Decide whether a table of coefficients is an optimum on these rows, and of which objective.

    No model is needed: only what a paper, a colleague or another program printed. The objectives
    are those of R's lm, glm and glmnet, scikit-learn, liblinear, Spark, statsmodels and SAS, each
    with its own units of the penalty. Digits count: a table with four significant digits is right
    if the certified optimum rounds to it.

    Parameters
    ----------
    table : frame, mapping from term to estimate, or path of a CSV file
        Terms and estimates, perhaps standard errors: as R's ``broom::tidy``, SAS, Spark and
        statsmodels write them. Numbers of a file, or given as text, keep their digits.
    X : frame, mapping or array
        The columns that the terms were made of: numbers, factors, truth values. Terms are rebuilt:
        levels of factors, ``a:b``, ``I(x^2)``, ``log(x)``.
    y : array-like, or the name of a column of X
    objective : str, optional
        The name of an objective, such as "logistic" or "glmnet.binomial", or the beginning of
        several ("glmnet"). Default: all whose loss suits y.
    penalty : number or dict, optional
        The strength that is stated, in the units of ``objective``: 0.5, or {"lambda": 0.05,
        "alpha": 1}. Default: it is estimated from the table.
    sample_weight : array-like, or the name of a column of X, optional
    positive_class : optional
        The class of y whose probability rises with the scores. Default: the last in order.
    offset : array-like, optional
        A part of each score whose coefficient is 1.
    na : {"error", "omit"}, default="error"
        What to do with rows that have missing values in a column that is used.
    tol : float, default=1e-6
        Gap, as a share of the objective of the intercept alone, up to which coefficients are
        called optimal where their last digits differ.

    Returns
    -------
    CoefficientAudit

    Examples
    --------
    >>> import numpy as np
    >>> import certus
    >>> X = {"x": np.arange(8.0)}
    >>> y = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 8.0, 7.0])
    >>> certus.audit_coefficients({"(Intercept)": "1.25", "x": "0.929"}, X, y)
    CoefficientAudit(optimal to the digits printed: least_squares)
    """
    if na not in NA:
        raise UsageError(f'na={na!r}: use "error" or "omit"')
    if penalty is not None and objective is None:
        raise UsageError("a penalty is in the units of an objective: give objective= as well")
    presets = select(objective)
    read = read_coefficients(table)
    found, data, keep = audited_rows(
        read, X, y, sample_weight, positive_class, offset, na
    )  # fmt: skip
    chosen = _usable(presets, found.losses, objective)
    if offset is not None and found.losses == ("logistic",):
        raise UsageError("there is no proof of a logistic model with an offset: leave it out")
    matcher = Matcher(found.design, found.losses)
    if penalty is None:
        matches = matcher.matches(chosen, found.printed, tol)
    else:
        matches = _stated(matcher, chosen, penalty, found.printed, tol)
    notes = list(read.notes)
    if found.n_omitted:
        notes.append(f"{count(found.n_omitted, 'row')} with missing values left out")
    mistake, what = None, "none of the objectives known fits"
    if not matches.fits:
        _require_slopes(found)
        if objective is not None:
            others = _other_objectives(matcher, found, tol)
            notes += others
            what = "the objective that was named does not fit" if others else what
        if penalty is None:
            mistake = find_mistake(found, data, keep, chosen, tol, matches.nearest)
    return conclude(read, found, matcher, matches, mistake, tuple(notes), tol, what)


def _require_slopes(found: AuditedRows) -> None:
    """Refuse a table without slopes: it is the optimum of every L1 penalty above some strength."""
    slopes = found.printed.values[int(found.design.intercept) :]
    if len(slopes) and not slopes.any():
        raise TableError(
            "every coefficient but the intercept is 0: any L1 penalty that is strong enough gives "
            "this table, so nothing can be told from it. Give one with a coefficient that is not 0"
        )


def _usable(
    presets: Sequence[Preset], losses: Sequence[str], objective: str | None
) -> list[Preset]:
    usable = [one for one in presets if one.loss in losses]
    if not usable:
        raise UsageError(
            f"objective={objective!r} is for another kind of target: y suits {', '.join(losses)}"
        )
    return usable


def _stated(
    matcher: Matcher, presets: Sequence[Preset], penalty: float | Mapping[str, float],
    printed: Any, tol: float,
) -> Matches:  # fmt: skip
    """Judge each preset at the strength that was stated."""
    fits = []
    for preset in presets:
        if not preset.strength:
            continue
        fits.append(matcher.stated(preset, _values(preset, penalty), printed))
    if not fits:
        raise UsageError("penalty= needs an objective with a penalty, such as 'glmnet.gaussian'")
    nearest = min(fits, key=lambda fit: fit.judgement.share)
    good = [
        fit
        for fit in fits
        if fit.judgement.to_the_digits
        or (fit.judgement.optimum is not None and fit.judgement.share <= tol)
    ]
    return Matches(tuple(good), (), nearest.judgement)


def _values(preset: Preset, penalty: float | Mapping[str, float]) -> dict[str, float]:
    """Return a stated penalty by the preset's own names."""
    if not isinstance(penalty, Mapping):
        penalty = {preset.strength: float(penalty)}
    known = [name for name in (preset.strength, preset.share) if name]
    wrong = [name for name in penalty if name not in known]
    if wrong or preset.strength not in penalty:
        raise UsageError(
            f"penalty={dict(penalty)!r}: {preset.name} takes {' and '.join(map(repr, known))}"
        )
    values = {name: float(value) for name, value in penalty.items()}
    low = [name for name, value in values.items() if not (value >= 0 and np.isfinite(value))]
    if low or values.get(preset.share, 0.0) > 1:
        raise UsageError(f"penalty={dict(penalty)!r}: strengths are not negative, shares 0 to 1")
    return {preset.strength: values[preset.strength], **(
        {preset.share: values.get(preset.share, preset.default_share)} if preset.share else {}
    )}  # fmt: skip


def _other_objectives(matcher: Matcher, found: Any, tol: float) -> list[str]:
    """Return a note on the objectives that do fit, where the one that was named does not."""
    others = matcher.matches(select(None), found.printed, tol)
    if not others.fits:
        return []
    return [f"it is an optimum of another objective: {', '.join(f.words for f in others.fits[:3])}"]
