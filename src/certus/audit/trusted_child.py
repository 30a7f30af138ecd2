"""A pickled model, loaded in a process of its own.

Loading a pickle runs whatever code is in it. This is the only module of the package that does it,
only for a file that the user says to trust, and only in a process that ends with the audit.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent.parent
MARK = "CERTUS_TRUSTED_CHILD"  # environment variable of that process


def is_child() -> bool:
    """Return whether this process was started to load a trusted pickle."""
    return os.environ.get(MARK) == "1"


def load(path: str | os.PathLike[str]) -> Any:
    """Load a pickle, also one that joblib compressed."""
    if not is_child():
        raise RuntimeError("pickles are loaded in a process of their own")
    import joblib

    return joblib.load(path)


def run(arguments: Sequence[str]) -> int:
    """Run a command of certus in a process that may load pickles; return its exit code.

    A negative code is the signal that ended it.
    """
    # this certus, whichever is installed; "-m" adds the working folder, as scripts there have it
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, MARK: "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "certus", *arguments]
    return subprocess.run(command, env=environment, check=False).returncode
