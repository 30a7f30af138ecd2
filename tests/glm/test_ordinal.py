"""Proportional odds, against statsmodels, 50-digit optima and identities of the model."""

import contextlib
import warnings
from itertools import pairwise

import mpmath as mp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csc_array, csr_array

import certus
from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.derivatives.check import check_gradient
from certus.exceptions import AliasWarning, NotCertifiedWarning, OrderWarning, SeparationWarning
from certus.linear_model import LogisticRegression, OrdinalRegression
from certus.proofs.glm import ordinal as definition
from certus.proofs.glm._ordinal_sums import between_thresholds, ordinal_sums
from certus.solvers.glm import ordinal as solver
from tests.contract.problems import ordered, weights


def fit(X, y, s=None, **parameters):
    return OrdinalRegression(**{"tol": 1e-12, **parameters}).fit(X, y, s)


def claimed(w, c, alpha=0.0, classes=None):
    """A model that nothing fitted."""
    model = OrdinalRegression(alpha=alpha)
    model.coef_, model.thresholds_ = np.atleast_2d(w), np.asarray(c, dtype=float)
    model.classes_ = np.arange(len(model.thresholds_) + 1) if classes is None else classes
    model.n_features_in_, model.n_iter_, model.solver_ = model.coef_.shape[1], np.array([1]), ""
    return model


# --- truths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_statsmodels_finds_the_same(seed, classes):
    OrderedModel = pytest.importorskip("statsmodels.miscmodels.ordinal_model").OrderedModel
    X, y, _ = ordered(seed, n=300, p=3, classes=classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = OrderedModel(y, X, distr="logit")
        result = theirs.fit(method="newton", disp=False, maxiter=100, tol=1e-12)
    model = fit(X, y)
    thresholds = theirs.transform_threshold_params(result.params)[1:-1]
    np.testing.assert_allclose(model.coef_[0], result.params[:3], rtol=1e-6)
    np.testing.assert_allclose(model.thresholds_, thresholds, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), result.predict(X), atol=1e-8)
    assert model.certificate_.objective == pytest.approx(-result.llf, rel=1e-12)


def exact_objective(X, y, s, alpha):
    """F in floats of many digits, as the definition is printed: differences of sigmoids."""
    s = np.ones(len(y)) if s is None else s
    K = int(max(y)) + 1

    def F(theta):
        w, c = theta[: X.shape[1]], theta[X.shape[1] :]
        total = mp.mpf(alpha) / 2 * mp.fsum(v * v for v in w)
        for x, k, weight in zip(X, y, s, strict=True):
            z = mp.fsum(mp.mpf(float(a)) * b for a, b in zip(x, w, strict=True))
            above = 1 / (1 + mp.exp(z - c[k])) if k < K - 1 else mp.mpf(1)
            below = 1 / (1 + mp.exp(z - c[k - 1])) if k > 0 else mp.mpf(0)
            total -= mp.mpf(float(weight)) * mp.log(above - below)
        return total

    return F


