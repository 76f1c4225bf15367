"""Names of attributes that belong to netCDF-4 files, or to Python's objects: ours treats them as netCDF4-python does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_comparing import outcome

import ncirrus.netCDF4 as ours
from ncirrus._ncirrus import reserved_attributes

_HIDDEN = frozenset(reserved_attributes())
original = pytest.importorskip("netCDF4")

PRINTED = ("_Storage", "_ChunkSizes", "_DeflateLevel", "_Endianness", "_NoFill", "_Filter", "_NCCOPY", "_Encoding")
# Of `_Codecs`, which only NCZarr has, the original says that its type is not known.
NAMES = sorted({*_HIDDEN, *PRINTED} - {"_Codecs"})
# What they are differs.
OF_FILE = ("_NCProperties",)


def calls(holder: Any, name: str) -> list[Callable[[], Any]]:
    """What may be done with an attribute, one after the other."""

    def found() -> Any:
        value = holder.getncattr(name)
        return type(value).__name__ if name in OF_FILE else value

    return [
        found,
        lambda: holder.setncattr(name, "abc"),
        lambda: setattr(holder, name, np.int32(5)),
        lambda: holder.setncatts({name: "q"}),
        lambda: holder.setncattr_string(name, "q"),
        found,
        lambda: holder.ncattrs(),
        lambda: holder.delncattr(name),
    ]


def told(nc: Any, path: Path, format: str, name: str) -> list[Any]:
    with nc.Dataset(path, "w", format=format) as ds:
        ds.createDimension("x", 2)
        holders = [ds, ds.createVariable("v", "i4", ("x",)), ds.createVariable("x", "i4", ("x",))]
        return [outcome(call) for holder in holders for call in calls(holder, name)]


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("name", NAMES)
def test_reserved_names_are_those_of_the_original(name: str, format: str, tmp_path: Path) -> None:
    assert told(ours, tmp_path / "b.nc", format, name) == told(original, tmp_path / "a.nc", format, name)


@pytest.mark.parametrize("name", sorted(_HIDDEN))
def test_a_refused_name_leaves_the_file_whole(name: str, tmp_path: Path) -> None:
    with ours.Dataset(tmp_path / "a.nc", "w") as ds:
        with pytest.raises(AttributeError, match="String match to name in use"):
            ds.setncatts({"a": 1, name: 2})
        ds.b = 3
    with original.Dataset(tmp_path / "a.nc") as ds:
        assert ds.ncattrs() == ["b"]


@pytest.mark.parametrize("writer", [ours, original])
def test_files_tell_who_wrote_them(writer: Any, tmp_path: Path) -> None:
    with writer.Dataset(tmp_path / "a.nc", "w") as ds:
        ds.createGroup("g").createDimension("x", 2)
    facts = []
    for nc in (original, ours):
        with nc.Dataset(tmp_path / "a.nc") as ds:
            holders = (ds, ds["g"])
            facts.append([(each._NCProperties, each._SuperblockVersion, each._IsNetcdf4) for each in holders])
    assert facts[0] == facts[1]
    assert all(type(one) is type(two) for one, two in zip(facts[0][0], facts[1][0], strict=True))


@pytest.mark.parametrize("mode", ["r", "a"])
def test_what_cannot_be_an_attribute_is_refused_before_the_mode(mode: str, tmp_path: Path) -> None:
    found = []
    for nc, name in ((original, "a.nc"), (ours, "b.nc")):
        nc.Dataset(tmp_path / name, "w").close()
        with nc.Dataset(tmp_path / name, mode) as ds:
            values = [None, {"a": 1}, [[1, 2], [3, 4]], 5]
            found.append([outcome(lambda value=value: ds.setncattr("a", value)) for value in values])  # type: ignore[misc]
            found[-1].append(outcome(lambda: ds.setncatts({"b": 1, "c": None})))
    assert found[0] == found[1]


def test_fill_values_of_type_string_are_for_strings(tmp_path: Path) -> None:
    found = []
    for nc, name in ((original, "a.nc"), (ours, "b.nc")):
        with nc.Dataset(tmp_path / name, "w") as ds:
            ds.createDimension("x", 2)
            number = ds.createVariable("v", "i4", ("x",))
            found.append(outcome(lambda: number.setncattr_string("_FillValue", "q")))
    assert found[0] == found[1]


def test_texts_are_taken_apart_for_the_type_c(tmp_path: Path) -> None:
    found = []
    for nc, name in ((original, "a.nc"), (ours, "b.nc")):
        with nc.Dataset(tmp_path / name, "w") as ds:
            ds.createDimension("x", 3)
            ds.createDimension("y", 2)
            ds.createVariable("c", "c", ("x", "y"))
            ds.createVariable("s", "S1", ("x", "y"))
            for variable in ds.variables.values():
                for value in ("ab", ["ab", "cd", "ef"], ["x", "yz"], "déf", [b"ab", b"cd", b"ef"], 5, None):
                    found.append((name, outcome(lambda: variable.__setitem__(slice(None), value)), variable[:].tolist()))
    assert [each[1:] for each in found if each[0] == "a.nc"] == [each[1:] for each in found if each[0] == "b.nc"]
