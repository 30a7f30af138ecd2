"""Parameters, methods and shapes are scikit-learn's, over every estimator."""

import copy
import inspect

import numpy as np
import pytest
import sklearn.linear_model as peers
from sklearn.model_selection import KFold

from certus import linear_model
from tests.contract.estimator_classes import CLASSES, CLASSIFIERS, POSITIVE, REGRESSORS, SEVERAL
from tests.contract.problems import classification, regression
from tests.house.naming import without_address

each_peer = pytest.mark.parametrize(
    "cls", [cls for cls in CLASSES if hasattr(peers, cls.__name__)], ids=lambda cls: cls.__name__
)
PEERS_TOO = [cls for cls in REGRESSORS if hasattr(peers, cls.__name__)]
# what scikit-learn's have not, after all that they have
MORE = {
    "ElasticNetCV": ["choice"], "LassoCV": ["choice"], "PoissonRegressor": ["l1_ratio"],
    "GammaRegressor": ["l1_ratio"],
}  # fmt: skip
OFFSETS = {"offset", "exposure"}  # of a log link


@each_peer
def test_parameters_and_defaults_are_scikit_learns(cls):
    ours = inspect.signature(cls.__init__).parameters
    theirs = inspect.signature(getattr(peers, cls.__name__).__init__).parameters
    more = list(ours)[len(theirs) :]
    assert list(ours)[: len(theirs)] == list(theirs)
    assert more == MORE.get(cls.__name__, [])
    for name, theirs_one in theirs.items():
        assert ours[name].default == theirs_one.default, name
        assert ours[name].kind == theirs_one.kind, name


@each_peer
def test_methods_take_the_arguments_that_scikit_learns_take(cls):
    peer = getattr(peers, cls.__name__)
    methods = {"fit", "predict", "score", "get_params", "set_params", "set_fit_request"}
    if cls in CLASSIFIERS:
        methods |= {"decision_function", "predict_proba", "predict_log_proba"}
        methods |= {"sparsify", "densify"}
    for method in methods:
        ours = list(inspect.signature(getattr(cls, method)).parameters)
        more = OFFSETS if cls in POSITIVE else set()
        ours = [name for name in ours if name not in more]
        assert ours == list(inspect.signature(getattr(peer, method)).parameters)


@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("cls", PEERS_TOO, ids=lambda cls: cls.__name__)
def test_attributes_and_predictions_have_scikit_learns_shapes(cls, intercept, targets):
    if targets and cls not in SEVERAL:
        pytest.skip("one target, and a column of it is warned of")
    X, y, _ = regression(1, k=targets)
    y = np.exp(y / 4) if cls in POSITIVE else y
    ours = cls(fit_intercept=intercept).fit(X, y)
    theirs = getattr(peers, cls.__name__)(fit_intercept=intercept).fit(X, y)
    assert ours.predict(X).shape == theirs.predict(X).shape
    compare_attributes(ours, theirs)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("cls", [c for c in CLASSIFIERS if hasattr(peers, c.__name__)])
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of scikit-learn's own defaults
def test_attributes_and_probabilities_have_scikit_learns_shapes(cls, intercept, classes):
    X, y, _ = classification(1, classes=classes)
    y = np.array(["one", "two", "three"])[y]
    ours = cls(fit_intercept=intercept).fit(X, y)
    theirs = getattr(peers, cls.__name__)(fit_intercept=intercept).fit(X, y)
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        answers = [getattr(model, method)(X) for model in (ours, theirs)]
        assert answers[0].shape == answers[1].shape
        assert answers[0].dtype == answers[1].dtype
    compare_attributes(ours, theirs)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.n_iter_.dtype == theirs.n_iter_.dtype


