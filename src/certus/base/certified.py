"""The base class of every estimator whose ``fit`` ends in a certificate.

fit ─► attributes ─► certify(self, rows) ─► _conclude ─► certificate_, at most one warning
"""

from collections.abc import Callable, Sequence

from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import estimator_html_repr

from ..certificate import Certificate
from ..certificate.explain.certificate import not_certified
from ..certificate.explain.separation import separation_warning
from ..exceptions import DegenerateWarning, NotCertifiedWarning, SeparationWarning
from ..runtime.progress import FitMonitor
from ..runtime.user_frame import warn_user
from .collections import accept_collections
from .diagram import DiagramBlock, holds_estimators


class CertifiedEstimator(CallbackSupportMixin, BaseEstimator):
    """An estimator whose ``fit`` is @monitored and sets ``certificate_``.

    It sets the certificate, labels it with what the monitor saw (the trace, and whether the fit was
    stopped), warns where the certificate does not hold, and shows it beside the estimator in HTML.
    """

    certificate_: Certificate
    _monitor: FitMonitor  # during fit

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        accept_collections(cls)

    def _forget(self, *names: str) -> None:
        """Drop attributes of an earlier fit that this one may not set."""
        for name in names:
            self.__dict__.pop(name, None)

    def _conclude(
        self, certificate: Certificate, stopped_at: int | None = None, reason: str = ""
    ) -> None:
        """Set ``certificate_``, and warn where it does not hold: ``_warn_of_certificate``."""
        self._set_certificate(certificate)
        self._warn_of_certificate(stopped_at, reason)

    def _set_certificate(self, certificate: Certificate) -> None:
        """Set ``certificate_``, labelled with the trace and with how the fit ended."""
        self.certificate_ = self._monitor.label(certificate)

    def _warn_of_certificate(
        self,
        stopped_at: int | None = None,
        reason: str = "",
        *,
        remarks: Sequence[str] = (),
        claimed: bool = True,
    ) -> None:
        """Warn at most once: of an optimum that does not exist or is not proven, else of remarks.

        Parameters
        ----------
        stopped_at : int or None
            The limit of iterations that ended the fit, if one did.
        reason : str
            The solver's own words on why it stopped.
        remarks : sequence of str
            Sentences on degenerate data or results; a warning of their own where the certificate
            holds.
        claimed : bool
            False: the fit claims no optimum, so that none is missed.
        """
        certificate = self.certificate_
        if certificate.status == "no finite optimum":
            warn_user(separation_warning(certificate), SeparationWarning)
        elif claimed and not certificate.certified:
            why = [f"{reason}."] if reason else []
            text = " ".join([not_certified(certificate, stopped_at), *why, *remarks])
            warn_user(text, NotCertifiedWarning)
        elif remarks:
            warn_user(" ".join(remarks), DegenerateWarning)

    @property
    def _sk_visual_block_(self) -> Callable[[], DiagramBlock]:
        """What scikit-learn's diagrams show, once there is a certificate; absent before."""
        certificate = vars(self).get("certificate_")
        if certificate is None or holds_estimators(self):
            raise AttributeError("_sk_visual_block_")
        return lambda: DiagramBlock(self, certificate)

    def _html_repr(self) -> str:
        shown: str = estimator_html_repr(self)
        certificate = vars(self).get("certificate_")
        return shown if certificate is None else shown + certificate._repr_html_()
