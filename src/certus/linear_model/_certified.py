"""What every linear estimator shares: the certificate of a fit, and how it is shown."""

import warnings
from typing import Any

from sklearn.utils import estimator_html_repr

from .._explain import not_certified
from .._explain_classes import separation_warning
from .._explain_linear import repeated_columns
from .._watching import CALLER, Watching
from ..certificate import Certificate, certify
from ..exceptions import AliasWarning, NotCertifiedWarning, SeparationWarning
from ..rows import Rows
from ..solvers.linear_problem import Solution
from ..solvers.loop import Fit


class Certified:
    """An estimator whose ``fit`` is @watched and sets ``certificate_``."""

    _watching: Watching  # during fit

    def _forget(self, *names: str) -> None:
        """Drop what an earlier fit set and this one may not."""
        for name in names:
            self.__dict__.pop(name, None)

    def _certify(self, rows: Rows, stopped_at: int | None = None) -> None:
        """Set certificate_ from the definition, and warn where it does not hold."""
        self._conclude(certify(self, rows), stopped_at, CALLER)

    def _conclude(
        self, found: Certificate, stopped_at: int | None, stacklevel: int, said: str = ""
    ) -> None:
        """``said``: the solver's own words on why it stopped."""
        self.certificate_ = certificate = self._watching.label(found)
        if certificate.status == "no finite optimum":
            warning = separation_warning(certificate)
            warnings.warn(warning, SeparationWarning, stacklevel=stacklevel + 1)
        elif not certificate.certified:
            warning = not_certified(certificate, stopped_at) + (f" {said}." if said else "")
            warnings.warn(warning, NotCertifiedWarning, stacklevel=stacklevel + 1)

    def _warn_of_aliases(self, solution: Solution | Fit, n: int, stacklevel: int = CALLER) -> None:
        if solution.aliases is not None:
            names = vars(self).get("feature_names_in_")
            warnings.warn(
                repeated_columns(solution.aliases, names, n, len(solution.w)),
                AliasWarning,
                stacklevel=stacklevel,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _html_repr(self) -> str:
        shown: str = estimator_html_repr(self)
        certificate = vars(self).get("certificate_")
        return shown if certificate is None else shown + certificate._repr_html_()
