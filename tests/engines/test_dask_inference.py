"""Inference of logistic models on Dask: the bits of arrays, and parts that stay while needed."""

import gc

import numpy as np
import pytest

from certus.exceptions import InferenceError
from certus.linear_model import FirthLogisticRegression, LogisticRegression
from tests.engines.dask_data import MARKS, da, many_parts
from tests.engines.test_dask import _becomes_empty, _keys
from tests.streamed.class_cases import LABELS, draw

pytestmark = MARKS


def chunks_of(X, k, s):
    """X, labels and weights in chunks of their own."""
    labels = LABELS[k].astype("U6")
    return (
        da.from_array(X, chunks=(777, -1)),
        da.from_array(labels, chunks=999),
        da.from_array(s, chunks=len(s)),
    )


@pytest.mark.costly
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("cov", ["classical", "HC0"])
@pytest.mark.parametrize("C", [np.inf, 0.3])
def test_inference_on_chunks_has_the_bits_of_arrays(C, cov, K, where, monkeypatch):
    many_parts(monkeypatch)
    X, k, s = draw(K, n=20_000, weights=True)
    model = LogisticRegression(C=C).fit(X, LABELS[k], s)
    found = model.inference(*chunks_of(X, k, s), cov=cov)
    expected = model.inference(X, LABELS[k], s, cov=cov)
    for name in ("coef", "standard_errors", "covariance", "n", "effective_parameters"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert str(found.summary()) == str(expected.summary())


@pytest.mark.costly
@pytest.mark.parametrize("K", [2, 3])
def test_likelihood_ratios_on_chunks_have_the_bits_of_arrays(K, where):
    X, k, s = draw(K, n=600, p=2, weights=True)
    model = LogisticRegression(C=np.inf).fit(X, LABELS[k], s)
    found = model.inference(*chunks_of(X, k, s))
    expected = model.inference(X, LABELS[k], s)
    np.testing.assert_array_equal(found.lr_pvalues, expected.lr_pvalues)
    assert str(found.odds_ratios(kind="lr")) == str(expected.odds_ratios(kind="lr"))


def test_parts_are_kept_for_likelihood_ratios_and_then_forgotten(dask_client):
    X, k, s = draw(2, n=2_000, weights=True)
    model = LogisticRegression(C=np.inf).fit(X, LABELS[k], s)

    def ours():
        return {key for key in _keys(dask_client) if key.startswith("certus")} - before

    before = set()
    before = ours()
    with dask_client.as_current():
        found = model.inference(*chunks_of(X, k, s))
        assert ours()
        assert np.isfinite(found.lr_pvalues).all()
        del found
        gc.collect()
        assert _becomes_empty(ours)
        found = model.inference(*chunks_of(X, k, s), cov="HC0")
        assert _becomes_empty(ours)
        assert np.isfinite(found.standard_errors).all()
        with pytest.raises(InferenceError, match="not the rows it was fitted on"):
            model.inference(*chunks_of(X, 1 - k, s))
        gc.collect()
        assert _becomes_empty(ours)


def test_a_firth_fit_names_what_has_intervals_on_collections(where):
    X, k, s = draw(2, n=200, weights=True)
    model = FirthLogisticRegression().fit(X, LABELS[k], s)
    with pytest.raises(TypeError, match=r"needs all rows.*LogisticRegression\(C=np\.inf\)"):
        model.inference(*chunks_of(X, k, s))
