"""Support vector machines with certificates: linear, least-squares, and weighted by density."""

from .density_lssvc import DensityWeightedLSSVC
from .density_svc import DensityWeightedSVC
from .density_weights import density_weights
from .linear_svc import LinearSVC
from .lssvc import LSSVC
from .lssvc_cv import LSSVCCV
from .lssvr import LSSVR

__all__ = [
    "LSSVC",
    "LSSVCCV",
    "LSSVR",
    "DensityWeightedLSSVC",
    "DensityWeightedSVC",
    "LinearSVC",
    "density_weights",
]
