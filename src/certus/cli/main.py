"""The ``certus`` command: which one, and what its end means.

    certus fit        fit a model to a table, print its certificate, write a model file
    certus predict    answers of a model file for the rows of a table
    certus verify     recompute the claim of a model file from its table
    certus cluster    groups of rows, with evidence or "none found"
    certus show       what a model file holds
    certus export     a model file as ONNX, or its certificate as a script
    certus demo       fits beside scikit-learn's, each with its certificate
    certus doctor     versions, threads, BLAS, and whether compiled kernels can be kept
    certus warm       compile the kernels now rather than at the first large fit

Exit codes: 0 done, 1 a claim does not hold, 2 usage, 3 data refused, 4 model file refused, 70 a bug
of certus, 130 stopped.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from ..exceptions import MissingExtraError, ModelFileError, TableError, UsageError
from ..tables.suggestions import unknown
from . import cluster, export, fit, output, predict, show, verify
from .exit_codes import BUG, DATA_REFUSED, MODEL_FILE_REFUSED, OK, STOPPED, USAGE