def exact_optimum(F, start):
    """Newton's method with central differences."""
    theta = [mp.mpf(float(v)) for v in start]
    m, h = len(theta), mp.mpf(10) ** -12

    def moved(*steps):
        other = list(theta)
        for j, step in steps:
            other[j] += step
        return F(other)

    for _ in range(5):
        g = mp.matrix([(moved((j, h)) - moved((j, -h))) / (2 * h) for j in range(m)])
        H = mp.zeros(m)
        for i in range(m):
            for j in range(i + 1):
                H[i, j] = H[j, i] = (
                    moved((i, h), (j, h)) - moved((i, h), (j, -h))
                    - moved((i, -h), (j, h)) + moved((i, -h), (j, -h))
                ) / (4 * h * h)  # fmt: skip
        theta = [a + b for a, b in zip(theta, mp.lu_solve(H, -g), strict=True)]
    return theta, F(theta)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_fit_is_the_fifty_digit_optimum_and_every_gap_holds(alpha, weighted):
    X, y, _ = ordered(4, n=24, p=2)
    s = weights(1, 24) if weighted else None
    model = fit(X, y, s, alpha=alpha)
    start = np.concatenate([model.coef_[0], model.thresholds_])
    rng = np.random.default_rng(0)
    with mp.workdps(50):
        F = exact_objective(X, y, s, alpha)
        theta, best = exact_optimum(F, start)
        np.testing.assert_allclose(start, [float(v) for v in theta], rtol=1e-9)
        kinds = set()
        for size in (0.0, 1e-9, 1e-6, 1e-3, 0.03, 0.1, 0.3):
            other = start + size * rng.normal(size=len(start))
            c = certus.verify(claimed(other[:2], other[2:], alpha), X, y, s, tol=1e6)
            kinds.add(c.kind)
            true = F([mp.mpf(v) for v in other.tolist()]) - best
            assert abs(mp.mpf(c.objective) - best - true) < 1e-12 * abs(best)
            assert mp.mpf(c.gap) >= true
            if c.bound is not None:
                assert mp.mpf(c.bound) <= best
                assert c.gap <= 2 * float(true) + 1e-11 * float(best)  # and it says something
            if c.coef_error is not None:
                apart = max(abs(mp.mpf(v) - t) for v, t in zip(other[:2], theta[:2], strict=True))
                assert mp.mpf(c.coef_error) >= apart
        assert "global" in kinds


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_two_classes_are_logistic_regression(alpha):
    X, y, _ = ordered(3, classes=2)
    s = weights(3, len(y))
    reference = fit(X, y, s, alpha=alpha)
    C = 1 / alpha if alpha else np.inf
    other = LogisticRegression(C=C, tol=1e-12).fit(X, y, s)
    np.testing.assert_allclose(reference.coef_, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(reference.intercept_, other.intercept_, rtol=1e-6)
    np.testing.assert_allclose(
        reference.decision_function(X), other.decision_function(X), rtol=1e-6
    )
    np.testing.assert_allclose(reference.predict_proba(X), other.predict_proba(X), rtol=1e-6)
    assert reference.certificate_.objective == pytest.approx(
        other.certificate_.objective * (alpha or 1.0), rel=1e-12
    )


@pytest.mark.parametrize("alpha", [0.0, 1.3])
def test_gradients_of_definition_and_solver_are_those_of_the_objective(alpha):
    X, y, _ = ordered(2, n=50, p=2, classes=4)
    s = weights(2, 50)
    rows = Rows(X, y.astype(float)[:, None], s)
    data, mass = Data(rows), np.bincount(y, s)

    def F(theta):
        return definition.check(data, w=theta[:2, None], thresholds=theta[2:], alpha=alpha)[
            "objective"
        ]

    def by_definition(theta):
        view = definition.Fitted(
            data, theta[:2, None], -theta[2:], 1.0, 0.0, alpha, True, None
        ).view
        assert view.plain
        g = data.reduce(lambda *block: ordinal_sums(*block, theta[:2], theta[2:], 0.0, view)[:1])[
            0
        ].g
        g[2:] += between_thresholds(theta[2:], mass)[1]
        return g + np.concatenate([alpha * theta[:2], np.zeros(3)])

    theta = np.array([0.3, -0.8, -1.2, 0.1, 0.4])
    check_gradient(F, by_definition, theta)
    at = solver.coordinates(rows, True)
    problem = solver.OrdinalProblem(rows, at, mass.astype(float), np.full(2, alpha))
    other = problem.to_internal(theta[:2, None], -theta[2:])
    point, h = solver._point(problem, other), 1e-6
    assert pytest.approx(F(theta), rel=1e-12) == point.F
    slopes = [
        (solver._point(problem, other + h * e).F - solver._point(problem, other - h * e).F)
        / (2 * h)
        for e in np.eye(5)
    ]
    assert point.decrement == pytest.approx(-np.dot(slopes, point.step) / 2, rel=1e-6)


# --- thresholds and probabilities -----------------------------------------------------------------


def test_probabilities_are_those_of_the_model_without_cancellation():
    model = claimed([[1.0]], [-1.0, -1.0 + 1e-9, 30.0])
    x = np.array([-800.0, -40.0, 0.0, 29.0, 60.0, 900.0])
    P, logs = model.predict_proba(x[:, None]), model.predict_log_proba(x[:, None])
    assert np.isfinite(logs).all()
    with mp.workdps(800):
        c = [mp.mpf(float(v)) for v in model.thresholds_]
        for i, z in enumerate(x):
            below = [0, *(1 / (1 + mp.exp(mp.mpf(z) - v)) for v in c), 1]
            true = [b - a for a, b in pairwise(below)]
            np.testing.assert_allclose(P[i], [float(p) for p in true], rtol=1e-7, atol=1e-300)
            np.testing.assert_allclose(logs[i], [float(mp.log(p)) for p in true], rtol=1e-7)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)


