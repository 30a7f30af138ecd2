"""Whether a model is out of date: its loss on new rows beside that of a certified refit."""

from .measure import staleness
from .result import RefitGain, StalenessResult

__all__ = ["RefitGain", "StalenessResult", "staleness"]
