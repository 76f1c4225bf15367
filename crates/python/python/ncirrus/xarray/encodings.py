"""Storage of variables in the words of netCDF4-python, which xarray's engines share, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# The chain exactly as it is stored; engines of others drop encodings that they do not know.
EXACT = "ncirrus_filters"

# What only describes where a variable came from.
SAFE_TO_DROP = frozenset({"source", "original_shape", "preferred_chunks"})

# Words that `to_netcdf(engine="netcdf4")`, `to_netcdf(engine="h5netcdf")` and `to_zarr` know, and ours.
VALID = frozenset(
    {
        "zlib", "szip", "bzip2", "blosc", "zstd", "complevel", "fletcher32", "contiguous", "chunksizes", "shuffle",
        "_FillValue", "dtype", "compression", "compression_opts", "significant_digits", "quantize_mode",
        "blosc_shuffle", "szip_coding", "szip_pixels_per_block", "endian", "least_significant_digit", "chunks",
        "compressors", "compressor", "filters", "shards", "fill_value", EXACT,
    }
)  # fmt: skip

DEFLATE, SHUFFLE, FLETCHER32, SZIP, BZIP2 = 1, 2, 3, 4, 307
LZF, BLOSC, ZSTD = 32000, 32001, 32015
_BLOSC_COMPRESSORS = ("blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_snappy", "blosc_zlib", "blosc_zstd")
_QUANTIZE_MODES = ("BitGroom", "BitRound", "GranularBitRound")

# Bytes of one run when data that are stored in one piece are cut for Dask.
RUN_BYTES = 64 * 2**20


def filters_in_words(filters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The words of `netCDF4.Variable.filters()` for a chain; a filter that they cannot express is left to `EXACT`."""
    words: dict[str, Any] = dict.fromkeys(("zlib", "szip", "zstd", "bzip2", "blosc", "shuffle"), False)
    words |= {"complevel": 0, "fletcher32": False}
    for codec in filters:
        words.update(_words_of(codec))
    return words


