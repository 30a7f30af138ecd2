"""Every target, by its name."""

from . import targets_linear
from .target import Target

TARGETS: dict[str, Target] = {t.name: t for t in targets_linear.TARGETS}
