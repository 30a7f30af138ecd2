"""The page of nearest neighbours: what it accepts is what a sort of all distances says."""

import numpy as np
import pytest
from sklearn import neighbors as sk

from certus import neighbors, verify
from certus.certificate.pages import neighbors as adaptor
from certus.definitions.neighbors import check
from certus.definitions.terms.distances import Euclidean

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
VALUES = np.column_stack([X @ [1.0, 2.0, -1.0] + 5, X[:, 0] ** 2])
CLASSES = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int) + (X[:, 1] > 0.8)
WEIGHTS = rng.integers(0, 4, size=80).astype(float)


def claims(certificate, y=None, s=None, **other):
    s = np.ones(len(X)) if s is None else s
    for problem in adaptor.neighbors({**certificate.parameters, **other}, certificate.labels):
        yield check(X, *problem.targets(y, s), **problem.arguments)


def answers(Q, k):
    D = np.linalg.norm(X[None] - X[Q][:, None], axis=2)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    query_pairs, start = np.column_stack([Q, Q]), np.arange(len(Q) + 1) * k
    return query_pairs, start, np.take_along_axis(D, indices, 1).ravel(), indices.ravel()


def checked(query_pairs, start, distances, indices, **options):
    return check(
        X, None, options.pop("s", np.ones(len(X))), query_pairs=query_pairs, start=start,
        distances=distances,
        indices=indices, distance=Euclidean(), **options,
    )  # fmt: skip


def test_a_sort_of_all_distances_is_accepted_and_every_other_row_is_not():
    query_pairs, start, d, i = answers(np.array([0, 7, 33]), 4)
    assert checked(query_pairs, start, d, i, k=4).holds
    for row in range(len(X)):
        if row not in i[:4]:
            other, far = i.copy(), d.copy()
            other[3], far[3] = row, np.linalg.norm(X[row] - X[0])
            claim = checked(query_pairs, start, far, other, k=4)
            assert claim.miss == 1
            assert not claim.holds


@pytest.mark.parametrize(
    "edit",
    [
        lambda d, i: (d * 1.01, i),
        lambda d, i: (d + 1e-4 * (np.arange(len(d)) == 2), i),
        lambda d, i: (d[::-1], i[::-1]),  # the farthest first
        lambda d, i: (d, np.where(np.arange(len(i)) == 1, i[0], i)),  # the same row twice
        lambda d, i: (d, np.where(np.arange(len(i)) == 1, 80, i)),  # no such row
        lambda d, i: (d, np.where(np.arange(len(i)) == 1, -79, i)),
        lambda d, i: (np.append(d[:3], np.inf), np.append(i[:3], -1)),  # no fourth row
    ],
)  # fmt: skip
def test_what_is_stated_wrongly_is_refused(edit):
    query_pairs, start, d, i = answers(np.array([5]), 4)
    assert checked(query_pairs, start, d, i, k=4).holds
    assert not checked(query_pairs, start, *edit(d, i), k=4).holds


def test_fewer_than_k_rows_and_no_queries_at_all_are_refused():
    query_pairs, start, d, i = answers(np.array([5]), 4)
    assert not checked(query_pairs, start, d, i, k=5).holds
    assert not checked(query_pairs[:0], start[:1], d[:0], i[:0], k=4).holds


def test_a_row_of_weight_0_is_absent():
    query_pairs, start, d, i = answers(np.array([5]), 4)
    s = np.ones(len(X))
    s[i[2]] = 0
    assert not checked(query_pairs, start, d, i, k=4, s=s).holds
    _, _, d5, i5 = answers(np.array([5]), 5)
    assert checked(query_pairs, start, np.delete(d5, 2), np.delete(i5, 2), k=4, s=s).holds


def test_all_rows_within_a_radius_and_no_others():
    D = np.linalg.norm(X - X[5], axis=1)
    i = np.flatnonzero(D <= 1)
    query_pairs = np.array([[5, 5]])
    assert checked(query_pairs, [0, len(i)], D[i], i, radius=1.0).holds
    assert not checked(query_pairs, [0, len(i) - 1], D[i[1:]], i[1:], radius=1.0).holds
    assert not checked(query_pairs, [0, len(i)], D[i], i, radius=0.9).holds
    assert not checked(query_pairs, [0, len(i)], D[i], i, radius=1.2).holds


