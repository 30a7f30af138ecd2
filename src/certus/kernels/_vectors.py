"""Vectors of the CPU for kernels that need them by name: Numba has no vector variables.

An intrinsic is written in LLVM's instructions by an ``Emitter``. A kernel's cache on disk does not
notice a change of this file: change the kernels that use it along with it.
"""

import llvmlite.binding
from llvmlite import ir

# Doubles per vector. 4 suits AVX2 as well as NEON, where LLVM splits it into two registers.
LANES = 8 if llvmlite.binding.get_host_cpu_features().get("avx512f", False) else 4
F64, I64, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
BYTES = ir.IntType(8).as_pointer()
VECTOR = ir.VectorType(F64, LANES)
ZERO = VECTOR([0.0] * LANES)
FUSE = ("contract",)  # an FMA where the CPU has one; llvm.fma would call libm where it has not


class Emitter:
    """Writes instructions at the builder's place; plain ints among the operands are constants."""

    def __init__(self, context, builder):
        self.context, self.builder = context, builder

    def data(self, kind, array):
        return self.context.make_array(kind)(self.context, self.builder, array).data

    def times(self, value, factor):
        return self.builder.mul(value, I64(factor) if isinstance(factor, int) else factor)

    def at(self, pointer, *offsets):
        for offset in offsets:
            offset = I64(offset) if isinstance(offset, int) else offset
            pointer = self.builder.gep(pointer, [offset])
        return pointer

    def load(self, pointer, scalar=F64):
        kind = ir.VectorType(scalar, LANES).as_pointer()
        vector = self.builder.load(self.builder.bitcast(pointer, kind))
        vector.align = 8 if scalar == F64 else 4  # of an element: any row may start anywhere
        return vector

    def store(self, vector, pointer):
        pointer = self.builder.bitcast(pointer, VECTOR.as_pointer())
        self.builder.store(vector, pointer).align = 8

    def broadcast(self, scalar):
        lane0 = self.builder.insert_element(VECTOR(ir.Undefined), scalar, I32(0))
        mask = ir.VectorType(I32, LANES)([0] * LANES)
        return self.builder.shuffle_vector(lane0, VECTOR(ir.Undefined), mask)

    def add_product(self, total, a, b):
        return self.builder.fadd(total, self.builder.fmul(a, b, flags=FUSE), flags=FUSE)

    def prefetch(self, pointer, write, locality):
        kind = ir.FunctionType(ir.VoidType(), [BYTES, I32, I32, I32])
        function = self.builder.module.declare_intrinsic("llvm.prefetch", [BYTES], kind)
        pointer = self.builder.bitcast(pointer, BYTES)
        self.builder.call(function, [pointer, I32(write), I32(locality), I32(1)])