def test_the_latent_score_lies_among_the_thresholds():
    X, y, _ = ordered(1, classes=4)
    model = fit(X, y)
    z = model.latent(X)
    np.testing.assert_allclose(z, X @ model.coef_[0])
    above = model.predict_proba(X)[:, 2:].sum(axis=1)
    np.testing.assert_array_equal(z > model.thresholds_[1], above > 0.5)
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


def test_thresholds_that_do_not_rise_are_refused():
    X, y, _ = ordered(1)
    model = fit(X, y)
    model.thresholds_ = model.thresholds_[::-1].copy()
    c = certus.verify(model, X, y)
    assert not c.certified
    assert "the thresholds do not increase" in c.explain()


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: np.append(c, c[-1] + 1.0)])
def test_thresholds_that_are_not_one_fewer_than_the_classes_are_refused(change):
    X, y, _ = ordered(1)
    model = fit(X, y)
    model.thresholds_ = change(model.thresholds_)
    with contextlib.suppress(certus.exceptions.CannotVerifyError):  # the shape alone may tell
        assert not certus.verify(model, X, y).certified


# --- the order of classes -------------------------------------------------------------------------

SIZES = np.array(["small", "medium", "large"])


def test_text_is_put_in_the_order_that_is_given():
    X, y, _ = ordered(1)
    model = fit(X, SIZES[y], categories=list(SIZES))
    np.testing.assert_array_equal(model.classes_, SIZES)
    np.testing.assert_array_equal(model.coef_, fit(X, y).coef_)
    np.testing.assert_array_equal(model.predict(X), SIZES[fit(X, y).predict(X)])
    assert certus.verify(model, X, SIZES[y]).certified
    model.classes_ = SIZES[[0, 2, 1]]
    assert not certus.verify(model, X, SIZES[y]).certified


def test_text_without_an_order_is_warned_of():
    X, y, _ = ordered(1)
    with pytest.warns(
        OrderWarning, match="'large' < 'medium' < 'small'.*give categories="
    ) as warned:
        model = fit(X, SIZES[y])
    assert [w.filename for w in warned] == [__file__]
    np.testing.assert_array_equal(model.classes_, np.sort(SIZES))


@pytest.mark.parametrize(
    "column",
    [
        lambda v: pd.Series(pd.Categorical(v, list(SIZES), ordered=True)),
        lambda v: pl.Series(v, dtype=pl.Enum(list(SIZES))),
        lambda v: pd.Series(pd.Categorical(v, [*SIZES, "huge"], ordered=True)),
    ],
    ids=["pandas", "polars", "a category without rows"],
)
def test_an_ordered_type_says_the_order(column):
    X, y, _ = ordered(1)
    model = fit(X, column(SIZES[y].tolist()))
    np.testing.assert_array_equal(model.classes_, SIZES)
    np.testing.assert_array_equal(model.coef_, fit(X, y).coef_)
    assert certus.verify(model, X, SIZES[y]).certified


def test_categories_without_an_order_are_text():
    X, y, _ = ordered(1)
    with pytest.warns(OrderWarning):
        fit(X, pd.Series(pd.Categorical(SIZES[y], list(SIZES))))