MODELS = [
    (neighbors.NearestNeighbors(n_neighbors=4), None),
    (neighbors.NearestNeighbors(n_neighbors=4, metric="cosine"), None),
    (neighbors.NearestNeighbors(n_neighbors=3, metric="minkowski", p=3), None),
    (neighbors.NearestNeighbors(n_neighbors=3, metric="correlation"), None),
    (neighbors.NearestNeighbors(n_neighbors=3, metric="mahalanobis"), None),
    (neighbors.KNeighborsClassifier(n_neighbors=4), CLASSES),
    (neighbors.KNeighborsClassifier(n_neighbors=5, weights="distance"), CLASSES),
    (neighbors.KNeighborsRegressor(n_neighbors=5), VALUES),
    (neighbors.KNeighborsRegressor(n_neighbors=5, weights="distance", metric="manhattan"), VALUES),
    (neighbors.RadiusNeighborsClassifier(radius=1.5), CLASSES),
    (neighbors.RadiusNeighborsRegressor(radius=1.5, weights="distance"), VALUES),
    (sk.KNeighborsClassifier(n_neighbors=4), CLASSES),
    (sk.KNeighborsRegressor(n_neighbors=3, weights="distance"), VALUES),
    (sk.RadiusNeighborsRegressor(radius=1.5), VALUES),
    (sk.NearestNeighbors(n_neighbors=4, metric="cosine", algorithm="brute"), None),
]


def certificate_of(model, y, s=None):
    model.fit(X, y) if s is None else model.fit(X, y, sample_weight=s)
    return verify(model, X, y) if s is None else verify(model, X, y, sample_weight=s)


@pytest.mark.parametrize(("model", "y"), MODELS)
def test_the_page_agrees_with_the_proof(model, y):
    c = certificate_of(model, y)
    (claim,) = claims(c, y)
    assert claim.holds
    assert c.certified
    assert claim.objective == c.objective == 0
    p = c.parameters
    (edited,) = claims(c, y, distances=p["distances"] * 1.01)
    assert edited.miss > 0
    (moved,) = claims(c, y, indices=(p["indices"] + 1) % len(X))
    assert moved.miss > 0


@pytest.mark.parametrize("model", [neighbors.KNeighborsClassifier(n_neighbors=4)])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_weights_of_rows_multiply_their_votes(model, weights):
    c = certificate_of(model.set_params(weights=weights), CLASSES, WEIGHTS)
    (claim,) = claims(c, CLASSES, WEIGHTS)
    assert claim.holds
    assert c.certified
    (unweighted,) = claims(c, CLASSES, (WEIGHTS > 0) * 1.0)
    assert not unweighted.holds


@pytest.mark.parametrize(("model", "y"), [(m, y) for m, y in MODELS if y is not None])
def test_other_targets_and_edited_predictions_are_refused(model, y):
    c = certificate_of(model, y)
    votes = c.parameters["votes"]
    (other,) = claims(c, y[::-1])
    assert not other.holds
    edited = {**votes, "predicted": votes["predicted"] * 1.01 + 1}
    (claim,) = claims(c, y, votes=edited)
    assert not claim.holds
    if "probabilities" in votes:
        edited = {**votes, "probabilities": [P * 0.99 for P in votes["probabilities"]]}
        (claim,) = claims(c, y, votes=edited)
        assert not claim.holds


def test_functions_of_the_user_have_no_page():
    def gap(a, b):
        return np.abs(a - b).sum()

    c = certificate_of(sk.NearestNeighbors(n_neighbors=3, metric=gap), None)
    assert list(claims(c)) == []
    model = neighbors.KNeighborsRegressor(n_neighbors=3, weights=lambda d: 1 / (1 + d))
    assert list(claims(certificate_of(model, VALUES), VALUES)) == []
