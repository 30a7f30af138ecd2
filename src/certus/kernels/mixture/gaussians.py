"""Densities and moments of normal components, by differences to each one's own mean.

    a_kr = b_k − ½‖U_kᵀ(z_r − μ_k)‖²
    A_k = Σ_r w_kr (z_r − μ_k)        S_k = Σ_r w_kr (z_r − μ_k)(z_r − μ_k)ᵀ

U is upper triangular, S symmetric: half of a matrix product's multiplications each. Rows stand in
the lanes of vectors, four vectors in a strip, and sums stay in registers.
"""

from functools import cache

import numpy as np
from numba import types
from numba.extending import intrinsic

from certus.kernels._compile import LANES, kernel
from certus.kernels._vectors import I64, VECTOR, ZERO, Emitter

VECTORS = 4  # in a strip; with two columns at a time, eight sums hide the latency of an FMA
STRIP = VECTORS * LANES  # rows
TILE = 4  # strips whose differences stay in L1 while all pairs are summed; 2 and 8 took 5 % longer
SIDE = 4  # columns that meet a pair of columns at a time
FIRST = (
    8  # pairs of columns without a loop, whose end a CPU guesses wrongly: 45 % less time at p=16
)
NEGLIGIBLE = 1e-24  # of the largest weight of a component: it changes no digit of its sums
FEW = 0.3  # of the rows: gathering these takes, at p=16, as long as summing all


@kernel
def pack(U):
    """Pairs of columns (i, i + 1) of each U, down to the diagonal; an odd last one is paired with
    zeros."""
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
    """out[k, r] = a_kr, Z of shape (p, rows)."""
    p, n = Z.shape
    half = (p + 1) // 2
    Y = np.zeros(2 * half * STRIP)
    total = np.zeros(STRIP)
    for start in range(0, n, STRIP):
        m = min(STRIP, n - start)
        for c in range(len(mu)):
            for j in range(p):
                if m == STRIP:
                    _subtract(Z, j * n + start, mu[c, j], Y, j * STRIP)
                else:
                    for r in range(m):
                        Y[j * STRIP + r] = Z[j, start + r] - mu[c, j]
            at = c * packed.shape[1]
            _first_squares(Y, packed, at, half, total)
            at += 2 * FIRST * (FIRST + 1)
            for t in range(FIRST, half):
                _add_squares(Y, packed, at, t + 1, total)
                at += 4 * (t + 1)
            for r in range(m):
                out[c, start + r] = b[c] - 0.5 * total[r]


