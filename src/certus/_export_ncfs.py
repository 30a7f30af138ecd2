"""The script of a certificate of NCFS: the weights, how columns are scaled, and the definition."""

from typing import TYPE_CHECKING

from ._explain_ncfs import note
from ._export import _targets, assembled, require_certified
from .exceptions import CertificateError

if TYPE_CHECKING:
    from .certificate import Certificate

HEAD = '''"""Recompute what a {model} claims, from its data and the definition below.

Needs NumPy only.

    python {name} X.npy y.npy [weights.npy]         (or .csv files, without a header)

Maximised: {formula}
Claimed:   {claim}
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""

import sys
'''

MAIN = """

{labels}def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__)
        return 2
    try:
{read}
    except (OSError, ValueError, KeyError) as error:
        print(f"the data could not be read: {{error}}")
        return 2
    shapes = X.shape, y.shape, (len(X),) if s is None else s.shape
    fitted = {shape!r}, ({shape[0]}, 1), ({shape[0]},)
    if shapes != fitted:
        print(f"X, y and weights have shapes {{shapes}}, the model was fitted on {{fitted}}")
        return 2
    found = check(Data(X, y, s), tol={tol!r}, **PARAMETERS)
    print(f"objective {{found['objective']!r}}, claimed {objective!r}")
    print(f"the slope that violates its condition most: {{found['residual']:.3g}} of {unit}")
    if found["score"].value is not None:
        print(f"each row by the others: {{found['score'].kind}} {{found['score'].value:.6g}}")
    for said in found["wrong"]:
        print(said)
    same = abs(found["objective"] - {objective!r}) <= 1e-9 * abs({objective!r})
    holds = bool(same and not found["wrong"] and found["residual"] <= {tol!r})
    print("the claim holds" if holds else "THE CLAIM DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def script(c: "Certificate", name: str = "check.py") -> str:
    require_certified(c)
    if callable(c.parameters.get("loss")):
        raise CertificateError(
            "nothing to export: the loss is a function of yours, which a script cannot hold. "
            "certus.verify recomputes the claim with it"
        )
    values = {
        "model": c.model, "formula": c.formula, "objective": c.objective, "shape": c.shape,
        "tol": c.tol, "name": name, "block": 1024, "claim": note(c),
        "unit": "alpha" if c.found["penalised"] else "the largest there can be",
        **_targets(c.labels),
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "the model's weights")
