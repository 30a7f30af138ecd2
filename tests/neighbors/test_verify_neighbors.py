"""``certus.verify`` on neighbours of scikit-learn: right ones pass, wrong ones are named."""

import copy

import numpy as np
import pytest
import sklearn.neighbors as peers
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.audit.readers.neighbor_metrics import METRICS
from certus.audit.readers.neighbors import _count
from certus.data.rows import Rows
from certus.exceptions import CannotVerifyError
from certus.neighbors import KNeighborsClassifier
from certus.proofs import distances

X, y = load_iris(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=0.01, size=X.shape)  # without ties
t = X[:, 0] - X[:, 1]
ALGORITHMS = ("brute", "kd_tree", "ball_tree")


def inverse(d):
    return 1 / (0.1 + d)


MODELS = {
    "nearest": peers.NearestNeighbors(),
    "one nearest": peers.NearestNeighbors(n_neighbors=1),
    "all": peers.NearestNeighbors(n_neighbors=150),
    "classes": peers.KNeighborsClassifier(),
    "classes by distance": peers.KNeighborsClassifier(9, weights="distance"),
    "classes by a function": peers.KNeighborsClassifier(9, weights=inverse),
    "numbers": peers.KNeighborsRegressor(),
    "numbers by distance": peers.KNeighborsRegressor(weights="distance"),
    "numbers by a function": peers.KNeighborsRegressor(weights=inverse),
    "classes within": peers.RadiusNeighborsClassifier(0.8),
    "classes within, by distance": peers.RadiusNeighborsClassifier(0.8, weights="distance"),
    "numbers within": peers.RadiusNeighborsRegressor(0.8),
    "numbers within, by distance": peers.RadiusNeighborsRegressor(0.8, weights="distance"),
}
each_model = pytest.mark.parametrize("name", MODELS)
each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def target_of(model):
    if isinstance(model, peers.NearestNeighbors):
        return None
    return t if "Regressor" in type(model).__name__ else y


def fitted(name, X=X, **options):
    model = copy.deepcopy(MODELS[name]).set_params(**options)
    return model.fit(X, target_of(model))


def verified(model, X=X, y=None, **options):
    return certus.verify(model, X, target_of(model) if y is None else y, **options)


def accepted(model, *args, **options):
    c = verified(model, *args, **options)
    assert c.status == "exact", c._finding.contradictions
    assert c.certified
    assert c.kind == "exact"
    assert (c.objective, c.bound, c.gap) == (0.0, 0.0, 0.0)
    return c


def refused(model, *args, **options):
    c = verified(model, *args, **options)
    assert c.status == "contradicted"
    assert not c.certified
    return list(c._finding.contradictions)


# --- right ones -----------------------------------------------------------------------------------


@each_algorithm
@each_model
def test_models_that_are_right_are_accepted(name, algorithm):
    model = fitted(name, algorithm=algorithm)
    c = accepted(model)
    assert c.model == f"sklearn.neighbors.{type(model).__name__}"
    assert c.residual <= 1e-7
    assert len(c.parameters["query_pairs"]) == 16


@each_algorithm
@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_any_order_of_minkowski_is_known(p, algorithm):
    assert accepted(fitted("classes", p=p, algorithm=algorithm)).residual <= 1e-7


VARIANCES = X.var(axis=0)
PARAMS = {
    "minkowski": {"p": 3, "w": [1.0, 2.0, 0.5, 1.0]},
    "mahalanobis": {"V": np.cov(X.T)},
    "seuclidean": {"V": VARIANCES},
}
BOOLEAN = {
    "dice",
    "jaccard",
    "rogerstanimoto",
    "russellrao",
    "sokalmichener",
    "sokalsneath",
    "yule",
}


@pytest.mark.parametrize(
    "metric",
    sorted(
        {*METRICS} - {"gower", "phi_s", "spearman", "p", "precomputed", "matching", "haversine"}
    ),
)
@pytest.mark.filterwarnings("ignore")  # SciPy's about names that it will drop
def test_every_metric_that_scikit_learn_has_is_known(metric, rng):
    if (
        metric not in peers.VALID_METRICS["brute"]
        and metric not in peers.VALID_METRICS["ball_tree"]
    ):
        pytest.skip("this scikit-learn does not have it")
    rows = rng.random((80, 12)) < 0.5 if metric in BOOLEAN else X
    rows = np.round(X) if metric == "hamming" else rows
    model = peers.NearestNeighbors(metric=metric, metric_params=PARAMS.get(metric)).fit(rows)
    accepted(model, rows)


