"""Findings are typed: every entry that a proof returns has its place, and none is lost."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import certus
from certus.certificate import proving
from certus.certificate.facts import SquaresFacts
from certus.certificate.findings import ClusterFinding, facts_of, finding_of
from certus.certificate.registry import CLAIMS
from certus.cluster import AgglomerativeClustering, DivisiveClustering, KMeans
from certus.exceptions import CertificateError, NotCertifiedWarning
from certus.feature_selection import NCFSClassifier
from certus.linear_model import (
    FirthLogisticRegression,
    Lasso,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    PenalizedClassifier,
)
from certus.mixture import GaussianMixture
from certus.neighbors import KNeighborsRegressor
from certus.penalties import SCAD
from certus.svm import LSSVC, LinearSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + 0.1 * RNG.normal(size=60)
K = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
TARGETS = {
    LinearRegression(): Y, Lasso(alpha=0.1): Y, LogisticRegression(): K, OrdinalRegression(): K,
    FirthLogisticRegression(): K, LinearSVC(loss="hinge"): K, LSSVC(): K,
    KNeighborsRegressor(): Y, NCFSClassifier(): K, KMeans(3, random_state=0): None,
    GaussianMixture(2, random_state=0): None, AgglomerativeClustering(3): None,
    DivisiveClustering(3): None,
}  # fmt: skip
# entries by another name in the finding, and those by which a proof tells itself something
ELSEWHERE = {"wrong", "kind", "at_least", "maximized"}
INTERNAL = {"decrement", "seen"}


def names_in(part):
    """Names of all fields, those of typed parts too."""
    found = set()
    for one in fields(part):
        value = getattr(part, one.name)
        found |= {one.name} | (names_in(value) if is_dataclass(value) else set())
    return found


@pytest.mark.parametrize("model", list(TARGETS), ids=lambda model: type(model).__name__)
def test_no_entry_of_a_proof_is_lost(model, monkeypatch):
    results = []
    checked = proving.checked

    def heard(*args, **claims):
        results.append(checked(*args, **claims))
        return results[-1]

    monkeypatch.setattr(proving, "checked", heard)
    y = TARGETS[model]
    certificate = certus.verify(model.fit(X, y), X, y)
    reported = {name for name, value in results[-1].items() if value is not None}
    lost = reported - names_in(certificate._finding) - ELSEWHERE - INTERNAL
    assert not lost
    for name in ("objective", "bound", "gap", "residual"):
        assert_array_equal(getattr(certificate, name), results[-1][name])


def test_a_finding_of_another_kind_is_refused_by_name():
    certificate = LinearRegression().fit(X, Y).certificate_
    assert facts_of(certificate, SquaresFacts).rank == 3
    with pytest.raises(TypeError, match="LinearRegression has no ClusterFinding"):
        finding_of(certificate, ClusterFinding)


def test_every_claim_has_its_own_words():
    for claim in CLAIMS.values():
        assert claim.wording.INDEPENDENCE
        assert claim.wording.DOES_NOT_SAY


def test_a_fit_without_a_definition_that_stops_early_warns_and_has_nothing_to_export(tmp_path):
    model = PenalizedClassifier(penalty=SCAD(0.1), max_iter=1)
    with pytest.warns(NotCertifiedWarning, match="stopped at max_iter=1 before the optimum"):
        model.fit(X, K)
    assert model.certificate_.status == "not proven"
    with pytest.raises(CertificateError, match="nothing to export: "):
        model.certificate_.export(tmp_path / "check.py")
