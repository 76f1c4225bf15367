"""Prints what h5py reads of a file with filters of plugins, and the filters that it records for the same choices."""
import json
import os
import sys

import h5py
import hdf5plugin

sys.path.insert(0, os.path.dirname(__file__))
from read import by_h5py  # noqa: E402

CHOICES = {
    "/szip": dict(compression="szip", compression_opts=("nn", 16)),
    "/bzip2": hdf5plugin.BZip2(blocksize=5),
    "/lzf": dict(compression="lzf"),
    "/blosc": hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=1),
    "/lz4": hdf5plugin.LZ4(nbytes=0),
    "/bitshuffle": hdf5plugin.Bitshuffle(nelems=0, cname="lz4"),
    "/zstd": dict(shuffle=True, **hdf5plugin.Zstd(clevel=3)),
    "/blosc2": hdf5plugin.Blosc2(cname="lz4", clevel=5, filters=1),
    "/zstd_checked": dict(fletcher32=True, **hdf5plugin.Zstd(clevel=3)),
}

read = by_h5py(sys.argv[1])
wanted = {}
with h5py.File("memory", "w", driver="core", backing_store=False) as file:
    for name, choice in CHOICES.items():
        dataset = file.create_dataset(name, (30, 50), "<i4", chunks=(16, 32), **choice)
        plist = dataset.id.get_create_plist()
        filters = [plist.get_filter(at) for at in range(plist.get_nfilters())]
        wanted[name] = [[number, list(parameters)] for number, _, parameters, _ in filters]
print(json.dumps({"read": read, "wanted": wanted}))
