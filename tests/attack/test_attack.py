"""A fixed part of the attack, earlier failures first; and a judge that can be failed.

``python -m tests.attack --minutes 60`` is the whole.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN

import certus
from certus.certificate.facts import LeftOutDirection
from certus.cluster import AgglomerativeClustering, KMeans
from certus.feature_selection import NCFSClassifier
from certus.linear_model import (
    FirthLogisticRegression,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    PenalizedRegressor,
    PoissonRegressor,
    Ridge,
)
from certus.mixture import GaussianMixture, PoissonMixture
from certus.neighbors import NearestNeighbors
from certus.penalties import MCP
from certus.svm import LSSVC, LSSVR, DensityWeightedSVC, LinearSVC

from .campaign import Campaign, outcome_of
from .containers import dense_values
from .generators import GENERATORS
from .judges.judge import judge
from .judges.linear_problems import Rows
from .regressions import CASES
from .targets import TARGETS
from .trials import trial

QUICK = range(40)
REST = range(40, 100)
MORE = range(10_000, 10_500)


# --- the attack -----------------------------------------------------------------------------------


def failure(case):
    outcome = outcome_of(case, edits=case[0] % 4 == 0)
    reasons = [*map(str, outcome.faults), *outcome.missed, *([outcome.crash] * bool(outcome.crash))]
    return f"seed {outcome.seed}: {outcome.words}: {'; '.join(reasons)}" if reasons else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_no_earlier_failure_comes_back(case):
    assert failure(case) is None


def test_no_certificate_of_the_first_trials_is_false():
    assert [report for seed in QUICK if (report := failure((seed, None, None)))] == []


@pytest.mark.exhaustive
def test_no_certificate_of_the_next_trials_is_false():
    assert [report for seed in REST if (report := failure((seed, None, None)))] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("start", range(MORE.start, MORE.stop, 100))
def test_no_certificate_of_more_trials_is_false(start):
    seeds = range(start, start + 100)
    assert [report for seed in seeds if (report := failure((seed, None, None)))] == []


# --- trials ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_a_trial_is_a_function_of_its_seed(name):
    one, other = trial(5, name), trial(5, name)
    assert str(one).split(" at 0x")[0] == str(other).split(" at 0x")[0]
    assert np.array_equal(dense_values(one.X), dense_values(other.X))
    assert np.array_equal(one.y, other.y)


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_make_finite_rows_of_the_shape_asked_for(name):
    for seed in range(5):
        X = GENERATORS[name](np.random.default_rng(seed), 12, 3)
        assert X.shape == (12, 3)
        assert np.isfinite(X).all()


def test_every_estimator_of_certus_but_one_is_attacked():
    from certus.audit.reading import _READERS, REFUSING_READERS

    made = {type(trial(1, name).model).__name__ for name in TARGETS if not TARGETS[name].tree}
    public = {name for name, reader in _READERS["certus"].items() if reader not in REFUSING_READERS}
    missing = {name.rpartition(".")[2] for name in public} - made - {"Tree", "ElasticNetCV"}
    assert missing == set()


def test_a_trial_that_hangs_does_not_stop_the_campaign():
    campaign = Campaign(jobs=1, limit=0.0)
    try:
        outcomes = list(campaign.outcomes([(0, None, None)], 60.0))
    finally:
        campaign.close()
    assert [o.status for o in outcomes] == ["over the time limit"]


# --- the judge ------------------------------------------------------------------------------------


def problem(n=30, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    score = X @ np.arange(1.0, p + 1)
    return X, score + rng.normal(size=n), (score + 2 * rng.logistic(size=n) > 0).astype(int)


def rows_and_targets():
    """X; and numbers, classes (counts of 0 and 1, too) and amounts."""
    X, numbers, classes = problem()
    return X, numbers, classes, np.exp(numbers / 4)


def judged(model, X, y=None, s=None, **changed):
    """What the judge says of a certificate some of whose fields were changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    c = replace(model.certificate_, **changed)
    rows = Rows(X, y if y is None or c.labels is not None else y.reshape(len(X), -1), s)
    if c.labels is not None and c.labels.coding == "signs":
        rows = Rows(X, np.where(y == 1, 1.0, -1.0)[:, None], s)
    return c, judge(c, model, rows), model, rows


