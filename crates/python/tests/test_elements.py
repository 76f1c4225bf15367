"""Single elements are what they are in arrays, wherever they come from: storage, a decoded chunk, or a block of values that is kept."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus
from ncirrus import netCDF4

SHAPE = (6, 8)
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
KEYS: list[Any] = [
    (0, 0), (5, 7), (-1, -8), (np.int8(2), np.uint64(3)), (np.int64(-2), 1),
    (6, 0), (0, 8), (-7, 0), (0, -9), (2**70, 0), (0, np.int64(8)), (True, 0), (np.True_, 0), (0.0, 0), ("0", 0), (None, 0),
    (0, 0, 0), (0,), 0, np.int32(1), (), ..., (0, 0, ...), (slice(0, 1), 0), ([0], 0), (np.array(1), np.array(2)), (np.timedelta64(1, "s"), 0),
]  # fmt: skip


def _numbers(dtype: str) -> Any:
    """Among them the limits of the type and, of floats, values that are not numbers."""
    values = np.arange(np.prod(SHAPE)).astype(dtype)
    limits = np.finfo(dtype) if dtype[0] == "f" else np.iinfo(dtype)
    values[:2] = limits.min, limits.max
    if dtype[0] == "f":
        values[2:6] = np.nan, np.inf, -np.inf, -0.0
    return values.reshape(SHAPE)


def _made(path: Path, kind: str, values: Any, dtype: Any = None, **how: Any) -> str:
    with ncirrus.create(path, kind, overwrite=True) as ds:
        for name, length in zip("yx", SHAPE):
            ds.create_dimension(name, None if name == "y" else length)
        if kind != "nc5":
            how = {"chunks": (4, 8), **how}
        ds.create_variable("v", dtype or values.dtype, ("y", "x"), **how)[...] = values
    return str(path)


def _warm(v: Any) -> None:
    """After this, elements of all chunks have been read near each other, and those of the last one are kept."""
    for y in range(SHAPE[0]):
        for x in range(SHAPE[1]):
            v[y, x]


def _outcome(read: Callable[[], Any]) -> Any:
    """The type and value of what is read, or the error in its words."""
    try:
        found = read()
    except Exception as error:
        return type(error), str(error)
    return type(found), getattr(found, "dtype", None), getattr(found, "shape", None), np.asarray(found).tobytes()


@pytest.mark.parametrize("kind", ["nc4", "nc5", "zarr3"])
@pytest.mark.parametrize("dtype", TYPES)
def test_elements_have_the_type_and_value_of_those_of_arrays(tmp_path: Path, kind: str, dtype: str) -> None:
    values = _numbers(dtype)
    with ncirrus.open(_made(tmp_path / "a", kind, values)) as ds:
        v = ds["v"]
        for index in [*np.ndindex(*SHAPE), *np.ndindex(*SHAPE)]:
            back = tuple(at - length for at, length in zip(index, SHAPE))
            of_numpy = tuple(np.int16(at) for at in index)
            expected = _outcome(lambda index=index: values[index])  # type: ignore[misc]
            for key in (index, back, of_numpy):
                assert _outcome(lambda key=key: v[key]) == expected, key  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["nc4", "nc5"])
def test_indices_mean_the_same_with_and_without_kept_values(tmp_path: Path, kind: str) -> None:
    path = _made(tmp_path / "a", kind, _numbers("i4"))
    for key in KEYS:
        with ncirrus.open(path) as cold, ncirrus.open(path) as warm:
            _warm(warm["v"])
            expected, found = (_outcome(lambda v=v: v[key]) for v in (cold["v"], warm["v"]))  # type: ignore[misc]
            assert found == expected, repr(key)


@pytest.mark.parametrize("index, message", [((6, 0), "index 6 is out of bounds for axis 0 with size 6"),
                                            ((0, -9), "index -9 is out of bounds for axis 1 with size 8")])
def test_an_index_out_of_bounds_is_named(tmp_path: Path, index: Any, message: str) -> None:
    with ncirrus.open(_made(tmp_path / "a.nc", "nc4", _numbers("f4"))) as ds:
        for _ in range(2):
            with pytest.raises(IndexError) as raised:
                ds["v"][index]
            assert str(raised.value) == message
            _warm(ds["v"])


def test_elements_along_one_axis_are_found_by_one_integer(tmp_path: Path) -> None:
    with ncirrus.create(tmp_path / "a.nc", "nc4") as ds:
        ds.create_dimension("x", 20)
        ds.create_variable("v", "f8", ("x",))[...] = np.arange(20) / 4
    with ncirrus.open(tmp_path / "a.nc") as ds:
        for _ in range(2):
            for at in range(-20, 20):
                assert [ds["v"][at], ds["v"][(at,)], ds["v"][np.int64(at)]] == [at % 20 / 4] * 3
        for wrong in (20, -21):
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 20"):
                ds["v"][wrong]


def test_elements_that_are_not_numbers_are_those_of_arrays(tmp_path: Path) -> None:
    texts = np.array([f"s{number}" for number in range(48)], object).reshape(SHAPE)
    letters = np.array([b"abcdefgh"] * 6).view("S1").reshape(SHAPE)
    flag = ncirrus.Enum("flag", "i2", {"no": 0, "yes": 1})
    for values, dtype in ((texts, str), (letters, "char"), (np.ones(SHAPE, "i2"), None)):
        path = tmp_path / "a.nc"
        with ncirrus.create(path, "nc4", overwrite=True) as ds:
            for name, length in zip("yx", SHAPE):
                ds.create_dimension(name, length)
            ty = ds.create_type(flag) if dtype is None else dtype
            ds.create_variable("v", ty, ("y", "x"), chunks=(4, 8))[...] = values
        with ncirrus.open(path) as ds:
            whole = ds["v"][...]
            for index in [*np.ndindex(*SHAPE), *np.ndindex(*SHAPE)]:
                found, expected = ds["v"][index], whole[index]
                assert type(found) is type(expected) and found == expected


def test_decoded_elements_are_those_of_decoded_arrays(tmp_path: Path) -> None:
    values = np.arange(48, dtype="i2").reshape(SHAPE)
    path = _made(tmp_path / "a.nc", "nc4", values)
    with ncirrus.open(path, "r+") as ds:
        ds["v"].attrs.update({"missing_value": np.int16(5), "valid_max": np.int16(40), "scale_factor": 0.5, "add_offset": 1.0})
    with ncirrus.open(path) as ds, netCDF4.Dataset(path) as file:
        for mask, scale in ((True, True), (True, False), (False, True), (False, False)):
            file["v"].set_auto_mask(mask)
            file["v"].set_auto_scale(scale)
            whole = file["v"][...]
            for index in [*np.ndindex(*SHAPE), *np.ndindex(*SHAPE)]:
                found, expected = file["v"][index], whole[index]
                assert (found is np.ma.masked) == (expected is np.ma.masked), index
                assert found is np.ma.masked or (found == expected and found.dtype == expected.dtype), index
        decoded = ds["v"].cf[...]
        _warm(ds["v"])
        for index in np.ndindex(*SHAPE):
            found, expected = ds["v"].cf[index], decoded[index]
            assert (found is np.ma.masked) if expected is np.ma.masked else found == expected


@pytest.mark.parametrize("kind", ["nc4", "nc5"])
def test_elements_of_a_file_that_another_handle_makes_longer_are_not_the_old_ones(tmp_path: Path, kind: str) -> None:
    path = _made(tmp_path / "a.nc", kind, _numbers("i4"))
    with ncirrus.open(path) as ds:
        _warm(ds["v"])
        with ncirrus.open(path, "r+") as other:
            other["v"].append(np.full((1, 8), 9, "i4"))
        with pytest.raises(ncirrus.ChangedError):
            ds["v"][5, 7]
    with ncirrus.open(path) as ds:
        assert ds["v"].shape == (7, 8) and ds["v"][6, 7] == 9 and ds["v"][-1, 0] == 9


def test_elements_are_those_that_the_same_handle_wrote_last(tmp_path: Path) -> None:
    path = _made(tmp_path / "a.nc", "nc4", _numbers("i4"))
    with ncirrus.open(path, "r+") as ds:
        v = ds["v"]
        for number in range(20):
            v[3, number % 8] = -number
            assert v[3, number % 8] == -number and v[-3, number % 8 - 8] == -number
        v.append(np.full((1, 8), 7, "i4"))
        assert v[6, 0] == 7 and v[-1, 7] == 7
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
            v[7, 0]


def test_a_closed_dataset_has_no_elements(tmp_path: Path) -> None:
    ds = ncirrus.open(_made(tmp_path / "a.nc", "nc4", _numbers("i4")))
    v = ds["v"]
    _warm(v)
    ds.close()
    with pytest.raises(ncirrus.InvalidError, match="closed"):
        v[5, 7]


def test_many_threads_get_the_same_elements(tmp_path: Path) -> None:
    values = _numbers("i8")
    with ncirrus.open(_made(tmp_path / "a.nc", "nc4", values)) as ds:
        v = ds["v"]

        def read(seed: int) -> bool:
            places = np.random.default_rng(seed).integers(0, 48, 500).tolist()
            return all(v[divmod(at, 8)] == values[divmod(at, 8)] for at in places)

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            assert all(pool.map(read, range(12)))
