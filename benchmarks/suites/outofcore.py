"""Rows that stay in a Parquet file, beside the same rows in memory.

    × in memory     seconds of the fit to the array / seconds of the fit to the opened table

k-means and the mixture start at the same centres and make the same number of steps in all three.
The size of the file is an option, --gigabytes.
"""

import os

from benchmarks.harness import Suite
from benchmarks.outofcore_rows import (
    CERTUS,
    CLUSTERS,
    DECODED,
    GIGABYTES,
    IN_MEMORY,
    FileRow,
    centers,
)

DEFAULT_GIGABYTES = 0.25
P = 16
STEPS = 10
BATCH_SIZE = 1024

N = round(float(os.environ.get(GIGABYTES, DEFAULT_GIGABYTES)) * 1e9 / (8 * P))

SUITE = Suite(
    name="outofcore",
    contestants=(CERTUS, IN_MEMORY, DECODED),
    rows=(
        FileRow("open", N, P, target="y"),
        FileRow("Ridge", N, P, "certus.linear_model", "Ridge", "y"),
        FileRow("Logistic", N, P, "certus.linear_model", "LogisticRegression", "label"),
        FileRow(
            f"k-means {STEPS} steps", N, P, "certus.cluster", "KMeans",
            params={
                "n_clusters": CLUSTERS, "init": centers(P) + 0.5, "n_init": 1, "max_iter": STEPS,
                "tol": 0.0, "single_moves": False,
            },
        ),
        FileRow(
            f"Gaussian mixture {STEPS} steps", N, P, "certus.mixture", "GaussianMixture",
            params={
                "n_components": CLUSTERS, "means_init": centers(P) + 0.5, "max_iter": STEPS,
                "tol": 0.0, "random_state": 0,
            },
            excess_limit=1e-4,
        ),
        FileRow(
            f"NCFS in batches of {BATCH_SIZE:,}", N // 10, P, "certus.feature_selection",
            "NCFSClassifier", "label", {"batch_size": BATCH_SIZE},
        ),
    ),
)  # fmt: skip
