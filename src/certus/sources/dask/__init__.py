"""Dask arrays, data frames and delayed blocks as rows of a fit, and lazy answers to them."""
