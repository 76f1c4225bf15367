"""Single values, and what was never written: types, byte orders and classes are those of netCDF4-python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_comparing import outcome

import ncirrus.netCDF4 as ours

original = pytest.importorskip("netCDF4")

KEYS = [0, np.int32(1), slice(0, 1), [0], [0, 2], Ellipsis, (0,), (), slice(None, 0), slice(5, 9), [], [True], [False], -1, -2, 1]


def told(nc: Any, path: Path, format: str) -> list[Any]:
    with nc.Dataset(path, "w", format=format) as ds:
        ds.createDimension("x", 3)
        for code in (">f8", "<f8", ">i4", "i1", "S1"):
            ds.createVariable(f"v{ord(code[0])}{code[1:]}", code, ("x",))[:] = np.array([1, 2, 3]).astype(code)
            ds.createVariable(f"s{ord(code[0])}{code[1:]}", code, ())[...] = np.array(5).astype(code)
        if format == "NETCDF4":
            ds.createVariable("text", str, ())[...] = "abc"
    found = []
    with nc.Dataset(path) as ds:
        for variable in ds.variables.values():
            for mask, always in ((True, True), (True, False), (False, True), (False, False)):
                variable.set_auto_mask(mask)
                variable.set_always_mask(always)
                keys = KEYS
                found += [(variable.name, mask, always, repr(key), outcome(lambda key=key: variable[key])) for key in keys]  # type: ignore[misc]
    return found


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_64BIT_DATA"])
def test_single_values_are_those_of_the_original(format: str, tmp_path: Path) -> None:
    expected, found = told(original, tmp_path / "a.nc", format), told(ours, tmp_path / "b.nc", format)
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("code", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("chunks", [None, (2,)])
def test_enums_that_were_never_written_are_those_of_the_original(code: str, chunks: Any, tmp_path: Path) -> None:
    read = []
    for writer, name in ((original, "a.nc"), (ours, "b.nc")):
        with writer.Dataset(tmp_path / name, "w") as ds:
            ds.createDimension("x", 3)
            enum = ds.createEnumType(code, "E", {"zero": 0, "one": 1})
            variable = ds.createVariable("v", enum, ("x",), chunksizes=chunks)
            variable[1] = 1
            read.append(outcome(lambda: variable[:]))
        for reader in (original, ours):
            with reader.Dataset(tmp_path / name) as ds:
                ds.set_auto_mask(False)
                read.append((outcome(lambda: ds["v"][:]), ds["v"].ncattrs()))
    assert read[:3] == read[3:] and read[1] == read[2]


def test_complex_numbers_are_shown_as_by_the_original(tmp_path: Path) -> None:
    shown = []
    for nc, name in ((original, "a.nc"), (ours, "b.nc")):
        with nc.Dataset(tmp_path / name, "w", auto_complex=True) as ds:
            ds.createDimension("x", 2)
            shown.append(repr(ds.createVariable("v", "c16", ("x",))))
        with nc.Dataset(tmp_path / name, auto_complex=True) as ds:
            shown.append(repr(ds["v"]))
    assert shown[:2] == shown[2:]


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("mode", ["r", "a"])
@pytest.mark.parametrize("length", [0, 2])
def test_integers_past_the_end_are_refused_as_by_the_original(format: str, mode: str, length: int, tmp_path: Path) -> None:
    found = []
    for nc, name in ((original, "a.nc"), (ours, "b.nc")):
        with nc.Dataset(tmp_path / name, "w", format=format) as ds:
            ds.createDimension("t", None)
            ds.createVariable("v", "i4", ("t",))[:length] = np.arange(length)
        with nc.Dataset(tmp_path / name, mode) as ds:
            variable = ds["v"]
            found.append([outcome(lambda key=key: variable[key]) for key in (0, 1, 2, 5, -1, -3, np.int32(2))])  # type: ignore[misc]
    assert found[0] == found[1]


@pytest.mark.parametrize("key", [[0, 0], [0], [0, 0, 0], 0, Ellipsis, (), slice(0, 1), slice(None)])
@pytest.mark.parametrize("data", [8, [7], [5, 6], [[1, 2], [3, 4]]])
def test_scalars_take_what_those_of_the_original_take(key: Any, data: Any, tmp_path: Path) -> None:
    found = []
    for nc, name in ((original, "a.nc"), (ours, "b.nc")):
        with nc.Dataset(tmp_path / name, "w") as ds:
            variable = ds.createVariable("v", "i1", ())
            found.append(outcome(lambda: variable.__setitem__(key, np.array(data, "i1"))))
            # What is refused may have been written in part by the original.
            found.append(outcome(lambda: variable[...]) if found[-1][0][0] == "returned" else None)
    assert found[:2] == found[2:]
