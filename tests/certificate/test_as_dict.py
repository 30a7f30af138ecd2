"""A certificate as strict JSON, as its schema says."""

import json
import warnings

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from sklearn import linear_model as peers
from sklearn.datasets import load_breast_cancer, load_diabetes

import certus
from certus.cluster import AgglomerativeClustering, KMeans
from certus.linear_model import LinearRegression, LogisticRegression
from certus.mixture import GaussianMixture
from certus.neighbors import NearestNeighbors
from tests.house.source import REPOSITORY

SCHEMA = json.loads((REPOSITORY / "docs" / "schemas" / "certificate.json").read_text("utf-8"))


def certificates():
    X, y = load_diabetes(return_X_y=True)
    Z, k = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield LinearRegression().fit(X, y).certificate_
        yield KMeans(3, random_state=0).fit(X).certificate_  # its gap is infinite
        yield GaussianMixture(2, random_state=0).fit(X[:, :2]).certificate_
        yield NearestNeighbors().fit(X).certificate_
        yield AgglomerativeClustering(3).fit(X[:50]).certificate_
        yield certus.verify(peers.LogisticRegression(max_iter=5).fit(Z, k), Z, k)
        yield certus.verify(peers.Lasso(0.1).fit(X[:300], y[:300]), X[300:], y[300:])
        line = np.arange(20.0)[:, None]
        yield LogisticRegression(C=np.inf).fit(line, line[:, 0] > 9).certificate_  # separated
        yield certus.verify(LinearRegression().fit(X, y), X[:50], y[:50])


@pytest.mark.parametrize("c", list(certificates()), ids=lambda c: f"{c.model} {c.status}")
def test_every_certificate_is_strict_json_as_the_schema_says(c):
    document = json.loads(c.to_json())
    Draft202012Validator(SCHEMA).validate(document)
    assert document == c.to_dict()
    assert document["status"] == c.status
    assert document["explanation"] == c.explain()
    assert document["objective"] == c.objective
    assert document["gap"] == (c.gap if np.isfinite(c.gap) else "inf")
    assert c.to_json().isascii()
    assert json.loads(c.to_json(indent=2)) == document


def test_decisions_are_an_object():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = peers.LogisticRegression(max_iter=5).fit(X, y)
    c = certus.verify(model, X, y)
    assert c.to_dict()["decisions"]["n_changed"] == c.decisions.n_changed > 0


def test_equal_fits_have_equal_documents():
    X, y = load_diabetes(return_X_y=True)
    first, second = (LinearRegression().fit(X, y).certificate_ for _ in range(2))
    assert first.to_json() == second.to_json()
