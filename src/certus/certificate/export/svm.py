"""Slots of kernel machines: dual coefficients and kernel.

Where the kernel is not definite there is no gap, and the script claims that the equations hold.
"""

from typing import TYPE_CHECKING

from ...exceptions import CertificateError
from . import linear
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate


def slots(c: "Certificate") -> Slots:
    if callable(c.parameters["kernel"]):
        raise CertificateError(
            "nothing to export: the kernel is a function of yours, which a script cannot hold. "
            "certus.verify recomputes the claim with it"
        )
    if c.bound is not None:
        return linear.slots(c)
    near = "its equations missed by {} of what the intercept alone leaves"
    return linear.slots(c, near, c.residual, "found['residual']", slack=0.0)