def test_numbers_may_be_put_in_another_order():
    X, y, _ = ordered(1)
    np.testing.assert_allclose(fit(X, y, categories=[2, 1, 0]).coef_, -fit(X, y).coef_, rtol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"categories": ["small", "large"]}, r"y holds 'medium' \(row \d+\), which is not among"),
        ({"categories": [*SIZES, "huge"]}, "categories has 'huge', and y has no row of it"),
        ({"categories": [*SIZES, "small"]}, "categories has 'small' twice"),
        ({"categories": "sorted"}, "categories='sorted': give 'auto', or the classes"),
        ({"categories": 3}, "categories=3: give 'auto'"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"alpha": [1.0, 2.0]}, r"alpha=\[1.0, 2.0\]: give one number"),
        ({"tol": np.nan}, "tol=nan"),
        ({"max_iter": -1}, "max_iter=-1: give a whole number"),
        ({"warm_start": "no"}, "warm_start='no'"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_bad_parameters_are_named(parameters, message):
    X, y, _ = ordered(1)
    with pytest.raises(ValueError, match=message):
        OrdinalRegression(**{"categories": list(SIZES), **parameters}).fit(X, SIZES[y])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1] * 90, "y holds only one class, 1"),
        (np.linspace(0, 1, 90), "numbers that are not whole"),
    ],
    ids=["one class", "continuous"],
)
def test_labels_that_are_no_classes_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        OrdinalRegression().fit(ordered(1).X, y)


# --- no finite optimum ----------------------------------------------------------------------------


def separated(X, y, match, s=None, **parameters):
    with pytest.warns(SeparationWarning, match=match) as warned:
        model = OrdinalRegression(**parameters).fit(X, y, s)
    assert [w.filename for w in warned] == [__file__]
    c = model.certificate_
    assert (c.status, c.certified) == ("no finite optimum", False)
    assert "larger coefficients always have a lower one" in c.explain()
    assert certus.verify(model, X, y, s).status == "no finite optimum"
    assert fit(X, y, s, alpha=1e-3, tol=1e-6).certificate_.certified
    return c._finding.facts.separated


def test_a_column_along_which_the_classes_lie_in_order_is_named():
    X = ordered(0).X
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    proof = separated(
        pd.DataFrame(X, columns=list("abcd")), y,
        "No row of a class has 'b' above that of a row of the next class.*alpha > 0, or drop 'b'",
    )  # fmt: skip
    assert proof.kind == "complete"
    separated(X, 2 - y, "column 1 below that of a row of the next class")


def test_a_combination_of_columns_is_named():
    X = np.round(ordered(0).X * 4) / 4
    y = np.digitize(X[:, 0] - 2 * X[:, 2], [-1.1, 0.1, 1.1])
    assert separated(X, y, "A combination of column 2, column 0 puts all rows").kind == "complete"


def test_a_column_that_only_the_highest_class_has_is_enough():
    X, y, _ = ordered(0)
    X[:, 3] = (y == 2) & (np.arange(90) % 3 == 0)
    assert separated(X, y, "column 3 above that").kind == "quasi-complete"
    X[:, 3] = (y == 1) & (np.arange(90) % 3 == 0)  # of a class in the midst it is not
    assert fit(X, y).certificate_.status == "optimal"


def test_a_combination_that_touches_its_thresholds_is_found_by_a_linear_program():
    X, y, _ = ordered(0)
    X = np.round(X * 4) / 4
    X[:, 3] = X[:, 0] + (y == 2) * (np.arange(90) % 3 == 0)  # column 3 − column 0
    proof = separated(X, y, "A combination of column 0, column 3|column 3, column 0")
    assert proof.kind == "quasi-complete"


def test_rows_of_weight_zero_do_not_undo_it():
    X, y, _ = ordered(0)
    X = np.vstack([X, X[:5]])
    y = np.append(np.digitize(X[:90, 1], [-0.5, 0.5]), 2 - np.digitize(X[:5, 1], [-0.5, 0.5]))
    separated(X, y, "column 1 above", np.repeat([1.0, 0.0], [90, 5]))


def test_fewer_rows_than_columns_are_in_order_along_some_score():
    X = np.random.default_rng(0).normal(size=(20, 40))
    y = np.arange(20) % 3
    separated(X, y, "A combination of")


# --- columns, rows, words -------------------------------------------------------------------------