def test_the_metrics_that_are_read_are_those_that_are_defined():
    defined = {*distances.METRICS, *distances.ALIASES}
    assert {*METRICS} == defined | {"precomputed"}


def test_places_on_the_globe(rng):
    places = np.column_stack([rng.uniform(-1.5, 1.5, 60), rng.uniform(-3, 3, 60)])
    model = peers.KNeighborsRegressor(3, metric="haversine", weights="distance")
    accepted(model.fit(places, places[:, 0]), places, places[:, 0])


def test_distances_that_were_given(rng):
    D = np.abs(X[:, :1] - X[:, 0])
    model = peers.KNeighborsClassifier(metric="precomputed").fit(D, y)
    c = accepted(model, D)
    assert c.formula == "the 5 nearest rows by the distances given"
    model._fit_X = D.copy()
    model._fit_X[7, 3] += 1
    assert refused(model, D) == [
        f"row 7 of the model has {D[7, 3] + 1:.6g} in column 3, the row given {D[7, 3]:.6g}"
    ]


def test_missing_values_where_the_metric_knows_what_they_mean(rng):
    holes = X.copy()
    holes[rng.random(X.shape) < 0.2] = np.nan
    accepted(peers.KNeighborsRegressor(metric="nan_euclidean").fit(holes, t), holes)


def test_a_metric_of_the_users(rng):
    model = peers.NearestNeighbors(metric=lambda a, b: np.abs(a - b).max(), algorithm="brute")
    c = accepted(model.fit(X))
    assert c.formula == "the 5 nearest rows by a distance of the user's"
    with pytest.raises(certus.exceptions.CertificateError, match="the distance is a function"):
        c.export("check.py")


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_rows(metric, rng):
    dense = X * (rng.random(X.shape) < 0.6)
    dense[:, 0] += 1
    model = peers.KNeighborsClassifier(metric=metric).fit(csr_array(dense), y)
    c = accepted(model, csr_array(dense))
    assert c.fingerprint.differs(accepted(model, csr_array(dense)).fingerprint) is None
    other = dense.copy()
    other[5, 0] = 9.0
    assert refused(model, csr_array(other))[0] == "the model keeps other rows than were given"


@each_algorithm
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_rows_of_any_kind_of_number(dtype, algorithm):
    rows = (X * 10).astype(dtype)
    accepted(fitted("classes", rows, algorithm=algorithm), rows)
    accepted(fitted("numbers by distance", rows, algorithm=algorithm), rows)


def test_frames_are_asked_without_a_warning():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    c = accepted(fitted("classes", frame), frame)
    assert c.feature_names == tuple("abcd")


def test_several_outputs():
    labels = np.column_stack([y, y > 0]).astype(str)
    model = peers.KNeighborsClassifier(weights="distance").fit(X, labels)
    c = accepted(model, X, labels)
    with pytest.raises(certus.exceptions.CertificateError, match="one column of labels"):
        c.export("check.py")
    model._y[:, 1] = 0
    assert "of output 1" in refused(model, X, labels)[-1]
    targets = np.column_stack([t, -t])
    accepted(peers.KNeighborsRegressor().fit(X, targets), X, targets)
    with pytest.raises(CannotVerifyError, match="the model has 1 target, y has 2"):
        certus.verify(fitted("numbers"), X, targets)


def test_labels_of_text_and_pipelines_and_searches():
    names = np.array(["setosa", "other", "virginica"])[y]
    pipeline = make_pipeline(StandardScaler(), peers.KNeighborsClassifier())
    search = GridSearchCV(pipeline, {"kneighborsclassifier__n_neighbors": [3, 5]}, cv=3)
    c = accepted(search.fit(X, names), X, names)
    assert "GridSearchCV → Pipeline" in c.notes[0]
    model = pipeline.fit(X, names)[-1]
    model._y = 1 - model._y % 2
    message = refused(model, pipeline[0].transform(X), names)
    assert any(
        "'setosa' is predicted, but its neighbours vote for" in text for text in message
    ) or any("is predicted, but its neighbours vote for 'setosa'" in text for text in message)


