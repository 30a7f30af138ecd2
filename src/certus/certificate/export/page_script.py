"""A certificate as a script: the page of its model, the parameters, and a loader.

The script needs NumPy and the user's data, nothing of certus.
"""

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import CertificateError
from ...text.files import write_whole
from ..registry import claim_of
from .page_template import Script, assembled

if TYPE_CHECKING:
    from ..certificate import Certificate


def script(c: "Certificate", name: str = "check.py") -> Script:
    """The script of a certificate; ``name`` is that of its file."""
    claim = claim_of(c)
    problems = list(claim.page(c.parameters, c.labels))
    if not problems:
        raise CertificateError(f"nothing to export: {c._finding.unproven or 'there is no page'}")
    return assembled(c, problems, _claimed(c), name)


def export(c: "Certificate", path: str | PathLike[str]) -> None:
    """Write the script, and a file of arrays beside it if they are long."""
    path = Path(path)
    made = script(c, path.name)
    if made.literals.arrays:
        arrays = io.BytesIO()
        np.savez_compressed(arrays, allow_pickle=False, **made.literals.arrays)
        write_whole(path.with_suffix(".npz"), arrays.getvalue())
    write_whole(path, made.text)


def _claimed(c: "Certificate") -> str:
    """Lines of a docstring: names of columns in them may hold anything."""
    words = claim_of(c).wording
    lines = f"{words.verb(c).capitalize()}: {c.formula}\nClaimed:   {c.status}, {words.claim(c)}"
    return lines.replace("\\", "/").replace('"', "'")
