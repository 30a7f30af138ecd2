"""The script of a certificate of a mixture: shares, components, and the definition. It reads X."""

from typing import TYPE_CHECKING

from ._explain_mixture import note
from ._export import assembled, require_certified

if TYPE_CHECKING:
    from .certificate import Certificate

HEAD = '''"""Recompute what a {model} claims, from its data and the definition below.

Needs NumPy only.

    python {name} X.npy [weights.npy]               (or .csv files, without a header; nan where a
                                                     value is missing)

Maximised: {formula}
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
    print(f"one more step gains {{found['residual']:.3g}} a row, at most")
    for said in found["wrong"]:
        print(said)
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * (abs({objective!r}) + {weight!r})
    holds = bool(same and not found["wrong"] and found["residual"] <= {tol!r})
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def script(c: "Certificate", name: str = "check.py") -> str:
    require_certified(c)
    values = {
        "model": c.model, "formula": c.formula, "objective": c.objective, "shape": c.shape,
        "tol": c.tol, "name": name, "claim": note(c), "block": 4096, "weight": c.found["weight"],
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "the model's shares and components")
