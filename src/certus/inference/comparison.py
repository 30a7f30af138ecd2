r"""Tests of nested models: are the additional coefficients of the larger one all 0?

likelihood ratio:  2(log L − log L₀) is a chi² of r − r₀ degrees of freedom
least squares:     F = ((RSS₀ − RSS)/(r − r₀)) / (RSS/ν) is an F of r − r₀ and ν

r₀ < r: the numbers of coefficients that the rows determine, of the smaller and the larger model.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc

from ..exceptions import InferenceError
from ..text.cells import Precision
from ..text.format import listed
from ..text.table import ResultTable
from .base import Estimated


@dataclass(frozen=True)
class NestedComparison:
    """Test of a model against a larger one in which it is nested.

    Attributes
    ----------
    statistic, pvalue : float
        Of the chi² or F.
    degrees_of_freedom : float
        The number of additional coefficients.
    residual_degrees_of_freedom : float or None
        Of the larger model, for F.
    added : tuple of str
        Columns that the larger model has in addition.
    """

    statistic: float
    degrees_of_freedom: float
    residual_degrees_of_freedom: float | None
    pvalue: float
    added: tuple[str, ...]
    models: tuple[str, str]
    parameters: tuple[float, float]
    fits: tuple[float, float]  # log-likelihood, or residual sum of squares

    @property
    def _shown_error(self) -> float:
        """Error by which the fits are rounded, so that their difference has three digits."""
        difference = abs(self.fits[0] - self.fits[1])
        is_f = self.residual_degrees_of_freedom is not None
        return difference if is_f else min(difference, 1.0)

    @property
    def table(self) -> ResultTable:
        """Table of the two models and the test."""
        is_f = self.residual_degrees_of_freedom is not None
        value = "residual sum of squares" if is_f else "log-likelihood"
        columns: dict[str, Any] = {
            "model": list(self.models),
            "coefficients": [int(r) if float(r).is_integer() else r for r in self.parameters],
            value: list(self.fits),
            "F" if is_f else "LR chi²": [np.nan, self.statistic],
            "df": ["–", f"{self.degrees_of_freedom:g}"],
            "p": [np.nan, self.pvalue],
        }
        what = "F test" if is_f else "Likelihood-ratio test"
        notes = [f"added: {listed([repr(name) for name in self.added])}"] if self.added else []
        if is_f:
            notes.append(f"residual degrees of freedom {self.residual_degrees_of_freedom:g}")
        return ResultTable(
            columns,
            title=f"{what} of nested models",
            notes=notes,
            pvalues=("p",),
            statistics=("F", "LR chi²"),
            precision=[Precision((value,), np.full(2, self._shown_error))],
        )

    def __repr__(self) -> str:
        return str(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def compare(small: Estimated, large: Estimated) -> NestedComparison:
    """Test whether the additional columns of the larger of two nested models have coefficients 0.

    Parameters
    ----------
    small, large : results of ``inference``
        Of the same kind of model without a penalty, on the same rows; every column of ``small`` is
        a column of ``large``.

    Returns
    -------
    NestedComparison
        By F for least squares, else by the likelihood ratio.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from certus.inference import compare
    >>> from certus.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> few, more = X[["bmi", "bp"]], X[["bmi", "bp", "s1", "s2"]]
    >>> small, large = (LinearRegression().fit(x, y).inference(x, y) for x in (few, more))
    >>> compare(small, large)
    F test of nested models
    model           coefficients  residual sum of squares     F  df      p
    bmi, bp                    3                1,583,105     –   –      –
    and 's1', 's2'             5                1,571,135  1.66   2  0.190
    added: 's1', 's2'
    residual degrees of freedom 437
    """
    for one in (small, large):
        _refuse_without_likelihood(one)
    if type(small) is not type(large):
        raise InferenceError(
            f"models of different kinds are not nested: {type(small).__name__} and "
            f"{type(large).__name__}"
        )
    fewer, more = small._n_parameters, large._n_parameters
    added = _added_columns(small, large)
    if more <= fewer:
        raise InferenceError(
            f"the larger model has {more:g} coefficients and the smaller one {fewer:g}: there is "
            "nothing to test" + (". Give the smaller one first" if more < fewer else "")
        )
    statistic, nu = large._compared_with(small, more - fewer)
    p = chdtrc(more - fewer, statistic) if nu is None else fdtrc(more - fewer, nu, statistic)
    features = small._feature_names
    return NestedComparison(
        statistic=statistic,
        degrees_of_freedom=more - fewer,
        residual_degrees_of_freedom=nu,
        pvalue=float(p),
        added=added,
        models=(listed(features) or "intercept", f"and {listed([repr(a) for a in added])}"),
        parameters=(fewer, more),
        fits=(small._fit_value, large._fit_value),
    )


def _refuse_without_likelihood(one: Estimated) -> None:
    if not isinstance(one, Estimated):
        raise TypeError(
            f"compare takes two results of inference(X, y), not {type(one).__name__}: call "
            "model.inference(X, y) on both models"
        )
    one._refuse_penalized("a comparison of nested models")
    if one.cov != "classical":
        raise InferenceError(
            f"the test of nested models assumes that the model is right, which cov={one.cov!r} "
            "does not: use cov='classical' for it"
        )


def _added_columns(small: Estimated, large: Estimated) -> tuple[str, ...]:
    """Return the names of the columns that the larger model adds; refuse models not nested."""
    a, b = small.design, large.design
    if a is None or b is None:
        raise InferenceError("the columns of these fits are not known: call inference(X, y) again")
    difference = a.difference_of_rows(b) or large._difference_of_targets(small)
    if difference is not None:
        raise InferenceError(f"the models are not nested: {difference}")
    names = small._feature_names
    lost = [
        repr(name) for name, column in zip(names, a.columns, strict=True) if column not in b.columns
    ]
    if lost:
        raise InferenceError(
            f"the models are not nested: the larger one has no column {listed(lost)} (or with "
            "other values), so it cannot describe all that the smaller one does"
        )
    if small.fit_intercept and not large.fit_intercept:
        raise InferenceError("the models are not nested: the larger one has no intercept")
    pairs = zip(large._feature_names, b.columns, strict=True)
    added = [name for name, column in pairs if column not in a.columns]
    return ("intercept",) * (large.fit_intercept and not small.fit_intercept) + tuple(added)
