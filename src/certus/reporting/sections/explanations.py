"""The collapsed "What is this?" of each section: two sentences, a formula, and who defines it."""

from ..content.document import ReportContent
from ..content.values import Explanation
from .parts.mathml import from_text

# section: two sentences, a formula in one line, the module that defines it
TEXTS = {
    "verdict": (
        "The score is that of the whole procedure, with the choice of the model and of its "
        "parameters, on rows that took no part in it. The interval says how much it would vary "
        "with other rows of the same kind.",
        "", "certus.reporting.procedure.measures",
    ),
    "comparison": (
        "Each model was scored on inner folds, and the simplest one within one standard error of "
        "the best was chosen. Its score here helped to choose it, so it is a little too good; the "
        "verdict's is not.",
        "score(chosen) ≥ score(best) − se(best)", "certus.reporting.procedure.choose",
    ),
    "certificates": (
        "A certificate is a claim about a fitted model, such as that no other coefficients have a "
        "smaller objective, recomputed from the rows without the solver. It says that the "
        "arithmetic is right, not that the model is useful.",
        "objective − bound ≤ gap", "certus.definitions",
    ),
    "headroom": (
        "A boosted tree, which nobody can read or certify, went through the same folds as a "
        "reference. The difference is what is given up for a model that can be checked.",
        "score(tree) − score(chosen)", "certus.reporting.procedure.reference",
    ),
    "measures": (
        "At a threshold each row is answered with yes or no, and right and wrong answers are "
        "counted in each class. A lower threshold finds more and raises more false alarms.",
        "sensitivity = TP/(TP + FN), specificity = TN/(TN + FP), precision = TP/(TP + FP)",
        "certus.metrics.imbalance",
    ),
    "calibration": (
        "Rows with a predicted probability of 20 % should turn out positive in 20 % of cases. Each "
        "point compares the mean prediction of a tenth of the rows with what was observed.",
        "logit P(y = 1) = a + b logit p, a = 0, b = 1", "certus.metrics.brier",
    ),
    "uses": (
        "Each line says how the answer changes if one column changes and all others stay. It "
        "describes the model, and is no proof that the column is a cause.",
        "z = b + Σ wⱼxⱼ", "certus.inference",
    ),
    "what-if": (
        "The page holds the coefficients, so your browser can compute the answer for any position "
        "of the sliders. No row of the table is part of it.",
        "z = b + Σ wⱼxⱼ", "certus.reporting.sections.what_if",
    ),
    "ceiling": (
        "With endlessly many rows, the error of one nearest neighbour is at most twice that of the "
        "best possible model. Half of it and all of it therefore bracket what any model can reach "
        "with these columns.",
        "(K − 1)/K · (1 − √(1 − K R/(K − 1))) ≤ R* ≤ R", "certus.neighbors.bayes_error",
    ),
    "structure": (
        "Rows that are alike were joined step by step, and the evidence that groups exist was "
        "measured against rows without groups. Columns that say nearly the same were joined "
        "likewise.",
        "", "certus.cluster",
    ),
    "cases": (
        "Three rows show how an answer comes about: a usual one, one at the threshold, and the "
        "surest mistake. Neighbours are the rows nearest to it when each column is divided by its "
        "standard deviation.",
        "d(x, z)² = Σ (xⱼ − zⱼ)²/sⱼ²", "certus.neighbors",
    ),
    "table-one": (
        "Each column is described within each outcome, with its missing values. Events per "
        "parameter are the rows of the rarer class for each coefficient: below 10, coefficients "
        "are unstable.",
        "n(events)/n(coefficients)",
        "certus.reporting.sections.table_one",
    ),
    "problems": (
        "These checks look for what most often makes a result wrong: copies, columns that give the "
        "answer away, hidden groups, odd values. Each has a stable code, a reason and a remedy.",
        "", "certus.reporting.sections.problems",
    ),
    "subgroups": (
        "The same answers are scored within each group, or over time. With few rows a difference "
        "is often chance: compare the intervals.",
        "", "certus.reporting.sections.subgroups",
    ),
    "unchecked": (
        "No report checks everything. These checks were not made here, or do not apply, each for "
        "the reason given.",
        "", "certus.reporting.sections.unchecked",
    ),
    "reproduce": (
        "The snippet repeats the whole procedure and prints the verdict's number. The command "
        "below recomputes the certificate of the model file from the table.",
        "", "certus.reporting.report",
    ),
}  # fmt: skip
OF_NUMBERS = {
    "cases": (
        "Three rows show how an answer comes about: one with a usual error, one with a large, and "
        "one with the largest. Neighbours are the rows nearest to it when each column is divided "
        "by its standard deviation; targets are told by tenths, from the lowest.",
        "d(x, z)² = Σ (xⱼ − zⱼ)²/sⱼ²", "certus.neighbors",
    ),
    "measures": (
        "Errors are differences between what was observed and what was predicted, in the target's "
        "unit. Quantiles show how large they are for most rows.",
        "MAE = Σ |yᵢ − ŷᵢ|/n, RMSE = √(Σ (yᵢ − ŷᵢ)²/n)",
        "certus.reporting.sections.measures",
    ),
    "calibration": (
        "Rows with a prediction of 20 should be 20 on average. Each point compares the mean "
        "prediction of a tenth of the rows with the mean of what was observed.",
        "y = a + b ŷ, a = 0, b = 1", "certus.reporting.sections.calibration",
    ),
}  # fmt: skip
OF_CLASSES = {
    "measures": (
        "Each row is answered with its most probable class, and right and wrong answers are "
        "counted by class. Recall is the share of a class that is found; precision is the share of "
        "its answers that are right.",
        "recallₖ = nₖₖ/Σⱼ nₖⱼ, precisionₖ = nₖₖ/Σⱼ nⱼₖ",
        "certus.reporting.sections.measures",
    ),
    "calibration": (
        "Answers with a probability of 80 % should be right in 80 % of cases. Each point compares "
        "the mean probability of the answers in a tenth of the rows with the share that was right.",
        "", "certus.reporting.sections.calibration",
    ),
}  # fmt: skip
FORMULAS_OF_MEASURE = {
    "two classes": "AUC = P(p₁ > p₀) + ½ P(p₁ = p₀)",
    "numbers": "R² = 1 − Σ (yᵢ − ŷᵢ)²/Σ (yᵢ − ȳ)²",
}
FORMULAS_OF_LINKS = {
    "logistic": "p = 1/(1 + exp(−z)), z = b + Σ wⱼxⱼ",
    "softmax": "pₖ = exp(zₖ)/Σₗ exp(zₗ), zₖ = bₖ + Σ wₖⱼxⱼ",
    "cumulative": "P(y ≤ k) = 1/(1 + exp(−(cₖ − z))), z = Σ wⱼxⱼ",
    "identity": "ŷ = b + Σ wⱼxⱼ",
}


