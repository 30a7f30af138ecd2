"""The script of a certificate of a tree: its merges, and the definition.

It reads the rows, or the distances where these were given.
"""

from typing import TYPE_CHECKING

from ._explain_linkage import claim
from ._export import assembled, require_certified

if TYPE_CHECKING:
    from .certificate import Certificate

HEAD = '''"""Recompute what a {model} claims, from its data and the definition below.

Needs NumPy only.

    python {name} X.npy         (or a .csv file, without a header; sparse X as
                                 .npz from scipy.sparse.save_npz, CSR)

Claimed:   {formula}; {claim}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""

import sys
'''

MAIN = """

def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    try:
        X = load(arguments[0])
        X = X if isinstance(X, Sparse) else X.reshape(len(X), -1)
    except (OSError, ValueError, KeyError) as error:
        print(f"the data could not be read: {{error}}")
        return 2
    if X.shape != {shape!r}:
        print(f"X has shape {{X.shape}}, the model was fitted on {shape!r}")
        return 2
    found = check(Data(X, np.zeros((len(X), 0)), None), tol={tol!r}, **PARAMETERS)
    for said in found["wrong"]:
        print(said)
    wrong = int(found["objective"])
    print(f"{{found['sampled']:,}} of {{found['merges']:,}} merges recomputed, {{wrong}} are wrong")
    print("THE CLAIM DOES NOT HOLD" if wrong else "the claim holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def script(c: "Certificate", name: str = "check.py") -> str:
    require_certified(c)
    values = {
        "model": c.model, "formula": c.formula, "shape": c.shape, "tol": c.tol, "name": name,
        "block": 1024, "claim": claim(c),
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "the tree")
