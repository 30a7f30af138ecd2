"""The result of ``choose_n_clusters``."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..text.box import box, preformatted
from ..text.format import count, number, printable
from ..text.table import WIDTH, ResultTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..plotting import NClustersDisplay


METHODS = ("silhouette", "gap", "stability", "bic")
DEFAULT_METHODS = METHODS


class Curve(NamedTuple):
    """A score for each k, for which larger is better, with its interval and values of noise."""

    values: np.ndarray
    low: np.ndarray  # interval; NaN if there is none
    high: np.ndarray
    noise: np.ndarray | None  # (B, m)


@dataclass(frozen=True, eq=False, repr=False)
class NClustersResult:
    """How well k clusters describe the data, for every k that was tried, by several methods.

    Returned by ``certus.cluster.choose_n_clusters``. *Noise* means samples of a uniform
    distribution over the box of the data along their principal axes, clustered in the same way; for
    BIC, samples of one Gaussian with the covariance of the data.

    Attributes
    ----------
    n_clusters : int or None
        The answer of most methods; None: no separated groups were found.
    verdict : str
        The same in words, with the answers of the methods.
    n_clusters_by_method : dict of str to int or None
        The k of each method; 1: no structure; None: no answer.
    reasons : dict of str to str
        The reason of each method.
    ks : (m,) array of int
        The numbers of clusters, ascending.
    objective : (m,) array
        W_k = Σ s_i ‖x_i − m_i‖², m_i the mean of row i's cluster.
    silhouette : (m,) array
        Mean silhouette; NaN for k = 1.
    silhouette_interval : (m, 2) array
        For other rows of the same source and these clusters; normal, from the spread over rows.
    gap, gap_error : (m,) arrays
        Gap(k) and s_k.
    stability : (m,) array
        Mean adjusted Rand index of the clusters that two halves of the rows find; 1: always the
        same, 0: as by chance. NaN for k = 1, and if halves hold too few distinct rows.
    stability_interval : (m, 2) array
        For the mean over more splits of the same rows; Student's t.
    bic : (m,) array
        −2L + m log n of k Gaussians, the least over covariance types. NaN if every mixture has a
        collapsed component or as many parameters as there are rows.
    bic_gain : (m,) array
        ``bic_one_group`` − BIC: above 0, k Gaussians describe the data better than one group.
    bic_shape : (m,) array of str
        ``covariance_type`` of the mixtures; "" if there is no BIC.
    bic_overlap : (m,) array
        The expected share of rows that the most probable component of k is wrong about.
    one_group : str
        The density of one group with the least BIC: "Gaussian", or uniform in a box, an ellipsoid
        or the convex hull of the rows.
    bic_one_group : float
        Its BIC.
    noise : dict of str to array
        "silhouette", "stability" and "objective" (B, m) of the B samples of noise, and "bic_gain"
        (B,), the largest gains in samples of one Gaussian.
    methods : tuple of str
    confidence : float
        Confidence level of the intervals.
    n : int
        Number of rows that were clustered.
    notes : tuple of str
        Remarks, for example on rows or k that were left out.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.cluster import choose_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> choice = choose_n_clusters(X, range(1, 6), n_references=5, n_resamples=5, random_state=0)
    >>> choice
    NClustersResult(3 clusters: silhouette, gap, stability and bic agree)
    >>> choice.n_clusters, choice.at(3)["objective"] < choice.at(2)["objective"]
    (3, True)
    """

    n_clusters: int | None
    verdict: str
    n_clusters_by_method: dict[str, int | None]
    reasons: dict[str, str]
    ks: np.ndarray
    objective: np.ndarray
    silhouette: np.ndarray
    silhouette_interval: np.ndarray
    gap: np.ndarray
    gap_error: np.ndarray
    stability: np.ndarray
    stability_interval: np.ndarray
    bic: np.ndarray
    bic_gain: np.ndarray
    bic_shape: np.ndarray
    bic_overlap: np.ndarray
    one_group: str
    bic_one_group: float
    noise: dict[str, np.ndarray]
    methods: tuple[str, ...]
    confidence: float
    n: int
    notes: tuple[str, ...]

    def at(self, k: int) -> dict[str, float]:
        """Return all scores of k clusters."""
        index = np.flatnonzero(self.ks == k)
        if not len(index):
            tried = ", ".join(map(str, self.ks))
            raise KeyError(f"k = {k} was not tried: {tried} were")
        t = index[0]
        return {name: float(values[t]) for name, values in self._columns().items()}

    def curve(self, method: str) -> Curve:
        """Return the score of a method for each k, with its interval and values of noise."""
        if method == "gap":
            return Curve(self.gap, self.gap - self.gap_error, self.gap + self.gap_error, None)
        if method == "bic":
            unknown = np.full(len(self.ks), np.nan)
            return Curve(self.bic_gain, unknown, unknown, None)
        low, high = getattr(self, f"{method}_interval").T
        return Curve(getattr(self, method), low, high, self.noise[method])

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {"objective": self.objective}
        for name in self.methods:
            columns[name] = getattr(self, name)
            if name == "gap":
                columns["gap_error"] = self.gap_error
                continue
            if name == "bic":
                columns |= {"bic_gain": self.bic_gain, "bic_overlap": self.bic_overlap}
                continue
            low, high = getattr(self, f"{name}_interval").T
            mean = _mean_of(self.noise[name])
            columns |= {f"{name}_low": low, f"{name}_high": high, f"{name}_noise": mean}
        return columns

    def table(self) -> ResultTable:
        """Return a table with all scores, one row for each k (``to_polars`` converts it)."""
        return ResultTable({"k": self.ks, **self._columns()}, title=self._title(), notes=self.notes)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each k."""
        return self.table().to_pandas()

    def plot(self, ax: "Axes | Sequence[Axes] | np.ndarray | None" = None) -> "NClustersDisplay":
        """Plot each method against k, and return a ``certus.plotting.NClustersDisplay``."""
        from ..plotting import NClustersDisplay

        return NClustersDisplay(self).plot(ax)

    def explain(self) -> str:
        """Return the verdict, the answer of each method with its reason, and a table of all k."""
        head = f"[{'--' if self.n_clusters is None else 'OK'}] {_capital(self.verdict)}."
        lines = wrap(head, WIDTH, subsequent_indent="     ")
        for name in self.methods:
            k = self.n_clusters_by_method[name]
            none = "one group" if name == "bic" else "no structure"
            answer = "–" if k is None else none if k == 1 else f"k = {k}"
            lines += _paragraph(HEADINGS[name], f"{answer}: {self.reasons[name]}")
        lines += ["", str(self._summary()), ""]
        for note in self.notes:
            lines += _paragraph("Note", note)
        lines += _paragraph("Noise", NOISE_TEXT)
        addition = COMPONENTS_TEXT if "bic" in self.methods else ""
        lines += _paragraph("Does not say", DOES_NOT_SAY_TEXT + addition)
        return printable("\n".join(lines))

    def _summary(self) -> ResultTable:
        """Return a table for the terminal: values with half their intervals, each k marked."""
        columns: dict[str, Any] = {"k": self.ks, "objective": self.objective}
        if len(self.methods) == len(METHODS):
            del columns["objective"]  # no room
        for name in self.methods:
            curve = self.curve(name)
            noise = np.full(len(self.ks), np.nan)
            if curve.noise is not None:
                noise = _mean_of(curve.noise)
            with np.errstate(invalid="ignore"):  # an infinite gap has no interval
                half = (curve.high - curve.low) / 2
            chosen = self.ks == (self.n_clusters_by_method[name] or -1)
            digits = 0 if name == "bic" else 2
            columns[SUMMARY_NAMES[name]] = [
                _cell(*row, digits) for row in zip(curve.values, half, noise, chosen, strict=True)
            ]
        percent = f"{number(100 * self.confidence)} %"
        legend = f"± half a {percent} interval (gap: one error)"
        if "bic" in self.methods:
            legend += "; bic: BIC(one group) − BIC(k)"
        return ResultTable(columns, title=f"{self._title()}, {legend}; * the method's own k")

    def _title(self) -> str:
        return f"Clusters of {count(self.n, 'row')}"

    def __repr__(self) -> str:
        return printable(f"NClustersResult({self.verdict})")

    __str__ = __repr__

    def _repr_html_(self) -> str:
        icon = "◐" if self.n_clusters is None else "✔"
        head, _, rest = self.verdict.partition(": ")
        return box("number of clusters", icon, _capital(head), rest, preformatted(self.explain()))


