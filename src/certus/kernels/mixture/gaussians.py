"""Densities and moments of normal components, by differences to each component's mean.

    a_kr = b_k − ½‖U_kᵀ(z_r − μ_k)‖²
    A_k = Σ_r w_kr (z_r − μ_k)        S_k = Σ_r w_kr (z_r − μ_k)(z_r − μ_k)ᵀ

U is upper triangular and S symmetric: each takes half the multiplications of a matrix product. Rows
fill the lanes of vectors, four vectors to a strip, and sums stay in registers.
"""

from functools import cache

import numpy as np
from numba import types
from numba.extending import intrinsic

from certus.kernels._compile import LANES, kernel
from certus.kernels._vectors import I64, VECTOR, ZERO, Emitter

STRIP_VECTORS = 4  # with two columns at a time, eight sums hide the latency of an FMA
STRIP_ROWS = STRIP_VECTORS * LANES
# the differences of a tile stay in L1 while all pairs are summed; 2 and 8 strips took 5 % longer
TILE_STRIPS = 4
GROUP_COLUMNS = 4  # columns multiplied by a pair of columns at a time
# pairs of columns handled without a loop, whose end is mispredicted: 45 % less time at p=16
UNROLLED_PAIRS = 8
# relative to the largest weight of a component: smaller ones change no digit of its sums
NEGLIGIBLE_WEIGHT_RATIO = 1e-24
MAX_GATHERED_SHARE = 0.3  # of the rows; at p=16, gathering so many takes as long as summing all


@kernel
def pack(U):
    """Pack pairs of columns (i, i + 1) of each U, down to the diagonal.

    The last column of an odd number is paired with zeros.
    """
    k, p, _ = U.shape
    half = (p + 1) // 2
    out = np.zeros((k, 2 * half * (half + 1)))
    for c in range(k):
        at = 0
        for t in range(half):
            for j in range(2 * t + 2):
                for i in range(2 * t, min(2 * t + 2, p)):
                    if j <= i:
                        out[c, at + i - 2 * t] = U[c, j, i]
                at += 2
    return out


@kernel
def log_densities(Z, mu, packed, b, out):
    """Compute out[k, r] = a_kr for Z of shape (p, rows)."""
    p, n = Z.shape
    half = (p + 1) // 2
    Y = np.zeros(2 * half * STRIP_ROWS)
    total = np.zeros(STRIP_ROWS)
    for start in range(0, n, STRIP_ROWS):
        m = min(STRIP_ROWS, n - start)
        for c in range(len(mu)):
            for j in range(p):
                if m == STRIP_ROWS:
                    _subtract(Z, j * n + start, mu[c, j], Y, j * STRIP_ROWS)
                else:
                    for r in range(m):
                        Y[j * STRIP_ROWS + r] = Z[j, start + r] - mu[c, j]
            at = c * packed.shape[1]
            _first_squares(Y, packed, at, half, total)
            at += 2 * UNROLLED_PAIRS * (UNROLLED_PAIRS + 1)
            for t in range(UNROLLED_PAIRS, half):
                _add_squares(Y, packed, at, t + 1, total)
                at += 4 * (t + 1)
            for r in range(m):
                out[c, start + r] = b[c] - 0.5 * total[r]


