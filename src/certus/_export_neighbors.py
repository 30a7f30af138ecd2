"""The script of a certificate of neighbours: what a model answered, and the definition.

It reads X, and of a model that predicts also y; the rest is as in ``_export.py``.
"""

from typing import TYPE_CHECKING, Any

from ._export import CLASSES, assembled, require_certified
from .exceptions import CertificateError

if TYPE_CHECKING:
    from .certificate import Certificate

HEAD = '''"""Recompute what a {model} answers, from its data and the definition below.

Needs NumPy only.

    python {name} {files}         (or .csv files, without a header; sparse X as
                                   .npz from scipy.sparse.save_npz, CSR)

Claimed:   {formula}, for {queries} queries
Exit code: 0 the claim holds, 1 it does not, 2 the data could not be read.
"""

import sys
'''

MAIN = """

{labels}def read(arguments):
    X = load(arguments[0])
    X = X if isinstance(X, Sparse) else X.reshape(len(X), -1)
{read}
    s = load(arguments[2]) if len(arguments) == 3 else None
    return X, y, s


def main(arguments):
    if len(arguments) not in {wanted}:
        print(__doc__)
        return 2
    try:
        X, y, s = read(arguments)
    except (OSError, ValueError, KeyError) as error:
        print(f"the data could not be read: {{error}}")
        return 2
    shapes = X.shape, y.shape, (len(X),) if s is None else s.shape
    fitted = {shape!r}, ({shape[0]}, {outputs}), ({shape[0]},)
    if shapes != fitted:
        print(f"X, y and weights have shapes {{shapes}}, the model was fitted on {{fitted}}")
        return 2
    found = check(Data(X, y, s), tol={tol!r}, **PARAMETERS)
    for said in found["wrong"]:
        print(said)
    wrong = len(found["wrong"])
    print(f"{{found['answers']:,}} neighbours recomputed, {{wrong}} answers are wrong")
    print("THE CLAIM DOES NOT HOLD" if found["wrong"] else "the claim holds")
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""

READ = {
    "nothing": "    y = np.zeros((len(X), 0))",
    "numbers": "    y = np.asarray(load(arguments[1]), dtype=float).reshape(len(X), -1)",
    "labels": "    y = load_labels(arguments[1]).reshape(len(X), -1)",
}


def script(c: "Certificate", name: str) -> str:
    require_certified(c)
    votes = c.parameters["votes"]
    if callable(c.parameters["metric"]):
        raise CertificateError(
            "nothing to export: the distance is a function, which a script cannot hold"
        )
    if votes is not None and "names" in votes and len(votes["names"]) > 1:
        raise CertificateError(
            "nothing to export: a script reads one column of labels, and the model has "
            f"{len(votes['names'])}"
        )
    kind = "nothing" if votes is None else "numbers" if c.labels is None else "labels"
    labels = ""
    if c.labels is not None:
        labels = CLASSES["labels"].format(classes=repr(c.labels.classes.tolist()))
    values: dict[str, Any] = {
        "model": c.model, "formula": c.formula, "name": name, "shape": c.shape, "tol": c.tol,
        "block": 1024, "queries": len(c.parameters["asked"]), "labels": labels,
        "read": READ[kind], "wanted": (1,) if votes is None else (2, 3),
        "files": "X.npy" if votes is None else "X.npy y.npy [weights.npy]",
        "outputs": 0 if votes is None else votes["predicted"].shape[1],
    }  # fmt: skip
    return assembled(c, values, HEAD, MAIN, "what the model answered")
