"""Pages and proofs share no code, and agree on every estimator of the table of laws."""

import warnings

import pytest

import certus
from certus.certificate.export.page_script import script
from certus.certificate.pages.lines import lines_to_read
from certus.certificate.registry import claim_of
from tests.contract.families.machines import OTHERS
from tests.contract.laws import ANSWERS, ESTIMATORS

MOST_LINES = 80  # of code, to read for one fitted model
SEED = 3
CASES = [*ESTIMATORS, *(case for case in ANSWERS if case not in OTHERS)]


def fitted(case):
    """A fitted model of the table, with its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case in ESTIMATORS:
            X, y, _ = case.draw(SEED)
            return case.make().fit(X, y), X, y
        sample = case.draw(SEED)
        return case.fit(sample)[0], sample.X, sample.y


@pytest.mark.parametrize("case", CASES, ids=str)
def test_page_and_proof_agree(case):
    model, X, y = fitted(case)
    proof = certus.verify(model, X, y)
    problems = list(claim_of(proof).page(proof.parameters, proof.labels))
    assert lines_to_read(problems) <= MOST_LINES
    page = certus.verify(model, X, y, by="page")
    assert page.definition == f"certus.definitions.{problems[0].page}"
    slack = 1e-9 * abs(proof.objective)
    if proof.kind != "exact":
        gap = proof.gap if proof.bound is not None else 0.0
        assert abs(page.objective - proof.objective) <= slack + gap
    if proof.bound is not None and page.bound is not None:  # the intervals overlap
        assert page.bound <= proof.objective + slack
        assert proof.bound <= page.objective + slack
    near = proof.tol / 2 < page.residual < 2 * proof.tol
    hidden = proof.status == "not proven"  # by rounding, which pages do not bound
    assert page.certified == proof.certified or near or hidden, (proof, page)


@pytest.mark.parametrize("case", ESTIMATORS, ids=str)
def test_a_script_by_the_page_is_short_and_complete(case):
    model, X, y = fitted(case)
    text = script(certus.verify(model, X, y)).text
    compile(text, "check.py", "exec")
    assert text.count("\n") <= 150


def test_by_is_one_of_two_words():
    model, X, y = fitted(ESTIMATORS[0])
    with pytest.raises(ValueError, match='use "proof" or "page"'):
        certus.verify(model, X, y, by="solver")
