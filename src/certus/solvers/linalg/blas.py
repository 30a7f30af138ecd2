"""In-place BLAS and LAPACK on submatrices, without the GIL, for use on several threads.

SciPy's wrappers hold the GIL while they compute. The same routines of the same library are called
here at the addresses that SciPy exports to Cython. Matrices are float64 in Fortran order, given by
the address of their first element and the distance between columns.
"""

import ctypes
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack


class Submatrix:
    """A block of a matrix in Fortran order: what BLAS calls (m, n, A, lda)."""

    __slots__ = ("address", "columns", "ld", "rows")

    def __init__(self, address: int, rows: int, columns: int, ld: int):
        self.address, self.rows, self.columns, self.ld = address, rows, columns, ld

    @classmethod
    def of(cls, A: np.ndarray) -> "Submatrix":
        if A.ndim != 2 or A.dtype != np.float64 or not A.flags.f_contiguous:
            raise ValueError("need a float64 matrix in Fortran order")
        if not A.flags.writeable:
            raise ValueError("the matrix is read-only")
        return cls(A.ctypes.data, A.shape[0], A.shape[1], max(1, A.shape[0]))

    def __getitem__(self, at: tuple[slice, slice]) -> "Submatrix":
        (i, i_stop), (j, j_stop) = ((s.start, s.stop) for s in at)
        return Submatrix(self.address + 8 * (i + j * self.ld), i_stop - i, j_stop - j, self.ld)


def _routine(module: Any, name: str, arguments: int) -> Any:
    capsule = module.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get_pointer(capsule, get_name(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)  # releases the GIL


_potrf = _routine(cython_lapack, "dpotrf", 5)
_trsm = _routine(cython_blas, "dtrsm", 11)
_syrk = _routine(cython_blas, "dsyrk", 10)
_gemm = _routine(cython_blas, "dgemm", 13)


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _char(value: bytes) -> Any:
    return ctypes.byref(ctypes.c_char(value))


_ONE, _MINUS_ONE = (ctypes.byref(ctypes.c_double(x)) for x in (1.0, -1.0))


def potrf(A: Submatrix) -> int:
    """Overwrite the upper triangle of A by R, A = RᵀR. Returns 0, or the order of the leading minor
    that is not positive definite."""
    info = ctypes.c_int()
    _potrf(_char(b"U"), _int(A.rows), A.address, _int(A.ld), ctypes.byref(info))
    return info.value


def trsm(R: Submatrix, B: Submatrix, transposed: bool) -> None:
    """B ← R⁻ᵀB or R⁻¹B, for R upper triangular."""
    trans = b"T" if transposed else b"N"
    flags = [_char(flag) for flag in (b"L", b"U", trans, b"N")]
    sizes = _int(B.rows), _int(B.columns)
    _trsm(*flags, *sizes, _ONE, R.address, _int(R.ld), B.address, _int(B.ld))


def syrk(A: Submatrix, C: Submatrix) -> None:
    """C ← C − AᵀA, upper triangle only."""
    sizes = _int(C.rows), _int(A.rows)
    flags = _char(b"U"), _char(b"T")
    _syrk(*flags, *sizes, _MINUS_ONE, A.address, _int(A.ld), _ONE, C.address, _int(C.ld))


def gemm(A: Submatrix, B: Submatrix, C: Submatrix, transposed: bool) -> None:
    """C ← C − AᵀB or C − AB."""
    flags = _char(b"T" if transposed else b"N"), _char(b"N")
    sizes = _int(C.rows), _int(C.columns), _int(B.rows)
    parts = A.address, _int(A.ld), B.address, _int(B.ld), _ONE, C.address, _int(C.ld)
    _gemm(*flags, *sizes, _MINUS_ONE, *parts)
