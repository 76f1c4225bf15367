"""Measures one operation of a peer on a remote store; prints the same line of JSON as ncirrus-bench.

usage: cloud.py PEER CASE ENDPOINT RUNS, with PEER one of xarray-s3fs, xarray-obstore, zarr-s3fs, zarr-obstore,
tensorstore, and CASE as in `cloud.rs`. Reads what `ncirrus-bench cloud make` has made; exit code 3 if the peer cannot.
"""
import json
import os
import resource
import sys
import time

import numpy as np

peer, case, endpoint, runs = sys.argv[1:]
os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_REGION="us-east-1")
# Stores made by this process so far.
made = 0
SHAPE, CHUNK = (128, 1024, 1024), (1, 1024, 1024)
KEYS = {"series": (slice(None), 517, 301), "read": (slice(None),) * 3}


def lacks(why=""):
    print(f"{peer} {case}: {why}", file=sys.stderr)
    sys.exit(3)


def target():
    """Where to write: a new location each time, or always the same."""
    global made
    made += 1
    return f"{peer}-{os.getpid()}-{made}.zarr" if case == "create" else f"{peer}.zarr"


def store(name, read_only):
    """A store for zarr-python: a new client each time, as a new process would have."""
    import zarr

    if peer.endswith("s3fs"):
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()
        files = s3fs.S3FileSystem(anon=True, endpoint_url=endpoint, asynchronous=True, skip_instance_cache=True)
        return zarr.storage.FsspecStore(files, read_only=read_only, path=f"bench/{name}")
    from obstore.store import S3Store

    bucket = S3Store(
        "bench", prefix=name, endpoint=endpoint, skip_signature=True, region="us-east-1",
        client_options={"allow_http": True})
    return zarr.storage.ObjectStore(bucket, read_only=read_only)


def with_zarr():
    import zarr

    if case == "open":
        group = zarr.open_group(store("open.zarr", True), mode="r", zarr_format=2, use_consolidated=True)
        found = sum(1 for _, array in group.arrays() if array.attrs.asdict() is not None)
    elif case in ("create", "write"):
        import numcodecs

        array = zarr.create_array(
            store(target(), False), name="v", shape=SHAPE, chunks=CHUNK, dtype="f4", zarr_format=2,
            overwrite=True, filters=None, compressors=numcodecs.Zstd(level=3))
        array[...] = values
        return
    else:
        zarr.open_group(store("data.zarr", True), mode="r", zarr_format=2)["v"][KEYS[case]]
        return
    assert found >= 1000, found


def with_xarray():
    import xarray

    if case in ("create", "write"):
        import numcodecs

        data = xarray.Dataset({"v": (("t", "y", "x"), values)})
        encoding = {"v": {"chunks": CHUNK, "compressor": numcodecs.Zstd(level=3)}}
        data.to_zarr(store(target(), False), mode="w", zarr_format=2, encoding=encoding, consolidated=True)
        return
    name = "open.zarr" if case == "open" else "data.zarr"
    data = xarray.open_zarr(
        store(name, True), chunks=None, consolidated=None, zarr_format=2, mask_and_scale=False, decode_cf=False)
    if case == "open":
        assert len(data.variables) >= 1000
    else:
        data["v"][KEYS[case]].values


def with_tensorstore():
    import tensorstore as ts

    context = ts.Context({"aws_credentials": {"type": "anonymous"}})

    def spec(name):
        kvstore = {
            "driver": "s3", "bucket": "bench", "path": name, "endpoint": endpoint, "aws_region": "us-east-1",
            "aws_credentials": {"type": "anonymous"}}
        return {"driver": "zarr", "kvstore": kvstore}

    if case == "open":
        lacks("no groups")
    if case in ("create", "write"):
        metadata = {"shape": SHAPE, "chunks": CHUNK, "dtype": "<f4", "compressor": {"id": "zstd", "level": 3}}
        new = spec(f"{target()}/v/") | {"metadata": metadata}
        ts.open(new, create=True, delete_existing=True, context=context).result().write(values).result()
        return
    ts.open(spec("data.zarr/v/"), open=True, read=True, context=context).result()[KEYS[case]].read().result()


makers = {"xarray": with_xarray, "zarr": with_zarr, "tensorstore": with_tensorstore}
work = makers[peer.split("-")[0]]
try:
    values = None
    if case in ("create", "write"):
        random = np.random.default_rng(1)
        rows = 280 + 20 * np.sin(np.arange(1024) / 163)[:, None] + 5 * np.cos(np.arange(1024) / 97)[None, :]
        values = np.empty(SHAPE, "f4")
        for step in range(SHAPE[0]):
            noise = random.integers(0, 256, (1024, 1024)) / 512
            values[step] = np.round((rows + np.cos(step / 20) + noise) * 64) / 64
    best = float("inf")
    for _ in range(int(runs)):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
except (ImportError, RuntimeError, ValueError, OSError, AttributeError) as error:
    lacks(repr(error))
print(json.dumps({"seconds": best, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
