"""The script of a certificate of clusters: the centres, and the definition.

It reads X alone. Labels follow from the centres; those of rows with several nearest centres are
part of the claim, and are in the script.
"""

from typing import TYPE_CHECKING

from ._explain_clusters import best, note
from ._export import assembled, require_certified

if TYPE_CHECKING:
    from .certificate import Certificate

HEAD = '''"""Recompute what a {model} claims, from its data and the definition below.

Needs NumPy only.

    python {name} X.npy [weights.npy]               (or .csv files, without a header; sparse X as
                                                     .npz from scipy.sparse.save_npz, CSR)

Minimised: {formula}
Claimed:   {claim}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""

import sys
'''

MAIN = """

def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__)
        return 2
    try:
        X, s = (*map(load, arguments), None)[:2]
        X = X if isinstance(X, Sparse) else X.reshape(len(X), -1)
    except (OSError, ValueError, KeyError) as error:
        print(f"the data could not be read: {{error}}")
        return 2
    shapes = X.shape, (len(X),) if s is None else s.shape
    fitted = {shape!r}, ({shape[0]},)
    if shapes != fitted:
        print(f"X and weights have shapes {{shapes}}, the model was fitted on {{fitted}}")
        return 2
    found = check(Data(X, np.zeros((len(X), 0)), s), tol={tol!r}, **PARAMETERS)
    print(f"objective {{found['objective']!r}}, claimed {objective!r}")
    print(f"one more step lowers it by {{found['residual']:.3g}} of it, at most")
    move = found["move"]
    if move is None:
        print(f"no single row's move lowers it by more than {{found.get('moves_at_most', 0):.3g}}")
    else:
        print(f"moving row {{move['row']}} to cluster {{move['to']}} lowers it by {{move['gain']}}")
    if found["bound"] is not None:
        print(f"no centres have an objective below {{found['bound']!r}}")
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * abs({objective!r})
    holds = bool(same and found["residual"] <= {tol!r} and ({bound!r} is None or found["bound"]
            is not None and found["bound"] >= {bound!r} * (1 - 1e-9)))
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def script(c: "Certificate", name: str = "check.py") -> str:
    require_certified(c)
    values = {
        "model": c.model, "formula": c.formula, "objective": c.objective, "bound": c.bound,
        "shape": c.shape, "tol": c.tol, "name": name, "claim": f"{note(c)}; {best(c)}",
        "block": max(1024, min(2**16, 2**22 // c.shape[1])),  # with many rows of each cluster
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "the model's centres")
