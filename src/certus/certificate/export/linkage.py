"""Slots of a tree: its merges.

The script reads the rows, or the distances where these were given.
"""

from typing import TYPE_CHECKING

from ..explain.linkage import TreeWording
from .readers import rows_alone
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate

USAGE = (
    "X.npy         (or a .csv file, without a header; sparse X as\n"
    "                                 .npz from scipy.sparse.save_npz, CSR)"
)
REPORT = """\
    for said in found["wrong"]:
        print(said)
    wrong = int(found["objective"])
    print(f"{found['sampled']:,} of {found['merges']:,} merges recomputed, {wrong} are wrong")
    holds = not wrong"""


def slots(c: "Certificate", words: TreeWording) -> Slots:
    return Slots(
        claimed=f"Claimed:   {c.formula}; {words.claim(c)}",
        usage=USAGE,
        reader=rows_alone(c),
        report=REPORT,
        parameters="the tree",
    )
