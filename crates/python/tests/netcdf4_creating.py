"""What `createVariable` may be asked for, and what a module makes of it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
from netcdf4_comparing import outcome

NEW, CLASSIC, OLD, CDF5 = "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"
COMPRESSIONS = [
    *(None, "", "x", "zlib", "szip", "zstd", "bzip2"),
    *("blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_zlib", "blosc_zstd"),
]
# The dimensions are `x` of 4, `y` of 3000 and `z` of 5000, and `t` and `u` that grow.
_LENGTHS = {"x": 4, "y": 3000, "z": 5000, "t": None, "u": None}


def _cases() -> list[tuple[str, Any, Any, dict[str, Any]]]:
    found: list[tuple[str, Any, Any, dict[str, Any]]] = []

    def ask(kind: str, datatype: Any, dims: Any = ("x",), **words: Any) -> None:
        found.append((kind, datatype, dims, words))

    for datatype in "i4", ">i4", "S1", "f4", str:
        for endian in "native", "little", "big", "x":
            ask(NEW, datatype, endian=endian)
            ask(OLD, datatype, endian=endian)
    for name in COMPRESSIONS:
        # HDF5 has no szip of characters, and stores strings without the filter that it reports.
        for datatype in ("i4", "f8", "i1") if name == "szip" else ("i4", "S1", str, "f8", "i1"):
            ask(NEW, datatype, ("t", "x", "y"), compression=name, szip_pixels_per_block=4)
        for level in 0, 1, 9, 12, -1, None:
            ask(NEW, "i4", compression=name, complevel=level, szip_pixels_per_block=4)
        for words in {"fletcher32": True}, {"contiguous": True}, {"shuffle": False}, {"chunksizes": (3,)}, {"zlib": True}:
            ask(NEW, "i4", compression=name, **words)
            ask(CLASSIC, "f4", ("y",), compression=name, szip_pixels_per_block=2, **words)
        ask(NEW, "i4", (), compression=name, fletcher32=True)
        ask(OLD, "i4", compression=name)
    for shuffle in range(-1, 4):
        ask(NEW, "i4", compression="blosc_lz4", blosc_shuffle=shuffle)
    for coding in "nn", "ec", "x":
        for pixels in 2, 8, 32, 33, 3:
            ask(NEW, "i4", ("y",), compression="szip", szip_coding=coding, szip_pixels_per_block=pixels)
    for dims in ("t",), ("t", "u"), ("t", "x"), ("y", "z"), ("t", "y", "z"), ("y", "z", "y"), ("t", "u", "z", "z"):
        for datatype in "i1", "i4", "f8", str:
            ask(NEW, datatype, dims)
            ask(NEW, datatype, dims, zlib=True)
    for sizes in (2,), (5,), (0,), (2, 2), (-1,):
        for kind in NEW, CLASSIC, OLD:
            ask(kind, "i4", chunksizes=sizes)
            ask(kind, "i4", ("t",), chunksizes=sizes)
            ask(kind, "i4", chunksizes=sizes, contiguous=True)
    for dims in ("t",), ("x",), ():
        ask(NEW, str, dims, contiguous=True)
        ask(NEW, "i4", dims, contiguous=True, fletcher32=True)
    for mode in "BitGroom", "BitRound", "GranularBitRound", "x":
        for kept in 0, 1, 6, 7, 15, 16, 23, 24, 52, 53:
            ask(NEW, "f4", significant_digits=kept, quantize_mode=mode)
            ask(NEW, "f8", ("t",), significant_digits=kept, quantize_mode=mode, compression="zstd")
    for datatype in "i4", str:
        ask(NEW, datatype, significant_digits=3)
    ask(OLD, "f4", significant_digits=3)
    for fill in 0, 1, -1, 7.5, "x", float("nan"), False, [1, 2], np.int16(3), b"a", "", [[1]]:
        for datatype in "i4", "u1", "S1", "f4", str:
            ask(NEW, datatype, fill_value=fill)
        ask(OLD, "i2", fill_value=fill)
    for datatype in "i4", "u1", "S1", "f8", str:
        ask(NEW, datatype, fill_value="default")
    for digit in 0, 2, -1, 1.5, "a":
        ask(NEW, "f4", least_significant_digit=digit)
    for code in [*"BbhslcdfiIlLqQHe?", "f2", "U", "O", "M8[s]", "g", "V5", int, float, bool, "zzz", None, "c8", "U7", "S7"]:
        ask(NEW, code)
        ask(OLD, code)
    for code in "i8", "u1", "u2", "u4":
        for kind in OLD, CDF5, CLASSIC:
            ask(kind, code)
    for named in "x", ("q",), ("x", "x"), (b"x",), "", "xt":
        for kind in NEW, OLD:
            ask(kind, "i4", named)
    ask(OLD, "i4", ("x", "t"))
    return found


CASES = _cases()


def told(module: str, case: Any, folder: str) -> Any:
    """What the creation of a variable returns or raises, and its description before and after closing the file."""
    kind, datatype, dims, words = case
    nc, path = importlib.import_module(module), str(Path(folder) / "a.nc")

    def made() -> Any:
        with nc.Dataset(path, "w", format=kind) as ds:
            for name, length in _LENGTHS.items():
                if length is not None or name == "t" or kind == NEW:
                    ds.createDimension(name, length)
            first = _facts(ds.createVariable("v", datatype, dims, **words))
        with nc.Dataset(path) as ds:
            return first, _facts(ds["v"])

    return outcome(made, path)


def told_each(module: str, cases: list[Any], folder: str) -> list[Any]:
    """`told` of several cases."""
    return [told(module, case, folder) for case in cases]


def _facts(variable: Any) -> Any:
    attributes = {name: value for name, value in variable.__dict__.items() if not name.startswith("_Quantize")}
    found = [variable.dtype, variable.dimensions, variable.filters(), variable.chunking(), variable.endian()]
    is_native = isinstance(variable.dtype, np.dtype) and variable.dtype.isnative
    # Of the other byte order, the original gives the bytes in the wrong one.
    return [*found, variable.quantization(), attributes, variable.get_fill_value() if is_native else None]
