"""Measures one operation of a peer; prints the same line of JSON as ncirrus-bench.

usage: peers.py PEER CODEC OPERATION FOLDER RUNS, with PEER one of zarr-python, zarr-fused (the same with its pipeline
       FusedCodecPipeline), zarrs-python, tensorstore, netcdf-c.
Reads FOLDER/CODEC.zarr as ncirrus-bench wrote it; exit code 3 when the peer lacks the codec.
"""
import json
import os
import resource
import shutil
import sys
import time

import numpy as np

peer, codec, operation, folder, runs = sys.argv[1:]
source = os.path.join(os.path.abspath(folder), codec + ".zarr")
target = os.path.join(os.path.abspath(folder), peer + ".tmp")
SHAPE, CHUNK = (128, 1024, 1024), (1, 1024, 1024)
SELECTION = {
    "read": (slice(None),) * 3,
    "series": (slice(None), 517, 301),
    "strided": (slice(None, None, 4),) * 3,
}
V2 = {
    "raw": (None, None),
    "zstd": (None, {"id": "zstd", "level": 3}),
    "blosc": (None, {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
    "zlib": (None, {"id": "zlib", "level": 4}),
    "shuffle-zlib": ([{"id": "shuffle", "elementsize": 4}], {"id": "zlib", "level": 4}),
}


def lacks():
    sys.exit(3)


def zarr_python():
    import numcodecs
    import zarr

    filters, compressor = V2[codec]
    if peer == "zarrs-python":
        import zarrs  # noqa: F401

        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    if peer == "zarr-fused":
        from zarr.core.codec_pipeline import FusedCodecPipeline  # noqa: F401

        zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"})

    def read():
        array = zarr.open_array(source + "/v", mode="r", zarr_format=2)
        return array[SELECTION[operation]]

    def write(values):
        array = zarr.create_array(
            target, shape=SHAPE, chunks=CHUNK, dtype="f4", zarr_format=2, overwrite=True,
            filters=[numcodecs.get_codec(f) for f in filters] if filters else None,
            compressors=numcodecs.get_codec(compressor) if compressor else None)
        array[...] = values

    return read, write


def tensorstore():
    import tensorstore as ts

    filters, compressor = V2[codec]
    if filters:
        lacks()
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": source + "/v"}}

    def read():
        array = ts.open(spec, open=True, read=True).result()
        return array[SELECTION[operation]].read().result()

    def write(values):
        metadata = {"shape": SHAPE, "chunks": CHUNK, "dtype": "<f4", "compressor": compressor}
        new = {"driver": "zarr", "kvstore": {"driver": "file", "path": target}, "metadata": metadata}
        ts.open(new, create=True, delete_existing=True).result().write(values).result()

    return read, write


def netcdf_c():
    import netCDF4

    options = {
        "raw": {}, "zstd": {"compression": "zstd", "complevel": 3, "shuffle": False},
        "blosc": {"compression": "blosc_lz4", "complevel": 5, "blosc_shuffle": 1},
        "zlib": {"compression": "zlib", "complevel": 4, "shuffle": False},
        "shuffle-zlib": {"compression": "zlib", "complevel": 4, "shuffle": True},
    }[codec]

    def read():
        with netCDF4.Dataset("file://" + source + "#mode=zarr,file") as dataset:
            variable = dataset["v"]
            variable.set_auto_maskandscale(False)
            return variable[SELECTION[operation]]

    def write(values):
        with netCDF4.Dataset("file://" + target + "#mode=zarr,file", "w") as dataset:
            for name, size in zip("tyx", SHAPE):
                dataset.createDimension(name, size)
            variable = dataset.createVariable("v", "f4", ("t", "y", "x"), chunksizes=CHUNK, fill_value=False, **options)
            variable.set_auto_maskandscale(False)
            variable[...] = values

    return read, write


makers = {
    "zarr-python": zarr_python, "zarr-fused": zarr_python, "zarrs-python": zarr_python, "tensorstore": tensorstore,
    "netcdf-c": netcdf_c}
try:
    read, write = makers[peer]()
    values = None
    if operation == "write":
        import zarr

        values = zarr.open_array(os.path.join(os.path.abspath(folder), "raw.zarr", "v"), mode="r", zarr_format=2)[...]
    best = float("inf")
    for _ in range(int(runs)):
        start = time.perf_counter()
        if operation == "write":
            write(values)
        else:
            read()
        best = min(best, time.perf_counter() - start)
        shutil.rmtree(target, ignore_errors=True)
except (ImportError, RuntimeError, ValueError, OSError) as error:
    print(f"{peer} {codec} {operation}: {error}", file=sys.stderr)
    lacks()
print(json.dumps({"seconds": best, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
