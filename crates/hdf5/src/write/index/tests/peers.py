"""Reads the files in the folder named first with h5py, changes them, and reads them again. Prints what of dataset `d` is not
zero in each: element numbers and values."""
import json
import os
import sys

import h5py
import numpy as np


def content(path):
    with h5py.File(path, "r") as file:
        values = file["d"][...].ravel()
    where = np.flatnonzero(values)
    return [where.tolist(), values[where].tolist()], values


said = {}
for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name)
    said[name], before = content(path)
    with h5py.File(path, "r+") as file:
        d = file["d"]
        shape = d.shape
        whole = before.reshape(shape)
        step = max(1, shape[-1] // 300)
        d[..., ::step] = whole[..., ::step] = -7
        for axis, limit in enumerate(d.maxshape):
            if limit is None:
                grown = list(d.shape)
                grown[axis] += 40 * d.chunks[axis]
                d.resize(grown)
                d[tuple(slice(at, None) if i == axis else slice(None) for i, at in enumerate(shape))] = axis + 5
                whole = np.pad(whole, [(0, new - old) for old, new in zip(whole.shape, grown)], constant_values=axis + 5)
                shape = d.shape
    _, after = content(path)
    assert np.array_equal(after, whole.ravel()), name
print(json.dumps(said))
