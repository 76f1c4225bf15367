"""HDF5 files for benchmarks, and how long peers take to read them.

usage: hdf5.py make FOLDER: makes the files that `ncirrus-bench hdf5` and the peers read.
       hdf5.py PEER CASE PLACE RUNS: measures a peer and prints the same line of JSON as ncirrus-bench; PEER is one of
       h5py, netcdf4, h5netcdf, PLACE a folder or a URL; exit code 3 when the peer cannot.
"""
import json
import os
import resource
import sys
import time

import numpy as np

SHAPE, CHUNK = (128, 1024, 1024), (1, 1024, 1024)
SERIES, TILE = (30, 7 * 165, 7 * 165), 165
POINT = (517, 301)


def field(step, random):
    """A step like a model's output, quantised to 1/64: as in `data.rs`."""
    rows = 280 + 20 * np.sin(np.arange(1024) / 163) + np.cos(step / 20)
    columns = 5 * np.cos(np.arange(1024) / 97)
    noise = random.integers(0, 256, (1024, 1024)) / 512
    return (np.round((rows[:, None] + columns[None, :] + noise) * 64) / 64).astype("f4")


def make(folder):
    import h5py
    import hdf5plugin
    import netCDF4

    os.makedirs(folder, exist_ok=True)
    options = {
        "raw": {},
        "zstd": dict(chunks=CHUNK, **hdf5plugin.Zstd(clevel=3)),
        "deflate": dict(chunks=CHUNK, shuffle=True, compression="gzip", compression_opts=4),
    }
    for name, how in options.items():
        random = np.random.default_rng(1)
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            variable = file.create_dataset("v", SHAPE, "f4", **how)
            for step in range(SHAPE[0]):
                variable[step] = field(step, random)
    random = np.random.default_rng(2)
    with netCDF4.Dataset(f"{folder}/series.nc", "w") as file:
        for name, size in zip("tyx", (None, *SERIES[1:])):
            file.createDimension(name, size)
        variable = file.createVariable(
            "v", "f4", ("t", "y", "x"), chunksizes=(1, TILE, TILE), zlib=True, complevel=1, fill_value=False)
        for step in range(SERIES[0]):
            variable[step] = random.random(SERIES[1:], dtype="f4")
    with netCDF4.Dataset(f"{folder}/open.nc", "w") as file:
        for number in range(20):
            group = file.createGroup(f"g{number}")
            members(group, number)
            for inner in range(24):
                members(group.createGroup(f"h{inner}"), inner)


def members(group, number):
    """Two variables with ten attributes each; their data are between the metadata."""
    group.createDimension("x", 1000)
    for name in ("a", "b"):
        variable = group.createVariable(name, "f8", ("x",))
        for attribute in "abcdefghij":
            setattr(variable, attribute, f"attribute {attribute} of {name}")
        variable[:] = number


def url_of(case, place):
    return f"{place}/{case}.{'nc' if case in ('series', 'open') else 'h5'}"


class H5py:
    """h5py, through fsspec for a URL: its block cache as its users have it."""

    def __init__(self, url):
        import h5py
        import hdf5plugin  # noqa: F401

        source = url
        if url.startswith("http"):
            import fsspec

            source = fsspec.open(url, "rb").open()
        self.file = h5py.File(source, "r")

    def read(self, key):
        return self.file["v"][key]

    def read_into(self, out):
        self.file["v"].read_direct(out)

    def look(self):
        found = []

        def visit(name, item):
            if hasattr(item, "shape"):
                found.append((name, item.shape, item.dtype, dict(item.attrs)))

        self.file.visititems(visit)
        # The datasets of dimensions are not variables.
        return sum(not name.endswith("/x") for name, *_ in found)


class NetCDF4:
    """netCDF4-python: the C library's byte ranges for a URL."""

    def __init__(self, url):
        import netCDF4

        self.file = netCDF4.Dataset(url + "#mode=bytes" if url.startswith("http") else url)
        self.file.set_auto_maskandscale(False)

    def read(self, key):
        return self.file["v"][key]

    def read_into(self, out):
        out[...] = self.file["v"][...]

    def look(self):
        def count(group):
            variables = [(one.shape, one.dtype, one.__dict__) for one in group.variables.values()]
            return len(variables) + sum(count(inner) for inner in group.groups.values())

        return count(self.file)


class H5netCDF:
    """h5netcdf, through fsspec for a URL."""

    def __init__(self, url):
        import h5netcdf
        import hdf5plugin  # noqa: F401

        source = url
        if url.startswith("http"):
            import fsspec

            source = fsspec.open(url, "rb").open()
        self.file = h5netcdf.File(source, "r", phony_dims="sort")

    def read(self, key):
        return self.file.variables["v"][key]

    def read_into(self, out):
        out[...] = self.file.variables["v"][...]

    def look(self):
        def count(group):
            variables = [(one.shape, one.dtype, dict(one.attrs)) for one in group.variables.values()]
            return len(variables) + sum(count(inner) for inner in group.groups.values())

        return count(self.file)


def measure(peer, case, place, runs):
    opener = {"h5py": H5py, "netcdf4": NetCDF4, "h5netcdf": H5netCDF}[peer]
    url, best = url_of(case, place), float("inf")
    out = np.zeros(SHAPE, "f4") if case in ("raw", "zstd", "deflate") else None
    for _ in range(runs):
        start = time.perf_counter()
        opened = opener(url)
        if case == "open":
            count = opened.look()
            assert count == 1000, f"{count} variables"
        elif case == "series":
            opened.read((slice(None), *POINT))
        else:
            opened.read_into(out)
        best = min(best, time.perf_counter() - start)
        opened.file.close()
    return {"seconds": best, "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        try:
            print(json.dumps(measure(*sys.argv[1:4], int(sys.argv[4]))))
        except (ImportError, OSError, RuntimeError) as error:
            print(f"{' '.join(sys.argv[1:])}: {error}", file=sys.stderr)
            sys.exit(3)
