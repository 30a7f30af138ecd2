"""scikit-learn's test modules that use classes of certus, the models' own first."""

OWN = [
    "linear_model/tests/test_base.py",
    "linear_model/tests/test_ridge.py",
    "linear_model/tests/test_coordinate_descent.py",
    "linear_model/tests/test_sparse_coordinate_descent.py",
    "linear_model/tests/test_logistic.py",
    "linear_model/tests/test_common.py",
    "linear_model/tests/test_sag.py",
    "cluster/tests/test_k_means.py",
    "cluster/tests/test_bisect_k_means.py",
    "cluster/tests/test_hierarchical.py",
    "mixture/tests/test_gaussian_mixture.py",
    "mixture/tests/test_mixture.py",
    "neighbors/tests/test_neighbors.py",
    "neighbors/tests/test_neighbors_pipeline.py",
    "neighbors/tests/test_graph.py",
    "svm/tests/test_svm.py",
    "svm/tests/test_bounds.py",
    "svm/tests/test_sparse.py",
]

# other parts of scikit-learn that are tested with these models
OTHERS = [
    "tests/test_common.py",
    "tests/test_base.py",
    "tests/test_calibration.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "tests/test_pipeline.py",
    "callback/tests",
    "compose/tests/test_target.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_common.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_voting.py",
    "ensemble/tests/test_weight_boosting.py",
    "feature_selection/tests/test_from_model.py",
    "feature_selection/tests/test_rfe.py",
    "feature_selection/tests/test_sequential.py",
    "metrics/tests/test_score_objects.py",
    "model_selection/tests/test_classification_threshold.py",
    "model_selection/tests/test_search.py",
    "model_selection/tests/test_successive_halving.py",
    "model_selection/tests/test_validation.py",
]

ALL = OWN + OTHERS
