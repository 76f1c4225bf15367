"""Files to be changed, made by other programs, and what these programs read of them afterwards.

peers.py make FOLDER          makes one file per maker and prints their names
peers.py check FOLDER         checks every NAME.EDITS.nc in the folder, prints the differences
peers.py open FILE...         reads everything of files with h5py
"""
import os
import pathlib
import sys

import h5netcdf
import h5py
import netCDF4
import numpy as np

WORDS = ["zero", "one", "two", "a longer word"]
NOT_A_VARIABLE = "This is a netCDF dimension but not a netCDF variable."
FILL_INT, FILL_SHORT = -2147483647, -32767


def sst(records):
    return np.arange(records * 4, dtype="i2").reshape(records, 4)


def by_netcdf(path):
    with netCDF4.Dataset(path, "w") as ds:
        ds.setncatts({"title": "before", "history": "made"})
        for n in range(12):
            ds.setncattr(f"a{n}", np.int32(n))
        ds.createDimension("time", None)
        ds.createDimension("x", 4)
        time = ds.createVariable("time", "f8", ("time",))
        var = ds.createVariable("sst", "i2", ("time", "x"), fill_value=-9)
        var.units = "K"
        packed = ds.createVariable("packed", "i4", ("time", "x"), zlib=True, shuffle=True, chunksizes=(1, 4))
        mask = ds.createVariable("mask", "i1", ("x",))
        ds.createVariable("empty", "i4", ("x",))
        words = ds.createVariable("words", str, ("x",))
        inner = ds.createGroup("g").createVariable("inner", "f4", ("x",))
        for n in range(20):
            ds["g"].createDimension(f"d{n}", n + 1)
        fill(time, var, packed, mask, words, inner)


def by_h5netcdf(path):
    with h5netcdf.File(path, "w") as ds:
        ds.attrs["title"] = np.bytes_("before")
        ds.attrs["history"] = np.bytes_("made")
        for n in range(12):
            ds.attrs[f"a{n}"] = np.int32(n)
        ds.dimensions = {"time": None, "x": 4}
        ds.resize_dimension("time", 3)
        time = ds.create_variable("time", ("time",), "f8")
        var = ds.create_variable("sst", ("time", "x"), "i2", fillvalue=-9)
        var.attrs["units"] = np.bytes_("K")
        packed = ds.create_variable("packed", ("time", "x"), "i4", fillvalue=FILL_INT, compression="gzip", shuffle=True, chunks=(1, 4))
        mask = ds.create_variable("mask", ("x",), "i1")
        ds.create_variable("empty", ("x",), "i4", fillvalue=FILL_INT)
        words = ds.create_variable("words", ("x",), h5py.string_dtype())
        inner = ds.create_group("g").create_variable("inner", ("x",), "f4")
        fill(time, var, packed, mask, words, inner)


def by_h5py(path, libver):
    with h5py.File(path, "w", libver=libver) as f:
        f.attrs["title"] = np.bytes_("before")
        f.attrs["history"] = np.bytes_("made")
        for n in range(12):
            f.attrs[f"a{n}"] = np.int32(n)
        time = f.create_dataset("time", (3,), "f8", maxshape=(None,), chunks=(2,))
        x = f.create_dataset("x", (4,), ">f4")
        time.make_scale("time")
        x.make_scale(NOT_A_VARIABLE + "         4")
        var = f.create_dataset("sst", (3, 4), "i2", maxshape=(None, 4), chunks=(2, 3), fillvalue=-9)
        var.attrs["units"] = np.bytes_("K")
        var.attrs["_FillValue"] = np.array([-9], "i2")
        packed = f.create_dataset("packed", (3, 4), "i4", maxshape=(None, None), chunks=(1, 4), fillvalue=FILL_INT, compression="gzip", shuffle=True)
        mask = f.create_dataset("mask", (4,), "i1", chunks=(3,), compression="gzip")
        empty = f.create_dataset("empty", (4,), "i4", fillvalue=FILL_INT)
        words = f.create_dataset("words", (4,), h5py.string_dtype())
        inner = f.create_group("g").create_dataset("inner", (4,), "f4", chunks=(4,), compression="gzip")
        f["g"].attrs["about"] = np.bytes_("group")
        for ds in (var, packed):
            ds.dims[0].attach_scale(time)
            ds.dims[1].attach_scale(x)
        for ds in (mask, empty, words, inner):
            ds.dims[0].attach_scale(x)
        f.create_dataset("pointers", (2,), h5py.ref_dtype)[...] = [var.ref, time.ref]
        f["soft"] = h5py.SoftLink("/words")
        fill(time, var, packed, mask, words, inner)


