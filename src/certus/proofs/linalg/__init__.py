"""Linear algebra that several proofs share: sums with error bounds, repeated columns."""
