"""Context of a solver call: BLAS threads are limited, and non-finite input is refused."""

from types import TracebackType

from sklearn.base import is_regressor

from ..data.finite import require_finite
from ..data.rows import Rows
from ..data.target_squares import require_squares_of_table
from ..runtime.pool import blas_limiter
from ..solvers.linalg.gram import NonFiniteError


class SolverContext:
    """Limit BLAS to the threads that suit the rows while a solver runs.

    If the solver meets a value that is not finite, raise an error that names its row and column.
    """

    def __init__(self, model: object, rows: Rows):
        self.model, self.rows = model, rows
        self.limit = blas_limiter.for_work(rows.shape)

    def __enter__(self) -> None:
        self.limit.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.limit.__exit__(kind, error, traceback)
        if isinstance(error, NonFiniteError):
            require_finite(self.rows.X, vars(self.model).get("feature_names_in_"))
            if self.rows.streamed and is_regressor(self.model):
                require_squares_of_table(self.rows, whole=True)
