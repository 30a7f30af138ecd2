"""Files, Arrow streams and Dask collections as tables of rows that are read block by block."""
