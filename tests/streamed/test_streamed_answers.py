"""Models that were fitted on arrays answer the rows of a table block by block, as those of X."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

from certus.cluster import AgglomerativeClustering, BisectingKMeans
from certus.data import streamed_answers, streamed_scores
from certus.exceptions import DegenerateWarning
from certus.feature_selection import NCFSClassifier, NCFSClassifierCV, NCFSRegressor
from certus.linear_model import (
    FirthLogisticRegression,
    LogisticRegressionCV,
    PenalizedClassifier,
)
from certus.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from certus.preprocessing import GaussianBasis
from certus.svm import LSSVC, LSSVR, DensityWeightedSVC
from tests.streamed.linear_cases import table_of
from tests.streams import GuardedTable

N, FITTED, BLOCK = 3000, 150, 512
LABELS = np.array(["ebb", "flood"])
METHODS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform",
    "kneighbors", "kneighbors_graph", "radius_neighbors", "radius_neighbors_graph",
)  # fmt: skip
MODELS = [
    KNeighborsClassifier(3, weights="distance"),
    KNeighborsRegressor(4),
    RadiusNeighborsClassifier(1.0, abstain="prior"),
    RadiusNeighborsRegressor(1.0, abstain=0.0),
    NearestNeighbors(n_neighbors=3, radius=0.7),
    KNeighborsClassifier(3, metric="manhattan", algorithm="brute"),
    LSSVC(C=0.5),
    LSSVR(C=0.5),
    DensityWeightedSVC(C=0.5),
    NCFSClassifier(max_iter=30),
    NCFSRegressor(max_iter=30),
    FirthLogisticRegression(),
    PenalizedClassifier(),
    AgglomerativeClustering(3),
    BisectingKMeans(3, random_state=0),
    GaussianBasis(4),
]
rounds = pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(streamed_answers, "ANSWER_BLOCK_BYTES", BLOCK * 8 * 3)
    monkeypatch.setattr(streamed_scores, "TARGET_BYTES", BLOCK * 8 * 3)


@pytest.fixture(scope="module")
def data():
    """Rows, targets and codes of labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=N)
    return X, y, (y > np.median(y)).astype(int)


def fitted(model, data):
    X, y, k = data
    return model.fit(X[:FITTED], LABELS[k[:FITTED]] if is_classifier(model) else y[:FITTED])


@rounds
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_answers_to_a_table_are_those_to_the_array(model, data):
    X, *_ = data
    model = fitted(model, data)
    table = GuardedTable(X, most=BLOCK)
    methods = [name for name in METHODS if hasattr(model, name)]
    assert methods
    for name in methods:
        table.largest = 0
        _assert_same(getattr(model, name)(table), getattr(model, name)(X), name)
        assert table.largest == BLOCK


def _assert_same(found, expected, name):
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        for one, other in zip(found, expected, strict=True):
            _assert_same(one, other, name)
    elif sparse.issparse(expected):
        assert (found != expected).nnz == 0
    elif expected.dtype == object and isinstance(expected[0], np.ndarray):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    elif expected.dtype.kind == "f":  # products of matrices depend on the number of rows
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=name)
    else:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("model", MODELS[:6], ids=lambda model: type(model).__name__)
def test_neighbours_of_a_table_are_the_same_bits(model, data):
    X, *_ = data
    model = fitted(model, data)
    for name in ("predict", "predict_proba", "kneighbors"):
        if hasattr(model, name):
            found, expected = (getattr(model, name)(rows) for rows in (table_of(X), X))
            np.testing.assert_array_equal(np.array(found), np.array(expected))


