"""Prints what h5py, netCDF4-python, h5netcdf and xarray read of netCDF-4 files, as JSON.

usage: read.py PROGRAM[,PROGRAM...] FILE...
"""
import json
import sys

import h5py
import hdf5plugin  # noqa: F401
import numpy


def plain(values):
    """Numbers as hexadecimal digits, everything else as lists of them."""
    if isinstance(values, h5py.Empty):
        return ""
    if isinstance(values, bytes):
        values = values.decode(errors="replace")
    values = numpy.asarray(values)
    if values.dtype.names:
        return [plain(values[name]) for name in values.dtype.names]
    if values.dtype.kind == "O":
        return [one(value) for value in values.ravel().tolist()]
    if values.dtype.kind in "US" and values.dtype.itemsize > 1:
        return [str(value) for value in values.ravel().tolist()]
    if values.dtype.kind == "V":
        return [bytes(value).hex() for value in values.ravel().tolist()]
    return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()


def one(value):
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, str):
        return value
    return plain(value)


def whole(item):
    """All values; of a single one h5py gives what is in it."""
    values = item[()]
    if item.shape == () and item.dtype.kind == "S":
        return plain(numpy.array(values, item.dtype))
    if item.shape == () and item.dtype.kind == "O" and h5py.check_string_dtype(item.dtype) is None:
        return [plain(values)]
    return plain(values)


def by_h5py(path):
    found = {}

    def visit(name, item):
        is_dataset = isinstance(item, h5py.Dataset)
        if not is_dataset or item.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension"):
            return
        plist = item.id.get_create_plist()
        filters = [plist.get_filter(at) for at in range(plist.get_nfilters())]
        found["/" + name.replace("_nc4_non_coord_", "")] = {
            "shape": list(item.shape), "values": whole(item), "order": item.dtype.byteorder,
            "chunks": item.chunks, "layout": plist.get_layout(),
            "filters": [[number, list(parameters)] for number, _, parameters, _ in filters],
            "attributes": {name: plain(item.attrs[name]) for name in item.attrs if name not in INNER}}

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


# What relates variables and dimensions.
INNER = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"}


def by_netcdf4(path):
    import netCDF4

    def look(group, found):
        for name, variable in group.variables.items():
            variable.set_auto_maskandscale(False)
            variable.set_auto_chartostring(False)
            if variable.dtype is str:
                values = [str(value) for value in numpy.atleast_1d(variable[...]).ravel().tolist()]
            else:
                values = plain(variable[...])
            found[f"{group.path.rstrip('/')}/{name}"] = {
                "shape": list(variable.shape), "dims": list(variable.dimensions), "values": values}
        for child in group.groups.values():
            look(child, found)
        return found

    with netCDF4.Dataset(path) as file:
        return look(file, {})


def by_h5netcdf(path):
    import h5netcdf

    def look(group, found):
        for name, variable in group.variables.items():
            values = variable[()] if variable.shape == () else variable[...]
            found[f"{group.name.rstrip('/')}/{name}"] = {
                "shape": list(variable.shape), "dims": [dim.rsplit("/", 1)[-1] for dim in variable.dimensions],
                "values": plain(values)}
        for child in group.groups.values():
            look(child, found)
        return found

    with h5netcdf.File(path, decode_vlen_strings=True) as file:
        return look(file, {})


def by_xarray(path):
    import netCDF4
    import xarray

    def groups(group):
        yield group.path
        for child in group.groups.values():
            yield from groups(child)

    found = {}
    with netCDF4.Dataset(path) as file:
        paths = list(groups(file))
    for group in paths:
        with xarray.open_dataset(path, group=group, engine="netcdf4", decode_cf=False) as dataset:
            for name, variable in dataset.variables.items():
                found[f"{group.rstrip('/')}/{name}"] = {
                    "shape": list(variable.shape), "dims": list(variable.dims), "values": plain(variable.values)}
    return found


READ = {"h5py": by_h5py, "netcdf4": by_netcdf4, "h5netcdf": by_h5netcdf, "xarray": by_xarray}


def attempt(program, path):
    try:
        return READ[program](path)
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    programs = sys.argv[1].split(",")
    print(json.dumps({path: {program: attempt(program, path) for program in programs} for path in sys.argv[2:]}))
