"""``certus.verify``: what it finds in models that others fitted, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import certus
from certus.certificate import fingerprint
from certus.data.rows import spread
from certus.exceptions import CannotVerifyError
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from tests.contract.problems import plain, regression, unequal_scales, weights

# --- models that others fitted --------------------------------------------------------------------


def test_a_column_that_scikit_learn_drops_is_found_and_named():
    X, y = unequal_scales()
    theirs = peers.LinearRegression().fit(X, y)
    assert theirs.score(X, y) < 0.01, "scikit-learn has mended it: find another wrong model"
    c = certus.verify(theirs, X, y)
    assert not c.certified
    assert c.status == "not optimal"
    assert c.objective == pytest.approx(((y - theirs.predict(X)) ** 2).sum(), rel=1e-9)
    assert c.bound == pytest.approx(LinearRegression().fit(X, y).certificate_.objective, rel=1e-6)
    text = c.explain()
    lines = text.splitlines()
    assert lines[0] == (
        "[!!] NOT OPTIMAL   sklearn.linear_model.LinearRegression, 1,000 rows × 2 columns"
    )
    sections = {line[:15].strip(): line[15:] for line in lines[1:]}
    assert "(R² 0.00" in sections["Objective"]
    assert "(R² 0.997" in sections["Best possible"]
    assert "times lower" in sections["Best possible"]
    assert "the coefficient of 'dose' is " in sections["What is wrong"]
    assert "; the optimum has 3" in sections["What is wrong"]
    assert "column scales differ by 2e6; " in sections["Likely cause"]
    assert "rank_ is 1 of 2, so a column was dropped without a warning" in sections["Likely cause"]
    assert (
        sections["What to do"] == "standardise first, or use certus.linear_model.LinearRegression"
    )
    assert "on the rows given. If the model was fitted on other rows, this says nothing." in text


def test_our_own_model_of_the_same_data_is_right():
    X, y = unequal_scales()
    model = LinearRegression().fit(X, y)
    assert model.certificate_.certified
    assert model.score(X, y) == pytest.approx(0.9976, abs=5e-4)
    np.testing.assert_allclose(model.coef_ * [2e6, 1], plain(X / [2e6, 1], y)[0][:, 0], rtol=1e-9)


PEERS = {
    "LinearRegression": peers.LinearRegression(),
    "LinearRegression, no intercept": peers.LinearRegression(fit_intercept=False),
    "LinearRegression, w ≥ 0": peers.LinearRegression(positive=True),
    "Ridge": peers.Ridge(alpha=0.7),
    "Ridge, no intercept": peers.Ridge(alpha=0.7, fit_intercept=False),
    "RidgeCV": peers.RidgeCV(),
    "RidgeCV, no intercept": peers.RidgeCV(fit_intercept=False),
    "RidgeCV, five folds": peers.RidgeCV(cv=5),
    "RidgeCV, by absolute error": peers.RidgeCV(scoring="neg_mean_absolute_error"),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("name", PEERS)
def test_what_scikit_learn_fits_well_is_accepted(name, targets, weighted):
    X, y, _ = regression(1, n=200, p=5, k=targets)
    s = weights(1, 200) if weighted else None
    model = PEERS[name].fit(X, y, sample_weight=s)
    c = certus.verify(model, X, y, s)
    assert c.certified, c.explain()
    assert c.model == f"sklearn.linear_model.{type(model).__name__}"


def test_the_alphas_of_each_target_are_accepted():
    X, y, _ = regression(1, n=60, p=5, k=3, noise=3.0)
    model = peers.RidgeCV(alphas=[0.1, 1, 10, 100], alpha_per_target=True).fit(X, y)
    assert certus.verify(model, X, y).certified
    assert certus.verify(peers.Ridge(alpha=[1.0, 2, 3]).fit(X, y), X, y).certified


@pytest.mark.parametrize("model", [peers.LinearRegression(), peers.Ridge(), peers.RidgeCV()])
def test_float32_models_of_scikit_learn_are_not_blamed_for_float32(model):
    X, y, _ = regression(1, n=200, p=5)
    X, y = X.astype(np.float32), y.astype(np.float32)
    c = certus.verify(model.fit(X, y), X, y)
    assert c.certified, c.explain()


@pytest.mark.parametrize("n_p", [(40, 3), (12, 30)], ids=["n > p", "n < p"])
def test_rank_deficient_fits_of_scikit_learn_are_accepted(n_p):
    X, y, _ = regression(1, *n_p)
    X[:, 2] = X[:, 0] + X[:, 1]
    assert certus.verify(peers.LinearRegression().fit(X, y), X, y).certified


def test_a_subclass_is_read_as_its_base():
    class Mine(peers.Ridge):
        pass

    class OurOwn(Ridge):
        pass

    X, y, _ = regression(1)
    assert certus.verify(Mine().fit(X, y), X, y).certified
    assert certus.verify(OurOwn().fit(X, y), X, y).certified


def test_weights_of_the_fit_must_be_given():
    X, y, _ = regression(1, noise=5.0)
    s = weights(1, len(X), largest=50)
    model = peers.LinearRegression().fit(X, y, s)
    assert not certus.verify(model, X, y).certified
    assert "give the X, y and sample_weight of the fit" in certus.verify(model, X, y).explain()
    assert "weights used in fit" not in certus.verify(model, X, y, s).explain()
    assert certus.verify(model, X, y, sample_weight=s).certified


def test_a_loose_solver_of_scikit_learn_is_caught():
    X, y, _ = regression(1, n=200, p=5)
    X = X * np.geomspace(1, 1e4, 5)
    theirs = peers.Ridge(alpha=1e-3, solver="sparse_cg", tol=1e-1, max_iter=2).fit(X, y)
    c = certus.verify(theirs, X, y)
    assert not c.certified
    assert "certus.linear_model.Ridge" in c.explain()


# --- models inside others -------------------------------------------------------------------------


WRAPPED = {
    "Pipeline": lambda m: make_pipeline(StandardScaler(), m),
    "Pipeline of one step": lambda m: Pipeline([("model", m)]),
    "Pipeline in a Pipeline": lambda m: make_pipeline(
        PolynomialFeatures(2, include_bias=False), make_pipeline(StandardScaler(), m)
    ),
    "GridSearchCV": lambda m: GridSearchCV(m, {"fit_intercept": [True]}, cv=3),
    "RandomizedSearchCV": lambda m: RandomizedSearchCV(
        m, {"fit_intercept": [True]}, n_iter=1, cv=3
    ),
    "Pipeline in GridSearchCV": lambda m: GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("model", m)]),
        {"model__fit_intercept": [True]},
        cv=3,
    ),
    "GridSearchCV in Pipeline": lambda m: make_pipeline(
        StandardScaler(), GridSearchCV(m, {"fit_intercept": [True]}, cv=3)
    ),
    "TransformedTargetRegressor": lambda m: TransformedTargetRegressor(
        m, transformer=StandardScaler()
    ),
    "TransformedTargetRegressor of functions": lambda m: TransformedTargetRegressor(
        m, func=np.cbrt, inverse_func=lambda z: z**3
    ),
    "Pipeline in TransformedTargetRegressor": lambda m: TransformedTargetRegressor(
        make_pipeline(StandardScaler(), m), transformer=StandardScaler()
    ),
}


@pytest.mark.parametrize("model", [peers.LinearRegression(), Ridge(), peers.RidgeCV()], ids=repr)
@pytest.mark.parametrize("targets", [None, 2])
@pytest.mark.parametrize("name", WRAPPED)
def test_the_model_inside_is_checked_on_the_data_that_reached_it(name, model, targets):
    X, y, _ = regression(1, n=60, p=3, k=targets)
    outer = WRAPPED[name](model).fit(X, y)
    c = certus.verify(outer, X, y)
    assert c.certified, c.explain()
    inside = name.split()[0]
    assert f"found inside {type(outer).__name__}" in c.explain()
    assert inside in c.explain()


@pytest.mark.parametrize("name", WRAPPED)
def test_a_wrong_model_inside_is_caught(name):
    X, y, _ = regression(1, n=60, p=3)
    outer = WRAPPED[name](peers.Ridge()).fit(X, y)
    inner = outer
    while not hasattr(inner, "coef_") or hasattr(inner, "best_estimator_"):
        inner = next(
            getattr(inner, name)
            for name in ("best_estimator_", "regressor_", "_final_estimator")
            if hasattr(inner, name)
        )
    inner.coef_ = inner.coef_ * 1.05
    assert not certus.verify(outer, X, y).certified


def test_verify_asks_a_frame_inside_a_pipeline_for_no_names_that_are_gone():
    X, y = unequal_scales()
    pipe = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y)
    assert certus.verify(pipe, X, y).certified
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), LinearRegression())
    c = certus.verify(pipe.fit(X, y), X, y)
    assert c.certified
    assert c.feature_names == ("count", "dose")


# --- what cannot be checked -----------------------------------------------------------------------


class NoModel:
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: RandomForestRegressor(n_estimators=2, random_state=0).fit(X, y),
        lambda X, y: peers.QuantileRegressor().fit(X, y),
        lambda X, y: make_pipeline(StandardScaler(), peers.BayesianRidge()).fit(X, y),
        lambda X, y: NoModel(),
        lambda X, y: "a model",
        lambda X, y: None,
        lambda X, y: LinearRegression,
        lambda X, y: make_pipeline(StandardScaler(), "passthrough").fit(X, y),
    ],
    ids=["forest", "quantile", "Bayes", "object", "text", "None", "class", "no last step"],
)
def test_an_unknown_model_is_refused_with_the_page_that_lists_the_known(make):
    X, y, _ = regression(1)
    with pytest.raises(CannotVerifyError) as caught:
        certus.verify(make(X, y), X, y)
    assert "cannot be audited" in str(caught.value)
    assert "docs/certificates.md" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        Ridge(),
        RidgeCV(),
        peers.LinearRegression(),
        peers.Ridge(),
        peers.RidgeCV(),
        make_pipeline(StandardScaler(), Ridge()),
        GridSearchCV(Ridge(), {"alpha": [1.0]}),
        TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
    ],
    ids=lambda m: f"{type(m).__module__.split('.')[0]}.{type(m).__name__}",
)
def test_an_unfitted_model_is_refused_as_such(model):
    X, y, _ = regression(1)
    with pytest.raises(CannotVerifyError, match="not fitted"):
        certus.verify(model, X, y)


@pytest.mark.parametrize("cls", [Ridge, peers.Ridge])
def test_data_that_cannot_be_the_models_are_refused(cls):
    X, y, _ = regression(1)
    model = cls().fit(X, y)
    with pytest.raises(CannotVerifyError, match="give y"):
        certus.verify(model, X)
    with pytest.raises(CannotVerifyError, match="features"):
        certus.verify(model, X[:, :2], y)
    with pytest.raises(CannotVerifyError, match="60 rows, y has 59"):
        certus.verify(model, X, y[:-1])
    with pytest.raises(CannotVerifyError, match="1 target, y has 2"):
        certus.verify(model, X, np.column_stack([y, y]))
    with pytest.raises(CannotVerifyError, match="sample_weight"):
        certus.verify(model, X, y, np.ones(3))
    with pytest.raises(ValueError, match="column 1 of X has 1 missing value"):
        certus.verify(model, np.where(np.arange(240).reshape(60, 4) == 5, np.nan, X), y)


@pytest.mark.parametrize("cls", [Ridge, peers.Ridge])
def test_a_frame_with_other_columns_is_refused_by_their_names(cls):
    X, y, _ = regression(1)
    frame = pd.DataFrame(X, columns=["age", "height", "mass", "dose"])
    model = cls().fit(frame, y)
    assert certus.verify(model, frame, y).certified
    with pytest.raises(CannotVerifyError) as caught:
        certus.verify(model, frame.rename(columns={"mass": "weight"}), y)
    assert "mass" in str(caught.value)
    assert "weight" in str(caught.value)
    with pytest.raises(CannotVerifyError, match="order"):
        certus.verify(model, frame[["dose", "age", "height", "mass"]], y)


# --- other rows -----------------------------------------------------------------------------------


def other_rows():
    X, y, _ = regression(1, n=60, p=4)
    s = weights(1, 60)
    moved = X.copy()
    moved[-1, -1] += 1e-6
    order = np.random.default_rng(0).permutation(60)
    yield "other rows", (X, y, None), (*regression(2, n=60, p=4)[:2], None), "X differs"
    yield "one entry", (X, y, None), (moved, y, None), "X differs"
    yield "another order", (X, y, None), (X[order], y[order], None), "another order"
    yield "fewer rows", (X, y, None), (X[:50], y[:50], None), "60 rows × 4 columns, these are 50"
    yield (
        "twice the rows",
        (X, y, None),
        (np.vstack([X, X]), np.r_[y, y], None),
        "these are 120 × 4",
    )
    yield "another y", (X, y, None), (X, y + 1e-6, None), "y differs"
    yield "no weights", (X, y, s), (X, y, None), "fitted with sample_weight"
    yield "weights", (X, y, None), (X, y, s), "fitted without sample_weight"
    yield "other weights", (X, y, s), (X, y, s[order]), "sample_weight differs"


@pytest.mark.parametrize(
    ("fitted", "given", "message"),
    [pytest.param(a, b, c, id=name) for name, a, b, c in other_rows()],
)
@pytest.mark.parametrize("cls", [LinearRegression, Ridge, RidgeCV])
def test_other_rows_than_those_of_the_fit_are_recognised(cls, fitted, given, message):
    model = cls().fit(*fitted)
    c = certus.verify(model, *given)
    assert c.status == "other rows"
    assert not c.certified
    assert "not the rows it was fitted on" in repr(c)
    assert message in repr(c)
    text = c.explain()
    assert text.startswith("[!!] NOT THE ROWS IT WAS FITTED ON   ")
    assert message in text
    assert "give the X, y and sample_weight of the fit" in text
    assert certus.verify(model, *fitted).certified


@pytest.mark.parametrize("what", ["X", "y", "weights"])
def test_a_change_of_one_row_that_is_not_hashed_shows_in_the_sums(what):
    X, y, _ = regression(1, n=20_000, p=3)
    s = weights(1, 20_000)
    model = LinearRegression().fit(X, y, s)
    row = np.setdiff1d(np.arange(20_000), spread(20_000, fingerprint.MAX_HASHED_ROWS))[0]
    moved = {"X": X.copy(), "y": y.copy(), "weights": s.copy()}
    moved[what][row] += 1.0
    c = certus.verify(model, *moved.values())
    assert c.status == "other rows"
    assert not c.certified


@pytest.mark.parametrize(
    "changed",
    [
        lambda X: np.asfortranarray(X),
        lambda X: X.astype(np.float32),
        lambda X: pd.DataFrame(X),
        lambda X: X.tolist(),
        lambda X: np.vstack([X, X])[: len(X)],
    ],
    ids=["layout", "float32", "frame", "list", "slice"],
)
def test_the_same_rows_in_another_form_are_the_same_rows(changed):
    X, y, _ = regression(1)  # multiples of 1/64: float32 holds them exactly
    model = Ridge().fit(X, y)
    assert certus.verify(model, changed(X), y).certified


def test_verify_agrees_with_the_certificate_of_the_fit():
    X, y, _ = regression(1)
    model = Ridge().fit(X, y)
    c, own = certus.verify(model, X, y), model.certificate_
    assert (c.objective, c.bound, c.gap, c.status) == (
        own.objective, own.bound, own.gap, own.status,
    )  # fmt: skip
    assert c.seconds > 0
    assert own.fingerprint.differs(c.fingerprint) is None


@pytest.mark.parametrize("tol", [-1.0, np.nan, "small"])
def test_a_tolerance_that_has_no_meaning_is_refused(tol):
    X, y, _ = regression(1)
    model = Ridge().fit(X, y)
    with pytest.raises((ValueError, TypeError)):
        certus.verify(model, X, y, tol=tol)
