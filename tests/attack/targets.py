"""Every target, by its name."""

from . import targets_clusters, targets_kernels, targets_linear, targets_others
from .target import Target

TARGETS: dict[str, Target] = {
    t.name: t
    for part in (targets_linear, targets_clusters, targets_kernels, targets_others)
    for t in part.TARGETS
}
