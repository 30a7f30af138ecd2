"""Rows that lie where two pieces of their loss meet, in L1-penalised fits."""

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.losses import SquaredHinge
from certus.penalties import L1
from certus.solvers.lasso.coordinate_descent import _one_sided_curvature
from certus.solvers.problem import Problem

from .trials import fitted, trial


@pytest.mark.filterwarnings("ignore")
def test_rows_on_a_kink_do_not_hold_every_step_back() -> None:
    """Rows on the kink counted as straight, every step was a thousandth of the model's, and each
    class took a thousand steps of twenty Newton steps each."""
    model, certificate = fitted(trial(2003938, "PenalizedClassifier, three classes", "hilbert"))
    assert np.max(model.n_iter_) <= 100
    assert certificate.status == "optimal"


def test_curvature_on_a_kink_is_that_of_the_curved_side() -> None:
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0])[:, None]
    problem = Problem(Rows(np.zeros((5, 1)), y, None, threads=1), SquaredHinge(), L1(1.0))
    z = np.array([1.0, 1.1, 0.9, -1.0, -1.1])[:, None]  # the kink is at yz = 1
    found = _one_sided_curvature(problem, z)
    assert (found > 0).ravel().tolist() == [True, False, True, True, False]
