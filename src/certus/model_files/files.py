"""Save and load fitted models, without pickle.

A file holds numbers and text; a table in certus says which classes they may become
(``kinds.py``). Loading runs no code of the file's, and nothing outside this package and
scikit-learn's transformers is imported for it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, cast

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..exceptions import ModelFileError
from ..runtime.refusals import refuses_in_one_frame
from . import layout
from .document import SCHEMA_VERSION, Summary, checked, summary_of
from .kinds import KindTable, name_of
from .layout import FilePath
from .self_test import SelfTest, run, self_test_of
from .values import Decoder, Encoder, Json

DOCUMENT = "certus"  # the key of the document in the metadata of the file


class ModelFile(NamedTuple):
    """A model, and what its file says of it."""

    model: object
    summary: Summary
    table: Json  # columns and types of the table of the fit; None: it was fitted on arrays


@refuses_in_one_frame
def save(model: object, path: FilePath) -> None:
    """Save a fitted model of certus, or a pipeline that ends in one, to a file.

    The file is in the safetensors layout: a JSON header and raw arrays, no pickle. It holds the
    parameters, the fitted attributes, the certificate and a self-test; equal models give equal
    bytes. It is written whole or not at all.

    Parameters
    ----------
    model : estimator
        Fitted. Pipelines may contain scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler,
        RobustScaler, OneHotEncoder, OrdinalEncoder, SimpleImputer, PolynomialFeatures and
        ColumnTransformer.
    path : str or path-like
        By convention with the suffix ``.certus``. A file that is there is replaced.

    Raises
    ------
    ModelFileError
        If the model contains something that a file cannot hold, such as a function.

    Examples
    --------
    >>> import os, tempfile
    >>> import certus
    >>> from certus.linear_model import Ridge
    >>> model = Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> path = os.path.join(tempfile.mkdtemp(), "ridge.certus")
    >>> certus.save(model, path)
    >>> certus.load(path).predict([[3.0]]) == model.predict([[3.0]])
    array([ True])
    """
    write(model, path)


def write(model: object, path: FilePath, table: Json = None) -> None:
    """``save``, with the columns and types of the table that the model was fitted on."""
    layout.write(path, *_contents(model, table))


def to_bytes(model: object, table: Json = None) -> bytes:
    """The bytes that ``write`` writes."""
    return layout.to_bytes(*_contents(model, table))


def _contents(model: object, table: Json) -> tuple[dict[str, str], layout.Arrays]:
    _require_model(model)
    encoder = Encoder(KindTable())
    encoded = encoder.encode(model, "")
    test = self_test_of(model)
    document = {
        "schema_version": SCHEMA_VERSION,
        "summary": summary_of(model, test is not None),
        "table": table,
        "model": encoded,
        "self_test": None if test is None else encoder.encode(tuple(test), "self_test"),
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return {DOCUMENT: text}, encoder.arrays


def _require_model(model: object) -> None:
    if name_of(model) is None:
        raise ModelFileError(
            f"{type(model).__module__}.{type(model).__qualname__} is not a model a file can hold: "
            "save an estimator of certus, or a Pipeline that ends in one"
        )
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelFileError(
            f"{type(model).__name__} is not fitted: call fit before save"
        ) from error


@refuses_in_one_frame
def load(path: FilePath) -> object:
    """Load a model that ``certus.save`` wrote.

    The model predicts what it predicted when it was saved, which a self-test in the file confirms;
    ``certificate_`` is that of the fit (its times are not kept).

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file, was written by a newer version, or does not
        pass its self-test.
    """
    return read(path).model


def read(path: FilePath) -> ModelFile:
    """``load``, with what the file says of the model."""
    document, arrays = _document(path)
    with _named(path):
        decoder = Decoder(KindTable(), arrays)
        model, test = _decoded(decoder, document)
        if name_of(model) is None or not hasattr(model, "fit"):
            raise ModelFileError("its model is not an estimator")
        unused = sorted(set(arrays) - decoder.used)
        if unused:
            raise ModelFileError(f"the array {unused[0]!r} belongs to nothing")
        if test is not None:
            run(model, test)
    return ModelFile(model, cast(Summary, document["summary"]), document["table"])


def _decoded(decoder: Decoder, document: Mapping[str, Json]) -> tuple[object, SelfTest | None]:
    try:
        model, test = decoder.decode(document["model"]), decoder.decode(document["self_test"])
    except (RecursionError, MemoryError) as error:
        raise ModelFileError(f"its document cannot be read: {error}") from error
    return model, None if test is None else _self_test(test)


def _self_test(value: object) -> SelfTest:
    if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[1], dict):
        raise ModelFileError("its self-test is not one")
    return SelfTest(*value)


def summary(path: FilePath) -> tuple[Summary, Json]:
    """Summary and table of a file, without making the model."""
    document, _ = _document(path)
    return cast(Summary, document["summary"]), document["table"]


def _document(path: FilePath) -> tuple[Mapping[str, Json], layout.Arrays]:
    metadata, arrays = layout.read(path)
    if DOCUMENT not in metadata:
        raise ModelFileError(f"{path} was not written by certus: its metadata name no model")
    with _named(path):
        return checked(layout.parsed(metadata[DOCUMENT], "the document")), arrays


@contextmanager
def _named(path: FilePath) -> Iterator[None]:
    """Begin what is refused with the name of the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{Path(path).name} is refused: {error}") from error