def test_repeated_columns_are_named_and_change_no_probability():
    X, y, _ = ordered(1)
    more = np.column_stack([X, X[:, 0] + X[:, 1], np.full(90, 7.0)])
    with pytest.warns(AliasWarning, match="2 of 6 columns repeat others") as warned:
        model = fit(more, y)
    assert [w.filename for w in warned] == [__file__]
    assert model.certificate_.certified
    np.testing.assert_allclose(model.predict_proba(more), fit(X, y).predict_proba(X), rtol=1e-8)
    np.testing.assert_allclose(model.coef_[0, 4], model.coef_[0, 0] + model.coef_[0, 1])  # smallest


def test_sparse_rows_are_the_same_rows():
    X, y, _ = ordered(4, n=300, p=6)
    X[np.abs(X) < 0.7] = 0.0
    reference = fit(X, y)
    for kind in (csr_array, csc_array):
        other = fit(kind(X), y)
        np.testing.assert_allclose(other.coef_, reference.coef_, rtol=1e-9)
        np.testing.assert_allclose(
            other.predict_proba(kind(X)), reference.predict_proba(X), rtol=1e-9
        )
        assert certus.verify(reference, kind(X), y).certified


def test_a_penalty_takes_more_columns_than_rows():
    X, y, _ = ordered(1, n=30, p=60)
    c = fit(X, y, alpha=2.0).certificate_
    assert (c.status, c.kind) == ("optimal", "global")


def test_a_stronger_penalty_makes_smaller_coefficients_and_leaves_the_thresholds_free():
    X, y, _ = ordered(1)
    models = [fit(X, y, alpha=alpha) for alpha in (0.0, 1.0, 100.0, 1e6)]
    sizes = [np.linalg.norm(model.coef_) for model in models]
    assert sizes == sorted(sizes, reverse=True)
    below = np.cumsum(np.bincount(y))[:-1] / len(y)
    np.testing.assert_allclose(models[-1].thresholds_, np.log(below / (1 - below)), atol=1e-3)


def test_a_warm_start_from_the_answer_stays_there():
    X, y, _ = ordered(1)
    model = OrdinalRegression(warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == [0]
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-12)


def test_other_rows_are_recognised():
    X, y, _ = ordered(1)
    c = certus.verify(fit(X, y), X[:-1], y[:-1])
    assert (c.status, c.certified) == ("other rows", False)


def test_the_certificate_in_words():
    X, y, _ = ordered(1)
    c = fit(X, y, weights(1, 90), alpha=1.0).certificate_
    for line in (
        "[OK] OPTIMAL   OrdinalRegression, 90 rows × 4 columns",
        "Minimised      −Σ sᵢ log P(yᵢ|xᵢ) + ½‖w‖², P(y ≤ k|x) = σ(cₖ − xᵀw)",
        "(gradient and curvature)",
        "of what the thresholds alone leave",
        "Coefficients   none is more than ",
        "Checked by     certus.proofs.glm.ordinal, from the data; the solver was not asked",
    ):
        assert line in c.explain()
    assert "minimises −Σ sᵢ log P(yᵢ|xᵢ)" in c.note()


def test_a_fit_that_ends_early_says_so():
    X, y, _ = ordered(1)
    with pytest.warns(
        NotCertifiedWarning, match="stopped at max_iter=1 before .* Raise max_iter.$"
    ):
        model = OrdinalRegression(max_iter=1).fit(X, y)
    assert "What to do     raise max_iter\n" in model.certificate_.explain()


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_columns_near_the_limits_of_floats_are_columns_in_other_units(size):
    X, y, _ = ordered(1)
    model = fit(X * size, y, tol=1e-6)
    assert model.certificate_.status == "optimal"
    np.testing.assert_allclose(model.coef_ * size, fit(X, y).coef_, rtol=1e-6)


def test_a_class_of_one_row_between_two_others_keeps_its_place():
    X, y, _ = ordered(1, classes=2)
    y = 2 * y
    y[7] = 1
    model = fit(X, y)
    assert model.certificate_.status == "optimal"
    assert 0 < np.diff(model.thresholds_)[0] < 0.2
