"""What Dask costs beside threads, where the rows are open on the workers: seconds of the same fits.

Run it: python -m benchmarks.dask_overhead [--rows 1e7]

A LocalCluster of two workers with one thread each, beside the two threads of one process; both have
the certificate. k-means makes 20 steps from the same 64 centres. The least of several fits in turn.
"""

import argparse
import time
import warnings

import numpy as np

P, CENTERS, STEPS = 16, 64, 20


def fits(X, y, numbers, labels, rows):
    """Yield the name of a fit, the fit, its arguments as arrays and on Dask, and repetitions."""
    from certus.cluster import KMeans
    from certus.linear_model import LogisticRegression, Ridge

    def lloyd(X):
        return KMeans(
            CENTERS, init=centers, n_init=1, max_iter=STEPS, tol=0, single_moves=False
        ).fit(X)

    centers = X[:CENTERS].copy()
    yield "Ridge", Ridge().fit, (X, y), (numbers,), 5
    yield "LogisticRegression", LogisticRegression().fit, (X, y), (labels,), 5
    yield "KMeans", lloyd, (X,), (rows,), 2


def seconds(fit, args):
    """Return the wall time of one fit."""
    begin = time.perf_counter()
    fit(*args)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=float, default=1e7)
    n = int(parser.parse_args().rows)
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    import certus

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, P))
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=n) > 0).astype(float)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster):
        dX, dy = (da.from_array(a, chunks=(n // 20, *a.shape[1:])).persist() for a in (X, y))
        wait([dX, dy])
        numbers = certus.open_rows(dX, target=dy, classes=False)
        labels, rows = certus.open_rows(dX, target=dy), certus.open_rows(dX)
        for name, fit, args, on_dask, repetitions in fits(X, y, numbers, labels, rows):
            turns = [(seconds(fit, args), seconds(fit, on_dask)) for _ in range(repetitions)]
            threads, dask = np.min(turns, axis=0)
            print(f"{name:20} {threads:8.3f} {dask:8.3f} {dask / threads:6.2f}", flush=True)


if __name__ == "__main__":
    main()
