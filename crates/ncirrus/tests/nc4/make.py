"""Makes netCDF-4 files by several programs, all with the same contents, for changing them.

usage: make.py FOLDER [RECORDS]: RECORDS along `time`, 3 when left out; without any, `a` is wide and not compressed
"""
import sys

import h5netcdf
import h5py
import netCDF4
import numpy

LEN = 2000
RECORDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
WIDTH = 4 if RECORDS else 128
# Variables: dimensions, chunks, filters.
VARIABLES = {
    "a": (("time", "x"), (2, WIDTH), RECORDS > 0),
    "b": (("time",), (2,), False),
    "two": (("time", "u"), (2, 2), False),
    "fixed": (("x",), (2,), False),
    "old": (("x",), (2,), False),
    "gone": (("x",), (2,), False),
    "big": (("y",), (LEN,), True),
}


def contents(records):
    return {
        "a": numpy.arange(100, 100 + 4 * records).reshape(records, WIDTH), "b": numpy.arange(200, 200 + records),
        "two": numpy.arange(600, 600 + 2 * records).reshape(records, 2), "fixed": numpy.arange(300, 300 + WIDTH),
        "old": numpy.arange(400, 400 + WIDTH), "gone": numpy.arange(500, 500 + WIDTH), "big": numpy.zeros(LEN, "i4")}


def sizes(records):
    return {"time": records, "u": 2, "x": WIDTH, "y": LEN}


def by_netcdf4(path, records, notes=0, **how):
    with netCDF4.Dataset(path, "w", **how) as file:
        for name, size in sizes(records).items():
            file.createDimension(name, None if name in ("time", "u") else size)
        for name, (dims, chunks, filtered) in VARIABLES.items():
            variable = file.createVariable(name, "i4", dims, chunksizes=chunks, zlib=filtered, shuffle=filtered)
            if records or "time" not in dims:
                variable[...] = contents(records)[name]
            variable.title = name
            for number in range(notes):
                variable.setncattr(f"note{number}", number)
        file.title = "before"
        for number in range(notes):
            file.setncattr(f"note{number}", number)


def by_h5netcdf(path, records, **how):
    with h5netcdf.File(path, "w", **how) as file:
        file.dimensions = {n: None if n in ("time", "u") else s for n, s in sizes(records).items()}
        for name in ("time", "u"):
            file.resize_dimension(name, sizes(records)[name])
        for name, (dims, chunks, filtered) in VARIABLES.items():
            options = {"compression": "gzip", "shuffle": True} if filtered else {}
            variable = file.create_variable(name, dims, "i4", chunks=chunks, **options)
            if records or "time" not in dims:
                variable[...] = contents(records)[name]
            variable.attrs["title"] = numpy.bytes_(name)
        file.attrs["title"] = numpy.bytes_("before")


def by_h5py(path, records, notes=0, **how):
    with h5py.File(path, "w", **how) as file:
        for name, size in sizes(records).items():
            grows = name in ("time", "u")
            scale = file.create_dataset(
                name, (size,), ">f4", maxshape=(None if grows else size,), chunks=(64,) if grows else None)
            scale.make_scale(f"This is a netCDF dimension but not a netCDF variable. {size:9d}")
        for name, (dims, chunks, filtered) in VARIABLES.items():
            values = contents(records)[name]
            most = tuple(None if dim in ("time", "u") else sizes(records)[dim] for dim in dims)
            options = {"compression": "gzip", "shuffle": True} if filtered else {}
            variable = file.create_dataset(
                name, values.shape, "i4", data=values, maxshape=most, chunks=chunks, **options)
            for axis, dim in enumerate(dims):
                variable.dims[axis].attach_scale(file[dim])
            variable.attrs["title"] = numpy.bytes_(name)
            for number in range(notes):
                variable.attrs[f"note{number}"] = number
        file.attrs["title"] = numpy.bytes_("before")
        for number in range(notes):
            file.attrs[f"note{number}"] = number


MAKERS = {
    "netcdf4": lambda path, records: by_netcdf4(path, records),
    "netcdf4-dense": lambda path, records: by_netcdf4(path, records, notes=20),
    "h5netcdf": lambda path, records: by_h5netcdf(path, records),
    "h5py-earliest": lambda path, records: by_h5py(path, records, libver="earliest"),
    "h5py-ordered": lambda path, records: by_h5py(path, records, libver="v108", track_order=True),
    "h5py-v110": lambda path, records: by_h5py(path, records, libver=("v110", "v110")),
    "h5py-latest": lambda path, records: by_h5py(path, records, libver="latest"),
    "h5py-dense": lambda path, records: by_h5py(path, records, libver="latest", notes=20, track_order=True),
}

if __name__ == "__main__":
    for maker, make in MAKERS.items():
        make(f"{sys.argv[1]}/{maker}.nc", RECORDS)
