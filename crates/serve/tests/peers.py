"""Compares what clients read from a server with the file that is served: peers.py FILE SERVER NAME CLIENT."""
import sys
import warnings

warnings.simplefilter("ignore")
import netCDF4
import numpy as np

path, server, name, client = sys.argv[1:]


def plain(values):
    values = np.ma.filled(np.ma.asanyarray(values), 0) if np.ma.isMaskedArray(values) else np.asarray(values)
    if values.dtype.kind in "OSUT":
        return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in values.ravel()]).reshape(values.shape)
    return values


def expected(variable):
    variable.set_auto_mask(False)
    return plain(variable[...])


def same(label, got, wanted):
    got, wanted = plain(got), plain(wanted)
    if wanted.dtype.kind == "S" or wanted.dtype.kind == "U":
        got, wanted = "".join(got.ravel()), "".join(wanted.ravel())
        assert got.rstrip("\0").replace("\0", "") == wanted.replace("\0", ""), (label, got, wanted)
        return
    assert got.shape == wanted.shape, (label, got.shape, wanted.shape)
    assert np.array_equal(got.astype("f8"), wanted.astype("f8")), (label, got, wanted)


source = netCDF4.Dataset(path)
numbers = [v for v in source.variables.values() if v.dtype != str and v.dtype.kind != "S"]
assert numbers
dap = f"{server}/dap/{name}"

if client in ("netcdf4-dap2", "netcdf4-dap4"):
    there = netCDF4.Dataset(dap + ("#dap4" if client.endswith("4") else ""))
    for variable in source.variables.values():
        remote = there.variables[variable.name]
        remote.set_auto_mask(False)
        if variable.dtype.kind == "S" if variable.dtype != str else True:
            continue
        same((client, variable.name), remote[...], expected(variable))
    part = there.variables["t"][1:5:2, 3:9]
    same((client, "part"), part, source.variables["t"][1:5:2, 3:9])
    assert there.variables["t"].units == "K"
    if client.endswith("4"):
        same((client, "words"), there["g"]["words"][:], source["g"]["words"][:])
elif client in ("pydap-dap2", "pydap-dap4"):
    from pydap.client import open_url

    there = open_url(dap, protocol="dap2" if client.endswith("2") else "dap4")
    for variable in numbers:
        data = there[variable.name][...]
        same((client, variable.name), getattr(data, "data", data), expected(variable))
    part = there["t"][1:5:2, 3:9]
    same((client, "part"), getattr(part, "data", part), source.variables["t"][1:5:2, 3:9])
elif client.startswith("xarray"):
    import xarray as xr

    plainly = {"decode_cf": False}
    if client == "xarray-netcdf4":
        there = xr.open_dataset(dap, engine="netcdf4", **plainly)
    elif client == "xarray-pydap":
        there = xr.open_dataset("dap4" + dap.removeprefix("http"), engine="pydap", **plainly)
    elif client == "xarray-zarr2":
        there = xr.open_zarr(f"{server}/zarr2/{name}", zarr_format=2, consolidated=True, **plainly)
    else:
        there = xr.open_zarr(f"{server}/zarr/{name}", zarr_format=3, **plainly)
    for variable in numbers:
        same((client, variable.name), there[variable.name].values, expected(variable))
    same((client, "part"), there["t"][1:5:2, 3:9].values, source.variables["t"][1:5:2, 3:9])
elif client.startswith("zarr"):
    import zarr

    prefix, version = ("zarr2", 2) if client == "zarr-v2" else ("zarr", 3)
    there = zarr.open_group(f"{server}/{prefix}/{name}", mode="r", zarr_format=version)
    for variable in numbers:
        same((client, variable.name), there[variable.name][...], expected(variable))
    same((client, "words"), there["g/words"][...], source["g"]["words"][:])
    same((client, "bytes"), there["g/bytes"][...], source["g"]["bytes"][:])
elif client == "siphon":
    from siphon.catalog import TDSCatalog

    catalog = TDSCatalog(f"{server}/catalog.xml")
    assert name in catalog.datasets, list(catalog.datasets)
    assert "sub" in catalog.catalog_refs, list(catalog.catalog_refs)
    below = catalog.catalog_refs["sub"].follow()
    assert "v3.zarr" in below.datasets, list(below.datasets)
    there = catalog.datasets[name].remote_access(service="OPENDAP")
    same((client, "t"), there.variables["t"][:], source.variables["t"][:])
    import tempfile, os

    target = os.path.join(tempfile.mkdtemp(), "whole.nc")
    catalog.datasets[name].download(target)
    whole = netCDF4.Dataset(target)
    same((client, "download"), whole.variables["t"][:], source.variables["t"][:])
else:
    raise SystemExit(f"no client {client}")
print("same")
