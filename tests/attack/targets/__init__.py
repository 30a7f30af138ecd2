"""Every target, by its name."""

from . import clusters as targets_clusters
from . import kernels as targets_kernels
from . import linear as targets_linear
from . import others as targets_others
from .target import Target

TARGETS: dict[str, Target] = {
    t.name: t
    for part in (targets_linear, targets_clusters, targets_kernels, targets_others)
    for t in part.TARGETS
}
