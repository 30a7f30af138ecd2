"""certus on Dask's workers, beside certus on threads, and beside dask-ml on the same workers.

The contestant "certus" is the one on Dask. A LocalCluster of two workers with one thread each; rows
are persisted there beforehand. A fit of certus cuts them into its own parts, checks them, and ends
with the certificate.

    k-means     20 steps of Lloyd's iteration from the same centres: F = Σ min ‖x − μ‖²
    logistic    F = C Σ log(1 + exp(−y z)) + ½‖w‖²; dask-ml penalises b as well, which at n = 10⁶
                changes F by less than the limit of the excess
    ridge       one pass and a proof: what a fit on Dask costs at least

dask-ml's solvers are at the loosest tol that reaches the limit. Its newton leaves the penalty out.
Its default, admm, is not among them: 100,000 rows took it 15 s, newton 1.
"""

from benchmarks import libraries
from benchmarks.generators import blobs_64, gaussian, two_classes, uniform_noise
from benchmarks.harness import Row, Suite
from benchmarks.suites.kmeans import within_clusters
from benchmarks.suites.least_squares import ridge_objective
from benchmarks.suites.logistic import logistic_objective

SAME = 1e-6
DASK, THREADS = libraries.certus_on_dask(), libraries.certus_beside_dask()
DASK_ML = libraries.dask_ml()
SOLVERS = tuple(libraries.dask_ml(solver) for solver in ("lbfgs", "newton"))
N, P = 1_000_000, 16


def k_means(name, generator):
    return Row(
        name, "Lloyd", N, P, within_clusters, generator, params={"k": 64, "max_iter": 20},
        excess_limit=SAME, without=tuple(s.name for s in SOLVERS),
    )  # fmt: skip


SUITE = Suite(
    name="dask",
    contestants=(DASK, THREADS, DASK_ML, *SOLVERS),
    rows=(
        k_means("k-means noise", uniform_noise),
        k_means("k-means blobs", blobs_64),
        Row(
            "logistic", "Logistic", N, P, logistic_objective, two_classes, params={"C": 1.0},
            excess_limit=SAME, without=(DASK_ML.name,),
        ),
        Row("ridge", "Ridge", N, P, ridge_objective, gaussian, params={"alpha": 1.0}),
    ),
)  # fmt: skip