def compare_attributes(ours, theirs):
    for name in ("coef_", "intercept_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name)), name
    # scikit-learn's fitted attributes are all here too
    fitted = [name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")]
    assert not [name for name in fitted if not hasattr(ours, name)]


def accepted_values():
    """One value of every kind that scikit-learn's own validation accepts."""
    some = {
        "fit_intercept": [True, False, np.True_],
        "copy_X": [True, False],
        "tol": [0, 0.0, 1e-6, 1e-4, 1, np.float32(1e-3)],
        "n_jobs": [None, 1, 2, -1, -2, np.int64(2)],
        "positive": [True, False],
    }
    yield from ((linear_model.LinearRegression, {k: v}) for k, vs in some.items() for v in vs)
    some = {
        "alpha": [0, 0.0, 1, 1.0, 1e9, np.float32(2), np.array([2.0]), [3.0]],
        "fit_intercept": [True, False],
        "copy_X": [True, False],
        "max_iter": [None, 1, 1000],
        "tol": [0, 1e-4],
        "solver": ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"],
        "random_state": [None, 0, np.random.RandomState(0)],
    }
    yield from ((linear_model.Ridge, {k: v}) for k, vs in some.items() for v in vs)
    for solver in ("auto", "lbfgs"):
        yield linear_model.Ridge, {"positive": True, "solver": solver}
    some = {
        "alphas": [(0.1, 1.0), [1], np.array([1.0, 2.0]), 2.0, 3],
        "fit_intercept": [True, False],
        "scoring": [
            None,
            "r2",
            "neg_mean_squared_error",
            "neg_mean_absolute_error",
            "neg_max_error",
        ],
        "cv": [None, 3, KFold(4), [(np.arange(20), np.arange(20, 60))]],
        "gcv_mode": [None, "auto", "svd", "eigen"],
        "store_cv_results": [True, False],
        "alpha_per_target": [True, False],
    }
    yield from ((linear_model.RidgeCV, {k: v}) for k, vs in some.items() for v in vs)


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [pytest.param(*v, id=without_address(f"{v[0].__name__}-{v[1]}")) for v in accepted_values()],
)
def test_what_scikit_learn_accepts_is_accepted_and_means_the_same(cls, parameters):
    X, y, _ = regression(5, noise=1.0)
    theirs = getattr(peers, cls.__name__)(**copy.deepcopy(parameters))
    if "solver" in parameters or "positive" in parameters:
        theirs.set_params(tol=1e-12)  # there it decides how far a solver iterates
    if parameters.get("solver") in ("sag", "saga", "sparse_cg"):
        theirs.set_params(max_iter=100_000)
    if cls is linear_model.Ridge and "max_iter" in parameters:
        theirs.set_params(max_iter=None)
    theirs.fit(X.copy(), y)  # copy_X=False lets it write on X
    ours = cls(**parameters).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5)
    assert isinstance(ours.solver_, str)
    assert ours.certificate_.certified


@pytest.mark.parametrize(
    ("cls", "parameters"),
    [
        (linear_model.LinearRegression, {"fit_intercept": "yes"}),
        (linear_model.LinearRegression, {"positive": 1}),
        (linear_model.LinearRegression, {"tol": -1}),
        (linear_model.LinearRegression, {"n_jobs": 1.5}),
        (linear_model.Ridge, {"alpha": -1.0}),
        (linear_model.Ridge, {"alpha": np.nan}),
        (linear_model.Ridge, {"alpha": "large"}),
        (linear_model.Ridge, {"solver": "choleski"}),
        (linear_model.Ridge, {"solver": "lbfgs"}),
        (linear_model.Ridge, {"solver": "svd", "positive": True}),
        (linear_model.RidgeCV, {"alphas": []}),
        (linear_model.RidgeCV, {"alphas": [1.0, -1.0]}),
        (linear_model.RidgeCV, {"gcv_mode": "eigenvalues"}),
        (linear_model.RidgeCV, {"cv": 3, "store_cv_results": True}),
        (linear_model.RidgeCV, {"cv": 3, "alpha_per_target": True}),
    ],
    ids=str,
)
def test_a_parameter_that_has_no_meaning_is_named_with_its_value(cls, parameters):
    X, y, _ = regression(0)
    with pytest.raises(ValueError) as caught:
        cls(**parameters).fit(X, y)
    assert any(name in str(caught.value) for name in parameters)


def test_a_misspelt_choice_is_answered_with_the_likely_one():
    X, y, _ = regression(0)
    with pytest.raises(ValueError, match=r"solver='choleski'.*Did you mean 'cholesky'\?"):
        linear_model.Ridge(solver="choleski").fit(X, y)


def test_a_peers_parameter_is_refused_where_ours_is_refused_in_the_peer_too():
    X, y, _ = regression(0)
    for parameters in ({"solver": "lbfgs"}, {"solver": "svd", "positive": True}):
        with pytest.raises(ValueError):
            peers.Ridge(**parameters).fit(X, y)
