"""Validation of the parameters of NCFS that do not depend on the data."""

from numbers import Real
from typing import Protocol

import numpy as np

from ..data.validation import boolean, not_negative, one_of, positive_whole
from ._priors_costs import FORMS
from ._scaling import SCALES
from ._task import SOLVERS, SolverParameters

MIN_ROWS = 10  # of a batch
METRICS = ("manhattan", "sqeuclidean", "euclidean", "phi_s")


class NCFSParameters(SolverParameters, Protocol):
    """Parameters that are validated here."""

    sigma: float
    metric: str
    form: str
    scale: str | None
    batch_size: int | None
    warm_start: bool
    verbose: int


def check_parameters(model: NCFSParameters) -> None:
    """Raise an error with the name, the value and what is allowed."""
    if not _above_zero(model.sigma):
        raise ValueError(f"sigma={model.sigma!r}: give a finite number above 0")
    one_of("metric", model.metric, METRICS)
    one_of("form", model.form, FORMS)
    one_of("scale", model.scale, SCALES)
    if model.batch_size is not None and positive_whole("batch_size", model.batch_size) < MIN_ROWS:
        raise ValueError(
            f"batch_size={model.batch_size!r}: give a whole number of at least {MIN_ROWS}, so that "
            "each row has some neighbours to choose from, or None"
        )
    one_of("solver", model.solver, SOLVERS)
    positive_whole("max_iter", model.max_iter)
    if not_negative("tol", model.tol).ndim:
        raise ValueError(f"tol={model.tol!r}: give one number")
    if not (_auto(model.step) or _above_zero(model.step)):
        raise ValueError(f"step={model.step!r}: give a finite number above 0, or 'auto'")
    boolean("warm_start", model.warm_start)
    if not isinstance(model.verbose, bool):
        not_negative("verbose", model.verbose)


def _auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"


def _above_zero(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf
