"""How long peers take to write netCDF-4 files, and to rechunk one from maps to series.

usage: hdf5_write.py make FOLDER STEPS: makes `maps.nc`, which is rechunked
       hdf5_write.py PEER CASE FOLDER RUNS STEPS: measures a peer and prints the same line of JSON as ncirrus-bench;
       PEER is h5py or netcdf4 for the cases raw, zstd and deflate, nccopy, xarray or rechunker for the case rechunk;
       exit code 3 when the peer cannot.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from hdf5 import field  # noqa: E402

# Bytes that rechunking may hold per step: a quarter of the data.
CHUNK, TILE, MEMORY = (1, 1024, 1024), 32, 1 << 20


def make(folder, steps):
    import netCDF4

    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(1)
    with netCDF4.Dataset(f"{folder}/maps.nc", "w") as file:
        for name, size in zip("tyx", (steps, 1024, 1024)):
            file.createDimension(name, size)
        variable = file.createVariable("v", "f4", ("t", "y", "x"), chunksizes=CHUNK, zlib=True, complevel=1)
        for step in range(steps):
            variable[step] = field(step, random)


def by_h5py(case, path, values):
    import h5py
    import hdf5plugin

    how = {
        "raw": {},
        "zstd": dict(chunks=CHUNK, **hdf5plugin.Zstd(clevel=3)),
        "deflate": dict(chunks=CHUNK, shuffle=True, compression="gzip", compression_opts=4),
    }[case]
    with h5py.File(path, "w") as file:
        file.create_dataset("v", data=values, **how)


def by_netcdf4(case, path, values):
    import netCDF4

    how = {
        "raw": dict(contiguous=True),
        "zstd": dict(chunksizes=CHUNK, compression="zstd", complevel=3, shuffle=False),
        "deflate": dict(chunksizes=CHUNK, compression="zlib", complevel=4),
    }[case]
    with netCDF4.Dataset(path, "w") as file:
        for name, size in zip("tyx", values.shape):
            file.createDimension(name, size)
        file.createVariable("v", "f4", ("t", "y", "x"), fill_value=False, **how)[:] = values


def by_nccopy(source, target, steps):
    chunks = f"t/{steps},y/{TILE},x/{TILE}"
    subprocess.run(["nccopy", "-h", str(steps * MEMORY // 2), "-c", chunks, source, target], check=True)


def by_xarray(source, target, steps):
    import xarray

    with xarray.open_dataset(source, engine="netcdf4", decode_cf=False, chunks={"y": 1024 // 8}) as dataset:
        encoding = {"v": {"chunksizes": (steps, TILE, TILE), "zlib": True, "complevel": 1}}
        dataset.to_netcdf(target, engine="netcdf4", encoding=encoding)


def by_rechunker(source, target, steps):
    import rechunker
    import xarray

    with xarray.open_dataset(source, engine="netcdf4", decode_cf=False, chunks={"t": 1}) as dataset:
        for name in (target, f"{target}.tmp"):
            shutil.rmtree(name, ignore_errors=True)
        plan = rechunker.rechunk(
            dataset, {"v": {"t": steps, "y": TILE, "x": TILE}}, steps * MEMORY // 2, target, temp_store=f"{target}.tmp")
        plan.execute()


def remove(path):
    for name in (path, f"{path}.tmp"):
        shutil.rmtree(name, ignore_errors=True)
        if os.path.exists(name):
            os.remove(name)


def measure(peer, case, folder, runs, steps):
    path, best = f"{folder}/{peer}-{case}.nc", float("inf")
    if case == "rechunk":
        by = {"nccopy": by_nccopy, "xarray": by_xarray, "rechunker": by_rechunker}[peer]
        run = lambda: by(f"{folder}/maps.nc", path, steps)  # noqa: E731
    else:
        by = {"h5py": by_h5py, "netcdf4": by_netcdf4}[peer]
        random = np.random.default_rng(1)
        values = np.stack([field(step, random) for step in range(steps)])
        run = lambda: by(case, path, values)  # noqa: E731
    for _ in range(runs):
        remove(path)
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    remove(path)
    who = resource.RUSAGE_CHILDREN if peer == "nccopy" else resource.RUSAGE_SELF
    return {"seconds": best, "peak_kib": resource.getrusage(who).ru_maxrss}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
    else:
        try:
            print(json.dumps(measure(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))))
        except (KeyError, ImportError, OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            print(f"{' '.join(sys.argv[1:])}: {error!r}", file=sys.stderr)
            sys.exit(3)
