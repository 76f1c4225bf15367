"""The Python package compared with Rust and with its peers.

usage: python.py make FOLDER: makes what is read.
       python.py WHO CASE PLACE RUNS: measures, and prints the same line of JSON as ncirrus-bench. PLACE is a folder, or the
       address of a server over it; exit code 3 when WHO cannot.

Cases, and who can be asked:
  read-CODEC, fresh-CODEC        512 MiB of Zarr into the caller's array, into a new one: ncirrus
  read-nc-CODEC, fresh-nc-CODEC  the same of netCDF-4: ncirrus
  element                        one element of a chunk that is cached: ncirrus, h5py, netcdf4, zarr
  import                         what importing takes above a bare interpreter: ncirrus, netcdf4, h5netcdf, zarr
  open, whole, series, points    xarray: 1,000 variables; 512 MiB; 128 chunks; 1,000 scattered points of them:
                                 ncirrus, netcdf4, h5netcdf (netCDF-4), ncirrus-zarr, zarr, zarr-s3fs, zarr-obstore
  mean-HOW, write-HOW            Dask, 512 MiB, HOW is threads or processes: the same
  many                           1,000 files as one dataset: ncirrus (open_many), netcdf4, h5netcdf (open_mfdataset)
"""
import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SHAPE, CHUNK = (128, 1024, 1024), (1, 1024, 1024)
POINT = (517, 301)
VARIABLES, FILES, POINTS = 1000, 1000, 1000
os.environ.update(AWS_EC2_METADATA_DISABLED="true", AWS_REGION="us-east-1")


def field(step, random):
    """A step like a model's output, quantised to 1/64: as in ``data.rs``."""
    rows = 280 + 20 * np.sin(np.arange(1024) / 163) + np.cos(step / 20)
    columns = 5 * np.cos(np.arange(1024) / 97)
    noise = random.integers(0, 256, (1024, 1024)) / 512
    return (np.round((rows[:, None] + columns[None, :] + noise) * 64) / 64).astype("f4")


def whole():
    random = np.random.default_rng(1)
    return np.stack([field(step, random) for step in range(SHAPE[0])])


def make(folder):
    """The netCDF-4 files, and the same data as Zarr in the bucket ``bench``."""
    import netCDF4

    import ncirrus

    bucket = Path(folder) / "bench"
    bucket.mkdir(parents=True, exist_ok=True)
    values = whole()
    options = {
        "raw": {"contiguous": True},
        "zstd": {"chunksizes": CHUNK, "compression": "zstd", "complevel": 3},
        "deflate": {"chunksizes": CHUNK, "zlib": True, "complevel": 4, "shuffle": True},
    }
    for name, how in options.items():
        with netCDF4.Dataset(bucket / f"{name}.nc", "w") as file:
            for dimension, length in zip("tyx", SHAPE):
                file.createDimension(dimension, length)
                file.createVariable(dimension, "f8", (dimension,))[:] = np.arange(length)
            file.createVariable("v", "f4", ("t", "y", "x"), fill_value=False, **how)[:] = values
    with netCDF4.Dataset(bucket / "open.nc", "w") as file:
        file.createDimension("x", 1000)
        for number in range(VARIABLES):
            variable = file.createVariable(f"v{number}", "f4", ("x",))
            for attribute in ("units", "long_name", "standard_name", "comment", "source"):
                variable.setncattr(attribute, f"{attribute} of {number}")
    for name in ("deflate", "open"):
        ncirrus.copy(str(bucket / f"{name}.nc"), str(bucket / f"{name}.zarr"), kind="zarr2", overwrite=True)
    many = bucket / "many"
    many.mkdir(exist_ok=True)
    for number in range(FILES):
        with netCDF4.Dataset(many / f"{number:04}.nc", "w") as file:
            for dimension, length in {"t": None, "y": 20, "x": 20}.items():
                file.createDimension(dimension, length)
                size = 10 if length is None else length
                coordinate = file.createVariable(dimension, "f8", (dimension,))
                coordinate[:] = np.arange(size) + (10 * number if length is None else 0)
            file.createVariable("v", "f4", ("t", "y", "x"))[:] = np.full((10, 20, 20), number, "f4")


