"""NCFS on tables: the bits of the same batches of an array, and no more than a batch at once."""

import numpy as np
import pytest

import certus
from certus.data import streamed
from certus.exceptions import CannotVerifyError, SourceChangedError
from certus.feature_selection import NCFSClassifier, NCFSClassifierCV, NCFSRegressor
from certus.metrics import CalibratedClassifier
from tests.engines.parts_table import PartsTable
from tests.streamed.linear_cases import assert_equal_bits, table_of
from tests.streams import GuardedTable, watch_blocks

N, P, SIZE = 900, 5, 100
LABELS = np.array(["ebb", "flood", "slack"])
CLASSIFIERS = [
    {}, {"metric": "sqeuclidean", "form": "mean"}, {"metric": "euclidean", "alpha": 0.3},
    {"scale": "standard", "prior": "balanced"}, {"loss": 1 - np.eye(3), "scale": None},
    {"solver": "yang", "max_iter": 300},
]  # fmt: skip
REGRESSORS = [
    {}, {"loss": "squared", "form": "mean"}, {"loss": "epsilon_insensitive", "scale": "standard"},
]  # fmt: skip
CASES = [(NCFSClassifier, how) for how in CLASSIFIERS] + [
    (NCFSRegressor, how) for how in REGRESSORS
]
each_case = pytest.mark.parametrize(("kind", "how"), CASES, ids=str)


