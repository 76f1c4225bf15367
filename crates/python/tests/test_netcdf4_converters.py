"""Copies between netCDF-3 and netCDF-4 are those of netCDF4-python's programs."""

import numpy as np
import pytest

from ncirrus.netCDF4 import converters

original = pytest.importorskip("netCDF4")
programs = pytest.importorskip("netCDF4.utils")

STORAGE = {"zlib": True, "complevel": 6, "shuffle": True, "fletcher32": False}


@pytest.fixture(params=["NETCDF3_CLASSIC", "NETCDF4_CLASSIC"])
def source(request, tmp_path):
    path = str(tmp_path / "source.nc")
    with original.Dataset(path, "w", format=request.param) as file:
        file.title, file.number = "a title", np.int32(7)
        file.createDimension("t", None)
        file.createDimension("x", 4)
        file.createVariable("t", "f8", ("t",))[:] = np.arange(23)
        file.createVariable("x", "i4", ("x",))[:] = np.arange(4)
        packed = file.createVariable("packed", "i2", ("t", "x"), fill_value=-9)
        packed.scale_factor, packed.add_offset, packed.missing_value = 0.5, 10.0, np.int16(-9)
        values = 10 + 0.5 * np.arange(92).reshape(23, 4)
        packed[:] = np.ma.masked_where(np.arange(92).reshape(23, 4) % 5 == 2, values)
        plain = file.createVariable("plain", "f4", ("t", "x"))
        plain.missing_value = np.float32(3)
        plain[:] = np.arange(92).reshape(23, 4) / 7
        file.createVariable("scalar", "f8", ())[...] = 2.5
        file.createVariable("name", "S1", ("x",))[:] = np.array(list("abc\0"), "S1")
    return request.param, path


def contents(path):
    with original.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        told = {"format": file.file_format, "attributes": repr(file.__dict__)}
        told["dimensions"] = [(name, len(each), each.isunlimited()) for name, each in file.dimensions.items()]
        for name, variable in file.variables.items():
            told[name] = (variable.dtype, variable.dimensions, repr(variable.__dict__), variable.filters())
            told[f"{name}[:]"] = np.asarray(variable[...]).tolist()
        return told


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {}),
        ({"unpack": False}, {"unpackshort": False}),
        ({"records": 0}, {"nchunk": 0}),
        ({"records": 100, "classic": True}, {"nchunk": 100, "classic": 1}),
        ({"names": ["packed"], "start": 3, "stop": 15}, {"vars": ["packed"], "istart": 3, "istop": 15}),
        ({"digits": {"plain": 1}}, {"lsd_dict": {"plain": 1}}),
        ({"quiet": True}, {"quiet": True}),
    ],
)
def test_a_copy_to_netcdf4_is_that_of_the_original(source, tmp_path, capsys, ours, theirs):
    one, two = str(tmp_path / "one.nc"), str(tmp_path / "two.nc")
    converters.to_netcdf4(original.Dataset, source[1], one, storage=STORAGE, **ours)
    said = capsys.readouterr().out
    programs._nc3tonc4(source[1], two, **theirs)
    assert said == capsys.readouterr().out
    assert contents(one) == contents(two)


@pytest.mark.parametrize(("ours", "theirs"), [({}, {}), ({"records": 0}, {"nchunk": 0}), ({"records": 7}, {"nchunk": 7})])
def test_a_copy_to_netcdf3_is_that_of_the_original(source, tmp_path, capsys, ours, theirs):
    kind, path = source
    one, two = str(tmp_path / "one.nc"), str(tmp_path / "two.nc")
    if kind != "NETCDF4_CLASSIC":
        with pytest.raises(OSError, match="^input file must be in NETCDF4_CLASSIC format$"):
            converters.to_netcdf3(original.Dataset, path, one, **ours)
        return
    converters.to_netcdf3(original.Dataset, path, one, format="NETCDF3_CLASSIC", **ours)
    said = capsys.readouterr().out
    programs._nc4tonc3(path, two, format="NETCDF3_CLASSIC", **theirs)
    assert said == capsys.readouterr().out
    assert contents(one) == contents(two)


def test_all_records_at_once_are_those_between_start_and_stop(source, tmp_path):
    # The original copies all of them then.
    path = str(tmp_path / "one.nc")
    converters.to_netcdf4(original.Dataset, source[1], path, storage=STORAGE, records=0, start=3, stop=15, quiet=True)
    assert contents(path)["t[:]"] == list(range(3, 15))


def test_a_file_is_replaced_only_where_that_is_asked_for(source, tmp_path):
    path = tmp_path / "one.nc"
    path.write_bytes(b"something")
    with pytest.raises(OSError):
        converters.to_netcdf4(original.Dataset, source[1], str(path), storage=STORAGE, quiet=True)
    assert path.read_bytes() == b"something"
    converters.to_netcdf4(original.Dataset, source[1], str(path), storage=STORAGE, quiet=True, clobber=True)
    assert contents(str(path))["format"] == "NETCDF4"