def path_of(who, case, place):
    name = "open" if case == "open" else "deflate"
    return f"{place}/{name}.zarr" if who.endswith("zarr") or who.startswith("zarr") else f"{place}/{name}.nc"


def opened(who, path, chunks=None, **rest):
    """A dataset opened by xarray with an engine, undecoded, with a new client each time."""
    import xarray

    plain = {"chunks": chunks, "decode_cf": False, **rest}
    far = path.startswith("http")
    if who in ("ncirrus", "ncirrus-zarr"):
        if far and who == "ncirrus-zarr":
            endpoint, _, key = path.partition("/bench/")
            options = {"endpoint_url": endpoint, "anon": True}
            return xarray.open_dataset(
                f"s3://bench/{key}", engine="ncirrus", storage_options=options, **plain)
        return xarray.open_dataset(path, engine="ncirrus", **plain)
    if who == "netcdf4":
        return xarray.open_dataset(path + "#mode=bytes" if far else path, engine="netcdf4", **plain)
    if who == "h5netcdf":
        source = path
        if far:
            import fsspec

            source = fsspec.open(path, "rb").open()
        return xarray.open_dataset(source, engine="h5netcdf", **plain)
    return xarray.open_dataset(zarr_store(who, path), engine="zarr", consolidated=True, zarr_format=2, **plain)


def zarr_store(who, path):
    """A store for zarr-python."""
    if not path.startswith("http"):
        return path
    import zarr

    endpoint, _, key = path.partition("/bench/")
    if who == "zarr-obstore":
        from obstore.store import S3Store

        bucket = S3Store(
            "bench", prefix=key, endpoint=endpoint, skip_signature=True, region="us-east-1",
            client_options={"allow_http": True})
        return zarr.storage.ObjectStore(bucket, read_only=True)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem(anon=True, endpoint_url=endpoint, asynchronous=True, skip_instance_cache=True)
    return zarr.storage.FsspecStore(files, read_only=True, path=f"bench/{key}")


def best_of(runs, work):
    """The smallest time of some runs; what each leaves open is closed."""
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        left = work()
        best = min(best, time.perf_counter() - start)
        if hasattr(left, "close"):
            left.close()
    return best


def read(case, place, runs):
    import ncirrus

    where, _, codec = case.partition("-")
    path = f"{place}/{codec}.zarr"
    if codec.startswith("nc-"):
        path = f"{place}/bench/{codec.removeprefix('nc-')}.nc"
    session = ncirrus.Session(chunk_cache=0)
    out = np.zeros(SHAPE, "f4")

    def work():
        dataset = ncirrus.open(path, session=session)
        if where == "read":
            dataset["v"].read(out=out)
        else:
            dataset["v"][...]
        return dataset

    return best_of(runs, work)


def element(who, place, runs):
    """Seconds of reading one element, many times over, of a chunk that is in memory."""
    count = 2000
    if who == "ncirrus":
        import ncirrus

        variable = ncirrus.open(f"{place}/bench/deflate.nc")["v"]
    elif who == "h5py":
        import h5py

        variable = h5py.File(f"{place}/bench/deflate.nc")["v"]
    elif who == "netcdf4":
        import netCDF4

        file = netCDF4.Dataset(f"{place}/bench/deflate.nc")
        file.set_auto_maskandscale(False)
        variable = file["v"]
    else:
        import zarr

        variable = zarr.open_array(f"{place}/bench/deflate.zarr/v", mode="r")
        count = 50
    variable[0, 0, 0]

    def work():
        for _ in range(count):
            variable[0, 517, 301]

    return best_of(runs, work) / count


def importing(who, runs):
    """Seconds by which an import delays a fresh interpreter."""
    module = {"ncirrus": "ncirrus", "netcdf4": "netCDF4", "h5netcdf": "h5netcdf", "zarr": "zarr"}[who]

    def of(code):
        return best_of(runs, lambda: subprocess.run([sys.executable, "-c", code], check=True))

    return of(f"import {module}") - of("pass")


