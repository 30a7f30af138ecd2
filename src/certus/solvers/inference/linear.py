r"""Covariance of the coefficients of least squares and ridge, in at most two passes over the rows.

    θ = (b̃, w),  Φ = √s∘[1 X̃],  θ̂ = (ΦᵀΦ + P)⁻¹Φᵀ(√s∘y),  P = diag(0, α, …, α)

With BBᵀ = (ΦᵀΦ + P)⁻¹ and Z = ΦB this is θ̂ = BZᵀ(√s∘y), the hat matrix is H = ZZᵀ, and

    cov θ̂ = B M Bᵀ,   M = Zᵀ diag(ω) Z,   b = b̃ − x̄ᵀw
    ω_i = σ̂² (classical), e_i² (HC0), e_i² n/ν (HC1), e_i²/(1 − h_i) (HC2), e_i²/(1 − h_i)² (HC3)
    M ∝ Σ_g u_g u_gᵀ,  u_g = Σ_{i in g} e_i z_i (cluster; the factor is in ``clusters.py``)

with e = √s∘r, h_i = ‖z_i‖², ν = tr(I − H)² and σ̂² = Σ e²/ν. Without a penalty Z is orthonormal, so
ZᵀZ = I and ν = n − rank. The first pass gives B: a Cholesky factor of the scaled columns' products,
or the triangle of a QR if squaring would cost digits. The second gives Σ e² and, for HC0 … HC3, M.
Columns are centred and scaled throughout; only the results are in the user's units.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
from scipy.linalg import solve_triangular, svd

from ...data.rows import Rows
from ...exceptions import InferenceError
from ...text.format import count
from ..glm.linear_problem import Scaled, rank_noise, scaled
from ..least_squares.least_squares import all_rows_scaled, qr_of_rows, rank_in_doubt
from ..least_squares.nearly_dependent import MAX_WIDE_WORK, left_out
from ..linalg.cholesky import factor, solve_upper
from ..linalg.gram import gram, gram_block_rows
from .clusters import Clusters, cluster_sums, merged_results
from .leverage import LEVERAGE_POWERS, MIN_LEVERAGE_COMPLEMENT, refuse_leverage_one

COVARIANCES = ("classical", *LEVERAGE_POWERS, "cluster")
MAX_CHOLESKY_CONDITION = 1e6  # up to which the factor of the scaled products is accurate to 1e-10
MAX_OUTSIDE_SHARE = 1e-8  # of a coefficient, outside the row space; above, it is not estimable
SLICE_ELEMENTS = 1 << 16  # of Z at a time; 2¹⁴ was 1.7 times slower
MAX_FACTORED_COEFFICIENTS = 2000  # beyond, L and M would take twice the memory of the covariance
MIN_RESIDUAL_DF = 1e-6  # ν of n < p is a difference, accurate to about 1e-12


class LinearEstimates(NamedTuple):
    """Results for k targets and m coefficients in the user's units, the intercept first, if any."""

    n: int  # rows of positive weight
    rss: np.ndarray  # (k,): Σ s r²
    rss_error: np.ndarray  # (k,): about its rounding error
    tss: np.ndarray  # (k,): Σ s (y − ȳ)², about 0 without an intercept
    residual_df: np.ndarray  # (k,): ν
    parameters: np.ndarray  # (k,): tr H
    standard_errors: np.ndarray  # (m, k); NaN: not estimable
    covariance: np.ndarray  # (k, m, m)
    # L (m, r) and M (r, r), covariance LMLᵀ; L = None: the identity
    factors: list[tuple[np.ndarray | None, np.ndarray]]


class ColumnBasis(NamedTuple):
    """B of the scaled columns, (p, r), without the intercept."""

    B: np.ndarray
    N: np.ndarray | None  # (r, r): ZᵀZ; None: the identity
    penalty_df: float  # ‖I − N‖², added to ν; 0 without a penalty
    trace: float  # tr N
    estimable: np.ndarray  # (p,)
    intercept_estimable: bool = True


