"""The tests that fail, each with its reason.

A line is a test, with ``*`` for any text; without ``[`` it stands for all parameters of a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

OPEN = "open"

REASONS = {
    OPEN: "defects that are known and open",
    "float64": "documented: float32 X gives float64 coefficients",
    "solver": "documented: the solver is chosen by the problem; its name, steps and draws differ",
    "tol": "documented: a fit goes on until it is certified, so that max_iter and tol are not met",
    "copy": "documented: X is never changed, whatever copy_X says",
    "accepted": "documented: what scikit-learn refuses is accepted",
    "warned": "documented: another warning, or none, where scikit-learn warns",
    "refused": "documented: refused, with the reason",
    "connectivity": "documented: AgglomerativeClustering takes no connectivity",
    "ties": "documented: equally near rows, classes with equally many votes, order of labels",
    "kept": "documented: defaults, and what weights of neighbours mean",
    "asked": "documented: a fit asks the model for predictions, which its certificate checks",
    "class": "documented: RANSACRegressor asks for min_samples, but of its own LinearRegression",
    "words": "an error or a warning is there, in other words",
    "private": "private functions, classes and attributes of scikit-learn",
    "fitted": "the reference values are those of scikit-learn's own, less exact fit",
}

RIDGE = "linear_model/tests/test_ridge.py::"
DESCENT = "linear_model/tests/test_coordinate_descent.py::"
LOGISTIC = "linear_model/tests/test_logistic.py::"
RANSAC = "linear_model/tests/test_ransac.py::"
SAG = "linear_model/tests/test_sag.py::"
KMEANS = "cluster/tests/test_k_means.py::"
TREES = "cluster/tests/test_hierarchical.py::"
MIXTURE = "mixture/tests/test_gaussian_mixture.py::"
NEIGHBORS = "neighbors/tests/test_neighbors.py::"
SVM = "svm/tests/test_svm.py::"
CHECKS = "tests/test_common.py::test_estimators["

EXPECTED: dict[str, list[str]] = {
    "float64": [
        RIDGE + "test_dtype_match",
        RIDGE + "test_dtype_match_cholesky",
        DESCENT + "test_enet_float_precision",
        LOGISTIC + "test_dtype_match",
    ],
    "solver": [
        RIDGE + "test_ridge_regression",
        RIDGE + "test_n_iter",
        DESCENT + "test_overridden_gram_matrix",
        DESCENT + "test_elasticnet_precompute_incorrect_gram",
        DESCENT + "test_lassoCV_does_not_set_precompute",
        LOGISTIC + "test_liblinear_dual_random_state",
        LOGISTIC + "test_newton_cholesky_fallback_to_lbfgs",
        LOGISTIC + "test_logistic_regression_callback_support",
        LOGISTIC + "test_logistic_regression_callback_support_warning",
    ],
    "tol": [
        RIDGE + "test_lbfgs_solver_error",
        DESCENT + "test_lasso_dual_gap",
        DESCENT + "test_warm_start_convergence",
        DESCENT + "test_warm_start_convergence_with_regularizer_decrement",
        DESCENT + "test_sparse_input_convergence_warning",
        LOGISTIC + "test_zero_max_iter",
        SVM + "test_linear_svm_convergence_warnings",
    ],
    "copy": [
        "linear_model/tests/test_base.py::test_inplace_data_preprocessing",
        DESCENT + "test_enet_copy_X_False_check_input_False",
    ],
    "accepted": [
        CHECKS + "RadiusNeighborsClassifier()-check_*sample_weight*]",
        "linear_model/tests/test_base.py::test_raises_value_error_if_positive_and_sparse",
        RIDGE + "test_ridge_fit_intercept_sparse_error",
        DESCENT + "test_check_input_false",
        LOGISTIC + "test_elasticnet_l1_ratio_err_helpful",
        LOGISTIC + "test_large_sparse_matrix",
        LOGISTIC + "test_liblinear_with_large_values",
        SAG + "test_step_size_alpha_error",
        SAG + "test_sag_classifier_raises_error",
        NEIGHBORS + "test_neighbors_validate_parameters",
        NEIGHBORS + "test_neighbors_minkowski_semimetric_algo_error",
        NEIGHBORS + "test_neighbors_metrics",
        NEIGHBORS + "test_predict_sparse_ball_kd_tree",
        NEIGHBORS + "test_precomputed_sparse_invalid",
        "ensemble/tests/test_voting.py::test_sample_weight",
    ],
    "warned": [
        "compose/tests/test_target.py::test_transform_target_regressor_not_warns_with_global_output_set",
        RIDGE + "test_regularization_limits_ridge_gcv[csr*-svd-*]",
        RIDGE + "test_ridge_fit_intercept_sparse_sag",
        DESCENT + "test_lasso_alpha_warning",
        LOGISTIC + "test_l1_ratio_non_elasticnet",
        LOGISTIC + "test_penalty_none",
        LOGISTIC + "test_c_inf_no_warning",
        LOGISTIC + "test_logisticregressioncv_warns_with_use_legacy_attributes",
        LOGISTIC + "test_logisticregression_warns_with_n_jobs",
        LOGISTIC + "test_lr_penalty_l1ratio_incompatible",
        LOGISTIC + "test_lr_scoring_warns",
        KMEANS + "test_kmeans_warns_less_centers_than_unique_points",
        KMEANS + "test_relocating_with_duplicates",
        KMEANS + "test_warning_elkan_1_cluster",
        NEIGHBORS + "test_radius_neighbors_classifier_outlier_labeling",
    ],
    "refused": [
        SVM + "test_linearsvc_crammer_singer",
        SVM + "test_crammer_singer_binary",
        NEIGHBORS + "test_unsupervised_inputs",
        NEIGHBORS + "test_kneighbors_brute_backend*mahalanobis]",
        NEIGHBORS + "test_radius_neighbors_brute_backend*mahalanobis]",
    ],
    "connectivity": [
        TREES + "test_agglomerative_clustering_distances",
        TREES + "test_agglomerative_clustering",
        TREES + "test_identical_points",
        TREES + "test_connectivity_propagation",
        TREES + "test_connectivity_fixing_non_lil",
        TREES + "test_connectivity_callable",
        TREES + "test_connectivity_ignores_diagonal",
        TREES + "test_compute_full_tree",
        TREES + "test_precomputed_connectivity_metric_with_2_connected_components",
        TREES + "test_agglomeration_ward_euclidean",
    ],
    "ties": [
        TREES + "test_agglomerative_clustering_with_distance_threshold",
        NEIGHBORS + "test_k_and_radius_neighbors_duplicates",
        NEIGHBORS + "test_radius_neighbors_predict_proba",
        CHECKS + "KNeighborsClassifier(*check_classifier*]",
    ],
    "kept": [
        MIXTURE + "test_regularisation",
        CHECKS + "KNeighbors*check_sample_weight_equivalence*]",
    ],
    "asked": [
        "metrics/tests/test_score_objects.py::test_multimetric_scorer_calls_method_once_classifier_no_decision",
    ],
    "class": [
        RANSAC + "test_ransac_no_valid_data",
        RANSAC + "test_ransac_no_valid_model",
        RANSAC + "test_ransac_exceed_max_skips",
        RANSAC + "test_ransac_warn_exceed_max_skips",
        RANSAC + "test_ransac_min_n_samples",
        RANSAC + "test_perfect_horizontal_line",
    ],
    "words": [
        RIDGE + "test_ridgecv_alphas_zero",
        RIDGE + "test_ridgecv_alphas_validation",
        RIDGE + "test_ridge_positive_error_test",
        DESCENT + "test_enet_nonfinite_params",
        DESCENT + "test_lassocv_alphas_validation",
        DESCENT + "test_enet_coordinate_descent_raises_convergence",
        DESCENT + "test_cv_estimators_reject_params_with_no_routing_enabled",
        "linear_model/tests/test_sparse_coordinate_descent.py::test_sparse_enet_coordinate_descent",
        LOGISTIC + "test_check_solver_option",
        LOGISTIC + "test_nan",
        LOGISTIC + "test_max_iter",
        LOGISTIC + "test_passing_params_without_enabling_metadata_routing",
        LOGISTIC + "test_liblinear_multiclass_raises",
        LOGISTIC + "test_penalty_deprecated",
        LOGISTIC + "test_l1_ratio_None_deprecated",
        SAG + "test_classifier_single_class",
        KMEANS + "test_kmeans_verbose",
        KMEANS + "test_minibatch_declared_convergence",
        TREES + "test_invalid_shape_precomputed_dist_matrix",
        MIXTURE + "test_check_weights",
        MIXTURE + "test_check_means",
        MIXTURE + "test_check_precisions",
        MIXTURE + "test_gaussian_mixture_fit_convergence_warning",
        NEIGHBORS + "test_radius_neighbors_regressor",
        NEIGHBORS + "test_neighbors_minkowski_semimetric_algo_warn",
        NEIGHBORS + "test_nearest_neighbors_validate_params",
        NEIGHBORS + "test_KNeighborsClassifier_raise_on_all_zero_weights",
        SVM + "test_linearsvc_parameters",
        "tests/test_multiclass.py::test_multiclass_estimator_attribute_error",
    ],
    "private": [
        "tests/test_common.py::test_check_param_validation",
        LOGISTIC + "test_logreg_predict_proba_multinomial",
        LOGISTIC + "test_get_default_scorer",
        KMEANS + "test_kmeans_init_auto_with_initial_centroids",
        KMEANS + "test_minibatch_kmeans_init_size",
        KMEANS + "test_n_init_auto",
        KMEANS + "test_sample_weight_init",
        KMEANS + "test_sample_weight_zero",
        MIXTURE + "test_gaussian_mixture_precisions_init",
        MIXTURE + "test_gaussian_mixture_aic_bic",
        MIXTURE + "test_gaussian_mixture_n_parameters",
        MIXTURE + "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters",
        NEIGHBORS + "test_neigh_predictions_algorithm_agnosticity[*-KNeighbors*0-*-100-100-10]",
        NEIGHBORS + "test_auto_algorithm",
    ],
    "fitted": [
        DESCENT + "test_1d_multioutput_enet_and_multitask_enet_cv",
        DESCENT + "test_1d_multioutput_lasso_and_multitask_lasso_cv",
        LOGISTIC + "test_logistic_cv_multinomial_score",
        "tests/test_multioutput.py::test_multiclass_multioutput_estimator_predict_proba",
        SAG + "test_sag_classifier_computed_correctly",
        SAG + "test_sag_multiclass_computed_correctly",
        SAG + "test_binary_classifier_class_weight",
    ],
}


@cache
def _pattern(line: str) -> re.Pattern[str]:
    text = ".*".join(re.escape(part) for part in line.split("*"))
    return re.compile(text if line.endswith("]") else text + r"(\[.*\])?", re.DOTALL)


def reason(test: str) -> str | None:
    """Return the key of the reason why this test may fail, or None."""
    for key, lines in EXPECTED.items():
        if any(_pattern(line).fullmatch(test) for line in lines):
            return key
    return None


def unused(failed: Iterable[str]) -> list[str]:
    """Return the lines that none of ``failed`` needs."""
    failed = list(failed)
    return [
        line
        for lines in EXPECTED.values()
        for line in lines
        if not any(_pattern(line).fullmatch(test) for test in failed)
    ]
