"""Kernel machines with certificates: least-squares SVMs and SVMs whose rows count by density."""

from .density_lssvc import DensityWeightedLSSVC
from .density_svc import DensityWeightedSVC
from .density_weights import density_weights
from .lssvc import LSSVC
from .lssvc_cv import LSSVCCV
from .lssvr import LSSVR

__all__ = [
    "LSSVC",
    "LSSVCCV",
    "LSSVR",
    "DensityWeightedLSSVC",
    "DensityWeightedSVC",
    "density_weights",
]