def _words_of(codec: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(codec.get("id"), int):
        return _words_of_hdf5(codec["id"], [int(number) for number in codec.get("parameters", ())])
    if "id" in codec:
        return _words_of_zarr(str(codec["id"]), codec)
    return _words_of_zarr(str(codec.get("name", "")), codec.get("configuration") or {})


def _words_of_hdf5(number: int, parameters: list[int]) -> dict[str, Any]:
    first = parameters[0] if parameters else 0
    if number == DEFLATE:
        return {"zlib": True, "complevel": first}
    if number == SHUFFLE:
        return {"shuffle": True}
    if number == FLETCHER32:
        return {"fletcher32": True}
    if number == SZIP:
        coding = "nn" if first & 32 else "ec"
        return {"szip": {"coding": coding, "pixels_per_block": parameters[1] if len(parameters) > 1 else 0}}
    if number == BZIP2:
        return {"bzip2": True, "complevel": first}
    if number == ZSTD:
        return {"zstd": True, "complevel": _signed(first)}
    if number == LZF:
        return {"compression": "lzf", "compression_opts": None}
    if number == BLOSC and len(parameters) > 6 and parameters[6] < len(_BLOSC_COMPRESSORS):
        blosc = {"compressor": _BLOSC_COMPRESSORS[parameters[6]], "shuffle": parameters[5]}
        return {"blosc": blosc, "complevel": parameters[4]}
    return {}


def _words_of_zarr(name: str, configuration: Mapping[str, Any]) -> dict[str, Any]:
    level = configuration.get("level", 0)
    if name in ("zlib", "gzip", "numcodecs.zlib", "numcodecs.gzip"):
        return {"zlib": True, "complevel": level}
    if name in ("shuffle", "numcodecs.shuffle"):
        return {"shuffle": True}
    if name in ("fletcher32", "numcodecs.fletcher32"):
        return {"fletcher32": True}
    if name in ("bz2", "numcodecs.bz2"):
        return {"bzip2": True, "complevel": level}
    if name in ("zstd", "numcodecs.zstd"):
        return {"zstd": True, "complevel": level}
    if name in ("blosc", "numcodecs.blosc"):
        compressor = "blosc_" + str(configuration.get("cname", "lz4")).replace("blosclz", "lz")
        shuffles = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
        shuffle = configuration.get("shuffle", 1)
        blosc = {"compressor": compressor, "shuffle": shuffles.get(shuffle, shuffle)}
        return {"blosc": blosc, "complevel": configuration.get("clevel", 5)}
    return {}


def _signed(number: int) -> int:
    """A parameter of an HDF5 filter as a signed number: zstd has negative levels."""
    return number - 2**32 if number >= 2**31 else number


def filters_from_words(encoding: Mapping[str, Any], dtype: Any, *, shuffle_by_default: bool = True) -> list[Any] | None:
    """The chain that an encoding asks for, in the order of encoding; `None` where it says nothing.

    Raises `ValueError` for words that contradict each other or name no compression.
    """
    for key in ("filters", "compressors", "compressor"):
        if encoding.get(key) is not None:
            return _foreign_chain(encoding)
    compression = encoding.get("compression")
    if compression is None:
        compression = next((name for name in ("zstd", "blosc", "bzip2", "szip", "zlib") if encoding.get(name)), None)
    if EXACT in encoding and _says_the_same(encoding):
        return list(encoding[EXACT])
    chain: list[Any] = []
    fixed = np.dtype(dtype).kind in "iufcbSV" if dtype is not str else False
    compressor = _compressor(compression, encoding) if compression is not None else None
    plain_shuffle = compression in (None, "zlib", "gzip", "lzf", "bzip2")
    default = shuffle_by_default and compression in ("zlib", "gzip")
    if encoding.get("shuffle", default) and plain_shuffle and fixed:
        size = np.dtype(dtype).itemsize
        if size > 1 or encoding.get("shuffle"):
            chain.append({"id": SHUFFLE, "parameters": [size]})
    if compressor is not None:
        chain.append(compressor)
    if encoding.get("fletcher32"):
        chain.append({"id": FLETCHER32, "parameters": []})
    words = ("shuffle", "fletcher32", "zlib", "compression")
    return chain if chain or any(word in encoding for word in words) else None


def _says_the_same(encoding: Mapping[str, Any]) -> bool:
    """Whether the words are unchanged since the exact chain was stored beside them."""
    words = filters_in_words(encoding[EXACT])
    for name, value in words.items():
        if name in encoding and encoding[name] != value:
            return False
    compression = encoding.get("compression")
    return compression is None or compression == words.get("compression") or bool(words.get(compression))


def _foreign_chain(encoding: Mapping[str, Any]) -> list[Any]:
    """Codecs of Zarr: filters before compressors, dicts or objects with `get_config` or `to_dict`."""
    chain: list[Any] = []
    for key in ("filters", "compressors", "compressor"):
        found = encoding.get(key)
        if found is None or isinstance(found, str):
            continue
        chain += list(found) if isinstance(found, list | tuple) else [found]
    given = [codec.to_dict() if hasattr(codec, "to_dict") else codec for codec in chain]
    return [codec for codec in given if _name_of(codec) not in _OF_OBJECTS]


# What Zarr lists among the codecs because values have no fixed size: the type says so already.
_OF_OBJECTS = frozenset({"vlen-utf8", "vlen-bytes", "vlen-array"})


def _name_of(codec: Any) -> Any:
    """The identifier or name of a codec of Zarr."""
    if isinstance(codec, Mapping):
        return codec.get("id", codec.get("name"))
    return getattr(codec, "codec_id", None)


def _compressor(name: Any, encoding: Mapping[str, Any]) -> dict[str, Any]:
    level = _level(encoding)
    if name in ("zlib", "gzip"):
        return {"id": DEFLATE, "parameters": [4 if level is None else level]}
    if name == "zstd":
        return {"id": ZSTD, "parameters": [(4 if level is None else level) % 2**32]}
    if name == "bzip2":
        return {"id": BZIP2, "parameters": [4 if level is None else max(level, 1)]}
    if name == "lzf":
        return {"id": LZF, "parameters": []}
    if name == "szip":
        stored = encoding.get("szip")
        stored = stored if isinstance(stored, Mapping) else {}
        coding = encoding.get("szip_coding", stored.get("coding", "nn"))
        pixels = encoding.get("szip_pixels_per_block", stored.get("pixels_per_block", 8))
        return {"id": SZIP, "parameters": [32 if coding == "nn" else 4, int(pixels)]}
    if isinstance(name, str) and name.startswith("blosc"):
        stored = encoding.get("blosc")
        stored = stored if isinstance(stored, Mapping) else {}
        compressor = stored.get("compressor", "blosc_lz") if name == "blosc" else name
        if compressor in _BLOSC_COMPRESSORS:
            shuffle = int(encoding.get("blosc_shuffle", stored.get("shuffle", 1)))
            number = _BLOSC_COMPRESSORS.index(compressor)
            clevel = 4 if level is None else level
            return {"id": BLOSC, "parameters": [2, 2, 0, 0, clevel, shuffle, number]}
    known = ", ".join(("zlib", "gzip", "zstd", "bzip2", "szip", "lzf", *_BLOSC_COMPRESSORS))
    raise ValueError(f"encoding compression={name!r} is unknown: one of {known}")


def _level(encoding: Mapping[str, Any]) -> int | None:
    level, options = encoding.get("complevel"), encoding.get("compression_opts")
    if level is not None and options is not None and level != options:
        raise ValueError(f"'complevel' and 'compression_opts' encodings mismatch: {level!r} and {options!r}")
    found = options if level is None else level
    return None if found is None else int(found)


def quantize_of(encoding: Mapping[str, Any]) -> dict[str, int] | None:
    """The quantization that `significant_digits` and `quantize_mode` ask for."""
    digits = encoding.get("significant_digits")
    if digits is None:
        return None
    mode = encoding.get("quantize_mode", "BitGroom")
    if mode not in _QUANTIZE_MODES:
        raise ValueError(f"encoding quantize_mode={mode!r} is not one of {', '.join(_QUANTIZE_MODES)}")
    return {mode: int(digits)}


def rounded(data: Any, digits: int) -> Any:
    """Numbers rounded to a power of two that keeps so many decimal digits, as netCDF4-python does it."""
    if np.dtype(data.dtype).kind != "f":
        return data
    precision = 10.0**-digits
    exponent = math.log10(precision)
    exponent = math.floor(exponent) if exponent < 0 else math.ceil(exponent)
    scale = 2.0 ** math.ceil(math.log2(10.0**-exponent))
    return (np.around(scale * data) / scale).astype(data.dtype)


def preferred_chunks(variable: Any) -> dict[str, int | tuple[int, ...]]:
    """Along which lengths each dimension of a variable is best cut; empty where it need not be."""
    dims, shape = variable.dims, variable.shape
    if not shape or 0 in shape or len(set(dims)) < len(dims):
        return {}
    uneven = getattr(variable, "chunk_lengths", None)
    if uneven is not None:
        return {dim: _even(lengths) for dim, lengths in zip(dims, uneven)}
    if variable.is_aggregated:
        return _fragment_lengths(variable)
    if variable.chunks is not None:
        return dict(zip(dims, variable.chunks))
    return _runs(dims, shape, variable.dtype)


def _even(lengths: Sequence[int]) -> int | tuple[int, ...]:
    lengths = tuple(lengths)
    if not lengths:
        return (0,)
    even = len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]
    return lengths[0] if even else lengths


def _fragment_lengths(variable: Any) -> dict[str, int | tuple[int, ...]]:
    """Edges of all fragments, along each dimension."""
    edges: list[set[int]] = [{0, length} for length in variable.shape]
    for fragment in variable.fragments():
        for axis, (start, length) in enumerate(zip(fragment["start"], fragment["shape"])):
            edges[axis] |= {start, start + length}
    lengths = [np.diff(sorted(axis)).tolist() for axis in edges]
    return {dim: _even(axis) for dim, axis in zip(variable.dims, lengths)}


def _runs(dims: Sequence[str], shape: Sequence[int], dtype: np.dtype[Any]) -> dict[str, int | tuple[int, ...]]:
    """Whole trailing axes as far as they fit into a run, and as much of the next one as does."""
    left = max(1, RUN_BYTES // max(1, dtype.itemsize))
    if math.prod(shape) <= left:
        return {}
    lengths = [1] * len(shape)
    for axis in reversed(range(len(shape))):
        lengths[axis] = min(shape[axis], left)
        left //= shape[axis]
        if left <= 1:
            break
    return dict(zip(dims, lengths))
