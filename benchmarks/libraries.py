"""The libraries that enter, each as a function of the module its estimators are in.

A library that is not installed, or lacks an estimator, gives "–" in the tables.
"""

import contextlib

from benchmarks.harness import Contestant

TOLERANCES = tuple(10.0**-k for k in range(2, 13))  # the loosest that reaches the limit is used
NEIGHBORS, KMEANS = "benchmarks.neighbors_peers", "benchmarks.kmeans_peers"
NCFS, LSSVM = "benchmarks.ncfs_peers", "benchmarks.lssvm_peers"
MIXTURE, LINKAGE = "benchmarks.mixture_peers", "benchmarks.linkage_peers"
OPTIMIZERS = "benchmarks.optimiser_peers"
DASK = "benchmarks.dask_peers"
MANY = 100_000  # max_iter, so that tol is what stops a solver
EPOCHS = 1_000  # of liblinear, saga and the lasso, which cannot be interrupted
SVC_EPOCHS = 3_000  # of liblinear's hinge on sparse rows, which needs more than 744 for 4e-6
INTERCEPT_SCALING = 10.0  # c of liblinear's penalty ½(b/c)² or |b|/c: small enough for the excess
# to be below 1e-6, and above 1e3 its solver stalls on the column of c


def certus(module):
    return Contestant("certus", "certus", f"certus.{module}", "certus", context=certus_threads)


def sklearn(module):
    return Contestant("sklearn", "sklearn", f"sklearn.{module}", "scikit-learn")


def sklearnex(module):
    """oneDAL behind scikit-learn's interface; what oneDAL lacks runs in scikit-learn instead."""
    return Contestant(
        "sklearnex",
        "sklearnex",
        f"sklearnex.{module}",
        "scikit-learn-intelex",
        ran_itself=onedal_ran,
    )


def sklearn_solver(solver):
    """One solver of scikit-learn's logistic regression; sag was slower than saga in all rows."""
    of_its_own = {
        "liblinear": {"max_iter": EPOCHS, "intercept_scaling": INTERCEPT_SCALING},
        "saga": {"max_iter": EPOCHS, "random_state": 0},
    }
    params = {"solver": solver, "max_iter": MANY} | of_its_own.get(solver, {})
    return Contestant(
        f"sklearn {solver}",
        "sklearn",
        "sklearn.linear_model",
        "scikit-learn",
        params=params,
        tolerances=TOLERANCES,
    )


def sklearn_linear_svc():
    """liblinear: by its dual for the hinge, by Newton's method in a trust region for its square."""
    return Contestant(
        "sklearn",
        "sklearn",
        "sklearn.svm",
        "scikit-learn",
        params={"max_iter": SVC_EPOCHS, "random_state": 0},
        tolerances=TOLERANCES,
    )


def sklearnex_logistic():
    """oneDAL has L-BFGS for dense rows with L2; all else it hands to scikit-learn."""
    return Contestant(
        "sklearnex",
        "sklearnex",
        "benchmarks.sklearnex_peer",
        "scikit-learn-intelex",
        ran_itself=onedal_said_so,
        params={"max_iter": MANY},
        tolerances=TOLERANCES,
    )


def celer():
    return Contestant("celer", "celer", "benchmarks.celer_peer", "celer", tolerances=TOLERANCES)


def skglm():
    return Contestant("skglm", "skglm", "benchmarks.skglm_peer", "skglm", tolerances=TOLERANCES)


def adelie():
    """Asks for NumPy 1 and runs on 2: install with --no-deps (README)."""
    return Contestant("adelie", "adelie", "benchmarks.adelie_peer", "adelie", tolerances=TOLERANCES)


def certus_lasso():
    return Contestant(
        "certus", "certus", "benchmarks.certus_lasso", "certus", context=certus_threads
    )


def sklearn_lasso():
    return Contestant(
        "sklearn",
        "sklearn",
        "benchmarks.sklearn_peer",
        "scikit-learn",
        params={"max_iter": EPOCHS},
        tolerances=TOLERANCES,
    )


def certus_optimisers():
    return Contestant(
        "certus", "certus", f"{OPTIMIZERS}.certus_peer", "certus", context=certus_threads
    )


def sklearn_optimisers():
    return Contestant("sklearn", "sklearn", f"{OPTIMIZERS}.sklearn_peer", "scikit-learn")


def certus_neighbors():
    return Contestant(
        "certus", "certus", f"{NEIGHBORS}.certus_peer", "certus", context=certus_threads
    )


def sklearn_neighbors(algorithm):
    return Contestant(
        f"sklearn {algorithm}",
        "sklearn",
        f"{NEIGHBORS}.sklearn_peer",
        "scikit-learn",
        params={"algorithm": algorithm},
    )


def sklearnex_neighbors(algorithm):
    return Contestant(
        f"sklearnex {algorithm}",
        "sklearnex",
        f"{NEIGHBORS}.sklearnex_peer",
        "scikit-learn-intelex",
        params={"algorithm": algorithm},
        ran_itself=onedal_ran,
    )


