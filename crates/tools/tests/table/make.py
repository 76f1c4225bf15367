"""Makes netCDF-4 files, each with one thing that readers of copies may get wrong."""
import sys
from pathlib import Path

import netCDF4
import numpy

FOLDER = Path(sys.argv[1])
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def new(name, **dims):
    dataset = netCDF4.Dataset(FOLDER / f"{name}.nc", "w")
    dataset.set_auto_maskandscale(False)
    for dim, len in (dims or {"x": 6}).items():
        dataset.createDimension(dim, len)
    return dataset


def variable(dataset, ty, values, name="v", dims=("x",), **options):
    attributes = options.pop("attributes", {})
    made = dataset.createVariable(name, ty, dims, **options)
    made.set_auto_maskandscale(False)
    made.setncatts(attributes)
    if values is not None:
        made[...] = values
    return made


def extremes(ty):
    info = numpy.iinfo(ty) if numpy.dtype(ty).kind in "iu" else numpy.finfo(ty)
    return numpy.array([info.min, 0, 1, 2, 3, info.max], ty)


def single(name, ty, values, **options):
    with new(name) as dataset:
        variable(dataset, ty, values, **options)


for ty in NUMBERS:
    single(f"extremes_{ty}", ty, extremes(ty))
    single(f"fill_{ty}", ty, extremes(ty), fill_value=numpy.dtype(ty).type(1))
    single(f"unwritten_{ty}", ty, None)
    with new(f"scalar_{ty}") as dataset:
        variable(dataset, ty, 3, dims=())
single("nofill", "u1", extremes("u1"), fill_value=False)
single("nan_fill", "f4", [1, 2, numpy.nan, 4, 5, 6], fill_value=numpy.float32("nan"))
single("packed", "i2", [-99, 0, 1, 2, 3, 4], fill_value=numpy.int16(-99),
       attributes={"scale_factor": numpy.float64(0.01), "add_offset": numpy.float64(273.15)})
single("packed_float", "i2", [-99, 0, 1, 2, 3, 4], fill_value=numpy.int16(-99),
       attributes={"scale_factor": numpy.float32(0.1), "add_offset": numpy.float32(1.5)})
single("unsigned", "i1", [-1, 0, 1, 2, 3, -128], attributes={"_Unsigned": "true"})
single("missing_float", "f4", [-9.99e33, 1, 2, 3, 4, 0.1], attributes={"missing_value": numpy.float32(-9.99e33)})
single("tenth", "f4", [0.1, 1, 2, 3, 4, 0.1], fill_value=numpy.float32(0.1),
       attributes={"valid_range": numpy.array([0.1, 0.7], "f4")})
single("big_endian", ">i4", extremes("i4"), endian="big")
single("time", "f8", numpy.arange(6), attributes={"units": "days since 2000-01-01", "calendar": "noleap"})
single("deflate", "i4", extremes("i4"), zlib=True, shuffle=True, chunksizes=(4,))
single("checked", "i4", extremes("i4"), fletcher32=True, chunksizes=(4,))
single("strings", str, numpy.array(["", "a", "Zürich", "b" * 40, "0", "NaN"], object))
with new("characters", x=3, len=4) as dataset:
    variable(dataset, "S1", numpy.array([list("abcd"), list("ef  "), ["g", "", "", ""]], "S1"), dims=("x", "len"))
with new("encoded", x=3, len=8) as dataset:
    names = numpy.array([["Z", *"rich123"], list("abcdefgh"), list("ijklmnop")], "S1")
    variable(dataset, "S1", names, dims=("x", "len"), attributes={"_Encoding": "utf-8"})
with new("scalar_text") as dataset:
    variable(dataset, str, None, dims=())[...] = numpy.array("text", object)
with new("growing", time=None, x=3) as dataset:
    variable(dataset, "f8", numpy.arange(4), name="time", dims=("time",))
    variable(dataset, "i2", numpy.arange(12).reshape(4, 3), dims=("time", "x"))
with new("no_records", time=None, x=3) as dataset:
    variable(dataset, "i2", None, dims=("time", "x"))
with new("grouped", x=3) as dataset:
    variable(dataset, "i4", [1, 2, 3], name="x")
    for name in ("a", "a-b", "b"):
        group = dataset.createGroup(name)
        group.createDimension("y", 2)
        variable(group, "f4", [[1, 2, 3], [4, 5, 6]], dims=("y", "x"))
        variable(group.createGroup("inner"), "i1", [1, 2, 3], name="w")
with new("names") as dataset:
    dataset.setncatts({"title": "Zürich", "numbers": numpy.arange(3, dtype="i2"), "one": numpy.float32(0.1)})
    for name in ("a b", "a.b", "ü", "a+b", "_under"):
        variable(dataset, "i4", numpy.arange(6), name=name)
