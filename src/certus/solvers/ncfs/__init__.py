"""Solvers for NCFS: feature weights W = w² ≥ 0 for which nearby rows agree best."""

from .ascent import yang
from .batched import (
    GAIN_ROWS,
    BatchedProblem,
    BatchTerms,
    ClassTargets,
    ValueTargets,
    left_out_votes,
)
from .fit import NCFSFit
from .float32 import lbfgs_float32, with_X
from .gains import ClassGains, PairLoss, ValueGains
from .lbfgs_solver import lbfgs
from .objective import NCFSObjective
from .path import alpha_grid, ascending_path, descending_path, largest_alpha, two_way_path
from .problem import COLUMNS_PER_EXPONENTIAL, NCFSEvaluation, NCFSProblem
from .references import reference_sums

__all__ = [
    "COLUMNS_PER_EXPONENTIAL",
    "GAIN_ROWS",
    "BatchTerms",
    "BatchedProblem",
    "ClassGains",
    "ClassTargets",
    "NCFSEvaluation",
    "NCFSFit",
    "NCFSObjective",
    "NCFSProblem",
    "PairLoss",
    "ValueGains",
    "ValueTargets",
    "alpha_grid",
    "ascending_path",
    "descending_path",
    "largest_alpha",
    "lbfgs",
    "lbfgs_float32",
    "left_out_votes",
    "reference_sums",
    "two_way_path",
    "with_X",
    "yang",
]
