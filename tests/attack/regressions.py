"""Cases that failed earlier: (seed, target, generator). They are tried first."""

CASES: list[tuple[int, str, str]] = []
