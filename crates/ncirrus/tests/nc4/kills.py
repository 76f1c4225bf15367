"""Prints what h5py reads of all files of a folder: variables with shape and values, and text attributes, as JSON.

What cannot be read has an `error`. usage: kills.py FOLDER
"""
import json
import os
import sys

import h5py


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def read(path):
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and not item.attrs.get("NAME", b"").startswith(b"This is a netCDF"):
            found[name] = {
                "shape": list(item.shape), "values": item[()].ravel().tolist(),
                "title": text(item.attrs.get("title", ""))}

    with h5py.File(path) as file:
        file.visititems(visit)
        found["/"] = {"title": text(file.attrs.get("title", ""))}
    return found


def attempt(path):
    try:
        return read(path)
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}


print(json.dumps({name: attempt(f"{sys.argv[1]}/{name}") for name in sorted(os.listdir(sys.argv[1]))}))
