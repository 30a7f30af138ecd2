"""NCFS on Dask collections: batches that lie in several chunks, on workers and without any."""

import numpy as np
import pytest

import certus
from certus.feature_selection import NCFSClassifier, NCFSRegressor
from tests.engines.dask_data import MARKS, collections, many_parts
from tests.streamed.linear_cases import assert_equal_bits

pytestmark = MARKS
N, SIZE = 6000, 250


@pytest.fixture(autouse=True)
def several_parts(monkeypatch):
    many_parts(monkeypatch)


def draw():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    y = X[:, 2] + 0.3 * rng.normal(size=N)
    return X, y, rng.uniform(0.5, 2, size=N)


@pytest.mark.parametrize(
    "model",
    [
        NCFSClassifier(batch_size=SIZE),
        NCFSRegressor(batch_size=SIZE, loss="epsilon_insensitive", scale="standard"),
    ],
    ids=str,
)
def test_a_fit_to_chunks_has_the_bits_of_the_fit_to_an_array(where, model):
    X, y, s = draw()
    y = (y > 0).astype(int) if isinstance(model, NCFSClassifier) else y
    chunks = collections(X, y, s, 1_301)
    found, arrays = model.fit(*chunks), type(model)(**model.get_params()).fit(X, y, s)
    assert_equal_bits(found, arrays)
    assert found.certificate_.certified
    assert certus.verify(found, *chunks).status == "local optimum"
    np.testing.assert_allclose(
        found.predict(chunks[0]).compute(), found.predict(X), rtol=1e-10, atol=1e-12
    )
    np.testing.assert_array_equal(found.transform(chunks[0]).compute(), found.transform(X))
    assert found.score(*chunks) == pytest.approx(found.score(X, y, s), rel=1e-12)
