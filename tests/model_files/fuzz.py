"""Fuzz the loader: ``python -m tests.model_files.fuzz --inputs 100000``.

Files of several models are damaged, byte by byte or in their JSON. Whatever comes of it, loading
must end in a model or in ``ModelFileError``, within a time, and must not start a process or open a
connection. What our reader accepts the official safetensors reader
must accept too, with the same arrays.
"""

import argparse
import collections
import copy
import json
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import safetensors

import certus
from certus import model_files
from certus.exceptions import ModelFileError
from certus.model_files import layout
from certus.model_files.files import DOCUMENT

SECONDS = 60  # of CPU time that one input may take; a kernel may be compiled in it
FORBIDDEN = (
    "os.system",
    "subprocess.Popen",
    "socket.connect",
    "os.exec",
)  # Numba keeps its cache by pickle
ODD_VALUES = [
    None, True, -1, 0, 2**31, 2**63, -(2**70), 1.5, 1e308, "", "x", "coef_", "certus", "\x00",
    [], [[]], {}, {"$array": "coef_"}, {"$float": "nan"}, {"$tuple": []}, {"$dict": [[[], 1]]},
    {"$object": ["os.system", {}]}, {"$object": ["certus.linear_model.Ridge", {}]},
    {"$object": ["certus.losses.Squared", {}]}, {"$sparse": ["csr", True, [2, 2], 1, 2, 3]},
    {"$text": ["U3", [2], ["abc", "de"]]}, {"$objects": [[2], [1, 2]]}, {"$scalar": ["F64", 1]},
    {"$dtype": "<f8"}, {"$slice": [0, 1, 0]}, {"$type": "float64"}, {"$function": "eval"},
    "certus.cluster.KMeans", "sklearn.pipeline.Pipeline", "F32", "BOOL", "I64",
]  # fmt: skip


