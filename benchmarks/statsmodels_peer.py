"""What a user of statsmodels would write, behind scikit-learn's interface."""

import statsmodels.api as sm


class HC3Inference:
    """OLS on [1 X] with HC3 standard errors and p-values."""

    def fit(self, X, y):
        found = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC3", use_t=True)
        self.standard_errors_, self.pvalues_ = found.bse, found.pvalues
        return self
