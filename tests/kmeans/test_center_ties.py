"""Near ties of k-means: which centre is nearer is decided exactly, and the step that is taken then
is the one whose gain is printed."""

from fractions import Fraction

import numpy as np
import pytest

import certus
from certus.certificate.data import Data
from certus.cluster import KMeans
from certus.data.rows import Rows
from certus.proofs.kmeans import kmeans as definition
from certus.proofs.kmeans._ties import labels_of_nearest, nearer


def exactly(x, a, b):
    """‖x − a‖² − ‖x − b‖² in fractions."""
    x, a, b = ([Fraction(float(v)) for v in part] for part in (x, a, b))
    return sum((u - v) ** 2 - (u - w) ** 2 for u, v, w in zip(x, a, b, strict=True))


@pytest.mark.parametrize("far", [0.0, 1.0, 1e6, 1.7e9, 1e-140, 1e140])
def test_the_sign_of_a_difference_of_squared_distances_is_exact(far):
    rng = np.random.default_rng(0)
    unit = far if not 1e-100 < far < 1e100 and far else 1.0
    X = far + unit * rng.normal(size=(300, 3))
    d = unit * rng.normal(size=X.shape)
    A, B = X + d, X - d  # equally near, but for rounding
    B[::3] = np.nextafter(B[::3], np.inf)
    B[::7] = A[::7]
    result = nearer(X, A, B)
    true = [exactly(x, a, b) for x, a, b in zip(X, A, B, strict=True)]
    assert [np.sign(q) for q in result] == [(q > 0) - (q < 0) for q in true]


def test_of_several_centres_the_nearest_takes_a_row():
    X, s = np.array([[0.0], [0.0]]), np.array([1.0, 0.0])
    mu = np.array([[1.0 + 2.0**-51], [-1.0 - 2.0**-52], [1.0]])
    data = Data(Rows(X, None, s))
    ties = np.array([[0, 0, 1], [1, 2, 2]])
    result = labels_of_nearest(data, mu, np.array([0, 0]), ties, False)
    assert result.tolist() == [2, 0]  # a row without weight stays
    ties = np.array([[0, 0], [0, 1]])
    assert labels_of_nearest(data, mu, np.array([2, 0]), ties, False) is None


@pytest.mark.parametrize(("first", "label"), [(False, None), (True, 0)])
def test_of_equally_near_centres_the_label_stands_or_is_the_first(first, label):
    data = Data(Rows(np.zeros((1, 1)), None, None))
    result = labels_of_nearest(
        data, np.array([[1.0], [-1.0]]), np.array([1]), np.array([[0], [0]]), first
    )
    assert result is None if label is None else result.tolist() == [label]


def test_a_centre_that_is_nearer_in_its_last_digit_takes_the_row_and_the_step_gains():
    # the row at 0 is at 1 of both centres, up to the last digit of the second
    X = np.array([[-1.0], [-1.0], [-1.0], [0.0], [1.0], [1.0]])
    labels = np.array([0, 0, 0, 0, 1, 1])
    mu = np.array([[-1.0], [1.0 - 2.0**-53]])
    model = KMeans(2).fit(X)
    model.cluster_centers_, model.labels_ = mu, labels
    model.inertia_ = definition.objective(X, mu)
    result = definition.check(Data(Rows(X, None, None)), mu, labels)
    step = definition.lloyd_step(X, mu)
    gain = definition.objective(X, mu) - definition.objective(X, step)
    assert gain > 0.1
    assert result["gain"] >= gain * (1 - 1e-12)
    assert not certus.verify(model, X).certified
