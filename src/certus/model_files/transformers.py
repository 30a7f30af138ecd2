"""Attributes that ``fit`` of scikit-learn's transformers sets, and that a model file stores.

Some of these attributes are private: another version of scikit-learn may name them differently. A
file states the version it was written with, and its self-test says on loading whether the model
still answers as it did.
"""

COMMON_ATTRIBUTES = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")
ENCODER = (
    "categories_", "_infrequent_enabled", "_infrequent_indices", "_default_to_infrequent_mappings",
)  # fmt: skip

_TRANSFORMERS: dict[str, tuple[str, ...]] = {
    "sklearn.preprocessing.StandardScaler": ("mean_", "var_", "scale_", "n_samples_seen_"),
    "sklearn.preprocessing.MinMaxScaler": (
        "min_", "scale_", "data_min_", "data_max_", "data_range_", "n_samples_seen_",
    ),
    "sklearn.preprocessing.MaxAbsScaler": ("scale_", "max_abs_", "n_samples_seen_"),
    "sklearn.preprocessing.RobustScaler": ("center_", "scale_"),
    "sklearn.preprocessing.OneHotEncoder": (
        *ENCODER, "drop_idx_", "_drop_idx_after_grouping", "_n_features_outs",
    ),
    "sklearn.preprocessing.OrdinalEncoder": (*ENCODER, "_missing_indices"),
    "sklearn.preprocessing.PolynomialFeatures": (
        "_min_degree", "_max_degree", "n_output_features_", "_n_out_full",
    ),
    "sklearn.preprocessing.FunctionTransformer": (),
    "sklearn.impute.SimpleImputer": ("statistics_", "indicator_", "_fit_dtype", "_fill_dtype"),
    "sklearn.impute.MissingIndicator": ("features_", "_n_features", "_precomputed"),
    "sklearn.compose.ColumnTransformer": (
        "transformers_", "_columns", "_transformer_to_input_indices", "_remainder",
        "sparse_output_", "output_indices_", "_transformers_feature_names_out",
    ),
    "sklearn.pipeline.Pipeline": (),
}  # fmt: skip

TRANSFORMERS = {
    name: (*COMMON_ATTRIBUTES, *attributes) for name, attributes in _TRANSFORMERS.items()
}
