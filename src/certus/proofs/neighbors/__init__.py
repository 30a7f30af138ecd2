"""Proofs for nearest neighbours: answers recomputed by differences."""
