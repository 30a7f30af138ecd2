"""Certificates in words and in HTML: one module for each family of models."""