def test_many_equal_rows_in_any_order_are_right(rng):
    rows = rng.integers(0, 3, size=(300, 2)).astype(float)
    labels = rng.integers(0, 3, size=300)
    for algorithm in ALGORITHMS:
        model = peers.KNeighborsClassifier(7, algorithm=algorithm).fit(rows, labels)
        accepted(model, rows, labels)


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree"])
def test_trees_are_right_far_from_the_origin(algorithm, shift):
    rows = (np.arange(5) * 0.5 + shift)[:, None]
    c = accepted(peers.NearestNeighbors(n_neighbors=2, algorithm=algorithm).fit(rows), rows)
    assert c.residual == 0


# --- wrong ones -----------------------------------------------------------------------------------


def test_brute_force_far_from_the_origin_is_refused_with_a_counterexample():
    rows = (np.arange(5) * 0.5 + 1e8)[:, None]
    model = peers.NearestNeighbors(n_neighbors=2, algorithm="brute").fit(rows)
    assert refused(model, rows)[0] == "row 0: row 1 is stated to be at 0, but it is at 0.5"
    words = verified(model, rows).explain()
    assert "5e+07 times as far from the origin as from each other" in words
    assert "use certus.neighbors.NearestNeighbors" in words


@pytest.mark.parametrize("name", ["nearest", "classes", "numbers", "classes within"])
@each_algorithm
def test_one_row_edited_in_the_model_is_named(name, algorithm):
    model = fitted(name, X.copy(), algorithm=algorithm)
    model._fit_X = model._fit_X.copy()
    model._fit_X[17, 2] = 2.5
    expected = f"row 17 of the model has 2.5 in column 2, the row given {X[17, 2]:.6g}"
    assert refused(model)[0] == expected


def test_one_row_edited_in_the_tree_is_named():
    model = fitted("nearest", X.copy(), algorithm="kd_tree")
    np.asarray(model._tree.get_arrays()[0])[17, 2] = 2.5
    if np.asarray(model._tree.data)[17, 2] != 2.5:
        pytest.skip("this scikit-learn hands out copies")
    assert any("row 17 of the tree has 2.5 in column 2" in message for message in refused(model))


class Permuted(peers.NearestNeighbors):
    """A model that returns the right distances but the wrong rows."""

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        d, i = super().kneighbors(X, n_neighbors)
        return d, (i + 1) % self.n_samples_fit_


def test_permuted_rows_are_refused():
    wrong = refused(Permuted().fit(X))
    assert len(wrong) == 16
    assert wrong[0].startswith("row 0: row 1 is stated to be at 0, but it is at ")


class Second(peers.KNeighborsClassifier):
    """A model that leaves out the second nearest."""

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        d, i = super().kneighbors(X, k + 1)
        d, i = np.delete(d, 1, axis=1), np.delete(i, 1, axis=1)
        return (d, i) if return_distance else i


def test_a_neighbour_that_was_missed_is_named():
    model = Second().fit(X, y)
    near = np.argsort(np.linalg.norm(X - X[0], axis=1))
    d = np.linalg.norm(X[near] - X[0], axis=1)
    assert refused(model)[0] == (
        f"row 0: row {near[1]} at {d[1]:.6g} was missed; row {near[5]} was named at {d[5]:.6g}"
    )


@each_algorithm
@pytest.mark.parametrize("name", ["classes", "classes by distance", "classes within"])
def test_wrong_votes_are_refused(name, algorithm):
    model = fitted(name, algorithm=algorithm)
    model._y = (model._y + 1) % 3
    wrong = refused(model)
    assert wrong[0] == "row 0 of the model has 1 as target 0, the row given 0"
    assert "row 0: 1 is predicted, but its neighbours vote for 0 (1 of the votes)" in wrong


class Loud(peers.KNeighborsClassifier):
    """A model with right classes but wrong probabilities."""

    def predict_proba(self, X):
        P = super().predict_proba(X) ** 2
        return P / P.sum(axis=1, keepdims=True)


def test_wrong_probabilities_are_refused():
    wrong = refused(Loud(n_neighbors=25).fit(X, y))
    assert all("the probability of " in message for message in wrong)
    assert wrong


