"""Prints what h5py, h5netcdf and xarray read of a netCDF-4 file, as JSON."""
import json
import sys

import h5netcdf
import h5py
import numpy
import xarray


def octets(values):
    values = numpy.asarray(values)
    if values.dtype.kind == "O":
        return [value if isinstance(value, str) else value.decode() for value in values.ravel().tolist()]
    return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()


def is_plain(dtype):
    return dtype.kind in "iufS" or h5py.check_string_dtype(dtype) is not None


def by_h5py(path):
    found = {}

    def visit(name, item):
        is_dataset = isinstance(item, h5py.Dataset)
        if not is_dataset or item.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension"):
            return
        dims = [dim[0].name.rsplit("/", 1)[-1] for dim in item.dims if len(dim)]
        values = item[()]
        found["/" + name] = {"shape": list(item.shape), "dims": dims}
        if is_plain(item.dtype):
            found["/" + name]["values"] = octets(values)

    with h5py.File(path) as file:
        file.visititems(visit)
        return found


def by_h5netcdf(path):
    def look(group, found):
        for name, variable in group.variables.items():
            found[f"{group.name.rstrip('/')}/{name}"] = {
                "shape": list(variable.shape), "dims": [dim.rsplit("/", 1)[-1] for dim in variable.dimensions]}
        for child in group.groups.values():
            look(child, found)
        return found

    with h5netcdf.File(path, decode_vlen_strings=True) as file:
        return look(file, {})


def by_xarray(path, groups):
    found = {}
    for group in groups:
        with xarray.open_dataset(path, group=group, engine="netcdf4", decode_cf=False) as dataset:
            for name, variable in dataset.variables.items():
                found[f"{group.rstrip('/')}/{name}"] = {
                    "shape": list(variable.shape), "dims": list(variable.dims)}
                if is_plain(variable.dtype):
                    found[f"{group.rstrip('/')}/{name}"]["values"] = octets(variable.values)
    return found


path, programs, groups = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
read = {"h5py": lambda: by_h5py(path), "h5netcdf": lambda: by_h5netcdf(path), "xarray": lambda: by_xarray(path, groups)}
print(json.dumps({program: read[program]() for program in programs}))