def infer(
    rows: Rows, w: np.ndarray, alpha: np.ndarray, fit_intercept: bool, cov: str,
    clusters: Clusters | None = None,
) -> LinearEstimates:  # fmt: skip
    """Estimates at the optimal w (p, k) for penalties alpha (k,); clusters if cov="cluster".

    O(n·p²) operations, for HC0 … HC3 O(k·n·p²); O(k·p²) memory per thread. X is never copied.
    """
    design = _Design(rows, fit_intercept)
    problem, k = design.problem, w.shape[1]
    m = len(w) + fit_intercept
    n = rows.shape[0] if rows.s is None else rows.reduce_targets(_count_weights)[0]
    estimates = LinearEstimates(
        n=n,
        rss=np.empty(k),
        rss_error=np.empty(k),
        tss=np.maximum(problem.sums.yy, 0.0),
        residual_df=np.empty(k),
        parameters=np.empty(k),
        standard_errors=np.empty((m, k)),
        covariance=np.empty((k, m, m)),
        factors=[(None, np.empty(0))] * k,
    )
    for a in np.unique(alpha):
        of = np.flatnonzero(alpha == a)
        basis = design.basis(float(a))
        r = basis.B.shape[1]
        nu = n - fit_intercept - r + basis.penalty_df
        if nu < MIN_RESIDUAL_DF:
            larger = " or a larger alpha" if a > 0 else ""
            raise InferenceError(
                f"{count(n, 'row')} and {count(r + fit_intercept, 'coefficient')} leave no degrees "
                f"of freedom to estimate the noise: use more rows or fewer columns{larger}"
            )
        rss, M = design.second_pass(basis, w[:, of], of, cov, clusters)
        if cov == "HC1":
            M *= n / nu
        if clusters is not None:
            M *= clusters.factor(n, r + fit_intercept)
        estimates.rss[of], estimates.residual_df[of] = rss, nu
        delta = design.rounding(w[:, of], of)
        estimates.rss_error[of] = (2 * np.sqrt(rss) + delta) * delta
        estimates.parameters[of] = basis.trace + fit_intercept
        for i, t in enumerate(of):
            middle = design.classical(basis, rss[i] / nu) if cov == "classical" else M[i]
            errors, covariance, L = design.in_users_units(basis, middle)
            estimates.standard_errors[:, t], estimates.covariance[t] = errors, covariance
            # of targets with the same penalty L is the same: one array for all
            estimates.factors[t] = (estimates.factors[of[0]][0] if i else L, middle)
            if m > MAX_FACTORED_COEFFICIENTS:
                estimates.factors[t] = (None, estimates.covariance[t])
    return estimates


