"""Predictions of neighbours: votes, shares, means, ties, weights and abstention."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.neighbors as peers
from hypothesis import given, settings
from hypothesis import strategies as st

from certus.exceptions import DegenerateWarning
from certus.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

rng = np.random.default_rng(7)
X = rng.normal(size=(160, 3))
Q = rng.normal(size=(60, 3))
CLASS = (X[:, 0] > 0).astype(int) + (X[:, 1] + 0.4 * rng.normal(size=160) > 0.5)
TEXT = np.array(["low", "middle", "high one"])[CLASS]
NUMBER = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=160)


def inverse_square(d):
    with np.errstate(divide="ignore"):
        return 1.0 / d**2


WEIGHTS = [None, "uniform", "distance", inverse_square, lambda d: np.exp(-d)]
each_weights = pytest.mark.parametrize(
    "weights", WEIGHTS, ids=["None", "uniform", "distance", "inverse square", "exp"]
)
RADIUS = 1.1


def object_safe(weights):
    """For neighbours within a radius, scikit-learn passes an array of arrays to the function."""
    if not callable(weights):
        return weights

    def each(d):
        if d.dtype != object:
            return weights(d)
        out = np.empty(len(d), dtype=object)
        out[:] = [weights(np.asarray(one, dtype=float)) for one in d]
        return out

    return each


# --- agreement with scikit-learn ------------------------------------------------------------------


@each_weights
@pytest.mark.parametrize("k", [1, 2, 5, 30, 160])
@pytest.mark.parametrize("y", [CLASS, TEXT, CLASS * 5 - 3], ids=["0, 1, 2", "text", "-3, 2, 7"])
def test_k_nearest_classifiers_agree_with_scikit_learns_but_for_ties(weights, k, y):
    ours = KNeighborsClassifier(k, weights=weights).fit(X, y)
    theirs = peers.KNeighborsClassifier(k, weights=weights).fit(X, y)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.classes_.dtype == theirs.classes_.dtype
    P = theirs.predict_proba(Q)
    np.testing.assert_allclose(ours.predict_proba(Q), P, rtol=1e-11, atol=1e-14)
    top = np.sort(P, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    np.testing.assert_array_equal(ours.predict(Q)[clear], theirs.predict(Q)[clear])
    assert ours.predict(Q).dtype == theirs.predict(Q).dtype


@each_weights
@pytest.mark.parametrize("k", [1, 2, 5, 30, 160])
@pytest.mark.parametrize("y", [NUMBER, np.column_stack([NUMBER, CLASS])], ids=["one", "two"])
def test_k_nearest_regressors_agree_with_scikit_learns(weights, k, y):
    ours = KNeighborsRegressor(k, weights=weights).fit(X, y)
    theirs = peers.KNeighborsRegressor(k, weights=weights).fit(X, y)
    np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-11, atol=1e-12)
    assert ours.predict(Q).shape == theirs.predict(Q).shape


@each_weights
@pytest.mark.parametrize("label", [0, "most_frequent"])
def test_radius_classifiers_agree_with_scikit_learns_but_for_ties(weights, label):
    options = {"radius": RADIUS, "outlier_label": label}
    ours = RadiusNeighborsClassifier(weights=weights, **options).fit(X, CLASS)
    theirs = peers.RadiusNeighborsClassifier(weights=object_safe(weights), **options).fit(X, CLASS)
    far = np.vstack([Q, [[99.0, 0, 0]]])
    P = theirs.predict_proba(far)
    np.testing.assert_allclose(ours.predict_proba(far), P, rtol=1e-11, atol=1e-14)
    top = np.sort(P, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9
    np.testing.assert_array_equal(ours.predict(far)[clear], theirs.predict(far)[clear])
    assert ours.outlier_label_ == theirs.outlier_label_


@each_weights
def test_radius_regressors_agree_with_scikit_learns(weights):
    y = np.column_stack([NUMBER, -NUMBER])
    ours = RadiusNeighborsRegressor(4.0, weights=weights).fit(X, y)
    theirs = peers.RadiusNeighborsRegressor(4.0, weights=object_safe(weights)).fit(X, y)
    np.testing.assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ours.predict(None), theirs.predict(None), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cls", [KNeighborsClassifier, RadiusNeighborsClassifier])
@pytest.mark.parametrize("form", ["array", "sparse"])
def test_several_outputs_are_voted_on_one_by_one(cls, form):
    y = np.column_stack([CLASS > 0, CLASS == 2]).astype(int)
    options = {"radius": 2.5, "outlier_label": 0} if cls is RadiusNeighborsClassifier else {}
    ours = cls(**options).fit(X, sp.csr_array(y) if form == "sparse" else y)
    theirs = getattr(peers, cls.__name__)(**options).fit(X, y)
    assert ours.outputs_2d_
    assert len(ours.classes_) == 2
    for a, b in zip(ours.predict_proba(Q), theirs.predict_proba(Q), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)
    np.testing.assert_array_equal(ours.predict(Q)[:, 0], cls(**options).fit(X, y[:, 0]).predict(Q))
    assert ours.score(Q, ours.predict(Q)) == 1.0


def test_outputs_of_text_and_of_different_classes():
    y = np.column_stack([TEXT, np.where(CLASS == 2, "yes", "no")])
    model = KNeighborsClassifier(1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)
    assert [c.tolist() for c in model.classes_] == [["high one", "low", "middle"], ["no", "yes"]]
    assert [P.shape for P in model.predict_proba(Q)] == [(60, 3), (60, 2)]


# --- ties -----------------------------------------------------------------------------------------


def test_of_classes_with_equal_votes_the_one_with_the_nearer_voter_wins():
    rows = np.array([[0.0], [3.0]])
    model = KNeighborsClassifier(2).fit(rows, ["b", "a"])
    assert model.predict([[1.0], [2.0]]).tolist() == ["b", "a"]
    assert model.predict([[1.5]]).tolist() == ["a"]  # equally near: the smaller label
    np.testing.assert_array_equal(model.predict_proba([[1.0]]), [[0.5, 0.5]])
    within = RadiusNeighborsClassifier(5.0).fit(rows, ["b", "a"])
    assert within.predict([[1.0], [2.0], [1.5]]).tolist() == ["b", "a", "a"]


def test_votes_that_rounding_parts_are_equal():
    # 1/3 + 1/3 + 1/3 against 1, and 10 × 0.1 against 1, in whatever order
    rows = np.array([[3.0], [-3.0], [3.0], [1.0]])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]):
        y = np.array([0, 0, 0, 1])[order]
        model = KNeighborsClassifier(4, weights="distance").fit(rows[order], y)
        assert model.predict([[0.0]]).tolist() == [1]
    tenths = np.concatenate([np.full(10, 10.0), [1.0]])[:, None]
    model = KNeighborsClassifier(11, weights=lambda d: 1 / d).fit(tenths, [0] * 10 + [1])
    assert model.predict([[0.0]]).tolist() == [1]


def test_a_class_whose_voters_do_not_count_cannot_win_a_tie():
    rows = np.array([[0.1], [1.0], [2.0]])
    model = KNeighborsClassifier(2).fit(rows, [0, 1, 2], sample_weight=[0, 1, 1])
    assert model.predict([[0.0]]).tolist() == [1]


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-320, 1e-160, 1.0, 1e150])
def test_inverse_distances_neither_overflow_nor_vanish(size):
    rows = np.array([[1.0], [2.0], [4.0]]) * size
    y = np.array([0.0, 1.0, 2.0])
    ours = KNeighborsRegressor(3, weights="distance").fit(rows, y).predict([[0.0]])
    if size == 1e-320:
        assert 0 < ours[0] < 2
    else:
        np.testing.assert_allclose(ours, [(0 + 1 / 2 + 2 / 4) / (1 + 1 / 2 + 1 / 4)], rtol=1e-12)


@pytest.mark.parametrize("weights", ["distance", lambda d: 1 / d], ids=["distance", "1/d"])
@pytest.mark.parametrize("radius", [False, True])
def test_rows_at_distance_zero_decide_alone(weights, radius):
    rows = np.array([[0.0], [0.0], [1e-9], [1.0]])
    options = {"weights": weights}
    classify = RadiusNeighborsClassifier if radius else KNeighborsClassifier
    regress = RadiusNeighborsRegressor if radius else KNeighborsRegressor
    size = (2.0,) if radius else (4,)
    P = classify(*size, **options).fit(rows, [0, 1, 2, 2]).predict_proba([[0.0]])
    np.testing.assert_array_equal(P, [[0.5, 0.5, 0]])
    assert regress(*size, **options).fit(rows, [1.0, 3, 50, 70]).predict([[0.0]]) == [2.0]


def test_sample_weights_multiply_votes_and_not_k():
    rows = np.arange(4.0)[:, None]
    s = [3.0, 1, 1, 100]
    P = KNeighborsClassifier(3).fit(rows, [0, 1, 1, 1], sample_weight=s).predict_proba([[0.0]])
    np.testing.assert_allclose(P, [[3 / 5, 2 / 5]])
    model = KNeighborsRegressor(3, weights="distance").fit(rows, [5.0, 1, 2, 9], s)
    np.testing.assert_allclose(
        model.predict([[-1.0]]), [(3 * 5 + 1 / 2 + 2 / 3) / (3 + 1 / 2 + 1 / 3)]
    )
    exact = KNeighborsClassifier(3, weights="distance")
    # the row at distance 0 is absent, so the next three vote
    P = exact.fit(rows, [0, 1, 2, 2], [0, 1, 1, 1]).predict_proba([[0.0]])
    np.testing.assert_allclose(P, [[0, 6 / 11, 5 / 11]])


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_within_a_radius_weight_two_is_the_row_twice_and_weight_zero_none(weights):
    s = rng.integers(0, 4, len(X))
    twice = np.repeat(np.arange(len(X)), s)
    options = {"radius": RADIUS, "weights": weights, "abstain": "prior"}
    a = RadiusNeighborsClassifier(**options).fit(X, CLASS, sample_weight=s)
    b = RadiusNeighborsClassifier(**options).fit(X[twice], CLASS[twice])
    np.testing.assert_allclose(a.predict_proba(Q), b.predict_proba(Q), atol=1e-13)
    np.testing.assert_array_equal(a.predict(Q), b.predict(Q))
    a = RadiusNeighborsRegressor(**options).fit(X, NUMBER, sample_weight=s)
    b = RadiusNeighborsRegressor(**options).fit(X[twice], NUMBER[twice])
    np.testing.assert_allclose(a.predict(Q), b.predict(Q), atol=1e-12)


def test_a_function_of_weights_gets_what_it_can_use_and_must_give_what_can_be_used():
    shapes = []

    def seen(d):
        shapes.append(d.shape)
        d *= 2  # its own copy
        return np.ones_like(d)

    model = KNeighborsClassifier(4, weights=seen).fit(X, CLASS)
    before = model.kneighbors(Q)[0]
    shapes.clear()
    model.predict(Q)
    assert shapes == [(60, 4)]
    np.testing.assert_array_equal(model.kneighbors(Q)[0], before)
    with pytest.raises(ValueError, match=r"shape \(4,\) for distances of shape \(60, 4\)"):
        model.set_params(weights=lambda d: d[0]).fit(X, CLASS).predict(Q)
    with pytest.raises(ValueError, match=r"weights returned -.* \(row 0\)"):
        model.set_params(weights=lambda d: -d).fit(X, CLASS).predict(Q)
    with pytest.raises(ValueError, match=r"weights returned nan .* \(row 0\)"):
        KNeighborsRegressor(weights=lambda d: d * np.nan).fit(X, NUMBER).predict(Q)


# --- nobody votes ---------------------------------------------------------------------------------


def zero(d):
    return np.where(d > 2, 0.0, 1.0)


FAR = np.array([[0.0, 0, 0], [50.0, 0, 0], [0.0, 60, 0]])


def test_where_nobody_votes_the_rows_are_named():
    model = KNeighborsClassifier(weights=zero).fit(X, CLASS)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=r"zero weights: rows 1, 2 .*abstain='prior'"):
            method(FAR)
    within = RadiusNeighborsClassifier(RADIUS).fit(X, CLASS)
    for method in (within.predict, within.predict_proba):
        with pytest.raises(ValueError, match=r"No neighbors found.*rows 1, 2 .*larger radius"):
            method(FAR)
    for model in (
        KNeighborsRegressor(weights=zero, abstain="raise"),
        RadiusNeighborsRegressor(RADIUS, abstain="raise"),
    ):
        with pytest.raises(ValueError, match="rows 1, 2"):
            model.fit(X, NUMBER).predict(FAR)


@pytest.mark.parametrize("radius", [False, True])
def test_a_classifier_may_answer_with_the_prior_or_a_label(radius):
    cls, options = (
        (RadiusNeighborsClassifier, {"radius": RADIUS})
        if radius
        else (KNeighborsClassifier, {"weights": zero})
    )
    s = np.ones(len(X))
    s[CLASS == 2] = 9
    model = cls(abstain="prior", **options).fit(X, CLASS, s)
    prior = np.bincount(CLASS, s) / s.sum()
    np.testing.assert_allclose(model.predict_proba(FAR)[1:], [prior, prior])
    assert model.predict(FAR)[1:].tolist() == [2, 2]
    model = cls(abstain=1, **options).fit(X, CLASS)
    np.testing.assert_array_equal(model.predict_proba(FAR)[1:], [[0, 1, 0]] * 2)
    assert model.predict(FAR)[1:].tolist() == [1, 1]
    model = cls(abstain="nothing near, so nothing said", **options).fit(X, TEXT)
    assert model.predict(FAR)[1:].tolist() == ["nothing near, so nothing said"] * 2
    with pytest.warns(UserWarning, match="not in training classes.*rows 1, 2"):
        P = model.predict_proba(FAR)
    np.testing.assert_array_equal(P[1:], 0)
    several = cls(abstain=[1, 0], **options).fit(X, np.column_stack([CLASS, CLASS > 0]))
    assert several.predict(FAR)[1:].tolist() == [[1, 0]] * 2


def test_labels_that_cannot_be_said_are_refused():
    many = np.column_stack([CLASS, CLASS > 0])
    for name in ("outlier_label", "abstain"):
        with pytest.raises(TypeError, match=f"dtype of {name} 'a' is inconsistent"):
            RadiusNeighborsClassifier(**{name: "a"}).fit(X, CLASS)
        with pytest.raises(ValueError, match=f"length of {name}.* inconsistent"):
            RadiusNeighborsClassifier(**{name: [0, 1, 2]}).fit(X, many)
        with pytest.raises(TypeError, match="supposed to be a scalar"):
            RadiusNeighborsClassifier(**{name: [[0, 1], [1, 2]]}).fit(X, many)
    with pytest.raises(ValueError, match="give one of them"):
        RadiusNeighborsClassifier(outlier_label=0, abstain="prior").fit(X, CLASS)
    with pytest.raises(ValueError, match="give None, 'prior', 'raise', or a number"):
        KNeighborsRegressor(abstain="mean").fit(X, NUMBER)


@pytest.mark.parametrize("radius", [False, True])
def test_a_regressor_says_nan_with_a_warning_the_mean_or_a_number(radius):
    cls, options = (
        (RadiusNeighborsRegressor, {"radius": RADIUS})
        if radius
        else (KNeighborsRegressor, {"weights": zero})
    )
    whole = np.arange(len(X))  # scikit-learn's radius regressor makes NaN of these a whole number
    with pytest.warns(DegenerateWarning, match="no neighbors .*predicting NaN: rows 1, 2"):
        predicted = cls(**options).fit(X, whole).predict(FAR)
    assert np.isnan(predicted).tolist() == [False, True, True]
    s = np.linspace(0, 1, len(X))
    predicted = cls(abstain="prior", **options).fit(X, NUMBER, s).predict(FAR)
    np.testing.assert_allclose(predicted[1:], np.average(NUMBER, weights=s))
    predicted = cls(abstain=-1, **options).fit(X, np.column_stack([NUMBER, NUMBER])).predict(FAR)
    np.testing.assert_array_equal(predicted[1:], -1)
    predicted = (
        cls(abstain=[1, 2], **options).fit(X, np.column_stack([NUMBER, NUMBER])).predict(FAR)
    )
    np.testing.assert_array_equal(predicted[1:], [[1, 2]] * 2)


def test_a_query_that_cannot_be_compared_abstains():
    query = np.array([[np.nan] * 3, [0.0, np.nan, 1.0]])
    model = KNeighborsClassifier(metric="nan_euclidean").fit(X, CLASS)
    with pytest.raises(ValueError, match=r"row 0 \(none of the nearest is comparable"):
        model.predict(query)
    assert model.predict(query[1:]).shape == (1,)
    model = KNeighborsClassifier(metric="nan_euclidean", abstain="prior").fit(X, CLASS)
    np.testing.assert_allclose(model.predict_proba(query)[0], np.bincount(CLASS) / len(CLASS))
    one = KNeighborsRegressor(metric="nan_euclidean", weights="distance", abstain=0.0)
    assert one.fit(X, NUMBER).predict(query)[0] == 0.0


def test_neighbours_that_cannot_be_compared_have_no_vote():
    rows = np.array([[0.0, np.nan], [np.nan, 1.0], [2.0, np.nan]])
    model = KNeighborsClassifier(3, metric="nan_euclidean").fit(rows, [0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[1.5, np.nan]]), [[0.5, 0.5]])


# --- laws -----------------------------------------------------------------------------------------

MODELS = [
    (KNeighborsClassifier, {"n_neighbors": 7}),
    (KNeighborsClassifier, {"n_neighbors": 7, "weights": "distance", "metric": "manhattan"}),
    (KNeighborsRegressor, {"n_neighbors": 7, "weights": "distance"}),
    (RadiusNeighborsClassifier, {"radius": 1.3, "abstain": "prior"}),
    (RadiusNeighborsRegressor, {"radius": 1.3, "abstain": "prior", "weights": "distance"}),
]
each_model = pytest.mark.parametrize(
    ("cls", "options"), MODELS, ids=[f"{cls.__name__}-{len(options)}" for cls, options in MODELS]
)


def answers(cls, options, rows, y, queries, **fit):
    model = cls(**options).fit(rows, y, **fit)
    method = getattr(model, "predict_proba", model.predict)
    return method(queries), method(None), model.predict(queries)


@each_model
@pytest.mark.parametrize(
    "change",
    [
        lambda A: A + np.array([1e6, -3.0, 2.0**20]),
        lambda A: A[:, [2, 0, 1]],
        lambda A: -A,
        lambda A: A.astype(np.float32),
    ],
    ids=["shift", "columns permuted", "mirror", "float32"],
)
def test_laws_of_columns(cls, options, change):
    # multiples of 1/64 are exact after every change
    rows, queries = np.round(X * 64) / 64, np.round(Q * 64) / 64 + 1 / 128
    y = CLASS if "Class" in cls.__name__ else NUMBER
    for a, b in zip(
        answers(cls, options, rows, y, queries),
        answers(cls, options, change(rows), y, change(queries)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@each_model
def test_joint_scaling_of_rows_and_radius_changes_nothing(cls, options):
    y = CLASS if "Class" in cls.__name__ else NUMBER
    more = {**options, "radius": options["radius"] * 1024} if "radius" in options else options
    for a, b in zip(
        answers(cls, options, X, y, Q), answers(cls, more, X * 1024, y, Q * 1024), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@each_model
def test_the_order_of_rows_does_not_matter_where_no_distances_are_equal(cls, options):
    y = CLASS if "Class" in cls.__name__ else NUMBER
    order = np.random.default_rng(0).permutation(len(X))
    a = answers(cls, options, X, y, Q, sample_weight=np.arange(1.0, 161))
    b = answers(cls, options, X[order], y[order], Q, sample_weight=np.arange(1.0, 161)[order])
    np.testing.assert_allclose(a[0], b[0], atol=1e-12)
    np.testing.assert_allclose(a[1][order], b[1], atol=1e-12)


@pytest.mark.parametrize("cls", [KNeighborsRegressor, RadiusNeighborsRegressor])
def test_means_shift_and_scale_with_y_and_stay_among_the_targets(cls):
    model = cls(weights="distance", **({} if "Radius" not in cls.__name__ else {"radius": 9.0}))
    plain = model.fit(X, NUMBER).predict(Q)
    np.testing.assert_allclose(model.fit(X, 1e9 + NUMBER).predict(Q) - 1e9, plain, atol=1e-6)
    np.testing.assert_allclose(model.fit(X, -8 * NUMBER).predict(Q), -8 * plain, rtol=1e-13)
    assert (model.fit(X, np.full(160, 0.1)).predict(Q) == 0.1).all()


@each_model
def test_scaling_all_weights_changes_nothing(cls, options):
    y = CLASS if "Class" in cls.__name__ else NUMBER
    s = rng.random(len(X))
    a = answers(cls, options, X, y, Q, sample_weight=s)
    b = answers(cls, options, X, y, Q, sample_weight=1024 * s)
    for u, v in zip(a, b, strict=True):
        np.testing.assert_allclose(u, v, rtol=1e-14)


def test_blocks_of_queries_change_no_winner(monkeypatch):
    from certus.neighbors import _votes

    model = KNeighborsClassifier(4).fit(X, CLASS)
    whole = model.predict(Q)
    monkeypatch.setattr(_votes, "MAX_TOTALS_HELD", 10)
    np.testing.assert_array_equal(model.predict(Q), whole)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=12),
    st.integers(1, 12),
    st.sampled_from(["uniform", "distance"]),
)
def test_the_vote_is_what_its_definition_says(rows, k, weights):
    """By hand: whole numbers on a line, votes as fractions."""
    from fractions import Fraction

    k = min(k, len(rows))
    place = np.array([[float(x)] for x, _ in rows])
    label = np.array([c for _, c in rows])
    nearest = sorted((x, i) for i, (x, _) in enumerate(rows))[:k]  # the query is 0
    exact = weights == "distance" and nearest[0][0] == 0
    T: dict = {}
    first: dict = {}
    for x, i in nearest:
        v = Fraction(int(x == 0)) if exact else Fraction(1, x if weights == "distance" else 1)
        if v:
            c = int(label[i])
            T[c] = T.get(c, 0) + v
            first.setdefault(c, x)
    best = min(T, key=lambda c: (-T[c], first[c], c))
    model = KNeighborsClassifier(k, weights=weights).fit(place, label)
    assert model.predict([[0.0]]).tolist() == [best]
    P = dict(zip(model.classes_.tolist(), model.predict_proba([[0.0]])[0], strict=True))
    for c, share in P.items():
        assert share == pytest.approx(float(T.get(c, 0) / sum(T.values())), abs=1e-15)
