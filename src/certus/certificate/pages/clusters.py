"""Calls of the pages of k-means and of mixtures."""

from collections.abc import Iterator

from ...audit import Labels
from ...definitions.terms.counts import Bernoulli, Multinomial, Poisson
from ...definitions.terms.covariances import Diagonal, Full, Spherical, Tied
from ...definitions.terms.targets import NoTargets
from ..parameters import Parameters
from .problem import PageCall

SHAPES = {"full": Full(), "tied": Tied(), "diag": Diagonal(), "spherical": Spherical()}
FAMILIES = {"bernoulli": Bernoulli(), "poisson": Poisson(), "multinomial": Multinomial()}


def kmeans(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; labels are passed on if the parameters have them (a tree of splits)."""
    arguments: dict[str, object] = {"mu": p["centers"], "bound": p.get("bound", False)}
    arguments |= {"unit": p["unit"]} if "unit" in p else {}
    witnesses = {"ties": p.get("ties"), "labels": p.get("labels")}
    arguments |= {name: w for name, w in witnesses.items() if w is not None and w.size}
    yield PageCall("kmeans", NoTargets(), arguments)


def mixture(p: Parameters, labels: Labels | None) -> Iterator[PageCall]:
    """Yield one problem; the Gaussian page takes rows with and without NaN."""
    pi, theta, family = p["weights"], p["theta"], p["family"]
    if family in FAMILIES:
        arguments = {"pi": pi, "theta": theta["values"], "family": FAMILIES[family]}
        yield PageCall("count_mixture", NoTargets(), {**arguments, "a": p["epsilon"]})
        return
    arguments = {"pi": pi, "mu": theta["means"], "C": theta["covariances"]}
    arguments |= {"shape": SHAPES[family], "epsilon": p["epsilon"]}
    if p.get("added"):
        arguments["added"] = p["added"]
    if len(p.get("constant", ())):
        arguments["constant"] = p["constant"]
    yield PageCall("gaussian_mixture", NoTargets(), arguments)
