"""The script of a certificate of a kernel machine: dual coefficients, kernel, and the definition.

Where the kernel is not definite there is no gap, and the script claims that the equations hold.
"""

from typing import TYPE_CHECKING

from ._export import HEAD, MAIN, _targets, assembled, require_certified
from .exceptions import CertificateError

if TYPE_CHECKING:
    from .certificate import Certificate

DEFINITIONS = tuple(f"certus.definitions.{name}" for name in ("lssvm", "lssvm_primal", "svc"))


def script(c: "Certificate", name: str = "check.py") -> str:
    require_certified(c)
    if callable(c.parameters["kernel"]):
        raise CertificateError(
            "nothing to export: the kernel is a function of yours, which a script cannot hold. "
            "certus.verify recomputes the claim with it"
        )
    gap, near, found = c.gap, "at most {} above the best possible", "{found['gap']:.3g}"
    if c.bound is None:
        gap, near = c.residual, "its equations missed by {} of what the intercept alone leaves"
        found = "{found['residual']:.3g}"
    values = {
        "model": c.model, "formula": c.formula, "objective": c.objective, "gap": gap,
        "slack": 0.0 if c.bound is None else gap, "shape": c.shape, "tol": c.tol, "name": name,
        "block": 1024, "claim": near.format(repr(gap)), "what": near.format(found),
        **_targets(c.labels),
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "the model's parameters")
