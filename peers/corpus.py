"""Makes a small corpus: datasets of every format by the programs that users have, and beside each its truth.

    python corpus.py FOLDER

FOLDER/KIND/NAME is a dataset, FOLDER/truth/KIND/NAME.json says what is in it: per variable its path, type, shape,
dimensions where the format names them, the bytes of its values (hexadecimal, little-endian) or its strings, and some
attributes. Values are read back by the program that wrote them (netCDF4, h5py, zarr); those of aggregations are put
together here. FOLDER/list.json names all datasets.
"""
import json
import os
import shutil
import sys
import warnings

import h5py
import netCDF4
import numpy as np
import zarr
import zarr.codecs

TYPES = {"S1": "char", "i1": "byte", "u1": "ubyte", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint", "i8": "int64",
         "u8": "uint64", "f4": "float", "f8": "double"}
ROOT = sys.argv[1]
LIST = []


def place(kind, name):
    """The path of a new dataset."""
    path = os.path.join(ROOT, kind, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def described(values):
    """Values as the truth describes them."""
    values = np.asarray(values)
    if values.dtype.kind in "OUT":
        return {"type": "string", "shape": list(values.shape), "strings": [str(text) for text in values.ravel()]}
    if values.dtype.kind == "b":
        values = values.astype("u1")
    if values.dtype == "f2":
        values = values.astype("f4")
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"type": TYPES[little.dtype.str[1:]], "shape": list(values.shape), "bytes": little.tobytes().hex()}


def attribute(value):
    """An attribute: a text, or numbers as doubles."""
    return value if isinstance(value, str) else np.atleast_1d(value).astype(float).tolist()


