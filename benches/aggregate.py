"""Measures a peer on an aggregation of many files; prints the same line of JSON as ncirrus-bench.

usage: aggregate.py PEER CASE FOLDER RUNS, with PEER one of cfdm, cfapyx, xarray (open_mfdataset), kerchunk (a reference
file made before, read through fsspec), s3Dataset-0.4 and s3Dataset-0.5 (a master of as many partitions made before), and CASE
as in `aggregate.rs`; exit code 3 when the peer cannot.
"""
import glob
import json
import os
import resource
import sys
import time

peer, case, folder, runs = sys.argv[1:]
os.chdir(folder)
paths = sorted(glob.glob("f/*.nc"))
MIDDLE = len(paths) // 2


def lacks(why):
    print(f"{peer} {case}: {why}", file=sys.stderr)
    sys.exit(3)


def values_of(variable):
    return variable[MIDDLE:MIDDLE + 1].values if case == "step" else variable[...].values


def cfdm():
    import cfdm

    (field,) = cfdm.read("m.nca")
    return (field[MIDDLE] if case == "step" else field).array


def cfapyx():
    import xarray

    return values_of(xarray.open_dataset("m.nca", engine="CFA")["v"])


def with_xarray():
    import xarray

    how = dict(combine="nested", concat_dim="time", engine="h5netcdf", decode_cf=False)
    with xarray.open_mfdataset(paths, **how) as data:
        return values_of(data["v"])


def references():
    """The reference file that users of kerchunk keep: made once, not measured."""
    from kerchunk.combine import concatenate_arrays
    from kerchunk.hdf import SingleHdf5ToZarr

    parts = [SingleHdf5ToZarr(path).translate() for path in paths]
    with open("refs.json", "w") as out:
        json.dump(concatenate_arrays(parts, path="v"), out)


def kerchunk():
    import fsspec
    import zarr

    files = fsspec.filesystem(
        "reference", fo="refs.json", remote_protocol="file", asynchronous=True, skip_instance_cache=True)
    array = zarr.open_array(zarr.storage.FsspecStore(files, read_only=True, path="v"), mode="r", zarr_format=2)
    return array[MIDDLE:MIDDLE + 1] if case == "step" else array[...]


def master():
    return f"{peer}.nca"


def partitions():
    """A master of S3netCDF4 with as many partitions, of which the middle one is there: made once, not measured."""
    from ncirrus.s3netcdf4 import s3Dataset

    with s3Dataset(master(), "w", cfa_version=peer.split("-")[1]) as made:
        made.createDimension("time", len(paths))
        values = made.createVariable("v", "f8", ("time",), subarray_shape=(1,))
        values[MIDDLE] = MIDDLE % 100_000
        values.partitions_written([(at,) for at in range(len(paths))])


def s3dataset():
    from ncirrus.s3netcdf4 import s3Dataset

    if case != "step":
        lacks("one step is there")
    with s3Dataset(master()) as found:
        return found["v"][MIDDLE:MIDDLE + 1]


work = {"cfdm": cfdm, "cfapyx": cfapyx, "xarray": with_xarray, "kerchunk": kerchunk}.get(peer, s3dataset)
try:
    if peer == "kerchunk" and not os.path.exists("refs.json"):
        references()
    if work is s3dataset and not os.path.exists(master()):
        partitions()
    best = float("inf")
    for _ in range(int(runs)):
        start = time.perf_counter()
        values = work()
        best = min(best, time.perf_counter() - start)
        assert values.flat[0] == (MIDDLE if case == "step" else 0) % 100_000
        del values
except Exception as error:
    lacks(repr(error)[:300])
print(json.dumps({"seconds": best, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
