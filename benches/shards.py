"""Measures one operation of a peer on shards of Zarr v3; prints the same line of JSON as ncirrus-bench.

usage: shards.py PEER CASE FOLDER RUNS, with PEER one of zarr-python, zarrs-python, tensorstore, and CASE as in `shards.rs`;
small-read reads the chunks that are single objects.
Reads what `ncirrus-bench shards make` has made; exit code 3 when the peer cannot.
"""
import json
import os
import resource
import shutil
import sys
import time

peer, case, folder, runs = sys.argv[1:]
folder = os.path.abspath(folder)
source, base = (os.path.join(folder, name, "v") for name in ("shards-ncirrus.zarr", "append-ncirrus.zarr"))
target = os.path.join(folder, peer + ".tmp")
if case == "small-read":
    source = os.path.join(folder, "bench", "small-unsharded.zarr", "v")
SHAPE, CHUNK, SHARD = (128, 1024, 1024), (1, 512, 512), (16, 1024, 1024)
KEYS = {"read": (slice(None),) * 3, "small-read": slice(None), "series": (slice(None), 517, 301)}


def zarr_python():
    import zarr

    if peer == "zarrs-python":
        import zarrs  # noqa: F401

        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})

    def read():
        return zarr.open_array(source, mode="r")[KEYS[case]]

    def write(values):
        array = zarr.create_array(
            target, shape=SHAPE, chunks=CHUNK, shards=SHARD, dtype="f4", overwrite=True, filters=None,
            compressors=zarr.codecs.ZstdCodec(level=3))
        array[...] = values

    def append(values):
        zarr.open_array(target, mode="r+").append(values[:1], axis=0)

    return read, write, append


def tensorstore():
    import tensorstore as ts

    little = {"name": "bytes", "configuration": {"endian": "little"}}
    sharding = {"name": "sharding_indexed", "configuration": {
        "chunk_shape": CHUNK, "codecs": [little, {"name": "zstd", "configuration": {"level": 3}}],
        "index_codecs": [little, {"name": "crc32c"}], "index_location": "end"}}
    metadata = {
        "shape": SHAPE, "data_type": "float32", "fill_value": 0.0, "codecs": [sharding],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHARD}}}

    def spec(path):
        return {"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"}}

    def read():
        return ts.open(spec(source), open=True, read=True).result()[KEYS[case]].read().result()

    def write(values):
        new = spec(target) | {"metadata": metadata}
        ts.open(new, create=True, delete_existing=True).result().write(values).result()

    def append(values):
        array = ts.open(spec(target), open=True, write=True, read=True).result()
        old = array.shape[0]
        array = array.resize(exclusive_max=[old + 1, *SHAPE[1:]]).result()
        array[old].write(values[0]).result()

    return read, write, append


makers = {"zarr-python": zarr_python, "zarrs-python": zarr_python, "tensorstore": tensorstore}
try:
    read, write, append = makers[peer]()
    values = None
    if case in ("write", "append"):
        import zarr

        values = zarr.open_array(source, mode="r")[: 1 if case == "append" else None]
    best = float("inf")
    for _ in range(int(runs)):
        shutil.rmtree(target, ignore_errors=True)
        if case == "append":
            shutil.copytree(base, target)
        start = time.perf_counter()
        {"write": lambda: write(values), "append": lambda: append(values)}.get(case, read)()
        best = min(best, time.perf_counter() - start)
    shutil.rmtree(target, ignore_errors=True)
except (ImportError, RuntimeError, ValueError, OSError, NotImplementedError) as error:
    print(f"{peer} {case}: {error}", file=sys.stderr)
    sys.exit(3)
print(json.dumps({"seconds": best, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
