"""Kernel machines on degenerate data and with invalid parameters."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import certus
from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.preprocessing import PolynomialBasis
from certus.svm import LSSVC, LSSVCCV, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC
from tests.contract.estimator_classes import KERNEL_MACHINES
from tests.lssvm.svm_cases import blobs, curve

each_class = pytest.mark.parametrize("cls", KERNEL_MACHINES, ids=lambda cls: cls.__name__)
CLASSIFIERS = [LSSVC, LSSVCCV, DensityWeightedLSSVC, DensityWeightedSVC]
each_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
DENSITY = pytest.mark.parametrize(
    "cls", [DensityWeightedLSSVC, DensityWeightedSVC], ids=lambda cls: cls.__name__
)


def data(cls, seed=1, **options):
    return curve(seed, **options) if cls is LSSVR else blobs(seed, **options)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "parameters", "message"),
    [
        (LSSVC, {"C": 0}, "C=0: give a finite number above 0"),
        (LSSVC, {"C": -1.0}, "C=-1.0: give a finite number above 0"),
        (LSSVC, {"C": np.inf}, "C=inf: give a finite number above 0"),
        (LSSVR, {"C": "large"}, "C='large': give a finite number above 0"),
        (LSSVR, {"C": True}, "C=True: give a finite number above 0"),
        (LSSVC, {"kernel": "rbg"}, r"kernel='rbg'.*Did you mean 'rbf'\?"),
        (LSSVC, {"kernel": None}, "kernel=None: give one of"),
        (LSSVC, {"gamma": 0}, "gamma=0 makes all rows alike"),
        (LSSVC, {"gamma": -1.0}, "gamma=-1.0 makes .*give 'scale', 'auto' or"),
        (LSSVC, {"gamma": np.nan}, "gamma=nan: give 'scale'"),
        (LSSVC, {"gamma": "scales"}, r"Did you mean 'scale'\?"),
        (LSSVC, {"degree": 2.5}, "degree=2.5: give a whole number above 0"),
        (LSSVC, {"degree": 0}, "degree=0: give a whole number above 0"),
        (LSSVC, {"coef0": np.inf}, "coef0=inf: give a finite number"),
        (LSSVC, {"fit_intercept": 1}, "fit_intercept=1: give True or False"),
        (LSSVC, {"loo": "always"}, "loo='always': give one of 'auto', True, False"),
        (LSSVC, {"class_weight": "balance"}, "class_weight='balance': give None, 'balanced'"),
        (LSSVC, {"class_weight": {0: -1.0}}, "class_weight of 0 is -1.0"),
        (LSSVCCV, {"Cs": 0}, "Cs=0: give a whole number above 0, or numbers above 0"),
        (LSSVCCV, {"Cs": [1.0, -1.0]}, "Cs contains -1.0: each must be a finite number above 0"),
        (LSSVCCV, {"Cs": []}, r"Cs=\[\]: give"),
        (LSSVCCV, {"gammas": "scales"}, "gammas='scales': give 'scale', 'auto'"),
        (LSSVCCV, {"gammas": [np.nan]}, "gammas contains nan"),
        (LSSVCCV, {"scoring": "acuracy"}, r"scoring='acuracy'.*Did you mean 'accuracy'\?"),
        (DensityWeightedLSSVC, {"n_neighbors": 0}, "n_neighbors=0: give a whole number above 0"),
        (DensityWeightedLSSVC, {"density": "local"}, "density='local': give one of 'global'"),
        (DensityWeightedLSSVC, {"formulation": "duel"}, r"Did you mean 'dual'\?"),
        (DensityWeightedLSSVC, {"epsilon": -0.1}, "epsilon=-0.1: give a finite number"),
        (DensityWeightedLSSVC, {"epsilon": 0.1}, "epsilon=0.1 belongs to formulation='primal'"),
        (
            DensityWeightedLSSVC,
            {"formulation": "primal", "fit_intercept": False},
            "fit_intercept=False: formulation='primal' always has an intercept",
        ),
        (DensityWeightedLSSVC, {"kernel": "precomputed"}, "kernel='precomputed': .*density_weig"),
        (DensityWeightedSVC, {"kernel": "precomputed"}, "kernel='precomputed': .*density_weights"),
        (DensityWeightedSVC, {"tol": -1.0}, "tol=-1.0"),
        (DensityWeightedSVC, {"decision_function_shape": "ova"}, r"Did you mean 'ov[ro]'\?"),
    ],
)
def test_a_parameter_that_has_no_meaning_is_named_with_its_value(cls, parameters, message):
    X, y = data(cls)
    with pytest.raises(ValueError, match=message):
        cls(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: A @ A.T, "shape"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN"),
        (lambda A, B: A[:, :1] - B[:, :1].T, r"kernel '<lambda>' is not symmetric: it is"),
    ],
)
def test_a_function_that_is_no_kernel_is_named(kernel, message):
    X, y = blobs(1)
    if message == "shape":
        model = LSSVC(kernel=lambda A, B: A @ B.T).fit(X, y)
        model.kernel = kernel
        with pytest.raises(ValueError, match=message):
            model.predict(X[:7])
    else:
        with pytest.raises(ValueError, match=message):
            LSSVC(kernel=kernel).fit(X, y)


def test_a_matrix_that_is_no_kernel_is_named():
    X, y = blobs(1)
    with pytest.raises(ValueError, match=r"square matrix\. X has 60 rows and 3 columns: with ker"):
        LSSVC(kernel="precomputed").fit(X, y)
    K = X @ X.T
    K[3, 5] += 1.0
    with pytest.raises(ValueError, match="the precomputed kernel is not symmetric: it is"):
        LSSVC(kernel="precomputed").fit(K, y)
    model = LSSVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="60 features"):
        model.predict((X @ X.T)[:, :5])


# --- data -----------------------------------------------------------------------------------------


@each_classifier
def test_one_class_is_refused_in_plain_words(cls):
    X, _ = blobs(1)
    with pytest.raises(ValueError, match="y holds only one class, 'a'"):
        cls().fit(X, ["a"] * len(X))


@each_classifier
@pytest.mark.parametrize("rows", [1, 2])
def test_a_class_of_one_or_two_rows_is_learned(cls, rows):
    X, y = blobs(2, n=40)
    y = np.where(np.arange(40) < rows, "rare", "usual")
    X[:rows] += 0.5
    model = cls().fit(X, y)
    assert model.classes_.tolist() == ["rare", "usual"]
    assert model.certificate_.certified


@each_class
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_missing_or_infinite_value_is_named(cls, bad):
    X, y = data(cls)
    model = cls().fit(X, y)
    X = pd.DataFrame(X, columns=["age", "dose", "height"])
    X.loc[4, "dose"] = bad
    with pytest.raises(ValueError, match=r"column 'dose' has 1 .*row 4\): impute them"):
        cls().fit(X, y)
    with pytest.raises(ValueError, match=r"column 1 of X has 1 .*row 4"):
        model.predict(X.to_numpy())


@each_class
def test_sparse_rows_are_refused_with_a_remedy(cls):
    X, y = data(cls)
    with pytest.raises(TypeError, match=r"needs dense rows: use X.toarray\(\), or kernel='precom"):
        cls().fit(csr_array(X), y)
    with pytest.raises(TypeError, match=r"Sparse data was passed, but .* needs dense rows"):
        cls().fit(X, y).predict(csr_array(X))


def test_a_kernel_of_sparse_rows_is_what_the_remedy_says():
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = blobs(1)
    sparse = csr_array(X)
    model = LSSVC(kernel="precomputed").fit(rbf_kernel(sparse, gamma=0.3), y)
    plain = LSSVC(gamma=0.3).fit(X, y)
    f = model.decision_function(rbf_kernel(sparse[:5], sparse, gamma=0.3))
    np.testing.assert_allclose(f, plain.decision_function(X[:5]), atol=1e-9)


@each_class
def test_rows_made_when_read_are_made(cls):
    X, y = data(cls)
    lazy = PolynomialBasis(2, lazy=True).fit(X).transform(X)
    made = PolynomialBasis(2).fit_transform(X)
    here, there = cls().fit(lazy, y), cls().fit(made, y)
    np.testing.assert_allclose(here.dual_coef_, there.dual_coef_, atol=1e-9)


def test_text_and_missing_labels_are_named():
    X, y = blobs(1)
    with pytest.raises(ValueError, match="column 'city' holds text"):
        LSSVC().fit(pd.DataFrame({"city": ["Oslo"] * 60, "x": X[:, 0]}), y)
    with pytest.raises(ValueError, match="regress"):
        LSSVC().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"y has 1 missing label .*row 3"):
        LSSVC().fit(X, np.where(np.arange(60) == 3, np.nan, y))


@each_class
def test_all_rows_equal_give_one_answer(cls):
    X, y = data(cls)
    X = np.ones_like(X)
    model = cls().fit(X, y)
    assert len(np.unique(model.predict(X))) == 1
    assert model.gamma_ == (model.gammas_[0] if cls is LSSVCCV else 1.0)
    assert model.certificate_.certified
    if cls is LSSVR:
        np.testing.assert_allclose(model.predict(X), y.mean())


def test_a_constant_y_is_its_own_prediction():
    X, _ = curve(1)
    model = LSSVR().fit(X, np.full(len(X), 7.5))
    np.testing.assert_allclose(model.predict(X), 7.5)
    assert model.certificate_.certified


@pytest.mark.parametrize("rows", [1, 2])
def test_very_few_rows_are_fitted(rows):
    X, y = curve(1, n=rows)
    model = LSSVR().fit(X, y)
    assert model.certificate_.certified
    assert (model.loo_scores_ is None) == (rows == 1)
    if rows == 1:
        np.testing.assert_allclose(model.predict(X), y)


@each_classifier
def test_a_row_without_weight_takes_no_part_but_its_class_remains(cls):
    X, y = blobs(3, classes=3)
    s = np.ones(len(X))
    s[np.flatnonzero(y == 2)[1:]] = 0.0
    model = cls().fit(X, y, s)
    assert model.classes_.tolist() == [0, 1, 2]
    assert certus.verify(model, X, y, s).certified
    if cls in (DensityWeightedSVC, LSSVCCV):  # pairs and folds need rows of every class
        with pytest.raises(ValueError, match="class 2 has no row whose sample_weight is above 0"):
            cls().fit(X, y, (y != 2) * 1.0)
        return
    model = cls().fit(X, y, (y != 2) * 1.0)
    assert model.classes_.tolist() == [0, 1, 2]
    assert set(model.predict(X)) <= {0, 1}
    assert certus.verify(model, X, y, (y != 2) * 1.0).certified


# --- kernels that say nothing, and others ---------------------------------------------------------


@pytest.mark.parametrize("cls", [LSSVC, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC])
def test_a_gamma_that_is_far_too_large_or_small_is_warned_of(cls):
    X, y = data(cls)
    with pytest.warns(DegenerateWarning, match="gamma=1e9 is so large that rows have no"):
        model = cls(gamma=1e9).fit(X, y)
    far = model.predict(X + 1.0)
    assert len(np.unique(far)) == 1
    with pytest.warns(DegenerateWarning, match=r"gamma=1e-14 is so small that all rows are alike"):
        cls(gamma=1e-14).fit(X, y)


def test_a_large_C_has_its_condition_stated_and_what_is_lost_is_stated():
    X, y = blobs(1)
    model = LSSVC(1e6).fit(X, y)
    assert model.certificate_.certified
    assert model.condition_ > 1e6
    with pytest.warns(NotCertifiedWarning, match=r"system is up to \de.*use a smaller C"):
        LSSVC(1e14).fit(np.repeat(X, 2, axis=0) + 1e-9, np.append(y, 1 - y))


def test_a_certified_fit_whose_objective_is_half_rounding_says_so():
    """The gap is 1e-16 of the loss of the intercept alone, which grows with C, but half of P."""
    X, y = blobs(1)
    with pytest.warns(DegenerateWarning, match=r"system is up to \de.*use a smaller C"):
        model = LSSVC(1e16, gamma=20.0).fit(X, y)
    assert model.certificate_.certified
    assert model.certificate_.gap > 1e-4 * model.objective_


@pytest.mark.parametrize("cls", [LSSVC, LSSVR, DensityWeightedLSSVC])
def test_an_indefinite_kernel_is_named_and_nothing_is_called_optimal(cls):
    X, y = data(cls)
    with pytest.warns(DegenerateWarning, match=r"kernel 'sigmoid' is not positive semidefinite"):
        model = cls(kernel="sigmoid", gamma=1.0).fit(X, y)
    assert model.certificate_.kind == "stationary"
    assert "OPTIMAL" not in model.certificate_.explain()

    def difference(A, B):
        return -np.abs(A[:, None] - B).sum(axis=2)

    with pytest.warns(DegenerateWarning, match="kernel 'difference' is not positive semidef"):
        cls(kernel=difference).fit(X, y)


# --- density --------------------------------------------------------------------------------------


@DENSITY
def test_more_neighbours_than_rows_are_refused(cls):
    X, y = blobs(1, n=10)
    message = "n_neighbors=10 is too large for 10 rows: give at most 9"
    with pytest.raises(ValueError, match=message):
        cls(n_neighbors=10).fit(X, y)
    cls(n_neighbors=9).fit(X, y)


@DENSITY
def test_a_class_too_small_for_its_own_density_is_named(cls):
    X, y = blobs(1, n=40)
    y = np.where(np.arange(40) < 3, "rare", "usual")
    with pytest.raises(ValueError, match=r"n_neighbors=5 is too large for 3 rows of class 'rare'"):
        cls(density="per_class").fit(X, y)
    assert cls(density="per_class", n_neighbors=2).fit(X, y).certificate_.certified


def test_a_class_that_density_leaves_nothing_of_is_reported():
    X, y = blobs(1, n=30)
    y = np.where(np.arange(30) == 0, "rare", "usual")
    X[0] = 50.0  # the sparsest row of all, and the only one of its class
    with pytest.warns(DegenerateWarning, match=r"All 1 row of class 'rare' have density weight 0"):
        DensityWeightedLSSVC().fit(X, y)
    with pytest.raises(ValueError, match=r"density weight 0 and no influence: use another"):
        DensityWeightedSVC().fit(X, y)


# --- Ctrl-C ---------------------------------------------------------------------------------------

# whose fits are of several steps: what the last of them left is kept
KEEP_THE_BEST = [DensityWeightedSVC, LSSVCCV]


@pytest.mark.parametrize(
    "cls",
    [cls for cls in KERNEL_MACHINES if cls not in KEEP_THE_BEST],
    ids=lambda cls: cls.__name__,
)
def test_ctrl_c_leaves_the_model_as_it_was(cls, patch_everywhere):
    X, y = data(cls)
    model = cls().fit(X, y)
    before = dict(vars(model))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    patch_everywhere(certus.certificate.verification.certify, new=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(kernel="linear").fit(2 * X, y)
    assert set(vars(model)) == set(before)
    assert all(vars(model)[name] is before[name] for name in before if name.endswith("_"))


@pytest.mark.parametrize("cls", KEEP_THE_BEST, ids=lambda cls: cls.__name__)
def test_ctrl_c_in_the_check_of_an_answer_keeps_that_answer_without_a_certificate(
    cls, patch_everywhere
):
    X, y = data(cls)
    model = cls().fit(X, y)
    before = model.dual_coef_

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    patch_everywhere(certus.certificate.verification.certify, new=interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.set_params(kernel="linear").fit(2 * X, y)
    assert re.search(r"the (best one|model of the best) so far was kept", caught.value.__notes__[0])
    assert "no certificate_" in caught.value.__notes__[1]
    assert not hasattr(model, "certificate_")
    assert model.dual_coef_ is not before
    assert model.decision_function(2 * X).shape == (len(X),)
