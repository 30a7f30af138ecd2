"""LinearSVC on streamed rows: dual points as steps for the hinge, a further column for the other.

The hinge's sums are taken in another order than those of arrays, so that fits agree to their gaps.
"""

import numpy as np
import pytest
import sklearn.linear_model as sk_linear
import sklearn.svm as sk

import certus
from certus.data import rows as rows_module
from certus.data.constant_column import streamed_with_constant
from certus.data.streamed_input import rows_of_classes
from certus.exceptions import NotCertifiedWarning
from certus.solvers.glm.newton import Newton
from certus.solvers.glm.newton_cg import NewtonCG
from certus.solvers.hinge import curvature, newton, streamed_margins
from certus.svm import LinearSVC, linear_svc
from tests.engines.parts_table import PartsTable
from tests.streamed.linear_cases import assert_equal_bits
from tests.streams import ArrayTable, GuardedTable, cut_small, watch_blocks

N = 5000
LABELS = np.array(["calm", "fresh", "storm"])
OPTIONS = [
    {},
    {"C": 0.01, "class_weight": "balanced"},
    {"C": 5.0, "class_weight": {"fresh": 3.0}},
    {"fit_intercept": False},
    {"intercept_scaling": 20.0},
]


@pytest.fixture
def few_rows(monkeypatch):
    """Blocks of 256 rows, of 2048 in proofs."""
    cut_small(monkeypatch, 1 << 13)


