"""Prints the values that zarr-python reads of many datasets, as JSON.

usage: zarr_values.py FOLDER...
"""
import json
import sys
import warnings

import numpy
import zarr

warnings.simplefilter("ignore")


def plain(values):
    """Numbers and text as hexadecimal digits, strings as a list."""
    values = numpy.asarray(values)
    # Types that copies keep, as netCDF shows them.
    if values.dtype.kind in "mM":
        values = values.view(values.dtype.str.replace(values.dtype.str[1:], "i8"))
    if values.dtype == numpy.float16:
        values = values.astype(numpy.float32)
    if values.dtype.kind == "S" and values.dtype.itemsize > 1:
        return [value.decode() for value in values.ravel().tolist()]
    if values.dtype.kind in "biufS":
        return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()
    # A null string is stored as a NUL (docs/formats/zarr-writing.md); as text it is empty.
    return ["" if value == "\0" else str(value) for value in values.ravel().tolist()]


def attempt(array):
    try:
        return {"values": plain(array[...])}
    except Exception as error:  # noqa: BLE001
        return {"values": f"{type(error).__name__}: {error}"}


def read(folder):
    try:
        members = zarr.open_group(folder, mode="r").members(max_depth=None)
        return {"/" + path: attempt(member) for path, member in members if isinstance(member, zarr.Array)}
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}


print(json.dumps({folder: read(folder) for folder in sys.argv[1:]}))
