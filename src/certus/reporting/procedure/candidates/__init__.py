"""The candidates of a task: at most eight, the simplest first."""

from ....exceptions import UsageError
from ....text.format import count
from ....text.suggestions import unknown
from ...prepared import Prepared
from ...settings import Settings
from .base import CandidateModel
from .linear import LassoRegression, LogisticCandidate, Ordinal, RidgeRegression, SparseLogistic
from .machines import DensityWeightedMachine, LeastSquaresMachine
from .nearest import KNearest, WeightedNearest

ALL: tuple[CandidateModel, ...] = (
    LogisticCandidate(), Ordinal(), RidgeRegression(), SparseLogistic(), LassoRegression(),
    KNearest(), WeightedNearest(), LeastSquaresMachine(), DensityWeightedMachine(),
)  # fmt: skip
KEYS = tuple(candidate.key for candidate in ALL)
BASELINE_KEY = "baseline"
SYNONYMS = {"softmax": "logistic", "linear": "ridge"}  # other names that people type


def candidates_for(prepared: Prepared, settings: Settings) -> list[CandidateModel]:
    """Candidates of the task, or those that were requested. Raises ``UsageError`` if none suits."""
    suiting = [candidate for candidate in ALL if candidate.suits(prepared)]
    if not settings.models:
        return suiting
    requested = [SYNONYMS.get(key, key) for key in settings.models]
    for key in requested:
        if key not in (*KEYS, BASELINE_KEY):
            raise UsageError(unknown("model", key, KEYS))
    found = [candidate for candidate in suiting if candidate.key in requested]
    if not found:
        fitting = ", ".join(candidate.key for candidate in suiting)
        raise UsageError(f"none of the models suits {prepared.task}: try {fitting}")
    return found


def name_of(candidate: CandidateModel, prepared: Prepared) -> str:
    """The name in this task."""
    if candidate.key == "logistic" and prepared.task != "two classes":
        return "Softmax regression"
    return candidate.name


def note_of_sample(candidate: CandidateModel, n: int) -> str:
    """Which rows a candidate is given, where it is not all of them."""
    if candidate.most_rows is None or n <= candidate.most_rows:
        return ""
    return f"uses a sample of {count(candidate.most_rows, 'row')} of {n:,}"


def samples_told(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """What is said before the work: which models use a sample."""
    return tuple(
        f"{name_of(candidate, prepared)} {note}"
        for candidate in candidates_for(prepared, settings)
        if (note := note_of_sample(candidate, prepared.n))
    )
