"""NCFS: weights W = w² ≥ 0 of columns by which the nearest rows agree best."""

from .ascent import yang
from .fit import Fit
from .float32 import in_float64, lbfgs_narrow
from .gains import OfClasses, OfValues, PairLoss
from .lbfgs import lbfgs
from .path import back_from_few, both_ways, grid, one_way, strongest
from .problem import EXPONENTIAL, Problem, Value
from .references import reference_sums

__all__ = [
    "EXPONENTIAL",
    "Fit",
    "OfClasses",
    "OfValues",
    "PairLoss",
    "Problem",
    "Value",
    "back_from_few",
    "both_ways",
    "grid",
    "in_float64",
    "lbfgs",
    "lbfgs_narrow",
    "one_way",
    "reference_sums",
    "strongest",
    "yang",
]
