"""Attributes that ``fit`` sets on each estimator of certus, and that a model file stores.

A test fits every estimator and compares: nothing may be missing here. What can be made again (the
index of a search) is not kept; ``__getstate__`` leaves it out, and ``__setstate__`` makes it.
"""

from typing import NamedTuple

COMMON_ATTRIBUTES = (
    "n_features_in_", "feature_names_in_", "certificate_", "_sklearn_output_config",
)  # fmt: skip
LINEAR = ("coef_", "intercept_", "n_iter_", "solver_")
CLASSES = ("classes_", "_constant")
ELASTIC_NET = (*LINEAR, "dual_gap_", "l1_ratio", "sparse_coef_")
ELASTIC_NET_CV = (*ELASTIC_NET, "alpha_", "alphas_", "mse_path_")
PENALIZED = (*LINEAR, "loss_", "penalty_", "_partial")
TREE = ("tree_", "labels_", "n_clusters_", "n_leaves_", "scale_", "_distance", "_mixed")
CENTERS = ("cluster_centers_", "labels_", "inertia_", "unit_", "n_clusters_effective_")
MIXTURE = (
    "weights_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_", "restarts_",
    "_largest_decrease", "constant_columns_",
)  # fmt: skip
NEIGHBORS = (
    "effective_metric_", "effective_metric_params_", "n_samples_fit_", "_distance", "_mixed",
    "_fit_X", "_present", "_y", "_sample_weight", "_fallback",
)  # fmt: skip
KERNEL_MACHINE = (
    "X_fit_", "gamma_", "dual_coef_", "intercept_", "objective_", "condition_",
    "effective_parameters_", "loo_scores_", "n_iter_",
)  # fmt: skip
KERNEL_CLASSIFIER = (*KERNEL_MACHINE, "classes_", "class_weight_", "loo_accuracy_")
NCFS = (
    "weights_", "weights_in_units_", "support_", "objective_", "alpha_", "n_iter_",
    "n_evaluations_", "solver_", "shift_", "scale_", "loo_score_", "_fit_X", "_fit_y",
    "_fit_columns", "_fit_rows", "_largest_decrease", "batch_size_",
)  # fmt: skip


class FittedState(NamedTuple):
    """Fitted attributes; ``rows``: whether the model stores rows that it was fitted on."""

    attributes: tuple[str, ...]
    rows: bool = False


def _linear_model() -> dict[str, FittedState]:
    classifier = (*LINEAR, *CLASSES)
    return {
        "LinearRegression": FittedState((*LINEAR, "rank_", "singular_", "condition_", "aliased_",
                                         "_triangle")),
        "Ridge": FittedState(LINEAR),
        "RidgeCV": FittedState((*LINEAR, "alpha_", "best_score_", "cv_results_")),
        "Lasso": FittedState(ELASTIC_NET),
        "ElasticNet": FittedState(ELASTIC_NET),
        "LassoCV": FittedState(ELASTIC_NET_CV),
        "ElasticNetCV": FittedState((*ELASTIC_NET_CV, "l1_ratio_")),
        "PoissonRegressor": FittedState((*LINEAR, "has_offset_")),
        "GammaRegressor": FittedState((*LINEAR, "has_offset_")),
        "PenalizedRegressor": FittedState(PENALIZED),
        "PenalizedClassifier": FittedState((*PENALIZED, *CLASSES)),
        "LogisticRegression": FittedState(classifier),
        "LogisticRegressionCV": FittedState((*classifier, "Cs_", "l1_ratios_", "coefs_paths_",
                                             "scores_", "C_", "l1_ratio_")),
        "FirthLogisticRegression": FittedState(classifier),
        "OrdinalRegression": FittedState((*classifier, "thresholds_")),
    }  # fmt: skip


