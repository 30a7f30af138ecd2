"""A certificate as a script: the definition's own source, the parameters, and a loader.

The script needs NumPy and the user's arrays, nothing of certus. That of a classifier reads labels
(numbers or text) and knows the classes.
"""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ...exceptions import CertificateError
from ...text.files import write_whole
from ..registry import claim_of
from .template import assembled

if TYPE_CHECKING:
    from ..certificate import Certificate


def script(c: "Certificate", name: str = "check.py") -> str:
    """The text of the script; ``name``: of its file."""
    if not c.certified:
        raise CertificateError(f"nothing to export: the model is {c.status}")
    return assembled(c, claim_of(c).slots(c), name)


def export(c: "Certificate", path: str | PathLike[str]) -> None:
    """Write the script, whole or not at all."""
    write_whole(path, script(c, Path(path).name))