def originals() -> list[bytes]:
    """Files of models of different kinds."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    y = X[:, 0] > rng.normal(size=25)
    text = np.column_stack([X.astype(object), np.where(y, "a", "b").astype(object)])
    columns = ColumnTransformer([("n", PolynomialFeatures(2), [0, 1]), ("c", OneHotEncoder(), [3])])
    models = [
        certus.linear_model.Ridge().fit(X, X[:, 0]),
        certus.linear_model.LogisticRegression().fit(X, y),
        certus.cluster.KMeans(2, random_state=0).fit(X),
        certus.cluster.AgglomerativeClustering(2).fit(X),
        certus.mixture.GaussianMixture(2, random_state=0).fit(X),
        certus.neighbors.KNeighborsClassifier(3).fit(X, y),
        certus.svm.LSSVC().fit(X, y),
        make_pipeline(StandardScaler(), certus.linear_model.Lasso(0.1)).fit(X, X[:, 0]),
        make_pipeline(columns, certus.linear_model.LogisticRegression()).fit(text, y),
    ]
    return [model_files.to_bytes(model) for model in models]


# --- damage ---------------------------------------------------------------------------------------


def damaged(rng: np.random.Generator, files: list[bytes]) -> bytes:
    """One of the files, changed."""
    content = files[rng.integers(len(files))]
    return _HOW[rng.integers(len(_HOW))](rng, content)


def _bytes_changed(rng, content):
    content = bytearray(content)
    for _ in range(rng.integers(1, 8)):
        where = rng.integers(min(len(content), 2_000) if rng.random() < 0.7 else len(content))
        content[where] = rng.integers(256)
    return bytes(content)


def _length_changed(rng, content):
    a, b = np.sort(rng.integers(len(content) + 1, size=2))
    if rng.random() < 0.5:
        return content[:a] + content[b:]
    return content[:b] + content[a:]


def _header_changed(rng, content):
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    _change(rng, header)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def _document_changed(rng, content):
    metadata, arrays = layout.from_bytes(content)
    document = json.loads(metadata[DOCUMENT])
    for _ in range(rng.integers(1, 4)):
        _change(rng, document)
    return layout.to_bytes({DOCUMENT: json.dumps(document)}, arrays)


def _arrays_changed(rng, content):
    metadata, arrays = layout.from_bytes(content)
    name = list(arrays)[rng.integers(len(arrays))]
    odd = [
        arrays[name].ravel()[:-1], arrays[name][None], np.zeros(0), np.full(3, np.nan),
        arrays[name].astype(np.float32), np.zeros((2, 2), bool), -arrays[name].astype(float),
        np.full(arrays[name].shape, 2**40), np.asarray(arrays[name]).T,
    ]  # fmt: skip
    arrays[name] = odd[rng.integers(len(odd))]
    return layout.to_bytes(metadata, arrays)


_HOW = [_bytes_changed, _length_changed, _header_changed, _document_changed, _arrays_changed]
_HOW += [_document_changed] * 3  # the largest surface


def _change(rng, value):
    """Replace, remove or copy one value at a random depth."""
    places = [*_places(value)]
    holder, key = places[rng.integers(len(places))]
    action = rng.integers(4)
    if action == 0 and isinstance(holder, dict):
        del holder[key]
    elif action == 1:
        other, other_key = places[rng.integers(len(places))]
        holder[key] = json.loads(json.dumps(other[other_key]))
    elif action == 2 and isinstance(holder, dict):
        holder[str(ODD_VALUES[rng.integers(len(ODD_VALUES))])] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(ODD_VALUES[rng.integers(len(ODD_VALUES))])


def _places(value):
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


# --- one input ------------------------------------------------------------------------------------


class Late(BaseException):
    """One input took too long."""


def outcome(content: bytes, path: Path) -> str:
    """ "loaded" or "refused"; anything else raises."""
    _compare_with_official(content)
    path.write_bytes(content)
    try:
        model = certus.load(path)
    except ModelFileError:
        return "refused"
    assert hasattr(model, "fit")
    return "loaded"


def _compare_with_official(content: bytes) -> None:
    try:
        ours = layout.from_bytes(content).arrays
    except ModelFileError:
        return
    theirs = dict(safetensors.deserialize(content))
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert list(array.shape) == theirs[name]["shape"]
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        assert little.tobytes() == bytes(theirs[name]["data"])


def run(inputs: int, seed: int = 0, seconds: float = float("inf"), report=None) -> dict[str, int]:
    """Counts of outcomes; raises at the first input that breaks the rule, naming its number."""
    files, counts = originals(), collections.Counter()
    for content in files:  # whatever is compiled or imported, is so now
        layout.from_bytes(content)
    end = time.monotonic() + seconds
    with (
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(),
        forbidden_events() as events,
    ):
        warnings.simplefilter("ignore")
        path = Path(folder) / "fuzzed.certus"
        for content in files:
            assert outcome(content, path) == "loaded"
        events.clear()
        for number in range(inputs):
            content = damaged(np.random.default_rng([seed, number]), files)
            with limited(SECONDS, f"input {number} of seed {seed}"):
                counts[outcome(content, path)] += 1
            assert not events, f"input {number} of seed {seed}: {events}"
            if report is not None and number % 1000 == 999:
                report(number + 1, counts)
            if time.monotonic() > end:
                break
    return dict(counts)


@contextmanager
def forbidden_events() -> Iterator[list[str]]:
    """The processes and connections that are started within."""
    events: list[str] = []
    armed = [True]
    sys.addaudithook(  # it cannot be removed
        lambda event, _: events.append(event) if armed[0] and event in FORBIDDEN else None
    )
    try:
        yield events
    finally:
        armed[0] = False


@contextmanager
def limited(seconds: float, what: str) -> Iterator[None]:
    """Whatever is raised within becomes an AssertionError that names the input; so is slowness."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except BaseException as error:
        raise AssertionError(f"{what}: {error!r}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _late(_signal, _frame):
    raise Late("it took too long")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.model_files.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    how = parser.parse_args()
    counts = run(how.inputs, how.seed, report=lambda n, c: print(f"{n:,}: {dict(c)}", flush=True))
    print(counts)


if __name__ == "__main__":
    main()
