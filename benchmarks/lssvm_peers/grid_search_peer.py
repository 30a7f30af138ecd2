"""scikit-learn's GridSearchCV over certus's LSSVC, a fit for each split."""

from sklearn.model_selection import GridSearchCV, LeaveOneOut

from certus.svm import LSSVC


class Grid:
    """folds: 5, or "leave-one-out"."""

    def __init__(self, Cs, gammas, folds):
        self.Cs, self.gammas, self.folds = Cs, gammas, folds

    def fit(self, X, y):
        cv = LeaveOneOut() if self.folds == "leave-one-out" else self.folds
        grid = {"C": list(self.Cs), "gamma": list(self.gammas)}
        search = GridSearchCV(LSSVC(loo=False), grid, cv=cv, scoring="accuracy").fit(X, y)
        self.C_, self.gamma_ = search.best_params_["C"], search.best_params_["gamma"]
        return self