LINEAR = [
    (LinearRegression(), 1), (LinearRegression(positive=True), 1), (Ridge(2.0), 1),
    (Lasso(0.1), 1), (LogisticRegression(C=np.inf), 2), (LogisticRegression(C=0.5), 2),
    (LogisticRegression(C=2.0, l1_ratio=1.0), 2), (OrdinalRegression(), 2),
    (LinearSVC(loss="hinge"), 2), (PoissonRegressor(alpha=0.1), 2), (PoissonRegressor(alpha=0), 2),
    (GammaRegressor(alpha=0.1, l1_ratio=0.5), 3), (LSSVR(), 1), (LSSVC(), 2),
    (DensityWeightedSVC(tol=1e-9), 2),
]  # fmt: skip


@pytest.mark.parametrize(("model", "which"), LINEAR, ids=lambda v: str(v)[:40])
def test_the_judge_believes_a_true_certificate_and_not_one_with_a_gap_of_nothing(model, which):
    data = rows_and_targets()
    c, faults, model, rows = judged(model, data[0], data[which])
    assert c.certified
    assert faults == []
    # a point that is off by 1 % cannot have a gap of 1e-12
    name = "w" if "w" in c.parameters else "beta"
    off = {**c.parameters, name: 1.01 * c.parameters[name] + 0.001}
    planted = replace(c, parameters=off, gap=1e-12 * c.objective)
    assert judge(planted, model, rows) != []


@pytest.mark.parametrize(("model", "which"), LINEAR[:12], ids=lambda v: str(v)[:40])
def test_the_judge_does_not_believe_a_bound_above_the_optimum(model, which):
    data = rows_and_targets()
    c, _, model, rows = judged(model, data[0], data[which])
    assert [f.claim for f in judge(replace(c, bound=1.001 * c.objective), model, rows)] == ["bound"]


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(2.0), Lasso(0.1)], ids=str)
def test_the_judge_does_not_believe_coefficients_nearer_than_they_are(model):
    X, y, _ = problem()
    c, _, model, rows = judged(model, X, y)
    w = c.parameters["w"] + 1e-3
    planted = replace(c, parameters={**c.parameters, "w": w}, gap=1e3, bound=None, coef_error=1e-4)
    assert {f.claim for f in judge(planted, model, rows)} >= {"distance of a coefficient"}


def test_the_judge_does_not_believe_that_a_direction_is_negligible_if_it_is_not():
    X, y, _ = problem()
    X[:, 1] = X[:, 0] * (1 + 1e-12)
    c, _, model, rows = judged(Ridge(1.0), X, y)
    left_out = (LeftOutDirection((0, 1), (1.0, -1.0)),)
    planted = replace(c, _finding=replace(c._finding, left_out=left_out))
    assert "‖Xd‖ of a direction left out" in {f.claim for f in judge(planted, model, rows)}


def test_the_judge_does_not_believe_a_direction_that_does_not_separate():
    X, _, _ = problem()
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=np.inf).fit(X, y)
    c = model.certificate_
    assert c.status == "no finite optimum"
    assert judge(c, model, Rows(X, y)) == []
    y[np.argmax(np.abs(X[:, 0]))] ^= 1
    assert judge(c, model, Rows(X, y)) != []


def test_the_judge_does_not_believe_a_direction_along_which_the_loss_of_a_count_grows():
    X, _, _ = problem()
    y = np.where(X[:, 0] > 0, 0.0, 2.0)
    X[:, 0] = X[:, 0] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoissonRegressor(alpha=0.0).fit(X, y)
    c = model.certificate_
    assert c.status == "no finite optimum"
    assert judge(c, model, Rows(X, y[:, None])) == []
    y[np.argmax(X[:, 0])] = 1.0
    assert judge(c, model, Rows(X, y[:, None])) != []


