"""Exit codes of the command."""

OK = 0
CLAIM_FAILS = 1  # a claim does not hold, or a fit is not certified
USAGE = 2
DATA_REFUSED = 3
MODEL_FILE_REFUSED = 4
BUG = 70  # ours
STOPPED = 130
