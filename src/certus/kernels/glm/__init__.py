"""Compiled losses, derivatives and products of linear models."""
