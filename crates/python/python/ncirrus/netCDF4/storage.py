"""How variables are stored: the keywords of `createVariable` in the library's words, and the result of `filters()`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ncirrus.netCDF4.failures import INVALID, LibraryError

_BLOSC = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "", "blosc_zlib", "blosc_zstd")
_COMPRESSIONS = ("zlib", "szip", "zstd", "bzip2", *filter(None, _BLOSC))
_SZIP = {"nn": 32, "ec": 4}
_ROUNDINGS = {"BitGroom": "bitgroom", "BitRound": "bitround", "GranularBitRound": "granular"}
_DEFLATE, _SHUFFLE, _FLETCHER, _SZIP_FILTER, _BZIP2, _BLOSC_FILTER, _ZSTD = 1, 2, 3, 4, 307, 32001, 32015


def check_compression(words: Mapping[str, Any], place: str) -> None:
    """Raises `ValueError` for a compression that is not known, where its level does not switch it off."""
    if words["complevel"] and words["compression"] and words["compression"] not in _COMPRESSIONS:
        raise ValueError(f"Unsupported value for compression kwarg {place}")


def filters_of(words: Mapping[str, Any], itemsize: int, place: str) -> list[tuple[int, list[int]]]:
    """Filters by their numbers in HDF5, with their parameters, in the order of encoding.

    Raises what netCDF's library says to parameters that a filter does not take.
    """
    compression, level = words["compression"] or ("zlib" if words["zlib"] else None), words["complevel"]
    chain: list[tuple[int, list[int]]] = []
    if compression and level:
        chain += _compression(compression, int(level), words, itemsize, place)
    if words["fletcher32"]:
        chain.append((_FLETCHER, []))
    return chain


def _compression(
    name: str, level: int, words: Mapping[str, Any], itemsize: int, place: str
) -> list[tuple[int, list[int]]]:
    invalid = LibraryError(f"{INVALID}: {place}")
    if name in ("zlib", "bzip2"):
        if not 0 <= level <= 9:
            raise invalid
        shuffled = [(_SHUFFLE, [itemsize])] if words["shuffle"] and name == "zlib" else []
        return [*shuffled, (_DEFLATE if name == "zlib" else _BZIP2, [level])]
    if name == "zstd":
        # Parameters are 32 bits without a sign.
        return [(_ZSTD, [level & 0xFFFFFFFF])]
    if name == "szip":
        if words["szip_coding"] not in _SZIP:
            raise ValueError("unknown szip coding ('ec' or 'nn' supported)")
        pixels = int(words["szip_pixels_per_block"])
        if pixels % 2 or not 0 < pixels <= 32:
            raise invalid
        return [(_SZIP_FILTER, [_SZIP[words["szip_coding"]], pixels])]
    shuffle = int(words["blosc_shuffle"])
    if level < 0 or shuffle < 0:
        raise OverflowError("can't convert negative value to unsigned int")
    if shuffle > 2:
        raise invalid
    return [(_BLOSC_FILTER, [2, 2, itemsize, 0, level, shuffle, _BLOSC.index(name)])]


def check_blocks(words: Mapping[str, Any], chunks: Any, place: str) -> None:
    """Raises where blocks of szip are longer than a chunk."""
    if words["compression"] == "szip" and words["complevel"] and chunks:
        if math.prod(chunks) < int(words["szip_pixels_per_block"]):
            raise LibraryError(f"{INVALID}: {place}")


def rounding(words: Mapping[str, Any], dtype: Any, place: str) -> dict[str, int]:
    """How floats are rounded: the library's name of the way, and the digits or bits that are kept."""
    mode, kept = words["quantize_mode"], int(words["significant_digits"])
    if mode not in _ROUNDINGS:
        raise ValueError(
            f"'quantize_mode' keyword argument must be 'BitGroom','GranularBitRound' or 'BitRound', got '{mode}'"
        )
    limits = {"f4": (6, 23), "f8": (15, 52)}.get("" if dtype is None else dtype.str[1:])
    if limits is None or not 1 <= kept <= limits[mode == "BitRound"]:
        raise LibraryError(f"{INVALID}: {place}")
    return {_ROUNDINGS[mode]: kept}


def told(filters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The dictionary of `Variable.filters()`."""
    by_number = {each.get("id"): list(each.get("parameters", ())) for each in filters}
    found: dict[str, Any] = dict.fromkeys(("zlib", "szip", "zstd", "bzip2", "blosc", "shuffle"), False)
    found |= {"complevel": 0, "fletcher32": _FLETCHER in by_number}
    found["shuffle"] = _SHUFFLE in by_number
    for name, number in (("zlib", _DEFLATE), ("zstd", _ZSTD), ("bzip2", _BZIP2)):
        if number in by_number:
            level = (by_number[number] or [4])[0]
            found[name], found["complevel"] = True, level - (1 << 32) if level >= 1 << 31 else level
    if _BLOSC_FILTER in by_number:
        parameters = by_number[_BLOSC_FILTER] + [0] * 7
        found["blosc"] = {"compressor": _BLOSC[parameters[6] % len(_BLOSC)], "shuffle": parameters[5]}
        found["complevel"] = parameters[4]
    if _SZIP_FILTER in by_number:
        mask, pixels = (by_number[_SZIP_FILTER] + [0, 0])[:2]
        found["szip"] = {"coding": "nn" if mask & 32 else "ec", "pixels_per_block": pixels}
    return found
