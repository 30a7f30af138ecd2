"""C-SVC by an interior-point method, and the machine that falls back to it."""

import _thread
import threading

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import certus
from certus.exceptions import NotCertifiedWarning
from certus.metrics import CalibratedClassifier
from certus.runtime.pool import interruptible
from certus.solvers.hinge.svc_interior import interior_point
from certus.svm import DensityWeightedSVC, _libsvm
from tests.contract.problems import weights
from tests.hinge.test_svc_polish import gap
from tests.lssvm.svm_cases import blobs


@pytest.mark.parametrize("C", [0.1, 3.0, 1e4])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e2])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_gap_is_closed_at_any_scale(kernel, scale, C):
    X, k = blobs(1, n=80, shift=0.7)
    y, upper = np.where(k == 1, 1.0, -1.0), C * (weights(1, 80) + 0.1)
    K = scale**2 * (X @ X.T if kernel == "linear" else rbf_kernel(X, gamma=0.5))
    beta, b = interior_point(K, y, upper)
    result, P = gap(K, y, upper, beta, b)
    assert abs(result) <= max(1e-6 * P, 1e-8 * upper.sum())
    assert abs(beta.sum()) <= 1e-6 * np.abs(beta).sum()
    assert ((beta * y >= 0) & (beta * y <= upper)).all()


def test_a_kernel_with_negative_eigenvalues_is_refused():
    K = np.array([[1.0, -3.0], [-3.0, 1.0]]).repeat(2, axis=0).repeat(2, axis=1)
    assert interior_point(K, np.array([1.0, 1.0, -1.0, -1.0]), np.full(4, 100.0)) is None


def scaled(seed, scale, n=300, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] + 0.7 * rng.normal(size=n) > 0.5).astype(int)
    return scale * X, y


@pytest.mark.parametrize("scale", [1e2, 1e3, 1e4])
def test_columns_of_large_scale_are_fitted_and_certified(scale):
    """libsvm alone did not end at 1e4: its steps grow with C·K."""
    X, y = scaled(0, scale)
    model = DensityWeightedSVC(kernel="linear").fit(X, y)
    assert model.certificate_.certified
    assert (model.n_iter_ <= 50_000).all()
    assert model.score(X, y) > 0.7


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("scale", [1e5, 1e6, 1e8])
def test_where_floats_cannot_hold_the_scores_the_fit_ends_and_claims_nothing_false(scale):
    X, y = scaled(1, scale, n=120, p=3)
    model = DensityWeightedSVC(kernel="linear").fit(X, y)
    assert (model.n_iter_ <= 500_000).all(), "the steps are bounded"
    assert model.certificate_.certified == certus.verify(model, X, y).certified


def test_a_persons_max_iter_still_ends_it():
    X, y = scaled(2, 1e4)
    with pytest.warns(NotCertifiedWarning, match="DensityWeightedSVC"):
        model = DensityWeightedSVC(kernel="linear", max_iter=50).fit(X, y)
    assert model.n_iter_.max() == 50


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_ctrl_c_after_the_first_run_keeps_its_machine(monkeypatch):
    X, y = scaled(3, 1e4)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_libsvm, "interior_point", interrupted)
    model = DensityWeightedSVC(kernel="linear")
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert "the best one so far was kept" in caught.value.__notes__[0]
    assert model.certificate_.status == "stopped"
    assert model.predict(X).shape == y.shape


def test_ctrl_c_does_not_wait_for_a_call_of_compiled_code():
    begun, end, ended = threading.Event(), threading.Event(), threading.Event()

    def long():
        begun.set()
        end.wait(120)
        ended.set()

    def press():
        begun.wait(60)
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(long)
    assert not ended.is_set(), "the call goes on, and nobody waits for it"
    end.set()


def test_a_call_that_listens_gives_the_answer_the_error_and_the_context_of_the_caller():
    assert interruptible(divmod, 7, 3) == (2, 1)
    with pytest.raises(ZeroDivisionError):
        interruptible(divmod, 7, 0)
    with certus.config_context(threads=3), np.errstate(divide="raise"):
        assert interruptible(certus.get_config) == {"threads": 3}
        assert interruptible(np.geterr)["divide"] == "raise"


def test_margins_are_no_probabilities_and_the_remedy_is_named():
    model = DensityWeightedSVC()
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"CalibratedClassifier\(DensityWeightedSVC\(…\)\)"):
        model.predict_proba(np.zeros((2, 2)))
    X = np.random.default_rng(0).normal(size=(80, 2))
    P = CalibratedClassifier(model).fit(X, X[:, 0] > 0.2).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
