"""Prints what zarr-python and xarray read, as JSON: arrays of numbers, text and strings; others by name alone."""
import json
import sys
import warnings

import numpy
import xarray
import zarr

warnings.simplefilter("ignore")
FIXED = "biufS"


def octets(values):
    values = numpy.asarray(values)
    if values.dtype.kind in FIXED:
        return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()
    if values.dtype.kind in "OTU":
        return [str(value) for value in values.ravel().tolist()]
    return None


def dims(array):
    if array.metadata.zarr_format == 3:
        return list(array.metadata.dimension_names or [])
    return array.attrs.get("_ARRAY_DIMENSIONS", [])


def by_zarr(root):
    found = {}
    for path, member in zarr.open_group(root, mode="r").members(max_depth=None):
        if isinstance(member, zarr.Array):
            fill = member.fill_value
            found["/" + path] = {
                "shape": list(member.shape), "dims": dims(member), "values": octets(member[...]),
                "fill": None if fill is None else octets(fill)}
    return found


def by_xarray(root, path):
    decoded = xarray.open_zarr(root, group=path.strip("/") or None)
    decoded.load()
    raw = xarray.open_zarr(root, group=path.strip("/") or None, decode_cf=False)
    return {
        f"{path.rstrip('/')}/{name}": {
            "shape": list(variable.shape), "dims": list(variable.dims), "values": octets(variable.values)}
        for name, variable in raw.variables.items()}


root, *groups = sys.argv[1:]
found = {"zarr": by_zarr(root), "xarray": {}}
for group in groups:
    found["xarray"].update(by_xarray(root, group))
print(json.dumps(found))
