"""A tree in the Newick format, which phylogenetics software reads; written without recursion.

(a:1,(b:0.5,c:0.5):0.5);     a name, and after the colon the length of the branch above it
"""

import re
from typing import Any

import numpy as np

UNQUOTED_NAME = re.compile(r"[A-Za-z0-9_.+-]+")  # names that need no quotes


def newick(merges: np.ndarray, names: list[str]) -> str:
    """Return the tree as Newick text."""
    n = len(names)
    heights = [0.0] * n + merges[:, 2].tolist()
    pairs = merges[:, :2].astype(np.intp).tolist()
    written: list[str] = []
    stack: list[Any] = [2 * n - 2]  # a cluster, or text that closes one
    above = {2 * n - 2: heights[-1]}
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            written.append(part)
            continue
        branch = f":{above.pop(part) - heights[part]:.17g}" if part != 2 * n - 2 else ""
        if part < n:
            written.append(_quoted(names[part]) + branch)
            continue
        a, b = pairs[part - n]
        above[a] = above[b] = heights[part]
        written.append("(")
        stack += [")" + branch, b, ",", a]
    return "".join(written) + ";"


def _quoted(name: str) -> str:
    return name if UNQUOTED_NAME.fullmatch(name) else "'" + name.replace("'", "''") + "'"
