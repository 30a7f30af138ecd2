"""LinearSVC: scikit-learn's class, at the optimum."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.svm as peers
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import certus
from certus.exceptions import CannotVerifyError, NotCertifiedWarning
from certus.solvers.hinge import dispatch as solvers
from certus.solvers.hinge.dual_coordinates import DualCoordinates
from certus.svm import LinearSVC
from tests.contract.classification import classes
from tests.contract.problems import weights
from tests.hinge import hinge_cases

KINDS = {
    "hinge": {"loss": "hinge"},
    "squared hinge": {},
    "l1": {"penalty": "l1"},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def peer(kind, **parameters):
    parameters = {"tol": 1e-10, "max_iter": 10**6, "random_state": 0, **KINDS[kind], **parameters}
    return peers.LinearSVC(dual=kind == "hinge", **parameters)


def objective(model, X, y, s=None, class_weight=None):
    """Return the objective as scikit-learn states it, column by column."""
    K = len(model.classes_)
    s = np.ones(len(y)) if s is None else s
    if class_weight == "balanced":
        mass = np.array([s[y == k].sum() for k in model.classes_])
        class_weight = dict(zip(model.classes_, s.sum() / (K * mass), strict=True))
    total, z = 0.0, model.decision_function(X).reshape(len(y), -1)
    for t in range(z.shape[1]):
        own = y == model.classes_[1 if K == 2 else t]
        c = np.ones(len(y))
        if class_weight is not None:
            named = np.array([class_weight[label] for label in y])
            c = named if K == 2 else np.where(own, named, 1.0)
        short = np.maximum(1 - np.where(own, z[:, t], -z[:, t]), 0.0)
        loss = short if model.loss == "hinge" else short**2
        theta = np.append(model.coef_[t], np.ravel(model.intercept_)[t] / model.intercept_scaling)
        size = np.abs(theta).sum() if model.penalty == "l1" else theta @ theta / 2
        total += model.C * (s * c) @ loss + size
    return total


# --- the same problem as scikit-learn's ---


@pytest.mark.parametrize(
    "parameters", [{}, {"class_weight": "balanced"}, {"intercept_scaling": 5.0}], ids=str
)
@pytest.mark.parametrize("K", [2, 3])
@each_kind
def test_coefficients_are_scikit_learns_at_a_small_tol(kind, K, parameters):
    X, y = classes(3, 120, 4, K)
    s = weights(3, len(X))
    ours = LinearSVC(C=0.3, tol=1e-12, **KINDS[kind], **parameters).fit(X, y, s)
    theirs = peer(kind, C=0.3, **parameters).fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert ours.certificate_.objective == pytest.approx(
        objective(ours, X, y, s, parameters.get("class_weight")), rel=1e-12
    )
    assert ours.certificate_.objective <= objective(
        theirs, X, y, s, parameters.get("class_weight")
    ) * (1 + 1e-11)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert isinstance(ours.n_iter_, int)


def test_parameters_and_defaults_are_scikit_learns():
    ours, theirs = (
        inspect.signature(cls.__init__).parameters for cls in (LinearSVC, peers.LinearSVC)
    )
    assert [(p.name, p.default, p.kind) for p in ours.values()] == [
        (p.name, p.default, p.kind) for p in theirs.values()
    ]


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_attributes_have_scikit_learns_shapes(intercept, K):
    X, y = classes(1, 60, 3, K)
    ours = LinearSVC(fit_intercept=intercept).fit(X, y)
    theirs = peers.LinearSVC(fit_intercept=intercept, random_state=0).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.decision_function(X).shape == theirs.decision_function(X).shape
    assert ours.intercept_.shape == ((1,) if K == 2 else (K,))
    assert type(ours.n_iter_) is type(theirs.n_iter_)
    assert ours.sparsify().densify().coef_.shape == theirs.coef_.shape


@pytest.mark.parametrize("dual", [True, False, "auto"])
@each_kind
def test_dual_is_taken_in_every_value_and_changes_nothing(kind, dual):
    X, y = classes(1, 60, 3, 2)
    parameters = KINDS[kind]
    np.testing.assert_array_equal(
        LinearSVC(dual=dual, **parameters).fit(X, y).coef_, LinearSVC(**parameters).fit(X, y).coef_
    )


# --- what it proves ---


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
@each_kind
def test_data_as_they_come_are_certified_by_default(kind, load):
    """Columns of very different scales, where liblinear stops at its 1000 iterations."""
    X, y = load(return_X_y=True)
    model = LinearSVC(**KINDS[kind]).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert certus.verify(model, X, y).certified


def test_the_objective_on_breast_cancer_is_below_what_liblinear_reaches():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peers.LinearSVC(loss="hinge", random_state=0).fit(X, y)
    result = certus.verify(theirs, X, y)
    ours = LinearSVC(loss="hinge").fit(X, y).certificate_
    assert result.status == "not optimal"
    assert ours.objective < 0.5 * result.objective
    assert result.bound <= ours.objective
    text = result.explain()
    assert "it stopped at max_iter=1000" in text
    assert "use certus.svm.LinearSVC" in text


@pytest.mark.parametrize("K", [2, 3])
def test_the_dual_point_gives_the_coefficients_and_the_bound(K):
    X, y = classes(2, 80, 3, K)
    model = LinearSVC(loss="hinge", C=0.5, intercept_scaling=2.0, tol=1e-12).fit(X, y)
    beta = model.dual_coef_
    assert beta.shape == ((1 if K == 2 else K), 80)
    np.testing.assert_allclose(beta @ X, model.coef_, atol=1e-6)
    np.testing.assert_allclose(4.0 * beta.sum(axis=1), model.intercept_, atol=1e-6)
    sign = np.where(y == np.arange(1 if K == 2 else 0, K)[:, None], 1.0, -1.0)
    assert ((beta * sign >= 0) & (beta * sign <= 0.5)).all()
    v = np.hstack([beta @ X, 2.0 * beta.sum(axis=1, keepdims=True)])
    D = (beta * sign).sum() - (v**2).sum() / 2
    assert model.certificate_.bound == pytest.approx(D, rel=1e-9)
    assert not hasattr(model.set_params(loss="squared_hinge").fit(X, y), "dual_coef_")


def test_without_its_dual_point_a_model_is_still_proven():
    X, y = classes(2, 80, 3, 2)
    model = LinearSVC(loss="hinge", tol=1e-12).fit(X, y)
    given = certus.verify(model, X, y)
    del model.dual_coef_
    result = certus.verify(model, X, y)
    assert given.certified
    assert result.certified
    assert result.objective == given.objective
    assert result.gap >= model.certificate_.objective - float(
        hinge_cases.exact(X, 2.0 * y - 1, np.ones(80)).value
    )


@each_kind
def test_scikit_learns_model_is_accepted_where_it_is_right_and_refused_where_not(kind):
    X, y = classes(3, 200, 4, 3)
    s = weights(3, len(X))
    model = peer(kind, C=0.3).fit(X, y, s)
    assert certus.verify(model, X, y, s).certified
    assert not certus.verify(model, X, y).certified  # other weights
    for name, value in (
        ("coef_", 1.05 * model.coef_),
        ("intercept_", model.intercept_ + 0.2),
        ("C", 0.4),
        ("intercept_scaling", 3.0),
    ):
        before = getattr(model, name)
        setattr(model, name, value)
        result = certus.verify(model, X, y, s)
        assert not result.certified, name
        assert result.objective - result.gap <= result.bound * (1 + 1e-12)
        setattr(model, name, before)
    assert "Σ" in result.formula


def test_scikit_learns_crammer_singer_is_refused_by_the_audit():
    X, y = classes(3, 60, 4, 3)
    model = peers.LinearSVC(multi_class="crammer_singer", random_state=0, tol=0.1).fit(X, y)
    with pytest.raises(CannotVerifyError, match="only multi_class='ovr' can"):
        certus.verify(model, X, y)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_long_run_of_sgd_is_nearer_the_optimum_than_a_short_one(loss, K):
    X, y = classes(3, 300, 3, K)
    X, gaps = StandardScaler().fit_transform(X), []
    for epochs in (2, 1000):
        model = SGDClassifier(
            loss, alpha=0.05, learning_rate="invscaling", eta0=0.1, average=True, max_iter=epochs,
            tol=None, random_state=0,
        ).fit(X, y)  # fmt: skip
        result = certus.verify(model, X, y)
        assert result.formula.startswith("1/n Σ [1 − yᵢ(xᵢᵀw + b)]₊")
        gaps.append(result.residual)
    assert gaps[1] < 0.1 * gaps[0]
    assert gaps[1] < 1e-3


def test_an_optimum_of_sgds_objective_is_accepted():
    """C-SVC with a linear kernel minimises it: C = 1/(nα), and the intercept is free."""
    X, y = classes(5, 150, 3, 2)
    svc = peers.SVC(kernel="linear", C=1 / (150 * 0.02), tol=1e-10).fit(X, y)
    model = SGDClassifier("hinge", alpha=0.02, max_iter=5, tol=None, random_state=0).fit(X, y)
    message = certus.verify(model, X, y).explain()
    assert "use certus.svm.LinearSVC(loss='hinge', C=0.333333, intercept_scaling=100)" in message
    model.coef_, model.intercept_ = svc.coef_, svc.intercept_
    assert certus.verify(model, X, y).certified


# --- rows of every kind ---


@pytest.mark.parametrize("solver", [None, DualCoordinates], ids=["newton", "dual"])
@each_kind
def test_layouts_and_types_agree(kind, solver, monkeypatch):
    if solver is not None:
        monkeypatch.setattr(solvers, "choose", lambda rows: solver())
    X, y = classes(4, 150, 5, 2)
    X = np.round(X * 4) / 4
    X[np.abs(X) < 0.5] = 0.0
    plain = LinearSVC(tol=1e-10, **KINDS[kind]).fit(X, y)
    for made in (
        csr_array(X),
        csc_array(X),
        csr_matrix(X),
        np.asfortranarray(X),
        X.astype(np.float32),
        csr_array(X.astype(np.float32)),
        pd.DataFrame(X).add_prefix("x"),
        X[::-1][::-1],
    ):
        model = LinearSVC(tol=1e-10, **KINDS[kind]).fit(made, y)
        assert model.certificate_.certified
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-5)
        np.testing.assert_allclose(
            model.decision_function(made), plain.decision_function(X), atol=1e-4
        )
    whole = LinearSVC(tol=1e-10, **KINDS[kind]).fit((4 * X).astype(np.int16), y)
    assert whole.certificate_.certified


def test_many_classes_share_the_threads_and_give_the_same_bits(monkeypatch):
    monkeypatch.setattr(solvers, "choose", lambda rows: DualCoordinates())
    X, y = classes(4, 4000, 150, 4)  # enough for several blocks
    fits = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            fits.append(LinearSVC(loss="hinge", C=0.001).fit(X, y))
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].solver_ == "dual"


def test_random_state_seeds_the_dual_solver(monkeypatch):
    monkeypatch.setattr(solvers, "choose", lambda rows: DualCoordinates())
    X, y = classes(4, 200, 5, 2)
    a, b, c = (LinearSVC(loss="hinge", random_state=r).fit(X, y).dual_coef_ for r in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


# --- what people see ---


def test_max_iter_warns_and_says_how_far(capsys):
    X, y = load_breast_cancer(return_X_y=True)
    for parameters in ({"loss": "hinge"}, {}):
        with pytest.warns(NotCertifiedWarning, match=r"stopped at max_iter=2 .*Raise max_iter\.$"):
            model = LinearSVC(max_iter=2, **parameters).fit(X, y)
        assert model.n_iter_ == 2
        assert not model.certificate_.certified
        assert "What to do     raise max_iter\n" in model.certificate_.explain()
        with pytest.warns(NotCertifiedWarning):
            LinearSVC(max_iter=1, verbose=1, **parameters).fit(X, y)
        assert "LinearSVC: iteration 1, objective" in capsys.readouterr().out


def test_the_trace_falls_and_its_bounds_rise():
    X, y = load_breast_cancer(return_X_y=True)
    trace = LinearSVC(loss="hinge").fit(X, y).certificate_.trace
    assert len(trace) > 5
    assert [t.objective for t in trace] == sorted((t.objective for t in trace), reverse=True)
    assert [t.bound for t in trace] == sorted(t.bound for t in trace)


def test_ctrl_c_keeps_the_best_so_far(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    whole, calls = solvers.HingeProblem.sums, []

    def interrupted(self, g):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return whole(self, g)

    monkeypatch.setattr(solvers.HingeProblem, "sums", interrupted)
    model = LinearSVC(loss="hinge")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.certificate_.status == "stopped"
    assert model.coef_.any()
    assert model.dual_coef_.shape == (1, 569)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l1", "loss": "hinge"}, "Unsupported set of arguments: penalty='l1' with"),
        ({"multi_class": "crammer_singer"}, "'crammer_singer' is not supported: use"),
        ({"multi_class": "ovo"}, "give one of 'ovr', 'crammer_singer'"),
        ({"loss": "squard_hinge"}, "Did you mean 'squared_hinge'"),
        ({"penalty": "l3"}, "give one of 'l1', 'l2'"),
        ({"dual": "yes"}, "dual='yes': give True or False"),
        ({"C": 0.0}, "C=0.0: give a finite number above 0"),
        ({"C": np.inf}, "C=inf: give a finite number above 0"),
        ({"tol": -1}, "tol=-1: give a finite number above 0"),
        ({"intercept_scaling": 0}, "intercept_scaling=0: give a finite number above 0"),
        ({"max_iter": 1.5}, "max_iter=1.5: give a whole number"),
        ({"class_weight": "balance"}, "class_weight='balance'"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters, message):
    X, y = classes(1, 30, 2, 2)
    with pytest.raises(ValueError, match=message):
        LinearSVC(**parameters).fit(X, y)


@each_kind
def test_a_number_that_is_not_finite_is_named_by_row_and_column(kind):
    X, y = classes(1, 30, 2, 2)
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        LinearSVC(**KINDS[kind]).fit(pd.DataFrame(X, columns=["a", "b"]), y)
