"""A model on new rows beside a certified refit, and what chance alone gives."""

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import certus
from certus import linear_model as ours
from certus.exceptions import CannotVerifyError

N = 300
W = np.array([1.0, 0.5, 0.0, -0.5])
FREE = LogisticRegression(C=np.inf, tol=1e-9)


def columns(seed, n=N):
    return np.random.default_rng(seed).normal(size=(n, 4))


def classes(seed, w=W, n=N, K=2):
    X, rng = columns(seed, n), np.random.default_rng([seed, 1])
    return X, np.digitize(X @ w + rng.logistic(size=n), [0.0, 1.0][: K - 1])


def ordered(seed, w=W, n=N):
    return classes(seed + 100, w, n, K=3)


def numbers(seed, w=W, n=N):
    X = columns(seed, n)
    return X, X @ w + np.random.default_rng([seed, 1]).normal(size=n)


def counts(seed, w=W, n=N):
    X = columns(seed, n)
    return X, np.random.default_rng([seed, 1]).poisson(np.exp(X @ w / 2))


def amounts(seed, w=W, n=N):
    X = columns(seed, n)
    return X, np.random.default_rng([seed, 1]).gamma(2.0, np.exp(X @ w / 2) / 2)


def log_loss(model, X, y):
    return -np.mean(np.log(model.predict_proba(X)[np.arange(len(y)), y]))


def test_the_statistic_is_that_of_the_likelihood_ratio():
    X, y = classes(1)
    model = clone(FREE).fit(*classes(0))
    refit = clone(FREE).fit(X, y)
    result = certus.staleness(model, X, y, n_old=600)
    D = 2 * N * (log_loss(model, X, y) - log_loss(refit, X, y))
    r = N / (600 - 5 - 1)
    assert result.method == "chi-squared"
    assert result.all_rows.n_parameters == 5
    assert result.all_rows.statistic == pytest.approx(D / (1 + r), rel=1e-5)
    assert result.pvalue == pytest.approx(stats.chi2.sf(D / (1 + r), 5), rel=1e-5)
    assert result.gain == pytest.approx(1 - log_loss(refit, X, y) / log_loss(model, X, y), rel=1e-5)
    chance = 5 * (1 + r) / (2 * N) / log_loss(model, X, y)
    assert result.chance == pytest.approx(chance, rel=1e-6)


def test_least_squares_is_the_f_test_of_all_coefficients():
    X, y = numbers(1)
    model = LinearRegression().fit(*numbers(0))
    result = certus.staleness(model, X, y, n_old=10**12)
    A = np.column_stack([np.ones(N), X])
    best = np.sum((y - A @ np.linalg.lstsq(A, y)[0]) ** 2)
    F = (np.sum((y - model.predict(X)) ** 2) - best) / 5 / (best / (N - 5))
    assert result.method == "F"
    assert result.all_rows.statistic == pytest.approx(F, rel=1e-9)
    assert result.pvalue == pytest.approx(stats.f.sf(F, 5, N - 5), rel=1e-8)


def test_the_refit_is_certified_and_at_the_optimum():
    X, y = classes(1, w=-W)
    result = certus.staleness(ours.LogisticRegression(C=np.inf).fit(*classes(0)), X, y)
    assert result.stale
    assert result.n_old == N
    assert result.certificate.certified
    best = ours.LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(result.certificate.parameters["w"].T, best.coef_, rtol=1e-5)
    assert result.all_rows.loss_of_refit == pytest.approx(log_loss(best, X, y), rel=1e-9)


MODELS = [
    (Ridge(), numbers, "bootstrap"),
    (RidgeCV(), numbers, "bootstrap"),
    (Lasso(0.05), numbers, "bootstrap"),
    (ElasticNet(0.05), numbers, "bootstrap"),
    (LogisticRegression(), classes, "bootstrap"),
    (LogisticRegression(class_weight="balanced"), classes, "bootstrap"),
    (LinearSVC(C=0.1), classes, "bootstrap"),
    (LinearSVC(C=0.1, loss="hinge"), classes, "bootstrap"),
    (PoissonRegressor(alpha=0.1), counts, "bootstrap"),
    (PoissonRegressor(alpha=0), counts, "F"),
    (GammaRegressor(alpha=0), amounts, "F"),
    (LinearRegression(positive=True), numbers, "bootstrap"),
    (ours.Lasso(0.05), numbers, "bootstrap"),
    (ours.OrdinalRegression(alpha=0), ordered, "chi-squared"),
    (ours.OrdinalRegression(alpha=1), ordered, "bootstrap"),
    (FREE, ordered, "chi-squared"),
    (LogisticRegression(), ordered, "bootstrap"),
    (ours.PoissonRegressor(alpha=0), counts, "F"),
]