@rounds
@pytest.mark.parametrize(
    "model",
    [model for model in MODELS if hasattr(model, "score") and not hasattr(model, "n_clusters")],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("weights", [False, True])
def test_scores_of_a_table_are_those_of_the_array(model, weights, data, small_blocks):
    X, y, k = data
    model = fitted(model, data)
    s = np.random.default_rng(1).integers(0, 3, size=N).astype(float) if weights else None
    if is_classifier(model):
        table, labels = GuardedTable(X, k, s, most=N // 2, classes=LABELS), LABELS[k]
    else:
        table, labels = GuardedTable(X, y, s, most=N // 2), y
    assert model.score(table) == pytest.approx(model.score(X, labels, s), rel=1e-12)
    assert 0 < table.largest <= N // 2


@rounds
def test_a_scorer_of_the_user_is_given_labels_and_block_wise_answers(data):
    X, _, k = data
    model = NCFSClassifierCV(alphas=2, cv=2, scoring="roc_auc", max_iter=5)
    model = fitted(model, data)
    table = GuardedTable(X, k, most=BLOCK, classes=LABELS)
    assert model.score(table) == pytest.approx(model.score(X, LABELS[k]), rel=1e-12)
    assert table.largest == BLOCK


def test_further_arguments_of_a_search_are_passed_on(data):
    X, *_ = data
    model = fitted(NearestNeighbors(), data)
    rows = model.kneighbors(table_of(X), 2, return_distance=False)
    np.testing.assert_array_equal(rows, model.kneighbors(X, 2, return_distance=False))
    graph = model.kneighbors_graph(X=table_of(X), n_neighbors=2, mode="distance")
    assert (graph != model.kneighbors_graph(X, 2, "distance")).nnz == 0


def test_every_output_of_several_is_joined(data):
    X, _, k = data
    outputs = np.column_stack([k, X[:, 2] > 0])
    model = KNeighborsClassifier(3).fit(X[:FITTED], outputs[:FITTED])
    np.testing.assert_array_equal(model.predict(table_of(X)), model.predict(X))
    for found, expected in zip(
        model.predict_proba(table_of(X)), model.predict_proba(X), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="predicts 2 outputs, and a table has one target"):
        model.score(table_of(X, k, classes=LABELS))


def test_a_longer_label_in_a_later_block_is_not_cut(data):
    X, _, k = data
    X = X.copy()
    X[-1] = 1e3
    model = RadiusNeighborsClassifier(1e2, outlier_label="neither of the two")
    model.fit(X[:FITTED], LABELS[k[:FITTED]])
    found = model.predict(table_of(X))
    assert found[-1] == "neither of the two"
    np.testing.assert_array_equal(found, model.predict(X))


# --- what a block cannot answer -------------------------------------------------------------------


def test_an_error_names_the_block_and_its_row(data):
    X, _, k = data
    X = X.copy()
    X[N - 5] = 1e3
    model = RadiusNeighborsClassifier(1e2).fit(X[:FITTED], k[:FITTED])
    first = (N - 1) // BLOCK * BLOCK
    words = rf"in rows {first:,} to {N - 1:,} of arrays.*from 0: No neighbors.* row {N - 5 - first}"
    with pytest.raises(ValueError, match=words):
        model.predict(table_of(X))


def test_a_warning_is_given_once_for_all_blocks(data):
    X, y, _ = data
    X = X.copy()
    X[BLOCK + 3] = X[-1] = 1e3
    model = RadiusNeighborsRegressor(1e2).fit(X[:FITTED], y[:FITTED])
    with pytest.warns(DegenerateWarning) as caught:
        found = model.predict(table_of(X))
    assert np.flatnonzero(np.isnan(found)).tolist() == [BLOCK + 3, N - 1]
    assert len(caught) == 1
    assert f"in rows {BLOCK:,} to {2 * BLOCK - 1:,}" in str(caught[0].message)
    assert "row 3" in str(caught[0].message)
    assert "1 more such warning" in str(caught[0].message)


def test_missing_values_are_for_metrics_that_skip_them(data):
    X, *_ = data
    X = X.copy()
    X[BLOCK + 7, 1] = np.nan
    table = table_of(X)
    table.missing = True
    skips = fitted(KNeighborsRegressor(metric="nan_euclidean"), data)
    np.testing.assert_array_equal(skips.predict(table), skips.predict(X))
    for model in (fitted(KNeighborsRegressor(), data), fitted(LSSVR(), data)):
        with pytest.raises(ValueError, match=rf"in rows {BLOCK} to .*NaN.*row 7"):
            model.predict(table)


@rounds
def test_other_columns_are_refused_before_a_row_is_read(data):
    X, *_ = data
    model = fitted(KNeighborsClassifier(3), data)
    model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    with pytest.raises(ValueError, match="b"):
        model.predict(GuardedTable(X, most=0, names=["a", "x", "c"]))
    with pytest.raises(ValueError, match="X has 2 features, but KNeighborsClassifier is expecting"):
        model.predict(GuardedTable(np.ascontiguousarray(X[:, :2]), most=0))


@pytest.mark.parametrize(
    "model",
    [model for model in MODELS if not getattr(model, "_reads_rows", False)]
    + [LogisticRegressionCV()],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_that_needs_all_rows_is_refused_before_a_row_is_read(model, data):
    X, y, k = data
    if getattr(model, "_reads_rows", False):
        pytest.skip("is fitted to tables")
    table = (
        GuardedTable(X, k, most=0, classes=LABELS)
        if is_classifier(model)
        else (GuardedTable(X, y, most=0))
    )
    with pytest.raises(TypeError, match=r"needs all rows in memory.*table\.gather"):
        model.fit(table)
