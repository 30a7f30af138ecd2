"""References as arguments of ``certus.audit_coefficients``, and what it must find in them."""

from pathlib import Path
from typing import Any

import certus
from tests.references.coefficient_cases import INTERCEPTS, Reference

FAMILIES = {"binomial": "logistic", "poisson": "poisson"}


def expected(case: Reference) -> tuple[str, dict[str, float]]:
    """Return the name of the objective, and the strengths that the program was given."""
    s = case.settings
    match s["preset"]:
        case "lm":
            return "least_squares", {}
        case "glm":
            return FAMILIES[s["family"]], {}
        case "glmnet":
            metric = "" if s["standardize"] else ".unstandardized"
            return f"glmnet.{s['family']}{metric}", _some(s, "lambda", "alpha")
        case "spark":
            solver = (
                ".l-bfgs" if (s["model"], s["solver"]) == ("LinearRegression", "l-bfgs") else ""
            )
            metric = "" if s["standardization"] else ".unstandardized"
            return f"spark.{s['model']}{solver}{metric}", _some(s, "regParam", "elasticNetParam")
        case "scikit-learn" if s["model"] == "liblinear":
            return f"liblinear.{s['penalty']}", _some(s, "C")
        case "scikit-learn":
            return f"sklearn.{s['model']}", _some(s, "alpha", "l1_ratio", "C")
    model = s["model"]
    if "alpha" not in s:
        plain = {"OLS": "least_squares", "WLS": "least_squares", "Logit": "logistic"}
        return plain.get(model) or FAMILIES[s["family"]], {}
    family = f".{s['family']}" if "family" in s else ""
    free = isinstance(s["alpha"], list)
    alpha = s["alpha"][-1] if free else s["alpha"]
    name = f"statsmodels.{model}{family}{'.free_const' if free else ''}"
    return name, {"alpha": alpha} | _some(s, "L1_wt")


def _some(settings: dict[str, Any], *names: str) -> dict[str, float]:
    return {name: settings[name] for name in names if name in settings}


def audited(case: Reference, table: Any, **changed: Any) -> Any:
    """Audit a table on the rows of a reference; None takes an argument away."""
    X = {name: values for name, values in case.data.items() if name != case.target}
    given: dict[str, Any] = {"positive_class": case.positive, "sample_weight": case.weights}
    given["offset"] = None if case.offset is None else case.shift
    return certus.audit_coefficients(table, X, case.data[case.target], **(given | changed))


def printed(case: Reference, folder: Path) -> Path:
    """Return the file that the program wrote."""
    path = folder / "table.csv"
    path.write_text(case.table, encoding="utf-8")
    return path


def rounded(table: dict[str, float], digits: int = 4) -> dict[str, str]:
    return {term: f"{value:.{digits}g}" for term, value in table.items()}


def slopes(case: Reference) -> list[str]:
    """Return the terms with coefficients other than 0, but for the intercept."""
    return [term for term, value in case.full.items() if value and term not in INTERCEPTS]
