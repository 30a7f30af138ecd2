"""Proofs for linear classifiers: logistic, softmax, ordinal, Firth, Huber and squared hinge."""
