"""PoissonRegressor and GammaRegressor: peers, exact optima, offsets, refusals, no optimum."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from scipy.sparse import csr_array
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_validate

import certus
from certus.exceptions import CannotVerifyError, SeparationWarning
from certus.linear_model import GammaRegressor, PoissonRegressor
from tests.log_link.log_link_cases import case, exact_optimum

MODELS = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
each_model = pytest.mark.parametrize("Model", [PoissonRegressor, GammaRegressor])


def family(Model):
    return "poisson" if Model is PoissonRegressor else "gamma"


def problem(Model, seed=0, **more):
    c = case(family(Model), seed=seed, n=120, **more)
    return c.X, c.y, c.s


@each_model
@pytest.mark.parametrize("alpha", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fit_is_that_of_scikit_learn_run_to_the_end(Model, alpha, fit_intercept, weighted):
    X, y, s = problem(Model, weighted=weighted)
    how = {"alpha": alpha, "fit_intercept": fit_intercept}
    ours = Model(**how).fit(X, y, s)
    theirs = getattr(peers, Model.__name__)(
        **how, solver="newton-cholesky", tol=1e-11, max_iter=1000
    ).fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6, abs=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    assert ours.score(X, y, s) == pytest.approx(theirs.score(X, y, s), rel=1e-8)
    assert ours.certificate_.certified
    for by in ("proof", "page"):
        assert certus.verify(theirs, X, y, s, by=by).certified
        assert certus.verify(ours, X, y, s, by=by).certified


@each_model
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
def test_coefficients_agree_with_the_optimum_in_50_digits(Model, l1_ratio):
    c = case(family(Model), "none", seed=4)
    c = c._replace(l1=0.05 * l1_ratio, l2=0.05 * (1 - l1_ratio))
    model = Model(alpha=0.05, l1_ratio=l1_ratio, tol=1e-12).fit(c.X, c.y)
    _, w, b = exact_optimum(c, model.coef_, model.intercept_)
    np.testing.assert_allclose(model.coef_, [float(v) for v in w], atol=1e-7)
    assert model.intercept_ == pytest.approx(float(b), abs=1e-7)


@each_model
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky", "newton-cg", "auto"])
def test_every_solver_reaches_the_same_optimum(Model, solver):
    X, y, _ = problem(Model)
    model = Model(alpha=0.1, solver=solver).fit(X, y)
    reference = Model(alpha=0.1, tol=1e-12).fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)


@each_model
def test_the_objective_is_half_the_mean_deviance_plus_the_penalty(Model):
    from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance

    deviance = mean_poisson_deviance if Model is PoissonRegressor else mean_gamma_deviance
    X, y, s = problem(Model, weighted=True)
    model = Model(alpha=0.3, l1_ratio=0.25).fit(X, y, s)
    kept = s > 0
    expected = deviance(y[kept], model.predict(X[kept]), sample_weight=s[kept]) / 2
    expected += 0.3 * (0.25 * np.abs(model.coef_).sum() + 0.375 * model.coef_ @ model.coef_)
    assert model.certificate_.objective == pytest.approx(expected, rel=1e-12)


# --- offsets and exposures ------------------------------------------------------------------------


@each_model
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_an_exposure_is_the_offset_of_its_logarithm(Model, alpha):
    X, y, _ = problem(Model)
    e = np.random.default_rng(1).uniform(0.2, 5, size=len(X))
    one = Model(alpha=alpha).fit(X, y, exposure=e)
    other = Model(alpha=alpha).fit(X, y, offset=np.log(e))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_allclose(one.predict(X, exposure=e), e * one.predict(X), rtol=1e-14)
    assert one.score(X, y, exposure=e) == other.score(X, y, offset=np.log(e))


@each_model
def test_the_unit_of_the_exposure_changes_the_intercept_alone(Model):
    X, y, _ = problem(Model)
    e = np.random.default_rng(1).uniform(0.2, 5, size=len(X))
    years = Model(alpha=0.2).fit(X, y, exposure=e)
    days = Model(alpha=0.2).fit(X, y, exposure=365 * e)
    np.testing.assert_allclose(days.coef_, years.coef_, atol=1e-9)
    assert days.intercept_ == pytest.approx(years.intercept_ - np.log(365), abs=1e-9)
    assert days.certificate_.objective == pytest.approx(years.certificate_.objective, rel=1e-12)


@each_model
@pytest.mark.parametrize("alpha", [0.0, 0.2])
@pytest.mark.parametrize("far", [500.0, -500.0, 2000.0])
def test_an_offset_far_from_zero_moves_the_intercept_alone(Model, alpha, far):
    X, y, _ = problem(Model)
    o = np.random.default_rng(1).normal(size=len(X))
    near = Model(alpha=alpha).fit(X, y, offset=o)
    moved = Model(alpha=alpha).fit(X, y, offset=o + far)
    assert moved.certificate_.status == "optimal"
    np.testing.assert_allclose(moved.coef_, near.coef_, atol=1e-8)
    assert moved.intercept_ == pytest.approx(near.intercept_ - far, abs=1e-8)
    assert moved.score(X, y, offset=o + far) == pytest.approx(near.score(X, y, offset=o), rel=1e-9)
    again = moved.set_params(warm_start=True).fit(X, y, offset=o + far)
    assert again.n_iter_ <= 1


@each_model
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("seconds", [1e7, 100.0])
def test_time_stamps_are_fitted_as_columns_near_zero(Model, l1_ratio, seconds):
    X, y, _ = problem(Model)
    time = np.round(np.random.default_rng(1).uniform(0, seconds, size=len(X)))
    options = {"alpha": 1e-3, "l1_ratio": l1_ratio, "tol": 1e-10}
    near = Model(**options).fit(np.column_stack([X, time]), y)
    far = Model(**options).fit(np.column_stack([X, 1.7e9 + time]), y)
    assert far.certificate_.status == "optimal"
    assert far.certificate_.objective == pytest.approx(near.certificate_.objective, rel=1e-6)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-4, atol=1e-9)


def test_counts_with_exposures_are_rates_with_weights():
    # scikit-learn's idiom, whose mean over weights makes the penalty depend on the unit of exposure
    X, y, _ = problem(PoissonRegressor)
    e = np.random.default_rng(1).uniform(0.2, 5, size=len(X))
    ours = PoissonRegressor(alpha=0.2).fit(X, y, exposure=e)
    idiom = peers.PoissonRegressor(
        alpha=0.2 * len(e) / e.sum(), solver="newton-cholesky", tol=1e-11, max_iter=1000
    ).fit(X, y / e, e)
    np.testing.assert_allclose(ours.coef_, idiom.coef_, rtol=1e-8)


@each_model
@pytest.mark.parametrize("penalty", ["l2", "l1", "none"])
def test_offsets_agree_with_the_optimum_in_50_digits(Model, penalty):
    c = case(family(Model), penalty, offset=True, weighted=True)
    total = c.l1 + c.l2
    model = Model(alpha=total, l1_ratio=c.l1 / total if total else 0.0, tol=1e-12)
    model.fit(c.X, c.y, c.s, offset=c.o)
    best, w, b = exact_optimum(c, model.coef_, model.intercept_)
    np.testing.assert_allclose(model.coef_, [float(v) for v in w], atol=1e-7)
    assert model.intercept_ == pytest.approx(float(b), abs=1e-7)
    assert model.certificate_.gap >= model.certificate_.objective - best - 1e-15


def test_verify_asks_for_the_exposure_and_recomputes_with_it():
    X, y, _ = problem(PoissonRegressor)
    e = np.random.default_rng(1).uniform(0.2, 5, size=len(X))
    model = PoissonRegressor(alpha=0.2).fit(X, y, exposure=e)
    for by in ("proof", "page"):
        assert certus.verify(model, X, y, exposure=e, by=by).certified
        assert certus.verify(model, X, y, offset=np.log(e), by=by).certified
        assert not certus.verify(model, X, y, exposure=e**1.1, by=by).certified
    with pytest.raises(CannotVerifyError, match="fitted with an offset or an exposure: give it"):
        certus.verify(model, X, y)
    plain = PoissonRegressor().fit(X, y)
    with pytest.raises(CannotVerifyError, match="fitted without an offset"):
        certus.verify(plain, X, y, exposure=e)
    with pytest.raises(CannotVerifyError, match="have no offset"):
        certus.verify(peers.LinearRegression().fit(X, y), X, y, exposure=e)


def test_an_exported_script_takes_the_offsets_beside_the_targets(tmp_path):
    X, y, _ = problem(PoissonRegressor)
    e = np.random.default_rng(1).uniform(0.2, 5, size=len(X))
    model = PoissonRegressor(alpha=0.2).fit(X, y, exposure=e)
    script = tmp_path / "check.py"
    model.certificate_.export(script)
    np.save(tmp_path / "X.npy", X)
    for exposure, code in ((e, 0), (e**1.1, 1)):
        np.save(tmp_path / "y.npy", np.column_stack([y, np.log(exposure)]))
        assert exit_code(script, "X.npy", "y.npy") == code


def exit_code(script, *files):
    call = [sys.executable, script.name, *files]
    return subprocess.run(call, capture_output=True, check=False, cwd=script.parent).returncode


@each_model
@pytest.mark.parametrize("weighted", [False, True])
def test_an_exported_script_takes_offsets_from_files_and_columns_of_csv(Model, weighted, tmp_path):
    X, y, s = problem(Model, weighted=weighted)
    o = np.random.default_rng(1).normal(size=len(X))
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    model = Model(alpha=0.2).fit(table, y, s, offset=o)
    script = tmp_path / "check.py"
    model.certificate_.export(script)
    assert script.read_text().count("\n") <= 150
    for offset, code in ((o, 0), (1.1 * o, 1)):
        columns = {"y": y, "log years": offset, **({"weight": s} if weighted else {})}
        table.assign(**columns).to_csv(tmp_path / "data.csv", index=False)
        assert exit_code(script, "data.csv", *columns) == code
        table.to_csv(tmp_path / "X.csv", index=False)
        for name, values in columns.items():
            pd.Series(values, name=name).to_csv(tmp_path / f"{name}.csv", index=False)
        assert exit_code(script, "X.csv", *(f"{name}.csv" for name in columns)) == code
        pd.DataFrame({"y": y, "o": offset}).to_csv(tmp_path / "both.csv", index=False)
        weights = ["weight.csv"] * weighted
        assert exit_code(script, "X.csv", "both.csv", *weights) == code
    assert exit_code(script, "X.csv", "y.csv") == 2


def test_metadata_routing_passes_exposures_to_fit_and_predict():
    import sklearn

    X, y, _ = problem(PoissonRegressor)
    e = np.random.default_rng(1).uniform(0.2, 5, size=len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        model = PoissonRegressor(alpha=0.1).set_fit_request(exposure=True)
        model = model.set_score_request(exposure=True)
        found = cross_validate(model, X, y, params={"exposure": e}, cv=3)
    parts = [np.arange(len(X))[k * 40 : (k + 1) * 40] for k in range(3)]
    for part, score in zip(parts, found["test_score"], strict=True):
        rest = np.setdiff1d(np.arange(len(X)), part)
        fitted = PoissonRegressor(alpha=0.1).fit(X[rest], y[rest], exposure=e[rest])
        assert fitted.score(X[part], y[part], exposure=e[part]) == pytest.approx(score)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("Model", "value", "message"),
    [
        (PoissonRegressor, -1.0, r"1 target below 0, and counts are not \(first: row 7, -1\)"),
        (GammaRegressor, 0.0, r"1 target not above 0, and amounts are \(first: row 7, 0\)"),
        (GammaRegressor, -2.5, r"first: row 7, -2.5"),
    ],
)
def test_a_target_out_of_range_is_refused_with_its_row(Model, value, message):
    X, y, _ = problem(Model)
    y[7] = value
    with pytest.raises(ValueError, match=message):
        Model().fit(X, y)
    model = Model().fit(X[8:], y[8:])
    with pytest.raises(ValueError, match=message):
        model.score(X, y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exposure": [1.0] * 119 + [0.0]}, r"exposure has 1 value not above 0 \(first: row 119"),
        ({"exposure": [1.0] * 5}, r"exposure has shape \(5,\), expected \(120,\)"),
        ({"exposure": 2.0, "offset": 1.0}, "say the same twice"),
        ({"offset": [np.nan] * 120}, "NaN"),
        ({"offset": ["a"] * 120}, "holds something that is no number"),
    ],
)
def test_bad_offsets_are_refused(given, message):
    X, y, _ = problem(PoissonRegressor)
    with pytest.raises(ValueError, match=message):
        PoissonRegressor().fit(X, y, **given)
    model = PoissonRegressor().fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(X, **given)


@each_model
@pytest.mark.parametrize(
    ("parameter", "value"),
    [("alpha", -1.0), ("alpha", np.inf), ("l1_ratio", 1.5), ("tol", 0.0), ("max_iter", 0),
     ("solver", "sag"), ("fit_intercept", "yes"), ("verbose", -1)],
)  # fmt: skip
def test_bad_parameters_are_refused(Model, parameter, value):
    X, y, _ = problem(Model)
    with pytest.raises(ValueError, match=f"{parameter}="):
        Model(**{parameter: value}).fit(X, y)


@each_model
def test_a_column_of_targets_warns_and_several_are_refused(Model):
    X, y, _ = problem(Model)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        Model().fit(X, y[:, None])
    with pytest.raises(ValueError, match=r"1d array, got an array of shape \(120, 2\)"):
        Model().fit(X, np.column_stack([y, y]))


# --- no finite optimum ----------------------------------------------------------------------------


def towns(n=90, seed=0):
    rng = np.random.default_rng(seed)
    names = np.array(["Aalen", "Bonn", "Trier", "Ulm"])
    town = rng.integers(0, 4, size=n)
    X = pd.DataFrame({"age": rng.normal(size=n)})
    for k, name in enumerate(names[1:], 1):
        X[f"town_{name}"] = (town == k).astype(float)
    y = rng.poisson(2.0, size=n) * (town != 3)
    return X, y, town


def no_optimum(model, *args, **kwargs):
    with pytest.warns(SeparationWarning) as caught:
        model.fit(*args, **kwargs)
    assert model.certificate_.status == "no finite optimum"
    assert not model.certificate_.certified
    return str(caught[0].message)


def test_a_category_of_zeros_is_named():
    X, y, town = towns()
    text = no_optimum(model := PoissonRegressor(alpha=0), X, y)
    rows = (town == 3).sum()
    assert f"Every row with 'town_Ulm' = 1 has count 0 ({rows} rows)" in text
    assert "so its coefficient falls without limit" in text
    assert "rate ratios" in text
    assert certus.verify(model, X, y).status == "no finite optimum"
    assert certus.verify(model, X, y, by="page").status == "no finite optimum"
    theirs = peers.PoissonRegressor(alpha=0).fit(X, y)
    assert certus.verify(theirs, X, y).status == "no finite optimum"
    assert PoissonRegressor(alpha=1e-3).fit(X, y).certificate_.certified


def test_a_reference_category_of_zeros_is_found_as_a_combination():
    X, y, town = towns()
    X = X.drop(columns="town_Ulm").assign(town_Aalen=(town == 0).astype(float))
    text = no_optimum(PoissonRegressor(alpha=0), X, y)
    assert "A combination of 'town_" in text
    assert f"{(town == 3).sum()} rows with count 0" in text


def test_zeros_beyond_a_threshold_are_named():
    rng = np.random.default_rng(0)
    dose = np.where(rng.uniform(size=80) < 0.4, 5.0, rng.uniform(5, 9, size=80))
    y = np.where(dose > 5, 0, rng.poisson(3, size=80))
    X = pd.DataFrame({"age": rng.normal(size=80), "dose": dose})
    text = no_optimum(PoissonRegressor(alpha=0), X, y)
    assert f"Every row with 'dose' > 5 has count 0 ({(dose > 5).sum()} rows)" in text


def test_all_counts_zero_have_no_finite_optimum_whatever_the_penalty():
    X, y, _ = towns()
    text = no_optimum(model := PoissonRegressor(alpha=1.0), X, 0 * y)
    assert "Every count is 0 (90 rows), so the intercept falls without limit" in text
    assert model.predict(X).max() < 1e-300
    for by in ("proof", "page"):
        assert certus.verify(model, X, 0 * y, by=by).status == "no finite optimum"
    without = PoissonRegressor(alpha=1.0, fit_intercept=False).fit(X, 0 * y)
    assert without.certificate_.certified


def test_zeros_that_no_direction_reaches_have_an_optimum():
    X, y, town = towns()
    y = np.where((town == 3) & (X["age"] > 0), 1, y)
    assert PoissonRegressor(alpha=0).fit(X, y).certificate_.certified


def test_rows_of_weight_zero_do_not_keep_a_category_finite():
    X, y, town = towns()
    s = np.ones(len(y))
    i = np.flatnonzero(town == 3)[0]
    y[i], s[i] = 4, 0.0
    no_optimum(PoissonRegressor(alpha=0), X, y, s)


# --- shapes, kinds of data, files -----------------------------------------------------------------


@each_model
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_sparse_rows_are_dense_rows(Model, alpha, l1_ratio):
    X, y, _ = problem(Model)
    X = X * (np.random.default_rng(0).uniform(size=X.shape) < 0.5)
    how = {"alpha": alpha, "l1_ratio": l1_ratio, "tol": 1e-10}
    dense, sparse = Model(**how).fit(X, y), Model(**how).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    np.testing.assert_allclose(sparse.predict(csr_array(X)), dense.predict(X), rtol=1e-5)


@each_model
def test_wide_data_are_certified(Model):
    c = case(family(Model), n=60, p=3)
    X = np.column_stack([c.X, np.random.default_rng(0).normal(size=(60, 900))])
    for l1_ratio in (0.0, 1.0):
        assert Model(alpha=0.2, l1_ratio=l1_ratio).fit(X, c.y).certificate_.certified


@each_model
def test_repeated_columns_get_the_smallest_coefficients(Model):
    from certus.exceptions import AliasWarning

    X, y, _ = problem(Model)
    with pytest.warns(AliasWarning, match="column 3 = column 0"):
        model = Model(alpha=0).fit(np.column_stack([X, X[:, 0]]), y)
    alone = Model(alpha=0).fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[[0, 3]], alone.coef_[0] / 2, rtol=1e-7)


@each_model
def test_a_warm_start_at_the_optimum_takes_no_step_more(Model):
    X, y, _ = problem(Model)
    model = Model(alpha=0.1, warm_start=True).fit(X, y)
    before = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ <= 1
    np.testing.assert_allclose(model.coef_, before, atol=1e-9)


@each_model
def test_scores_that_would_overflow_do_not_stop_the_fit(Model):
    # a full Newton step from the mean leads to exp(1000)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=50), [40.0]])[:, None]
    y = np.concatenate([np.exp(0.5 * X[:50, 0]) * rng.gamma(2, 0.5, 50), [np.exp(20.0)]])
    y = np.rint(y * 10) + 1
    for alpha in (0.0, 0.01):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Model(alpha=alpha).fit(X, y).certificate_.certified


@each_model
def test_constant_targets_are_fitted_by_the_intercept(Model):
    X, y, _ = problem(Model)
    for value in (1.0, 0.1, 12345.6):
        model = Model(alpha=0.1).fit(X, np.full(len(y), value))
        assert model.certificate_.certified
        np.testing.assert_allclose(model.predict(X), value, rtol=1e-12)


def test_verbose_prints_a_line_for_each_step(capsys):
    X, y, _ = problem(PoissonRegressor)
    model = PoissonRegressor(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_ + 1
    assert lines[0].startswith("PoissonRegressor: iteration 0, objective")
