"""Makes a netCDF-4 or HDF5 file whose requests are counted: make.py KIND PATH."""
import sys

import numpy as np

kind, path = sys.argv[1:]

# Maps along time in chunks of one step and a tile; only checksums encode them, so that chunks are read whole and cost
# nothing to make. 30 x 38 chunks of 140,284 bytes and a checksum: 160 MB.
STEPS, TILES, SIDE = 30, (2, 19), 187
SHAPE = (STEPS, TILES[0] * SIDE, TILES[1] * SIDE)


def maps():
    rows = np.arange(SHAPE[1], dtype="f4")[:, None] * 4096
    columns = np.arange(SHAPE[2], dtype="f4")[None, :]
    return rows + columns


def small():
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 10000)
        file.title = "metadata first"
        for number in range(20):
            variable = file.createVariable(f"v{number}", "f8", ("x",))
            variable.units = "K"
            variable.number = np.int32(number)
        for number in range(20):
            file[f"v{number}"][:] = number


def many():
    import netCDF4

    # 20 groups with 24 groups each; two variables in each of the 500, written at once, so that data lie between.
    with netCDF4.Dataset(path, "w") as file:
        for number in range(20):
            group = file.createGroup(f"g{number}")
            fill(group, 2 * number)
            for inner in range(24):
                fill(group.createGroup(f"h{inner}"), 40 + 2 * (24 * number + inner))


def fill(group, first):
    group.createDimension("x", 1000)
    for number in (first, first + 1):
        variable = group.createVariable(f"v{number}", "f8", ("x",))
        for name in "abcdefghij":
            setattr(variable, name, f"more than eight attributes are dense {number}")
        variable[:] = number


def foreign(libver, together):
    import h5py

    # As a program without netCDF writes: flat or nested, data after each variable's metadata.
    with h5py.File(path, "w", libver=libver) as file:
        for number in range(500):
            group = file if together else file.create_group(f"g{number % 20}/h{number // 20}")
            for inner in range(2):
                variable = group.create_dataset(f"v{number}_{inner}", data=np.full(1000, number, "f8"))
                for name in "abcdefghij" if inner else "abc":
                    variable.attrs[name] = f"attribute {name} of {number}"


def large():
    import h5py

    with h5py.File(path, "w", libver="earliest") as file:
        for number in range(300):
            variable = file.create_group(f"g{number % 10}/h{number}").create_dataset("v", data=np.zeros(40_000))
            for name in "abcdefghij":
                variable.attrs[name] = f"attribute {name} of {number}"


def series():
    import netCDF4

    with netCDF4.Dataset(path, "w") as file:
        for name, size in zip(("t", "y", "x"), (None, *SHAPE[1:])):
            file.createDimension(name, size)
        variable = file.createVariable(
            "v", "f4", ("t", "y", "x"), chunksizes=(1, SIDE, SIDE), fletcher32=True, fill_value=False)
        variable.units = "K"
        field = maps()
        for step in range(STEPS):
            variable[step] = field + step


def latest(growing, together):
    import h5py

    # Metadata are allocated in blocks: a large one holds the whole index.
    block = {"meta_block_size": 65536} if together else {}
    with h5py.File(path, "w", libver="latest", **block) as file:
        shape = (None, *SHAPE[1:]) if growing else SHAPE
        variable = file.create_dataset(
            "v", SHAPE, "f4", maxshape=shape, chunks=(1, SIDE, SIDE), fletcher32=True)
        field = maps()
        for step in range(STEPS):
            variable[step] = field + step


kinds = {
    "small": small,
    "many": many,
    "old-nested": lambda: foreign("earliest", False),
    "new-nested": lambda: foreign("latest", False),
    "old-flat": lambda: foreign("earliest", True),
    "new-flat": lambda: foreign("latest", True),
    "large": large,
    "series": series,
    "fixed": lambda: latest(False, True),
    "extensible": lambda: latest(True, True),
    "scattered": lambda: latest(True, False),
}
kinds[kind]()
