"""The bytes of a model file, against the official safetensors reader and malformed input."""

import json

import numpy as np
import pytest
import safetensors.numpy

from certus.exceptions import ModelFileError
from certus.model_files import layout

ARRAYS = {
    "w": np.array([[1.5, -0.0], [np.inf, np.nan]]),
    "single": np.arange(3, dtype=np.float32),
    "labels": np.arange(5, dtype=np.int32),
    "mask": np.array([True, False, True]),
    "empty": np.zeros((0, 7)),
    "number": np.array(3),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big": np.arange(4, dtype=">f8"),
    "strided": np.arange(10.0)[::3],
    "ä ö": np.ones(1, dtype=np.uint8),
}


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F64", shape=(1,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_the_official_reader_reads_the_arrays():
    content = layout.to_bytes({"certus": "{}"}, ARRAYS)
    official = safetensors.numpy.load(content)
    assert official.keys() == ARRAYS.keys()
    for name, array in official.items():
        np.testing.assert_array_equal(array, ARRAYS[name], strict=name != "big")


def test_what_was_written_is_read():
    metadata, arrays = layout.from_bytes(layout.to_bytes({"a": "ü", "b": ""}, ARRAYS))
    assert metadata == {"a": "ü", "b": ""}
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert array.dtype == ARRAYS[name].dtype.newbyteorder("=")
        assert array.flags.writeable
        assert array.dtype.isnative


def test_a_file_of_the_official_writer_is_read():
    arrays = {"a": np.arange(3.0), "b": np.zeros((2, 2), np.int16)}
    found = layout.from_bytes(safetensors.numpy.save(arrays, {"x": "y"}))
    assert found.metadata == {"x": "y"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)


def test_arrays_begin_at_multiples_of_their_items():
    content = layout.to_bytes({"certus": "?" * 3}, ARRAYS)
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    for name, value in header.items():
        if name != "__metadata__":
            assert (start + value["data_offsets"][0]) % layout.DTYPES[value["dtype"]].itemsize == 0


def test_equal_contents_give_equal_bytes():
    backwards = dict(reversed(ARRAYS.items()))
    assert layout.to_bytes({}, ARRAYS) == layout.to_bytes({}, backwards)


REFUSED = {
    "empty": (b"", "it has 0 bytes"),
    "short": (b"\x01\x00", "it has 2 bytes"),
    "length beyond the file": ((99).to_bytes(8, "little") + b"{}", "should take 99 bytes"),
    "length beyond memory": (b"\xff" * 8 + b"{}", "should take"),
    "not JSON": (file_of(b"{,}"), "not JSON"),
    "not an object": (file_of(b"[]"), "does not begin with '{'"),
    "space first": (file_of(b" {}"), "does not begin with '{'"),
    "not UTF-8": (file_of(b'{"\xff": 1}'), "not JSON"),
    "NaN": (file_of(b'{"a": NaN}'), "NaN is not JSON"),
    "deep": (file_of(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "nested too deeply"),
    "long number": (file_of(b'{"a":' + b"9" * 5_000 + b"}"), "not JSON"),
    "twice": (file_of(b'{"a": 1, "a": 2}'), "'a' occurs twice"),
    "twice inside": (file_of(b'{"a": {"dtype": "F64", "dtype": "F32"}}'), "occurs twice"),
    "metadata of numbers": (file_of({"__metadata__": {"a": 1}}), "map text to text"),
    "metadata a list": (file_of({"__metadata__": []}), "map text to text"),
    "no entry": (file_of({"a": 3}), "needs dtype, shape and data_offsets"),
    "more in an entry": (file_of({"a": {**entry(), "x": 1}}, bytes(8)), "needs dtype"),
    "unknown type": (file_of({"a": entry("F65")}, bytes(8)), "unknown type 'F65'"),
    "type a list": (file_of({"a": entry(["F64"])}, bytes(8)), "unknown type"),
    "negative shape": (file_of({"a": entry(shape=(-1,))}, bytes(8)), "the shape"),
    "shape of truth values": (file_of({"a": entry(shape=(True,))}, bytes(8)), "the shape"),
    "shape of fractions": (file_of({"a": entry(shape=(1.0,))}, bytes(8)), "the shape"),
    "many dimensions": (file_of({"a": entry(shape=(1,) * 70)}, bytes(8)), "the shape"),
    "offsets backwards": (file_of({"a": entry(offsets=(8, 0))}, bytes(8)), "the offsets"),
    "one offset": (file_of({"a": entry(offsets=(8,))}, bytes(8)), "the offsets"),
    "too small for its shape": (file_of({"a": entry(shape=(2,))}, bytes(8)), "needs 16"),
    "a hole": (file_of({"a": entry(offsets=(8, 16))}, bytes(16)), "begins at byte 8"),
    "an overlap": (file_of({"a": entry(), "b": entry()}, bytes(8)), "begins at byte 0, expected 8"),
    "bytes left": (file_of({"a": entry()}, bytes(9)), "the file holds 9"),
    "bytes missing": (file_of({"a": entry()}, bytes(7)), "the file holds 7"),
    "truth values of 2": (file_of({"a": entry("BOOL", (1,), (0, 1))}, b"\x02"), "truth values"),
    "zero times huge": (file_of({"a": entry(shape=(0, 2**62), offsets=(0, 0))}), "array 'a'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_malformed_is_refused_with_the_reason(name):
    content, reason = REFUSED[name]
    with pytest.raises(ModelFileError, match=reason.replace("(", r"\(").replace("[", r"\[")):
        layout.from_bytes(content)


@pytest.mark.parametrize("dtype", [complex, "datetime64[s]", "U3", np.float16, np.longdouble])
def test_arrays_of_other_types_are_not_written(dtype):
    with pytest.raises(ModelFileError, match="cannot hold numbers of type"):
        layout.to_bytes({}, {"a": np.zeros(2, dtype)})


def test_text_that_is_not_unicode_is_not_written():
    with pytest.raises(ModelFileError, match="not valid Unicode"):
        layout.to_bytes({"certus": "\ud800"}, {})


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"missing\.certus cannot be read: No such file"):
        layout.read(tmp_path / "missing.certus")
    with pytest.raises(ModelFileError, match=r"cannot be read: Is a directory"):
        layout.read(tmp_path)
    (tmp_path / "a b ü.certus").write_bytes(b"x")
    with pytest.raises(ModelFileError, match=r"a b ü\.certus is not a model file: it has 1 bytes"):
        layout.read(tmp_path / "a b ü.certus")
