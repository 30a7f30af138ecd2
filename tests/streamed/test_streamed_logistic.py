"""Logistic and softmax regression on streamed rows: the bits of fits on arrays, and proofs."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as SklearnLogistic

import certus
from certus.certificate import data
from certus.data.rows import Rows
from certus.exceptions import CannotVerifyError, InferenceError
from certus.linear_model import (
    FirthLogisticRegression,
    LogisticRegression,
    LogisticRegressionCV,
    PenalizedClassifier,
)
from certus.proofs.glm import _curvature
from certus.solvers import SAGA, NewtonCG
from certus.solvers.glm import dispatch, sampled_newton
from certus.solvers.lasso import coordinate_descent, small_newton
from certus.solvers.separation import scaled_rows
from certus.solvers.separation.direction import separating_direction
from tests.engines.parts_table import PartsTable
from tests.streamed.class_cases import CASES, LABELS, SEPARATED, N, draw, table_of
from tests.streamed.linear_cases import assert_equal_bits, attributes
from tests.streams import GuardedTable

PENALTIES = {
    "L2": {},
    "none": {"C": np.inf},
    "L1": {"C": 0.02, "l1_ratio": 1.0},
    "elastic net": {"l1_ratio": 0.5, "fit_intercept": False},
}
pytestmark = [
    pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning"),
]


def rows_of(table):
    return Rows(table.X, table.y, table.s)


def assert_same_fit(model, X, k, s, table=None):
    """Fit to the table and to the arrays; return the first."""
    table = table or table_of(X, k, s)
    streamed = clone(model).fit(table)
    on_arrays = clone(model).fit(X, LABELS[k], s)
    assert_equal_bits(streamed, on_arrays)
    assert streamed.certificate_.explain() == on_arrays.certificate_.explain()
    return streamed


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_fit_to_a_table_has_the_bits_of_the_fit_to_arrays(penalty, case, K, small_blocks):
    X, k, s = CASES[case](K)
    model = assert_same_fit(LogisticRegression(**PENALTIES[penalty]), X, k, s)
    again = certus.verify(model, table_of(X, k, s))
    assert again.status == model.certificate_.status
    assert again.objective == model.certificate_.objective
    if penalty == "L2":
        assert model.certificate_.certified
    if penalty == "none":
        expected = "no finite optimum" if case in SEPARATED else "optimal"
        assert model.certificate_.status == expected


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("class_weight", ["balanced", {"low": 3.0, "high": 0.5}, {"low": 0.0}])
def test_weights_of_classes_are_weights_of_rows(class_weight, weights, K, small_blocks):
    X, k, s = draw(K, weights=weights)
    model = assert_same_fit(LogisticRegression(class_weight=class_weight), X, k, s)
    assert certus.verify(model, table_of(X, k, s)).certified


@pytest.mark.parametrize("solver", ["newton-cg", "newton-cholesky", "saga", NewtonCG()], ids=str)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [0.01, np.inf])
def test_every_solver_of_blocks_has_the_bits_of_its_fit_to_arrays(solver, K, C, small_blocks):
    X, k, s = draw(K, weights=True)
    model = assert_same_fit(LogisticRegression(C=C, solver=solver, tol=1e-9), X, k, s)
    assert model.certificate_.certified


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("penalty", ["L2", "L1"])
@pytest.mark.parametrize("weights", [False, True])
def test_a_sample_of_a_table_is_the_first_guess_as_on_arrays(
    penalty, K, weights, small_blocks, monkeypatch
):
    monkeypatch.setattr(dispatch, "MIN_SAMPLING_ELEMENTS", 0)
    monkeypatch.setattr(small_newton, "MIN_SAMPLED_ELEMENTS", 0)
    X, k, s = draw(K, weights=weights)
    model = assert_same_fit(LogisticRegression(**PENALTIES[penalty]), X, k, s)
    assert model.certificate_.certified


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["blocks", "parts"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_many_rows_are_fitted_by_compiled_passes(C, kind, K):
    X, k, s = draw(K, n=200_000, weights=True)
    table = table_of(X, k, s)
    if kind == "parts":
        table = PartsTable(X, k, s, cuts=(1, 70_000, 70_011), classes=LABELS[:K])
    model = assert_same_fit(LogisticRegression(C=C), X, k, s, table)
    assert model.certificate_.certified


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("options", [{}, {"C": np.inf}, {"C": 0.02, "l1_ratio": 1.0}], ids=str)
def test_samples_are_no_larger_than_memory_allows(options, K, small_blocks, monkeypatch):
    """Fits from small samples, whose proofs take all rows where a sample would be too large."""
    monkeypatch.setattr(dispatch, "MIN_SAMPLING_ELEMENTS", 0)
    X, k, s = draw(K, weights=True)
    expected = LogisticRegression(**options).fit(X, LABELS[k], s)
    for module in (small_newton, sampled_newton):
        monkeypatch.setattr(module, "MAX_SAMPLE_ELEMENTS", 1000)
    monkeypatch.setattr(data, "MAX_HELD_ELEMENTS", 1000)
    monkeypatch.setattr(_curvature, "SUBSET_WORK", (2**10, 2**12))
    model = LogisticRegression(**options).fit(table_of(X, k, s))
    assert model.certificate_.certified
    gaps = model.certificate_.gap + expected.certificate_.gap
    difference = abs(model.certificate_.objective - expected.certificate_.objective)
    assert difference <= gaps + 1e-12 * expected.certificate_.objective


def test_all_coefficients_are_in_one_model_where_columns_cannot_be_copied(monkeypatch):
    monkeypatch.setattr(coordinate_descent, "MAX_COLUMNS_WITHOUT_WORKING_SET", 4)
    X, k, s = draw(3, weights=True)
    model = LogisticRegression(C=0.02, l1_ratio=1.0).fit(table_of(X, k, s))
    on_arrays = LogisticRegression(C=0.02, l1_ratio=1.0).fit(X, LABELS[k], s)
    assert model.certificate_.certified
    np.testing.assert_array_equal(model.coef_ == 0, on_arrays.coef_ == 0)
    np.testing.assert_allclose(model.coef_, on_arrays.coef_, atol=1e-3)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("penalty", ["L2", "L1", "none"])
def test_a_warm_start_continues_on_a_table(penalty, K, small_blocks):
    X, k, _ = draw(K)
    first, second = (
        LogisticRegression(**PENALTIES[penalty], warm_start=True).fit(X[:500], LABELS[k[:500]])
        for _ in range(2)
    )
    assert_equal_bits(first.fit(table_of(X, k)), second.fit(X, LABELS[k]))


# --- separated classes ----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("case", SEPARATED)
def test_separated_classes_are_found_and_named_where_rows_are_not_loaded(case, K, monkeypatch):
    X, k, s = CASES[case](K)
    on_arrays = LogisticRegression(C=np.inf).fit(X, LABELS[k], s)
    monkeypatch.setattr(scaled_rows, "MAX_LOADED_ELEMENTS", 0)
    table = table_of(X, k, s)
    model = LogisticRegression(C=np.inf).fit(table)
    assert model.certificate_.status == "no finite optimum"
    assert certus.verify(model, table).status == "no finite optimum"
    ours, theirs = (m.certificate_.explain().splitlines() for m in (model, on_arrays))
    if case != "fewer rows than columns":  # there, many directions separate
        assert ours[1] == theirs[1]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("apart", [True, False])
def test_one_row_decides_whether_classes_are_separated(K, apart, small_blocks, monkeypatch):
    monkeypatch.setattr(scaled_rows, "MAX_LOADED_ELEMENTS", 0)
    X, k, _ = CASES["separated"](K)
    if not apart:  # the middle of the other class, far behind the rows that a sample holds
        k[4321] = k[4322:].max() if k[4321] == 0 else 0
    rows = table_of(X, k)
    separation = scaled_rows.scaled_rows(rows_of(rows), K, True)
    assert isinstance(separation, scaled_rows.StreamedConstraintRows)
    result = separating_direction(rows_of(rows), K)
    if apart:
        assert result.kind == "complete"
    else:
        assert result.kind in ("not separable", "quasi-complete")
        on_arrays = separating_direction(Rows(X, k[:, None].astype(float)), K)
        assert result.kind == on_arrays.kind


# --- other sources --------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("case", ["weights", "aliased", "separated"])
def test_parts_with_an_engine_have_the_bits_of_arrays(case, penalty, K):
    X, k, s = CASES[case](K)
    table = PartsTable(X, k, s, cuts=(700, 701, 5000), classes=LABELS[:K])
    model = assert_same_fit(LogisticRegression(**PENALTIES[penalty]), X, k, s, table)
    assert certus.verify(model, table).status == model.certificate_.status


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("C", [0.1, np.inf])
def test_states_of_conjugate_gradients_stay_with_their_parts(C, K):
    X, k, s = draw(K, n=200_000, weights=True)
    table = PartsTable(X, k, s, cuts=(1, 70_000, 70_011), classes=LABELS[:K])
    assert_same_fit(LogisticRegression(C=C, solver="newton-cg"), X, k, s, table)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("sampled", [True, False])
def test_no_step_reads_more_than_a_share_of_the_rows(
    sampled, penalty, K, small_blocks, monkeypatch
):
    if sampled:
        monkeypatch.setattr(dispatch, "MIN_SAMPLING_ELEMENTS", 0)
    X, k, s = draw(K, n=16 * N, weights=True)
    table = GuardedTable(X, k, s, most=5 * N, classes=LABELS[:K])
    model = LogisticRegression(**PENALTIES[penalty]).fit(table)
    assert certus.verify(model, table).certified
    assert model.score(table) > 0.5
    assert model.predict_proba(table).shape == (16 * N, K)
    assert 0 < table.largest <= 5 * N


def test_whole_numbers_and_boolean_labels_are_classes(small_blocks):
    X, k, _ = draw(2)
    table = table_of(X, k)
    table.classes, table.distinct_targets = None, np.array([0, 1])
    model = LogisticRegression().fit(table)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, k).coef_)
    np.testing.assert_array_equal(model.predict(table), LogisticRegression().fit(X, k).predict(X))
    table = table_of(X, k)
    table.classes = np.array([False, True])
    assert LogisticRegression().fit(table).classes_.dtype == bool


@pytest.mark.parametrize("K", [2, 3])
def test_answers_are_those_of_arrays(K, small_blocks):
    X, k, s = draw(K, weights=True)
    table = table_of(X, k, s)
    model = LogisticRegression().fit(table)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        answers = getattr(model, method)
        np.testing.assert_array_equal(answers(table), answers(X))
    assert model.score(table) == pytest.approx(model.score(X, LABELS[k], s), rel=1e-12)


# --- models of scikit-learn -----------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("options", [{}, {"C": np.inf}, {"l1_ratio": 1.0, "C": 0.05}], ids=str)
def test_a_model_of_scikit_learn_is_verified_on_a_table(options, K, small_blocks):
    X, k, s = draw(K, weights=True)
    solver = "saga" if options.get("l1_ratio") else "newton-cg"
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SklearnLogistic(**options, solver=solver, tol=1e-9, max_iter=5000)
    model.fit(X, LABELS[k], s)
    table = table_of(X, k, s)
    found, expected = certus.verify(model, table), certus.verify(model, X, LABELS[k], s)
    assert found.certified
    assert (found.objective, found.gap) == (expected.objective, expected.gap)
    model.coef_ = model.coef_ * 1.5
    assert certus.verify(model, table).status == "not optimal"


def test_labels_that_the_model_does_not_know_are_named():
    X, k, _ = draw(3)
    model = LogisticRegression().fit(X[k < 2], LABELS[k[k < 2]])
    with pytest.raises(CannotVerifyError, match="'middle'"):
        certus.verify(model, table_of(X, k))


# --- standard errors ------------------------------------------------------------------------------


@pytest.mark.parametrize("cov", ["classical", "HC0"])
@pytest.mark.parametrize("case", ["weights", "aliased", "far from 0", "float32"])
@pytest.mark.parametrize("K", [2, 3])
def test_inference_on_a_table_has_the_bits_of_inference_on_arrays(K, case, cov, small_blocks):
    X, k, s = CASES[case](K)
    table = table_of(X, k, s)
    model = LogisticRegression(C=np.inf).fit(table)
    found, expected = model.inference(table, cov=cov), model.inference(X, LABELS[k], s, cov=cov)
    for name in ("coef", "standard_errors", "covariance", "n", "maximum", "null"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert str(found.summary()) == str(expected.summary())


def test_profile_intervals_read_the_table_again(small_blocks):
    X, k, s = draw(2, n=1000, weights=True)
    model = LogisticRegression(C=np.inf).fit(table_of(X, k, s))
    found, expected = model.inference(table_of(X, k, s)), model.inference(X, LABELS[k], s)
    assert str(found.conf_int(kind="lr")) == str(expected.conf_int(kind="lr"))


def test_inference_refuses_other_rows(small_blocks):
    X, k, _ = draw(2)
    model = LogisticRegression(C=np.inf).fit(table_of(X, k))
    with pytest.raises(InferenceError, match="not the rows"):
        model.inference(table_of(X, 1 - k))


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["liblinear", "sgd", "nesterov", SAGA()], ids=str)
def test_solvers_that_need_all_rows_are_refused_before_a_row_is_read(solver):
    X, k, _ = draw(2)
    table = GuardedTable(X, k, most=1, classes=LABELS[:2])
    with pytest.raises(ValueError, match=r"solver='auto'"):
        LogisticRegression(solver=solver).fit(table)


def test_parts_are_given_as_arrays():
    X, k, _ = draw(2)
    with pytest.raises(ValueError, match=r"one part of the rows, as arrays"):
        LogisticRegression(solver="sgd").partial_fit(table_of(X, k), None)


@pytest.mark.parametrize(
    "model", [LogisticRegressionCV(), FirthLogisticRegression(), PenalizedClassifier()], ids=str
)
def test_models_that_need_all_rows_name_those_that_read_them(model):
    X, k, _ = draw(2)
    with pytest.raises(TypeError, match=r"LogisticRegression, OrdinalRegression"):
        model.fit(table_of(X, k), None)


def test_targets_beside_a_table_and_tables_without_are_refused():
    X, k, _ = draw(2)
    with pytest.raises(ValueError, match=r"y was given beside streamed rows"):
        LogisticRegression().fit(table_of(X, k), k)
    with pytest.raises(ValueError, match=r"open_rows\(…, target="):
        LogisticRegression().fit(GuardedTable(X, most=N))
    with pytest.raises(ValueError, match="requires y"):
        LogisticRegression().fit(X)


def test_one_class_is_refused_with_its_name():
    X, k, _ = draw(2)
    table = table_of(X, 0 * k)
    with pytest.raises(ValueError, match="only one class, 'high'"):
        LogisticRegression().fit(table)


def test_attributes_are_the_same_on_tables():
    X, k, _ = draw(2)
    table = table_of(X, k, names=list("abcdef"))
    model = LogisticRegression().fit(table)
    assert {"coef_", "intercept_", "classes_", "n_iter_", "solver_"} <= attributes(model).keys()
    assert model.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match=r"'f'|feature"):
        model.predict(table_of(X, k, names=list("abcdeg")))