def fill(time, var, packed, mask, words, inner):
    time[0:3] = [0.5, 1.5, 2.5]
    var[0:3, :] = sst(3)
    packed[0:3, :] = sst(3) * 1000
    mask[:] = [1, 0, 1, 0]
    words[:] = np.array(WORDS, dtype=object)
    inner[:] = [0, 1, 2, 3]


MAKERS = {
    "netcdf": by_netcdf,
    "h5netcdf": by_h5netcdf,
    "earliest": lambda path: by_h5py(path, "earliest"),
    "v110": lambda path: by_h5py(path, ("v110", "v110")),
    "latest": lambda path: by_h5py(path, "latest"),
}


def start():
    return {
        "attributes": {"title": "before", "history": "made", **{f"a{n}": n for n in range(12)}},
        "sst.units": "K",
        "time": [0.5, 1.5, 2.5],
        "sst": sst(3),
        "packed": sst(3).astype("i4") * 1000,
        "mask": [1, 0, 1, 0],
        "empty": [FILL_INT] * 4,
        "words": WORDS[:],
        "g/inner": [0, 1, 2, 3],
    }


def attributes(state):
    root = state["attributes"]
    root["title"] = "after, and much longer than it was before: " + "x" * 300
    del root["history"]
    root["new_one"] = 1.5
    root["A3"] = root.pop("a3")
    state["sst.units"] = "kelvin"
    state["g.note"] = "added"


def append(state):
    state["when" if "when" in state else "time"] = [n + 0.5 for n in range(9)]
    state["sea" if "sea" in state else "sst"] = sst(9)
    state["packed"] = sst(9).astype("i4") * 1000


def overwrite(state):
    state["sst"] = state["sst"].copy()
    state["sst"][0:2, 1:3] = [[-1, -2], [-3, -4]]
    state["packed"] = state["packed"].copy()
    state["packed"][0:3] = np.arange(12).reshape(3, 4) * 7919 - 5000
    state["mask"] = [4, 3, 2, 1]
    state["empty"] = [FILL_INT, 11, 12, FILL_INT]
    state["words"] = ["zero", "another", "two", "a longer word"]


def add(state):
    state["new"] = np.arange(8, dtype="f4").reshape(2, 4)
    state["rec"] = [7, 8, 9]
    state["lists"] = ["x", "yy"]
    state["h/inner2"] = [5, 6]
    state["g/more"] = [1, 2, 3, 4]


def remove(state):
    del state["mask"]
    state["sea"] = state.pop("sst")
    state["sea.units"] = state.pop("sst.units")
    state["dimension"] = "longitude"


def types(state):
    state["flags"] = [1, 2, 2, 1]
    # Never written: the default of the integer that the enum is stored as.
    state["more_flags"] = [255, 255, 255, 255]
    state["pairs"] = [(1, 0.5), (2, 1.5)]


def ties(state):
    state["when"] = state.pop("time")
    state["longitude" if "dimension" in state else "x"] = [10, 20, 30, 40]


def groups(state):
    state["empty"] = [77] * 4
    state["renamed/inner"] = state.pop("g/inner")


EDITS = {"groups": groups, "types": types, "ties": ties, "attributes": attributes, "append": append, "overwrite": overwrite, "add": add, "remove": remove}


def expected(edits):
    state = start()
    for edit in edits:
        EDITS[edit](state)
    if "rec" in state:
        state["rec"] = state["rec"] + [FILL_INT] * (len(state["packed"]) - 3)
    return state


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def one(value):
    value = plain(value)
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def read_netcdf(path, state):
    with netCDF4.Dataset(path) as ds:
        ds.set_auto_mask(False)
        got = {"attributes": {name: one(ds.getncattr(name)) for name in ds.ncattrs()}}
        for key in state:
            if key == "attributes":
                continue
            if key == "dimension":
                got[key] = ds["packed"].dimensions[1]
            elif "." in key:
                name, attribute = key.split(".")
                got[key] = one(ds[name].getncattr(attribute))
            else:
                got[key] = plain(ds[key][...])
        assert ds["packed"].dimensions[0] == "time", ds["packed"].dimensions
        group = "renamed" if "renamed" in ds.groups else "g"
        assert "passing" not in ds.groups or not ds["passing"].groups, "a removed group"
        names = set(ds.variables) | {f"{group}/{name}" for name in ds[group].variables}
        return got, names


