"""Certificates of classifiers in words: bounds, class weights, separation."""

import io
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from scipy.sparse import csr_array

import certus
from certus.certificate.causes.separating_columns import what_separates
from certus.certificate.explain.certificate import not_certified
from certus.certificate.explain.separation import explain_separation
from certus.certificate.facts import Combination, SeparatingColumn, SeparationProof
from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.exceptions import SeparationWarning
from certus.text.format import number, small
from tests.certificate.test_verify_classifiers import TIGHT, classes

LABELS = np.array(["benign", "malignant"])


def certificate(K=2, **how):
    X, y = classes(1, K=K)
    frame = pd.DataFrame(X, columns=list("abcd"))
    return certus.verify(peers.LogisticRegression(**TIGHT, **how).fit(frame, y), frame, y)


def test_a_certified_classifier_in_words():
    c = certificate()
    lines = c.explain().splitlines()
    objective = number(c.objective, 7)
    assert lines[:5] == [
        "[OK] OPTIMAL   sklearn.linear_model.LogisticRegression, 150 rows × 4 columns",
        "Minimised      Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½‖w‖²",
        f"Objective      {objective}; the best possible is at least {number(c.bound, 7)} "
        "(dual bound)",
        f"Gap            at most {small(c.gap)}, {small(c.residual)} of what the intercept alone "
        "leaves",
        f"Coefficients   none is more than {small(c.coef_error)} from the optimum's",
    ]
    assert "Checked by     certus.proofs.glm.logistic, from the data; the solver" in c.explain()
    assert repr(c) == (
        f"Certificate(optimal: objective {objective}, at most {small(c.gap)} above the best "
        "possible)"
    )


@pytest.mark.parametrize(
    ("how", "formula"),
    [
        ({"C": 0.1}, "0.1 Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½‖w‖²"),
        ({"C": np.inf}, "Σ log(1 + exp(−yᵢ(xᵢᵀw + b)))"),
        ({"fit_intercept": False}, "Σ log(1 + exp(−yᵢ(xᵢᵀw))) + ½‖w‖²"),
        ({"class_weight": "balanced"}, "Σ cᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½‖w‖²"),
        ({"l1_ratio": 1, "solver": "saga"}, "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ‖w‖₁"),
        (
            {"l1_ratio": 0.4, "solver": "saga"},
            "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + 0.4‖w‖₁ + 0.3‖w‖²",
        ),
        ({"solver": "liblinear"}, "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½(‖w‖² + b²)"),
        (
            {"solver": "liblinear", "intercept_scaling": 10},
            "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ½(‖w‖² + (b/10)²)",
        ),
        (
            {"solver": "liblinear", "intercept_scaling": 10, "l1_ratio": 1},
            "Σ log(1 + exp(−yᵢ(xᵢᵀw + b))) + ‖w‖₁ + |b/10|",
        ),
    ],
    ids=str,
)
def test_the_formula_is_that_of_the_fit(how, formula):
    assert certificate(**how).formula == formula


def test_the_formula_of_several_classes_and_of_weights():
    assert certificate(K=3).formula == ("Σ (log Σₖ exp(zᵢₖ) − zᵢ,yᵢ) + ½‖w‖², zᵢₖ = xᵢᵀwₖ + bₖ")
    X, y = classes(1)
    s = np.ones(len(y))
    c = certus.verify(peers.LogisticRegression(**TIGHT).fit(X, y, s), X, y, s)
    assert c.formula.startswith("Σ sᵢ log(")


# --- class weights --------------------------------------------------------------------------------


def test_a_weighted_fit_says_what_weights_did_to_its_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = np.where(rng.random(2000) < 1 / (1 + np.exp(4 - X[:, 0])), "yes", "no")
    model = peers.LogisticRegression(class_weight="balanced", **TIGHT).fit(X, y)
    mean, share = model.predict_proba(X)[:, 1].mean(), (y == "yes").mean()
    assert mean > 5 * share
    expected = (
        f"class weights shift probabilities: mean {number(mean, 2)[1:]}, observed share "
        f"{number(share, 2)[1:]} of 'yes'"
    )
    c = certus.verify(model, X, y)
    assert c.notes[0] == expected
    assert f"\nNote           {expected}." in c.explain()
    plain = certus.verify(peers.LogisticRegression(**TIGHT).fit(X, y), X, y)
    assert not any("class weights" in note for note in plain.notes)


def test_of_several_classes_the_one_that_moved_most_is_reported():
    X, y = classes(1, K=3)
    model = peers.LogisticRegression(class_weight={"ash": 20.0}, **TIGHT).fit(X, y)
    assert "of 'ash'" in certus.verify(model, X, y).notes[0]


