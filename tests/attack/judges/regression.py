"""Penalised regression: which judge knows the penalty."""

from typing import Any

import numpy as np

from . import linear as judge_linear
from . import penalties as judge_penalties
from . import slopes as judge_slopes
from .linear_problems import Rows
from .verdict import Fault

FACES = ("simplex", "group_l2")


def judge(c: Any, model: Any, rows: Rows) -> list[Fault]:
    name = c.parameters["penalty"]["name"]
    if not np.isfinite(c.gap):  # no bound: the claim is about slopes
        return judge_slopes.judge(c, rows)
    if name in FACES:
        return judge_penalties.judge(c, rows)
    return judge_linear.judge(c, model, rows)
