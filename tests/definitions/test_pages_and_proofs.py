"""Pages and proofs share no code, and agree on every estimator of the table of laws."""

import subprocess
import sys

import numpy as np
import pytest

import certus
from certus.certificate.export.script import MAX_LINES
from certus.certificate.pages.lines import lines_to_read
from certus.certificate.registry import claim_of
from tests.contract.laws import ESTIMATORS
from tests.definitions.fitted_cases import CASES, fitted

MOST_LINES = 80  # of code, to read for one fitted model


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


@pytest.mark.costly
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_script_is_short_and_finds_what_the_proof_found(case, tmp_path):
    model, X, y = fitted(case)
    c = certus.verify(model, X, y)
    c.export(tmp_path / "check.py")
    text = (tmp_path / "check.py").read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_LINES
    files = [("X.npy", X), ("y.npy", y)][: 1 + ("y.npy" in text)]
    for name, array in files:
        np.save(tmp_path / name, array)
    ran = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "check.py", *(name for name, _ in files)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == int(not c.certified), ran.stdout + ran.stderr
    assert not ran.stderr


def test_by_is_one_of_two_words():
    model, X, y = fitted(ESTIMATORS[0])
    with pytest.raises(ValueError, match='use "proof" or "page"'):
        certus.verify(model, X, y, by="solver")
