"""Proofs for least-squares support vector machines, and the kernels they use."""