def tell(kind, name, variables):
    """Writes the truth of a dataset."""
    assert variables, (kind, name)
    path = os.path.join(ROOT, "truth", kind, name + ".json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump({"variables": variables}, file, indent=1)
    LIST.append({"kind": kind, "name": name})


def numbers(dtype, shape, seed=1):
    """Numbers that use the whole range of a type; floats with NaN and infinity."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        values = random.standard_normal(shape).astype(dtype) * 1000
        if values.size > 3:
            values.flat[1], values.flat[2] = np.nan, np.inf
        return values
    if dtype.kind == "S":
        return np.frombuffer(random.integers(97, 123, int(np.prod(shape)), dtype="u1").tobytes(), "S1").reshape(shape)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


# netCDF, by netCDF4-python

def seen_by_netcdf(path):
    """All variables of a dataset, as netCDF4 reads them."""
    variables = {}

    def walk(group, prefix):
        for name, variable in group.variables.items():
            described_variable = described(variable[...])
            described_variable["dimensions"] = list(variable.dimensions)
            names = [key for key in variable.ncattrs() if not key.startswith("_")]
            described_variable["attributes"] = {key: attribute(variable.getncattr(key)) for key in names}
            variables[prefix + name] = described_variable
        for name, child in group.groups.items():
            walk(child, prefix + name + "/")

    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        walk(dataset, "/")
    return variables


def netcdf(kind, name, form, fill, mode=None):
    """A dataset by netCDF4; `fill` defines and writes what is in it."""
    path = place(kind, name)
    url = f"file://{os.path.abspath(path)}#mode={mode}" if mode else path
    with netCDF4.Dataset(url, "w", format=form) as dataset:
        dataset.set_auto_maskandscale(False)
        fill(dataset)
    tell(kind, name, seen_by_netcdf(url))


def plain(types):
    """Fixed variables of types, and a coordinate variable with attributes."""
    def fill(dataset):
        dataset.title = "plain"
        dataset.createDimension("y", 3)
        dataset.createDimension("x", 5)
        x = dataset.createVariable("x", "f8", ("x",))
        # In plain Zarr netCDF-C takes the type of all numbers from the first one (docs/spec/nczarr.md 5.4).
        x.setncatts({"units": "m", "valid_range": np.array([0.5, 9.5])})
        x[:] = np.arange(5) * 1.5
        for dtype in types:
            dataset.createVariable(f"v_{dtype}", dtype, ("y", "x"))[:] = numbers(dtype, (3, 5))
    return fill


def records(types, count):
    """Record variables that lie between each other; a short one last."""
    def fill(dataset):
        dataset.createDimension("time", None)
        dataset.createDimension("x", 3)
        for dtype in types:
            variable = dataset.createVariable(f"r_{dtype}", dtype, ("time", "x"))
            variable[0:count] = numbers(dtype, (count, 3))
        dataset.createVariable("last", types[0], ("time",))[0:count] = numbers(types[0], (count,), 2)
    return fill


def one_record_variable(dataset):
    """Its records are not padded to four bytes."""
    dataset.createDimension("time", None)
    dataset.createVariable("b", "i1", ("time",))[0:7] = numbers("i1", (7,))


def scalars(dataset):
    """Variables without dimensions."""
    dataset.createVariable("answer", "i4")[...] = 42
    dataset.createVariable("pi", "f8")[...] = np.pi


def partly_written(dataset):
    """What was never written is fill."""
    dataset.createDimension("x", 10)
    dataset.createVariable("usual", "f4", ("x",), fill_value=None)[2:5] = [1, 2, 3]
    dataset.createVariable("own", "i2", ("x",), fill_value=-7)[4:6] = [5, 6]


CLASSIC = ["i1", "S1", "i2", "i4", "f4", "f8"]
WIDE = ["i1", "u1", "S1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
FEW = ["i4", "f8"]


def make_netcdf():
    for form, name in (("NETCDF3_CLASSIC", "cdf1"), ("NETCDF3_64BIT_OFFSET", "cdf2")):
        netcdf("nc3", f"{name}-plain.nc", form, plain(CLASSIC))
        netcdf("nc3", f"{name}-records.nc", form, records(CLASSIC, 4))
        netcdf("nc3", f"{name}-one-record-variable.nc", form, one_record_variable)
        netcdf("nc3", f"{name}-scalars.nc", form, scalars)
        netcdf("nc3", f"{name}-partly-written.nc", form, partly_written)
    wide = "NETCDF3_64BIT_DATA"
    netcdf("nc5", "plain.nc", wide, plain(WIDE))
    netcdf("nc5", "records.nc", wide, records(["u2", "i8", "u1"], 5))
    netcdf("nc5", "one-record-variable.nc", wide, one_record_variable)
    netcdf("nc5", "scalars.nc", wide, scalars)
    netcdf("nc5", "partly-written.nc", wide, partly_written)
    for form, name in (("NETCDF4", "enhanced"), ("NETCDF4_CLASSIC", "classic")):
        netcdf("nc4", f"{name}-plain.nc", form, plain(WIDE if form == "NETCDF4" else CLASSIC))
        netcdf("nc4", f"{name}-records.nc", form, records(CLASSIC, 6))
        netcdf("nc4", f"{name}-scalars.nc", form, scalars)
        netcdf("nc4", f"{name}-partly-written.nc", form, partly_written)
    storages = {
        "contiguous": {"contiguous": True},
        "deflate": {"zlib": True, "complevel": 5, "shuffle": True, "chunksizes": (3, 4)},
        "fletcher32": {"fletcher32": True, "chunksizes": (7, 2)},
        "zstd": {"compression": "zstd", "chunksizes": (2, 9)},
        "bzip2": {"compression": "bzip2", "chunksizes": (4, 4)},
        "big-endian": {"endian": "big"},
        "quantized": {"zlib": True, "least_significant_digit": 1, "chunksizes": (4, 4)},
    }
    for name, storage in storages.items():
        netcdf("nc4", f"{name}.nc", "NETCDF4", stored(storage))
    netcdf("nc4", "strings-and-groups.nc", "NETCDF4", strings_and_groups)
    for name, mode in (("nczarr", "nczarr,file"), ("zarr", "zarr,file")):
        netcdf("nczarr", f"{name}-plain.zarr", "NETCDF4", plain(["i1", "u1", "i2", "i4", "u8", "f4", "f8"]), mode)
        netcdf("nczarr", f"{name}-chunks.zarr", "NETCDF4", stored({"chunksizes": (3, 4)}), mode)
        netcdf("nczarr", f"{name}-deflate.zarr", "NETCDF4", stored({"zlib": True, "chunksizes": (4, 9)}), mode)
        netcdf("nczarr", f"{name}-partly-written.zarr", "NETCDF4", partly_written, mode)


def stored(storage):
    """A matrix that is stored in some way."""
    def fill(dataset):
        dataset.createDimension("y", 7)
        dataset.createDimension("x", 9)
        for dtype in FEW:
            dataset.createVariable(f"v_{dtype}", dtype, ("y", "x"), **storage)[:] = numbers(dtype, (7, 9))
    return fill


def strings_and_groups(dataset):
    dataset.createDimension("x", 3)
    dataset.createVariable("names", str, ("x",))[:] = np.array(["a", "", "Z\u00fcrich"], dtype=object)
    inner = dataset.createGroup("outer").createGroup("inner")
    inner.createDimension("t", None)
    inner.createVariable("v", "i4", ("t", "x"))[0:2] = numbers("i4", (2, 3))


# HDF5 that netCDF did not write, by h5py

def hdf5(name, fill, libver):
    path = place("hdf5", name)
    with h5py.File(path, "w", libver=libver) as file:
        fill(file)
    variables = {}
    with h5py.File(path) as file:
        def visit(name, found):
            if isinstance(found, h5py.Dataset):
                text = h5py.check_string_dtype(found.dtype)
                variables["/" + name] = described(found.asstr()[...] if text else found[...])
        file.visititems(visit)
    tell("hdf5", name, variables)


def make_hdf5():
    def matrix(**storage):
        return lambda file: [file.create_dataset(f"v_{d}", data=numbers(d, (7, 9)), **storage) for d in FEW]

    def growing(file):
        file.create_dataset("one", data=numbers("i2", (11,)), chunks=(4,), maxshape=(None,))
        file.create_dataset("two", data=numbers("i2", (5, 6)), chunks=(2, 4), maxshape=(None, None))

    def groups(file):
        file.create_group("a/b").create_dataset("v", data=numbers("u2", (4,)))
        file["a/empty"] = np.zeros((0, 3), "f4")
        file["top"] = np.float32(2.5)

    def texts(file):
        file.create_dataset("variable", data=["x", "", "\u00e9t\u00e9"], dtype=h5py.string_dtype())
        file.create_dataset("fixed", data=np.array([b"ab", b"c"], "S4"), dtype=h5py.string_dtype("ascii", 4))

    def many(file):
        for number in range(40):
            file.create_dataset(f"g/v{number:02}", data=np.int32(number))

    def partly(file):
        file.create_dataset("v", (10, 10), "f8", chunks=(4, 4), fillvalue=-1.5)[2:5, 3:9] = 7

    cases = {
        "contiguous": matrix(),
        "chunked": matrix(chunks=(3, 4)),
        "gzip-shuffle": matrix(chunks=(3, 4), compression="gzip", shuffle=True),
        "lzf": matrix(chunks=(7, 5), compression="lzf", fletcher32=True),
        "growing": growing,
        "groups": groups,
        "texts": texts,
        "many-links": many,
        "partly-written": partly,
    }
    for libver in ("earliest", "latest"):
        for name, fill in cases.items():
            hdf5(f"{libver}-{name}.h5", fill, libver)


# Zarr, by zarr-python

def zarrs(version, name, arrays, consolidated=False):
    """A group with arrays: path to values and options."""
    kind = f"zarr{version}"
    path = place(kind, name)
    group = zarr.create_group(path, zarr_format=version)
    for key, (values, options) in arrays.items():
        array = group.create_array(key, shape=values.shape, dtype=values.dtype, **options)
        array[...] = values
    if consolidated:
        zarr.consolidate_metadata(path, zarr_format=version)
    found = zarr.open_group(path, mode="r")
    tell(kind, name, {"/" + key: described(found[key][...]) for key in arrays})


def make_zarr():
    import numcodecs

    def matrix(**options):
        options = {"chunks": (3, 4), **options}
        return {f"v_{dtype}": (numbers(dtype, (7, 9)), options) for dtype in FEW}

    kinds = {f"v_{d}": (numbers(d, (4, 5)), {"chunks": (2, 3)}) for d in WIDE if d != "S1"}
    kinds["truth"] = (np.array([True, False, True]), {"chunks": (2,)})
    nested = {"a/b/v": (numbers("i4", (5,)), {"chunks": (2,)}), "top": (numbers("f4", (2, 2)), {"chunks": (2, 2)})}
    big = {"v": (numbers("i4", (4, 4)).astype(">i4"), {"chunks": (2, 2)})}
    for version in (2, 3):
        zarrs(version, "types.zarr", kinds)
        zarrs(version, "none.zarr", matrix(compressors=None))
        zarrs(version, "nested.zarr", nested)
        zarrs(version, "consolidated.zarr", nested, consolidated=True)
        zarrs(version, "fill.zarr", {"v": (numbers("f8", (6,)), {"chunks": (4,), "fill_value": -1.5})})
    zarrs(2, "big-endian.zarr", big)
    for name, compressor in (("zlib", numcodecs.Zlib(3)), ("zstd", numcodecs.Zstd(2)), ("bz2", numcodecs.BZ2(1)),
                             ("blosc", numcodecs.Blosc("lz4", 5, numcodecs.Blosc.BITSHUFFLE)), ("lz4", numcodecs.LZ4())):
        zarrs(2, f"{name}.zarr", matrix(compressors=compressor))
    zarrs(2, "delta.zarr", {"v": (np.arange(40, dtype="i4"), {"chunks": (9,), "filters": [numcodecs.Delta("i4")]})})
    zarrs(2, "order-f.zarr", matrix(order="F"))
    zarrs(2, "slashes.zarr", matrix(chunk_key_encoding={"name": "v2", "separator": "/"}))
    codecs = zarr.codecs
    for name, compressor in (("gzip", codecs.GzipCodec(level=4)), ("zstd", codecs.ZstdCodec(level=3)),
                             ("blosc", codecs.BloscCodec(cname="zstd", shuffle="shuffle")), ("crc32c", codecs.Crc32cCodec())):
        zarrs(3, f"{name}.zarr", matrix(compressors=compressor))
    zarrs(3, "shards.zarr", {"v": (numbers("i4", (8, 12)), {"chunks": (2, 3), "shards": (4, 6)})})
    zarrs(3, "transposed.zarr", matrix(filters=[codecs.TransposeCodec(order=(1, 0))]))
    zarrs(3, "big-endian.zarr", {"v": (numbers("i4", (4, 4)), {"chunks": (2, 2), "serializer": codecs.BytesCodec(endian="big")})})
    zarrs(3, "dots.zarr", matrix(chunk_key_encoding={"name": "default", "separator": "."}))


# Aggregations, written with netCDF4 by the text of the conventions

def fragments(folder, name, parts, form="NETCDF4"):
    """Files with a part of `v` each, along its first axis; their names."""
    names = []
    for number, part in enumerate(parts):
        names.append(f"{name}-{number}.nc")
        with netCDF4.Dataset(os.path.join(folder, names[-1]), "w", format=form) as dataset:
            dataset.set_auto_maskandscale(False)
            dataset.createDimension("time", part.shape[0])
            dataset.createDimension("x", part.shape[1])
            dataset.createVariable("v", part.dtype, ("time", "x"))[:] = part
    return names


def master(name, conventions, whole, describe):
    path = place("cfa", name)
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.Conventions = conventions
        dataset.createDimension("time", whole.shape[0])
        dataset.createDimension("x", whole.shape[1])
        variable = dataset.createVariable("v", whole.dtype)
        describe(dataset, variable)
    tell("cfa", name, {"/v": {**described(whole), "dimensions": ["time", "x"]}})


def sizes_of(dataset, name, rows, width):
    """A variable with the sizes of fragments: a row for each dimension, missing values behind."""
    dataset.createDimension("rows", len(rows))
    dataset.createDimension("most", width)
    sizes = dataset.createVariable(name, "i4", ("rows", "most"), fill_value=-1)
    sizes[:] = np.ma.masked_equal([row + [-1] * (width - len(row)) for row in rows], -1)


def table(dataset, name, texts):
    variable = dataset.createVariable(name, str, ("f_time", "f_x"))
    for number, text in enumerate(texts):
        variable[number, 0] = text


def make_cfa():
    folder = os.path.dirname(place("cfa", "x"))
    for name, dtype, lengths, form in (("even", "f4", (2, 2, 2), "NETCDF4"), ("uneven", "i4", (1, 4, 3), "NETCDF3_CLASSIC"),
                                       ("one", "f8", (5,), "NETCDF4"), ("many", "i2", (1,) * 20, "NETCDF3_64BIT_OFFSET")):
        whole = numbers(dtype, (sum(lengths), 3)) if dtype[0] == "i" else np.arange(sum(lengths) * 3, dtype=dtype).reshape(-1, 3)
        parts = np.split(whole, np.cumsum(lengths)[:-1])
        names = fragments(folder, name, parts, form)

        def cf113(dataset, variable, names=names, lengths=lengths):
            dataset.createDimension("f_time", len(names))
            dataset.createDimension("f_x", 1)
            sizes_of(dataset, "fragment_map", [list(lengths), [3]], len(lengths))
            table(dataset, "fragment_uris", names)
            dataset.createVariable("fragment_identifiers", str)[...] = "v"
            variable.aggregated_dimensions = "time x"
            variable.aggregated_data = "map: fragment_map uris: fragment_uris identifiers: fragment_identifiers"

        def cfa06(dataset, variable, names=names, lengths=lengths):
            dataset.createDimension("f_time", len(names))
            dataset.createDimension("f_x", 1)
            sizes_of(dataset, "cfa_location", [list(lengths), [3]], len(lengths))
            table(dataset, "cfa_file", names)
            dataset.createVariable("cfa_format", str)[...] = "nc"
            dataset.createVariable("cfa_address", str)[...] = "v"
            variable.aggregated_dimensions = "time x"
            variable.aggregated_data = "location: cfa_location file: cfa_file format: cfa_format address: cfa_address"

        def cfa04(dataset, variable, names=names, lengths=lengths):
            starts = np.cumsum((0,) + lengths)
            partitions = [{"index": [number], "location": [[int(starts[number]), int(starts[number + 1]) - 1], [0, 2]],
                           "subarray": {"file": file, "format": "netCDF", "ncvar": "v", "shape": [lengths[number], 3]}}
                          for number, file in enumerate(names)]
            array = {"base": "", "pmshape": [len(names)], "pmdimensions": ["time"], "Partitions": partitions}
            variable.cf_role = "cfa_variable"
            variable.cfa_dimensions = "time x"
            variable.cfa_array = json.dumps(array)

        master(f"cf-1.13-{name}.nca", "CF-1.13", whole, cf113)
        master(f"cfa-0.6-{name}.nca", "CF-1.10 CFA-0.6.2", whole, cfa06)
        master(f"cfa-0.4-{name}.nca", "CF-1.7 CFA-0.4", whole, cfa04)


def main():
    # zarr-python warns of what other programs may not read; that is what is wanted.
    warnings.simplefilter("ignore")
    if os.path.exists(ROOT):
        shutil.rmtree(ROOT)
    for make in (make_netcdf, make_hdf5, make_zarr, make_cfa):
        make()
    with open(os.path.join(ROOT, "list.json"), "w") as file:
        json.dump(LIST, file, indent=1)
    print(f"{len(LIST)} datasets in {ROOT}")


main()