def draw(classes=2, weights=False, n=N, p=4, seed=0, dtype=float):
    """X, labels' codes and weights; classes overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.3, 3, size=p) + rng.normal(size=p)
    k = (X @ rng.normal(size=(p, classes)) + 2 * rng.normal(size=(n, classes))).argmax(axis=1)
    s = rng.integers(0, 3, size=n).astype(float) if weights else None
    return X.astype(dtype), k, s


def table_of(X, k, s=None, kind=ArrayTable, **options):
    return kind(X, k, s, classes=LABELS[: k.max() + 1], **options)


class TargetsApart(GuardedTable):
    """A table whose targets are read without X."""

    def read_targets(self, start, stop):
        return self.arrays.y[start:stop], None if self.arrays.s is None else self.arrays.s[
            start:stop
        ]


def assert_same_optimum(found, expected):
    f, g = found.certificate_, expected.certificate_
    assert f.certified
    assert g.certified
    assert abs(f.objective - g.objective) <= f.gap + g.gap
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=f.coef_error + g.coef_error)


# --- the hinge ------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_streamed_hinge_has_the_optimum_of_the_arrays(options, classes, weights, few_rows):
    X, k, s = draw(classes, weights)
    table = table_of(X, k, s, GuardedTable, most=N // 2)
    with np.errstate(all="raise", under="ignore"):
        found = LinearSVC(loss="hinge", **options).fit(table)
    assert_same_optimum(found, LinearSVC(loss="hinge", **options).fit(X, LABELS[k], s))
    assert not hasattr(found, "dual_coef_")
    for rows in ((table,), (X, LABELS[k], s)):
        verified = certus.verify(found, *rows)
        assert verified.certified
        assert verified.bound == pytest.approx(found.certificate_.bound, rel=1e-12)
    np.testing.assert_array_equal(found.predict(table), found.predict(X))
    assert found.score(table) == pytest.approx(found.score(X, LABELS[k], s), rel=1e-12)
    assert 0 < table.largest <= N // 2


@pytest.mark.parametrize("classes", [2, 3])
def test_the_steps_give_a_dual_point_whose_objective_is_the_bound(classes):
    X, k, s = draw(classes, weights=True)
    model = LinearSVC(loss="hinge", intercept_scaling=2.0).fit(table_of(X, k, s))
    Z = np.column_stack([X, np.full(N, 2.0)])
    D = 0.0
    for column, steps in enumerate(model.dual_steps_):
        y = np.where(k == (1 if classes == 2 else column), 1.0, -1.0)
        a = np.zeros(N)
        for sigma, *theta in steps:
            a = np.clip(a + sigma * (1 - y * (Z @ theta)), 0, 1)
        v = Z.T @ (s * a * y)
        D += s @ a - v @ v / 2
    c = model.certificate_
    assert c.bound == pytest.approx(D, rel=1e-9)
    assert c.objective - D <= 1e-6 * c.objective


def test_a_model_whose_steps_were_changed_has_a_weaker_bound_or_is_contradicted(few_rows):
    X, k, s = draw()
    model = LinearSVC(loss="hinge").fit(table_of(X, k, s))
    model.dual_steps_ = model.dual_steps_ * 0.9
    weaker = certus.verify(model, table_of(X, k, s))
    assert weaker.bound < model.certificate_.bound
    assert weaker.objective == model.certificate_.objective
    assert not weaker.certified
    model.dual_steps_[:] = np.nan
    assert certus.verify(model, table_of(X, k, s)).bound <= weaker.objective


@pytest.mark.parametrize(
    ("module", "limits"),
    [
        (curvature, {"MAX_CONDITION": 0.0}),  # by triangles
        (streamed_margins, {"MAX_FACTORED_SIZE": 0}),  # by conjugate gradients
        (newton, {"MIN_SAMPLED_ROWS": (100, 5)}),  # from a sample
        (newton, {"MIN_SAMPLED_ROWS": (100, 5), "MAX_STREAMED_SAMPLE_ELEMENTS": 400}),
    ],
    ids=["triangles", "conjugate gradients", "sample", "small sample"],
)
def test_every_way_to_a_step_leads_to_the_optimum(module, limits, few_rows, monkeypatch):
    X, k, s = draw(weights=True)
    expected = LinearSVC(loss="hinge").fit(X, LABELS[k], s)
    for name, value in limits.items():
        monkeypatch.setattr(module, name, value)
    assert_same_optimum(LinearSVC(loss="hinge").fit(table_of(X, k, s)), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_other_types_of_columns_have_the_optimum_of_the_arrays(dtype, few_rows):
    X, k, _ = draw(dtype=dtype)
    expected = LinearSVC(loss="hinge").fit(X, LABELS[k])
    assert_same_optimum(LinearSVC(loss="hinge").fit(table_of(X, k)), expected)


def test_separated_classes_and_columns_of_all_scales_are_no_obstacle(few_rows):
    X, k, _ = draw(n=600)
    k = (X[:, 0] > 0.2).astype(int)
    X = X * [1e-4, 1.0, 1e2, 1e4] + [0.0, 100.0, 0.0, 1e5]
    model = LinearSVC(loss="hinge", C=10.0).fit(table_of(X, k))
    assert model.certificate_.certified


def test_lengths_of_a_step_are_found_far_from_one_and_not_at_all():
    for zero in (1e-12, 1e-5, 0.03, 0.77, 1.0, 45.0, 3e4):
        t = streamed_margins.zero_of_slopes(lambda t, zero=zero: t - zero)
        assert 0.6 * zero <= t <= 1.2 * zero
    jump = streamed_margins.zero_of_slopes(lambda t: np.where(t < 0.3, -1.0, 5.0))
    assert 0.29 <= jump <= 0.3
    assert streamed_margins.zero_of_slopes(lambda t: t + 0.0) == 0.0


def test_a_fit_that_ends_early_warns_and_says_how_far_it_came(few_rows):
    X, k, _ = draw()
    with pytest.warns(NotCertifiedWarning, match="max_iter=2"):
        model = LinearSVC(loss="hinge", max_iter=2).fit(table_of(X, k))
    c = model.certificate_
    assert c.bound < LinearSVC(loss="hinge").fit(X, k).certificate_.objective <= c.objective


@pytest.mark.parametrize("cuts", [(500, 501, 1900), (1200,)], ids=str)
def test_parts_of_an_engine_give_the_bits_of_the_table(cuts, monkeypatch):
    cut_small(monkeypatch, 1 << 13)
    X, k, s = draw(3, weights=True)
    parts = PartsTable(X, k, s, cuts=cuts, classes=LABELS)
    found = LinearSVC(loss="hinge").fit(parts)
    expected = LinearSVC(loss="hinge").fit(table_of(X, k, s))
    for name in ("coef_", "intercept_", "dual_steps_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.certificate_.gap == expected.certificate_.gap


def test_blocks_of_the_hinge_are_pure(pure_blocks):
    X, k, s = draw(3, weights=True)
    table = table_of(X, k, s)
    model = LinearSVC(loss="hinge", class_weight="balanced").fit(table)
    assert certus.verify(model, table).certified
    assert {"kink_sums", "slopes_along", "sums_along"} <= set(pure_blocks)
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


def test_a_saved_model_of_a_table_is_certified_by_its_steps(tmp_path, few_rows):
    X, k, s = draw(weights=True)
    table = table_of(X, k, s)
    model = LinearSVC(loss="hinge").fit(table)
    certus.save(model, tmp_path / "model.certus")
    again = certus.load(tmp_path / "model.certus")
    np.testing.assert_array_equal(again.dual_steps_, model.dual_steps_)
    assert certus.verify(again, table).bound == model.certificate_.bound


def test_the_page_verifies_a_model_of_a_table_on_arrays():
    X, k, _ = draw(n=150)
    model = LinearSVC(loss="hinge").fit(table_of(X, k))
    page = certus.verify(model, X, LABELS[k], by="page")
    assert page.certified
    assert page.objective == pytest.approx(model.certificate_.objective, rel=1e-12)


def test_a_fit_to_arrays_after_one_to_a_table_keeps_no_steps():
    X, k, _ = draw(n=200)
    model = LinearSVC(loss="hinge").fit(table_of(X, k)).fit(X, LABELS[k])
    assert hasattr(model, "dual_coef_")
    assert not hasattr(model, "dual_steps_")


# --- the squared hinge ----------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_streamed_squared_hinge_has_the_bits_of_the_arrays(
    options, classes, weights, few_rows, monkeypatch
):
    # sums over targets alone: the line search's are those of arrays up to a million rows
    monkeypatch.setattr(rows_module, "TARGET_ROWS", 1 << 20)
    X, k, s = draw(classes, weights)
    table = table_of(X, k, s, TargetsApart, most=N // 2)
    with np.errstate(all="raise", under="ignore"):
        found = LinearSVC(**options).fit(table)
    assert_equal_bits(found, LinearSVC(**options).fit(X, LABELS[k], s))
    assert certus.verify(found, table).certified
    np.testing.assert_array_equal(found.predict(table), found.predict(X))
    np.testing.assert_array_equal(found.decision_function(table), found.decision_function(X))
    assert found.score(table) == pytest.approx(found.score(X, LABELS[k], s), rel=1e-12)
    assert 0 < table.largest <= N // 2


def spread_out(classes, separated, n, p):
    """Columns of different scales, of classes that overlap or are apart."""
    X, k, s = draw(classes, not separated, n=n, p=p)
    if separated:
        k = (X[:, 0] > 0.2).astype(int) + (X[:, 1] > 1) * (classes == 3)
    return X * np.exp(2 * np.random.default_rng(0).normal(size=p)), k, s


@pytest.mark.parametrize("kind", [Newton, NewtonCG])
@pytest.mark.parametrize(("n", "p"), [(300, 40), (60, 100)])
@pytest.mark.parametrize("separated", [False, True])
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_both_newton_methods_take_streamed_rows(C, separated, n, p, kind, monkeypatch):
    monkeypatch.setattr(linear_svc, "choose", lambda problem: kind())
    X, k, s = spread_out(2, separated, n, p)
    found = LinearSVC(C=C).fit(table_of(X, k, s))
    assert_equal_bits(found, LinearSVC(C=C).fit(X, LABELS[k], s))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_l1_penalty_has_the_optimum_of_the_arrays(options, classes, few_rows):
    X, k, s = draw(classes, weights=True)
    table = table_of(X, k, s, GuardedTable, most=N // 2)
    found = LinearSVC(penalty="l1", **options).fit(table)
    expected = LinearSVC(penalty="l1", **options).fit(X, LABELS[k], s)
    f, g = found.certificate_, expected.certificate_
    assert f.certified
    assert abs(f.objective - g.objective) <= f.gap + g.gap
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-4)
    np.testing.assert_array_equal(found.coef_ == 0, expected.coef_ == 0)
    assert certus.verify(found, table).certified


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("separated", [False, True])
@pytest.mark.parametrize(("n", "p"), [(300, 40), (60, 100)])
def test_the_l1_penalty_is_solved_for_separated_and_few_rows(n, p, separated, C):
    X, k, s = spread_out(2, separated, n, p)
    found = LinearSVC(penalty="l1", C=C).fit(table_of(X, k, s))
    expected = LinearSVC(penalty="l1", C=C).fit(X, LABELS[k], s)
    f, g = found.certificate_, expected.certificate_
    assert f.certified
    assert abs(f.objective - g.objective) <= f.gap + g.gap


@pytest.mark.parametrize("options", [{}, {"penalty": "l1"}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_parts_of_an_engine_get_the_constant_column_where_they_are(options, classes, few_rows):
    X, k, s = draw(classes, weights=True)
    parts = PartsTable(X, k, s, cuts=(500, 501, 4000), classes=LABELS[:classes])
    found = LinearSVC(intercept_scaling=3.0, **options).fit(parts)
    expected = LinearSVC(intercept_scaling=3.0, **options).fit(table_of(X, k, s))
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    assert "on_changed_parts" in parts.engine.calls


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_a_table_with_a_constant_column_reads_what_the_extended_array_is(dtype):
    X, k, s = draw(3, weights=True, n=100, dtype=dtype)
    rows, classes = rows_of_classes(LinearSVC(), table_of(X, k, s).X)
    rows = rows.recoded(_halved)
    extended = streamed_with_constant(rows, 0.1)
    expected = np.column_stack([X, np.full(100, 0.1)])
    assert extended.shape == expected.shape
    block = extended.block(20, 70)
    np.testing.assert_array_equal(block[0], expected[20:70])
    np.testing.assert_array_equal(block[1], k[20:70, None] / 2)
    np.testing.assert_array_equal(block[2], s[20:70])
    some = np.array([90, 3, 41])
    np.testing.assert_array_equal(extended.take(some).X, expected[some])
    assert len(classes) == 3


def _halved(y, s):
    return y / 2, s


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_blocks_of_the_squared_hinge_are_pure(penalty, pure_blocks):
    X, k, s = draw(3, weights=True)
    table = table_of(X, k, s)
    model = LinearSVC(penalty=penalty, class_weight="balanced").fit(table)
    assert certus.verify(model, table).certified
    assert not any("lambda" in name or "locals" in name for name in pure_blocks)


# --- models of scikit-learn -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        sk.LinearSVC(loss="hinge", C=0.1, random_state=0),
        sk.LinearSVC(loss="hinge", fit_intercept=False, class_weight="balanced", random_state=0),
        sk.LinearSVC(C=0.1, random_state=0),
        sk.LinearSVC(penalty="l1", C=0.1, random_state=0),
        sk_linear.SGDClassifier(alpha=0.01, random_state=0),
        sk_linear.SGDClassifier(penalty="elasticnet", alpha=0.01, random_state=0),
        sk_linear.SGDClassifier(penalty="l1", alpha=0.01, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_models_of_scikit_learn_are_verified_on_tables(model, classes, few_rows):
    X, k, s = draw(classes, weights=True)
    model.fit(X, LABELS[k], sample_weight=s)
    table = table_of(X, k, s, GuardedTable, most=N // 2)
    found, expected = certus.verify(model, table), certus.verify(model, X, LABELS[k], s)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    assert found.status == expected.status
    assert found.bound <= expected.objective
    excess = expected.objective - expected.bound  # the search need not come closer than a share
    assert abs(found.bound - expected.bound) <= 0.02 * excess + 1e-6 * expected.objective
    assert 0 < table.largest <= N // 2


def test_a_search_for_a_dual_point_has_pure_blocks(monkeypatch):
    cut_small(monkeypatch, 1 << 13)
    X, k, s = draw(3, weights=True, n=600)
    model = sk.LinearSVC(loss="hinge", C=0.1, random_state=0, max_iter=10**5).fit(X, LABELS[k], s)
    called = watch_blocks(monkeypatch)
    certus.verify(model, table_of(X, k, s))
    assert {"point_sums", "on_kink", "sums_along"} <= set(called)
