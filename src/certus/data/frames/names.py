"""Names of columns at predict beside those of the fit."""

from collections.abc import Sequence

from ...text.format import listed


def other_columns(fitted: Sequence[str], given: Sequence[str]) -> str | None:
    """Message on missing, extra or reordered columns, with the remedy; None if they agree.

    The first lines are scikit-learn's message, which its users search for.
    """
    fitted, given = list(fitted), list(given)
    if fitted == given:
        return None
    lines = ["The feature names should match those that were passed during fit."]
    extra, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    for heading, columns in (
        ("Feature names unseen at fit time:", extra),
        ("Feature names seen at fit time, yet now missing:", missing),
    ):
        if columns:
            shown = columns if len(columns) <= 6 else [*columns[:5], "..."]
            lines += [heading, *(f"- {name}" for name in shown)]
    known = set(fitted)
    common = [name for name in given if name in known]
    moved = [
        name for name, other in zip(common, _kept(fitted, common), strict=True) if name != other
    ]
    if not extra and not missing:
        lines.append("Feature names must be in the same order as they were in fit.")
    if moved:
        lines.append(f"In another place: {listed([repr(name) for name in moved])}.")
    if missing:
        lines.append("Add the missing ones, then give X[model.feature_names_in_].")
    else:
        lines.append("Give X[model.feature_names_in_].")
    return "\n".join(lines) + "\n"


def _kept(fitted: Sequence[str], common: Sequence[str]) -> list[str]:
    also = set(common)
    return [name for name in fitted if name in also]
