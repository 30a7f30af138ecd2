"""Where blocks of rows live and statistics run: threads of this process, or the workers of Dask.

A statistic is a pure function of one block and its arguments. An engine runs it where the block is
(``protocol.py``), and partial results are combined in one fixed tree (``tree.py``), so that the
engine does not change the answer.
"""