def make(content: ReportContent) -> tuple[tuple[str, Explanation], ...]:
    """An explanation of every section, by its id."""
    task = content.question.task
    by_task = {"numbers": OF_NUMBERS, "classes": OF_CLASSES, "ordered classes": OF_CLASSES}
    texts = {**TEXTS, **by_task.get(task, {})}
    return tuple(
        (section, Explanation(sentences, from_text(_formula(content, section, formula)),
                              _definition(content, section, module)))
        for section, (sentences, formula, module) in texts.items()
    )  # fmt: skip


def _formula(content: ReportContent, section: str, formula: str) -> str:
    """The formula of this report's task or model, or the general one."""
    if section == "verdict":
        return FORMULAS_OF_MEASURE.get(content.question.task, "")
    if section in ("uses", "what-if") and content.what_if is not None:
        return FORMULAS_OF_LINKS[content.what_if.link]
    if section == "uses" and content.uses is not None and content.uses.kind == "weights":
        return "d(x, z) = Σ Wⱼ|xⱼ − zⱼ|"
    if section in ("uses", "what-if") and content.what_if is None:
        return ""
    return formula


def _definition(content: ReportContent, section: str, module: str) -> str:
    boxes = content.certificates.boxes
    return boxes[0].definition if section == "certificates" and boxes else module
