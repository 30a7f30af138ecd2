"""Which section answers which item of TRIPOD+AI, and which items the author has to write.

TRIPOD+AI (Collins et al., BMJ 2024;385:e078378) lists 27 main items, 52 with their parts, to report
of a study that develops or evaluates a prediction model. Topics are in our own short words; the
checklist itself is at doi.org/10.1136/bmj-2023-078378.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..content.document import CrosswalkItem, ReportContent

SECTIONS = {
    "verdict": "Section 1", "certificates": "Section 2", "measures": "Section 3",
    "calibration": "Section 4", "uses": "Section 5", "ceiling": "Section 6",
    "structure": "Section 7", "cases": "Section 8", "table-one": "Section 9",
    "problems": "Section 10", "subgroups": "Section 11", "unchecked": "Section 12",
    "reproduce": "Section 13",
}  # fmt: skip
AUTHOR = "You must write this."


class TripodItem(NamedTuple):
    """An item of the statement, the section that answers it if the page has it, and a hint."""

    item: str
    topic: str
    section: str | None  # None: the author writes it
    hint: str  # what the section has, and what is left to the author


ITEMS = (
    TripodItem("1", "Title: development or evaluation, population, outcome", None,
               "Say that a model was developed, for whom, and what it predicts."),
    TripodItem("2", "Abstract", None, "The verdict's sentences and interval belong in it."),
    TripodItem("3a", "Background: context, reason, existing models", None,
               "Why a model is needed, and what there is already."),
    TripodItem("3b", "Background: target population, purpose, users", None,
               "Whose outcome is predicted, when, for whose decision."),
    TripodItem("3c", "Background: known inequalities between groups", None,
               "Who is treated or measured differently today."),
    TripodItem("4", "Objectives: development, evaluation or both", None,
               "This page develops a model and evaluates it by resampling."),
    TripodItem("5a", "Data: sources and how representative they are", None,
               "Where the file comes from, and whom it leaves out."),
    TripodItem("5b", "Data: dates of collection", None, "First and last date, end of follow-up."),
    TripodItem("6a", "Participants: setting and places", None, "Where, and in how many places."),
    TripodItem("6b", "Participants: who was eligible", None,
               "Criteria; Section 9 lists rows that were left out afterwards."),
    TripodItem("6c", "Participants: treatments", None, "If there were any."),
    TripodItem("7", "Data preparation and quality checks", "problems",
               "Checks and what was done; add what happened before the file was written."),
    TripodItem("8a", "Outcome: definition, time horizon, how assessed", None,
               "What the target means, and when it was established."),
    TripodItem("8b", "Outcome: who assessed it, if that takes judgement", None,
               "Or: no judgement."),
    TripodItem("8c", "Outcome: blinding of its assessment", None,
               "Did assessors know the predictors?"),
    TripodItem("9a", "Predictors: initial choice and pre-selection", None,
               "Why these columns; Section 9 lists those that were dropped."),
    TripodItem("9b", "Predictors: definition, when and how measured", None,
               "Each is known before the outcome? See D-LEAK in Section 10."),
    TripodItem("9c", "Predictors: who assessed them, if that takes judgement", None,
               "Or: no judgement."),
    TripodItem("10", "Sample size: how it was arrived at", None,
               "Section 9 has the number of events per parameter; the reason is yours."),
    TripodItem("11", "Missing data: handling", "table-one",
               "How much is missing and how it was filled; add why it is missing."),
    TripodItem("12a", "Analysis: how data were used and divided", "verdict",
               "Outer and inner folds."),
    TripodItem("12b", "Analysis: how predictors entered the model", "reproduce",
               "The steps before the model, as code."),
    TripodItem("12c", "Analysis: type of model, building, tuning, internal validation", "verdict",
               "Models compared, the rule that chose, folds."),
    TripodItem("12d", "Analysis: differences between clusters (places, times)", "subgroups",
               "By the columns given with --by and --time."),
    TripodItem("12e", "Analysis: measures and plots", "measures",
               "With what each means; add why they suit the decision."),
    TripodItem("12f", "Analysis: updating after evaluation", "calibration",
               "Whether probabilities were recalibrated."),
    TripodItem("12g", "Analysis: how predictions were calculated", "reproduce",
               "Code and model file."),
    TripodItem("13", "Class imbalance: methods and recalibration", "calibration",
               "Rows were not resampled; thresholds follow costs."),
    TripodItem("14", "Fairness: approaches", None,
               "None is applied; --by shows how groups fare, the judgement is yours."),
    TripodItem("15", "Model output and thresholds", "measures",
               "The threshold and its reason; the costs of errors are yours."),
    TripodItem("16", "Training versus evaluation: differences", "problems",
               "D-SHIFT compares columns with --test or over --time."),
    TripodItem("17", "Ethical approval and consent", None,
               "Committee and number, or why not needed."),
    TripodItem("18a", "Funding", None, "Source, and the role of the funder."),
    TripodItem("18b", "Conflicts of interest", None, "Of every author."),
    TripodItem("18c", "Protocol", None, "Where it is, or that there is none."),
    TripodItem("18d", "Registration", None, "Where and under which number, or that there is none."),
    TripodItem("18e", "Data sharing", None, "This page holds no rows; say who can get them."),
    TripodItem("18f", "Code sharing", "reproduce",
               "The snippet repeats the analysis from the file."),
    TripodItem("19", "Patient and public involvement", None, "Or: none."),
    TripodItem("20a", "Participants: flow and numbers with the outcome", "table-one",
               "Rows left out with reasons, and rows by outcome; follow-up is yours."),
    TripodItem("20b", "Participants: characteristics and missing data", "table-one",
               "Columns by outcome; key dates are yours."),
    TripodItem("20c", "Participants: comparison with the development data", "problems",
               "D-SHIFT, with --test."),
    TripodItem("21", "Model development: rows and events in each analysis", "verdict",
               "Rows and folds; every number has its n."),
    TripodItem("22", "Full model, so that others can use it", "uses",
               "Coefficients in the table's units, and the model file."),
    TripodItem("23a", "Performance with intervals, also in groups", "measures",
               "Intervals throughout; groups in Section 11, with --by."),
    TripodItem("23b", "Performance: differences between clusters", "subgroups",
               "By the columns given with --by and --time."),
    TripodItem("24", "Updating: results", "calibration", "If probabilities were recalibrated."),
    TripodItem("25", "Interpretation, fairness included", None,
               "What the result means for those concerned."),
    TripodItem("26", "Limitations", "unchecked",
               "What was not checked; what that means for your study is yours."),
    TripodItem("27a", "Use: inputs that are poor or missing", None,
               "Missing inputs are filled with medians; say whether that is acceptable."),
    TripodItem("27b", "Use: what users must do and know", None, "Who enters what, and when."),
    TripodItem("27c", "Use: next steps", None, "Evaluation on new rows, elsewhere, later."),
)  # fmt: skip


def items(content: ReportContent) -> tuple[CrosswalkItem, ...]:
    """Return all items with the section that answers each, if this page has it."""
    rows = []
    for item in ITEMS:
        section = item.section if item.section and SECTION_TESTS[item.section](content) else None
        if section is None:
            answer = f"{AUTHOR} {_hint_without_section(item)}"
        else:
            answer = f"{SECTIONS[section]}. {item.hint}"
        rows.append(CrosswalkItem(item.item, item.topic, answer, section))
    return tuple(rows)


def _hint_without_section(item: TripodItem) -> str:
    if item.section is None:
        return item.hint
    if item.section == "subgroups":
        return "Give --by or --time to have it on this page."
    return "This page does not have it; Section 12 says why."


SECTION_TESTS: dict[str, Callable[[ReportContent], bool]] = {
    "verdict": lambda c: True,
    "certificates": lambda c: True,
    "measures": lambda c: c.measures is not None,
    "calibration": lambda c: c.calibration is not None,
    "uses": lambda c: c.uses is not None,
    "ceiling": lambda c: c.ceiling is not None,
    "structure": lambda c: c.structure is not None,
    "cases": lambda c: c.cases is not None,
    "table-one": lambda c: c.table_one is not None,
    "problems": lambda c: True,
    "subgroups": lambda c: bool(c.subgroups),
    "unchecked": lambda c: True,
    "reproduce": lambda c: True,
}
