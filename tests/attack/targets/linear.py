"""Linear models of certus."""

from typing import Any

import numpy as np

from certus import linear_model, penalties, svm

from .target import Generator, Target, class_weight, coin, pick, strength


def least_squares(rng: Generator, p: int) -> Any:
    return linear_model.LinearRegression(fit_intercept=coin(rng, 0.8), positive=coin(rng, 0.2))


def ridge(rng: Generator, p: int) -> Any:
    return linear_model.Ridge(
        alpha=strength(rng, -12, 6), fit_intercept=coin(rng, 0.8), positive=coin(rng, 0.15)
    )


def ridge_cv(rng: Generator, p: int) -> Any:
    return linear_model.RidgeCV(
        alphas=10.0 ** np.arange(-6, 4, 3), fit_intercept=coin(rng, 0.8),
        cv=pick(rng, None, None, 3),
    )  # fmt: skip


def lasso(rng: Generator, p: int) -> Any:
    return linear_model.Lasso(
        alpha=strength(rng, -8, 1), fit_intercept=coin(rng, 0.8), positive=coin(rng, 0.2)
    )


def elastic_net(rng: Generator, p: int) -> Any:
    return linear_model.ElasticNet(
        alpha=strength(rng, -8, 1), l1_ratio=pick(rng, 0.1, 0.5, 0.9, 1.0),
        fit_intercept=coin(rng, 0.8), positive=coin(rng, 0.2),
    )  # fmt: skip


def lasso_cv(rng: Generator, p: int) -> Any:
    return linear_model.LassoCV(
        alphas=5, cv=3, fit_intercept=coin(rng, 0.8), positive=coin(rng, 0.2)
    )


def elastic_net_cv(rng: Generator, p: int) -> Any:
    return linear_model.ElasticNetCV(
        l1_ratio=pick(rng, 0.5, [0.1, 0.9], 1.0), alphas=5, cv=3, fit_intercept=coin(rng, 0.8),
        positive=coin(rng, 0.2),
    )  # fmt: skip


def penalized(rng: Generator, free: bool) -> dict[str, float]:
    if free:
        return {"C": np.inf}
    return {"C": strength(rng, -3, 9), "l1_ratio": pick(rng, 0.0, 0.0, 0.5, 1.0)}


def logistic(rng: Generator, p: int) -> Any:
    free = coin(rng)
    solvers = ("lbfgs",) if free else ("lbfgs", "newton-cg", "newton-cholesky", "liblinear")
    return linear_model.LogisticRegression(
        **penalized(rng, free), fit_intercept=coin(rng, 0.8), class_weight=class_weight(rng),
        solver=pick(rng, *solvers), max_iter=pick(rng, 2, 100, 100, 100),
    )  # fmt: skip


def softmax(rng: Generator, p: int) -> Any:
    return linear_model.LogisticRegression(
        **penalized(rng, coin(rng)), fit_intercept=coin(rng, 0.8), class_weight=class_weight(rng)
    )


def logistic_cv(rng: Generator, p: int) -> Any:
    return linear_model.LogisticRegressionCV(
        Cs=3, cv=2, l1_ratios=(pick(rng, 0.0, 0.5, 1.0),), fit_intercept=coin(rng, 0.8),
        use_legacy_attributes=False,
    )  # fmt: skip


def ordinal(rng: Generator, p: int) -> Any:
    return linear_model.OrdinalRegression(alpha=0.0 if coin(rng, 0.7) else strength(rng))


def firth(rng: Generator, p: int) -> Any:
    return linear_model.FirthLogisticRegression(fit_intercept=coin(rng, 0.8))


