"""Judges of certificates, by the definition that a certificate names."""

from typing import Any

from . import diana as judge_diana
from . import firth as judge_firth
from . import kernel as judge_kernel
from . import kmeans as judge_kmeans
from . import linear as judge_linear
from . import linkage as judge_linkage
from . import mixture as judge_mixture
from . import ncfs as judge_ncfs
from . import neighbors as judge_neighbors
from . import regression as judge_regression
from . import spanning_tree as judge_spanning_tree
from .linear_problems import READERS, Rows
from .verdict import Fault, NotJudged

JUDGES: dict[str, Any] = {
    **dict.fromkeys(READERS, judge_linear.judge),
    "penalized": judge_regression.judge,
    "diana": judge_diana.judge,
    "firth": judge_firth.judge,
    "kmeans": judge_kmeans.judge,
    "linkage": judge_linkage.judge,
    "lssvm": judge_kernel.judge,
    "primal": judge_kernel.judge,
    "svc": judge_kernel.judge,
    "mixture": judge_mixture.judge,
    "ncfs": judge_ncfs.judge,
    "spanning_tree": judge_spanning_tree.judge,
    "neighbors": judge_neighbors.judge,
}


def judge(certificate: Any, model: Any, rows: Rows) -> list[Fault]:
    """The claims of a certificate that are false on these rows, in high precision."""
    name = certificate.definition.rpartition(".")[2]
    if name not in JUDGES:
        raise NotJudged(name or certificate.status)
    found: list[Fault] = JUDGES[name](certificate, model, rows)
    return found
