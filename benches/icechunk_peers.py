"""Makes Icechunk repositories and reference files, and measures peers on them; prints the same line of JSON as ncirrus-bench.

usage: icechunk_peers.py make FOLDER: FOLDER/bench/repo, a repository of 128 chunks of 1 MiB, for an S3 server of FOLDER.
       icechunk_peers.py virtual FOLDER CHUNKS [SPLIT]: FOLDER/repo with so many virtual chunks in FOLDER/data; SPLIT is the number of
           chunks of each manifest (one manifest without it).
       icechunk_peers.py parquet FOLDER CHUNKS: FOLDER/refs.parq, references of kerchunk in Parquet.
       icechunk_peers.py json FOLDER CHUNKS: FOLDER/refs.json, the same references in JSON.
       icechunk_peers.py files FOLDER COUNT: FOLDER/NNNN.nc, netCDF-4 files with a variable of 24 chunks each.
       icechunk_peers.py icechunk CASE ENDPOINT RUNS: icechunk's own Python with zarr-python; CASE as in `icechunk.rs`.
       icechunk_peers.py virtualizarr scan SERVER RUNS COUNT: scans the files behind a web server.
"""
import json
import os
import resource
import shutil
import sys
import time

import numpy as np

SHAPE, CHUNK = (128, 512, 512), (1, 512, 512)
KEYS = {"series": (slice(None), 257, 131), "read": (slice(None),) * 3}
# Elements of each virtual chunk.
ELEMENTS = 16


def make(folder):
    import icechunk
    import zarr

    place = os.path.join(folder, "bench", "repo")
    shutil.rmtree(place, ignore_errors=True)
    repository = icechunk.Repository.create(icechunk.local_filesystem_storage(place))
    session = repository.writable_session("main")
    group = zarr.create_group(session.store)
    random = np.random.default_rng(1)
    array = group.create_array(
        "v", shape=SHAPE, chunks=CHUNK, dtype="f4", compressors=zarr.codecs.ZstdCodec(level=3),
        dimension_names=["time", "y", "x"])
    for step in range(SHAPE[0]):
        array[step] = np.round(random.random(CHUNK[1:]) * 4096) / 64 + step
    session.commit("made")


def virtual(folder, chunks, split=None):
    import icechunk
    import zarr

    os.makedirs(os.path.join(folder, "data"), exist_ok=True)
    file = os.path.join(folder, "data", "raw.bin")
    np.arange(1 << 20, dtype="<f4").tofile(file)
    prefix = f"file://{folder}/data/"
    config = icechunk.RepositoryConfig()
    config.set_virtual_chunk_container(
        icechunk.VirtualChunkContainer(prefix, icechunk.local_filesystem_store(f"{folder}/data/")))
    if split:
        rows = int(split) // 1000
        condition = {icechunk.ManifestSplitDimCondition.Axis(0): rows}
        config.manifest = icechunk.ManifestConfig(
            splitting=icechunk.ManifestSplittingConfig.from_dict({icechunk.ManifestSplitCondition.AnyArray(): condition}))
    allowed = icechunk.containers_credentials({prefix: icechunk.Credentials.LocalFileSystemAccess()})
    place = os.path.join(folder, "repo")
    shutil.rmtree(place, ignore_errors=True)
    repository = icechunk.Repository.create(
        icechunk.local_filesystem_storage(place), config=config,
        authorize_virtual_chunk_access=allowed)
    repository.save_config()
    steps = int(chunks) // 1000
    session = repository.writable_session("main")
    group = zarr.create_group(session.store)
    group.create_array(
        "v", shape=(steps, 1000, ELEMENTS), chunks=(1, 1, ELEMENTS), dtype="<f4", compressors=None, filters=None,
        dimension_names=["time", "y", "x"])
    size = ELEMENTS * 4
    for first in range(0, steps, 1000):
        count = min(1000, steps - first)
        numbers = np.arange(first * 1000, (first + count) * 1000, dtype="u8")
        session.store.set_virtual_refs_arr(
            "/v", (count, 1000, 1), [f"{prefix}raw.bin"] * len(numbers), numbers % 65536 * size,
            np.full(len(numbers), size, "u8"), arr_offset=(first, 0, 0))
        if split:
            session.commit(f"from {first}")
            session = repository.writable_session("main")
    if not split:
        session.commit("all")


