"""The registry of claims: proof, typed finding, wording, page and comparison of answers.

A new model adds its row to ``CLAIMS``; nothing else needs to know of it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..audit import Labels, Reading
from ..data.rows import Rows
from . import check_results as results
from .answers import clusters as cluster_answers
from .answers import kept_rows as answers_from_rows
from .answers import linear as linear_answers
from .answers.common import Result
from .explain.classes import (
    ClassWording,
    HingeWording,
    LogisticWording,
    LogLinkWording,
    OrdinalWording,
)
from .explain.clusters import ClusterWording
from .explain.exact import UndefinedAnswers
from .explain.firth import FirthWording
from .explain.linear import SquaresWording
from .explain.linkage import DivisiveWording, SpanningTreeWording, TreeWording
from .explain.mixture import MixtureWording
from .explain.ncfs import SelectionWording
from .explain.neighbors import NeighborWording
from .explain.optimum import UndefinedWording
from .explain.penalized import PenalizedWording
from .explain.svm import HingeKernelWording, KernelWording
from .explain.wording import Wording
from .findings import PageFinding
from .pages import classes as class_pages
from .pages import clusters as cluster_pages
from .pages import machines as machine_pages
from .pages import neighbors as neighbor_pages
from .pages import regression as regression_pages
from .pages.logistic import logistic
from .pages.problem import PageCall
from .pages.wording import PageWording
from .parameters import Parameters

if TYPE_CHECKING:
    from .certificate import Certificate

Answers = Callable[[object, Rows, Reading], Result]
Pages = Callable[[Parameters, Labels | None], Iterable[PageCall]]


def _no_page(_p: Parameters, _labels: Labels | None) -> list[PageCall]:
    return []


@dataclass(frozen=True)
class ClaimKind:
    """A kind of claim; ``name`` is the ``definition`` of a reading (``audit/``)."""

    name: str
    proof: str  # the module whose ``check`` recomputes it
    finding: results.Make  # makes the typed finding from the result of ``check``
    wording: Wording
    page: Pages  # makes the calls of its page; none where a part of the model has no page
    answers: Answers | None = None  # compares a model's answers; None: the claim is about them
    factors: bool = False  # factors matrices in one call, during which Ctrl-C must still work
    keeps_rows: bool = False  # models of other libraries keep their rows too
    maximized: bool = False  # a larger objective is better


def _rows() -> list[ClaimKind]:
    def regression(
        name: str, family: str, wording: Wording, finding: results.Make, page: Pages
    ) -> ClaimKind:
        return ClaimKind(
            name, f"certus.proofs.{family}.{name}", finding, wording, page,
            linear_answers.linear, factors=name != "huber_regression",
        )  # fmt: skip

    def classifier(
        name: str, wording: Wording, page: Pages, answers: Answers = linear_answers.linear,
        family: str = "glm",
    ) -> ClaimKind:  # fmt: skip
        return ClaimKind(
            name, f"certus.proofs.{family}.{name}", results.classes, wording, page, answers,
            factors=family == "glm",
        )  # fmt: skip

    def kernel_machine(name: str, page: Pages, module: str = "") -> ClaimKind:
        return ClaimKind(
            name, f"certus.proofs.lssvm.{module or name}", results.kernel_machine, KernelWording(),
            page, answers_from_rows.kernel,
        )  # fmt: skip

    def tree(name: str, wording: TreeWording, page: Pages) -> ClaimKind:
        proof = f"certus.proofs.linkage.{name}"
        return ClaimKind(name, proof, results.tree, wording, page, cluster_answers.tree_of_clusters)

    return [
        regression("least_squares", "least_squares", SquaresWording(), results.squares,
                   regression_pages.least_squares),
        regression("penalized", "lasso", PenalizedWording(), results.penalized,
                   regression_pages.penalized),
        regression("huber_regression", "lasso", PenalizedWording(), results.penalized,
                   regression_pages.huber_regression),
        ClaimKind("log_link", "certus.proofs.glm.log_link", results.counts, LogLinkWording(),
              regression_pages.log_link, linear_answers.log_link, factors=True),
        classifier("logistic", LogisticWording(), logistic, linear_answers.logistic),
        classifier("softmax", ClassWording(), class_pages.softmax, linear_answers.softmax),
        classifier("ordinal", OrdinalWording(), class_pages.ordinal, linear_answers.ordinal),
        classifier("huber", ClassWording(), class_pages.huber),
        classifier("squared_hinge", HingeWording("squared_hinge"), class_pages.squared_hinge),
        classifier("hinge", HingeWording("hinge"), class_pages.hinge, family="hinge"),
        ClaimKind("firth", "certus.proofs.glm.firth", results.firth, FirthWording(),
              class_pages.firth, linear_answers.logistic, factors=True),
        kernel_machine("lssvm", machine_pages.lssvm),
        kernel_machine("lssvm_primal", machine_pages.lssvm_primal, module="primal"),
        ClaimKind("svc", "certus.proofs.hinge.svc", results.kernel_machine, HingeKernelWording(),
              machine_pages.svc, answers_from_rows.svc),
        ClaimKind("neighbors", "certus.proofs.neighbors.neighbors", results.neighbors,
              NeighborWording(), neighbor_pages.neighbors, keeps_rows=True),
        tree("linkage", TreeWording(), neighbor_pages.linkage),
        tree("diana", DivisiveWording(), neighbor_pages.diana),
        ClaimKind("spanning_tree", "certus.proofs.linkage.spanning_tree", results.spanning_tree,
              SpanningTreeWording(), neighbor_pages.spanning_tree),
        ClaimKind("kmeans", "certus.proofs.kmeans.kmeans", results.clusters, ClusterWording(),
              cluster_pages.kmeans, cluster_answers.kmeans),
        ClaimKind("mixture", "certus.proofs.mixture.mixture", results.mixture, MixtureWording(),
              cluster_pages.mixture, cluster_answers.mixture, maximized=True),
        ClaimKind("ncfs", "certus.proofs.ncfs.ncfs", results.ncfs, SelectionWording(),
              neighbor_pages.ncfs, answers_from_rows.ncfs, maximized=True),
    ]  # fmt: skip


CLAIMS = {claim.name: claim for claim in _rows()}
_BY_PROOF = {claim.proof: claim for claim in CLAIMS.values()}


def _undefined(wording: Wording) -> ClaimKind:
    """The claim of a model without a definition."""
    return ClaimKind("", "", results.squares, wording, _no_page)


_UNDEFINED = {"exact": _undefined(UndefinedAnswers()), "stationary": _undefined(UndefinedWording())}


def is_maximized(definition: str) -> bool:
    """Return whether a larger objective is better for the claims of this proof."""
    return definition in _BY_PROOF and _BY_PROOF[definition].maximized


def claim_of(certificate: "Certificate") -> ClaimKind:
    """The claim that a certificate was made for."""
    if not certificate.definition:
        return _UNDEFINED[certificate.kind]
    finding = certificate._finding
    if isinstance(finding, PageFinding):
        claim = CLAIMS[finding.claim_name]
        return replace(claim, wording=PageWording(claim.wording))
    return _BY_PROOF[certificate.definition]
