"""Programs that compile kernels in an interpreter of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import certus

HANG = 600  # seconds: a guard, not an expectation

# The kernels of every file that uses vectors by name, beside NumPy. The arguments of gram_sums are
# those of the widest tiles, of a rest of every kind, and of both orders.
WITH_VECTORS = """
    import os
    import numpy as np
    from certus.kernels._compile import LANES, STAMP
    from certus.kernels._elementary import exp_below
    from certus.kernels.gram import _tiles
    from certus.kernels.gram.weighted import gram_sums
    from certus.kernels.mixture import gaussians

    rng = np.random.default_rng(0)
    for n, p, k, dtype, order in ((1, 1, 1, "f8", "C"), (400, 70, 3, "f4", "F"),
                                  (337, 25, 2, "f8", "C"), (161, 8, 0, "f4", "F")):
        X, Y = np.asarray(rng.normal(size=(n, p)), dtype, order=order), rng.normal(size=(n, k))
        s, cx, cy = rng.random(n), rng.normal(size=p), rng.normal(size=k)
        G, Xy = np.zeros((p, p)), np.zeros((p, k))
        sx, sy, yy = np.zeros(p), np.zeros(k), np.zeros(k)
        gram_sums(X, Y, s, cx, cy, G, sx, sy, Xy, yy)
        Z, V = X.astype(float) - cx, Y - cy
        close = dict(rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(np.triu(G), np.triu((Z.T * s) @ Z), **close)
        np.testing.assert_allclose(sx, s @ Z, **close)
        np.testing.assert_allclose(sy, s @ V, **close)
        np.testing.assert_allclose(Xy, (Z.T * s) @ V, **close)
        np.testing.assert_allclose(yy, s @ V**2, **close)

    for n, p in ((3, 1), (150, 17), (70, 4), (333, 20)):
        Z, mu, w = rng.normal(size=(p, n)), rng.normal(size=(2, p)), rng.random((2, n))
        w[1, 5:] = 0.0
        U, b = np.triu(rng.normal(size=(2, p, p))), rng.normal(size=2)
        out, A, S = np.empty((2, n)), np.empty((2, p)), np.empty((2, p, p))
        gaussians.log_densities(Z, mu, gaussians.pack(U), b, out)
        gaussians.moments(Z, w, mu, A, S)
        close = dict(rtol=1e-11, atol=1e-11)
        for c in range(2):
            D = Z - mu[c][:, None]
            np.testing.assert_allclose(out[c], b[c] - ((U[c].T @ D) ** 2).sum(0) / 2, **close)
            np.testing.assert_allclose(A[c], D @ w[c], **close)
            np.testing.assert_allclose(S[c], (D * w[c]) @ D.T, **close)

    assert abs(exp_below(-1.5) - np.exp(-1.5)) < 1e-15
    used = _tiles.gram, gaussians.log_densities, gaussians.moments
    hits = sum(sum(k.stats.cache_hits.values()) for k in used)
    misses = sum(sum(k.stats.cache_misses.values()) for k in used)
    files = {
        (name, file)
        for folder, name in ((k.stats.cache_path, f".{k.__name__}_x{LANES}_") for k in used)
        for file in os.listdir(folder)
        if name + STAMP.partition("_")[2] in file and file.endswith(".nbi")
    }
    print(LANES, hits, misses, len(files))
"""


def run(program: str, package: Path = Path(certus.__file__).parents[1], **environment: object):
    """What a fresh interpreter prints that imports certus from ``package``."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={
            **os.environ,
            "PYTHONPATH": str(package),
            **{name: str(value) for name, value in environment.items()},
        },
        capture_output=True, text=True, check=False, timeout=HANG,
    )  # fmt: skip


def printed(program: str, **environment: object) -> list[str]:
    ran = run(program, **environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()
