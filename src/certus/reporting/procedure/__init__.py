"""From prepared rows to a chosen, certified model, and an honest score of the whole choice.

outer folds:  choose(training rows) ─► predict the held-out rows       (scores the procedure)
all rows:     choose(all rows) ─► refit ─► calibrate ─► certify       (the model that is kept)

choose: each candidate is scored on inner folds; the simplest within one standard error wins.
"""

from .progress import Progress, Silent
from .run import run_procedure

__all__ = ["Progress", "Silent", "run_procedure"]