@pytest.mark.parametrize("name", ["numbers", "numbers by distance", "numbers within"])
def test_wrong_means_are_refused(name):
    model = fitted(name)
    model.predict = lambda Q, predict=model.predict: predict(Q) + 1e-3
    wrong = refused(model)
    assert len(wrong) == 16
    assert "is predicted, but the mean of its neighbours is" in wrong[0]


def test_other_weights_than_are_stated_are_refused():
    model = fitted("classes by distance")
    plain = fitted("classes", n_neighbors=9)
    model.predict_proba = plain.predict_proba
    assert any("the probability of" in message for message in refused(model))
    model = fitted("numbers by distance")
    model.predict = fitted("numbers").predict
    assert any("halfway between" in message for message in refused(model))


# --- what cannot be checked -----------------------------------------------------------------------


def test_what_is_no_claim_is_refused_in_words():
    with pytest.raises(CannotVerifyError, match="LocalOutlierFactor cannot be audited"):
        certus.verify(peers.LocalOutlierFactor().fit(X), X)
    with pytest.raises(CannotVerifyError, match="predicts a target: give y as well"):
        certus.verify(fitted("classes"), X)
    with pytest.raises(CannotVerifyError, match="is not fitted"):
        certus.verify(peers.NearestNeighbors(), X)
    with pytest.raises(CannotVerifyError, match="takes no sample_weight: leave it out"):
        certus.verify(fitted("classes"), X, y, sample_weight=np.ones(150))
    with pytest.raises(CannotVerifyError, match="n_neighbors=200, and the model has 150 rows"):
        certus.verify(fitted("classes", n_neighbors=200), X, y)
    model = peers.NearestNeighbors(metric="mahalanobis", algorithm="brute").fit(X)
    model.effective_metric_params_ = {}
    with pytest.raises(CannotVerifyError, match="the V of mahalanobis is not kept"):
        certus.verify(model, X)
    model.effective_metric_ = "pyfunc"
    with pytest.raises(CannotVerifyError, match="'pyfunc' has no definition here; these have"):
        certus.verify(model, X)
    with pytest.raises(ValueError, match="missing value"):
        certus.verify(fitted("nearest"), np.where(X > 7, np.nan, X))


def test_other_rows_are_not_those_of_the_model():
    assert "the model keeps 150 rows, and 100 were given" in refused(fitted("nearest"), X[:100])
    assert refused(fitted("nearest"), X[::-1])[0].startswith("row 0 of the model has")
    assert refused(fitted("classes"), X, np.roll(y, 1))[0].startswith("row 0 of the model has 0 as")


def test_a_target_is_not_needed_where_nothing_is_predicted():
    accepted(fitted("nearest"))
    accepted(fitted("nearest"), X, y)


def test_how_many_rows_are_asked_for_depends_on_their_size():
    by_name = {"euclidean": (16, 16, 8, 1), "cosine": (16, 2, 1, 1)}
    shapes = ((1000, 2), (100_000, 3), (20_000, 40), (60_000, 784))
    for metric, counts in by_name.items():
        model = peers.NearestNeighbors(metric=metric).fit(X)
        for shape, count in zip(shapes, counts, strict=True):
            rows = Rows(np.broadcast_to(0.0, shape))
            assert _count(model, rows, 10**9) == count
        assert _count(model, Rows(X), 3) == 3


def test_a_radius_that_holds_everything_is_asked_for_less_often(rng):
    rows = rng.normal(size=(30_000, 1))
    model = peers.RadiusNeighborsRegressor(100.0).fit(rows, rows[:, 0])
    assert len(accepted(model, rows, rows[:, 0]).parameters["query_pairs"]) == 3


@pytest.mark.parametrize("metric", ["manhattan", "euclidean", "chebyshev"])
def test_weights_of_columns_contradict_nothing(metric):
    for w in ([1.0, 0.5, 2.0, 0.1], [1.0, 0.0, 0.0, 0.3]):
        model = KNeighborsClassifier(metric=metric, metric_params={"w": np.array(w)}).fit(X, y)
        assert model.certificate_.certified, model.certificate_._finding.contradictions
        assert certus.verify(model, X, y).certified
        model._fit_X = model._fit_X + 1
        assert not certus.verify(model, X, y).certified