@pytest.mark.parametrize(
    ("model", "rows", "method"), MODELS, ids=lambda v: getattr(v, "__name__", str(v)[:40])
)
def test_drift_is_seen_and_its_absence_too(model, rows, method):
    model = clone(model).fit(*rows(0))
    same = certus.staleness(model, *rows(1), n_old=N)
    other = certus.staleness(model, *rows(2, w=-W), n_old=N)
    assert same.method == other.method == method
    assert same.verdict == "no sign of drift"
    assert other.verdict == "the model is stale"
    assert other.certificate.certified
    assert same.all_rows.loss >= same.all_rows.loss_of_refit or method == "bootstrap"
    assert 0 < same.chance < same.all_rows.chance_high


@pytest.mark.parametrize("rows", [numbers, classes])
def test_chance_by_resamples_is_that_of_the_theory(rows):
    model = (LinearRegression() if rows is numbers else clone(FREE)).fit(*rows(0))
    X, y = rows(1, n=1000)
    exact = certus.staleness(model, X, y, n_old=500)
    drawn = certus.staleness(model, X, y, n_old=500, method="bootstrap", n_resamples=400)
    assert drawn.chance == pytest.approx(exact.chance, rel=0.15)
    assert drawn.all_rows.chance_high == pytest.approx(exact.all_rows.chance_high, rel=0.25)


def test_resamples_are_the_same_for_a_seed():
    model = Ridge().fit(*numbers(0))
    p = [certus.staleness(model, *numbers(1), random_state=seed).chance for seed in (0, 0, 1)]
    assert p[0] == p[1] != p[2]


def test_resamples_are_counted():
    steps = []
    certus.staleness(
        Ridge().fit(*numbers(0)),
        *numbers(1),
        n_resamples=19,
        on_step=lambda i, n: steps.append((i, n)),
    )
    assert steps == [(i, 19) for i in range(1, 20)]


# --- the rows of the old fit ----------------------------------------------------------------------


def test_the_sampling_error_of_the_old_fit_is_part_of_chance():
    model, (X, y) = clone(FREE).fit(*classes(0)), classes(1)
    p = [certus.staleness(model, X, y, n_old=n).pvalue for n in (100, 1000, 10**9)]
    assert p[0] > p[1] > p[2]


def test_a_scaler_tells_the_rows_of_the_old_fit():
    model = make_pipeline(StandardScaler(), clone(FREE)).fit(*classes(0))
    result = certus.staleness(model, *classes(1))
    assert result.n_old == N
    assert "StandardScaler" in result.notes[0]


def test_a_result_of_statsmodels_knows_its_rows():
    sm = pytest.importorskip("statsmodels.api")
    X, y = numbers(0)
    result = certus.staleness(sm.OLS(y, sm.add_constant(X)).fit(), *numbers(1))
    assert result.n_old == N
    same = certus.staleness(ours.LinearRegression().fit(X, y), *numbers(1))
    assert result.pvalue == pytest.approx(same.pvalue, rel=1e-9)


def test_without_them_a_gain_is_undecided_and_the_rows_that_would_settle_it_are_named():
    model, (X, y) = clone(FREE).fit(*classes(0)), classes(1, w=-W)
    result = certus.staleness(model, X, y)
    assert result.verdict == "undecided: the rows of the old fit are not known"
    assert not result.stale
    settled = result.all_rows.stale_above
    r = N / settled
    assert stats.chi2.sf(result.all_rows.statistic / (1 + r), 5) == pytest.approx(0.05)
    assert "give n_old=" in result.explain()


# --- periods --------------------------------------------------------------------------------------


def two_halves():
    (A, a), (B, b) = classes(1), classes(2, w=-W)
    return np.vstack([A, B]), np.concatenate([a, b]), np.repeat(["2026-02", "2026-01"], N)


def test_each_period_is_compared_alone_in_ascending_order():
    X, y, months = two_halves()
    model = ours.LogisticRegression(C=np.inf).fit(*classes(0))
    result = certus.staleness(model, X, y, by=months)
    assert [p.name for p in result.periods] == ["2026-01", "2026-02"]
    assert [p.n for p in result.periods] == [N, N]
    assert result.stale_periods == ("2026-01",)
    alone = certus.staleness(model, X[:N], y[:N])
    assert result.periods[1].pvalue == pytest.approx(alone.pvalue, rel=1e-6)


