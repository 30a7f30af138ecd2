"""Proofs for trees of clusters: merges, heights and splits, recomputed from the rows."""
