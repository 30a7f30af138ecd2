"""Support vector machines with certificates: linear, least-squares, and weighted by density."""

from .density_lssvc import DensityWeightedLSSVC
from .density_svc import DensityWeightedSVC
from .linear_svc import LinearSVC
from .lssvc import LSSVC
from .lssvc_cv import LSSVCCV
from .lssvr import LSSVR
from .row_weights import density_weights

__all__ = [
    "LSSVC",
    "LSSVCCV",
    "LSSVR",
    "DensityWeightedLSSVC",
    "DensityWeightedSVC",
    "LinearSVC",
    "density_weights",
]
