"""Trees as matrices of SciPy: merges of ``linkage``, edges of ``minimum_spanning_tree``.

    Z[t] = (A, B, h_t, rows)        merge t joined the two nearest clusters A and B, d(A, B) = h_t

A matrix of merges does not say by which d. The proof is run for each of the seven; if none of them
holds, the certificate is that of the linkage with the fewest wrong merges, and says where it first
fails.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import audit
from ..data.rows import Rows
from ..data.validation import data_for_verify
from ..exceptions import CannotVerifyError
from ..text.format import count, listed
from .fitted_rows import ROWS_GIVEN

if TYPE_CHECKING:
    from .certificate import Certificate

Certify = Callable[[audit.Reading, Rows], "Certificate"]


def certify_matrix(
    Z: object, X: object, beside: Iterable[object], certify: Certify
) -> "Certificate":
    """Return the certificate of the linkage whose tree this is, or of the nearest.

    A sparse matrix is a spanning tree, whose certificate says whether it is minimal.

    ``beside``: targets, weights and offsets, of which there must be none.
    """
    if any(given is not None for given in beside):
        raise CannotVerifyError("a tree as a matrix has neither y nor weights: give X alone")
    try:
        if not isinstance(Z, np.ndarray):
            return _spanning_tree(audit.SpanningTree(Z, X), X, certify)
        matrix = audit.LinkageMatrix(Z, X)
        rows = data_for_verify(matrix, X, None, None)
        tried = {
            method: certify(audit.read_matrix(matrix, method, rows), rows)
            for method in audit.AGGLOMERATIVE_METHODS
        }
    except CannotVerifyError:
        raise
    except ValueError as error:
        raise CannotVerifyError(str(error)) from error
    notes = _notes(matrix.metric)
    fitting = [method for method, c in tried.items() if c.certified]
    if fitting:
        if others := fitting[1:]:
            notes.insert(0, f"these merges are also those of {listed(others, 7)} linkage")
        certificate = tried[fitting[0]]
    else:
        certificate = _of_none(tried, "distances" if len(notes) > 1 else "Euclidean distance")
    return replace(certificate, notes=(*certificate.notes, *notes))


def _spanning_tree(tree: audit.SpanningTree, X: object, certify: Certify) -> "Certificate":
    certificate = certify(audit.read_spanning_tree(tree), data_for_verify(tree, X, None, None))
    return replace(certificate, notes=(*certificate.notes, *_notes(tree.metric)))


def _notes(metric: str) -> list[str]:
    as_distances = ["X was read as the distances between the rows"]
    return [*(as_distances if metric == "precomputed" else []), ROWS_GIVEN]


def _of_none(tried: dict[str, "Certificate"], distance: str) -> "Certificate":
    """The certificate of the nearest linkage, which says that the tree is none of the seven."""
    nearest = min(tried, key=lambda method: (tried[method].objective, tried[method].residual))
    c = tried[nearest]
    finding = c._finding
    if len({one._finding.contradictions for one in tried.values()}) == 1:  # it is no tree
        return replace(c, formula=f"one of the seven linkages by {distance}")
    first, *more = finding.contradictions
    wrong = count(int(c.objective), "fault")
    text = (
        f"none of the seven linkages by {distance} has this tree. {nearest.capitalize()} linkage "
        f"is nearest, with {wrong} found: {first}"
    )
    return replace(c, _finding=replace(finding, contradictions=(text, *more)))
