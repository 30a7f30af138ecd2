"""What a user of statsmodels would write, behind scikit-learn's interface."""

import warnings

import numpy as np
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel


class HC3Inference:
    """OLS on [1 X] with HC3 standard errors and p-values."""

    def fit(self, X, y):
        found = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC3", use_t=True)
        self.standard_errors_, self.pvalues_ = found.bse, found.pvalues
        return self


class OrdinalRegression:
    """OrderedModel with the logistic distribution, by BFGS as its documentation shows."""

    def fit(self, X, y):
        model = OrderedModel(y, X, distr="logit")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.fit(method="bfgs", disp=False, maxiter=1000)
        p = X.shape[1]
        self.coef_ = found.params[None, :p]
        self.thresholds_ = np.asarray(model.transform_threshold_params(found.params)[1:-1])
        return self