# --- separation -----------------------------------------------------------------------------------

ONE_COLUMN = SeparatingColumn(1, 3.5, class_index=1, rows=18, other=0, other_rows=42)


def test_the_column_that_separates_is_named():
    text = explain_separation(["age", "tumour_size"], LABELS, ONE_COLUMN)
    assert text == (
        "no finite optimum. Every row with tumour_size > 3.5 is 'malignant' (18 rows) and every "
        "other row is 'benign' (42 rows), so its coefficient grows without limit. Do not read the "
        "coefficients, odds ratios or p-values. Use FirthLogisticRegression, a "
        "finite C, or drop 'tumour_size'."
    )


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (
            replace(ONE_COLUMN, side="<", rows=1, other=None),
            "Every row with tumour_size < 3.5 is 'malignant' (1 row), so its coefficient grows",
        ),
        (
            Combination((0, 1), classes=(1, 0), rows=(18, 42)),
            "A combination of 'age', 'tumour_size' separates 'malignant' (18 rows) from 'benign' "
            "(42 rows), so its coefficients grow without limit.",
        ),
        (Combination((0,)), "'age' separates the classes, so"),
        (Combination(), "A combination of columns separates the classes, so"),
    ],
    ids=["one side", "two classes", "columns", "nothing known"],
)
def test_other_separations_in_words(facts, text):
    assert text in explain_separation(["age", "tumour_size"], LABELS, facts)


def test_at_most_five_columns_are_named_and_columns_without_names_by_number():
    text = explain_separation(None, LABELS, Combination(tuple(range(8))))
    assert "A combination of column 0, column 1, column 2, column 3, column 4 and 3 more" in text
    assert "Every row with column 1 > 3.5" in explain_separation(None, LABELS, ONE_COLUMN)
    assert "or drop column 1." in explain_separation(None, LABELS, ONE_COLUMN)


def separated():
    """The certificate of a fit whose classes were proven to be separated."""
    c = certificate()
    facts = replace(c._finding.facts, separation=ONE_COLUMN)
    finding = replace(c._finding, facts=facts)
    return replace(c, status="no finite optimum", certified=False, bound=None, _finding=finding)


def test_a_separated_certificate_says_so_everywhere():
    c = separated()
    sentence = "every row with b > 3.5 is 'birch' (18 rows) and every other row is 'ash' (42 rows)"
    assert repr(c) == f"Certificate(no finite optimum: {sentence})"
    text = c.explain()
    assert text.startswith("[!!] NO FINITE OPTIMUM   sklearn.linear_model.LogisticRegression")
    assert f"What is wrong  E{sentence[1:]}, so its coefficient grows without limit" in text
    assert "What to do     do not read the coefficients, odds ratios or p-values; use F" in text
    assert c.note() == f"Not certified: no finite optimum: {sentence}."
    page = c._repr_html_()
    ET.fromstring(page)
    assert "<strong>✖ No finite optimum</strong>" in page
    assert sentence in ET.tostring(ET.fromstring(page), encoding="unicode", method="text")
    assert issubclass(SeparationWarning, UserWarning)


def test_verify_calls_what_is_proven_separated_by_its_name(monkeypatch):
    from certus.proofs.glm import logistic

    check = logistic.check

    def proven(*a, w, b, **k):
        return {**check(*a, w=w, b=b, **k), "separated": {"direction": (w, b)}}

    monkeypatch.setattr(logistic, "check", proven)
    c = certificate()
    assert c.status == "no finite optimum"
    assert not c.certified
    assert "combination of '" in repr(c)


def rows_of(X, k, s=None):
    return Rows(np.asarray(X, dtype=float), np.asarray(k, dtype=float)[:, None], s)


def along(u, c):
    return SeparationProof((np.asarray(u), np.asarray(c)))


def test_the_one_column_that_separates_is_found():
    rng = np.random.default_rng(0)
    X, k = rng.normal(size=(60, 3)), np.arange(60) % 3 == 0
    X[:, 1] = np.where(k, 4.0, 3.0) + rng.random(60) / 2
    X[0, 1], X[1, 1] = 4.0, 3.5
    proof = along(np.ones((3, 1)), [0.0])
    facts = what_separates(rows_of(X, k), 2, proof)
    assert facts == SeparatingColumn(
        1, 3.8, class_index=1, side=">", rows=20, other=0, other_rows=40
    )
    facts = what_separates(rows_of(-X, k), 2, proof)
    assert (facts.side, facts.threshold, facts.class_index) == (">", -3.8, 0)
    assert (facts.rows, facts.other_rows) == (40, 20)
    sparse = Rows(CSR(csr_array(X)), k.astype(float)[:, None])
    assert what_separates(sparse, 2, proof).threshold == 3.8


