"""The memory that reading takes does not depend on the number of rows.

Each measurement is a process of its own, since the peak of a process never falls. A first file with
little in it loads whatever is loaded once.
"""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

P = 8
ROW_BYTES = 8 * (P + 2)
FEW, MANY = 250_000, 2_500_000  # 20 and 200 MB
SOLVER_BYTES = 1 << 26  # of a fit beside its reading: blocks of 1 MB and their sums

MEASURED = """
import json, resource, sys, warnings
import numpy as np
import certus
from certus.linear_model import Ridge

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

def use(path):
    with certus.open_rows(path, target="y", weights="s", cache=json.loads(sys.argv[2])) as rows:
        model = Ridge().fit(rows)
        assert certus.verify(model, rows).status == "optimal"
        for block in rows.batches(100_000):
            model.predict(block.X)
        return rows.memory_bound

warnings.simplefilter("ignore")  # blocks of arrays have no names
X = np.random.default_rng(0).normal(size=(9000, 130))
Ridge().fit(X, X[:, 0])  # loads the compiled kernel of large problems
del X
use(sys.argv[3])
before = peak()
bound = use(sys.argv[1])
print(json.dumps([peak() - before, bound]))
"""


def written(path, n):
    rng = np.random.default_rng(0)
    w = np.arange(P)
    schema = pa.schema([(name, pa.float64()) for name in [*(f"x{j}" for j in range(P)), "y", "s"]])
    with parquet.ParquetWriter(path, schema, compression="none") as file:
        for start in range(0, n, 250_000):
            rows = min(n - start, 250_000)
            X = rng.normal(size=(rows, P))
            columns = [*np.ascontiguousarray(X.T), X @ w, rng.uniform(size=rows)]
            file.write_table(pa.table(columns, schema=schema), row_group_size=1 << 20)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    yield [written(folder / f"{n}.parquet", n) for n in (20_000, FEW, MANY)]
    for path in folder.iterdir():
        path.unlink()


def growths(paths, cache, small):
    """Return, for each file, the growth of the peak and the bound that the table states."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", MEASURED, str(path), json.dumps(cache), str(small)],
            stdout=subprocess.PIPE, text=True,
        ) for path in paths
    ]  # fmt: skip
    return [json.loads(run.communicate(timeout=300)[0]) for run in runs]


@pytest.mark.costly
@pytest.mark.skipif(sys.platform == "win32", reason="the module resource is not there")
@pytest.mark.parametrize("cache", [True, False], ids=["kept", "decoded in every pass"])
def test_ten_times_the_rows_take_no_more_memory_than_the_bound(cache, files):
    small, few, many = files
    (of_few, bound), (of_many, same_bound) = growths([few, many], cache, small)
    assert bound == same_bound
    assert of_many < bound + SOLVER_BYTES
    assert of_many - of_few < ROW_BYTES * (MANY - FEW) / 2
    assert bound + SOLVER_BYTES < 1.1 * ROW_BYTES * MANY  # the rows as an array would not fit
