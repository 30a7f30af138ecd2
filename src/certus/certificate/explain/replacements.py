"""The certus class that minimises what a model of another library should have."""

OF_STATSMODELS = {
    "OLS": "LinearRegression()", "WLS": "LinearRegression()",
    "GLM(Gaussian)": "LinearRegression()",
    "Logit": "LogisticRegression(C=np.inf)", "GLM(Binomial)": "LogisticRegression(C=np.inf)",
    "Poisson": "PoissonRegressor(alpha=0)", "GLM(Poisson)": "PoissonRegressor(alpha=0)",
}  # fmt: skip


def of_statsmodels(model: str) -> bool:
    return model.startswith("statsmodels.")


def replacement(model: str) -> str:
    """Return the class by its full name, with the parameters of statsmodels' default."""
    if of_statsmodels(model):
        return f"certus.linear_model.{OF_STATSMODELS[model.partition('.')[2]]}"
    return model.replace("sklearn", "certus", 1)