@pytest.mark.parametrize(
    "model",
    [KMeans(3, random_state=0), GaussianMixture(2, random_state=0, tol=1e-12)],
    ids=["KMeans", "GaussianMixture"],
)
def test_the_judge_does_not_believe_a_local_optimum_that_a_step_improves(model):
    X, _, _ = problem()
    c, faults, model, rows = judged(model, X)
    assert c.certified
    assert faults == []
    name = "cluster_centers_" if isinstance(model, KMeans) else "means_"
    setattr(model, name, getattr(model, name) + 0.05)
    off = {**c.parameters}
    if not isinstance(model, KMeans):
        off["theta"] = {**off["theta"], "means": model.means_}
    assert judge(replace(c, parameters=off), model, rows) != []


def test_the_judge_does_not_believe_counts_that_a_step_improves():
    X = np.random.default_rng(0).poisson(3.0, size=(30, 2)).astype(float)
    c, faults, model, rows = judged(PoissonMixture(2, random_state=0, tol=1e-12), X)
    assert c.certified
    assert faults == []
    off = {**c.parameters, "theta": {"values": 1.1 * c.parameters["theta"]["values"]}}
    assert judge(replace(c, parameters=off), model, rows) != []


@pytest.mark.parametrize("model", [FirthLogisticRegression(), NCFSClassifier(alpha=0.1)], ids=str)
def test_the_judge_does_not_believe_that_a_slope_is_flat(model):
    X, _, y = problem()
    c, faults, model, rows = judged(model, X, y)
    assert c.certified
    assert faults == []
    name = "w" if "w" in c.parameters else "W"
    off = {**c.parameters, name: 1.05 * c.parameters[name]}
    assert judge(replace(c, parameters=off), model, rows) != []


@pytest.mark.parametrize(
    ("model", "which"),
    [(FirthLogisticRegression(), 2), (NCFSClassifier(alpha=0.1), 2),
     (PenalizedRegressor("huber", MCP(0.05)), 1)],
    ids=["Firth", "NCFS", "MCP"],
)  # fmt: skip
def test_the_judge_believes_no_residual_below_the_true_one_however_near(model, which):
    data = problem()
    c, faults, model, rows = judged(model, data[0], data[which])
    assert c.certified
    assert faults == []
    less = max(0.0, c.residual - 1e-3 * c.tol)
    assert judge(replace(c, residual=less), model, rows) != []


def test_the_judge_believes_no_objective_of_firth_that_is_off_by_more_than_it_says():
    X, _, y = problem()
    c, _, model, rows = judged(FirthLogisticRegression(), X, y)
    error = c._finding.facts.objective_error
    assert error < 1e-11 * c.objective
    off = c.objective + 2 * error
    assert [f.claim for f in judge(replace(c, objective=off), model, rows)] == [
        "objective is off by"
    ]


def test_the_judge_does_not_believe_neighbours_that_are_not_the_nearest():
    X, _, _ = problem(12)
    c, faults, model, rows = judged(NearestNeighbors(n_neighbors=3), X)
    assert faults == []
    indices = (c.parameters["indices"] + 1) % len(X)
    off = {**c.parameters, "indices": indices}
    assert judge(replace(c, parameters=off), model, rows) != []


def test_the_judge_does_not_believe_another_spanning_tree():
    X, _, _ = problem(12)
    model, rows = HDBSCAN(min_cluster_size=3, copy=True).fit(X), Rows(X, None, None)
    c = certus.verify(model, X)
    assert judge(c, model, rows) == []
    for name, value in (("k", 6), ("alpha", 1.5), ("labels", np.arange(len(X)) % 2)):
        assert judge(replace(c, parameters={**c.parameters, name: value}), model, rows) != []
    merges = c.parameters["merges"].copy()
    merges[:, 2] *= 1.001
    assert judge(replace(c, parameters={**c.parameters, "merges": merges}), model, rows) != []


@pytest.mark.parametrize("linkage", ["ward", "average", "single", "complete", "centroid"])
def test_the_judge_does_not_believe_another_tree(linkage):
    X, _, _ = problem(12)
    c, faults, model, rows = judged(AgglomerativeClustering(3, linkage=linkage), X)
    assert faults == []
    merges = c.parameters["merges"].copy()
    merges[:, 2] *= 1.001
    assert judge(replace(c, parameters={**c.parameters, "merges": merges}), model, rows) != []
    c = certus.verify(model, X)
    assert judge(c, model, rows) == []
