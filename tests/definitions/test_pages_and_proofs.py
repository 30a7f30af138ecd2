"""Pages and proofs share no code and agree: on every estimator of the table of laws."""

import warnings

import pytest

import certus
from certus.certificate.registry import claim_of
from tests.contract.laws import ANSWERS, ESTIMATORS

MOST_LINES = 80  # of code, to read for one fitted model
MOST_LINES_OF_SCRIPT = 150
NOT_SHOWN = ("not proven",)  # what rounding hides from a proof, a page may show
SEED = 3


def fitted(case):
    """A fitted model of the table, with its rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case in ESTIMATORS:
            X, y, _ = case.draw(SEED)
            return case.make().fit(X, y), X, y
        sample = case.draw(SEED)
        model, _ = case.fit(sample)
        return model, sample.X, sample.y


def both(case):
    model, X, y = fitted(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proof = certus.verify(model, X, y)
        if not list(claim_of(proof).page(proof.parameters, proof.labels)):
            pytest.skip("a function of the user's is part of the model")
        return proof, certus.verify(model, X, y, by="page")


@pytest.mark.parametrize("case", [*ESTIMATORS, *ANSWERS], ids=str)
def test_page_and_proof_agree(case):
    proof, page = both(case)
    scale = max(abs(proof.objective), 1e-300)
    if proof.kind != "exact":
        assert abs(page.objective - proof.objective) <= 1e-9 * scale + (
            proof.gap if proof.bound is not None else 0.0
        )
    if proof.bound is not None and page.bound is not None:
        assert page.bound <= proof.objective + 1e-9 * scale
        assert proof.bound <= page.objective + 1e-9 * scale
    near = proof.tol / 2 < page.residual < 2 * proof.tol
    assert page.certified == proof.certified or near or proof.status in NOT_SHOWN, (proof, page)