def draw(weights=False, dtype=float, n=N):
    """X, y, codes of classes, and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, P)).astype(dtype)
    y = X[:, 1] + 0.3 * rng.normal(size=n)
    k = np.digitize(y, [-0.5, 0.5])
    return X, y, k, rng.integers(0, 3, size=n).astype(float) if weights else None


def given(kind, weights=False, dtype=float, make=table_of, n=N, **options):
    """Arrays, and the table over them."""
    X, y, k, s = draw(weights, dtype, n)
    if kind is NCFSRegressor:
        return (X, y, s), make(X, y, s, **options)
    return (X, LABELS[k], s), make(X, k, s, classes=LABELS, **options)


@each_case
@pytest.mark.parametrize("weights", [False, True])
def test_a_fit_to_a_table_has_the_bits_of_the_same_batches_of_arrays(kind, how, weights):
    arrays, table = given(kind, weights)
    model = kind(batch_size=SIZE, **how).fit(table)
    expected = kind(batch_size=SIZE, **how).fit(*arrays)
    assert_equal_bits(model, expected)
    for name in ("_fit_X", "_fit_y", "_fit_rows", "_fit_columns"):
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name))
    assert model.weights_.any()
    assert model.certificate_.certified == (how.get("solver") != "yang")


def test_float32_tables_have_the_bits_of_float32_arrays():
    arrays, table = given(NCFSClassifier, dtype=np.float32)
    model = NCFSClassifier(batch_size=SIZE).fit(table)
    assert_equal_bits(model, NCFSClassifier(batch_size=SIZE).fit(*arrays))


@each_case
def test_no_more_than_a_batch_is_read_at_once(kind, how, monkeypatch):
    monkeypatch.setattr(streamed, "GATHER_BYTES", SIZE * P * 8)
    _, table = given(kind, make=GuardedTable, n=3 * N, most=SIZE)
    model = kind(batch_size=SIZE, **how).fit(table)
    assert certus.verify(model, table).status == model.certificate_.status
    assert table.largest == SIZE
    assert len(model._fit_X) == SIZE


@pytest.mark.parametrize(("kind", "how"), [CASES[0], CASES[3], CASES[-1]], ids=str)
def test_functions_of_batches_are_pure(kind, how, monkeypatch):
    called = watch_blocks(monkeypatch)
    _, table = given(kind, weights=True)
    model = kind(batch_size=SIZE, **how).fit(table)
    assert certus.verify(model, table).certified
    assert {"_survey", "_value_and_slope", "_batch", "_totals"} <= set(called)


@pytest.mark.parametrize("cuts", [(333,), (1, 450, 451)])
@pytest.mark.parametrize(("kind", "how"), [CASES[0], CASES[2], CASES[3], CASES[-1]], ids=str)
def test_parts_may_be_cut_anywhere(kind, how, cuts):
    arrays, table = given(kind, True, make=PartsTable, cuts=cuts)
    model = kind(batch_size=SIZE, **how).fit(table)
    assert_equal_bits(model, kind(batch_size=SIZE, **how).fit(*arrays))
    assert certus.verify(model, table).certified


@pytest.mark.parametrize("kind", [NCFSClassifier, NCFSRegressor])
def test_a_model_of_a_table_is_verified_and_answers_as_on_arrays(kind):
    (X, y, s), table = given(kind, weights=True)
    model = kind(batch_size=SIZE).fit(table)
    for rows in ((table,), (X, y, s)):
        c = certus.verify(model, *rows)
        assert c.status == "local optimum"
        assert c.residual == model.certificate_.residual
    assert certus.verify(model, X, y, s, by="page").certified
    with pytest.raises(CannotVerifyError, match="a page works on whole arrays"):
        certus.verify(model, table, by="page")
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    np.testing.assert_array_equal(model.transform(table), X[:, model.get_support()])
    assert model.score(table) == pytest.approx(model.score(X, y, s), rel=1e-12)
    model.weights_ = model.weights_ * 1.01
    assert not certus.verify(model, table).certified


def test_a_table_has_batches_of_1024_rows_by_default():
    X, _, k, _ = draw(n=2500)
    model = NCFSClassifier().fit(table_of(X, k, classes=LABELS))
    assert model.batch_size_ == len(model._fit_X) == 1024
    assert_equal_bits(model, NCFSClassifier(batch_size=1024).fit(X, LABELS[k]))
    assert NCFSClassifier().fit(X[:300], k[:300]).batch_size_ is None


def test_a_table_of_one_batch_compares_all_rows():
    (X, y, _), table = given(NCFSClassifier)
    model, expected = NCFSClassifier().fit(table), NCFSClassifier().fit(X, y)
    np.testing.assert_allclose(model.weights_, expected.weights_, rtol=1e-6, atol=1e-9)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-10)
    assert "different batches" not in model.certificate_.explain()


def test_sorted_files_are_refused_with_the_remedy():
    X, y, k, _ = draw()
    at = np.argsort(y)
    with pytest.raises(ValueError, match=r"order that depends on the class.*write them in random"):
        NCFSClassifier(batch_size=SIZE).fit(table_of(X[at], k[at], classes=LABELS))
    with pytest.raises(ValueError, match="order that depends on y"):
        NCFSRegressor(batch_size=SIZE).fit(table_of(X[at], y[at]))


def test_a_choice_of_lambda_needs_all_rows_and_names_what_does_not():
    _, table = given(NCFSClassifier)
    with pytest.raises(TypeError, match=r"NCFSClassifierCV needs all rows.*NCFSClassifier,"):
        NCFSClassifierCV().fit(table)


def test_several_targets_are_refused():
    X, y, *_ = draw()
    with pytest.raises(ValueError, match="2 targets"):
        NCFSRegressor().fit(table_of(X, np.column_stack([y, y])))


def test_calibration_fits_folds_of_a_table():
    _, table = given(NCFSClassifier)
    model = CalibratedClassifier(NCFSClassifier(batch_size=SIZE), cv=3)
    binary = table_of(table.arrays.X, (table.arrays.y > 0).astype(float), classes=LABELS[:2])
    P = model.fit(binary).predict_proba(binary)
    assert P.shape == (N, 2)


def test_files_that_change_stop_the_fit(tmp_path):
    X, y, *_ = draw()
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    rows = certus.open_rows(tmp_path / "rows.npy", target=P)
    assert NCFSRegressor(batch_size=SIZE).fit(rows).certificate_.certified
    np.save(tmp_path / "rows.npy", np.column_stack([X, y])[:-10])
    with pytest.raises(SourceChangedError):
        NCFSRegressor(batch_size=SIZE).fit(rows)
