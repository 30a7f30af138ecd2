"""What scikit-learn's world expects of mixtures, and input that is bad."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.mixture as peers
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import mixture
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.mixture import GaussianMixture, MultinomialMixture, PoissonMixture
from tests.mixture.gaussian_cases import TYPES, blobs

CLASSES = [getattr(mixture, name) for name in mixture.__all__]
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
STARTS = "starts are drawn from the rows in their order, and a row twice is two rows to draw"
KNOWN = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    STARTS,
)


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@parametrize_with_checks(
    [
        *(GaussianMixture(covariance_type=name, random_state=0) for name in TYPES),
        GaussianMixture(2, random_state=0),
        PoissonMixture(random_state=0),
        MultinomialMixture(random_state=0),
    ],
    expected_failed_checks=lambda model: KNOWN if model.n_components > 1 else {},
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def rows(cls, n=150):
    draw = np.random.default_rng(0)
    if cls is GaussianMixture:
        return blobs(1, n=n)
    return (
        draw.random((n, 3)) < np.array([[0.1, 0.5, 0.9], [0.8, 0.2, 0.3]])[np.arange(n) % 2]
    ) * 1.0


def make(cls, **more):
    return cls(2, random_state=0, **more)


# --- the interface --------------------------------------------------------------------------------


def test_parameters_are_scikit_learns_and_two_more():
    ours = inspect.signature(GaussianMixture.__init__).parameters
    theirs = inspect.signature(peers.GaussianMixture.__init__).parameters
    assert [*theirs, "solver", "annealing"] == list(ours)
    differ = {name for name in theirs if ours[name].default != theirs[name].default}
    assert differ == {"reg_covar", "max_iter"}


def test_attributes_are_scikit_learns():
    frame = pd.DataFrame(blobs(1), columns=list("abc"))
    for name in TYPES:
        ours = GaussianMixture(2, covariance_type=name, random_state=0).fit(frame)
        theirs = peers.GaussianMixture(2, covariance_type=name, random_state=0).fit(frame)
        for attribute in (n for n in vars(theirs) if n.endswith("_") and n != "lower_bounds_"):
            assert np.shape(getattr(ours, attribute)) == np.shape(getattr(theirs, attribute))


@each_class
def test_what_is_fitted_and_asked_for_is_documented(cls):
    doc = inspect.getdoc(cls)
    model = make(cls).fit(pd.DataFrame(rows(cls), columns=list("abc")))
    for name in [n for n in vars(model) if n.endswith("_")]:
        assert f"{name} : " in doc, f"{name} is not documented"
    for name in inspect.signature(cls).parameters:
        assert f"{name} : " in doc, f"{name} is not documented"
    assert "Σ" in doc.split("Parameters\n")[0]
    assert "Examples\n--------" in doc


@each_class
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_a_fitted_model_says_the_same(cls, copied):
    X = rows(cls)
    model = make(cls).fit(X)
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert repr(twin.certificate_) == repr(model.certificate_)


@each_class
def test_a_clone_has_nothing_of_the_fit(cls):
    X = rows(cls)
    twin = clone(make(cls).fit(X))
    for method in (twin.predict, twin.score, twin.bic):
        with pytest.raises(NotFittedError):
            method(X)
    with pytest.raises(NotFittedError):
        twin.sample()


@each_class
def test_a_fit_changes_neither_parameters_nor_data(cls):
    X, s = rows(cls), np.arange(1.0, 151)
    model = make(cls)
    before = repr(model.get_params())
    model.fit(X, sample_weight=s)
    assert repr(model.get_params()) == before
    np.testing.assert_array_equal(X, rows(cls))
    np.testing.assert_array_equal(s, np.arange(1.0, 151))


@each_class
def test_a_second_fit_forgets_the_first(cls):
    X = rows(cls)
    once = make(cls).fit(X)
    twice = make(cls).fit(pd.DataFrame(X[:70], columns=list("abc")), sample_weight=3.0).fit(X)
    assert twice.lower_bound_ == once.lower_bound_
    assert set(vars(twice)) == set(vars(once))


@each_class
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls):
    X = rows(cls)
    model = make(cls).fit(X)
    before = model.predict_proba(X)
    with pytest.raises(ValueError):
        model.fit(np.full((30, 3), np.inf))
    np.testing.assert_array_equal(model.predict_proba(X), before)


@each_class
def test_a_row_of_weight_nothing_is_no_row(cls):
    X = rows(cls)
    s = np.ones(len(X))
    s[100:] = 0
    some = make(cls, init_params="random_from_data").fit(X, sample_weight=s)
    again = make(cls, warm_start=True)
    vars(again).update({k: v for k, v in vars(some).items() if k.endswith("_")})
    again.fit(X[:100])
    np.testing.assert_allclose(again.lower_bound_, some.lower_bound_, atol=1e-6)


def test_pipelines_take_them():
    X = blobs(1) * [1, 10, 100]
    pipe = make_pipeline(StandardScaler(), make(GaussianMixture)).fit(X)
    assert np.isfinite(pipe.score(X))
    assert certus.verify(pipe, X).certified


def test_the_module_is_reached_from_the_root():
    assert certus.mixture is mixture


def test_steps_are_printed_where_asked_for(capsys):
    GaussianMixture(2, verbose=1, verbose_interval=1, n_init=2, random_state=0).fit(blobs(1))
    printed = capsys.readouterr().out
    assert "GaussianMixture: start 2 of 2, iteration 0, objective " in printed


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"covariance_type": "fulll"}, "Did you mean 'full'"),
        ({"reg_covar": -1}, "reg_covar=-1"),
        ({"reg_covar": "absolute"}, "give one of 'relative'"),
        ({"init_params": "kmean"}, "Did you mean 'kmeans'"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"solver": "newton"}, "solver='newton'"),
        ({"weights_init": [0.5, 0.6], "n_components": 2}, "normalized"),
        ({"weights_init": [1.5, -0.5], "n_components": 2}, "in the range"),
        ({"means_init": np.zeros((2, 2)), "n_components": 2}, r"shape \(2, 3\), got \(2, 2\)"),
        ({"precisions_init": -np.ones((1, 3, 3))}, "positive-definite"),
    ],
)
def test_parameters_are_checked(how, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(**how).fit(blobs(1))


def test_one_row_has_no_spread():
    with pytest.raises(ValueError, match="n_samples = 1, while a minimum of 2 is required"):
        GaussianMixture().fit([[1.0, 2.0]])


def test_more_components_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_components = 5, n_samples = 4"):
        GaussianMixture(5).fit(blobs(1)[:4])


def test_infinity_is_named_and_nan_is_missing():
    X = blobs(1)
    X[4, 1], X[5, 0] = np.inf, np.nan
    with pytest.raises(ValueError, match=r"column 1 of X has 1 infinite value \(inf; row 4\)"):
        GaussianMixture().fit(X)
    model = GaussianMixture().fit(blobs(1))
    with pytest.raises(ValueError, match=r"column 1 of X has 1 infinite value"):
        model.predict(X)


def test_a_column_without_a_value_is_named():
    X = blobs(1)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="column 2 of X has no observed value: drop it"):
        GaussianMixture().fit(X)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_a_constant_column_is_left_out(covariance_type):
    X = blobs(1)
    wide = np.insert(X, 1, 7.0, axis=1)
    plain = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(X)
    model = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(wide)
    np.testing.assert_array_equal(model.constant_columns_, [1])
    np.testing.assert_array_equal(model.means_[:, 1], 7.0)
    np.testing.assert_allclose(model.lower_bound_, plain.lower_bound_, rtol=1e-9)
    np.testing.assert_allclose(model.bic(wide), plain.bic(X), rtol=1e-9)
    assert model.certificate_.certified
    assert (model.sample(5)[0][:, 1] == 7.0).all()


def test_constant_columns_have_no_maximum_likelihood():
    X = np.insert(blobs(1), 1, 7.0, axis=1)
    with pytest.raises(ValueError, match="column 1 of X is constant, so its likelihood has no"):
        GaussianMixture(reg_covar=0).fit(X)
    with pytest.raises(ValueError, match="every column of X is constant"):
        GaussianMixture().fit(np.ones((5, 2)))


def test_a_component_that_collapses_is_named():
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 2)), [[50.0, 50.0]]])
    with pytest.warns(
        DegenerateWarning, match="mixture component . of 2 has collapsed onto row 40"
    ):
        model = GaussianMixture(2, random_state=0).fit(X)
    assert np.isfinite(model.lower_bound_)
    with pytest.warns(DegenerateWarning, match="has collapsed"):
        model = GaussianMixture(2, reg_covar=0, random_state=0).fit(X)
    assert np.isfinite(model.score(X))


def test_fewer_rows_than_columns_are_held_and_said():
    X = np.random.default_rng(0).normal(size=(8, 20))
    with pytest.warns(DegenerateWarning, match="fewer directions than X has columns"):
        model = GaussianMixture(1).fit(X)
    assert np.isfinite(model.score(X))


def test_too_few_steps_are_stated():
    with pytest.warns(NotCertifiedWarning, match="max_iter=1"):
        model = GaussianMixture(3, max_iter=1, random_state=0).fit(blobs(1, apart=1.0))
    assert not model.converged_
    assert not model.certificate_.certified


def test_small_units_keep_their_variance():
    X = 1e-6 * np.random.default_rng(0).normal(size=(500, 1))
    model = GaussianMixture().fit(X)
    np.testing.assert_allclose(model.covariances_.ravel(), X.var(), rtol=1e-6)


def test_large_offsets_keep_their_variance():
    X = 1e8 + np.random.default_rng(0).normal(size=(500, 1))
    for name in TYPES:
        model = GaussianMixture(covariance_type=name).fit(X)
        np.testing.assert_allclose(model.covariances_.ravel(), X.var(), rtol=1e-6)


def test_sparse_rows_are_refused_with_the_remedy():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="toarray"):
        GaussianMixture().fit(csr_array(np.eye(5)))
