"""What ``certus.staleness`` returns: numbers, and a verdict."""

import json
from dataclasses import dataclass, fields

from ..certificate import Certificate
from ..text.plain import Plain, plain
from . import words

FRESH = "no sign of drift"
STALE = "the model is stale"
UNDECIDED = "undecided: the rows of the old fit are not known"
TOO_FEW = "too few rows"


@dataclass(frozen=True, eq=False)
class RefitGain:
    """What a refit gains on some new rows.

    Attributes
    ----------
    name : str or None
        The period; None for all rows.
    n : int
        Rows with a weight above 0.
    loss, loss_of_refit : float
        The mean loss of the old model and of the refit on these rows, without the penalty.
    gain : float
        By what share the refit lowers the loss.
    chance, chance_high : float
        The share that chance alone gives: its mean, and what it exceeds with probability ``level``.
    pvalue : float
        The probability of such a gain where nothing has changed.
    statistic : float or None
        Twice the gain of the log-likelihood over 1 + n/n_old, or F; None for a bootstrap.
    n_parameters : int or None
        Parameters that the refit estimates; None for a bootstrap.
    stale_above : float or None
        Where the rows of the old fit are not known: were they more than this, chance is ruled out.
    verdict : str
        "no sign of drift", "the model is stale", "undecided: …" or "too few rows".
    reason : str
        Why there is no refit, with the verdict "too few rows".
    certificate : Certificate or None
        That of the refit. All numbers are None without one.
    """

    name: str | None
    n: int
    loss: float
    verdict: str
    loss_of_refit: float | None = None
    gain: float | None = None
    chance: float | None = None
    chance_high: float | None = None
    pvalue: float | None = None
    statistic: float | None = None
    n_parameters: int | None = None
    stale_above: float | None = None
    reason: str = ""
    certificate: Certificate | None = None

    def to_dict(self) -> "dict[str, Plain]":
        """All fields as plain values; the certificate as ``Certificate.to_dict`` gives it."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "certificate"}
        values["certificate"] = None if self.certificate is None else self.certificate.to_dict()
        return {name: plain(value) for name, value in values.items()}


@dataclass(frozen=True, eq=False, repr=False)
class StalenessResult:
    """Whether a model is out of date, by its loss on new rows beside that of a certified refit.

    Made by ``certus.staleness``; ``print(result.explain())`` shows all of it in words.

    Attributes
    ----------
    model : str
        The class of the old model.
    loss_name : str
        What ``loss`` is.
    method : str
        "chi-squared", "F" or "bootstrap": where the gain by chance comes from.
    n_old : int or None
        Rows that the old model was fitted on.
    level : float
        The probability of a false alarm.
    n_columns : int
    all_rows : RefitGain
        The gain on all new rows.
    periods : tuple of RefitGain
        The same for each value of ``by``, in ascending order.
    notes : tuple of str
    """

    model: str
    loss_name: str
    method: str
    n_old: int | None
    level: float
    n_columns: int
    all_rows: RefitGain
    periods: tuple[RefitGain, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict on all rows, or on the periods if one of them alone is stale."""
        if self.stale_periods and self.all_rows.verdict != STALE:
            return STALE
        return self.all_rows.verdict

    @property
    def stale(self) -> bool:
        """Whether the model is stale, on all rows or in a period."""
        return self.verdict == STALE

    @property
    def stale_periods(self) -> tuple[str, ...]:
        """Names of the stale periods."""
        return tuple(str(p.name) for p in self.periods if p.verdict == STALE)

    @property
    def gain(self) -> float | None:
        """By what share a refit lowers the loss of all rows."""
        return self.all_rows.gain

    @property
    def chance(self) -> float | None:
        """What share chance alone gives, on average."""
        return self.all_rows.chance

    @property
    def pvalue(self) -> float | None:
        """The probability of such a gain on all rows where nothing has changed."""
        return self.all_rows.pvalue

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the refit on all rows."""
        return self.all_rows.certificate

    def __repr__(self) -> str:
        return words.one_line(self)

    def explain(self) -> str:
        """The whole finding as text."""
        return words.explain(self)

    def to_dict(self) -> "dict[str, Plain]":
        """The result as plain values, which ``json.dumps`` accepts with ``allow_nan=False``."""
        values: dict[str, object] = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ("all_rows", "periods")
        }
        values |= {"verdict": self.verdict, "stale": self.stale}
        values["all_rows"] = self.all_rows.to_dict()
        values["periods"] = [period.to_dict() for period in self.periods]
        values["explanation"] = self.explain()
        return {name: plain(value) for name, value in values.items()}

    def to_json(self, indent: int | None = None) -> str:
        """``to_dict()`` as strict JSON; ``indent`` as for ``json.dumps``."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def _repr_html_(self) -> str:
        return words.html(self)
