"""The lines of the table of differences of `docs/python/netcdf4.md`, each with a test of what ours does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus.netCDF4 as nc

PAGE = Path(__file__).parents[3] / "docs" / "python" / "netcdf4.md"
LINES: dict[str, Callable[[str], Any]] = {}
# Lines that are tested where the module is that they speak of.
ELSEWHERE = {
    "nc3tonc4 --chunk=0": "test_netcdf4_programs.py",
    "nc3tonc4, nc4tonc3": "test_netcdf4_converters.py",
    "an index of MFDataset past the end": "test_netcdf4_several_files.py",
    "an index list over files of which some have _Encoding": "test_netcdf4_several_files.py",
    "setncatts with _FillValue after values were written": "test_netcdf4_masking.py",
    "stringtochar of bytes texts with an encoding": "test_netcdf4_functions.py",
    "v[::2] with use_nc_get_vars(False), beyond the end": "test_netcdf4_selections.py",
}


def line(start: str) -> Callable[[Callable[[str], Any]], Callable[[str], Any]]:
    def kept(function: Callable[[str], Any]) -> Callable[[str], Any]:
        LINES[start] = function
        return function

    return kept


def made(path: str, **words: Any) -> Any:
    ds = nc.Dataset(path, "w", **words)
    ds.createDimension("x", 4)
    ds.createDimension("t", None)
    return ds


@line('Dataset(name, "w") over an old file')
def _kept(path: str) -> None:
    made(path).close()
    before = Path(path).read_bytes()
    ds = made(path)
    ds.note = "new"
    assert Path(path).read_bytes() == before
    ds.sync()
    assert Path(path).read_bytes() != before
    ds.close()


@line("an array without elements for a selection of one element or a list")
def _no_elements(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i4", ("x",))
        for key in (slice(0, 1), [0], [0, 1]):
            with pytest.raises(IndexError, match="size of data array"):
                variable[key] = np.array([], "i4")


@line("a new dimension of a group that has the name of one further up, which variables of the group have")
def _hidden(path: str) -> None:
    with made(path) as ds:
        group = ds.createGroup("g")
        group.createVariable("v", "i4", ("x",))[:] = [1, 2, 3, 4]
        group.createDimension("x", 2)
    with nc.Dataset(path) as ds:
        assert ds["g/v"].shape == (4,) and ds["g/v"][:].tolist() == [1, 2, 3, 4]


@line("a second variable of a name that was refused half made")
def _again(path: str) -> None:
    with made(path) as ds:
        with pytest.raises(ValueError, match="same length"):
            ds.createVariable("v", "i4", ("x",), chunksizes=(1, 1))
        assert ds.createVariable("v", "i4", ("x",)).shape == (4,)


@line("get_fill_value() of a variable of the other byte order")
def _fill(path: str) -> None:
    with made(path) as ds, pytest.warns(UserWarning, match="endian"):
        assert ds.createVariable("v", ">i4", ("x",)).get_fill_value() == nc.default_fillvals["i4"]


@line('fill_value="default" for f4')
def _default(path: str) -> None:
    with made(path) as ds:
        assert ds.createVariable("v", "f4", ("x",), fill_value="default")._FillValue == np.float32(nc.default_fillvals["f4"])


@line('createDimension("v") beside a variable v without it')
def _both(path: str) -> None:
    with made(path) as ds:
        ds.createVariable("v", "i4")[...] = 7
        ds.createDimension("v", 3)
    with nc.Dataset(path) as ds:
        assert ds["v"][...] == 7 and len(ds.dimensions["v"]) == 3


@line("a renaming that HDF5 refuses")
def _renamed(path: str) -> None:
    made(path).close()
    with nc.Dataset(path, "a") as ds:
        ds.createVariable("v", "i4", ("x",))[:] = 5
        ds.renameVariable("v", "x")
    with nc.Dataset(path) as ds:
        assert ds["x"][:].tolist() == [5] * 4


@line("reading a classic file after it refused an attribute")
def _refused(path: str) -> None:
    with made(path, format="NETCDF3_CLASSIC") as ds:
        variable = ds.createVariable("v", "i4", ("x",))
        with pytest.raises(AttributeError, match="Not a valid data type"):
            variable.a = np.uint8(5)
        assert variable[:].mask.all()


@line("default chunks along a dimension that has grown")
def _grown(path: str) -> None:
    with made(path) as ds:
        before = ds.createVariable("v", "i4", ("t",))
        before[:] = [1]
        assert len(ds.dimensions["t"]) == 1
        assert ds.createVariable("w", "i4", ("t",)).chunking() == before.chunking() == [1024]


@line("repr of a variable, path of a group, after a renaming")
def _shown(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i4", ("x",))
        ds.renameVariable("v", "w")
        assert "int32 w(x)" in repr(variable)
        group = ds.createGroup("g")
        ds.renameGroup("g", "h")
        assert group.path == "/h"


@line("repr after set_fill_off()")
def _off(path: str) -> None:
    with made(path) as ds:
        ds.set_fill_off()
        assert repr(ds.createVariable("v", "i4", ("x",))).endswith("filling off")


@line("_Quantize... attributes")
def _rounded(path: str) -> None:
    with made(path) as ds:
        found = ds.createVariable("v", "f4", ("x",), significant_digits=3).ncattrs()
        assert found == ["_QuantizeBitGroomNumberOfSignificantDigits"]


@line("64-bit integers in attributes of the classic formats that do not fit into 32 bits")
def _wide(path: str) -> None:
    with made(path, format="NETCDF3_CLASSIC") as ds:
        with pytest.raises(ValueError, match="32 bits"):
            ds.a = 1 << 40
        ds.b = 1 << 20
        assert ds.b == 1 << 20


@line("NETCDF4_CLASSIC with an unlimited dimension that is not the first")
def _second(path: str) -> None:
    with made(path, format="NETCDF4_CLASSIC") as ds, pytest.raises(RuntimeError, match="NC_UNLIMITED in the wrong index"):
        ds.createVariable("v", "i4", ("x", "t"))


@line("szip of characters")
def _characters(path: str) -> None:
    with made(path) as ds:
        ds.createVariable("v", "S1", ("x",), compression="szip", szip_pixels_per_block=4)[:] = list("abcd")
    with nc.Dataset(path) as ds:
        assert ds["v"][:].tolist() == [b"a", b"b", b"c", b"d"]


@line("a dimension of a group below")
def _below(path: str) -> None:
    with made(path) as ds:
        below = ds.createGroup("g").createDimension("y", 3)
        with pytest.raises(RuntimeError, match="y"):
            ds.createVariable("v", "i4", (below,))


@line("values written in a file opened with r")
def _read_only(path: str) -> None:
    with made(path) as ds:
        ds.createVariable("v", "i4", ("x",))
    with nc.Dataset(path) as ds, pytest.raises(RuntimeError, match="NetCDF: Write to read only"):
        ds["v"][:] = 1


@line("parallel=True")
def _parallel(path: str) -> None:
    with pytest.raises(ValueError, match=r"^parallel mode requires MPI enabled netcdf-c.*threads"):
        nc.Dataset(path, "w", parallel=True)


@line("get_variables_by_attributes with lists and arrays")
def _searched(path: str) -> None:
    with made(path) as ds:
        ds.createVariable("v", "i4", ("x",)).a = [1, 2]
        ds.createVariable("w", "i4", ("x",)).a = [1, 3]
        assert [each.name for each in ds.get_variables_by_attributes(a=[1, 2])] == ["v"]
        ds["w"].a = [1, 2]
        assert len(ds.get_variables_by_attributes(a=[1, 2])) == 2


@line("an index of a variable without dimensions, of a type of various lengths")
def _scalar(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", ds.createVLType("i4", "T"), ())
        variable[0] = np.array([1, 2], "i4")
        assert variable[0].tolist() == variable[...].tolist() == [1, 2]


@line("hasattr with names that only other objects have, such as path")
def _asked(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i4", ("x",))
        assert not hasattr(variable, "path") and not hasattr(ds, "scale")


@line("an attribute of the classic formats renamed to a longer name")
def _longer(path: str) -> None:
    with made(path, format="NETCDF3_CLASSIC") as ds:
        ds.a = 1
        ds.renameAttribute("a", "longer")
        assert ds.ncattrs() == ["longer"]


@line("an attribute renamed to a name that netCDF-4 keeps for itself, such as CLASS")
def _kept(path: str) -> None:
    with made(path) as ds:
        ds.a = 1
        with pytest.raises(RuntimeError, match="String match to name in use"):
            ds.renameAttribute("a", "CLASS")
    with nc.Dataset(path) as ds:
        assert ds.ncattrs() == ["a"]


@line("an attribute of a group below the root, of a name that netCDF-4 keeps for itself, such as CLASS")
def _in_group(path: str) -> None:
    with made(path) as ds:
        group = ds.createGroup("g")
        with pytest.raises(AttributeError, match="String match to name in use"):
            group.CLASS = "a"
        group.a = 1
    with nc.Dataset(path) as ds:
        assert ds["g"].ncattrs() == ["a"]


@line("bytes with _Unsigned outside the valid range, without a fill value")
def _outside(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i1", ("x",))
        variable[:] = [-128, 0, 1, 2]
        variable.setncatts({"_Unsigned": "true", "valid_max": np.int8(1)})
        assert variable[:].tolist() == [None, 0, 1, None]


@line("an attribute _Unsigned that is an array")
def _array(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i2", ("x",))
        variable[:] = -1
        variable._Unsigned = [1, 2]
        assert variable[:].tolist() == [-1] * 4


@line("fewer values than indices in a list")
def _fewer(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i4", ("t",))
        with pytest.raises(IndexError, match="out of bounds"):
            variable[[1, 0, 2]] = [5, 6]
        assert variable.shape == (0,)


@line("least_significant_digit of a variable of strings")
def _rounded_text(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", str, ("x",), least_significant_digit=1)
        variable[0] = "a"
        assert variable[0] == "a"


@line("""endian() of a variable of bytes made with endian="big", when the file is opened again""")
def _bytes(path: str) -> None:
    with made(path) as ds:
        assert ds.createVariable("v", "u1", ("x",), endian="big").endian() == "big"
    with nc.Dataset(path) as ds:
        assert ds["v"].endian() == "little"


@line("a variable that has the same unlimited dimension twice")
def _twice(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i4", ("t", "t"))
        variable[0:2, 0:3] = np.arange(6).reshape(2, 3)
        assert variable[:].tolist() == [[0, 1, 2], [3, 4, 5], [None] * 3]
    with nc.Dataset(path) as ds:
        assert ds["v"][:].tolist() == [[0, 1, 2], [3, 4, 5], [None] * 3]


@line("an attribute of a synced netCDF-4 file that is set to another type")
def _anew(path: str) -> None:
    with made(path) as ds:
        ds.setncatts({"a": 1, "b": 2})
        ds.sync()
        ds.a = "text"
    with nc.Dataset(path) as ds:
        assert ds.ncattrs() == ["a", "b"]


@line("an index list beside an integer past the end, or more keys than axes")
def _wordless(path: str) -> None:
    with made(path) as ds:
        variable = ds.createVariable("v", "i4", ("t", "x"))
        with pytest.raises(IndexError, match="exceeds dimension bounds"):
            variable[1, [2, 0, 1]]


@line("a variable renamed to the name of a group")
def _named(path: str) -> None:
    with made(path) as ds:
        ds.createVariable("v", "i4", ("x",))[:] = 1
        ds.createGroup("g")
        with pytest.raises(RuntimeError, match="String match to name in use"):
            ds.renameVariable("v", "g")
    with nc.Dataset(path) as ds:
        assert ds["v"][:].tolist() == [1] * 4


def told() -> list[str]:
    """The first cells of the table."""
    rows = [row for row in PAGE.read_text().splitlines() if row.startswith("| ")][2:]
    return [row.split(" | ")[0].removeprefix("| ").replace("`", "") for row in rows]


def test_each_line_of_the_table_has_its_test() -> None:
    assert sorted(told()) == sorted([*LINES, *ELSEWHERE])
    for name in ELSEWHERE.values():
        assert (Path(__file__).parent / name).exists()


@pytest.mark.parametrize("start", LINES)
def test_the_line_is_true(start: str, tmp_path: Path) -> None:
    LINES[start](str(tmp_path / "a.nc"))


def test_unknown_keywords_are_warned_of(tmp_path: Path) -> None:
    with pytest.warns(match="'colour' is not known"):
        nc.Dataset(tmp_path / "a.nc", "w", colour="blue").close()


def test_long_strings_of_nczarr_come_back_whole(tmp_path: Path) -> None:
    place = str(tmp_path / "a.zarr#mode=nczarr")
    with nc.Dataset(place, "w", format="NCZARR") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("v", str, ("x",))[:] = np.array(["a" * 300, "é" * 300], object)
    with nc.Dataset(place) as ds:
        assert ds["v"][:].tolist() == ["a" * 300, "é" * 300]


@pytest.mark.parametrize("mode", ["a", "r+"])
def test_a_store_that_is_changed_keeps_its_data(tmp_path: Path, mode: str) -> None:
    place = str(tmp_path / "a.zarr#mode=nczarr")
    with nc.Dataset(place, "w", format="NCZARR") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("v", "f8", ("x",))[:] = [1, 2]
    with nc.Dataset(place, mode) as ds:
        ds.note = "changed"
    with nc.Dataset(place) as ds:
        assert ds["v"][:].tolist() == [1, 2] and ds.note == "changed"


def test_files_in_memory_are_read_where_they_lie(tmp_path: Path) -> None:
    with made(str(tmp_path / "a.nc")) as file:
        file.createVariable("v", "i4", ("x",))[:] = [1, 2, 3, 4]
    body = (tmp_path / "a.nc").read_bytes()
    for buffer in (body, bytearray(body), memoryview(body), np.frombuffer(body, "u1"), np.frombuffer(bytearray(body), "i1")):
        with nc.Dataset("memory", memory=buffer) as file:
            assert file["v"][:].tolist() == [1, 2, 3, 4]
    locked = bytearray(body)
    file = nc.Dataset("memory", memory=locked)
    with pytest.raises(BufferError):
        locked.extend(b"more")
    file.close()
    closed = memoryview(body)
    closed.release()
    with pytest.raises(ValueError, match="released"):
        nc.Dataset("memory", memory=closed)
    with pytest.raises(OSError, match="Unknown file format"):
        nc.Dataset("memory", memory=b"no dataset")