def penalty(rng: Generator, p: int, classifier: bool) -> Any:
    kinds = [
        lambda: penalties.L1(strength(rng)),
        lambda: penalties.L2(strength(rng)),
        lambda: penalties.ElasticNet(strength(rng), pick(rng, 0.2, 0.5, 0.9)),
    ]
    if not classifier:
        kinds += [
            lambda: penalties.NonNegative(),
            lambda: penalties.Box(-float(pick(rng, 0, 1, 10)), float(pick(rng, 0.5, 3))),
            lambda: penalties.Simplex(float(pick(rng, 1.0, 5.0))),
            lambda: penalties.GroupL2(strength(rng), groups=[range(0, p, 2), range(1, p, 2)][:p]),
            lambda: penalties.MCP(strength(rng)),
            lambda: penalties.SCAD(strength(rng)),
        ]
    return pick(rng, *kinds)()


def penalized_regressor(rng: Generator, p: int) -> Any:
    loss = pick(rng, "squared", "huber")
    return linear_model.PenalizedRegressor(
        loss, penalty(rng, p, False), fit_intercept=coin(rng, 0.8), max_iter=2000
    )


def penalized_classifier(rng: Generator, p: int) -> Any:
    loss = pick(rng, "logistic", "squared_hinge", "huber", "squared", "softmax")
    return linear_model.PenalizedClassifier(
        loss, penalty(rng, p, True), fit_intercept=coin(rng, 0.8), class_weight=class_weight(rng)
    )


def linear_svc(rng: Generator, p: int) -> Any:
    loss = pick(rng, "squared_hinge", "hinge")
    return svm.LinearSVC(
        "l1" if loss == "squared_hinge" and coin(rng, 0.3) else "l2", loss,
        C=strength(rng, -3, 5), fit_intercept=coin(rng, 0.8),
        intercept_scaling=pick(rng, 1.0, 10.0), class_weight=class_weight(rng),
    )  # fmt: skip


def log_link(kind: Any) -> Any:
    def make(rng: Generator, p: int) -> Any:
        return kind(
            alpha=0.0 if coin(rng, 0.4) else strength(rng, -9, 3), fit_intercept=coin(rng, 0.8),
            l1_ratio=pick(rng, 0.0, 0.0, 0.5, 1.0), max_iter=pick(rng, 2, 100, 100, 100),
            solver=pick(rng, "lbfgs", "newton-cholesky", "newton-cg"),
        )  # fmt: skip

    return make


TARGETS = [
    Target("LinearRegression", "numbers", least_squares, share=3),
    Target("LinearRegression, two targets", "several numbers", least_squares),
    Target("Ridge", "numbers", ridge, share=3),
    Target("RidgeCV", "numbers", ridge_cv, share=0.5),
    Target("Lasso", "numbers", lasso, share=2),
    Target("ElasticNet", "numbers", elastic_net, share=2),
    Target("LassoCV", "numbers", lasso_cv, share=0.3),
    Target("ElasticNetCV", "numbers", elastic_net_cv, share=0.3),
    Target("LogisticRegression", "two classes", logistic, share=4),
    Target("LogisticRegression, three classes", "classes", softmax, rows=30, columns=4, share=2),
    Target("LogisticRegressionCV", "two classes", logistic_cv, share=0.2),
    Target("OrdinalRegression", "ordered", ordinal, columns=4, share=3),
    Target("FirthLogisticRegression", "two classes", firth, columns=4, share=2),
    Target("PenalizedRegressor", "numbers", penalized_regressor, columns=5, share=2),
    Target("PenalizedClassifier", "two classes", penalized_classifier, columns=5),
    Target("PenalizedClassifier, three classes", "classes", penalized_classifier, columns=3,
           rows=25),
    Target("PoissonRegressor", "events", log_link(linear_model.PoissonRegressor), columns=5,
           offset=True, share=1.5),
    Target("GammaRegressor", "amounts", log_link(linear_model.GammaRegressor), columns=5,
           offset=True, share=1.5),
    Target("LinearSVC", "two classes", linear_svc, rows=25, columns=4),
    Target("LinearSVC, three classes", "classes", linear_svc, rows=20, columns=3, share=0.5),
]  # fmt: skip
