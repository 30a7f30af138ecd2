"""Vectors of the CPU for kernels that need them by name: Numba has no vector variables.

An intrinsic is written in LLVM's instructions by an ``Emitter``. Every load, store, offset and
cast goes through it with its type beside it: LLVM's pointers have no element type any more, and
llvmlite is about to drop the ones that it still adds.
"""

from llvmlite import ir

from certus.kernels._compile import LANES

F64, I64, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
BYTE = ir.IntType(8)
VECTOR = ir.VectorType(F64, LANES)
ZERO = VECTOR([0.0] * LANES)
FUSE = ("contract",)  # an FMA where the CPU has one; llvm.fma would call libm where it has not


class Emitter:
    """Writes instructions at the builder's place; plain ints among the operands are constants.

    A pointer is an address and no more. ``scalar`` is the type of the elements there.
    """

    def __init__(self, context, builder):
        self.context, self.builder = context, builder

    # ------------------------------------------------------------------------------- addresses

    def data(self, kind, array):
        """Address of the first element of an array of Numba's type ``kind``."""
        return self.context.make_array(kind)(self.context, self.builder, array).data

    def address(self, number):
        """The whole number as an address."""
        return self.builder.inttoptr(number, BYTE.as_pointer())

    def at(self, pointer, *offsets, scalar=F64):
        """The address ``offsets`` elements further."""
        pointer = self._typed(pointer, scalar)
        for offset in offsets:
            offset = I64(offset) if isinstance(offset, int) else offset
            pointer = self.builder.gep(pointer, [offset], source_etype=scalar)
        return pointer

    def at_bytes(self, pointer, *offsets):
        """The address ``offsets`` bytes further."""
        return self.at(pointer, *offsets, scalar=BYTE)

    def _typed(self, pointer, kind):
        """The pointer as one to ``kind``, where llvmlite still checks what pointers point to."""
        if getattr(pointer.type, "is_opaque", True):
            return pointer
        return self.builder.bitcast(pointer, kind.as_pointer())

    # ---------------------------------------------------------------------------------- memory

    def load(self, pointer, scalar=F64):
        """A vector of LANES elements."""
        kind = ir.VectorType(scalar, LANES)
        # aligned as an element is: any row may start anywhere
        align = 8 if scalar == F64 else 4
        return self.builder.load(self._typed(pointer, kind), align=align, typ=kind)

    def load_one(self, pointer, scalar=F64):
        """One element."""
        return self.builder.load(self._typed(pointer, scalar), typ=scalar)

    def store(self, vector, pointer):
        """Write a vector of LANES doubles."""
        self.builder.store(vector, self._typed(pointer, VECTOR), align=8)

    def prefetch(self, pointer, write, locality):
        """Ask for the cache line at an address, which need not be valid."""
        pointer = self._typed(pointer, BYTE)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, I32, I32, I32])
        function = self.builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        self.builder.call(function, [pointer, I32(write), I32(locality), I32(1)])

    # ---------------------------------------------------------------------------------- values

    def bits(self, value, kind):
        """Reinterpret the bits of a value as another type."""
        return self.builder.bitcast(value, kind)

    def doubles(self, vector, scalar):
        """A vector of ``scalar`` in double precision."""
        return vector if scalar == F64 else self.builder.fpext(vector, VECTOR)

    def times(self, value, factor):
        return self.builder.mul(value, I64(factor) if isinstance(factor, int) else factor)

    def broadcast(self, scalar):
        lane0 = self.builder.insert_element(VECTOR(ir.Undefined), scalar, I32(0))
        mask = ir.VectorType(I32, LANES)([0] * LANES)
        return self.builder.shuffle_vector(lane0, VECTOR(ir.Undefined), mask)

    def add_product(self, total, a, b):
        return self.builder.fadd(total, self.builder.fmul(a, b, flags=FUSE), flags=FUSE)
