"""CPU vectors for kernels that need explicit ones: Numba has no vector variables.

An ``Emitter`` writes the LLVM instructions of an intrinsic. Every load, store, offset and cast goes
through it with an explicit type: LLVM's pointers no longer have an element type, and llvmlite is
about to drop the types that it still adds.
"""

from llvmlite import ir

from certus.kernels._compile import LANES

F64, I64, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
BYTE = ir.IntType(8)
VECTOR = ir.VectorType(F64, LANES)
ZERO = VECTOR([0.0] * LANES)
FUSE = ("contract",)  # an FMA if the CPU has one; without it, llvm.fma would call libm


class Emitter:
    """Writer of instructions at the builder's position; plain ints as operands are constants.

    A pointer is only an address. ``scalar`` is the type of the elements there.
    """

    def __init__(self, context, builder):
        self.context, self.builder = context, builder

    # ------------------------------------------------------------------------------- addresses

    def data(self, kind, array):
        """Address of the first element of an array of Numba's type ``kind``."""
        return self.context.make_array(kind)(self.context, self.builder, array).data

    def address(self, number):
        """Convert an integer to an address."""
        return self.builder.inttoptr(number, BYTE.as_pointer())

    def at(self, pointer, *offsets, scalar=F64):
        """Address ``offsets`` elements further."""
        pointer = self._typed(pointer, scalar)
        for offset in offsets:
            offset = I64(offset) if isinstance(offset, int) else offset
            pointer = self.builder.gep(pointer, [offset], source_etype=scalar)
        return pointer

    def at_bytes(self, pointer, *offsets):
        """Address ``offsets`` bytes further."""
        return self.at(pointer, *offsets, scalar=BYTE)

    def _typed(self, pointer, kind):
        """Cast the pointer to ``kind`` if llvmlite still has typed pointers."""
        if getattr(pointer.type, "is_opaque", True):
            return pointer
        return self.builder.bitcast(pointer, kind.as_pointer())

    # ---------------------------------------------------------------------------------- memory

    def load(self, pointer, scalar=F64):
        """Load a vector of LANES elements."""
        kind = ir.VectorType(scalar, LANES)
        # aligned as one element, since rows may start anywhere
        align = 8 if scalar == F64 else 4
        return self.builder.load(self._typed(pointer, kind), align=align, typ=kind)

    def load_one(self, pointer, scalar=F64):
        """Load one element."""
        return self.builder.load(self._typed(pointer, scalar), typ=scalar)

    def store(self, vector, pointer):
        """Store a vector of LANES doubles."""
        self.builder.store(vector, self._typed(pointer, VECTOR), align=8)

    def prefetch(self, pointer, write, locality):
        """Prefetch the cache line at an address, which need not be valid."""
        pointer = self._typed(pointer, BYTE)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, I32, I32, I32])
        function = self.builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        self.builder.call(function, [pointer, I32(write), I32(locality), I32(1)])

    # ---------------------------------------------------------------------------------- values

    def bits(self, value, kind):
        """Reinterpret the bits of a value as another type."""
        return self.builder.bitcast(value, kind)

    def doubles(self, vector, scalar):
        """Convert a vector of ``scalar`` to double precision."""
        return vector if scalar == F64 else self.builder.fpext(vector, VECTOR)

    def times(self, value, factor):
        return self.builder.mul(value, I64(factor) if isinstance(factor, int) else factor)

    def broadcast(self, scalar):
        lane0 = self.builder.insert_element(VECTOR(ir.Undefined), scalar, I32(0))
        mask = ir.VectorType(I32, LANES)([0] * LANES)
        return self.builder.shuffle_vector(lane0, VECTOR(ir.Undefined), mask)

    def add_product(self, total, a, b):
        return self.builder.fadd(total, self.builder.fmul(a, b, flags=FUSE), flags=FUSE)
