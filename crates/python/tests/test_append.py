"""Appending datasets, and what other programs read of the result."""

import itertools

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
    with pytest.raises(ncirrus.ConflictError, match="does not continue"):
        ncirrus.append(target, [source])
    assert len(ncirrus.append(target, [source], dry_run=True).findings) == 1
    assert ncirrus.append(target, [source], skip_existing=True).skipped == 1
    with netCDF4.Dataset(target) as file:
        assert file["time"][:].tolist() == [0, 6, 12]


_numbers = itertools.count(1)


@pytest.fixture(params=["moto", "s3s"])
def server(request):
    """Storage options of a server that checks keys, and of the benchmarks' one; fsspec takes them too."""
    pytest.importorskip("s3fs")
    return {**request.getfixturevalue(request.param), "client_kwargs": {"region_name": "us-east-1"}}


@pytest.mark.parametrize("kind", ["nc3", "nc4"])
def test_a_single_file_on_an_object_store_is_appended_to_where_it_may_be_rewritten(tmp_path, server, kind):
    fsspec = pytest.importorskip("fsspec")
    first = made(tmp_path / "a.nc", "NETCDF3_CLASSIC", [0, 6], 0)
    source = made(tmp_path / "b.nc", "NETCDF4", [0.5, 0.75], 6, "days since 2000-01-01")
    path = f"bucket/appended-{next(_numbers)}.nc"
    ncirrus.copy(first, f"s3://{path}", kind=kind, storage_options=server)
    files = fsspec.filesystem("s3", skip_instance_cache=True, **server)
    before = files.cat_file(path)
    with pytest.raises(ncirrus.Error, match="rewrite"):
        ncirrus.append(f"s3://{path}", source, storage_options=server)
    assert files.cat_file(path) == before
    session = ncirrus.Session(rewrite=True)
    report = ncirrus.append(f"s3://{path}", source, session=session, storage_options=server)
    assert (report.old_len, report.new_len) == (2, 4)
    files.invalidate_cache()
    with netCDF4.Dataset("memory", memory=files.cat_file(path)) as file:
        assert file["time"][:].tolist() == [0, 6, 12, 18]
        assert file["t"][:].ravel().tolist() == list(range(12))


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_a_tree_on_an_object_store_grows_in_place(tmp_path, server, kind):
    first = made(tmp_path / "a.nc", "NETCDF3_CLASSIC", [0, 6], 0)
    source = made(tmp_path / "b.nc", "NETCDF4", [0.5, 0.75], 6, "days since 2000-01-01")
    path = f"s3://bucket/appended-{next(_numbers)}.zarr"
    ncirrus.copy(first, path, kind=kind, storage_options=server)
    assert ncirrus.append(path, source, along="time", storage_options=server).new_len == 4
    with xr.open_dataset(path, engine="zarr", storage_options=server, decode_times=False) as dataset:
        assert dataset.time.values.tolist() == [0, 6, 12, 18]
        assert dataset.t.values.ravel().tolist() == list(range(12))
