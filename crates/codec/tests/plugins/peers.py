"""Chunks of every filter of hdf5plugin, through h5py.

usage: peers.py make    prints the directory of the plugins, then for each case what the HDF5 library stored and read
       peers.py check   reads encoded chunks (one JSON object a line) and prints what the HDF5 library makes of them

Needs h5py, hdf5plugin and numpy.
"""
import json
import sys

import h5py
import hdf5plugin as plugins
import numpy as np

random = np.random.default_rng(11)
smooth = np.add.outer(np.sin(np.arange(40) / 7), np.cos(np.arange(64) / 9))
floats = smooth.astype("<f4")
doubles = (smooth * 1e3).astype("<f8")
integers = (smooth * 1000).astype("<i4")
shorts = (smooth * 1000 + 3000).astype("<u2")
bytes_ = (smooth * 50 + 120).astype("u1")
noise = random.integers(0, 2**32, (40, 64), dtype="<u4")

CASES = {
    "bitshuffle": (plugins.Bitshuffle(nelems=0, cname="none"), integers),
    "bitshuffle lz4": (plugins.Bitshuffle(nelems=64, cname="lz4"), integers),
    "bitshuffle zstd": (plugins.Bitshuffle(cname="zstd", clevel=5), doubles),
    "bitshuffle noise": (plugins.Bitshuffle(cname="lz4"), noise),
    **{f"blosc {cname} {shuffle}": (plugins.Blosc(cname=cname, clevel=5, shuffle=shuffle), integers)
       for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] for shuffle in [0, 1, 2]},
    **{f"blosc2 {cname} {filters}": (plugins.Blosc2(cname=cname, clevel=5, filters=filters), integers)
       for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] for filters in [0, 1, 2]},
    "blosc2 noise": (plugins.Blosc2(cname="lz4"), noise),
    "bzip2": (plugins.BZip2(blocksize=5), integers),
    "fcidecomp bytes": (plugins.FciDecomp(), bytes_),
    "fcidecomp shorts": (plugins.FciDecomp(), shorts),
    "htj2k": (plugins.Htj2k(), shorts),
    "lz4": (plugins.LZ4(), integers),
    "lz4 blocks": (plugins.LZ4(nbytes=1024), doubles),
    "sperr": (plugins.Sperr(absolute=1e-3), floats),
    "sperr rate": (plugins.Sperr(rate=8), doubles),
    "sz": (plugins.SZ(absolute=1e-3), floats),
    "sz relative": (plugins.SZ(relative=1e-3), doubles),
    "sz3": (plugins.SZ3(absolute=1e-3), floats),
    "sz3 doubles": (plugins.SZ3(absolute=1e-2), doubles),
    "zfp accuracy": (plugins.Zfp(accuracy=1e-3), floats),
    "zfp rate": (plugins.Zfp(rate=8), doubles),
    "zfp reversible": (plugins.Zfp(reversible=True), integers),
    "zstd": (plugins.Zstd(clevel=7), integers),
}


def create(name):
    file = h5py.File(f"{name}.h5", "w")
    options, array = CASES[name]
    return file, file.create_dataset("v", array.shape, array.dtype, chunks=array.shape, compression=options), array


def read(name):
    with h5py.File(f"{name}.h5") as file:
        return file["v"][...].tobytes().hex()


def make():
    print(json.dumps(plugins.PLUGINS_PATH))
    for name in CASES:
        try:
            file, dataset, array = create(name)
            dataset[...] = array
        except Exception as error:
            print(json.dumps({"name": name, "fault": str(error)}))
            continue
        filters = dataset.id.get_create_plist()
        code, _, words, _ = filters.get_filter(0)
        file.flush()
        mask, encoded = dataset.id.read_direct_chunk((0, 0))
        file.close()
        print(json.dumps({
            "name": name, "id": code, "parameters": list(words), "shape": array.shape, "size": array.itemsize,
            "mask": mask, "source": array.tobytes().hex(), "encoded": encoded.hex(), "decoded": read(name),
        }))


def check():
    for line in sys.stdin:
        case = json.loads(line)
        file, dataset, _ = create(case["name"])
        dataset.id.write_direct_chunk((0, 0), bytes.fromhex(case["encoded"]), 0)
        file.close()
        print(json.dumps({"name": case["name"], "decoded": read(case["name"])}))


{"make": make, "check": check}[sys.argv[1]]()
