"""Z ↦ ZᵀZ for tall Z, by tiles whose sums stay in the registers of the CPU.

With z_i = √s_i · (x_i − cx, 1, y_i − cy), the matrix Σ_i z_i z_iᵀ holds all the sums of `gram.py`
but those of y alone. Rows are taken in chunks. `_pack` writes the z of a chunk into strips of
LANES columns (one vector wide, row after row); `_tiles` covers the upper triangle with tiles of
one strip by WIDTH strips; `_tile` sums one of them, in LLVM IR because Numba has no vector
variables.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from certus.kernels._compile import LANES, kernel
from certus.kernels._vectors import I32, I64, VECTOR, ZERO, Emitter

# A tile is LANES × WIDTH vectors. 8 × 3: 24 of the 32 registers, 86 of 89 GFLOPS; 8 × 2 and
# 12 × 2 reached 60 and 65, since a core loads one vector per cycle and multiplies two.
WIDTH = 3
# The three strips under a tile stay in L1 (30 KB of 48). 192 rows were 2 % slower, 256 6 %.
CHUNK = {8: 160, 4: 256}[LANES]
UNROLL = 4  # rows per turn of a tile's loop; 2 was 1 % slower, 1 15 %. Divides CHUNK
STRIP = CHUNK * LANES  # doubles in a strip
BLOCK = 48  # strips whose packed rows stay in L2 (480 KB); 24 and 96 were as fast. WIDTH divides it
PACK_ROWS = 8  # rows packed strip by strip; 16 was as fast, 1 12 % slower (a page for each strip)
LINE = 64  # bytes in a cache line
PREFETCH_BYTES = 32  # of the next chunk, per row of a tile; 16 did as well, 0 was 15 % slower


@kernel
def gram(X, Y, s, cx, cy, G, sx, sy, Xy, yy):
    """Add one block of rows; ``weighted.gram_sums`` states and checks the arguments."""
    n, p = X.shape
    k = Y.shape[1]
    strips = (p + 1 + k + LANES - 1) // LANES
    # The last tile of a kind may read past the last strip; what it reads there must be harmless
    # (zeros, since subnormal garbage would be slow). Loads must not straddle cache lines.
    buffer = np.empty((strips + WIDTH * WIDTH) * STRIP + LINE // 8)
    pack = buffer[-(np.intp(buffer.ctypes.data) // 8) % (LINE // 8) :]
    pack[(p + 1 + k) // LANES * STRIP :] = 0.0
    root = np.ones(CHUNK)
    # Tiles that do not fit into G's columns go to `edge`, whose column 0 is column `first` of Z.
    edge_strip = max(p // LANES - WIDTH + 1, 0)
    first = edge_strip * LANES
    x_columns = (p + LANES - 1) // LANES * LANES
    edge = np.zeros((x_columns, strips * LANES - first))
    # Sums of the last two strips (rows) with those of X, and room for the strips past the last.
    last = np.zeros((2 * LANES, x_columns + WIDTH * WIDTH * LANES))

    for i in range(0, n, CHUNK):
        rows = min(CHUNK, n - i)
        if s.size > 0:
            for r in range(rows):
                root[r] = np.sqrt(s[i + r])
        _pack(X, i, rows, cx, root, pack)
        _pack_rest(Y, i, rows, p, cy, root, pack, sy, yy)
        padded = (rows + UNROLL - 1) // UNROLL * UNROLL
        for t in range(strips):
            pack[t * STRIP + rows * LANES : t * STRIP + padded * LANES] = 0.0
        ahead = np.intp(X.ctypes.data) + (i + CHUNK) * X.strides[0]
        reach = CHUNK * X.strides[0] if X.strides[1] == X.itemsize else 0
        _tiles(pack, padded, p, strips, G, edge, edge_strip, last, ahead, ahead + reach)

    for a in range(p):
        for b in range(first, p):
            G[a, b] += edge[a, b - first]
        sx[a] += edge[a, p - first]
        for m in range(k):
            Xy[a, m] += edge[a, p + 1 + m - first]
    first = (strips - 2) * LANES
    for b in range(max(first, 0), p + 1 + k):
        for a in range(p):
            if b < p:
                G[a, b] += last[b - first, a]
            elif b == p:
                sx[a] += last[b - first, a]
            else:
                Xy[a, b - p - 1] += last[b - first, a]


@kernel
def _pack(X, i, rows, cx, root, pack):
    """Set strip t, row r of `pack` to √s · (x − cx) of row i + r, from column t·LANES on."""
    p = X.shape[1]
    full = p // LANES
    # Column by column where columns are contiguous: a page of memory per column is in use.
    step = PACK_ROWS if abs(X.strides[1]) <= abs(X.strides[0]) else CHUNK
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        for t in range(full):
            for r in range(start, stop):
                _pack_vector(X, i + r, t * LANES, cx, root[r], pack, t * STRIP + r * LANES)
        for r in range(start, stop):
            for j in range(full * LANES, p):
                pack[full * STRIP + r * LANES + j % LANES] = (X[i + r, j] - cx[j]) * root[r]


@kernel
def _pack_rest(Y, i, rows, p, cy, root, pack, sy, yy):
    """Append √s and √s · (y − cy) as columns p, p + 1, …, and sum what involves y alone."""
    at = p // LANES * STRIP + p % LANES
    for r in range(rows):
        pack[at + r * LANES] = root[r]
    for m in range(Y.shape[1]):
        at = (p + 1 + m) // LANES * STRIP + (p + 1 + m) % LANES
        total = 0.0
        squares = 0.0
        for r in range(rows):
            y = (Y[i + r, m] - cy[m]) * root[r]
            pack[at + r * LANES] = y
            total += root[r] * y
            squares += y * y
        sy[m] += total
        yy[m] += squares


@kernel
def _tiles(pack, rows, p, strips, G, edge, edge_strip, last, ahead, stop):
    """Add ZᵀZ of the packed rows: for each strip a of X, tiles from column strip a to the right.

    The strips a, a + WIDTH, … share their column tiles, which therefore stay in L1. A row of tiles
    may leave over the pair (a, strips − 1), or this one and (a, strips − 2). Such pairs are
    collected from the other side, where they fill whole tiles (p = 128: 51 tiles, not 56).
    """
    x_strips = (p + LANES - 1) // LANES
    width = edge.shape[1]
    for block in range(0, x_strips, BLOCK):
        for phase in range(block, block + WIDTH):
            for b in range(phase, strips - WIDTH + 1, WIDTH):
                inside = (b + WIDTH) * LANES <= p
                for a in range(phase, min(block + BLOCK, x_strips, b + 1), WIDTH):
                    if inside:
                        _tile(pack, a, b, 1, rows, G, a * LANES * p + b * LANES, p, ahead)
                    else:
                        c = a * LANES * width + (b - edge_strip) * LANES
                        _tile(pack, a, b, 1, rows, edge, c, width, ahead)
                    ahead = min(ahead + rows * PREFETCH_BYTES, stop)
    width = last.shape[1]
    for left_over in range(1, WIDTH):
        for a in range((strips - left_over) % WIDTH, x_strips, WIDTH * WIDTH):
            for back in range(left_over):
                c = (1 - back) * LANES * width + a * LANES
                _tile(pack, strips - 1 - back, a, WIDTH, rows, last, c, width, ahead)
                ahead = min(ahead + rows * PREFETCH_BYTES, stop)


# ------------------------------------------------------------------------- hand-written LLVM IR


@intrinsic
def _pack_vector(typingctx, X, i, j, cx, scale, pack, at):
    """Set pack[at : at + LANES] = scale · (X[i, j : j + LANES] − cx[j : j + LANES])."""
    signature = types.void(X, types.intp, types.intp, cx, types.float64, pack, types.intp)

    def codegen(context, builder, signature, args):
        x, i, j, cx, scale, pack, at = args
        emit, scalar = Emitter(context, builder), context.get_data_type(X.dtype)
        by_row, by_column = cgutils.unpack_tuple(
            builder, context.make_array(X)(context, builder, x).strides
        )
        start = emit.at_bytes(emit.data(X, x), emit.times(i, by_row), emit.times(j, by_column))
        if X.layout == "C":
            x = emit.load(start, scalar)
        else:
            x = ir.VectorType(scalar, LANES)(ir.Undefined)
            for lane in range(LANES):
                value = emit.load_one(emit.at_bytes(start, emit.times(by_column, lane)), scalar)
                x = builder.insert_element(x, value, I32(lane))
        x = emit.doubles(x, scalar)
        shift = emit.load(emit.at(emit.data(signature.args[3], cx), j))
        # Nothing here writes to cx: LLVM may keep it in a register over the rows.
        shift.set_metadata("invariant.load", builder.module.add_metadata([]))
        z = builder.fmul(builder.fsub(x, shift), emit.broadcast(scale))
        emit.store(z, emit.at(emit.data(signature.args[5], pack), at))
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def _tile(typingctx, pack, a, b, apart, rows, C, c, ldc, ahead):
    """Add Σ_r A[r, m] · B[r, v] to C[c + m·ldc + v] for m, v < LANES and r < rows.

    A is strip a of `pack` and B strip b; likewise, at the same time, the strips b + apart and
    b + 2·apart with the columns of C that are as many strips to the right.
    `rows` is a positive multiple of UNROLL.
    Meanwhile fetches rows·PREFETCH_BYTES bytes at the address `ahead` into L2 (the next chunk of X)
    and the C of the tile which follows, WIDTH strips below.
    """
    signature = types.void(pack, *[types.intp] * 4, C, *[types.intp] * 3)

    def codegen(context, builder, signature, args):
        pack, a, b, apart, rows, C, c, ldc, ahead = args
        emit = Emitter(context, builder)
        pack, C = emit.data(signature.args[0], pack), emit.data(signature.args[5], C)
        strips = [builder.add(b, emit.times(apart, v)) for v in range(WIDTH)]
        left, *right = [emit.at(pack, emit.times(strip, STRIP)) for strip in (a, *strips)]
        columns = [emit.times(apart, v * LANES) for v in range(WIDTH)]
        C_next = emit.at(C, c, emit.times(ldc, WIDTH * LANES))
        ahead = emit.address(ahead)

        entry, loop = builder.block, builder.append_basic_block("rows")
        done = builder.append_basic_block("add")
        builder.branch(loop)
        builder.position_at_end(loop)
        r = builder.phi(I64)
        sums = [[builder.phi(VECTOR) for _ in range(WIDTH)] for _ in range(LANES)]
        new = [list(row) for row in sums]

        for byte in range(0, UNROLL * PREFETCH_BYTES, LINE):
            next_rows = emit.at_bytes(ahead, emit.times(r, PREFETCH_BYTES), byte)
            emit.prefetch(next_rows, write=0, locality=2)
        turn = builder.udiv(r, I64(UNROLL))  # four cache lines in each row of C
        row, line = builder.lshr(turn, I64(2)), builder.and_(turn, I64(3))
        next_line = emit.at(C_next, emit.times(row, ldc), emit.times(line, LINE // 8))
        emit.prefetch(next_line, write=1, locality=3)

        for u in range(UNROLL):
            row = emit.times(builder.add(r, I64(u)), LANES)
            vectors = [emit.load(emit.at(strip, row)) for strip in right]
            for m in range(LANES):
                scalar = emit.broadcast(emit.load_one(emit.at(left, row, m)))
                for v in range(WIDTH):
                    new[m][v] = emit.add_product(new[m][v], scalar, vectors[v])

        following = builder.add(r, I64(UNROLL))
        builder.cbranch(builder.icmp_signed("<", following, rows), loop, done)
        r.add_incoming(I64(0), entry)
        r.add_incoming(following, loop)
        builder.position_at_end(done)
        for m in range(LANES):
            for v in range(WIDTH):
                sums[m][v].add_incoming(ZERO, entry)
                sums[m][v].add_incoming(new[m][v], loop)
                target = emit.at(C, c, emit.times(ldc, m), columns[v])
                emit.store(builder.fadd(emit.load(target), new[m][v]), target)
        return context.get_dummy_value()

    return signature, codegen
