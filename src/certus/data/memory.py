"""The free memory of the machine, and matrices that would not fit in it."""

import os

from ..text.format import count

UNCHECKED_BYTES = 1 << 28  # smaller needs are met without a look at the free memory


def available_memory() -> int | None:
    """Free memory in bytes; None where the system does not report it."""
    try:
        with open("/proc/meminfo") as meminfo:
            for line in meminfo:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def memory_for_gram(n: int, p: int, threads: int) -> None:
    """Refuse Gram matrices that do not fit in memory, before anything is allocated."""
    side = min(n, p)
    needed = 8 * side * side * (threads + 2)
    free = None if needed < UNCHECKED_BYTES else available_memory()
    if free is not None and needed > free:
        product = "XᵀX" if p < n else "XXᵀ"
        raise MemoryError(
            f"{product} of {count(side, 'column' if p < n else 'row')} needs "
            f"{needed / 2**30:,.0f} GiB and {free / 2**30:,.0f} GiB are free: select features "
            "first, or use a machine with more memory"
        )


def memory_for_streamed(n: int, p: int, threads: int) -> None:
    """Refuse sums of products of streamed rows that do not fit in memory, their blocks included.

    With fewer rows than columns, the rows themselves are smaller than their sums, and are read.
    """
    if n > p:  # a block has up to 5p/2 rows, as they are read and centred
        needed, what = 8 * p * p * (6 * threads + 3), f"XᵀX of {count(p, 'column')} and its blocks"
    else:
        needed, what = 8 * n * p * 4, f"{count(n, 'row')} of {count(p, 'column')}"
    free = None if needed < UNCHECKED_BYTES else available_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} need {needed / 2**30:,.0f} GiB and {free / 2**30:,.0f} GiB are free: select "
            "columns, open_rows(…, columns=…), use fewer threads, or a machine with more memory"
        )


def memory_for_kernel(n: int, matrices: int) -> None:
    """Refuse n × n matrices of float64 that do not fit in memory."""
    needed = 8 * n * n * matrices
    free = None if needed < UNCHECKED_BYTES else available_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"the kernel of {count(n, 'row')} needs {needed / 2**30:,.0f} GiB and "
            f"{free / 2**30:,.0f} GiB are free: use fewer rows, or a machine with more memory"
        )
