"""EM and its alternatives, for Gaussian and count components."""
