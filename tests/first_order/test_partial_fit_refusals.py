"""Invalid parts of rows are refused with a message, and leave the model unchanged."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus.linear_model import LogisticRegression, PenalizedClassifier, PenalizedRegressor
from certus.losses import Softmax
from certus.penalties import L1, L2
from certus.solvers import SAGA, SGD, GradientDescent
from tests.contract.problems import classification, regression

CLASSIFIERS = (LogisticRegression, PenalizedClassifier)
each_classifier = pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)


@pytest.fixture
def binary():
    X, y, _ = classification(0, n=60, p=3)
    return X, np.array(["no", "yes"])[y]


def state(model):
    """Fitted attributes that a person sees, and the stream."""
    sampled = {k: v for k, v in vars(model).items() if k.endswith("_")}
    return copy.deepcopy((sampled, [vars(stream) for stream in vars(model).get("_streams") or ()]))


def assert_same(a, b):
    assert a[0].keys() == b[0].keys()
    for name, value in a[0].items():
        if name not in ("loss_", "penalty_"):
            np.testing.assert_array_equal(value, b[0][name])
    for one, other in zip(a[1], b[1], strict=True):
        np.testing.assert_array_equal(one["theta"], other["theta"])
        assert (one["weight"], one["parts"]) == (other["weight"], other["parts"])


@pytest.mark.parametrize("kind", [*CLASSIFIERS, PenalizedRegressor], ids=lambda k: k.__name__)
def test_only_methods_that_can_do_with_rows_seen_once_have_it(kind, binary):
    for solver in ("sgd", "asgd", SGD(), SGD(momentum=0.5)):
        assert hasattr(kind(solver=solver), "partial_fit")
    for solver in (kind().solver, "gd", "saga", SAGA(), GradientDescent(), SGD):
        model = kind(solver=solver)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as caught:
            model.partial_fit(*binary)
        message = str(caught.value.__cause__)
        assert "partial_fit needs a solver that reads each row only once" in message
        assert "use solver='sgd', solver='asgd' or certus.solvers.SGD(…)" in message


@each_classifier
def test_the_first_part_must_say_every_class_and_the_next_must_agree(kind, binary):
    X, y = binary
    model = kind(solver="sgd")
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y holds 'yes' .* not among"):
        model.partial_fit(X, y, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="class"):
        model.partial_fit(X, y, classes=["no"])
    assert not hasattr(model, "coef_")
    model.partial_fit(X, y, classes=["yes", "no"]).partial_fit(X, y, ["no", "yes"])
    before = state(model)
    with pytest.raises(ValueError, match=r"is not the same as on last call to partial_fit, was"):
        model.partial_fit(X, y, classes=["no", "yes", "maybe"])
    other = y.astype(object)
    other[3] = "maybe"
    with pytest.raises(ValueError, match="maybe"):
        model.partial_fit(X, other)
    assert_same(state(model), before)


@each_classifier
def test_parts_that_do_not_fit_are_refused_and_change_nothing(kind, binary):
    X, y = binary
    model = kind(solver="sgd").partial_fit(X, y, ["no", "yes"])
    before, bad = state(model), X.copy()
    bad[7, 1] = np.nan
    for given, message in (
        ((X[:, :2], y), "2 features.*3 features"),
        ((bad, y), "row 7"),
        ((sparse.csr_array(bad), y), "row 7|column 1"),
        ((X, y[1:]), "60 rows|inconsistent"),
        ((X, None), "requires y"),
        ((X, y, None, np.zeros(60)), "all are 0"),
        ((X, y, None, -np.ones(60)), "Negative values"),
        ((X, y, None, np.ones(59)), "59"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*given)
        assert_same(state(model), before)


@each_classifier
def test_weights_that_need_all_rows_are_refused(kind, binary):
    model = kind(solver="sgd", class_weight="balanced")
    with pytest.raises(ValueError, match=r"class_weight='balanced' needs all rows"):
        model.partial_fit(*binary, ["no", "yes"])


def test_targets_that_do_not_fit_are_refused_and_change_nothing():
    X, Y, _ = regression(0, n=60, p=3, k=2)
    for y, wrong in ((Y[:, 0], Y), (Y, Y[:, 0]), (Y, Y[:, [0, 1, 1]])):
        model = PenalizedRegressor(solver="sgd").partial_fit(X, y)
        before = state(model)
        with pytest.raises(ValueError, match=r"the model has .* target"):
            model.partial_fit(X, wrong)
        with pytest.raises(ValueError, match="2 features"):
            model.partial_fit(X[:, :2], y)
        with pytest.raises(ValueError, match="y"):
            model.partial_fit(X, np.full_like(y, np.nan))
        assert_same(state(model), before)
    model = PenalizedRegressor(solver="sgd").partial_fit(X, Y[:, :1])
    assert model.partial_fit(X, Y[:, 0]).coef_.shape == (1, 3), "it keeps the shape that it had"


def test_parts_of_the_model_are_checked_as_fit_checks_them():
    X, y, _ = regression(0, n=60, p=3)
    with pytest.raises(ValueError, match="takes several scores per row: use PenalizedClassifier"):
        PenalizedRegressor(Softmax(), solver="sgd").partial_fit(X, y)
    for model in (PenalizedRegressor(penalty=L1(1.0), solver="sgd"),):
        with pytest.raises(ValueError, match="needs a smooth penalty"):
            model.partial_fit(X, y)
    k = (y > 0).astype(int)
    with pytest.raises(ValueError, match="needs a smooth penalty"):
        LogisticRegression(l1_ratio=0.5, solver="sgd").partial_fit(X, k, [0, 1])
    with pytest.raises(ValueError, match="fit_intercept"):
        LogisticRegression(fit_intercept="x", solver="sgd").partial_fit(X, k, [0, 1])
    with pytest.raises(ValueError, match="C"):
        LogisticRegression(C=-1.0, solver="sgd").partial_fit(X, k, [0, 1])


@pytest.mark.parametrize("thin", [False, True], ids=["dense", "sparse"])
def test_steps_that_overflow_leave_the_model_as_it_was(thin):
    X, Y, _ = regression(0, n=60, p=3, k=2)
    given = sparse.csr_array(X) if thin else X
    for y in (Y[:, 0], Y):
        model = PenalizedRegressor(solver=SGD(1e30, schedule="constant"))
        with pytest.raises(ValueError, match="The model is as it was before these rows"):
            model.partial_fit(given, y)
        assert not hasattr(model, "coef_")
        model.set_params(solver=SGD()).partial_fit(given, y)
        before = state(model)
        with pytest.raises(ValueError, match="Give a smaller step, or scale the columns"):
            model.set_params(solver=SGD(1e30, schedule="constant")).partial_fit(given, y)
        assert_same(state(model), before)
        with pytest.raises(ValueError, match="the squares of X overflow"):
            model.set_params(solver=SGD()).partial_fit(1e200 * given, y)
        assert_same(state(model), before)


@each_classifier
def test_an_interrupt_leaves_the_model_as_it_was(kind, binary, monkeypatch):
    from certus.kernels.first_order import sgd

    X, y = binary
    model = kind(solver=SGD(momentum=0.5, average=2)).partial_fit(X, y, ["no", "yes"])
    twin, before, plain = copy.deepcopy(model), state(model), sgd.descend

    def interrupted(*args):
        plain(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sgd, "descend", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, y)
    assert_same(state(model), before)
    for one in (model, twin):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(model.coef_, twin.coef_)


def test_an_interrupted_fit_is_gone_on_from(binary, monkeypatch):
    X, y = binary
    for model in (
        PenalizedClassifier("logistic", L2(5.0), SGD()),
        LogisticRegression(C=0.2, solver=SGD()),
        PenalizedRegressor("squared", L2(5.0), SGD()),
    ):
        target = (y == "yes").astype(int)
        first = ([0, 1],) if hasattr(model, "class_weight") else ()
        model.partial_fit(X, target, *first)
        plain, calls = SGD.step, []

        def interrupted(self, problem, at, plain=plain, calls=calls):
            calls.append(1)
            if len(calls) == 9:
                raise KeyboardInterrupt
            return plain(self, problem, at)

        with monkeypatch.context() as patched:
            patched.setattr(SGD, "step", interrupted)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, target)
        kept = model.coef_.copy()
        model.set_params(solver=SGD(1e-9)).partial_fit(X, target)
        np.testing.assert_allclose(model.coef_, kept, atol=1e-6)
        assert np.all(model.n_iter_ == 1)


@each_classifier
def test_frames_keep_their_names(kind, binary):
    X, y = binary
    frame = pd.DataFrame(X, columns=["age", "income", "height"])
    model = kind(solver="sgd").partial_fit(frame, pd.Series(y), ["no", "yes"])
    np.testing.assert_array_equal(model.feature_names_in_, ["age", "income", "height"])
    plain = kind(solver="sgd").partial_fit(X, y, ["no", "yes"])
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["income", "age", "height"]], y)
    frame.iloc[4, 1] = np.nan
    with pytest.raises(ValueError, match="'income'"):
        model.partial_fit(frame, y)
    result = certus.verify(model, frame.fillna(0.0), y)
    assert result.gap > 0


def test_a_column_of_labels_is_warned_of_at_the_persons_line(binary):
    X, y = binary
    for kind in CLASSIFIERS:
        model = kind(solver="sgd")
        for _ in range(2):
            with pytest.warns(DataConversionWarning, match="column-vector y") as warned:
                model.partial_fit(X, y[:, None], ["no", "yes"])
            assert warned[0].filename == __file__


CHECKED = [
    LogisticRegression(solver="sgd", max_iter=5),
    PenalizedClassifier(solver="asgd", max_iter=5),
    PenalizedRegressor(solver="sgd", max_iter=5),
]


DRAWS = "a weight of 2 is not the row twice: other rows are drawn"
FAILS = {
    "check_sample_weight_equivalence_on_dense_data": DRAWS,
    "check_sample_weight_equivalence_on_sparse_data": DRAWS,
    "check_class_weight_classifiers": "one step for all: columns of size 20 make it short for b",
}


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda model: FAILS)
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
