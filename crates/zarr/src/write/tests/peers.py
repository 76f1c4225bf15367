"""Reads datasets that the test wrote, with netCDF4 (its own C library), zarr and xarray; fails where they differ."""
import sys
import warnings

import netCDF4
import numpy as np
import xarray
import zarr

warnings.simplefilter("ignore")
V = np.arange(12, dtype="i4").reshape(3, 4)
NUMBERS = ["byte", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64"]


def equal(found, expected, what):
    same = np.array_equal(np.asarray(found), np.asarray(expected)) if not isinstance(expected, (str, dict)) else found == expected
    assert same, f"{what}: {found!r} is not {expected!r}"


def check_netcdf():
    data = netCDF4.Dataset(f"file://{root}#mode=nczarr,file")
    data.set_auto_maskandscale(False)
    equal(data["v"][:], V, "v")
    equal(data["lat"][:], [1, 2, 3], "lat")
    equal(data.getncattr("title"), "basic", "title")
    equal(data.getncattr("pi"), np.pi, "pi")
    equal(data["v"].getncattr("valid_range"), [0, 100], "valid_range")
    equal(data["v"].dimensions, ["lat", "lon"], "dimensions")
    if model == "wide":
        check_netcdf_wide(data)
    if model == "strings":
        assert list(data["given"][:]) == ["one", "", "four"], data["given"][:]
        assert list(data["sized"][:]) == ["one", "", "four"], data["sized"][:]
        if dialect != "XR":
            equal(data["v_char"][:].tobytes(), b"abc", "char")
            equal(data["v_char"].getncattr("_FillValue"), b"x", "char fill")
            equal(data["v_char"].getncattr("blank"), "", "empty text")
            equal(data["given"].getncattr("_FillValue"), "none", "string fill")
    if model == "extended":
        equal(sorted(data.variables), ["lat", "lon", "v"], "variables that it can type")
        equal(data.getncattr("last"), "one", "last")


def check_netcdf_wide(data):
    att = dialect == "ATT"
    assert data.dimensions["time"].isunlimited() == att
    equal(len(data.dimensions["unused"]), 7, "unused")
    equal(len(data.dimensions["time"]), 2, "time")
    for name in NUMBERS:
        equal(data["v_" + name][:], np.arange(8).reshape(2, 4), name)
    equal(data["v_char"][:].tobytes(), b"abcdefgh", "char")
    equal(data["/g/inner/w w"][:], [[1, 2, 3, 4]], "big-endian shorts")
    equal(data["/g/inner"].getncattr("µ"), "日本", "text")
    equal(data["/g"].getncattr("names"), ["a", "bcd"], "strings")
    if att:
        equal(data["scalar"][...], 2.5, "scalar")
        equal(data["scalar"].getncattr("f"), np.array([0.1, -1], "f4"), "floats")


def check_zarr(group):
    equal(group["v"][:], V, "v")
    equal(group["lat"][:], [1, 2, 3], "lat")
    equal(group["v"].attrs["valid_range"], [0, 100], "valid_range")
    if model == "wide":
        for name in NUMBERS:
            equal(group["v_" + name][:], np.arange(8).reshape(2, 4), name)
        equal(group["g/inner/w w"][:], [[1, 2, 3, 4]], "big-endian shorts")
        equal(group["v_char"][:].tobytes(), b"abcdefgh", "char")
        if dialect != "LC":
            equal(group["scalar"][...].reshape(()), 2.5, "scalar")
    if model == "strings":
        equal(group["given"][:].tolist(), [b"one", b"", b"four"], "strings")
        equal(group["sized"][:].tolist(), [b"one", b"", b"four"], "strings")
        equal(group["v_char"][:].tobytes(), b"abc", "char")
        equal(group["given"].fill_value, b"none", "string fill")
        equal(group["v_char"].fill_value, b"x", "char fill")
    if model == "extended":
        equal(group["e"][:], [0, 1, 0], "enum")
        equal(group["o"][:].tobytes(), b"aaaaabbbbbccccc", "opaque")
        assert list(group["s"][:]) == ["one", "\0", ""], "strings"
        equal([bytes(item) for item in group["r"][:]], [b"\1\0\0\0", b"", b"\1\0\0\0\2\0\0\0"], "vlen")
        equal(group["flat"][:]["id"], [1, 2, 3], "compound")
        equal(group["deep"][:].dtype.itemsize, 18, "nested compound")
        equal(len(group["mixed"][:]), 3, "compound with strings")


def check_xarray():
    data = xarray.open_zarr(root, consolidated=True, mask_and_scale=False)
    equal(data["v"].values, V, "v")
    if dialect != "P":
        equal(data["v"].dims, ("lat", "lon"), "dims")
    decoded = xarray.open_zarr(root, consolidated=True)
    equal(np.nan_to_num(decoded["v"].values, nan=-1), V, "decoded v")
    for name, variable in decoded.items():
        assert variable.values.shape == variable.shape, name
    if model == "extended":
        equal(data["e"].values, [0, 1, 0], "enum")
        assert list(data["s"].values) == ["one", "\0", ""], "strings"


def check():
    # Plain Zarr has no list that would keep its C library from data types that it does not know.
    if dialect in ("ATT", "LC") or (dialect == "XR" and model == "basic"):
        check_netcdf()
    check_zarr(zarr.open_group(root, mode="r"))
    list(zarr.open_group(root, mode="r").members(max_depth=None))
    if dialect not in ("P", "D18"):
        check_xarray()


for root in sys.argv[1:]:
    dialect, model = root.rsplit("/", 1)[1].split("-")
    try:
        check()
    except Exception as error:
        raise RuntimeError(f"{dialect} {model}") from error