class _Design:
    """X̃D⁻¹ of the rows, centred if there is an intercept."""

    def __init__(self, rows: Rows, fit_intercept: bool):
        # sparse rows are used for the products only; other passes read dense blocks
        self.rows, self.fit_intercept = rows.dense(), fit_intercept
        self.C: np.ndarray | None = None
        self._root: np.ndarray | None = None
        n, p = rows.shape
        if n <= p:
            self.problem, self._root, _ = all_rows_scaled(self.rows, fit_intercept)
            return
        self.problem = problem = scaled(gram(rows, fit_intercept), fit_intercept)
        self.C = problem.sums.G / problem.scale
        self.C /= problem.scale[:, None]

    def root(self) -> np.ndarray:
        """A with AᵀA = C, from the rows themselves."""
        if self._root is None:
            self._root = qr_of_rows(self.rows, self.problem)[0]
        return self._root

    # --- first pass: B ----------------------------------------------------------------------------

    def basis(self, alpha: float) -> ColumnBasis:
        return self._penalized(self.problem.penalty(alpha)) if alpha > 0 else self._plain()

    def _factor(self, penalty: float | np.ndarray) -> tuple[np.ndarray | None, float]:
        """R⁻¹ of C + penalty = RᵀR, or None if digits would be lost; and the condition number."""
        if self.C is None:
            return None, np.inf
        A = self.C.copy()
        A.flat[:: len(A) + 1] += penalty
        R, condition = factor(A)
        if condition > MAX_CHOLESKY_CONDITION:
            return None, condition
        return solve_upper(R, np.eye(len(R))), condition

    def _plain(self) -> ColumnBasis:
        problem = self.problem
        p = len(problem.scale)
        B, condition = self._factor(0.0) if problem.norm.all() else (None, np.inf)
        if B is not None:
            return ColumnBasis(B, None, 0.0, p, np.ones(p, dtype=bool))
        _, sigma, Vt = svd(self.root(), full_matrices=False, check_finite=False)
        # the rank is decided as in the fit
        retained = sigma > 0
        n = self.rows.shape[0]
        if n <= p or n * p * p > MAX_WIDE_WORK:
            retained = sigma > rank_noise(sigma, Vt, problem, self.rows)
        elif rank_in_doubt(self.rows, problem, condition):
            retained = np.arange(p) < len(left_out(self.rows, problem, sigma, Vt).keep)
        V, r = Vt[retained].T, int(retained.sum())
        estimable, is_intercept_estimable = np.ones(p, dtype=bool), True
        if r < p:
            # only combinations of rows of X are estimable: test e_j, and x̄ for b
            outside = np.eye(p) - V @ V.T
            estimable = np.linalg.norm(outside, axis=0) <= MAX_OUTSIDE_SHARE
            f = np.where(estimable, 0.0, problem.mean * problem.unscale)
            is_intercept_estimable = bool(
                np.linalg.norm(f @ outside) <= MAX_OUTSIDE_SHARE * np.linalg.norm(f)
            )
        return ColumnBasis(V / sigma[retained], None, 0.0, r, estimable, is_intercept_estimable)

    def _penalized(self, penalty: np.ndarray) -> ColumnBasis:
        (B, _), p = self._factor(penalty), len(penalty)
        if B is not None:
            N = B.T @ self.C @ B
        else:
            A = self.root()
            R = np.linalg.qr(np.vstack([A, np.diag(np.sqrt(penalty))]), mode="r")
            B = solve_triangular(R, np.eye(p))
            Y = A @ B
            N = np.dot(Y.T, Y)
        K = np.sqrt(penalty)[:, None] * B  # I − N = KᵀK, without cancellation
        penalty_df = float(np.linalg.norm(np.dot(K.T, K)) ** 2)
        return ColumnBasis(B, N, penalty_df, float(np.trace(N)), np.ones(p, dtype=bool))

    # --- second pass: residuals, and M ------------------------------------------------------------

    def second_pass(
        self, basis: ColumnBasis, w: np.ndarray, of: np.ndarray, cov: str,
        clusters: Clusters | None,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return Σ s r² and M of each target; M is empty for the classical covariance."""
        rows, problem = self.rows, self.problem
        assert rows.y is not None
        if len(of) < rows.y.shape[1]:
            rows = rows.recoded(_some_targets, of)
        if cov == "classical":
            (rss,) = rows.reduce(_squares, problem.mean, problem.sums.mean_y[of], w)
            return rss, np.empty(0)
        design = _BlockDesign.of(self, basis, w, of)
        block_rows = gram_block_rows(rows)
        if clusters is not None:
            rss, _, sums = rows.reduce(
                _cluster_meat, design, beside=(clusters.codes,), combine=merged_results,
                square=True, block_rows=block_rows,
            )  # fmt: skip
            return rss, np.einsum("gta,gtb->tab", sums, sums, optimize=True)
        rss, M, n_leverage_one = rows.reduce(
            _meat, design, LEVERAGE_POWERS[cov], square=True, block_rows=block_rows
        )
        if n_leverage_one:
            _refuse_leverage(rows, design, cov, n_leverage_one)
        return rss, M

    def rounding(self, w: np.ndarray, of: np.ndarray) -> np.ndarray:
        """Rounding error of √Σ s r²: each residual is a sum of p + 1 terms x_ij w_j and y_i."""
        sums = self.problem.sums
        size = sums.size if sums.q is None else sums.size / sums.q
        size_y = np.sqrt(sums.yy + sums.S * sums.mean_y**2)[of]
        error: np.ndarray = np.finfo(float).eps * (len(w) + 4) * (size @ np.abs(w) + size_y)
        return error

    # --- results ----------------------------------------------------------------------------------

    def classical(self, basis: ColumnBasis, sigma2: float) -> np.ndarray:
        """M = σ̂²ZᵀZ."""
        r, first = basis.B.shape[1], int(self.fit_intercept)
        M = sigma2 * np.eye(r + first)
        if basis.N is not None:
            M[first:, first:] = sigma2 * basis.N
        return M

    def in_users_units(
        self, basis: ColumnBasis, M: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Standard errors, covariance and L of (b, w): b = b̃ − x̄ᵀw, w = unscale∘v."""
        problem: Scaled = self.problem
        L, unit, estimable = basis.B, problem.unscale, basis.estimable
        if self.fit_intercept:
            f = -(problem.mean * unit) @ basis.B
            L = np.zeros((L.shape[0] + 1, L.shape[1] + 1))
            L[0, 0], L[0, 1:], L[1:, 1:] = 1 / np.sqrt(problem.sums.S), f, basis.B
            unit = np.concatenate([[1.0], unit])
            estimable = np.concatenate([[basis.intercept_estimable], estimable])
        cov = L @ M @ L.T
        cov = (cov + cov.T) / 2
        # the root is taken in scaled columns: in the user's units a square might underflow
        errors = unit * np.sqrt(np.maximum(np.diagonal(cov), 0.0))
        with np.errstate(over="ignore", under="ignore"):
            cov = cov * unit * unit[:, None]
        errors[~estimable] = np.nan
        cov[~estimable] = np.nan
        cov[:, ~estimable] = np.nan
        return errors, cov, unit[:, None] * L


def _squares(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    mean: np.ndarray,
    mean_y: np.ndarray,
    w: np.ndarray,
) -> tuple[Any]:
    r = y - mean_y
    r -= np.dot(np.subtract(X, mean, dtype=float), w)
    return (np.einsum("ij,ij->j", r if s is None else s[:, None] * r, r),)


class _BlockDesign(NamedTuple):
    """Means and matrix V with [Z | X̃w] = [1 X̃]·V, from which a block's Z and residuals follow."""

    mean: np.ndarray
    mean_y: np.ndarray
    V: np.ndarray  # (first + p, first + r + k)
    first: int  # 1 with an intercept, else 0

    @classmethod
    def of(
        cls, design: _Design, basis: ColumnBasis, w: np.ndarray, of: np.ndarray
    ) -> "_BlockDesign":
        problem, first = design.problem, int(design.fit_intercept)
        (p, r), k = basis.B.shape, w.shape[1]
        V = np.zeros((first + p, first + r + k))
        V[:first, :first] = 1 / np.sqrt(problem.sums.S)
        V[first:, first : first + r] = problem.unscale[:, None] * basis.B
        V[first:, first + r :] = w
        return cls(problem.mean, problem.sums.mean_y[of], V, first)

    def slices(
        self, X: np.ndarray, y: np.ndarray, s: np.ndarray | None
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Yield (e, Z, h) of slices of rows that fit the cache."""
        V, first = self.V, self.first
        step = min(len(y), max(SLICE_ELEMENTS // V.shape[1], V.shape[1]))  # M costs less than Z
        Phi, both = np.ones((step, len(V))), np.empty((step, V.shape[1]))
        for start in range(0, len(y), step):
            part = slice(start, start + step)
            y_part = y[part]
            m, k = y_part.shape
            np.subtract(X[part], self.mean, out=Phi[:m, first:])
            # np.dot, not @, which holds the GIL if its result is small
            np.dot(Phi[:m], V, out=both[:m])
            Z, e = both[:m, :-k], y_part - self.mean_y
            e -= both[:m, -k:]
            if s is not None:
                root = np.sqrt(s[part])[:, None]
                e *= root
                Z *= root
            yield e, Z, np.einsum("ij,ij->i", Z, Z)


def _meat(
    X: np.ndarray, y: np.ndarray, s: np.ndarray, design: _BlockDesign, power: int
) -> tuple[Any, Any, int]:
    """Σ e², M without HC1's factor, and the number of rows of leverage 1."""
    k, m = y.shape[1], design.V.shape[1] - y.shape[1]
    rss, M, n_leverage_one = np.zeros(k), np.zeros((k, m, m)), 0
    for e, Z, h in design.slices(X, y, s):
        rss += np.einsum("ij,ij->j", e, e)
        if power:
            complement = 1 - h
            at_one = complement < MIN_LEVERAGE_COMPLEMENT
            n_leverage_one += int(np.count_nonzero(at_one))
            complement[at_one] = 1.0
            e /= (complement if power == 2 else np.sqrt(complement))[:, None]
        for t in range(k):
            A = e[:, t, None] * Z
            M[t] += np.dot(A.T, A)
    return rss, M, n_leverage_one


def _cluster_meat(
    X: np.ndarray, y: np.ndarray, s: np.ndarray, codes: np.ndarray, design: _BlockDesign
) -> tuple[Any, Any, Any]:
    """Σ e², and Σ e z of each cluster in the block, (g, k, m)."""
    rss, gradients = np.zeros(y.shape[1]), []
    for e, Z, _ in design.slices(X, y, s):
        rss += np.einsum("ij,ij->j", e, e)
        gradients.append(e[:, :, None] * Z[:, None, :])
    return (rss, *cluster_sums(codes, np.concatenate(gradients)))


def _refuse_leverage(rows: Rows, design: _BlockDesign, cov: str, n_leverage_one: int) -> NoReturn:
    """Raise with the number of the first row of leverage 1."""
    first = next(
        start + int(at_one[0])
        for start, stop in rows.edges(gram_block_rows(rows))
        if len(at_one := _rows_of_leverage_one(design, *rows.block(start, stop)))
    )
    refuse_leverage_one(first, n_leverage_one, cov)


def _rows_of_leverage_one(
    design: _BlockDesign, X: np.ndarray, y: Any, s: np.ndarray | None
) -> np.ndarray:
    """Numbers of these rows within the block."""
    h = np.concatenate([h for _, _, h in design.slices(X, y, s)])
    return np.flatnonzero(1 - h < MIN_LEVERAGE_COMPLEMENT)


def _count_weights(_y: object, s: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(s)),)


def _some_targets(
    y: np.ndarray, s: np.ndarray | None, of: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    return np.ascontiguousarray(y[:, of]), s