def referred(folder, count):
    """A file with the bytes of chunks, and the metadata of an array of so many chunks."""
    os.makedirs(os.path.join(folder, "data"), exist_ok=True)
    file = os.path.join(folder, "data", "raw.bin")
    np.arange(1 << 20, dtype="<f4").tofile(file)
    array = {
        "zarr_format": 2, "shape": [count // 1000, 1000, ELEMENTS], "chunks": [1, 1, ELEMENTS], "dtype": "<f4",
        "fill_value": None, "order": "C", "compressor": None, "filters": None}
    documents = {
        ".zgroup": {"zarr_format": 2}, "v/.zarray": array, "v/.zattrs": {"_ARRAY_DIMENSIONS": ["time", "y", "x"]}}
    return file, documents


def json_file(folder, chunks):
    file, documents = referred(folder, int(chunks))
    references = {key: json.dumps(document) for key, document in documents.items()}
    size = ELEMENTS * 4
    for number in range(int(chunks)):
        references[f"v/{number // 1000}.{number % 1000}.0"] = [file, number % 65536 * size, size]
    with open(os.path.join(folder, "refs.json"), "w") as out:
        json.dump({"version": 1, "refs": references}, out)


def parquet(folder, chunks):
    import fastparquet
    import pandas

    rows, count = 10_000, int(chunks)
    file, documents = referred(folder, count)
    target = os.path.join(folder, "refs.parq")
    os.makedirs(os.path.join(target, "v"), exist_ok=True)
    for part in range(-(-count // rows)):
        numbers = np.arange(part * rows, (part + 1) * rows)
        path = pandas.Categorical.from_codes(np.zeros(rows, "i4"), [file])
        table = pandas.DataFrame({
            "path": path, "offset": numbers % 65536 * ELEMENTS * 4, "size": np.full(rows, ELEMENTS * 4),
            "raw": pandas.Series([None] * rows, dtype=object)})
        fastparquet.write(
            os.path.join(target, "v", f"refs.{part}.parq"), table, compression="ZSTD", stats=False,
            object_encoding={"raw": "bytes", "path": "utf8"}, has_nulls=["path", "raw"])
    with open(os.path.join(target, ".zmetadata"), "w") as out:
        json.dump({"metadata": documents, "record_size": rows}, out)


def files(folder, count):
    import netCDF4

    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(1)
    for number in range(int(count)):
        with netCDF4.Dataset(os.path.join(folder, f"{number:04}.nc"), "w") as file:
            for name, length in (("time", None), ("y", 64), ("x", 64)):
                file.createDimension(name, length)
            time_ = file.createVariable("time", "f8", ("time",), chunksizes=(24,))
            time_.units = "hours since 2000-01-01"
            time_[:] = np.arange(24) + number * 24
            for name in ("t2m", "u10"):
                variable = file.createVariable(name, "f4", ("time", "y", "x"), zlib=True, chunksizes=(1, 64, 64))
                variable.units = "1"
                variable[:] = random.random((24, 64, 64), dtype="f4")


def with_icechunk(case, endpoint):
    import icechunk
    import zarr

    zarr.config.set({"async.concurrency": 64})
    storage = icechunk.s3_storage(
        bucket="bench", prefix="repo", endpoint_url=endpoint, allow_http=True, region="us-east-1", anonymous=True,
        force_path_style=True)
    session = icechunk.Repository.open(storage).readonly_session("main")
    group = zarr.open_group(session.store, mode="r")
    if case == "open":
        assert group["v"].shape == SHAPE
        return
    group["v"][KEYS[case]]


def with_virtualizarr(server, count):
    import xarray
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import HTTPStore
    from virtualizarr import open_virtual_mfdataset
    from virtualizarr.parsers import HDFParser

    registry = ObjectStoreRegistry({server: HTTPStore.from_url(server, client_options={"allow_http": True})})
    urls = [f"{server}/{number:04}.nc" for number in range(count)]
    with xarray.set_options(use_new_combine_kwarg_defaults=True):
        found = open_virtual_mfdataset(
            urls, registry=registry, parser=HDFParser(), loadable_variables=[], combine="nested", concat_dim="time",
            decode_times=False)
    found.vz.to_kerchunk(os.devnull, format="json")


def measured(work, runs):
    best = float("inf")
    for _ in range(int(runs)):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"seconds": best, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    who, arguments = sys.argv[1], sys.argv[2:]
    if who == "icechunk":
        case, endpoint, runs = arguments
        measured(lambda: with_icechunk(case, endpoint), runs)
    elif who == "virtualizarr":
        _, server, runs, count = arguments
        measured(lambda: with_virtualizarr(server, int(count)), runs)
    else:
        folder, *more = arguments
        makers = {"make": make, "virtual": virtual, "parquet": parquet, "json": json_file, "files": files}
        # The addresses of virtual chunks and references are absolute.
        makers[who](os.path.abspath(folder), *more)
