"""Makes a netCDF-4 file with variables in every common layout: make.py PATH. Element i of each holds i."""
import sys

import netCDF4
import numpy as np

SHAPE = (48, 96, 80)
LAYOUTS = {
    "contiguous": ("i4", dict(contiguous=True)),
    "big_endian": (">i4", dict(contiguous=True, endian="big")),
    "deflate": ("i4", dict(zlib=True, complevel=1, shuffle=True, chunksizes=(5, 31, 40))),
    "checksums": ("f8", dict(fletcher32=True, chunksizes=(1, 96, 80))),
    "many_chunks": ("i4", dict(zlib=True, complevel=1, shuffle=False, chunksizes=(4, 8, 16))),
}

with netCDF4.Dataset(sys.argv[1], "w") as file:
    for name, size in zip("tyx", (None, *SHAPE[1:])):
        file.createDimension(name, size)
    file.createDimension("z", SHAPE[0])
    values = np.arange(np.prod(SHAPE)).reshape(SHAPE)
    for number, (name, (dtype, options)) in enumerate(LAYOUTS.items()):
        group = file.createGroup(f"g{number % 2}") if number else file
        first = "z" if options.get("contiguous") else "t"
        group.createVariable(name, dtype, (first, "y", "x"), fill_value=False, **options)[:] = values
    words = file.createVariable("words", str, ("y", "x"))
    words[:] = np.array([str(number) for number in range(96 * 80)], dtype=object).reshape(96, 80)
