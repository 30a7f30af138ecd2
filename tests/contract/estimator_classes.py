"""Every public estimator, by what it predicts."""

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from certus import cluster, feature_selection, linear_model, svm

CLASSES = [*(getattr(linear_model, name) for name in linear_model.__all__), svm.LinearSVC]
REGRESSORS = [cls for cls in CLASSES if is_regressor(cls())]
CLASSIFIERS = [cls for cls in CLASSES if is_classifier(cls())]
SEVERAL = [cls for cls in REGRESSORS if get_tags(cls()).target_tags.multi_output]
POSITIVE = [cls for cls in REGRESSORS if get_tags(cls()).target_tags.positive_only]
CLUSTERERS = [cluster.KMeans, cluster.MiniBatchKMeans, cluster.BisectingKMeans]
TREES = [cluster.AgglomerativeClustering, cluster.DivisiveClustering, cluster.VariableClustering]
SELECTORS = [feature_selection.NCFSClassifier, feature_selection.NCFSRegressor]
KERNEL_MACHINES = [
    svm.LSSVC, svm.LSSVR, svm.LSSVCCV, svm.DensityWeightedLSSVC, svm.DensityWeightedSVC,
]  # fmt: skip