@kernel
def moments(Z, w, mu, A, S):
    """Fill A (k, p) and S (k, p, p) from Z (p, rows) and w (k, rows)."""
    p, n = Z.shape
    half, wide = (p + 1) // 2, p + GROUP_COLUMNS  # a group may begin at the last column
    stride = wide * STRIP_ROWS
    Y, W = np.zeros(TILE_STRIPS * stride), np.zeros(TILE_STRIPS * stride)
    sums = np.empty(half * (p // GROUP_COLUMNS + 2) * 2 * GROUP_COLUMNS * LANES)
    first_sums, rows = np.empty(p * STRIP_ROWS), np.empty(n, np.intp)
    for c in range(len(mu)):
        sums[:] = 0.0
        first_sums[:] = 0.0
        n_kept = _select_rows(w[c], rows)
        gather = n_kept < MAX_GATHERED_SHARE * n
        filled = 0
        for start in range(0, n_kept if gather else n, STRIP_ROWS):
            if gather:
                m = min(STRIP_ROWS, n_kept - start)
                _gather_differences(
                    Z, w, mu, c, rows[start : start + m], Y, W, filled * stride, first_sums
                )
            else:
                m = min(STRIP_ROWS, n - start)
                _differences(Z, w, mu, c, start, m, Y, W, filled * stride, first_sums)
            filled += 1
            if filled == TILE_STRIPS:
                _add_column_pairs(Y, W, p, filled, stride, sums)
                filled = 0
        _add_column_pairs(Y, W, p, filled, stride, sums)
        for j in range(p):
            total = 0.0
            for r in range(STRIP_ROWS):
                total += first_sums[j * STRIP_ROWS + r]
            A[c, j] = total
        at = 0
        for i in range(0, p, 2):
            for j in range(i, p, GROUP_COLUMNS):
                for a in range(2):
                    for b in range(GROUP_COLUMNS):
                        if i + a < p and j + b < p:
                            total = 0.0
                            for lane in range(LANES):
                                total += sums[at + (a * GROUP_COLUMNS + b) * LANES + lane]
                            S[c, i + a, j + b] = total
                            S[c, j + b, i + a] = total
                at += 2 * GROUP_COLUMNS * LANES


@kernel
def _select_rows(w, rows):
    """Write the numbers of rows with non-negligible weight to ``rows``; return how many."""
    top = 0.0
    for r in range(len(w)):
        top = max(top, w[r])
    n_kept = 0
    for r in range(len(w)):
        rows[n_kept] = r
        n_kept += w[r] > NEGLIGIBLE_WEIGHT_RATIO * top
    return n_kept


@kernel
def _gather_differences(Z, w, mu, c, rows, Y, W, at, first_sums):
    """Compute ``_differences`` for rows that are not contiguous."""
    p = len(Z)
    if len(rows) < STRIP_ROWS:
        Y[at : at + p * STRIP_ROWS] = 0.0
        W[at : at + p * STRIP_ROWS] = 0.0
    for j in range(p):
        for r in range(len(rows)):
            y = Z[j, rows[r]] - mu[c, j]
            v = w[c, rows[r]] * y
            Y[at + j * STRIP_ROWS + r] = y
            W[at + j * STRIP_ROWS + r] = v
            first_sums[j * STRIP_ROWS + r] += v


@kernel
def _differences(Z, w, mu, c, start, m, Y, W, at, first_sums):
    """Compute Y = z − μ and W = w (z − μ) of one strip; rows past the last have w = 0."""
    p, n = Z.shape
    if m < STRIP_ROWS:
        Y[at : at + p * STRIP_ROWS] = 0.0
        W[at : at + p * STRIP_ROWS] = 0.0
    for j in range(p):
        if m == STRIP_ROWS:
            _subtract(Z, j * n + start, mu[c, j], Y, at + j * STRIP_ROWS)
            _weigh(w, c * n + start, Y, W, at + j * STRIP_ROWS, first_sums, j * STRIP_ROWS)
        else:
            for r in range(m):
                y = Z[j, start + r] - mu[c, j]
                v = w[c, start + r] * y
                Y[at + j * STRIP_ROWS + r] = y
                W[at + j * STRIP_ROWS + r] = v
                first_sums[j * STRIP_ROWS + r] += v


@kernel
def _add_column_pairs(Y, W, p, strips, stride, sums):
    """Add the products of all pairs of columns over the strips of a tile."""
    at = 0
    if strips == 0:
        return
    for i in range(0, p, 2):
        for j in range(i, p, GROUP_COLUMNS):
            _add_products(W, i * STRIP_ROWS, Y, j * STRIP_ROWS, strips, stride, sums, at)
            at += 2 * GROUP_COLUMNS * LANES


# ------------------------------------------------------------------------- hand-written LLVM IR


@intrinsic
def _subtract(typingctx, Z, start, mu, Y, at):
    """Set Y[at + r] = Z[start + r] − mu for the rows of a strip, by flat positions."""
    signature = types.void(Z, types.intp, types.float64, Y, types.intp)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        Z, Y = emit.data(signature.args[0], args[0]), emit.data(signature.args[3], args[3])
        mu = emit.broadcast(args[2])
        z = [emit.load(emit.at(Z, args[1], v * LANES)) for v in range(STRIP_VECTORS)]
        for v in range(STRIP_VECTORS):
            emit.store(builder.fsub(z[v], mu), emit.at(Y, args[4], v * LANES))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _weigh(typingctx, w, start, Y, W, at, first_sums, place):
    """Set W[at + r] = w[start + r] Y[at + r], and add it to first_sums[place + r]."""
    signature = types.void(w, types.intp, Y, W, types.intp, first_sums, types.intp)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        w, Y, W, first_sums = (emit.data(signature.args[i], args[i]) for i in (0, 2, 3, 5))
        for v in range(STRIP_VECTORS):
            y, s = (emit.load(emit.at(a, at, v * LANES)) for a, at in ((Y, args[4]), (w, args[1])))
            product = builder.fmul(s, y)
            emit.store(product, emit.at(W, args[4], v * LANES))
            total = emit.at(first_sums, args[6], v * LANES)
            emit.store(builder.fadd(emit.load(total), product), total)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _first_squares(typingctx, Y, packed, at, pairs, total):
    """Set total[r] = Σ_t (Σ_j a_tj y_jr)² + (Σ_j b_tj y_jr)² over at most UNROLLED_PAIRS pairs."""
    signature = types.void(Y, packed, types.intp, types.intp, total)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        Y, packed, total = (emit.data(signature.args[i], args[i]) for i in (0, 1, 4))
        coefficients, pairs = emit.at(packed, args[2]), args[3]
        done = builder.append_basic_block("done")
        totals, exits = [ZERO] * STRIP_VECTORS, []
        for t in range(UNROLLED_PAIRS):
            exits.append((builder.block, totals))
            body = builder.append_basic_block(f"pair{t}")
            builder.cbranch(builder.icmp_signed(">", pairs, I64(t)), body, done)
            builder.position_at_end(body)
            sums = [[ZERO] * STRIP_VECTORS for _ in range(2)]
            for j in range(2 * t + 2):
                _add_column(
                    emit,
                    emit.at(Y, j * STRIP_ROWS),
                    emit.at(coefficients, 2 * t * (t + 1) + 2 * j),
                    sums,
                )
            totals = _squared(emit, sums, totals)
        exits.append((builder.block, totals))
        builder.branch(done)
        builder.position_at_end(done)
        values = [builder.phi(VECTOR) for _ in range(STRIP_VECTORS)]
        for v, value in enumerate(values):
            for block, exit_totals in exits:
                value.add_incoming(exit_totals[v], block)
            emit.store(value, emit.at(total, v * LANES))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _add_squares(typingctx, Y, packed, at, turns, total):
    """Add (Σ_j a_j y_jr)² + (Σ_j b_j y_jr)² to total[r] for the rows of a strip, j < 2·turns.

    (a_j, b_j) are packed[at + 2j : at + 2j + 2], a pair of columns of U.
    """
    signature = types.void(Y, packed, types.intp, types.intp, total)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        Y, packed, total = (emit.data(signature.args[i], args[i]) for i in (0, 1, 4))
        coefficients, turns = emit.at(packed, args[2]), args[3]
        entry, loop = builder.block, builder.append_basic_block("columns")
        done = builder.append_basic_block("square")
        builder.branch(loop)
        builder.position_at_end(loop)
        t = builder.phi(I64)
        phis = [[builder.phi(VECTOR) for _ in range(STRIP_VECTORS)] for _ in range(2)]
        new = [list(row) for row in phis]
        for u in range(2):
            column = emit.at(Y, emit.times(t, 2 * STRIP_ROWS), u * STRIP_ROWS)
            _add_column(emit, column, emit.at(coefficients, emit.times(t, 4), 2 * u), new)
        following = builder.add(t, I64(1))
        builder.cbranch(builder.icmp_signed("<", following, turns), loop, done)
        t.add_incoming(I64(0), entry)
        t.add_incoming(following, loop)
        builder.position_at_end(done)
        for i in range(2):
            for v in range(STRIP_VECTORS):
                phis[i][v].add_incoming(ZERO, entry)
                phis[i][v].add_incoming(new[i][v], loop)
        targets = [emit.at(total, v * LANES) for v in range(STRIP_VECTORS)]
        for value, target in zip(
            _squared(emit, new, map(emit.load, targets)), targets, strict=True
        ):
            emit.store(value, target)
        return context.get_dummy_value()

    return signature, codegen


def _add_column(emit, column, pair, sums):
    """Add pair[i] · column[v] to sums[i][v] for the vectors v of the strip."""
    vectors = [emit.load(emit.at(column, v * LANES)) for v in range(STRIP_VECTORS)]
    for i in range(2):
        a = emit.broadcast(emit.load_one(emit.at(pair, i)))
        for v in range(STRIP_VECTORS):
            sums[i][v] = emit.add_product(sums[i][v], a, vectors[v])


def _squared(emit, sums, totals):
    """Return totals plus the squares of both sums."""
    out = []
    for v, value in enumerate(totals):
        for i in range(2):
            value = emit.add_product(value, sums[i][v], sums[i][v])
        out.append(value)
    return out


@intrinsic
def _add_products(typingctx, W, i, Y, j, strips, stride, sums, at):
    """Add products of two columns of W and four of Y, over all strips and lane by lane.

    sums[at + (a·4 + b)·LANES + lane] += Σ W[i + a·STRIP_ROWS + r] Y[j + b·STRIP_ROWS + r] for a < 2
    and b < 4; a strip begins ``stride`` after the one before it.
    """
    signature = types.void(W, types.intp, Y, *[types.intp] * 3, sums, types.intp)

    def codegen(context, builder, signature, args):
        W, i, Y, j, strips, stride, sums, at = args
        emit = Emitter(context, builder)
        W, Y = emit.data(signature.args[0], W), emit.data(signature.args[2], Y)
        target = emit.at(emit.data(signature.args[6], sums), at)
        left, right = emit.at(W, i), emit.at(Y, j)
        starts = [
            [emit.load(emit.at(target, (a * GROUP_COLUMNS + b) * LANES))
             for b in range(GROUP_COLUMNS)]
            for a in range(2)
        ]  # fmt: skip
        entry, loop = builder.block, builder.append_basic_block("strips")
        done = builder.append_basic_block("keep")
        builder.branch(loop)
        builder.position_at_end(loop)
        s = builder.phi(I64)
        phis = [[builder.phi(VECTOR) for _ in range(GROUP_COLUMNS)] for _ in range(2)]
        new = [list(row) for row in phis]
        offset = builder.mul(s, stride)
        for v in range(STRIP_VECTORS):
            ys = [
                emit.load(emit.at(right, offset, b * STRIP_ROWS + v * LANES))
                for b in range(GROUP_COLUMNS)
            ]
            for a in range(2):
                x = emit.load(emit.at(left, offset, a * STRIP_ROWS + v * LANES))
                for b in range(GROUP_COLUMNS):
                    new[a][b] = emit.add_product(new[a][b], x, ys[b])
        following = builder.add(s, I64(1))
        builder.cbranch(builder.icmp_signed("<", following, strips), loop, done)
        s.add_incoming(I64(0), entry)
        s.add_incoming(following, loop)
        builder.position_at_end(done)
        for a in range(2):
            for b in range(GROUP_COLUMNS):
                phis[a][b].add_incoming(starts[a][b], entry)
                phis[a][b].add_incoming(new[a][b], loop)
                emit.store(new[a][b], emit.at(target, (a * GROUP_COLUMNS + b) * LANES))
        return context.get_dummy_value()

    return signature, codegen


@cache
def warm() -> None:
    """Compile, or load from disk."""
    Z, mu, w = np.zeros((2, 3)), np.zeros((1, 2)), np.ones((1, 3))
    log_densities(Z, mu, pack(np.zeros((1, 2, 2))), np.zeros(1), np.empty((1, 3)))
    moments(Z, w, mu, np.empty((1, 2)), np.empty((1, 2, 2)))
