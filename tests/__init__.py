"""Tests of certus: contracts, rules of the house, and a folder for each family of models."""
