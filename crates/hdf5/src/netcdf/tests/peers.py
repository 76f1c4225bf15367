"""Writes files into the folder of the first argument, and prints what netCDF-C sees in those that it opens."""
import json
import os
import sys

import h5py
import netCDF4
import numpy as np

home = sys.argv[1]


def h5(name, **options):
    return h5py.File(os.path.join(home, name), "w", **options)


def nc(name, **options):
    return netCDF4.Dataset(os.path.join(home, name), "w", **options)


def attribute(holder, name, value, size, padding=h5py.h5t.STR_NULLTERM):
    """An attribute of fixed-size text with exactly that size and padding."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(padding)
    made = h5py.h5a.create(holder.id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    made.write(np.array(value.encode(), dtype=f"S{size}"), mtype=kind)


def scale(group, name, shape, text=None, **options):
    made = group.create_dataset(name, shape, "f4", **options)
    attribute(made, "CLASS", "DIMENSION_SCALE", 16)
    if text is not None:
        attribute(made, "NAME", text, len(text) + 1)
    return made


with nc("wide_coordinate.nc") as f:
    f.createDimension("x", 2)
    f.createDimension("y", 3)
    f.createVariable("y", "f8", ("x", "y"))
    f.createVariable("x", "f8", ("x", "y"))[:] = 1
    f.createVariable("v", "i4", ("y", "x"))

with nc("same_name.nc") as f:
    f.createDimension("x", 2)
    f.createDimension("y", 2)
    f.createVariable("x", "i4", ())
    f.createVariable("y", "i4", ("x",))

with nc("lengths.nc") as f:
    f.createDimension("t", None)
    g = f.createGroup("g")
    g.createDimension("t", None)
    g.createVariable("in_g", "i4", ("t",))[:5] = 1
    f.createVariable("long", "i4", ("t",))[:4] = 1
    f.createVariable("short", "i4", ("t",))
    f.createGroup("h").createVariable("longer", "i4", ("t",))[:7] = 1

with nc("ids.nc") as f:
    f.createDimension("b", 2)
    f.createDimension("a", 3)
    f.createVariable("v", "i4", ("a", "b"))
    f.createVariable("a", "i4", ("a",))
    f.renameDimension("b", "c")

with nc("strict.nc", format="NETCDF4_CLASSIC") as f:
    f.createDimension("x", 2)
    f.createVariable("v", "i4", ("x",)).long_name = "text"

with nc("types.nc") as f:
    first = f.createEnumType(np.int8, "first", {"no": 0, "yes": 1})
    second = f.createEnumType(np.int8, "second", {"no": 0, "yes": 1})
    f.createVariable("v1", first, ())
    f.createVariable("v2", second, ())
    sequence = f.createVLType(np.int32, "sequence")
    f.createDimension("x", 2)
    f.createGroup("g").createVariable("v", sequence, ("x",))

with h5("committed.h5") as f:
    for name in ("first", "second"):
        f[name] = h5py.enum_dtype({"no": 0, "yes": 1}, "i1")
        f.create_dataset(f"of_{name}", (), f[name])
    f.create_dataset("of_none", (), h5py.enum_dtype({"no": 0, "yes": 1}, "i1"))

with h5("phony.h5") as f:
    f.create_dataset("a", (3, 3), "i4")
    f.create_dataset("b", (3,), "i4")
    f.create_dataset("c", (3,), "i4", maxshape=(None,))
    f.create_dataset("d", (3, 0), "i4")
    f.create_dataset("e", (3,), "i4", maxshape=(9,))
    g = f.create_group("g/h")
    g.create_dataset("v", (3, 4), "i4")
    f["g"].create_dataset("w", (4,), "i4")
    f.create_dataset("z/v", (3,), "i4")

with h5("phony_beside_scales.h5") as f:
    scale(f, "x", (3,), "x")
    scale(f, "t", (4,), "t", maxshape=(None,))
    f.create_dataset("alike", (3, 4), "i4")
    f.create_dataset("other", (5, 3), "i4", maxshape=(None, 3))

with h5("classes.h5") as f:
    for size in (15, 16, 17, 20):
        made = f.create_dataset(f"size{size}", (size,), "f4")
        attribute(made, "CLASS", "DIMENSION_SCALE"[:size], size)
    for name, padding in (("nul", h5py.h5t.STR_NULLPAD), ("blank", h5py.h5t.STR_SPACEPAD)):
        made = f.create_dataset(name, (padding + 30,), "f4")
        attribute(made, "CLASS", "DIMENSION_SCALE", 16, padding)

with h5("class_of_any_length.h5") as f:
    f.create_dataset("vlen", (40,), "f4").attrs["CLASS"] = "DIMENSION_SCALE"

with h5("only_dimensions.h5") as f:
    text = "This is a netCDF dimension but not a netCDF variable."
    scale(f, "with_number", (3,), text + "         9")
    scale(f, "without_number", (4,), text)
    scale(f, "short", (5,), text[:-1])
    scale(f, "unnamed", (6,))
    f.create_dataset("v", (3, 4), "i4")
    f["v"].dims[0].attach_scale(f["with_number"])
    f["v"].dims[1].attach_scale(f["without_number"])

with h5("last_scale.h5") as f:
    for name in ("x1", "x2", "y"):
        scale(f, name, (3,), name)
    v = f.create_dataset("v", (3, 3), "i4")
    v.dims[0].attach_scale(f["x1"])
    v.dims[0].attach_scale(f["x2"])
    v.dims[1].attach_scale(f["y"])

with h5("first_axis_bare.h5") as f:
    scale(f, "x", (3,), "x")
    v = f.create_dataset("v", (4, 3), "i4")
    v.dims[1].attach_scale(f["x"])

with h5("partly_attached.h5") as f:
    scale(f, "x", (3,), "x")
    v = f.create_dataset("v", (3, 4), "i4")
    v.dims[0].attach_scale(f["x"])

for tracked in (False, True):
    with h5(f"order_{tracked}.h5", track_order=tracked) as f:
        for name in ("z", "a", "m"):
            f.create_dataset(name, (2,), "i4").attrs[name] = 1
            f.attrs[name] = 1

with h5("unnamed_types.h5") as f:
    pair = np.dtype([("r", "f8"), ("i", "f8")])
    f.create_dataset("a", (2,), "?")
    f.create_dataset("b", (2,), pair)
    f.create_dataset("g/c", (2,), pair)
    f.create_dataset("o", (2,), "V5")
    f.create_dataset("v", (2,), h5py.vlen_dtype("i4"))

with h5("links.h5") as f:
    f.create_dataset("d", (2,), "i4")
    f["hard"] = f["d"]
    f["soft"] = h5py.SoftLink("/d")
    f.create_group("g")
    f["g/up"] = h5py.SoftLink("/g")
    f["g/loop"] = f["g"]
    f["dangling"] = h5py.SoftLink("/nothing")
    f["foreign"] = h5py.ExternalLink("nowhere.h5", "/x")
    f["there"] = h5py.ExternalLink("phony.h5", "/g")

with h5("attributes.h5", track_order=True) as f:
    attribute(f, "full", "abc", 3)
    attribute(f, "padded", "abc", 6)
    f.attrs.create("fixed", [b"ab", b"abcd"], dtype="S4")
    f.attrs["vlen"] = "text"
    f.attrs["vlens"] = ["one", "", "three"]
    f.attrs["nothing"] = h5py.Empty("S1")
    f.attrs["no_numbers"] = h5py.Empty("f4")
    f.attrs["scalar"] = np.int16(7)
    f.attrs["square"] = np.arange(4, dtype="i4").reshape(2, 2)
    rows = h5py.h5t.array_create(h5py.h5t.STD_I16LE, (3,))
    made = h5py.h5a.create(f.id, b"array", rows, h5py.h5s.create_simple((2,)))
    made.write(np.arange(6, dtype="i2"), mtype=rows)
    f.attrs["truth"] = True
    f.attrs["NAME"] = "hidden"
    f.attrs["CLASS"] = "hidden"
    f.attrs["object"] = f.ref
    f.attrs["region"] = f.create_dataset("d", (4,), "i4").regionref[1:3]
    h5py.h5a.create(f.id, b"time", h5py.h5t.UNIX_D32LE, h5py.h5s.create(h5py.h5s.SCALAR))
    f.create_dataset("empty", data=h5py.Empty("f4"))
    f.create_dataset("when", (2,), np.dtype("V8")).attrs["after"] = 1


def seen(group):
    return {
        "dimensions": [[d.name, len(d), d.isunlimited()] for d in group.dimensions.values()],
        "types": sorted([*group.enumtypes, *group.cmptypes, *group.vltypes]),
        "variables": [[v.name, list(v.dimensions), v.ncattrs()] for v in group.variables.values()],
        "attributes": group.ncattrs(),
        "groups": {g.name: seen(g) for g in group.groups.values()},
    }


said = {}
for name in sorted(os.listdir(home)):
    try:
        with netCDF4.Dataset(os.path.join(home, name)) as f:
            said[name] = seen(f) | {"model": f.data_model}
    except (OSError, RuntimeError, AttributeError):
        said[name] = None
json.dump(said, sys.stdout)