NOISE_TEXT = (
    "uniform samples in the box of the data along their principal axes, clustered in the same way: "
    "what data without clusters give. BIC is compared with that of one group, and with what "
    "mixtures gain in samples of one Gaussian."
)
DOES_NOT_SAY_TEXT = (
    "that clusters are of another kind than compact groups around means, that there are no smaller "
    "groups inside, or that they mean something."
)
COMPONENTS_TEXT = " Components of BIC are Gaussian: a cluster that is skewed has several."
SUMMARY_NAMES = {
    "silhouette": "silhouette (noise)", "gap": "gap", "stability": "stability (noise)",
    "bic": "bic",
}  # fmt: skip
HEADINGS = {"silhouette": "Silhouette", "gap": "Gap", "stability": "Stability", "bic": "BIC"}


def _mean_of(noise: np.ndarray) -> np.ndarray:
    """Return the mean over samples of noise, NaN without any."""
    return np.asarray(noise.mean(axis=0)) if len(noise) else np.full(noise.shape[1], np.nan)


def _cell(value: float, half: float, noise: float, mark: bool, digits: int) -> str:
    if np.isnan(value):
        return "–  "
    text = f"{value:,.{digits}f}" if np.isfinite(value) else number(value)
    text += f" ± {half:.2f}" if np.isfinite(half) else ""
    return f"{text}{'' if np.isnan(noise) else f' ({noise:.2f})'} {'*' if mark else ' '}"


def _paragraph(name: str, text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=f"{name:<15}", subsequent_indent=" " * 15)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
