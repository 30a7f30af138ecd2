"""Linear algebra that several solvers share: Gram sums, factorisations, sparse sums."""
