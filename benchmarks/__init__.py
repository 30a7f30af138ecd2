"""Benchmarks: seconds to an optimum that plain NumPy confirms, libraries side by side."""
