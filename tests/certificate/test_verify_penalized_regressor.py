"""``certus.verify`` on regressions with any loss and penalty of ours."""

import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import certus
from certus.certificate.explain.certificate import not_certified
from certus.exceptions import CannotVerifyError
from tests.certificate.audit_cases import certified, refused
from tests.contract.problems import regression


class PenalizedRegressor(RegressorMixin, BaseEstimator):
    """The attributes of certus.linear_model.PenalizedRegressor, without its solver."""

    __module__ = "certus.linear_model.penalized_regressor"

    def __init__(self, loss=None, penalty=None, fit_intercept=True):
        self.loss, self.penalty, self.fit_intercept = loss, penalty, fit_intercept

    def fit(self, X, y, w, b):
        self.loss_, self.penalty_ = self.loss, self.penalty
        self.coef_, self.intercept_, self.n_features_in_ = w, b, X.shape[1]
        return self


def named(kind, **attributes):
    """An object as those of certus.losses and certus.penalties are read: name and attributes."""
    thing = type(kind, (), {"name": kind})()
    vars(thing).update(attributes)
    return thing


OURS = {
    "l1": named("l1", l1=9.0, l2=0.0, positive=False),
    "l2": named("l2", l1=0.0, l2=4.0),
    "elastic_net": named("elastic_net", l1=9.0, l2=4.0, positive=True),
    "nonnegative": named("nonnegative"),
    "group_l2": named("group_l2", strength=6.0, groups=[np.array([0, 1]), np.array([2, 3])]),
    "mcp": named("mcp", strength=12.0, gamma=3.0),
    "scad": named("scad", strength=12.0, gamma=3.7),
    "box": named("box", low=-np.inf, high=1.0),
    "simplex": named("simplex", total=1.0),
}
LOSSES = {"squared": named("squared"), "huber": named("huber", delta=1.0)}


def solved(X, y, loss, name):
    """w and b by plain proximal steps."""
    penalty, n = OURS[name], len(y)
    step = 1 / np.linalg.norm(np.column_stack([X, np.ones(n)]), 2) ** 2
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(20_000):
        r = y - X @ w - b
        a = r if loss == "squared" else np.clip(r, -1.0, 1.0)
        w, b = shrunk(name, penalty, w + step * X.T @ a, step), b + step * a.sum()
    return w, b


def shrunk(name, penalty, u, step):
    size = np.abs(u)
    if name in ("l1", "l2", "elastic_net"):
        u = np.maximum(u, 0) if vars(penalty).get("positive") else u
        return np.sign(u) * np.maximum(np.abs(u) - step * penalty.l1, 0) / (1 + step * penalty.l2)
    if name == "nonnegative":
        return np.maximum(u, 0)
    if name == "box":
        return np.clip(u, penalty.low, penalty.high)
    if name == "simplex":
        down = np.sort(u)[::-1]
        level = (np.cumsum(down) - penalty.total) / np.arange(1, len(u) + 1)
        return np.maximum(u - level[down > level][-1], 0)
    if name == "group_l2":
        norm = np.repeat([np.linalg.norm(u[:2]), np.linalg.norm(u[2:])], 2)
        return u * np.maximum(1 - step * penalty.strength * np.sqrt(2) / norm, 0)
    lam, g = penalty.strength, penalty.gamma
    soft = np.maximum(size - step * lam, 0)
    if name == "mcp":
        return np.sign(u) * np.where(size <= g * lam, soft / (1 - step / g), size)
    middle = ((g - 1) * size - step * g * lam) / (g - 1 - step)
    new = np.where(size <= lam * (1 + step), soft, np.where(size <= g * lam, middle, size))
    return np.sign(u) * new


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", OURS)
def test_any_loss_and_penalty_of_ours_is_read_by_its_name(name, loss, tmp_path):
    X, y, _ = regression(11)
    w, b = solved(X, y, loss, name)
    model = PenalizedRegressor(LOSSES[loss], OURS[name]).fit(X, y, w, b)
    c = certified(model, X, y)
    concave = name in ("mcp", "scad")
    assert c.kind == ("stationary" if concave else "global")
    assert c.status == ("stationary" if concave else "optimal")
    c.export(tmp_path / "check.py")
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    ran = subprocess.run(
        [sys.executable, "-I", "check.py", "X.npy", "y.npy"], cwd=tmp_path, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    edited = PenalizedRegressor(LOSSES[loss], OURS[name]).fit(X, y, w * 1.01, b)
    d = refused(edited, X, y)
    if concave:
        assert d.status == "not stationary"
        texts = [c.explain(), repr(c), c.note(), d.explain(), repr(d), d.note(), c._repr_html_()]
        texts.append(not_certified(d))
        texts.append(not_certified(d, 7))
        for text in texts:
            text = text.replace("nothing is known of a global optimum", "")
            assert not re.search("certified|optim|best", text, re.IGNORECASE), text
        claim = "no small change of the coefficients lowers the objective"
        for text in (c.explain(), repr(c), c.note()):
            assert "a stationary point" in text
            assert claim in text
            assert "nothing is known of a global optimum" in text


def test_a_loss_or_penalty_of_ones_own_is_refused():
    X, y, _ = regression(11)
    for loss, penalty, message in (
        (named("mine"), OURS["l1"], "the loss"),
        (LOSSES["squared"], named("mine"), "the penalty"),
    ):
        model = PenalizedRegressor(loss, penalty).fit(X, y, np.zeros(4), 0.0)
        with pytest.raises(CannotVerifyError, match=f"{message}.*is your own"):
            certus.verify(model, X, y)
