"""Parameters as Python source: every digit of a number, NumPy arrays with their types."""

import numpy as np


def literal(value: object) -> str:
    if isinstance(value, np.ndarray):
        # repr of a Python float has all its digits
        values, kind = (
            repr(value.tolist()),
            "float" if value.dtype.kind == "f" else value.dtype.name,
        )
        values = values.replace("inf", "np.inf").replace("nan", "np.nan")
        return f"np.array({values}, dtype={kind!r}).reshape({value.shape!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))},)"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and np.isinf(value):
        return f"float('{value}')"
    return repr(value.item() if isinstance(value, np.generic) else value)