@kernel
def moments(Z, w, mu, A, S):
    """Fill A (k, p) and S (k, p, p) from Z (p, rows) and w (k, rows)."""
    p, n = Z.shape
    half, wide = (p + 1) // 2, p + SIDE  # a group of columns may begin at the last one
    stride = wide * STRIP
    Y, W = np.zeros(TILE * stride), np.zeros(TILE * stride)
    sums = np.empty(half * (p // SIDE + 2) * 2 * SIDE * LANES)
    ones, rows = np.empty(p * STRIP), np.empty(n, np.intp)
    for c in range(len(mu)):
        sums[:] = 0.0
        ones[:] = 0.0
        kept = _kept(w[c], rows)
        few = kept < FEW * n
        filled = 0
        for start in range(0, kept if few else n, STRIP):
            if few:
                m = min(STRIP, kept - start)
                _gathered(Z, w, mu, c, rows[start : start + m], Y, W, filled * stride, ones)
            else:
                m = min(STRIP, n - start)
                _differences(Z, w, mu, c, start, m, Y, W, filled * stride, ones)
            filled += 1
            if filled == TILE:
                _pairs(Y, W, p, filled, stride, sums)
                filled = 0
        _pairs(Y, W, p, filled, stride, sums)
        for j in range(p):
            total = 0.0
            for r in range(STRIP):
                total += ones[j * STRIP + r]
            A[c, j] = total
        at = 0
        for i in range(0, p, 2):
            for j in range(i, p, SIDE):
                for a in range(2):
                    for b in range(SIDE):
                        if i + a < p and j + b < p:
                            total = 0.0
                            for lane in range(LANES):
                                total += sums[at + (a * SIDE + b) * LANES + lane]
                            S[c, i + a, j + b] = total
                            S[c, j + b, i + a] = total
                at += 2 * SIDE * LANES


@kernel
def _kept(w, rows):
    """How many rows have a weight that counts; their numbers in ``rows``."""
    top = 0.0
    for r in range(len(w)):
        top = max(top, w[r])
    kept = 0
    for r in range(len(w)):
        rows[kept] = r
        kept += w[r] > NEGLIGIBLE * top
    return kept


@kernel
def _gathered(Z, w, mu, c, rows, Y, W, at, ones):
    """As ``_differences``, of rows that are not beside each other."""
    p = len(Z)
    if len(rows) < STRIP:
        Y[at : at + p * STRIP] = 0.0
        W[at : at + p * STRIP] = 0.0
    for j in range(p):
        for r in range(len(rows)):
            y = Z[j, rows[r]] - mu[c, j]
            v = w[c, rows[r]] * y
            Y[at + j * STRIP + r] = y
            W[at + j * STRIP + r] = v
            ones[j * STRIP + r] += v


@kernel
def _differences(Z, w, mu, c, start, m, Y, W, at, ones):
    """Y = z − μ and W = w (z − μ) of one strip; rows past the last have w = 0."""
    p, n = Z.shape
    if m < STRIP:
        Y[at : at + p * STRIP] = 0.0
        W[at : at + p * STRIP] = 0.0
    for j in range(p):
        if m == STRIP:
            _subtract(Z, j * n + start, mu[c, j], Y, at + j * STRIP)
            _weigh(w, c * n + start, Y, W, at + j * STRIP, ones, j * STRIP)
        else:
            for r in range(m):
                y = Z[j, start + r] - mu[c, j]
                v = w[c, start + r] * y
                Y[at + j * STRIP + r] = y
                W[at + j * STRIP + r] = v
                ones[j * STRIP + r] += v


@kernel
def _pairs(Y, W, p, strips, stride, sums):
    at = 0
    if strips == 0:
        return
    for i in range(0, p, 2):
        for j in range(i, p, SIDE):
            _add_products(W, i * STRIP, Y, j * STRIP, strips, stride, sums, at)
            at += 2 * SIDE * LANES


# ------------------------------------------------------------------------- hand-written LLVM IR


@intrinsic
def _subtract(typingctx, Z, start, mu, Y, at):
    """Y[at + r] = Z[start + r] − mu for the rows of a strip, Z and Y by their plain positions."""
    signature = types.void(Z, types.intp, types.float64, Y, types.intp)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        Z, Y = emit.data(signature.args[0], args[0]), emit.data(signature.args[3], args[3])
        mu = emit.broadcast(args[2])
        z = [emit.load(emit.at(Z, args[1], v * LANES)) for v in range(VECTORS)]
        for v in range(VECTORS):
            emit.store(builder.fsub(z[v], mu), emit.at(Y, args[4], v * LANES))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _weigh(typingctx, w, start, Y, W, at, ones, place):
    """W[at + r] = w[start + r] Y[at + r], which is added to ones[place + r] too."""
    signature = types.void(w, types.intp, Y, W, types.intp, ones, types.intp)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        w, Y, W, ones = (emit.data(signature.args[i], args[i]) for i in (0, 2, 3, 5))
        for v in range(VECTORS):
            y, s = (emit.load(emit.at(a, at, v * LANES)) for a, at in ((Y, args[4]), (w, args[1])))
            product = builder.fmul(s, y)
            emit.store(product, emit.at(W, args[4], v * LANES))
            total = emit.at(ones, args[6], v * LANES)
            emit.store(builder.fadd(emit.load(total), product), total)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _first_squares(typingctx, Y, packed, at, pairs, total):
    """total[r] = Σ_t (Σ_j a_tj y_jr)² + (Σ_j b_tj y_jr)² over the first FIRST pairs, if as many."""
    signature = types.void(Y, packed, types.intp, types.intp, total)

    def codegen(context, builder, signature, args):
        emit = Emitter(context, builder)
        Y, packed, total = (emit.data(signature.args[i], args[i]) for i in (0, 1, 4))
        coefficients, pairs = emit.at(packed, args[2]), args[3]
        done = builder.append_basic_block("done")
        totals, exits = [ZERO] * VECTORS, []
        for t in range(FIRST):
            exits.append((builder.block, totals))
            body = builder.append_basic_block(f"pair{t}")
            builder.cbranch(builder.icmp_signed(">", pairs, I64(t)), body, done)
            builder.position_at_end(body)
            sums = [[ZERO] * VECTORS for _ in range(2)]
            for j in range(2 * t + 2):
                _add_column(
                    emit,
                    emit.at(Y, j * STRIP),
                    emit.at(coefficients, 2 * t * (t + 1) + 2 * j),
                    sums,
                )
            totals = _squared(emit, sums, totals)
        exits.append((builder.block, totals))
        builder.branch(done)
        builder.position_at_end(done)
        values = [builder.phi(VECTOR) for _ in range(VECTORS)]
        for v, value in enumerate(values):
            for block, found in exits:
                value.add_incoming(found[v], block)
            emit.store(value, emit.at(total, v * LANES))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _add_squares(typingctx, Y, packed, at, turns, total):
    """total[r] += (Σ_j a_j y_jr)² + (Σ_j b_j y_jr)² for the rows of a strip, j < 2·turns.

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
        phis = [[builder.phi(VECTOR) for _ in range(VECTORS)] for _ in range(2)]
        new = [list(row) for row in phis]
        for u in range(2):
            column = emit.at(Y, emit.times(t, 2 * STRIP), u * STRIP)
            _add_column(emit, column, emit.at(coefficients, emit.times(t, 4), 2 * u), new)
        following = builder.add(t, I64(1))
        builder.cbranch(builder.icmp_signed("<", following, turns), loop, done)
        t.add_incoming(I64(0), entry)
        t.add_incoming(following, loop)
        builder.position_at_end(done)
        for i in range(2):
            for v in range(VECTORS):
                phis[i][v].add_incoming(ZERO, entry)
                phis[i][v].add_incoming(new[i][v], loop)
        targets = [emit.at(total, v * LANES) for v in range(VECTORS)]
        for value, target in zip(
            _squared(emit, new, map(emit.load, targets)), targets, strict=True
        ):
            emit.store(value, target)
        return context.get_dummy_value()

    return signature, codegen


def _add_column(emit, column, pair, sums):
    """sums[i][v] += pair[i] · column[v], v a vector of the strip."""
    vectors = [emit.load(emit.at(column, v * LANES)) for v in range(VECTORS)]
    for i in range(2):
        a = emit.broadcast(emit.load_one(emit.at(pair, i)))
        for v in range(VECTORS):
            sums[i][v] = emit.add_product(sums[i][v], a, vectors[v])


def _squared(emit, sums, totals):
    """Totals plus the squares of both sums."""
    out = []
    for v, value in enumerate(totals):
        for i in range(2):
            value = emit.add_product(value, sums[i][v], sums[i][v])
        out.append(value)
    return out


@intrinsic
def _add_products(typingctx, W, i, Y, j, strips, stride, sums, at):
    """sums[at + (a·SIDE + b)·LANES + lane] += Σ W[i + a·STRIP + r] Y[j + b·STRIP + r], a < 2.

    The sum is over the vectors of all strips, lane by lane; a strip begins ``stride`` after the
    one before it.
    """
    signature = types.void(W, types.intp, Y, *[types.intp] * 3, sums, types.intp)

    def codegen(context, builder, signature, args):
        W, i, Y, j, strips, stride, sums, at = args
        emit = Emitter(context, builder)
        W, Y = emit.data(signature.args[0], W), emit.data(signature.args[2], Y)
        target = emit.at(emit.data(signature.args[6], sums), at)
        left, right = emit.at(W, i), emit.at(Y, j)
        starts = [[emit.load(emit.at(target, (a * SIDE + b) * LANES)) for b in range(SIDE)]
                  for a in range(2)]  # fmt: skip
        entry, loop = builder.block, builder.append_basic_block("strips")
        done = builder.append_basic_block("keep")
        builder.branch(loop)
        builder.position_at_end(loop)
        s = builder.phi(I64)
        phis = [[builder.phi(VECTOR) for _ in range(SIDE)] for _ in range(2)]
        new = [list(row) for row in phis]
        offset = builder.mul(s, stride)
        for v in range(VECTORS):
            ys = [emit.load(emit.at(right, offset, b * STRIP + v * LANES)) for b in range(SIDE)]
            for a in range(2):
                x = emit.load(emit.at(left, offset, a * STRIP + v * LANES))
                for b in range(SIDE):
                    new[a][b] = emit.add_product(new[a][b], x, ys[b])
        following = builder.add(s, I64(1))
        builder.cbranch(builder.icmp_signed("<", following, strips), loop, done)
        s.add_incoming(I64(0), entry)
        s.add_incoming(following, loop)
        builder.position_at_end(done)
        for a in range(2):
            for b in range(SIDE):
                phis[a][b].add_incoming(starts[a][b], entry)
                phis[a][b].add_incoming(new[a][b], loop)
                emit.store(new[a][b], emit.at(target, (a * SIDE + b) * LANES))
        return context.get_dummy_value()

    return signature, codegen


@cache
def warm() -> None:
    """Compile, or load from disk."""
    Z, mu, w = np.zeros((2, 3)), np.zeros((1, 2)), np.ones((1, 3))
    log_densities(Z, mu, pack(np.zeros((1, 2, 2))), np.zeros(1), np.empty((1, 3)))
    moments(Z, w, mu, np.empty((1, 2)), np.empty((1, 2, 2)))