def test_the_column_of_periods_is_not_given_to_the_model():
    pd = pytest.importorskip("pandas")
    X, y, months = two_halves()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = ours.LogisticRegression(C=np.inf).fit(pd.DataFrame(classes(0)[0], columns=list("abcd")),
                                                  classes(0)[1])  # fmt: skip
    result = certus.staleness(model, frame.assign(month=months), y, by="month")
    assert result.to_json() == certus.staleness(model, frame, y, by=months).to_json()


@pytest.mark.parametrize(
    ("times", "names"),
    [
        (["2026-02-01", "2026-01-01"], ["2026-01-01", "2026-02-01"]),
        (["2026-01-01T12:00", "2026-01-01T06:00"], ["2026-01-01T06:00:00", "2026-01-01T12:00:00"]),
        ([10, 9], ["9", "10"]),
    ],
)
def test_periods_are_ordered_by_value_and_named_as_they_are_read(times, names):
    X, y, _ = two_halves()
    kind = "datetime64[ns]" if isinstance(times[0], str) else int
    by = np.repeat(np.array(times, dtype=kind), N)
    result = certus.staleness(ours.LinearRegression().fit(*numbers(0)), X, y * 1.0, by=by)
    assert [p.name for p in result.periods] == names


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix"])
def test_sparse_rows_are_compared_as_dense_ones(kind):
    sp = pytest.importorskip("scipy.sparse")
    (A, a), (B, b) = classes(0), classes(1)
    dense = certus.staleness(ours.LogisticRegression(C=np.inf).fit(A, a), B, b)
    A, B = getattr(sp, kind)(A), getattr(sp, kind)(B)
    result = certus.staleness(ours.LogisticRegression(C=np.inf).fit(A, a), B, b)
    assert result.pvalue == pytest.approx(dense.pvalue, rel=1e-4)
    assert result.all_rows.n_parameters == 5


def test_too_few_rows_in_a_period_are_said():
    X, y, _ = two_halves()
    by = np.repeat([1, 2, 3], [2 * N - 20, 10, 10])
    result = certus.staleness(ours.LogisticRegression(C=np.inf).fit(*classes(0)), X, y, by=by)
    assert [p.verdict for p in result.periods[1:]] == ["too few rows"] * 2
    assert result.periods[1].reason == "10 rows, 100 are needed for 5 parameters"
    assert result.periods[1].certificate is None
    assert "10 rows, 100 are needed" in result.explain()


def test_a_class_that_hardly_occurs_is_named():
    X, y = classes(1)
    few = np.flatnonzero(y == 1)[:3]
    kept = np.sort(np.concatenate([np.flatnonzero(y == 0), few]))
    result = certus.staleness(ours.LogisticRegression(C=np.inf).fit(*classes(0)), X[kept], y[kept])
    assert result.verdict == "too few rows"
    assert result.all_rows.reason == "class '1' has 3 rows, 5 are needed"


def test_separated_classes_have_no_refit():
    X, _ = classes(1)
    result = certus.staleness(
        ours.LogisticRegression(C=np.inf).fit(*classes(0)), X, (X[:, 0] > 0).astype(int)
    )
    assert result.verdict == "too few rows"
    assert result.all_rows.reason == "there is no optimum"


def test_all_p_values_are_judged_together():
    """The smallest of m is compared with level/m: the more periods, the stricter."""
    model = ours.LinearRegression().fit(*numbers(0, n=2000))
    X, y = numbers(3, w=W + np.array([0.16, 0, 0, 0]))
    alone = certus.staleness(model, X, y)
    assert 0.005 < alone.pvalue < 0.05
    assert alone.stale
    others = [numbers(seed) for seed in range(10, 19)]
    X = np.vstack([X, *(A for A, _ in others)])
    y = np.concatenate([y, *(a for _, a in others)])
    by = np.repeat(np.arange(10), N)
    result = certus.staleness(model, X, y, by=by)
    assert result.periods[0].pvalue == pytest.approx(alone.pvalue, rel=1e-6)
    assert result.periods[0].verdict == "no sign of drift"


# --- pipelines, words, refusals -------------------------------------------------------------------


def test_pipelines_and_searches():
    model = make_pipeline(StandardScaler(), ours.Ridge())
    search = GridSearchCV(model, {"ridge__alpha": [0.1, 1.0]}).fit(*numbers(0))
    result = certus.staleness(search, *numbers(1))
    assert result.n_old == N
    assert "GridSearchCV → Pipeline" in result.notes[0]
    assert certus.staleness(certus.Audited(ours.Ridge()).fit(*numbers(0)), *numbers(1)).n_old == N


