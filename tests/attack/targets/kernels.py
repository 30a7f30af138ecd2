"""Kernel machines and feature selection of certus."""

from typing import Any

from certus import feature_selection, svm

from .target import Generator, Target, coin, pick, strength


def kernel(rng: Generator) -> dict[str, Any]:
    name = pick(rng, "rbf", "rbf", "linear", "poly")
    return {
        "kernel": name, "gamma": pick(rng, "scale", "auto", 0.5), "degree": pick(rng, 2, 3),
        "coef0": 1.0 if name == "poly" else 0.0,
    }  # fmt: skip


def lssvc(rng: Generator, p: int) -> Any:
    return svm.LSSVC(C=strength(rng, -2, 6), fit_intercept=coin(rng, 0.8), **kernel(rng))


def lssvr(rng: Generator, p: int) -> Any:
    return svm.LSSVR(C=strength(rng, -2, 6), fit_intercept=coin(rng, 0.8), **kernel(rng))


def lssvc_cv(rng: Generator, p: int) -> Any:
    return svm.LSSVCCV(Cs=3, gammas=3)


def density_lssvc(rng: Generator, p: int) -> Any:
    return svm.DensityWeightedLSSVC(
        C=strength(rng, -2, 4), n_neighbors=3, formulation=pick(rng, "dual", "primal"),
        epsilon=pick(rng, 0.0, 0.1), **kernel(rng),
    )  # fmt: skip


def density_svc(rng: Generator, p: int) -> Any:
    return svm.DensityWeightedSVC(
        C=strength(rng, -2, 3), n_neighbors=3, tol=pick(rng, 1e-3, 1e-8), max_iter=20_000,
        **kernel(rng),
    )  # fmt: skip


def ncfs(rng: Generator, p: int) -> Any:
    return feature_selection.NCFSClassifier(
        alpha=pick(rng, "auto", 0.1, 1.0, 5.0), sigma=pick(rng, 1.0, 0.3),
        metric=pick(rng, "manhattan", "sqeuclidean"), form=pick(rng, "sum", "mean"),
        prior=pick(rng, "empirical", "uniform"), max_iter=pick(rng, 2, 200, 1000),
    )  # fmt: skip


def ncfs_cv(rng: Generator, p: int) -> Any:
    return feature_selection.NCFSClassifierCV(alphas=3, cv=2)


def ncfs_regressor(rng: Generator, p: int) -> Any:
    return feature_selection.NCFSRegressor(
        alpha=pick(rng, "auto", 0.1, 1.0), metric=pick(rng, "manhattan", "sqeuclidean"),
        loss=pick(rng, "absolute", "squared", "epsilon_insensitive"),
    )  # fmt: skip


TARGETS = [
    Target("LSSVC", "classes", lssvc, rows=25, share=0.7),
    Target("LSSVR", "numbers", lssvr, rows=25, share=0.7),
    Target("LSSVCCV", "two classes", lssvc_cv, rows=25, share=0.2),
    Target("DensityWeightedLSSVC", "two classes", density_lssvc, rows=25, share=0.5),
    Target("DensityWeightedSVC", "two classes", density_svc, rows=22, share=0.3),
    Target("NCFSClassifier", "classes", ncfs, rows=20, columns=4, share=0.7),
    Target("NCFSClassifierCV", "two classes", ncfs_cv, rows=20, columns=3, share=0.1),
    Target("NCFSRegressor", "numbers", ncfs_regressor, rows=20, columns=4, share=0.5),
]
