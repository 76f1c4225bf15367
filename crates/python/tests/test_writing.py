"""Values that are written: types, casts, broadcasting, growth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers

import ncirrus


@pytest.fixture
def ds(tmp_path: Path) -> Any:
    made = ncirrus.create(str(tmp_path / "a.nc4"))
    made.create_dimension("t", None)
    made.create_dimension("x", 4)
    made.create_dimension("n", 3)
    yield made
    made.abort()


def _there_and_back(ds: ncirrus.Dataset) -> ncirrus.Dataset:
    url = ds.url
    ds.close()
    return ncirrus.open(url)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_numbers_of_every_type(ds: ncirrus.Dataset, dtype: str) -> None:
    values = np.array([0, 1, 100, 127], dtype)
    v = ds.create_variable("v", dtype, ("x",))
    v[...] = values
    assert v[...].dtype == dtype and np.array_equal(v[...], values)
    v[...] = values.astype(values.dtype.newbyteorder(">"))
    read = _there_and_back(ds)["v"]
    assert read.dtype == dtype and np.array_equal(read[...], values)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("i1", [0, 1, 2, 128]),
        ("i1", np.array([0, 1, 2, -129], "i8")),
        ("u1", [0, 1, 2, -1]),
        ("u8", [0, 1, 2, -1]),
        ("i8", np.array([0, 1, 2, 2**63], "u8")),
        ("i8", [0, 1, 2, 2**70]),
        ("i4", [0.0, 1.0, 2.0, np.nan]),
        ("i4", [0.0, 1.0, 2.0, np.inf]),
        ("i4", np.array([0, 1, 2, 3e9])),
        ("i8", np.array([0, 1, 2, 2.0**63])),
        ("f4", np.array([0, 1, 2, 1e300])),
    ],
)
def test_values_out_of_range_are_named_and_nothing_is_written(ds: ncirrus.Dataset, dtype: str, values: Any) -> None:
    v = ds.create_variable("v", dtype, ("x",))
    v[...] = 5
    with pytest.raises(ncirrus.InvalidError, match="does not fit the type") as raised:
        v[...] = values
    assert raised.value.path == "/v" and str(np.asarray(values).tolist()[3])[:4] in str(raised.value)
    assert (v[...] == 5).all()


@pytest.mark.parametrize("values", [[1.9, -1.9, 0.0, 2.0], np.array([1, 2, 3, 4], "i8"), [True, False, True, True], np.float16([1, 2, 3, 4])])
def test_casts_are_those_of_numpy(ds: ncirrus.Dataset, values: Any) -> None:
    v = ds.create_variable("v", "i4", ("x",))
    v[...] = values
    assert np.array_equal(v[...], np.asarray(values).astype("i4"))


def test_nan_and_infinities_are_what_they_are_in_floats(ds: ncirrus.Dataset) -> None:
    v = ds.create_variable("v", "f4", ("x",))
    v[...] = [np.nan, np.inf, -np.inf, 1.5]
    assert np.array_equal(v[...], np.array([np.nan, np.inf, -np.inf, 1.5], "f4"), equal_nan=True)


@pytest.mark.parametrize(
    "values", ["text", ["a", "b", "c", "d"], [object()] * 4, [None] * 4, 1j, np.array(["2000-01-01"] * 4, "M8[s]"), {"a": 1}]
)
def test_what_is_no_number_is_refused(ds: ncirrus.Dataset, values: Any) -> None:
    v = ds.create_variable("v", "i4", ("x",))
    with pytest.raises(TypeError) as raised:
        v[...] = values
    assert isinstance(raised.value, ncirrus.InvalidError) and raised.value.path == "/v"


def test_values_are_broadcast(ds: ncirrus.Dataset) -> None:
    v = ds.create_variable("v", "i4", ("n", "x"))
    v[...] = 1
    v[0] = [1, 2, 3, 4]
    v[:, 0] = [[7], [8], [9]][0]
    v[1:, 1:3] = [[5, 6]]
    expected = np.ones((3, 4), "i4")
    expected[0], expected[:, 0], expected[1:, 1:3] = [1, 2, 3, 4], [7], [[5, 6]]
    assert np.array_equal(v[...], expected)
    with pytest.raises(ValueError, match=r"could not broadcast input array from shape \(2,\) into shape \(4,\)"):
        v[0] = [1, 2]


def test_masked_values_become_fill(ds: ncirrus.Dataset) -> None:
    v = ds.create_variable("v", "i4", ("x",), fill_value=-5)
    v[...] = np.ma.masked_equal([1, 2, 3, 4], 3)
    assert v[...].tolist() == [1, 2, -5, 4]
    w = ds.create_variable("w", "i2", ("x",))
    w[...] = np.ma.masked_equal([1, 2, 3, 4], 3)
    assert w[...].tolist() == [1, 2, -32767, 4]


def test_unlimited_dimensions_grow(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("t", None)
        ds.create_dimension("x", 2)
        v = ds.create_variable("v", "i4", ("t", "x"), fill_value=-1)
        v[:] = numbers((2, 2))
        v[3] = 9
        v[4:6] = 10
        v[6:] = numbers((2, 2))
        v.append([1, 2])
        v.append(numbers((2, 2)))
        with pytest.raises(IndexError):
            v[0, 2] = 1
        with pytest.raises(ncirrus.InvalidError, match="axis 1"):
            v.append([1, 2, 3])
        assert v.shape == (11, 2) and len(ds.dims["t"]) == 11
    expected = [[0, 1], [2, 3], [-1, -1], [9, 9], [10, 10], [10, 10], [0, 1], [2, 3], [1, 2], [0, 1], [2, 3]]
    assert ncirrus.open(place)["v"][...].tolist() == expected


def test_fixed_dimensions_do_not_grow(ds: ncirrus.Dataset) -> None:
    v = ds.create_variable("v", "i4", ("x",))
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        v[4] = 1
    with pytest.raises(ValueError, match="broadcast"):
        v[2:6] = [1, 2, 3, 4]


def test_characters(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("y", 2)
        ds.create_dimension("n", 3)
        c = ds.create_variable("c", "char", ("y", "n"))
        c[0] = "abc"
        c[1] = np.array([b"d", b"e", b"f"])
        with pytest.raises(TypeError, match="not characters"):
            c[0] = [1, 2, 3]
    c = ncirrus.open(place)["c"]
    assert c.dtype == "S1" and c[...].tolist() == [[b"a", b"b", b"c"], [b"d", b"e", b"f"]] and c[1, 2] == b"f"


@pytest.mark.parametrize("kind", ["nc4", "nczarr", "zarr2", "zarr3"])
def test_strings(kind: str, tmp_path: Path) -> None:
    texts = ["", "a", "déjà", "x" * 5000, "日本"]
    place = str(tmp_path / ("a.nc4" if kind == "nc4" else "a.zarr"))
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("y", 5)
        s = ds.create_variable("s", str, ("y",))
        s[...] = texts
        s[1] = "b"
        with pytest.raises(TypeError, match="1 is no text"):
            s[0] = 1
        s[1] = np.array("a", "U1")
    s = ncirrus.open(place)["s"]
    assert s.dtype == object and s[...].tolist() == texts and s[3] == texts[3] and isinstance(s[0], str)


def test_null_strings_are_none(ds: ncirrus.Dataset) -> None:
    ds.create_variable("s", str, ("x",))[...] = ["a", None, "", "b"]
    assert _there_and_back(ds)["s"][...].tolist() == ["a", None, "", "b"]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 2 has StringDType")
@pytest.mark.parametrize("null", [None, float("nan")])
def test_strings_of_numpy_are_read_on_request_and_written(ds: ncirrus.Dataset, null: Any) -> None:
    dtype, nullable = np.dtypes.StringDType(), np.dtypes.StringDType(na_object=null)
    ds.create_variable("s", dtype, ("x",))[...] = np.array(["a", "déjà", "", "b"], dtype)
    ds.create_variable("n", str, ("x",))[...] = np.array(["a", null, "", "b"], nullable)
    back = _there_and_back(ds)
    got = back["s"].read(dtype=dtype)
    assert got.dtype == dtype and got.tolist() == ["a", "déjà", "", "b"]
    assert back["s"].dtype == object and back["s"].read(1, dtype=dtype) == "déjà"
    assert back["n"][...].tolist() == ["a", None, "", "b"]
    nulls = back["n"].read(dtype=nullable)
    assert nulls.dtype == nullable and nulls[0] == "a"
    assert nulls[1] is None if null is None else np.isnan(nulls[1])
    with pytest.raises(ncirrus.InvalidError, match=r"StringDType\(\) has no null strings") as caught:
        back["n"].read(dtype=dtype)
    assert caught.value.path == "/n" and "na_object=None" in str(caught.value.hint)


def test_enums(ds: ncirrus.Dataset) -> None:
    cloud = ds.create_type(ncirrus.Enum("cloud", "u1", {"clear": 0, "some": 5}))
    v = ds.create_variable("v", cloud, ("x",), fill_value=5)
    v[1:] = [0, 5, 0]
    v.attrs["flag"] = np.array([0, 5], v.dtype)
    ds = _there_and_back(ds)
    v = ds["v"]
    assert v.dtype == "u1" and v.dtype.metadata == {"enum": {"clear": 0, "some": 5}, "enum_name": "cloud"}
    assert v[...].tolist() == [5, 0, 5, 0] and v.type == cloud == ds.types["cloud"] and v.fill_value == 5
    assert v.attrs["flag"].dtype.metadata == v.dtype.metadata


def test_enum_of_another_dataset_is_known_by_its_dtype(ds: ncirrus.Dataset) -> None:
    ds.create_type(ncirrus.Enum("cloud", "u1", {"clear": 0}))
    v = ds.create_variable("v", np.dtype("u1", metadata={"enum": {"clear": 0}, "enum_name": "cloud"}), ("x",))
    assert v.type == ncirrus.Enum("cloud", "u1", {"clear": 0})
    with pytest.raises(ncirrus.MemberNotFoundError, match="no type"):
        ds.create_variable("w", ncirrus.Enum("other", "u1", {"a": 1}), ("x",))


def test_compounds_nested_too(ds: ncirrus.Dataset) -> None:
    inner = ds.create_type(ncirrus.Compound("inner", [("a", "i2"), ("b", "f8", (2,))]))
    outer = ds.create_type(ncirrus.Compound("outer", [("i", inner.dtype), ("c", "S1"), ("e", "i4")]))
    values = np.array([((1, [2, 3]), b"x", 4)] * 4, dtype=[("i", [("a", "i2"), ("b", "f8", (2,))]), ("c", "S1"), ("e", "i4")])
    v = ds.create_variable("v", outer, ("x",))
    v[...] = values
    v[2] = ((7, [8, 9]), b"y", 10)
    values[2] = ((7, [8, 9]), b"y", 10)
    v = _there_and_back(ds)["v"]
    assert v.dtype == values.dtype and np.array_equal(v[...], values) and v[2] == values[2]
    assert v.dtype.metadata["compound_name"] == "outer" and v.dtype["i"].metadata["compound_name"] == "inner"
    out = np.zeros(4, v.dtype)
    v.read(out=out)
    assert np.array_equal(out, values)


def test_compounds_with_strings_and_vlens(ds: ncirrus.Dataset) -> None:
    vlen = ds.create_type(ncirrus.Vlen("list", "i4"))
    pair = ds.create_type(ncirrus.Compound("pair", [("s", ncirrus.types.dtype_of(("atomic", "string"))), ("l", vlen.dtype)]))
    values = np.empty(4, pair.dtype)
    values["s"] = ["a", "b", None, "d"]
    for at in range(4):
        values["l"][at] = np.arange(at, dtype="i4")
    ds.create_variable("v", pair, ("x",))[...] = values
    got = _there_and_back(ds)["v"][...]
    assert got["s"].tolist() == ["a", "b", None, "d"] and [item.tolist() for item in got["l"]] == [[], [0], [0, 1], [0, 1, 2]]


def test_vlens(ds: ncirrus.Dataset) -> None:
    vlen = ds.create_type(ncirrus.Vlen("list", "f4"))
    v = ds.create_variable("v", vlen, ("x",))
    v[0] = [1, 2, 3]
    v[1:3] = [[4], [5, 6]]
    boxed = np.empty(1, object)
    boxed[0] = np.array([7.0])
    v[3:] = boxed
    v = _there_and_back(ds)["v"]
    assert v.type == vlen and [item.tolist() for item in v[...]] == [[1, 2, 3], [4], [5, 6], [7]]
    assert v[1].dtype == "f4" and v[1].tolist() == [4]


def test_opaques(ds: ncirrus.Dataset) -> None:
    opaque = ds.create_type(ncirrus.Opaque("raw", 3))
    v = ds.create_variable("v", opaque, ("x",))
    v[0] = b"abc"
    v[1:3] = np.array([b"def", b"ghi"], "S3")
    with pytest.raises(TypeError, match="2 bytes"):
        v[0] = b"ab"
    v = _there_and_back(ds)["v"]
    assert v.dtype == "V3" and v[...].tobytes() == b"abcdefghi\0\0\0" and v.type == opaque


@pytest.mark.parametrize("dtype", ["f2", "c8", "M8[s]", "m8[s]", "?", "V4", "S5"])
def test_types_that_netcdf_lacks_are_refused_with_a_hint(ds: ncirrus.Dataset, dtype: str) -> None:
    with pytest.raises(ncirrus.UnsupportedError, match="netCDF has no type for") as raised:
        ds.create_variable("v", dtype, ("x",))
    assert raised.value.hint


def test_classic_kinds_refuse_what_they_cannot_hold(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), "nc3") as ds:
        ds.create_dimension("x", 2)
        for dtype in ("u4", "i8", str):
            with pytest.raises(ncirrus.Error) as raised:
                ds.create_variable("v", dtype, ("x",))
            assert raised.value.path == "/v" and "kind=" in str(raised.value.hint)
        assert list(ds) == []
        with pytest.raises(ncirrus.UnsupportedError, match="groups"):
            ds.create_group("g")
        with pytest.raises(ncirrus.UnsupportedError, match="types"):
            ds.create_type(ncirrus.Opaque("o", 3))
        with pytest.raises(ncirrus.UnsupportedError, match="'a'"):
            ds.attrs["a"] = np.uint32(1)
        ds.create_dimension("t", None)
        with pytest.raises(ncirrus.UnsupportedError, match="second unlimited"):
            ds.create_dimension("u", None)


@pytest.mark.parametrize(
    "filters", ["zlib,level=4", "shuffle|deflate,4", [(2, []), (1, [4])], [2, (1, [4])], {"id": "zlib", "level": 4}]
)
def test_filters_take_every_form(ds: ncirrus.Dataset, filters: Any) -> None:
    v = ds.create_variable("v", "i4", ("x",), chunks=(2,), filters=filters)
    v[...] = [1, 2, 3, 4]
    v = _there_and_back(ds)["v"]
    assert v.chunks == (2,) and v.filters[-1]["name"] == "deflate" and v.filters[-1]["parameters"] == [4]
    assert v[...].tolist() == [1, 2, 3, 4]


def test_filters_of_other_libraries(tmp_path: Path) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    for kind in ("nc4", "zarr2", "zarr3"):
        place = str(tmp_path / f"a{kind}.{'nc4' if kind == 'nc4' else 'zarr'}")
        with ncirrus.create(place, kind) as ds:
            ds.create_dimension("x", 4)
            v = ds.create_variable("v", "i4", ("x",), chunks=(2,), filters=[numcodecs.Zstd(level=7)])
            v[...] = [1, 2, 3, 4]
            copied = ds.create_variable("w", "i4", ("x",), chunks=(2,), filters=v.filters)
            copied[...] = 5
        v = ncirrus.open(place)["v"]
        assert "zstd" in str(v.filters) and "7" in str(v.filters) and v[...].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("filters", ["nonsense", [3.5], {"level": 4}, True, [(1, [4], 3)], object()])
def test_what_is_no_filter_is_refused(ds: ncirrus.Dataset, filters: Any) -> None:
    with pytest.raises((ncirrus.Error, TypeError)):
        ds.create_variable("v", "i4", ("x",), chunks=(2,), filters=filters)
        ds.sync()


def test_storage_is_chosen(ds: ncirrus.Dataset) -> None:
    assert ds.create_variable("a", "i4", ("x",), chunks=False).storage == "contiguous"
    assert ds.create_variable("b", "i4", ("x",), chunks=(3,)).chunks == (3,)
    assert ds.create_variable("c", "i4", ("x",), endian="big").endian == "big"
    assert ds.create_variable("d", "i4", ("x",), fill_value=False).fill_mode == "none"
    q = ds.create_variable("q", "f4", ("x",), quantize={"granular": 2})
    q[...] = np.float32(np.pi)
    assert q[0] != np.float32(np.pi) and abs(q[0] - np.pi) < 0.05
    ds["c"][...] = [1, 2, 3, 4]
    assert _there_and_back(ds)["c"][...].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("out", "error"),
    [
        (np.zeros((4, 5, 5), "i4"), ValueError),
        (np.zeros((4, 5, 6), "i8"), TypeError),
        (np.broadcast_to(np.zeros((), "i4"), (4, 5, 6)), ValueError),
        ([0] * 120, TypeError),
        (bytearray(480), TypeError),
    ],
)
def test_out_that_does_not_fit_is_refused(small: str, out: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="/v: "):
        ncirrus.open(small)["v"].read(out=out)


def test_out_that_shares_memory_with_itself_is_refused(small: str) -> None:
    out = np.lib.stride_tricks.as_strided(np.zeros((5, 6), "i4"), (4, 5, 6), (0, 24, 4), writeable=True)
    with pytest.raises(ValueError, match="share memory"):
        ncirrus.open(small)["v"].read(out=out)


@pytest.mark.parametrize("kind", ["nc3", "nc4", "zarr2", "zarr3"])
def test_points_are_written_chunk_by_chunk(kind: str, tmp_path: Path) -> None:
    place, rng = str(tmp_path / ("a.nc" if kind.startswith("nc") else "a.zarr")), np.random.default_rng(1)
    how: dict[str, Any] = {} if kind == "nc3" else {"chunks": (16, 16), "filters": "zlib,level=1"}
    expected = numbers((64, 64))
    with ncirrus.create(place, kind) as ds:
        for name in "yx":
            ds.create_dimension(name, 64)
        ds.create_variable("v", "i4", ("y", "x"), **how)[...] = expected
    rows, columns = rng.integers(0, 32, 5000), rng.integers(0, 48, 5000)
    session = ncirrus.Session(threads=2)
    with ncirrus.open(place, "r+", session=session) as ds:
        before = session.statistics()
        ds["v"].vindex[rows, columns] = np.arange(5000)
        expected[rows, columns] = np.arange(5000)
        mask = expected % 7 == 0
        mask[32:] = mask[:, 48:] = False
        ds["v"][mask] = -1
        expected[mask] = -1
        assert np.array_equal(ds["v"].vindex[rows, columns], expected[rows, columns])
        ds.sync()
        after = session.statistics()
    assert np.array_equal(ncirrus.open(place)["v"][...], expected)
    if kind != "nc3":
        # 2 x 3 chunks of 4 x 4, each of which is read and written once.
        told = {name: after[name] - before[name] for name in ("chunks_decoded", "chunks_stored")}
        assert told == {"chunks_decoded": 6, "chunks_stored": 6}


def test_points_beyond_the_end_let_a_variable_grow(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), "nc4") as ds:
        ds.create_dimension("t", None)
        ds.create_dimension("x", 3)
        v = ds.create_variable("v", "i4", ("t", "x"), fill_value=-1)
        v.vindex[[0, 4, 4], [1, 2, 2]] = [5, 6, 7]
        assert v.shape == (5, 3) and v[4].tolist() == [-1, -1, 7]
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 1 with size 3"):
            v.vindex[[9, 1], [0, 3]] = 1
        assert v.shape == (5, 3)


@pytest.mark.parametrize("dtype", [str, "char"])
def test_points_of_text_are_written(dtype: Any, tmp_path: Path) -> None:
    letters = np.array(list("abcdefghij"), dtype=object if dtype is str else "S1")
    with ncirrus.create(str(tmp_path / "a.nc"), "nc4") as ds:
        ds.create_dimension("x", 10)
        v = ds.create_variable("v", dtype, ("x",), chunks=(3,))
        v[...] = letters
        v.vindex[[9, 0, 4, 0]] = letters[[1, 2, 3, 4]]
        letters[[9, 0, 4, 0]] = letters[[1, 2, 3, 4]]
    assert ncirrus.open(str(tmp_path / "a.nc"))["v"][...].tolist() == letters.tolist()


def test_points_beyond_what_is_indexed_at_once_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ncirrus import points

    monkeypatch.setattr(points, "_MOST", 100)
    rng, expected = np.random.default_rng(2), numbers((20, 30, 4))
    with ncirrus.create(str(tmp_path / "a.nc"), "nc4") as ds:
        for name, length in zip("zyx", expected.shape):
            ds.create_dimension(name, length)
        v = ds.create_variable("v", "i4", ("z", "y", "x"), chunks=(5, 7, 3))
        v[...] = expected
        rows, columns = rng.integers(0, 20, 300), rng.integers(0, 30, 300)
        v[rows, columns] = np.arange(1200).reshape(300, 4)
        expected[rows, columns] = np.arange(1200).reshape(300, 4)
    assert np.array_equal(ncirrus.open(str(tmp_path / "a.nc"))["v"][...], expected)


def test_strings_of_zarr_v2_have_their_codec_once_whoever_names_it(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = str(tmp_path / "names.zarr")
    chain = [{"id": "vlen-utf8"}, {"id": "zlib", "level": 1}]
    with ncirrus.create(path, "zarr2") as dataset:
        dataset.create_dimension("x", 3)
        names = dataset.create_variable("names", str, ("x",), chunks=(3,), filters=chain)
        names[...] = ["a", "bc", ""]
    array = zarr.open_group(path, mode="r")["names"]
    assert [codec.codec_id for codec in array.filters] == ["vlen-utf8"]
    assert list(array[...]) == ["a", "bc", ""]
    assert list(ncirrus.open(path)["names"][...]) == ["a", "bc", ""]


@pytest.mark.parametrize("kind", ["nc3", "nc4", "nczarr", "zarr2", "zarr3"])
def test_fill_value_set_as_an_attribute_is_what_is_never_written(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    with ncirrus.create(path, kind) as new:
        new.create_dimension("x", 3)
        variable = new.create_variable("v", "f4", ("x",))
        # A number that the type holds becomes one of it.
        variable.attrs["_FillValue"] = 7
        variable[0] = 1
        with pytest.raises(ncirrus.InvalidError, match="already has data"):
            variable.attrs["_FillValue"] = 8
    with ncirrus.open(path) as read:
        assert read["v"].fill_value == 7 and read["v"][...].tolist() == [1, 7, 7]
        assert read["v"].attrs["_FillValue"].dtype == np.float32


def test_writer_that_is_open_when_the_interpreter_ends_is_abandoned_without_a_word(tmp_path: Path) -> None:
    program = f"import ncirrus; keep = ncirrus.create({str(tmp_path / 'a.nc')!r}, 'nc4'); keep.create_dimension('x', 2)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "" and list(tmp_path.iterdir()) == []
