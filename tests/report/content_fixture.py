"""A whole report made by hand: what renderers are tested with. Nothing in it was computed.

``content(task)`` for "two classes", "classes", "numbers" and "structure".
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from certus.reporting.content.answer import (
    Candidate,
    Ceiling,
    CertificateBox,
    Certificates,
    ClassCount,
    Headroom,
    ModelComparison,
    Question,
    Verdict,
)
from certus.reporting.content.data import (
    DataProblem,
    Dendrogram,
    Merge,
    Problems,
    Structure,
    Subgroup,
    Subgroups,
    TableOne,
    Unchecked,
)
from certus.reporting.content.document import (
    Against,
    Change,
    CrosswalkItem,
    ReportContent,
    Reproduction,
)
from certus.reporting.content.model import (
    Case,
    Cases,
    Effect,
    SelectedColumn,
    Slider,
    Vote,
    WhatIf,
    WhatItUses,
)
from certus.reporting.content.performance import (
    Calibration,
    CalibrationBin,
    Measures,
    ThresholdCounts,
)
from certus.reporting.content.values import (
    Explanation,
    Interval,
    MeasureEstimate,
    Note,
    ReportTable,
    TableColumn,
)

MATHML = (
    "<mrow><mo>Σ</mo><mi>log</mi><mo>(</mo><mn>1</mn><mo>+</mo><mi>exp</mi><mo>(</mo><mo>−</mo>"
    "<msub><mi>y</mi><mi>i</mi></msub><msub><mi>z</mi><mi>i</mi></msub><mo>)</mo><mo>)</mo></mrow>"
)
N, N_POSITIVE = 1599, 63
COLUMNS = (
    "volatile acidity",
    "sulphates",
    "alcohol",
    "total sulfur dioxide",
    "pH",
    "density",
    "chlorides",
    "residual sugar",
    "citric acid",
    "fixed acidity",
    "free sulfur dioxide",
)


def content(task: str = "two classes") -> ReportContent:
    """A whole report of this task."""
    make = {
        "two classes": two_classes,
        "classes": classes,
        "numbers": numbers,
        "structure": structure_only,
    }
    return make[task]()


def two_classes() -> ReportContent:
    """Poor wines."""
    return ReportContent(
        title="Can ‘poor’ be predicted? red-wine.csv",
        certus_version="1.0.0",
        question=Question(
            source="red-wine.csv",
            target="poor",
            task="two classes",
            n_rows=N,
            n_columns=11,
            classes=(ClassCount("yes", N_POSITIVE), ClassCount("no", N - N_POSITIVE)),
            positive="yes",
            positive_reason="the rarer class",
            reading=("red-wine.csv: CSV, 1,599 rows", "delimiter: semicolon, decimal point, utf-8"),
            notes=(Note("240 rows repeat others: they stay in one fold.", "warning"),),
        ),
        verdict=Verdict(
            kind="yes",
            headline="Yes, moderately.",
            text="On rows it had not seen, the chosen model ranks a row with poor = yes above "
            "another 72 % of the time (AUC 0.72, 95 % interval 0.65–0.79; guessing 0.50; 1,599 "
            "rows, 63 yes).",
            measure=MeasureEstimate(
                "AUC",
                0.7214,
                N,
                Interval(0.6512, 0.7931),
                0.5,
                "how often a row of ‘yes’ is ranked above one of ‘no’",
            ),
            others=(
                MeasureEstimate(
                    "Brier score",
                    0.0361,
                    N,
                    Interval(0.0301, 0.0424),
                    0.0378,
                    "mean squared error of the probability; 0 is perfect",
                ),
            ),
            how="5 outer folds; in each, 6 models were compared on 5 inner folds.",
        ),
        comparison=comparison(),
        certificates=Certificates(
            (
                certificate_box(),
                replace(
                    certificate_box(),
                    model="k nearest neighbours",
                    status="exact",
                    line="exact: 200 of 200 recomputed answers agree",
                    formula="the k nearest rows vote",
                    mathml="",
                    definition="certus.definitions.neighbors",
                    definition_lines=78,
                ),
            ),
            "A certificate is about the arithmetic: the model is the best of its kind for these "
            "rows. Whether it is of any use is the verdict's question.",
        ),
        headroom=Headroom(
            "AUC",
            MeasureEstimate("AUC", 0.79, N, Interval(0.72, 0.85), 0.5),
            MeasureEstimate("AUC", 0.7214, N, Interval(0.6512, 0.7931), 0.5),
            0.0686,
            Interval(0.011, 0.124),
            "A boosted tree reaches AUC 0.79; you give up 0.07 (95 % interval 0.01–0.12) for a "
            "model you can read and check.",
        ),
        measures=Measures(
            text="63 of 1,599 rows are ‘yes’. At the threshold 0.048 the model finds 41 of them "
            "and raises 407 false alarms.",
            estimates=(
                MeasureEstimate(
                    "sensitivity", 0.651, 63, Interval(0.52, 0.766), 0.0, "share of ‘yes’ found"
                ),
                MeasureEstimate(
                    "specificity",
                    0.735,
                    1536,
                    Interval(0.712, 0.757),
                    1.0,
                    "share of ‘no’ without an alarm",
                ),
                MeasureEstimate(
                    "precision",
                    0.0915,
                    448,
                    Interval(0.066, 0.122),
                    None,
                    "share of alarms that are right",
                ),
                MeasureEstimate("F", 0.16, N, Interval(0.12, 0.21), 0.0),
                MeasureEstimate("G-mean", 0.69, N, Interval(0.61, 0.76), 0.0),
            ),
            counts=threshold_counts(),
            deciles=ReportTable(
                "Tenths of the rows, most likely first",
                (
                    TableColumn("tenth", "count"),
                    TableColumn("rows", "count"),
                    TableColumn("yes", "count"),
                    TableColumn("mean probability", "share"),
                    TableColumn("observed", "share"),
                ),
                tuple(
                    (k + 1, 160 - (k == 9), e, p, e / 160)
                    for k, (e, p) in enumerate(
                        zip(
                            (21, 12, 9, 6, 4, 4, 3, 2, 1, 1),
                            (0.13, 0.073, 0.051, 0.039, 0.03, 0.024, 0.019, 0.014, 0.009, 0.004),
                            strict=True,
                        )
                    )
                ),
            ),
            areas=(
                MeasureEstimate("AUC", 0.7214, N, Interval(0.6512, 0.7931), 0.5),
                MeasureEstimate("average precision", 0.114, N, Interval(0.08, 0.17), 0.0394),
                MeasureEstimate("Gini", 0.443, N, Interval(0.302, 0.586), 0.0, "2 AUC − 1"),
                MeasureEstimate("KS", 0.39, N, Interval(0.28, 0.51), 0.0),
            ),
        ),
        calibration=Calibration(
            text="Probabilities are about right: of 100 rows with 10 %, about 9 are ‘yes’.",
            bins=tuple(
                CalibrationBin(p, o, 160, Interval(max(o - 0.02, 0.0), o + 0.04))
                for p, o in zip(
                    np.linspace(0.004, 0.13, 10).tolist(),
                    np.linspace(0.006, 0.12, 10).tolist(),
                    strict=True,
                )
            ),
            slope=MeasureEstimate("slope", 0.93, N, Interval(0.68, 1.18), 1.0),
            intercept=MeasureEstimate("intercept", -0.02, N, Interval(-0.27, 0.23), 0.0),
            brier=MeasureEstimate("Brier score", 0.0361, N, Interval(0.0301, 0.0424), 0.0378),
            before="Not recalibrated: the model's own probabilities.",
        ),
        uses=WhatItUses(
            "odds ratios",
            "Odds of ‘yes’. Intervals: 95 %, by 200 bootstrap refits with the chosen penalty.",
            effects(),
            notes=(Note("The penalty shrinks coefficients towards 0."),),
        ),
        what_if=what_if(),
        ceiling=Ceiling(
            0.031,
            0.06,
            N,
            0.0394,
            "Between 3.1 % and 6 % of rows could be beyond any model. The estimate holds for "
            "infinitely many rows.",
        ),
        structure=structure(),
        cases=cases(),
        table_one=TableOne(
            "Columns by outcome.",
            ReportTable(
                "Columns by ‘poor’",
                (
                    TableColumn("column", "text"),
                    TableColumn("yes (n = 63)", "text"),
                    TableColumn("no (n = 1,536)", "text"),
                    TableColumn("missing", "count"),
                    TableColumn("p", "p"),
                ),
                tuple(
                    (name, "0.68 (0.55–0.85)", "0.52 (0.39–0.64)", 0, p)
                    for name, p in zip(
                        COLUMNS,
                        (1e-12, 2e-5, 0.003, 0.02, 0.04, 0.2, 0.3, 0.5, 0.06, 0.7, 0.9),
                        strict=True,
                    )
                ),
                ("Medians and quartiles; Mann–Whitney.",),
            ),
            5.7,
            ("‘alcohol’: 2 missing values become the median of the training rows of the fold.",),
            ("Column ‘id’: all values differ.",),
        ),
        problems=Problems(
            "2 problems",
            (
                DataProblem(
                    "D-DUP",
                    "240 rows repeat others",
                    "warning",
                    (),
                    tuple(range(3, 23)),
                    240,
                    "A row in training and in testing makes the score too good.",
                    "Find out whether they are the same wine.",
                    "Repeats stay in one fold.",
                ),
                DataProblem(
                    "D-SCALE",
                    "‘total sulfur dioxide’ has values far from all others",
                    "info",
                    ("total sulfur dioxide",),
                    (1080, 1082),
                    2,
                    "They pull the coefficients.",
                    "Check the unit.",
                ),
            ),
            ("D-ID", "D-DATE", "D-LEAK", "D-CONST", "D-MISS"),
        ),
        subgroups=(
            Subgroups(
                "colour",
                "group",
                "The measure within each group.",
                (
                    Subgroup("light", MeasureEstimate("AUC", 0.74, 900, Interval(0.65, 0.82), 0.5)),
                    Subgroup("dark", MeasureEstimate("AUC", 0.69, 699, Interval(0.57, 0.8), 0.5)),
                ),
            ),
        ),
        unchecked=(Unchecked("Change over time", "no --time column was named"),),
        reproduction=Reproduction(
            'import certus\n\nreport = certus.report("red-wine.csv", target="poor")\n'
            'print(f"{report.verdict.measure.value:.3g}")\n',
            0.721,
            "certus verify red-wine-report/model.certus red-wine.csv",
            "check.py",
            "",
            (("certus", "1.0.0"), ("numpy", "2.2.1"), ("scikit-learn", "1.9.1")),
        ),
        crosswalk=(
            CrosswalkItem("1", "Title", "You must write this.", None),
            CrosswalkItem("12e", "Performance", "Section 3", "measures"),
        ),
        against=Against(
            "old/report.json",
            "Three things changed.",
            (
                Change("rows", "1,400", "1,599"),
                Change("verdict", "AUC 0.70", "AUC 0.72"),
                Change("coefficient of alcohol", "−0.4", "−0.5", "within its interval"),
            ),
        ),
        explanations=tuple(
            (
                section,
                Explanation(
                    "What it is. Why it is here.",
                    f"<math>{MATHML}</math>",
                    "certus.definitions.logistic",
                ),
            )
            for section in (
                "verdict",
                "certificates",
                "measures",
                "calibration",
                "uses",
                "ceiling",
                "structure",
                "cases",
                "table-one",
                "problems",
                "subgroups",
                "unchecked",
                "reproduce",
                "headroom",
                "what-if",
                "comparison",
            )
        ),
        notes=(Note("--budget 5m left out: the density-weighted LS-SVM.", "warning"),),
    )


def comparison() -> ModelComparison:
    """Six models."""
    names = (
        ("logistic", "Logistic regression", "C = 0.1 on standardised columns", 0.731, 0.02, True),
        ("sparse-logistic", "Sparse logistic regression", "", 0.729, 0.021, False),
        ("knn", "k nearest neighbours", "k = 31", 0.69, 0.02, False),
        (
            "ncfs-knn",
            "NCFS and k nearest neighbours",
            "k = 21, columns weighted by NCFS",
            0.7,
            0.03,
            False,
        ),
        ("ls-svm", "Least-squares SVM", "C = 1", 0.742, 0.024, False),
        ("density-ls-svm", "Density-weighted least-squares SVM", "", None, None, False),
    )
    return ModelComparison(
        tuple(
            Candidate(
                key,
                name,
                words,
                "AUC",
                score,
                error,
                None if score is None else score - 0.01,
                4 if chosen else 0,
                rank + 1,
                chosen,
                N,
                "" if score is not None else "left out: --budget",
            )
            for rank, (key, name, words, score, error, chosen) in enumerate(names)
        ),
        0.5,
        "The simplest model within one standard error of the best is chosen.",
        5,
        5,
    )


def certificate_box() -> CertificateBox:
    """An optimal logistic regression."""
    return CertificateBox(
        "Logistic regression (the chosen model)",
        "optimal",
        True,
        "optimal: objective 241.7, at most 2e-10 above the best possible",
        "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + 5‖w‖²",
        MATHML,
        (
            ("Minimised", "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + 5‖w‖²"),
            ("Objective", "241.7; the best possible is at least 241.7 (dual bound)"),
            ("Gap", "at most 2e-10, 4e-13 of what the intercept alone leaves"),
            ("Checked by", "certus.definitions.logistic, from the data; the solver was not asked"),
            ("Does not say", "that the model is true, the data sound, or that it predicts well"),
        ),
        "certus.definitions.logistic",
        58,
    )


def threshold_counts() -> ThresholdCounts:
    """201 thresholds of two normal scores."""
    z = np.linspace(-4.5, 1.5, 201)
    thresholds = 1 / (1 + np.exp(-z))
    tp = np.rint(N_POSITIVE * ndtr(-2.45 - z)).astype(int)
    fp = np.rint((N - N_POSITIVE) * ndtr(-3.3 - z)).astype(int)
    tp[0], fp[0] = N_POSITIVE, N - N_POSITIVE
    return ThresholdCounts(
        tuple(thresholds.tolist()),
        tuple(tp.tolist()),
        tuple(fp.tolist()),
        N_POSITIVE,
        N - N_POSITIVE,
        50,
        "the largest G-mean on inner folds",
        1.0,
        1.0,
        False,
    )


def effects() -> tuple[Effect, ...]:
    """Odds ratios, one of them of a category."""
    found = []
    for k, name in enumerate(COLUMNS):
        b = 0.8 * (-0.7) ** k
        low, high = b - 0.25, b + 0.25
        ratios = tuple(float(np.exp(v)) for v in (b, low, high))
        found.append(
            Effect(
                name,
                None,
                None,
                "per 0.1",
                b,
                Interval(low, high),
                ratios[0],
                Interval(ratios[1], ratios[2]),
                None,
            )
        )
    found.append(
        Effect(
            "colour",
            "dark",
            "light",
            "‘dark’ against ‘light’",
            -0.11,
            Interval(-0.4, 0.2),
            0.896,
            Interval(0.67, 1.22),
            0.52,
        )
    )
    return tuple(found)


def what_if() -> WhatIf:
    """Three sliders, with an interval."""
    labels = ("0.27", "0.4", "0.52", "0.64", "0.84")
    slopes = (("volatile acidity", 0.4), ("sulphates", -0.3), ("alcohol", -0.25))
    sliders = [
        Slider(name, labels, (tuple(slope * (j - 2) for j in range(5)),), 2)
        for name, slope in slopes
    ]
    sliders.append(Slider("colour", ("light", "dark", "missing"), ((0.0, -0.11, -0.02),), 0))
    design = [tuple(((k + 1, float(j - 2)),) for j in range(5)) for k in range(3)]
    design[0] = tuple(((0, 1.0), *part) for part in design[0])  # 0: all that stays as it is
    design.append(((), ((4, 1.0),), ((5, 1.0),)))
    root = tuple(tuple(0.12 if i == j else 0.01 for j in range(6)) for i in range(6))
    return WhatIf(
        "logistic",
        ("no", "yes"),
        (-3.3,),
        (),
        tuple(sliders),
        tuple(design),
        root,
        1.959964,
        "95 % interval from 200 bootstrap refits",
        "7 columns stay at their median.",
    )


def structure() -> Structure:
    """Three clusters of rows, and a tree of six variables."""
    leaves = COLUMNS[:6]
    merges = (
        Merge(0, 1, 0.2, 2),
        Merge(2, 3, 0.35, 2),
        Merge(6, 4, 0.5, 3),
        Merge(7, 5, 0.7, 3),
        Merge(8, 9, 0.95, 6),
    )
    tree = Dendrogram("Columns", leaves, (1,) * 6, merges, "1 − |correlation|", "average linkage")
    rows = Dendrogram(
        "Rows",
        tuple(f"group {k + 1}" for k in range(6)),
        (400, 350, 300, 250, 199, 100),
        merges,
        "distance in standardised columns",
    )
    evidence = ReportTable(
        "Evidence",
        (TableColumn("clusters", "count"), TableColumn("silhouette"), TableColumn("gap")),
        ((1, None, 0.31), (2, 0.21, 0.35), (3, 0.28, 0.41)),
    )
    profiles = ReportTable(
        "Clusters",
        (TableColumn("column", "text"), TableColumn("1"), TableColumn("2"), TableColumn("3")),
        tuple((name, 0.5, 0.6, 0.7) for name in leaves),
    )
    return Structure("Three clusters; the evidence is weak.", rows, tree, evidence, profiles)


def cases() -> Cases:
    """Three rows."""
    near = (Vote(812, "no", 0.41), Vote(77, "no", 0.52), Vote(1043, "yes", 0.61))
    reasons = (("volatile acidity", 0.71), ("alcohol", -0.33), ("sulphates", 0.2))
    return Cases(
        "Rows are named by their number in the file; none of their cells is shown.",
        (
            Case(
                "typical", 17, "no", 0.021, "no", "Its reasons are the usual ones.", reasons, near
            ),
            Case("borderline", 690, "yes", 0.048, "no", "Just above the threshold.", reasons, near),
            Case("wrong", 1235, "no", 0.012, "yes", "The surest mistake.", reasons, near),
        ),
    )


def classes() -> ReportContent:
    """Three species: a confusion matrix instead of thresholds, softmax coefficients."""
    base, names = two_classes(), ("setosa", "versicolor", "virginica")
    table = ReportTable(
        "Predicted by actual class",
        (
            TableColumn("actual", "text"),
            *(TableColumn(name, "count") for name in names),
            TableColumn("recall", "share"),
        ),
        (("setosa", 50, 0, 0, 1.0), ("versicolor", 0, 47, 3, 0.94), ("virginica", 0, 4, 46, 0.92)),
    )
    sliders = (
        Slider(
            "petal length",
            ("1.3", "4.35", "6.1"),
            ((2.1, 0.0, -1.4), (0.1, 0.0, -0.2), (-2.2, 0.0, 1.6)),
            1,
        ),
    )
    return replace(
        base,
        title="Can ‘species’ be predicted? iris.csv",
        question=Question(
            "iris.csv", "species", "classes", 150, 4, tuple(ClassCount(name, 50) for name in names)
        ),
        verdict=replace(
            base.verdict,
            headline="Yes, very strongly.",
            text="Of a row of one class and a row of another, the chosen model tells which is "
            "which 99 % of the time (AUC 0.99, 95 % interval 0.98–1.00; guessing 0.50; 150 rows of "
            "3 classes).",
            measure=MeasureEstimate("AUC", 0.991, 150, Interval(0.98, 0.998), 0.5),
        ),
        measures=Measures(
            "143 of 150 rows are right; every class is recognised.",
            tuple(
                MeasureEstimate(
                    f"recall of ‘{name}’", r, 50, Interval(r - 0.08, min(1.0, r + 0.05)), 1 / 3
                )
                for name, r in zip(names, (1.0, 0.94, 0.92), strict=True)
            ),
            confusion=table,
        ),
        what_if=WhatIf(
            "softmax",
            names,
            (0.2, 0.9, -1.1),
            (),
            sliders,
            (),
            None,
            1.959964,
            "no interval: there are too many coefficients",
            "",
        ),
        uses=WhatItUses(
            "coefficients",
            "Scores of each class.",
            tuple(
                Effect(
                    "petal length",
                    None,
                    None,
                    "per 1",
                    b,
                    Interval(b - 0.2, b + 0.2),
                    None,
                    None,
                    None,
                    name,
                )
                for name, b in zip(names, (-1.8, 0.2, 1.6), strict=True)
            ),
        ),
        calibration=None,
        headroom=None,
        subgroups=(),
        against=None,
    )


def numbers() -> ReportContent:
    """Progression of diabetes: errors instead of classes."""
    base = two_classes()
    return replace(
        base,
        title="Can ‘progression’ be predicted? diabetes.csv",
        question=Question("diabetes.csv", "progression", "numbers", 442, 10),
        verdict=Verdict(
            "yes",
            "Yes, moderately.",
            "On rows it had not seen, the chosen model explains 48 % of the variance (95 % "
            "interval 41–54 %); its typical error is 44.3 against 65.9 for the mean.",
            MeasureEstimate("R²", 0.482, 442, Interval(0.41, 0.54), 0.0),
            (MeasureEstimate("typical error", 44.3, 442, Interval(41.8, 47.1), 65.9),),
            "5 outer folds; in each, 4 models were compared on 5 inner folds.",
        ),
        measures=Measures(
            "Half of the errors are below 38.",
            (
                MeasureEstimate("MAE", 44.3, 442, Interval(41.8, 47.1), 65.9),
                MeasureEstimate("RMSE", 55.4, 442, Interval(52.0, 58.9), 77.1),
            ),
            residuals=ReportTable(
                "Errors",
                (TableColumn("quantile", "share"), TableColumn("error")),
                ((0.05, -88.0), (0.25, -39.0), (0.5, 1.2), (0.75, 37.0), (0.95, 93.0)),
            ),
        ),
        calibration=Calibration(
            "Predictions are on the scale of what was observed.",
            tuple(
                CalibrationBin(
                    80.0 + 16 * k, 79.0 + 17 * k, 44, Interval(70.0 + 17 * k, 88.0 + 17 * k)
                )
                for k in range(10)
            ),
            MeasureEstimate("slope", 1.01, 442, Interval(0.9, 1.12), 1.0),
            MeasureEstimate("intercept", -1.6, 442, Interval(-18.0, 15.0), 0.0),
            None,
        ),
        uses=WhatItUses(
            "weights",
            "The lasso keeps 2 of 10 columns.",
            effects()[:2],
            (SelectedColumn("bmi", 24.8, 1.0, 100), SelectedColumn("bp", 14.1, 0.93, 100)),
        ),
        what_if=WhatIf(
            "identity",
            ("progression",),
            (152.0,),
            (),
            (Slider("bmi", ("21", "25.7", "33"), ((-22.0, 0.0, 37.0),), 1),),
            ((((0, 1.0), (1, -4.7)), ((0, 1.0),), ((0, 1.0), (1, 7.3))),),
            ((2.6, 0.0), (0.0, 0.5)),
            1.959964,
            "95 % interval of the mean, from 200 bootstrap refits",
            "",
        ),
        ceiling=None,
        headroom=None,
        subgroups=(),
        against=None,
    )


def structure_only() -> ReportContent:
    """``--cluster``: no target."""
    base = two_classes()
    return replace(
        base,
        title="What structure has red-wine.csv?",
        question=Question("red-wine.csv", "", "structure", N, 11),
        verdict=Verdict("structure", "Three groups of rows.", "The evidence is weak.", None),
        comparison=None,
        certificates=Certificates((), "No model was fitted to a target."),
        headroom=None,
        measures=None,
        calibration=None,
        uses=None,
        what_if=None,
        ceiling=None,
        cases=None,
        subgroups=(),
        against=None,
        crosswalk=(),
    )
