"""The result of an audit: the verdict, what fits, and every term beside its optimum."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..certificate import Certificate
from ..certificate.decisions.record import Decisions
from ..text.table import ResultTable

if TYPE_CHECKING:
    from ..text.plain import Plain


@dataclass(frozen=True)
class FittingObjective:
    """An objective of the list that the table is an optimum of.

    Attributes
    ----------
    name : str
        As ``objective=`` takes it, such as "glmnet.binomial".
    strengths : dict
        The program's own parameters: the shortest numbers at which the table fits.
    ranges : dict
        The least and the greatest value of each at which it does.
    """

    name: str
    strengths: dict[str, float]
    ranges: dict[str, tuple[float, float]]

    def __str__(self) -> str:
        if not self.strengths:
            return self.name
        given = ", ".join(f"{key}={value:.6g}" for key, value in self.strengths.items())
        return f"{self.name}({given})"


@dataclass(frozen=True)
class AuditedTerm:
    """One row of the table: what was printed, and what the optimum is.

    ``units``: printed − optimum, in units of the last digit printed. Standard errors are None where
    the table has none, or the objective a penalty.
    """

    term: str
    printed: str
    optimum: float
    units: float
    within: bool
    printed_error: str | None = None
    error: float | None = None
    error_agrees: bool | None = None


@dataclass(frozen=True, eq=False)
class CoefficientAudit:
    """Whether a printed table of coefficients is the optimum of an objective, on these rows.

    Attributes
    ----------
    verdict : str
        "optimal to the digits printed"; "optimal, to fewer digits than printed" (the objective is
        within the tolerance of its optimum, and some digits differ); "rounded too far to tell";
        "not optimal"; "no finite optimum" (the classes are separated); "not proven" (the optimum
        that the table agrees with could not be certified).
    holds : bool
        Whether the coefficients are optimal by one of the first two, and the standard errors,
        where the table has some that can be recomputed, are of a known kind.
    fits : tuple of FittingObjective
        Every objective of the list that fits, the likeliest first.
    weak : tuple of FittingObjective
        Penalised objectives that fit because their penalty may be 0.
    mistake : str or None
        What is wrong with the table, where one of the usual mistakes explains it.
    nearest : str or None
        Where nothing fits, the objective that is missed by least, and by how much.
    terms : tuple of AuditedTerm
    cov : str or None
        The kind of standard errors that agrees: "classical", "quasi-likelihood", "HC0" … "HC3".
    digits : int
        Significant digits of the estimates.
    certificate : Certificate or None
        The claim that the printed coefficients are optimal, recomputed for the first of ``fits``.
    optimum_certificate : Certificate or None
        The certificate of the optimum that they are compared with.
    decisions : Decisions or None
        How predictions by the printed coefficients differ from those at the optimum.
    n_omitted : int
        Rows with missing values that were left out (``na="omit"``).
    notes : tuple of str
    """

    verdict: str
    holds: bool
    shape: tuple[int, int]
    digits: int
    fits: tuple[FittingObjective, ...] = ()
    weak: tuple[FittingObjective, ...] = ()
    mistake: str | None = None
    nearest: str | None = None
    terms: tuple[AuditedTerm, ...] = ()
    cov: str | None = None
    certificate: Certificate | None = field(default=None, repr=False)
    optimum_certificate: Certificate | None = field(default=None, repr=False)
    decisions: Decisions | None = None
    n_omitted: int = 0
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> ResultTable:
        """The terms as a table of columns."""
        from .wording import table_of

        return table_of(self)

    def explain(self) -> str:
        """The whole finding as text: verdict, objectives, differences, decisions and proof."""
        from .wording import explain

        return explain(self)

    def __repr__(self) -> str:
        from .wording import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        from .wording import html

        return html(self)

    def to_dict(self) -> "dict[str, Plain]":
        """The audit as plain values; ``docs/schemas/coefficient_audit.json`` is the schema."""
        from .as_dict import as_dict

        return as_dict(self)

    def to_json(self, indent: int | None = None) -> str:
        """``to_dict()`` as strict JSON, in ASCII; ``indent`` as for ``json.dumps``."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)