def scipy_neighbors():
    return Contestant("scipy", "scipy", f"{NEIGHBORS}.scipy_peer", "scipy")


def pykdtree():
    return Contestant("pykdtree", "pykdtree", f"{NEIGHBORS}.pykdtree_peer", "pykdtree")


def certus_kmeans():
    return Contestant("certus", "certus", f"{KMEANS}.certus_peer", "certus", context=certus_threads)


def sklearn_kmeans(algorithm):
    return Contestant(
        f"sklearn {algorithm}",
        "sklearn",
        f"{KMEANS}.sklearn_peer",
        "scikit-learn",
        params={"algorithm": algorithm},
    )


def sklearnex_kmeans():
    return Contestant(
        "sklearnex",
        "sklearnex",
        f"{KMEANS}.sklearnex_peer",
        "scikit-learn-intelex",
        ran_itself=onedal_ran,
    )


def faiss():
    """Computes in float32, whatever the row's dtype: the cast is in its time."""
    return Contestant("faiss", "faiss", f"{KMEANS}.faiss_peer", "faiss-cpu")


def certus_mixture():
    peer = f"{MIXTURE}.certus_peer"
    return Contestant("certus", "certus", peer, "certus", context=certus_threads)


def sklearn_mixture():
    return Contestant("sklearn", "sklearn", f"{MIXTURE}.sklearn_peer", "scikit-learn")


def onedal_mixture():
    """By daal4py: scikit-learn-intelex has no mixtures."""
    return Contestant("oneDAL", "daal4py", f"{MIXTURE}.onedal_peer", "daal4py")


def certus_linkage(number="float64"):
    """number: of the matrix of distances, where there is one."""
    return Contestant(
        "certus" if number == "float64" else f"certus {number}",
        "certus",
        f"{LINKAGE}.certus_peer",
        "certus",
        params={"number": number},
        context=certus_threads,
    )


def scipy_linkage():
    return Contestant("scipy", "scipy", f"{LINKAGE}.scipy_peer", "scipy")


def fastcluster(form):
    """form: "linkage", which makes a matrix of distances, or "linkage_vector", which makes none."""
    return Contestant(
        f"fastcluster {form}",
        "fastcluster",
        f"{LINKAGE}.fastcluster_peer",
        "fastcluster",
        params={"form": form},
    )


def sklearn_linkage():
    return Contestant("sklearn", "sklearn", f"{LINKAGE}.sklearn_peer", "scikit-learn")


def certus_ncfs():
    return Contestant("certus", "certus", f"{NCFS}.certus_peer", "certus", context=certus_threads)


def ncfs():
    """Compiled anew in each process."""
    return Contestant("ncfs", "ncfs", f"{NCFS}.ncfs_peer", "ncfs")


def ncafs():
    return Contestant("ncafs", "ncafs", f"{NCFS}.ncafs_peer", "ncafs")


def certus_lssvm():
    return Contestant("certus", "certus", f"{LSSVM}.certus_peer", "certus", context=certus_threads)


def numpy_lssvm():
    return Contestant("numpy", "numpy", f"{LSSVM}.numpy_peer", "numpy")


def sklearn_lssvm(machine):
    return Contestant(
        f"sklearn {machine}",
        "sklearn",
        f"{LSSVM}.sklearn_peer",
        "scikit-learn",
        params={"machine": machine},
    )


def grid_search_lssvm(folds):
    """Grid search over certus's LSSVC, with its number of threads set."""
    return Contestant(
        f"GridSearchCV {folds}",
        "sklearn",
        f"{LSSVM}.grid_search_peer",
        "scikit-learn",
        params={"folds": folds},
        context=certus_threads,
    )


def numpy():
    return Contestant("numpy", "numpy", "benchmarks.numpy_peer", "numpy")


def certus_inference():
    return Contestant(
        "certus", "certus", "benchmarks.certus_inference", "certus", context=certus_threads
    )


def statsmodels():
    return Contestant("statsmodels", "statsmodels", "benchmarks.statsmodels_peer", "statsmodels")


def certus_on_dask():
    return Contestant("certus", "certus", f"{DASK}.certus_dask", "certus")


def certus_beside_dask():
    return Contestant("certus threads", "certus", f"{DASK}.certus_threads", "certus")


def dask_ml(solver=None):
    """dask-ml, or one of the solvers of its logistic regression."""
    if solver is None:
        return Contestant("dask-ml", "dask_ml", f"{DASK}.dask_ml_peer", "dask-ml")
    return Contestant(
        f"dask-ml {solver}",
        "dask_ml",
        f"{DASK}.dask_ml_peer",
        "dask-ml",
        params={"solver": solver},
        tolerances=TOLERANCES[:6],
    )


def certus_threads(threads):
    """certus's own thread setting, on top of the CPUs the process is pinned to."""
    if threads is None:
        return contextlib.nullcontext()
    import certus

    return certus.config_context(threads=threads)


def onedal_ran(model):
    # sklearnex sets this attribute only if it did not fall back to scikit-learn
    return getattr(model, "_onedal_estimator", None) is not None


def onedal_said_so(model):
    return model.ran_in_onedal_
