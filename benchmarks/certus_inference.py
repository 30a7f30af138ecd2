"""certus's least squares with its inference, as one fit."""

from certus.linear_model import LinearRegression


class HC3Inference:
    """Coefficients, HC3 standard errors and p-values; the certificate is in it."""

    def fit(self, X, y):
        found = LinearRegression().fit(X, y).inference(X, y, cov="HC3")
        self.standard_errors_, self.pvalues_ = found.standard_errors, found.pvalues
        return self