def with_xarray(who, case, place, runs):
    path = path_of(who, case, place if place.startswith("http") else f"{place}/bench")
    if who.startswith("zarr-") and not place.startswith("http"):
        raise NotImplementedError("a client of object stores")
    if path.startswith("http") and who == "zarr":
        raise NotImplementedError("it needs a client of object stores")
    import xarray

    random = np.random.default_rng(5)
    points = {name: xarray.DataArray(random.integers(0, size, POINTS), dims="p") for name, size in zip("tyx", SHAPE)}

    def work():
        dataset = opened(who, path)
        if case == "open":
            assert len(dataset.variables) >= VARIABLES
        elif case == "whole":
            dataset["v"].values
        elif case == "series":
            dataset["v"][:, POINT[0], POINT[1]].values
        else:
            dataset["v"].isel(points).values
        return dataset

    return best_of(runs, work)


def with_dask(who, case, place, runs):
    import dask

    what, _, how = case.partition("-")
    cluster = None
    if how == "processes":
        from distributed import Client

        cluster = Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    try:
        with dask.config.set(scheduler="threads" if cluster is None else cluster):
            if what == "mean":
                path = path_of(who, "whole", f"{place}/bench")

                def work():
                    with opened(who, path, chunks={}) as dataset:
                        float(dataset["v"].mean().compute())

                return best_of(runs, work)
            return writing(who, place, runs)
    finally:
        if cluster is not None:
            cluster.close()


def writing(who, place, runs):
    """Writes computed values, so that workers have something to do; the dataset is complete at the end.

    Like the peers: without waiting for stable storage.
    """
    import dask.array
    import xarray

    import ncirrus.xarray

    session = ncirrus.Session(durable=False)
    values = dask.array.from_array(whole(), chunks=CHUNK)
    data = xarray.Dataset({"v": (("t", "y", "x"), values)})
    is_zarr = "zarr" in who
    target = Path(place) / f"written-{who}{'.zarr' if is_zarr else '.nc'}"
    filters = {"zlib": True, "complevel": 4, "shuffle": True, "chunksizes": CHUNK}

    def work():
        if target.is_dir():
            shutil.rmtree(target)
        target.unlink(missing_ok=True)
        if who == "ncirrus":
            data.ncirrus.to(str(target), kind="nc4", encoding={"v": filters}, session=session)
        elif who == "ncirrus-zarr":
            encoding = {"v": {"compressor": {"id": "zstd", "level": 3}}}
            data.ncirrus.to(str(target), kind="zarr2", encoding=encoding, session=session)
        elif is_zarr:
            import numcodecs

            encoding = {"v": {"chunks": CHUNK, "compressors": (numcodecs.Zstd(level=3),)}}
            data.to_zarr(target, mode="w", zarr_format=2, encoding=encoding, consolidated=True)
        else:
            data.to_netcdf(target, engine=who, encoding={"v": filters})

    try:
        return best_of(runs, work)
    finally:
        shutil.rmtree(target, ignore_errors=True)
        if target.is_file():
            target.unlink()


def many(who, place, runs):
    import xarray

    files = sorted(str(path) for path in Path(f"{place}/bench/many").glob("*.nc"))

    def work():
        if who == "ncirrus":
            import ncirrus

            data = xarray.open_dataset(ncirrus.open_many(files, axis="t"), engine="ncirrus", chunks={})
        else:
            data = xarray.open_mfdataset(
                files, engine=who, combine="nested", concat_dim="t", data_vars="minimal", coords="minimal",
                compat="override")
        assert data.sizes["t"] == 10 * FILES
        return data

    return best_of(min(runs, 1 if who != "ncirrus" else runs), work)


def measure(who, case, place, runs):
    if case.startswith(("read-", "fresh-")):
        return read(case, place, runs)
    if case == "element":
        return element(who, place, runs)
    if case == "import":
        return importing(who, runs)
    if case == "many":
        return many(who, place, runs)
    if case.startswith(("mean-", "write-")):
        return with_dask(who, case, place, runs)
    return with_xarray(who, case, place, runs)


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2])
        return
    who, case, place, runs = sys.argv[1:5]
    try:
        seconds = measure(who, case, place, int(runs))
    except (ImportError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        print(f"{who} {case} {place}: {error!r}", file=sys.stderr)
        sys.exit(3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_kib": peak}))


if __name__ == "__main__":
    main()
