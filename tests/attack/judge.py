"""Judges of certificates, by the definition that a certificate names."""

from typing import Any

from . import judge_linear
from .linear_problems import READERS, Rows
from .verdict import Fault, NotJudged

JUDGES: dict[str, Any] = {}


def judge(certificate: Any, model: Any, rows: Rows) -> list[Fault]:
    """The claims of a certificate that are false on these rows, in high precision."""
    name = certificate.definition.rpartition(".")[2]
    if name in READERS:
        return judge_linear.judge(certificate, rows)
    if name not in JUDGES:
        raise NotJudged(name or certificate.status)
    found: list[Fault] = JUDGES[name](certificate, model, rows)
    return found