def test_the_rows_of_the_fit_are_recognised():
    X, y = numbers(0)
    result = certus.staleness(ours.LinearRegression().fit(X, y), X, y)
    assert result.pvalue == 1
    assert "these are the rows of the fit" in result.notes[-1]


def test_weights_are_those_of_the_loss():
    X, y = numbers(1)
    s = np.ones(N)
    s[:20] = 0
    y[:20] += 100
    result = certus.staleness(ours.LinearRegression().fit(*numbers(0)), X, y, s)
    assert result.method == "bootstrap"
    assert result.all_rows.n == N - 20
    assert result.verdict == "no sign of drift"
    kept = certus.staleness(ours.LinearRegression().fit(*numbers(0)), X[20:], y[20:])
    assert result.gain == pytest.approx(kept.gain, rel=1e-6)


def test_exposures_are_part_of_the_model():
    X, _ = counts(1)
    rng = np.random.default_rng(5)
    exposure = rng.random(N) * 5 + 0.1
    y = rng.poisson(exposure * np.exp(X @ W / 2))
    old = rng.poisson(exposure * np.exp(columns(0) @ W / 2))
    model = ours.PoissonRegressor(alpha=0).fit(columns(0), old, exposure=exposure)
    assert certus.staleness(model, X, y, exposure=exposure).verdict == "no sign of drift"
    assert certus.staleness(model, X, y, exposure=2 * exposure).stale


def test_repeated_columns_are_no_parameters():
    X, y = numbers(0)
    with pytest.warns(certus.exceptions.AliasWarning):
        model = ours.LinearRegression().fit(np.column_stack([X, X[:, 0]]), y)
    A, a = numbers(1)
    assert certus.staleness(model, np.column_stack([A, A[:, 0]]), a).all_rows.n_parameters == 5


def test_the_result_in_words_html_and_json():
    X, y, months = two_halves()
    model = ours.LogisticRegression(C=np.inf).fit(*classes(0))
    result = certus.staleness(model, X, y, by=np.where(months == "2026-01", "<b>", months))
    lines = result.explain().splitlines()
    assert lines[0] == "[!!] STALE   LogisticRegression, 600 new rows × 4 columns"
    assert "a refit lowers the log loss by" in lines[1]
    assert "chance explains" in lines[1]
    assert repr(result).startswith("StalenessResult(the model is stale: a refit lowers")
    assert "&lt;b&gt;" in result._repr_html_()
    assert "<b>" not in result._repr_html_()
    values = json.loads(result.to_json())
    assert values["verdict"] == "the model is stale"
    assert values["all_rows"]["certificate"]["certified"]
    assert values["periods"][0]["n"] == N


@pytest.mark.parametrize(
    ("model", "rows", "message"),
    [
        (HuberRegressor(), numbers, "has no refit that staleness could compare it with"),
        (ours.FirthLogisticRegression(), classes, "has no refit that staleness could compare"),
        (RandomForestClassifier(2), classes, "RandomForestClassifier cannot be audited"),
    ],
)
def test_other_models_are_refused(model, rows, message):
    with pytest.raises(CannotVerifyError, match=message):
        certus.staleness(model.fit(*rows(0)), *rows(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, 'method=\'magic\': use "auto" or "bootstrap"'),
        ({"level": 0}, "level=0: give a number between 0 and 1"),
        ({"n_old": 0}, "n_old=0: give the number of rows that the model was fitted on"),
        ({"n_resamples": 9, "method": "bootstrap"}, "n_resamples=9: 19 are needed for p ≤ 0.05"),
        ({"by": "month"}, "by='month' names a column, and X has no names"),
        ({"by": np.arange(3)}, "by has 3 values for 300 rows"),
        ({"by": np.full((3, 2), 1)}, r"by has shape \(3, 2\): give one value for each row"),
        ({"by": [None] * N}, r"by has a missing value \(row 0\): name its period"),
        ({"by": np.arange(N)}, None),
    ],
)
def test_arguments_are_checked(options, message):
    model = ours.LinearRegression().fit(*numbers(0))
    if message is None:
        result = certus.staleness(model, *numbers(1), **options)
        assert all(p.verdict == "too few rows" for p in result.periods)
        return
    with pytest.raises(ValueError, match=message):
        certus.staleness(model, *numbers(1), **options)


def test_tables_that_are_read_block_by_block_are_refused(tmp_path):
    X, y = numbers(0)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    table = certus.open_rows(tmp_path / "rows.npy", target=4)
    with pytest.raises(CannotVerifyError, match="needs all new rows in memory"):
        certus.staleness(ours.Ridge().fit(table), table)
