"""Large tables are fitted in a fraction of the memory, and give the same models."""

import subprocess
import sys

import numpy as np
import pytest

from certus.cluster import KMeans
from certus.data.lazy import LazyRows
from certus.linear_model import LinearRegression, LogisticRegression, Ridge
from certus.model_files import to_bytes
from certus.neighbors import KNeighborsRegressor
from certus.tables import compact_rows, fit_to_table, pipeline_for
from tests.tables.reading import read

N = 600


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = ["a,b,whole,colour,member,town,y"]
    for i in range(N):
        a, b = rng.normal(size=2).round(3)
        gap = "" if i % 50 == 7 else str(rng.integers(9))
        colour = ["red", "green", "blue", ""][rng.integers(4)]
        town = "seen once" if i == 500 else f"town{rng.integers(5)}"
        member = ["yes", "no"][rng.integers(2)]
        rows.append(f"{a},{b},{gap},{colour},{member},{town},{a + b + i % 3}")
    return read("\n".join(rows) + "\n")


MODELS = [
    LinearRegression(), Ridge(alpha=2.0), KNeighborsRegressor(3), KMeans(2, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("n_rows", [0, 1 << 23], ids=["one group", "groups of columns"])
def test_steps_and_predictions_are_those_of_a_plain_fit(table, model, n_rows):
    from sklearn.base import clone

    columns = table.used(exclude=["y"])
    X = table.select([c.name for c in columns])
    y = None if isinstance(model, KMeans) else table.target("y")
    s = np.linspace(1, 2, N) if isinstance(model, (LinearRegression, Ridge)) else None
    weights = {} if s is None else {"model__sample_weight": s}
    plain = pipeline_for(columns, clone(model), n_rows).fit(X, y, **weights)
    compact = pipeline_for(columns, clone(model), n_rows)
    fit_to_table(compact, columns, X, y, s, max_dense_bytes=0)
    steps = [to_bytes(_with_model(p, LinearRegression())) for p in (plain, compact)]
    assert steps[0] == steps[1]
    np.testing.assert_array_equal(compact[:-1].transform(X), plain[:-1].transform(X))
    np.testing.assert_allclose(compact.predict(X), plain.predict(X), rtol=1e-9)
    assert compact[-1].certificate_.status == plain[-1].certificate_.status


def _with_model(pipeline, model):
    """A copy of a fitted pipeline with a model that is fitted to nothing of the table."""
    from sklearn.pipeline import Pipeline

    return Pipeline([pipeline.steps[0], ("model", model.fit([[0.0], [1.0]], [0.0, 1.0]))])


def test_rows_are_put_together_when_they_are_read(table):
    columns = table.used(exclude=["y"])
    X = table.select([c.name for c in columns])
    pipeline = pipeline_for(columns, LogisticRegression()).fit(X, table.target("y") > 1)
    rows = compact_rows(pipeline[0], X)
    assert isinstance(rows, LazyRows)
    expected = pipeline[:-1].transform(X)
    np.testing.assert_array_equal(np.asarray(rows), expected)
    np.testing.assert_array_equal(rows[5:9], expected[5:9])
    np.testing.assert_array_equal(rows[np.array([3, 1])], expected[[3, 1]])
    kept = sum(part.nbytes for part in rows.given.parts)
    assert kept < 0.5 * expected.nbytes


def test_memory_is_a_fraction_of_that_of_the_array(tmp_path):
    """500,000 rows × 61 columns are 244 MB in float64, which ColumnTransformer holds twice."""
    code = """
import resource, numpy as np, pyarrow as pa
from certus.linear_model import LinearRegression
from certus.tables import fit_to_table, pipeline_for
from certus.tables.read import _table
from certus.tables.conversion import Converted
from certus.tables.table import ReadReport
n, rng = 500_000, np.random.default_rng(0)
text = pa.array([f"c{i}" for i in range(60)]).take(pa.array(rng.integers(0, 60, n)))
columns = [Converted(pa.chunked_array([v]), frozenset()) for v in (text, rng.normal(size=n))]
table = _table(["c", "x"], columns, ReadReport("t", "CSV", n, None, (), ()), {})
X, y = table.select(["c", "x"]), rng.normal(size=n)
LinearRegression().fit(np.ones((10, 2)), np.arange(10.0))
used = table.used()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fit_to_table(pipeline_for(used, LinearRegression()), used, X, y, max_dense_bytes=1 << 27)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 200e6