def _cluster() -> dict[str, FittedState]:
    return {
        "KMeans": FittedState((*CENTERS, "n_iter_", "restarts_", "_rose")),
        "MiniBatchKMeans": FittedState((*CENTERS, "n_iter_", "counts_", "n_steps_", "_means",
                                        "_rows_since_reassignment")),
        "BisectingKMeans": FittedState((*CENTERS, "split_residuals_", "split_certified_", "tree_",
                                        "_pairs", "_children")),
        "AgglomerativeClustering": FittedState((*TREE, "children_", "distances_",
                                                "n_connected_components_"), rows=True),
        "DivisiveClustering": FittedState((*TREE, "divisive_coefficient_"), rows=True),
        "VariableClustering": FittedState(("tree_", "labels_", "n_clusters_", "representatives_",
                                           "signs_", "center_", "spread_"), rows=True),
    }  # fmt: skip


def _neighbors() -> dict[str, FittedState]:
    classifier = (*NEIGHBORS, "classes_", "outputs_2d_")
    return {
        "NearestNeighbors": FittedState(NEIGHBORS, rows=True),
        "KNeighborsClassifier": FittedState(classifier, rows=True),
        "KNeighborsRegressor": FittedState(NEIGHBORS, rows=True),
        "RadiusNeighborsClassifier": FittedState((*classifier, "outlier_label_"), rows=True),
        "RadiusNeighborsRegressor": FittedState(NEIGHBORS, rows=True),
    }


def _svm() -> dict[str, FittedState]:
    return {
        "LinearSVC": FittedState((*LINEAR, *CLASSES, "dual_coef_", "dual_steps_")),
        "LSSVC": FittedState(KERNEL_CLASSIFIER, rows=True),
        "LSSVCCV": FittedState((*KERNEL_CLASSIFIER, "Cs_", "gammas_", "scores_", "best_score_",
                                "C_"), rows=True),
        "LSSVR": FittedState((*KERNEL_MACHINE, "loo_r2_", "_flat"), rows=True),
        "DensityWeightedLSSVC": FittedState((*KERNEL_CLASSIFIER, "density_weights_"), rows=True),
        "DensityWeightedSVC": FittedState(
            ("classes_", "class_weight_", "density_weights_", "gamma_", "n_iter_", "fit_status_",
             "support_", "n_support_", "support_vectors_", "dual_coef_", "intercept_",
             "objective_"), rows=True),
    }  # fmt: skip


def _others() -> dict[str, FittedState]:
    classifier = (*NCFS, "classes_", "_costs")
    return {
        "feature_selection.NCFSClassifier": FittedState(classifier, rows=True),
        "feature_selection.NCFSClassifierCV": FittedState(
            (*classifier, "alphas_", "scores_", "n_selected_", "scores_without_columns_",
             "best_index_", "chosen_index_"), rows=True),
        "feature_selection.NCFSRegressor": FittedState((*NCFS, "epsilon_"), rows=True),
        "metrics.CalibratedClassifier": FittedState(
            ("estimator_", "slope_", "intercept_", "classes_")),
        "metrics.PriorCorrectedClassifier": FittedState(
            ("estimator_", "classes_", "prevalence_", "trained_prevalence_", "threshold_")),
        "preprocessing.GaussianBasis": FittedState(("centers_", "widths_")),
        "preprocessing.PolynomialBasis": FittedState(("center_", "scale_", "_degree", "_raw")),
        "preprocessing.SigmoidBasis": FittedState(("centers_", "slopes_")),
    }  # fmt: skip


def _states() -> dict[str, FittedState]:
    mixture = {
        "GaussianMixture": FittedState((*MIXTURE, "means_", "covariances_", "precisions_",
                                        "precisions_cholesky_")),
        "BernoulliMixture": FittedState((*MIXTURE, "probabilities_")),
        "PoissonMixture": FittedState((*MIXTURE, "rates_")),
        "MultinomialMixture": FittedState((*MIXTURE, "probabilities_")),
    }  # fmt: skip
    modules = {
        "linear_model": _linear_model(), "cluster": _cluster(), "mixture": mixture,
        "neighbors": _neighbors(), "svm": _svm(),
    }  # fmt: skip
    states = {f"{m}.{name}": state for m, rows in modules.items() for name, state in rows.items()}
    states |= _others()
    return {
        f"certus.{name}": state._replace(attributes=(*COMMON_ATTRIBUTES, *state.attributes))
        for name, state in states.items()
    }


STATES = _states()
