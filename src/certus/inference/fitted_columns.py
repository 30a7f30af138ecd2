"""The columns, targets and weights of a fit, as hashes by which nested models are recognised."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FittedColumns:
    """Hashes of at most 1,024 rows, spread over all: as many for any number of columns."""

    n_rows: int
    targets: str
    weights: str  # "" without weights
    columns: tuple[str, ...]

    def difference_of_rows(self, other: "FittedColumns") -> str | None:
        """Describe how the rows of another fit differ; None where they do not."""
        if self.n_rows != other.n_rows:
            return f"one was fitted on {self.n_rows:,} rows, the other on {other.n_rows:,}"
        if self.targets != other.targets:
            return "their y differs (or its rows are in another order)"
        if self.weights != other.weights:
            return "their sample_weight differs"
        return None
