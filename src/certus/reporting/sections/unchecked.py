"""Section 12: what was not checked, and why. A reader must not take silence for approval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..content.data import Problems, Unchecked

if TYPE_CHECKING:
    from ..prepared import Prepared, PreparedTest
    from ..settings import Settings

GENERAL_LIMITS = (
    Unchecked(
        "Cause and effect",
        "The page says what predicts the target, not what changes it. Coefficients are no effects "
        "of an intervention, whatever their intervals.",
    ),
    Unchecked(
        "Errors of measurement",
        "Values are taken as they are. If they are noisier, or measured in another way, where the "
        "model is used, it does worse there.",
    ),
    Unchecked(
        "Whether the rows represent those to be predicted",
        "The file does not say how its rows were chosen, nor who is missing from it.",
    ),
    Unchecked(
        "Whether each column is known when you predict",
        "Only D-LEAK's suspicion was looked for; when a value is recorded is not in the file.",
    ),
    Unchecked(
        "Drift after today",
        "What the rows do not show yet cannot be tested. Compare later rows with these "
        "(certus report --against).",
    ),
)


def collect(
    prepared: "Prepared",
    settings: "Settings",
    parts: Sequence[Unchecked] = (),
    *,
    test: "PreparedTest | None" = None,
    problems: Problems | None = None,
) -> tuple[Unchecked, ...]:
    """Return every check that was not made: those of the options, of the sections, and of no file.

    ``problems``: those that were found; codes that are in neither of its lists did not apply.
    """
    if settings.cluster:
        return (*_rows(settings), *parts, *GENERAL_LIMITS[1:3])
    return (
        *_validation(settings, test), *_rows(settings), *_groups(settings),
        *_costs(prepared, settings), *_codes(prepared, problems), *parts, *GENERAL_LIMITS,
    )  # fmt: skip


def _validation(settings: "Settings", test: "PreparedTest | None") -> list[Unchecked]:
    if test is not None:
        return [Unchecked(
            "Other places and other people",
            f"The rows of {test.source} were tested. Whether they come from another place or time "
            "than the others, only you know.",
        )]  # fmt: skip
    found = [Unchecked(
        "Rows from elsewhere (external validation)",
        "All rows are from one file, and folds of it are more alike than rows of another place or "
        "year. Give --test FILE.",
    )]  # fmt: skip
    if settings.time is None:
        found.append(Unchecked(
            "Change over time",
            "No --time was given, so folds mix early and late rows. If rows were collected over "
            "months, give it.",
        ))  # fmt: skip
    return found


def _rows(settings: "Settings") -> list[Unchecked]:
    found = []
    if settings.group is None and not settings.cluster:
        found.append(Unchecked(
            "Several rows of one unit",
            "No --group was given, so rows were treated as independent. D-GROUP looks for signs "
            "only: if a patient, a machine or a day has several rows, name it.",
        ))  # fmt: skip
    if settings.weights is None:
        found.append(Unchecked(
            "Sampling weights",
            "No --weights was given: every row counts once. Results are those of the file's rows, "
            "not of a population that was sampled unevenly.",
        ))  # fmt: skip
    return found


def _groups(settings: "Settings") -> list[Unchecked]:
    if settings.by:
        return [Unchecked(
            "Fairness",
            "Section 11 shows how groups fare. Which differences are acceptable is not a question "
            "of numbers, and groups that are not in the file cannot be compared.",
        )]  # fmt: skip
    return [Unchecked(
        "Groups that fare worse (fairness)",
        "No --by was given. Name the columns (sex, region, site) for which the model should be as "
        "good.",
    )]  # fmt: skip


def _costs(prepared: "Prepared", settings: "Settings") -> list[Unchecked]:
    given = settings.cost_false_positive is not None or settings.cost_false_negative is not None
    if prepared.task != "two classes" or given:
        return []
    return [Unchecked(
        "What errors cost",
        "No --cost was given, so the threshold does not know which error is worse. Give "
        "--cost fp=1,fn=5 if a missed case is five times as bad.",
    )]  # fmt: skip


def _codes(prepared: "Prepared", problems: Problems | None) -> list[Unchecked]:
    if problems is None:
        return []
    made = {*problems.checked, *(p.code for p in problems.problems)}
    reasons = {
        "D-SHIFT": ("Rows that differ between files or over time (D-SHIFT)",
                    "There is neither --test nor --time to compare, or there are too few rows."),
        "D-LEAK": ("Columns that give the target away (D-LEAK)",
                   "The rarest class has so few rows that a column can separate it by chance."),
        "D-LABEL": ("Suspicious targets (D-LABEL)",
                    "There are too few rows to compare neighbours."),
    }  # fmt: skip
    if prepared.groups is None:
        reasons["D-GROUP"] = (
            "Signs of several rows of one unit (D-GROUP)",
            "There are too few rows.",
        )
    return [Unchecked(*reason) for code, reason in reasons.items() if code not in made]
