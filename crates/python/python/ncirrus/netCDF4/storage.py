"""How variables are stored: the keywords of `createVariable` in the library's words, and what `filters()` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_BLOSC = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "", "blosc_zlib", "blosc_zstd")
_COMPRESSIONS = ("zlib", "szip", "zstd", "bzip2", *filter(None, _BLOSC))
_SZIP = {"nn": 32, "ec": 4}
_DEFLATE, _SHUFFLE, _FLETCHER, _SZIP_FILTER, _BZIP2, _BLOSC_FILTER, _ZSTD = 1, 2, 3, 4, 307, 32001, 32015


def filters_of(words: Mapping[str, Any], itemsize: int) -> list[tuple[int, list[int]]]:
    """Filters by their numbers in HDF5, with their parameters, in the order of encoding.

    Raises `ValueError` for a compression that is not known.
    """
    compression, level = words["compression"], words["complevel"]
    if compression is not None and compression not in (*_COMPRESSIONS, ""):
        raise ValueError(f"Unsupported value for compression kwarg, got {compression!r}")
    if words["zlib"] and not compression:
        compression = "zlib"
    level = 4 if level is None else int(level)
    if level == 0 and compression != "szip":
        compression = None
    chain: list[tuple[int, list[int]]] = []
    if compression == "zlib":
        chain += [(_SHUFFLE, [itemsize])] if words["shuffle"] else []
        chain.append((_DEFLATE, [level]))
    elif compression == "zstd":
        chain.append((_ZSTD, [level]))
    elif compression == "bzip2":
        chain.append((_BZIP2, [level]))
    elif compression == "szip":
        if words["szip_coding"] not in _SZIP:
            raise ValueError("unknown szip coding ('ec' or 'nn' supported)")
        chain.append((_SZIP_FILTER, [_SZIP[words["szip_coding"]], int(words["szip_pixels_per_block"])]))
    elif compression in _BLOSC and compression:
        shuffle, codec = int(words["blosc_shuffle"]), _BLOSC.index(compression)
        if shuffle not in (0, 1, 2):
            raise ValueError("blosc_shuffle must be 0, 1 or 2")
        chain.append((_BLOSC_FILTER, [2, 2, itemsize, 0, level, shuffle, codec]))
    if words["fletcher32"]:
        chain.append((_FLETCHER, []))
    return chain


def told(filters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The dictionary of `Variable.filters()`."""
    by_number = {each.get("id"): list(each.get("parameters", ())) for each in filters}
    found: dict[str, Any] = dict.fromkeys(("zlib", "szip", "zstd", "bzip2", "blosc", "shuffle"), False)
    found |= {"complevel": 0, "fletcher32": _FLETCHER in by_number}
    found["shuffle"] = _SHUFFLE in by_number
    for name, number in (("zlib", _DEFLATE), ("zstd", _ZSTD), ("bzip2", _BZIP2)):
        if number in by_number:
            found[name], found["complevel"] = True, (by_number[number] or [4])[0]
    if _BLOSC_FILTER in by_number:
        parameters = by_number[_BLOSC_FILTER] + [0] * 7
        found["blosc"] = {"compressor": _BLOSC[parameters[6] % len(_BLOSC)], "shuffle": parameters[5]}
        found["complevel"] = parameters[4]
    if _SZIP_FILTER in by_number:
        mask, pixels = (by_number[_SZIP_FILTER] + [0, 0])[:2]
        found["szip"] = {"coding": "nn" if mask & 32 else "ec", "pixels_per_block": pixels}
    return found
