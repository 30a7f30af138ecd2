"""Where the rows or the fit give no standard errors, that is said."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import certus
from certus.exceptions import AliasWarning, InferenceError, NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from tests.contract.problems import weights
from tests.inference.inference_cases import each_kind, fitted, noisy

# --- what the rows do not determine ---------------------------------------------------------------


@each_kind
def test_only_coefficients_that_the_rows_determine_have_errors(cov):
    X, y = noisy(22, 50, 3)
    repeated = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(repeated, y)
    found = model.inference(repeated, y, cov=cov)
    assert list(np.isnan(found.standard_errors)) == [False, True, True, False, True]
    alone = fitted(X, y, cov=cov)
    for name in ("standard_errors", "pvalues"):
        ours = getattr(found, name)
        np.testing.assert_allclose(ours[[0, 3]], getattr(alone, name)[[0, 3]], rtol=1e-10)
    assert found.degrees_of_freedom == alone.degrees_of_freedom == 46
    assert found.aic == pytest.approx(alone.aic, rel=1e-12)
    assert np.isnan(found.covariance[1]).all()
    assert np.isnan(found.covariance[:, 1]).all()
    assert np.isfinite(found.covariance[3, 0])
    assert " ".join(str(found).split()).endswith(
        "no standard error for 'x0', 'x1', 'x3': columns repeat others, so the rows do not "
        "determine them"
    )


def test_a_constant_column_leaves_the_intercept_undetermined():
    X, y = noisy(23, 50, 2)
    X = np.column_stack([X, np.full(50, 3.0)])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(X, y)
    found = model.inference(X, y)
    assert list(np.isnan(found.standard_errors)) == [True, False, False, True]
    np.testing.assert_allclose(
        found.standard_errors[1:3], fitted(X[:, :2], y).standard_errors[1:], rtol=1e-11
    )


def test_a_level_for_every_row_takes_the_intercept_and_nothing_else():
    X, y = noisy(24, 60, 2)
    levels = np.eye(3)[np.arange(60) % 3]
    all_levels, two = np.column_stack([X + 1e6, levels]), np.column_stack([X + 1e6, levels[:, 1:]])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(all_levels, y)
    found = model.inference(all_levels, y, cov="HC2")
    assert list(np.isnan(found.standard_errors)) == [True, False, False, True, True, True]
    np.testing.assert_allclose(
        found.standard_errors[1:3], fitted(two, y, cov="HC2").standard_errors[1:3], rtol=1e-8
    )


def test_a_far_column_does_not_hide_a_constant_one():
    X, y = noisy(24, 50, 1)
    X = np.column_stack([X + 2.0**31, np.full(50, 0.25)])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(X, y)
    assert np.isnan(model.inference(X, y).standard_errors[[0, 2]]).all()


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize(("apart", "rank"), [(1e-3, 2), (8e-6, 2), (5e-8, 1)])
def test_the_rank_is_that_of_the_fit(apart, rank):
    """float32 columns that differ by more than four of their roundings, and by less."""
    rng = np.random.default_rng(24)
    x = rng.normal(size=400)
    X = np.column_stack([x, x + apart * rng.normal(size=400)]).astype(np.float32)
    y = x + rng.normal(size=400)
    model = LinearRegression().fit(X, y)
    found = model.inference(X, y)
    assert model.rank_ == rank
    assert found.effective_parameters == 1 + rank
    assert np.isfinite(found.standard_errors[1:]).all() == (rank == 2)


@pytest.mark.parametrize(("n", "p", "coefficients"), [(4, 3, 4), (4, 6, 4), (1, 1, 1)])
def test_no_degrees_of_freedom_no_errors(n, p, coefficients):
    X, y = noisy(24, n, p)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AliasWarning)
        model = LinearRegression().fit(X, y)
    message = f"{n} rows? and {coefficients} coefficients? leave no degrees of freedom .* more rows"
    with pytest.raises(InferenceError, match=message):
        model.inference(X, y)


@pytest.mark.parametrize("cov", ["HC2", "HC3"])
def test_a_row_that_alone_determines_a_coefficient_is_named(cov):
    X, y = noisy(25, 30, 2)
    X = np.column_stack([X, np.arange(30) == 17])
    model = LinearRegression().fit(X, y)
    with pytest.raises(InferenceError, match=f"row 17 has leverage 1.*{cov}.*Use cov='HC1'"):
        model.inference(X, y, cov=cov)
    assert np.isfinite(model.inference(X, y, cov="HC1").standard_errors).all()


# --- what is refused ------------------------------------------------------------------------------


def test_selection_on_the_same_rows_is_refused():
    X, y = noisy(26)
    with pytest.raises(InferenceError, match=r"alpha was chosen on these rows.*Split the data"):
        RidgeCV().fit(X, y).inference(X, y)
    for model in (LinearRegression(positive=True), Ridge(positive=True)):
        with pytest.raises(InferenceError, match=r"positive=True the same rows select"):
            model.fit(X, y).inference(X, y)


@pytest.mark.parametrize(
    "name", ["pvalues", "statistic", "log_likelihood", "aic", "bic", "r_squared"]
)
def test_tests_of_penalised_coefficients_are_refused(name):
    X, y = noisy(27)
    found = fitted(X, y, alpha=1.0)
    with pytest.raises(InferenceError, match="ignores the bias of the penalty"):
        getattr(found, name)
    assert np.isfinite(getattr(fitted(X, y, alpha=0.0), name)).all()


def test_penalised_tables_say_what_they_ignore():
    X, y = noisy(27)
    found = fitted(X, y, alpha=1.0)
    for table in (found.summary(), found.conf_int()):
        assert "ignores the bias of the penalty" in table.title
        assert "p" not in table.columns
    assert "bias" not in str(fitted(X, y).summary())


def test_other_rows_are_refused():
    X, y = noisy(28)
    s = weights(28, len(y))
    model = LinearRegression().fit(X, y)
    refused = "not the rows it was fitted on"
    with pytest.raises(InferenceError, match=f"{refused}: it was fitted on 60 rows"):
        model.inference(X[:-1], y[:-1])
    with pytest.raises(InferenceError, match=f"{refused}: y differs"):
        model.inference(X, y + 1)
    with pytest.raises(InferenceError, match=f"{refused}: X differs"):
        model.inference(X[::-1], y)
    with pytest.raises(InferenceError, match=f"{refused}: it was fitted without sample_weight"):
        model.inference(X, y, s)
    with pytest.raises(InferenceError, match="with sample_weight: give the same weights"):
        LinearRegression().fit(X, y, s).inference(X, y)


def test_a_row_that_the_fingerprint_does_not_see_is_noticed():
    X, y = noisy(29, 20_000, 2)
    model = LinearRegression().fit(X, y)
    seen = set(certus.data.rows.spread(20_000, 1024))
    hidden = next(i for i in range(20_000) if i not in seen)
    y[hidden] += 10
    with pytest.raises(
        InferenceError, match="the objective on these rows differs from that of the fit"
    ):
        model.inference(X, y)


def test_changed_coefficients_are_refused():
    X, y = noisy(30)
    model = LinearRegression().fit(X, y)
    model.coef_ = model.coef_ * 1.01
    with pytest.raises(InferenceError, match="changed after the fit: fit again"):
        model.inference(X, y)
    model.fit(X, y).coef_[0] *= 1.01
    with pytest.raises(InferenceError, match="changed"):
        model.inference(X, y)
    model.fit(X, y).intercept_ += 1
    with pytest.raises(InferenceError, match="changed"):
        model.inference(X, y)


def test_parameters_changed_after_the_fit_do_not_matter():
    X, y = noisy(30)
    model = Ridge(alpha=2.0).fit(X, y)
    found = model.inference(X, y)
    model.set_params(alpha=5.0, fit_intercept=False, positive=True)
    np.testing.assert_array_equal(model.inference(X, y).covariance, found.covariance)


def test_an_uncertified_fit_is_refused(monkeypatch, patch_everywhere):
    from certus.solvers.least_squares.least_squares import solve

    def spoiled(*args, **kwargs):
        solution = solve(*args, **kwargs)
        return solution._replace(w=1.1 * solution.w)

    X, y = noisy(31)
    patch_everywhere(solve, new=spoiled)
    with pytest.warns(NotCertifiedWarning):
        model = LinearRegression().fit(X, y)
    with pytest.raises(InferenceError, match=r"the fit is not certified \(not optimal\)"):
        model.inference(X, y)


def test_bad_arguments_are_named():
    X, y = noisy(32)
    with pytest.raises(NotFittedError):
        LinearRegression().inference(X, y)
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"cov='HC4': give one of 'classical'.*Did you mean"):
        model.inference(X, y, cov="HC4")
    with pytest.raises(ValueError, match="give y"):
        model.inference(X, None)
    with pytest.raises(ValueError, match=r"level=95: give a share between 0 and 1"):
        model.inference(X, y).conf_int(95)
