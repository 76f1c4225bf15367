"""Appending datasets, and what other programs read of the result."""

import netCDF4
import numpy as np
import pytest
import xarray as xr

import ncirrus


def made(path, kind, times, first, units="hours since 2000-01-01"):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        time = file.createVariable("time", "f8", ("time",))
        time.units = units
        time[:] = times
        values = file.createVariable("t", "f4", ("time", "x"))
        values[:] = np.arange(3 * len(times)).reshape(-1, 3) + first
    return str(path)


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA", "NETCDF4"])
def test_appended_records_are_read_by_others(tmp_path, kind):
    target = made(tmp_path / "a.nc", kind, [0, 6], 0)
    source = made(tmp_path / "b.nc", "NETCDF4", [0.5, 0.75], 6, "days since 2000-01-01")
    report = ncirrus.append(target, source)
    assert (report.axis, report.old_len, report.new_len, report.skipped) == ("/time", 2, 4, 0)
    assert report.variables == ["/time", "/t"]
    with netCDF4.Dataset(target) as file:
        assert file["time"][:].tolist() == [0, 6, 12, 18]
        assert file["t"][:].ravel().tolist() == list(range(12))
    with xr.open_dataset(target, engine="netcdf4") as dataset:
        assert dataset.time.values[-1] == np.datetime64("2000-01-01T18:00")


def test_what_does_not_fit_is_refused_or_told(tmp_path):
    target = made(tmp_path / "a.nc", "NETCDF4", [0, 6], 0)
    source = made(tmp_path / "b.nc", "NETCDF4", [6, 12], 3)
    with pytest.raises(ncirrus.ConflictError, match="does not go on"):
        ncirrus.append(target, [source])
    assert len(ncirrus.append(target, [source], dry_run=True).findings) == 1
    assert ncirrus.append(target, [source], skip_existing=True).skipped == 1
    with netCDF4.Dataset(target) as file:
        assert file["time"][:].tolist() == [0, 6, 12]
