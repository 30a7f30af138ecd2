"""One row for each kind of claim: which proof recomputes it, what it finds, in which words it is
told, how it is written as a script, and how the answers of a model are compared with it.

A new model adds its row to ``CLAIMS`` and nothing else.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ..audit import Labels, Reading
from ..data.rows import Rows
from ..exceptions import CertificateError
from . import check_results as results
from .answers import clusters as cluster_answers
from .answers import kept_rows as answers_from_rows
from .answers import linear as linear_answers
from .answers.common import Result
from .explain.classes import ClassWording, HingeWording, LogisticWording, OrdinalWording
from .explain.clusters import ClusterWording
from .explain.exact import UndefinedAnswers
from .explain.firth import FirthWording
from .explain.linear import SquaresWording
from .explain.linkage import DivisiveWording, TreeWording
from .explain.mixture import MixtureWording
from .explain.ncfs import SelectionWording
from .explain.neighbors import NeighborWording
from .explain.optimum import UndefinedWording
from .explain.penalized import PenalizedWording
from .explain.svm import HingeKernelWording, KernelWording
from .explain.wording import Wording
from .export import clusters as clusters_script
from .export import linear as linear_script
from .export import linkage as linkage_script
from .export import mixture as mixture_script
from .export import ncfs as ncfs_script
from .export import neighbors as neighbors_script
from .export import svm as svm_script
from .export.template import Slots
from .findings import PageFinding
from .pages import classes as class_pages
from .pages import clusters as cluster_pages
from .pages import machines as machine_pages
from .pages import neighbors as neighbor_pages
from .pages import regression as regression_pages
from .pages.logistic import logistic
from .pages.problem import Problem
from .pages.wording import PageWording
from .parameters import Parameters

if TYPE_CHECKING:
    from .certificate import Certificate

Script = Callable[["Certificate"], Slots]
Answers = Callable[[object, Rows, Reading], Result]
Pages = Callable[[Parameters, Labels | None], Iterable[Problem]]


def _no_page(_p: Parameters, _labels: Labels | None) -> list[Problem]:
    return []


@dataclass(frozen=True)
class Claim:
    """A kind of claim, known by the name that readers (``audit/``) give it."""

    name: str
    proof: str  # the module whose ``check`` recomputes it
    finding: results.Make  # from what ``check`` returns
    wording: Wording
    slots: Script
    answers: Answers | None = None  # None: the claim is about answers in the first place
    factors: bool = False  # matrices in one call, which Ctrl-C should not have to wait for
    keeps_rows: bool = False  # a model of another library, too, is verified on its own rows
    maximised: bool = False  # a larger objective is the better one
    page: Pages = _no_page  # how its page is called; nothing where no page knows the model


def _rows() -> list[Claim]:
    def regression(name: str, family: str, wording: Wording, finding: results.Make) -> Claim:
        slots = linear_script.penalized if finding is results.penalized else linear_script.slots
        return Claim(
            name, f"certus.proofs.{family}.{name}", finding, wording, slots,
            linear_answers.linear, factors=name != "huber_regression",
        )  # fmt: skip

    def classifier(
        name: str, wording: Wording, answers: Answers = linear_answers.linear, family: str = "glm"
    ) -> Claim:
        return Claim(
            name, f"certus.proofs.{family}.{name}", results.classes, wording,
            linear_script.classifier, answers, factors=family == "glm",
        )  # fmt: skip

    def kernel_machine(name: str, family: str, module: str = "") -> Claim:
        proof = f"certus.proofs.{family}.{module or name}"
        return Claim(
            name, proof, results.kernel_machine, KernelWording(), svm_script.slots,
            answers_from_rows.kernel,
        )  # fmt: skip

    def tree(name: str, wording: TreeWording) -> Claim:
        proof, slots = f"certus.proofs.linkage.{name}", partial(linkage_script.slots, words=wording)
        return Claim(name, proof, results.tree, wording, slots, cluster_answers.tree_of_clusters)

    return [
        regression("least_squares", "least_squares", SquaresWording(), results.squares),
        regression("penalized", "lasso", PenalizedWording(), results.penalized),
        regression("huber_regression", "lasso", PenalizedWording(), results.penalized),
        classifier("logistic", LogisticWording(), linear_answers.logistic),
        classifier("softmax", ClassWording(), linear_answers.softmax),
        classifier("ordinal", OrdinalWording(), linear_answers.ordinal),
        classifier("huber", ClassWording()),
        classifier("squared_hinge", HingeWording("squared_hinge")),
        classifier("hinge", HingeWording("hinge"), family="hinge"),
        Claim("firth", "certus.proofs.glm.firth", results.firth, FirthWording(),
              linear_script.firth, linear_answers.logistic, factors=True),
        kernel_machine("lssvm", "lssvm"),
        kernel_machine("lssvm_primal", "lssvm", module="primal"),
        Claim("svc", "certus.proofs.hinge.svc", results.kernel_machine, HingeKernelWording(),
              svm_script.slots, answers_from_rows.svc),
        Claim("neighbors", "certus.proofs.neighbors.neighbors", results.neighbors,
              NeighborWording(), neighbors_script.slots, keeps_rows=True),
        tree("linkage", TreeWording()),
        tree("diana", DivisiveWording()),
        Claim("kmeans", "certus.proofs.kmeans.kmeans", results.clusters, ClusterWording(),
              clusters_script.slots, cluster_answers.kmeans),
        Claim("mixture", "certus.proofs.mixture.mixture", results.mixture, MixtureWording(),
              mixture_script.slots, cluster_answers.mixture, maximised=True),
        Claim("ncfs", "certus.proofs.ncfs.ncfs", results.ncfs, SelectionWording(),
              ncfs_script.slots, answers_from_rows.ncfs, maximised=True),
    ]  # fmt: skip


_PAGES: dict[str, Pages] = {
    "least_squares": regression_pages.least_squares, "penalized": regression_pages.penalized,
    "huber_regression": regression_pages.huber_regression, "logistic": logistic,
    "softmax": class_pages.softmax, "ordinal": class_pages.ordinal, "huber": class_pages.huber,
    "squared_hinge": class_pages.squared_hinge, "hinge": class_pages.hinge,
    "firth": class_pages.firth, "lssvm": machine_pages.lssvm,
    "lssvm_primal": machine_pages.lssvm_primal, "svc": machine_pages.svc,
    "neighbors": neighbor_pages.neighbors, "linkage": neighbor_pages.linkage,
    "diana": neighbor_pages.diana, "kmeans": cluster_pages.kmeans,
    "mixture": cluster_pages.mixture, "ncfs": neighbor_pages.ncfs,
}  # fmt: skip
CLAIMS = {claim.name: replace(claim, page=_PAGES[claim.name]) for claim in _rows()}
_BY_PROOF = {claim.proof: claim for claim in CLAIMS.values()}


def _no_script(c: "Certificate") -> Slots:
    raise CertificateError("nothing to export: no definition knows the model")


def _undefined(wording: Wording) -> Claim:
    """The claim of a model that no definition knows."""
    return Claim("", "", results.squares, wording, _no_script)


_UNDEFINED = {"exact": _undefined(UndefinedAnswers()), "stationary": _undefined(UndefinedWording())}


def claim_of(certificate: "Certificate") -> Claim:
    """The claim that a certificate was made for."""
    if not certificate.definition:
        return _UNDEFINED[certificate.kind]
    finding = certificate._finding
    if isinstance(finding, PageFinding):
        return replace(CLAIMS[finding.claim_name], wording=PageWording())
    return _BY_PROOF[certificate.definition]
