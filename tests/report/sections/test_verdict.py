"""The verdict is decided by the interval, the number of rows and D-LEAK, and says its numbers."""

from dataclasses import replace

import numpy as np
import pytest

from certus.reporting.content.data import DataProblem, Problems
from certus.reporting.content.values import Interval, MeasureEstimate
from certus.reporting.sections import verdict
from certus.reporting.settings import Settings
from tests.report.fixtures import case, noise, prepared_from, with_measure

SETTINGS = Settings(target="outcome")
CLEAN = Problems("", (), ("D-LEAK",))


def leaking(name):
    leak = DataProblem("D-LEAK", f"'{name}' alone predicts 'outcome' almost perfectly", "severe",
                   (name,), (), 600, "", "")  # fmt: skip
    return Problems("", (leak,), ())


def made(name, measure=None, problems=CLEAN):
    prepared, result = case(name)
    result = result if measure is None else with_measure(result, *measure)
    return verdict.make(prepared, SETTINGS, result, problems)


@pytest.mark.parametrize(
    ("measure", "headline"),
    [
        ((0.61, 0.55, 0.66), "Yes, weakly."),
        ((0.72, 0.65, 0.79), "Yes, moderately."),
        ((0.85, 0.80, 0.89), "Yes, strongly."),
        ((0.94, 0.92, 0.96), "Yes, very strongly."),
        ((0.995, 0.99, 0.999), "Suspiciously good."),
        ((0.53, 0.44, 0.61), "No evidence."),
        ((0.60, 0.35, 0.85), "Too few rows to say."),
    ],
)
def test_the_interval_and_the_value_decide(measure, headline):
    assert made("loans", measure).headline == headline


def test_the_text_has_value_interval_guessing_and_rows():
    text = made("loans", (0.7214, 0.6512, 0.7931)).text
    assert text == (
        "On rows it had not seen, the chosen model ranks a row of 'yes' above one of 'no' 72 % of "
        "the time (AUC 0.72, 95 % interval 0.65–0.79; guessing 0.50; 600 rows, 81 of 'yes')."
    )


def test_no_evidence_is_no_proof_and_says_what_it_cannot_rule_out():
    prepared, result = noise()
    found = verdict.make(prepared, SETTINGS, with_measure(result, 0.53, 0.44, 0.61), CLEAN)
    assert found.kind == "no evidence"
    assert "does not beat always answering 'no'" in found.text
    assert "(AUC 0.53, 95 % interval 0.44–0.61, n = 150)" in found.text
    assert "not proof that nothing is there" in found.text
    assert found.text.endswith("up to AUC 0.61.")


def test_nine_rows_of_a_class_are_too_few_whatever_the_score():
    prepared, _ = case("loans")
    yes = np.flatnonzero(prepared.y == "yes")[:9]
    no = np.flatnonzero(prepared.y == "no")[:100]
    frame = prepared.table.data.take(np.r_[yes, no]).to_pandas()
    few = prepared_from(frame)
    _, result = case("loans")
    found = verdict.make(few, SETTINGS, with_measure(result, 0.9, 0.8, 0.97), CLEAN)
    assert found.kind == "too few rows"
    assert "Only 9 rows are 'yes'" in found.text
    assert "0.80–0.97" in found.text


def test_a_leak_is_named_with_its_code_instead_of_a_triumph():
    found = made("loans", (1.0, 0.999, 1.0), leaking("income"))
    assert found.kind == "suspiciously good"
    assert "'income' alone predicts" in found.text
    assert "known when you predict" in found.text
    assert "[D-LEAK]" in found.text
    # a leak that does not help is no triumph either
    assert made("loans", (0.53, 0.44, 0.61), leaking("income")).kind == "no evidence"


def test_numbers_are_told_by_the_variance_and_the_typical_error():
    prepared, result = case("ridge")
    error = MeasureEstimate("typical error", 4.2, 442, Interval(3.9, 4.5), 7.9)
    result = replace(with_measure(result, 0.61, 0.55, 0.66), others=(error,))
    found = verdict.make(prepared, SETTINGS, result, CLEAN)
    assert found.headline == "Yes, strongly."
    assert found.text == (
        "On rows it had not seen, the chosen model explains 61 % of the variance (95 % interval "
        "55–66 %); its typical error is 4.2, against 7.9 for always answering the mean (442 rows)."
    )


def test_several_classes_are_told_in_words():
    found = made("softmax", (0.91, 0.88, 0.94))
    assert "Given two rows of different classes" in found.text
    assert "150 rows of 3 classes" in found.text
    assert "the lower from the higher" in made("ordinal").text


def test_a_perfect_score_of_an_honest_table_is_still_questioned():
    found = made("softmax")
    assert found.kind == "suspiciously good"
    assert "copy or a follow-up" in found.text


def test_random_targets_are_rarely_called_predictable():
    kinds = [verdict.make(*(pair[:1]), SETTINGS, pair[1], CLEAN).kind
             for pair in (noise(seed) for seed in range(4))]  # fmt: skip
    assert kinds.count("yes") <= 1


def test_a_result_without_an_interval_says_so():
    prepared, result = case("loans")
    bare = replace(result, measure=replace(result.measure, interval=None))
    found = verdict.make(prepared, SETTINGS, bare, CLEAN)
    assert found.kind == "too few rows"
    assert "interval" in found.text
