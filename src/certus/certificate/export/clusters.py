"""Slots of clusters: the centres.

The script reads X alone. Labels follow from the centres; those of rows with several nearest centres
are part of the claim, and are in the script.
"""

from typing import TYPE_CHECKING

from ..explain.clusters import ClusterWording
from .readers import rows_and_weights
from .template import Slots

if TYPE_CHECKING:
    from ..certificate import Certificate

USAGE = (
    "X.npy [weights.npy]               (or .csv files, without a header; sparse X as\n"
    "                                                     .npz from scipy.sparse.save_npz, CSR)"
)
REPORT = """\
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
            is not None and found["bound"] >= {bound!r} * (1 - 1e-9)))"""
WORDS = ClusterWording()


def slots(c: "Certificate") -> Slots:
    return Slots(
        claimed=f"Minimised: {c.formula}\nClaimed:   {WORDS.note(c)}; {WORDS.best_known(c)}",
        usage=USAGE,
        reader=rows_and_weights(c),
        report=REPORT.format(objective=c.objective, bound=c.bound, tol=c.tol),
        parameters="the model's centres",
        block=max(1024, min(2**16, 2**22 // c.shape[1])),  # with many rows of each cluster
    )
