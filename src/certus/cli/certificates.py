"""A certificate as a command prints it."""

from typing import TYPE_CHECKING

from . import output
from .exit_codes import CLAIM_FAILS, OK

if TYPE_CHECKING:
    from ..certificate import Certificate


def exit_code(certificate: "Certificate") -> int:
    """0 where the claim holds, 1 where it does not."""
    return OK if certificate.certified else CLAIM_FAILS


def show(certificate: "Certificate") -> None:
    """Print the whole finding in words."""
    output.explained(certificate.explain())
