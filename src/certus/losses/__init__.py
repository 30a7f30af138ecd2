"""Losses ℓ(y, z) of a row's target y and its score z = xᵀw + b."""

from .base import Loss
from .gamma import Gamma
from .huber import Huber
from .logistic import Logistic
from .poisson import Poisson
from .softmax import Softmax
from .squared import Squared
from .squared_hinge import SquaredHinge

__all__ = [
    "Gamma",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Softmax",
    "Squared",
    "SquaredHinge",
]
