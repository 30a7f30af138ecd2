"""Normal components: k means μ_k and covariances C_k of one of four shapes.

    log N(x; μ, C) = −½ (p log 2π + log|C| + (x − μ)ᵀC⁻¹(x − μ))

    full: C_k any      tied: C_k = C      diag: C_k = diag(v_k)      spherical: C_k = v_k I

With weights w_ik of rows, n_k = Σ_i w_ik and S_k = Σ_i w_ik (x_i − μ_k)(x_i − μ_k)ᵀ, the likelihood
Σ w_ik log N(x_i; μ_k, C_k) is largest at the mean of the rows and at C_k = S_k/n_k (tied:
ΣS_k/Σn_k; diag: its diagonal; spherical: the mean of that).

The prior gives each C (tied: the one C) ε rows that vary as the data do, d the columns' variances:

    log prior = −½ (ε log|C| + tr(ΨC⁻¹)),   Ψ = ε diag(d),   so that   C_k = (S_k + Ψ)/(n_k + ε)

It is an inverse Wishart density (inverse gamma of diag and spherical) up to a constant. Where there
are no rows its mode is diag(d), and a change of units changes nothing.

x − μ_k is a difference to the component's own mean, and so are all moments: an origin far away
costs no digits. Rows with NaN are in ``missing_entries.py``.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.missing_entries import Normal, expected_moments, observed_log_density

LOG_2PI = 1.8378770664093453
NEGLIGIBLE = 1e-30  # weight of a row in a component: it changes no digit of a sum
LONG_WAY = 1e3  # standard deviations; a mean that moves farther gets its moments anew


class Moments(NamedTuple):
    """Of rows with weights w_ik, about a point of each component."""

    n: Any  # Σ w             (k,)
    a: Any  # Σ w (x − c)     (k, p)
    B: Any  # Σ w (x − c)(x − c)ᵀ in the shape of the covariances


class Prior(NamedTuple):
    """ε rows with variances d; or ``added`` to the diagonal, which is no prior."""

    epsilon: float
    d: Any
    added: float = 0.0
    kind: Any = float  # what means are kept in


def whiten(C: Any) -> tuple[np.ndarray, float]:
    """(W, log|C|) with W C Wᵀ = I; LinAlgError if C is not positive definite.

    Powers of two make the diagonal about 1, which rounds nothing.
    """
    v = np.diagonal(C)
    if not (v > 0).all() or not np.isfinite(C).all():
        raise np.linalg.LinAlgError("not positive definite")
    q = np.exp2(-np.round(0.5 * np.log2(v)))
    L = np.linalg.cholesky(C * q * q[:, None])
    W = np.linalg.solve(L, np.diag(q))
    return np.tril(W), float(2 * np.log(np.diagonal(L)).sum() - 2 * np.log(q).sum())


class Normals:
    """k normal components of one shape, of the columns ``kept`` of the rows."""

    sums = Moments
    error = 0.0  # nats a unit of weight that are lost where not all columns are worked with

    def __init__(self, shape: str, means: Any, covariances: Any, kept: Any = slice(None)):
        self.shape, self.kept = shape, kept
        self.means = np.array(means, dtype=float)
        self.covariances = np.array(covariances, dtype=float)
        self.k, self.p = self.means.shape
        self.W, self.log_det = self._whitening()

    def _whitening(self) -> tuple[Any, np.ndarray]:
        C, k = self.covariances, self.k
        if self.shape in ("full", "tied"):
            each = []
            for i, one in enumerate([C] if self.shape == "tied" else C):
                try:
                    each.append(whiten(one))
                except np.linalg.LinAlgError:
                    which = "" if self.shape == "tied" else f" of component {i}"
                    raise ValueError(f"covariances_{which} is not positive definite") from None
            times = k if self.shape == "tied" else 1
            return [W for W, _ in each] * times, np.array([v for _, v in each] * times)
        if not ((C > 0) & np.isfinite(C)).all():
            i = int(np.argwhere(~((C > 0) & np.isfinite(C)))[0][0])
            raise ValueError(f"covariances_ of component {i} is not positive definite")
        log_det = np.log(C) * self.p if C.ndim == 1 else np.log(C).sum(axis=1)
        return 1 / np.sqrt(C), log_det

    # --- rows -------------------------------------------------------------------------------------

    def log_densities(self, X: Any) -> np.ndarray:
        """log N(x_i; μ_k, C_k), (k, rows)."""
        X = X[:, self.kept]
        out = np.empty((self.k, len(X)))
        whole, others = complete(X)
        complete_rows = X[whole]
        for k in range(self.k):
            Z = self._whitened(complete_rows - self.means[k], k)
            out[k, whole] = np.einsum("ij,ij->i", Z, Z) + self.log_det[k] + self.p * LOG_2PI
            if len(others):
                out[k, others] = -2 * observed_log_density(X[others], self.normal(k))
        out *= -0.5
        return out

    def _whitened(self, D: Any, k: int) -> Any:
        if self.shape in ("full", "tied"):
            return np.dot(D, self.W[k].T)
        D *= self.W[k]
        return D

    def moments(self, X: Any, w: Any, about: Any = None) -> Moments:
        """Of rows with weights w (k, rows); what is missing is expected, given the rest."""
        X = X[:, self.kept]
        about = self.means if about is None else about
        a, B = np.zeros(self.means.shape), np.zeros(self.covariances.shape)
        whole, others = complete(X)
        complete_rows = X[whole]
        for k in range(self.k):
            v = w[k, whole]
            some = np.flatnonzero(v > NEGLIGIBLE)
            few = 2 * len(some) < len(v)
            D = complete_rows[some] - about[k] if few else complete_rows - about[k]
            v = v[some] if few else v
            a[k] = np.dot(v, D)
            self._add(B, k, D, v)
            if len(others):
                D, extra = expected_moments(X[others], w[k, others], self.normal(k))
                D += self.means[k] - about[k]
                a[k] += np.dot(w[k, others], D)
                self._add(B, k, D, w[k, others])
                self._put(B, k, extra)
        return Moments(w.sum(axis=1), a, B)

    def _add(self, B: Any, k: int, D: Any, v: Any) -> None:
        """B_k += Σ v (x − c)(x − c)ᵀ, or what the shape keeps of it."""
        if self.shape in ("full", "tied"):
            E = D * np.sqrt(v)[:, None]
            self._put(B, k, np.dot(E.T, E))  # symmetric: half of the products
        elif self.shape == "diag":
            B[k] += np.dot(v, D * D)
        else:
            B[k] += np.dot(v, np.einsum("ij,ij->i", D, D))

    def _put(self, B: Any, k: int, M: Any) -> None:
        """B_k += M, or what the shape keeps of it."""
        if self.shape == "tied":
            B += M
        else:
            B[k] += {"full": M, "diag": np.diagonal(M), "spherical": np.trace(M)}[self.shape]

    def normal(self, k: int) -> Normal:
        return Normal(self.means[k], self.matrix(k))

    def matrix(self, k: int) -> np.ndarray:
        """C_k as a matrix."""
        C: Any = self.covariances if self.shape == "tied" else self.covariances[k]
        return C if np.ndim(C) == 2 else C * np.eye(self.p)

    # --- the maximiser ----------------------------------------------------------------------------

    def maximised(self, sums: Moments, prior: Prior, again: Any = None) -> "Normals":
        """The components that these rows and the prior make likeliest.

        Means are rounded to what they are kept in; without rows they stay. ``again(about)``: the
        moments about other points, for means that go a long way.
        """
        way, about, n = sums.a / _positive(sums.n)[:, None], self.means, sums.n
        means = np.asarray((about + way).astype(prior.kind).astype(float))
        if again is not None and self._longest(means - about) > LONG_WAY:
            sums, about = again(means), means
        S = sums.B.copy()
        for k in range(self.k):  # from moments about a point to those about the mean
            u, a = means[k] - about[k], sums.a[k]
            self._put(S, k, n[k] * np.outer(u, u) - np.outer(a, u) - np.outer(u, a))
        psi = prior.epsilon * prior.d
        if self.shape == "full":
            C = (S + np.diag(psi)) / _positive(n + prior.epsilon)[:, None, None]
        elif self.shape == "tied":
            C = (S + np.diag(psi)) / (n.sum() + prior.epsilon)
        elif self.shape == "diag":
            C = (S + psi) / _positive(n + prior.epsilon)[:, None]
        else:
            C = (S + psi.sum()) / (self.p * _positive(n + prior.epsilon))
        if self.shape != "tied" and prior.epsilon == 0:
            C[n == 0] = self.covariances[n == 0]
        C += prior.added * np.eye(self.p) if self.shape in ("full", "tied") else prior.added
        return Normals(self.shape, means, C, self.kept)

    def _longest(self, way: Any) -> float:
        """In standard deviations."""
        return max(
            float(np.abs(self._whitened(way[k : k + 1] + 0.0, k)).max()) for k in range(self.k)
        )

    def log_prior(self, prior: Prior) -> float:
        """−½ (ε log|C| + tr(ΨC⁻¹)), of every C."""
        if not prior.epsilon:
            return 0.0
        total = 0.0
        for k in range(1 if self.shape == "tied" else self.k):
            W = self._whitened(np.diag(np.sqrt(prior.d)), k)
            total -= 0.5 * prior.epsilon * (float(self.log_det[k]) + float(np.vdot(W, W)))
        return total

    def divergences(self, other: "Normals") -> np.ndarray:
        """KL(N(μ'_k, C'_k) ‖ N(μ_k, C_k)), primes of the other."""
        out = np.empty(self.k)
        for k in range(self.k):
            E = self._whitened(self._whitened(other.matrix(k).copy(), k).T.copy(), k)
            lam = np.maximum(np.linalg.eigvalsh(0.5 * (E + E.T)) - 1, -1 + 1e-300)
            way = self._whitened((other.means[k] - self.means[k])[None].copy(), k)
            out[k] = 0.5 * float((lam - np.log1p(lam)).sum() + np.vdot(way, way))
        return out

    def precisions_off(self, given: Any, k: int, rooted: bool) -> tuple[float, float]:
        """How far Lᵀ P L is from I, with C_k = LLᵀ and P the precisions given (or PPᵀ of their
        roots), and what rounding multiplies: the condition number of C_k and the columns."""
        M = np.asarray(given, dtype=float)
        M = M if self.shape == "tied" else M[k]
        if M.ndim < 2:
            M = (M[self.kept] if M.ndim else M) / self.W[k] ** (1 if rooted else 2)
            return float(np.abs(M - 1).max(initial=0.0)), float(self.p)
        M, L = M[self.kept][:, self.kept], np.linalg.inv(self.W[k])
        M = L.T @ M @ (M.T @ L if rooted else L)
        condition = float(np.linalg.norm(L) * np.linalg.norm(self.W[k])) ** 2
        return float(np.abs(M - np.eye(self.p)).max(initial=0.0)), condition * self.p

    def spreads(self, unit: Any) -> np.ndarray:
        """Eigenvalues of C_k with column j in units of √unit_kj, ascending, (k, p)."""
        unit = np.broadcast_to(unit, self.means.shape)
        if self.shape in ("diag", "spherical"):
            v = self.covariances if self.shape == "diag" else self.covariances[:, None]
            return np.sort(v / unit, axis=1)
        q = 1 / np.sqrt(unit)
        return np.stack(
            [np.linalg.eigvalsh(self.matrix(k) * q[k] * q[k][:, None]) for k in range(self.k)]
        )


def of_columns(shape: str, theta: dict[str, Any], kept: Any) -> Normals:
    """The components of a model, of the columns that vary."""
    C = np.asarray(theta["covariances"], dtype=float)
    if shape in ("full", "tied"):
        C = C[..., kept, :][..., kept]
    elif shape == "diag":
        C = C[:, kept]
    return Normals(shape, np.asarray(theta["means"], dtype=float)[:, kept], C, kept)


def complete(X: Any) -> tuple[Any, np.ndarray]:
    """Rows without NaN (all: a slice), and the others."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.sum(dtype=float))
    if finite:
        return slice(None), np.empty(0, dtype=np.intp)
    missing = np.isnan(X).any(axis=1)
    return np.flatnonzero(~missing), np.flatnonzero(missing)


def _positive(n: Any) -> Any:
    return np.where(n > 0, n, 1.0)