def test_rows_without_weight_separate_nothing_and_are_not_counted():
    X, k = np.array([[1.0], [2], [3], [9]]), [0, 0, 1, 0]
    s = np.array([1.0, 1, 1, 0])
    facts = what_separates(rows_of(X, k, s), 2, along([[1.0]], [0.0]))
    assert (facts.threshold, facts.rows, facts.other_rows) == (2.5, 1, 2)


def test_a_yes_or_no_column_whose_yes_has_one_class_is_found():
    X, k = np.array([[0.0], [0], [0], [1], [1]]), [0, 1, 0, 1, 1]
    facts = what_separates(rows_of(X, k), 2, along([[1.0]], [0.0]))
    assert facts == SeparatingColumn(0, 0.0, class_index=1, side=">", rows=2)


def test_one_of_three_classes_is_told_from_the_rest():
    X, k = np.array([[0.0], [1], [0], [1], [7], [8]]), [0, 1, 1, 0, 2, 2]
    facts = what_separates(rows_of(X, k), 3, along(np.ones((1, 3)), np.zeros(3)))
    assert (facts.column, facts.threshold, facts.class_index) == (0, 4.0, 2)
    assert (facts.rows, facts.other) == (2, None)


def test_a_combination_is_named_by_what_moves_scores_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1, 10, 1, 1]
    k = X @ [1.0, 0.2, 0.0, 0.1] > 0
    facts = what_separates(rows_of(X, k), 2, along([[1.0], [0.2], [0.0], [0.1]], [0.0]))
    assert facts.columns[-1] == 3
    assert sorted(facts.columns) == [0, 1, 3]
    assert facts.rows == (k.sum(), (~k).sum())


# --- no bound -------------------------------------------------------------------------------------


def stationary(monkeypatch, residual):
    from certus.proofs.glm import logistic

    check = logistic.check
    replaced = {"kind": "stationary", "bound": None, "gap": np.inf, "residual": residual}
    replaced["null_objective"] = 3.0
    monkeypatch.setattr(logistic, "check", lambda *a, **k: {**check(*a, **k), **replaced})
    return certificate()


def test_a_stationary_point_without_a_bound_is_not_called_optimal(monkeypatch):
    c = stationary(monkeypatch, 1e-9)
    assert (c.kind, c.status, c.certified, c.bound) == ("stationary", "stationary", True, None)
    for text in (repr(c), c.explain(), c.note(), c._repr_html_()):
        assert "one more Newton step would gain 3e-9" in text
        assert "optimal" not in text.lower()
        assert "above the best possible" not in text
    assert c.explain().startswith("[OK] STATIONARY   ")


def test_a_point_that_is_not_stationary_says_what_a_step_gains(monkeypatch):
    c = stationary(monkeypatch, 1e-2)
    assert c.status == "not optimal"
    assert "What is wrong  one Newton step would lower the objective by 0.03" in c.explain()
    assert "the best possible is not known to be above 0" in repr(c)


# --- warnings of our own fits ---------------------------------------------------------------------


def test_a_fit_that_stopped_says_between_what_the_best_possible_lies():
    c = replace(
        certificate(), model="LogisticRegression", objective=402.1, bound=361.6, gap=40.5,
        residual=0.1, status="not optimal", certified=False,
    )  # fmt: skip
    assert not_certified(c, stopped_at=10) == (
        "LogisticRegression stopped at max_iter=10 before the optimum: objective 402.1, best "
        "possible between 361.6 and 402.1, so up to 11 % too high. Raise max_iter or use "
        "solver='auto'."
    )
    assert "so up to 11 % too high. See certificate_.explain()." in not_certified(c)
    without = replace(c, bound=None)
    assert "the best possible is not known to be above 0" in not_certified(without, stopped_at=10)


# --- ASCII and HTML -------------------------------------------------------------------------------


def test_every_text_can_be_printed_on_an_ascii_terminal(monkeypatch):
    some = [
        certificate(), certificate(K=3), separated(), certificate(l1_ratio=1, solver="saga"),
        certificate(solver="liblinear", intercept_scaling=10),
    ]  # fmt: skip
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    for c in some:
        for text in (c.explain(), c.note(), repr(c)):
            assert "?" not in text.encode("ascii").decode()


@pytest.mark.parametrize("K", [2, 3])
def test_html_shows_the_equation_of_the_classifier(K):
    c = certificate(K)
    page = ET.fromstring(c._repr_html_())
    assert page.find(".//math").get("aria-label") == c.formula
    assert "".join(page.find(".//math").itertext()) == c.formula
