"""Reads many datasets with netCDF4-python, h5py and zarr-python; prints as JSON what differs from what is expected."""
import collections
import json
import os
import sys
import warnings

import hdf5plugin

os.environ["HDF5_PLUGIN_PATH"] = hdf5plugin.PLUGIN_PATH  # filters for netCDF4, too

import h5py
import netCDF4
import numpy
import zarr

warnings.simplefilter("ignore")
HDF5 = {"nc4", "nc4-again", "nc4c"}
CLASSIC = {"nc3", "nc6", "nc5"}
# What newer versions of netCDF-C make of the older dialects is another matter (docs/formats/zarr-writing.md).
NCZARR = {"nczarr"}
# netCDF4-python brings no codec for LZ4 in Zarr.
NO_LZ4 = "undefined filter encountered"
read = collections.Counter()


def octets(values, kind):
    values = numpy.asarray(values)
    if kind == "string":
        return [text.decode() if isinstance(text, bytes) else str(text) for text in values.ravel().tolist()]
    return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()


def wrong(var, values, who):
    if list(numpy.shape(values)) != var["shape"]:
        return f"{who}: shape of {var['path']} {var['shape']}, got {list(numpy.shape(values))}"
    got = octets(values, var["type"])
    return None if got == var["values"] else f"{who}: values of {var['path']} {var['values']}, got {got}"


def by_netcdf4(file, address):
    with netCDF4.Dataset(address) as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        for var in file["vars"]:
            if file["form"] in NCZARR and var["type"] == "string":
                continue  # netCDF-C does not list strings of variable length in Zarr v2
            variable = dataset[var["path"]]
            if list(variable.dimensions) != var["dims"]:
                yield f"netCDF4: dimensions of {var['path']} {var['dims']}, got {list(variable.dimensions)}"
            missing = set(var["attributes"]) - set(variable.ncattrs())
            if missing:
                yield f"netCDF4: attributes of {var['path']} {missing} are missing"
            yield wrong(var, variable[...] if var["dims"] else variable.getValue(), "netCDF4")


def by_h5py(file):
    with h5py.File(file["path"]) as root:
        for var in file["vars"]:
            group, name = var["path"].rsplit("/", 1)
            group = root[group or "/"]
            dataset = group.get("_nc4_non_coord_" + name, group.get(name))
            if var["type"] == "string":
                continue  # HDF5 cannot fill chunks of strings that are missing, in files by netCDF-C neither
            values = dataset[()]
            shape = tuple(var["shape"])
            if values.shape != shape and len(values.shape) == len(shape):
                # Longer dimensions than a variable has data along are full of fill values to netCDF.
                whole = numpy.full(shape, dataset.fillvalue, dataset.dtype)
                whole[tuple(slice(len) for len in values.shape)] = values
                values = whole
            yield wrong(var, values, "h5py")


def is_unknown_to_zarr(file):
    """netCDF-C's types for text, which consolidated metadata spell otherwise (docs/formats/zarr-writing.md)."""
    return not file["consolidated"] and any(var["type"] in ("char", "string") for var in file["vars"])


def by_zarr(file):
    if file["form"] in ("nczarr", "lc", "uc") and is_unknown_to_zarr(file):
        return
    root = zarr.open_group(file["path"], mode="r")
    for var in file["vars"]:
        values = root[var["path"].lstrip("/")][...]
        shape = numpy.shape(values)
        if not var["dims"] and shape == (1,):
            values = values.reshape(())
        yield wrong(var, values, "zarr")


def readers(file):
    form = file["form"]
    if form in HDF5 | CLASSIC:
        yield "netCDF4", by_netcdf4(file, file["path"])
    if form in HDF5:
        yield "h5py", by_h5py(file)
    if form in NCZARR:
        yield "nczarr", by_netcdf4(file, f"file://{file['path']}#mode=nczarr,file")
    if file["path"].endswith(".zarr"):
        yield "zarr", by_zarr(file)


def failures(files):
    for file in files:
        for who, checks in readers(file):
            try:
                found = [check for check in checks if check]
            except Exception as error:  # noqa: BLE001 (whatever a reader fails with is told)
                if file["form"] in NCZARR and NO_LZ4 in str(error):
                    continue
                found = [f"{who}: {type(error).__name__}: {error}"]
            read[who] += 1
            if found:
                yield file["seed"], f"{file['form']}: {found[0]}"


files = json.load(open(sys.argv[1]))
found = list(failures(files))
print(json.dumps({"files": len(files), "read": dict(read), "failures": found}))
