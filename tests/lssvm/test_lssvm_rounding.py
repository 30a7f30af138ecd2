"""LS-SVMs whose equations are singular up to rounding: fits end, and claim what was found."""

import numpy as np
import pytest

from certus.proofs.lssvm import _claims
from certus.svm import LSSVC, LSSVR

pytestmark = pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")


def beside_a_column_at_1e9(seed=0, n=9):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=(n, 2)), np.full(n, 1e9)]), rng.normal(size=n)


@pytest.mark.parametrize("C", [10.0, 1e5])
@pytest.mark.parametrize("seed", range(6))
def test_a_column_at_1e9_and_a_linear_kernel_end_in_a_certificate(seed, C):
    X, y = beside_a_column_at_1e9(seed)
    for model in (
        LSSVR(C=C, kernel="linear").fit(X, y),
        LSSVC(C=C, kernel="linear").fit(X, np.where(y > np.median(y), 1, -1)),
    ):
        facts = model.certificate_._finding.facts
        assert facts.effective is None
        assert facts.loo is None
        assert "by a fit without it" not in model.certificate_.explain()


def test_fits_without_a_row_are_reported_where_they_can_be():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = LSSVR().fit(X, X[:, 0])
    assert model.certificate_._finding.facts.loo is not None


def test_a_slack_that_excuses_everything_is_no_check(monkeypatch):
    X, y = beside_a_column_at_1e9()
    model = LSSVR().fit(X[:, :2], y)
    assert model.certificate_._finding.facts.loo is not None
    monkeypatch.setattr(_claims, "SOLVE_ERROR_PER_CONDITION", 1.0)
    assert LSSVR().fit(X[:, :2], y).certificate_._finding.facts.loo is None