def read_h5py(path, state):
    with h5py.File(path) as f:
        hidden = ("_NCProperties", "_nc3_strict")
        got = {"attributes": {name: one(value) for name, value in f.attrs.items() if name not in hidden}}
        for key in state:
            if key == "attributes":
                continue
            if key == "dimension":
                got[key] = f["packed"].dims[1][0].name.strip("/")
            elif "." in key:
                name, attribute = key.split(".")
                got[key] = one(f[name].attrs[attribute])
            else:
                got[key] = plain(f[key][...])
        visit(f)
        if "pointers" in f:
            refs = f["pointers"][...]
            assert [f[ref].name for ref in refs][1] in ("/time", "/when"), "references"
            assert f.get("soft", getlink=True).path == "/words"
        for name in ("packed", "renamed/inner" if "renamed" in f else "g/inner"):
            assert len(f[name].dims[0]) == 1, f"{name} has no scale"
        return got


def visit(f):
    def each(name, item):
        dict(item.attrs)
        if isinstance(item, h5py.Dataset):
            # Some files of the corpus are short and have shapes of gigabytes.
            is_small = item.shape is None or item.size * item.dtype.itemsize < 1 << 22
            item[... if is_small else tuple(length - 1 for length in item.shape)]
            for dim in item.dims:
                list(dim.items())

    f.visititems(each)


def differences(path, edits):
    state = expected(edits)
    want = {key: {k: plain(v) for k, v in value.items()} if key == "attributes" else plain(value) for key, value in state.items()}
    by_nc, names = read_netcdf(path, state)
    for who, got in (("netCDF4", by_nc), ("h5py", read_h5py(path, state))):
        for key in want:
            if key == "rec" and who == "h5py":
                # Its own length may be less than that of the dimension.
                got[key] = got[key] + want[key][len(got[key]):]
            if got[key] != want[key]:
                yield f"{who}: {key}: {got[key]} instead of {want[key]}"
    variables = {key for key in state if "." not in key and key not in ("attributes", "dimension")}
    extra = {name for name in names - variables if name not in ("pointers", "soft")}
    if extra:
        yield f"netCDF4: unexpected {extra}"


def appended_to(path, edits, maker):
    """The netCDF library and HDF5 go on where this project stopped."""
    with h5py.File(path, "r+") as f:
        f.attrs["by_h5py"] = np.arange(100)
        time = f["when" if "when" in f else "time"]
        time.resize((12,))
        time[11] = 99.5
        f.create_group("made_by_h5py", track_order=True)
        for n in range(20):
            f["packed"].attrs[f"more{n}"] = n
    if maker in ("netcdf", "h5netcdf", "ours"):
        with netCDF4.Dataset(path, "a") as ds:
            ds.setncattr("by_netcdf", "here")
            ds["packed"][10, :] = [1, 2, 3, 4]
            ds.createDimension("added_by_netcdf", 3)
            ds.createVariable("added", "i4", ("added_by_netcdf",), zlib=True)[:] = [1, 2, 3]
    with netCDF4.Dataset(path) as ds:
        if ds["when" if "when" in ds.variables else "time"][11] != 99.5:
            yield "what h5py appended is lost"
        if maker in ("netcdf", "h5netcdf", "ours") and plain(ds["packed"][10, :]) != [1, 2, 3, 4]:
            yield "what netCDF4 appended is lost"
    with h5py.File(path) as f:
        visit(f)


def check(folder):
    bad = 0
    for path in sorted(pathlib.Path(folder).glob("*.*.nc")):
        maker, edits = path.name.split(".")[:2]
        edits = [edit for edit in edits.split("+") if edit]
        try:
            found = list(differences(path, edits)) or list(appended_to(path, edits, maker))
        except Exception as error:  # noqa: BLE001
            found = [f"{type(error).__name__}: {error}"]
        for difference in found:
            bad += 1
            print(f"{path.name}: {difference}"[:600])
    return bad


def read_all(paths):
    bad = 0
    for path in paths:
        try:
            with h5py.File(path) as f:
                visit(f)
        except Exception as error:  # noqa: BLE001
            bad += 1
            print(f"{path}: {type(error).__name__}: {error}")
    return bad


def leave_open(path):
    """Ends as a writer that was killed."""
    f = h5py.File(path, "r+", libver="latest")
    f.attrs["here"] = 1
    f.flush()
    os._exit(0)


def main():
    verb, rest = sys.argv[1], sys.argv[2:]
    if verb == "make":
        for name, make in MAKERS.items():
            make(pathlib.Path(rest[0]) / f"{name}.nc")
            print(name)
    elif verb == "check":
        sys.exit(min(check(rest[0]), 1))
    elif verb == "leave-open":
        leave_open(rest[0])
    elif verb == "open":
        sys.exit(min(read_all(rest), 1))


main()
