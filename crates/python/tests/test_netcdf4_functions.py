"""The functions and constants of the module do what those of netCDF4-python do."""

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirrus.netCDF4 import constants, text
from ncirrus.netCDF4 import settings as process

original = pytest.importorskip("netCDF4")
internal = pytest.importorskip("netCDF4._netCDF4")


def outcome(call, *arguments, **words):
    try:
        return "result", call(*arguments, **words)
    except Exception as error:
        return "error", (type(error), str(error))


def assert_same_array(found, expected):
    assert found[0] == expected[0], (found, expected)
    if expected[0] == "error":
        assert found[1][0] is expected[1][0], (found, expected)
        return
    assert (found[1].dtype, found[1].shape) == (expected[1].dtype, expected[1].shape)
    assert found[1].tolist() == expected[1].tolist()


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    for name in "_chunk_cache", "_alignment":
        monkeypatch.setattr(process, name, getattr(process, name))
    monkeypatch.setattr(process, "_rc", {})
    cache = original.get_chunk_cache()
    yield
    original.set_chunk_cache(*cache)


def test_constants_are_those_of_the_original():
    names = [name for name in dir(original) if name.startswith("__has_")]
    assert len(names) == 17
    names += ["__version__", "__netcdf4libversion__", "__hdf5libversion__", "NC_DISKLESS", "NC_PERSIST"]
    names += ["default_encoding", "unicode_error", "is_native_little", "is_native_big", "default_fillvals"]
    for name in names:
        assert getattr(constants, name) == getattr(original, name), name
        assert type(getattr(constants, name)) is type(getattr(original, name)), name
    assert constants._private_atts == internal._private_atts
    assert constants.getlibversion().split()[0] == original.getlibversion().split()[0]
    missing = constants.NetCDF4MissingFeatureException("a", "5")
    assert missing.args == original.NetCDF4MissingFeatureException("a", "5").args
    for code in "c8", "c16", "f4", "complex64", "", None:
        assert constants.dtype_is_complex(code) == original.dtype_is_complex(code)


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (text, "stringtoarr"),
        (text, "stringtochar"),
        (text, "chartostring"),
        (constants, "getlibversion"),
        (constants, "dtype_is_complex"),
        (process, "get_chunk_cache"),
        (process, "set_chunk_cache"),
        (process, "get_alignment"),
        (process, "set_alignment"),
        (process, "rc_get"),
        (process, "rc_set"),
    ],
)
def test_signatures_are_those_of_the_original(home, name):
    def shape_of(function):
        return [(each.name, each.default, each.kind) for each in inspect.signature(function).parameters.values()]

    assert shape_of(getattr(home, name)) == shape_of(getattr(original, name))


@pytest.mark.parametrize(
    "arguments", [(1000, 11, 0.3), (None, 5), (), (-1, 1, 0.5), (1, 1, 2.0), (1, 1, -0.5), ("a", 1, 1), (1.5, 2, 1)]
)
def test_the_chunk_cache_is_kept_and_checked_as_by_the_original(arguments):
    assert process.get_chunk_cache() == original.get_chunk_cache()
    assert outcome(process.set_chunk_cache, *arguments) == outcome(original.set_chunk_cache, *arguments)
    assert process.get_chunk_cache() == original.get_chunk_cache()


@pytest.mark.parametrize("arguments", [(5, 7), (-1, 1), (1, 0), ("a", 1), (1.5, 2), (2**40, 1)])
def test_the_alignment_is_kept_and_checked_as_by_the_original(arguments):
    assert process.get_alignment() == (0, 0)
    # What was set once stays: the original makes no files by (0, 0) any more.
    original.set_alignment(1, 1)
    process.set_alignment(1, 1)
    assert outcome(process.set_alignment, *arguments) == outcome(original.set_alignment, *arguments)
    assert process.get_alignment() == original.get_alignment()
    original.set_alignment(1, 1)


def test_keys_of_rc_files_are_kept_as_text():
    for key, value in ("HTTP.TIMEOUT", 5), ("NCIRRUS.TEST", None), (b"bytes", b"z"):
        process.rc_set(key, value)
        original.rc_set(key, value)
        assert process.rc_get(key) == original.rc_get(key)
    assert process.rc_get("NCIRRUS.ABSENT") is None is original.rc_get("NCIRRUS.ABSENT")


texts = st.text(st.sampled_from("abz é✓\0"), max_size=5)
plain = st.text(st.sampled_from("abz "), max_size=5)


@settings(max_examples=400)
@given(st.lists(texts, max_size=4), st.one_of(st.none(), st.integers(1, 9)), st.sampled_from([None, "utf-8", "utf-16"]))
def test_texts_become_the_characters_of_the_original(values, length, encoding):
    if not values:
        # There, an array without elements loses its type.
        assert text.stringtochar(np.array(values, "U3"), encoding, length).dtype == "S1"
        return
    array = np.array(values, "U5")
    expected = outcome(original.stringtochar, array, encoding, length)
    assert_same_array(outcome(text.stringtochar, array, encoding, length), expected)


@settings(max_examples=300)
@given(st.lists(plain, max_size=4), st.sampled_from([None, "ascii"]))
def test_bytes_become_the_characters_of_the_original(values, encoding):
    array = np.array([value.encode() for value in values], "S5")
    expected = outcome(original.stringtochar, array, encoding)
    assert_same_array(outcome(text.stringtochar, array, encoding), expected)
    if len(values) == 4:
        square = array.reshape(2, 2)
        assert_same_array(outcome(text.stringtochar, square), outcome(original.stringtochar, square))


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from([b"a", b"b", b"\xc3", b"\xa9", b""]), min_size=6, max_size=6),
    st.sampled_from([None, "utf-8", "ascii", "latin-1", "none", "bytes", "utf-16"]),
)
def test_characters_become_the_texts_of_the_original(values, encoding):
    for shape in (6,), (2, 3), (3, 2), (3, 1, 2):
        array = np.array(values, "S1").reshape(shape)
        expected = outcome(original.chartostring, array, encoding)
        assert_same_array(outcome(text.chartostring, array, encoding), expected)


def test_a_text_becomes_an_array_as_by_the_original():
    for arguments in ("abc", 5), ("abc", 3, "U"), ("abc", 2), ("é", 2, "U"), ("é", 2), ("a", 1, "O"), ("", 0):
        assert_same_array(outcome(text.stringtoarr, *arguments), outcome(original.stringtoarr, *arguments))


def test_other_arrays_are_refused_in_the_words_of_the_original():
    for name in "stringtochar", "chartostring":
        arrays = np.arange(3), np.array(["a"], dtype=object)
        for array in arrays:
            found, expected = (outcome(getattr(home, name), array) for home in (text, original))
            assert found == expected


def test_what_the_original_spoils_is_kept():
    # Bytes become digits of their numbers, characters of four bytes shift, and two axes are refused.
    assert text.stringtochar(np.array([b"ab"]), "bytes").tolist() == [[b"a", b"b"]]
    assert text.stringtoarr(b"ab", 3).tolist() == [b"a", b"b", b""]
    assert text.chartostring(np.array([["a", "é"]])).tolist() == ["aé"]
    assert text.stringtochar(np.array([["a"], ["b"]]), n_strlen=1).tolist() == [[[b"a"]], [[b"b"]]]
    assert text.chartostring(np.zeros((2, 0), "S1")).tolist() == ["", ""]
    assert original.stringtochar(np.array([b"ab"]), "bytes").tolist() != [b"a", b"b"]
