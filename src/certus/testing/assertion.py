"""assert_optimal(): a test fails where the claim of a fitted model does not hold.

residual = gap/f₀ ≤ ``gap``, and no attribute or answer of the model contradicts its parameters
"""

from numpy.typing import ArrayLike

from ..certificate import Certificate, verify
from ..certificate.explain.certificate import headline


def assert_optimal(
    model: object,
    X: object,
    y: object = None,
    sample_weight: ArrayLike | None = None,
    *,
    gap: float = 1e-6,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> Certificate:
    """Return the certificate of a fitted model, or raise AssertionError if its claim fails.

    The message is the headline of the certificate: the verdict, how far the model is from the best
    possible, the likely cause and the remedy. A local optimum of clusters, mixtures or feature
    weights passes, since it is all that these models claim.

    Parameters
    ----------
    model, X, y, sample_weight, offset, exposure
        As for ``certus.verify``: a model of certus or scikit-learn, also inside pipelines and
        searches, and the rows and weights that it was fitted on.
    gap : float, default=1e-6
        The largest residual that passes, the ``tol`` of ``certus.verify``: the gap as a share of
        the objective of the intercept alone.

    Returns
    -------
    Certificate

    Raises
    ------
    AssertionError
        If the claim does not hold to ``gap``.
    CannotVerifyError
        If there is nothing to check, such as a model that certus cannot read.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from certus.testing import assert_optimal
    >>> X, y = load_diabetes(return_X_y=True)
    >>> assert_optimal(Ridge().fit(X, y), X, y)
    Certificate(optimal: objective 1,700,059, at most ... above the best possible)
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    if not gap >= 0:
        raise ValueError(f"gap={gap!r}: give a number that is not negative")
    certificate = verify(model, X, y, sample_weight, tol=gap, offset=offset, exposure=exposure)
    if not certificate.certified:
        raise AssertionError(headline(certificate))
    return certificate
