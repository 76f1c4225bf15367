"""Texts as arrays of characters, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# What asks for bytes as they are.
_RAW = ("none", "None", "bytes")
# Encodings in which no character but NUL has a zero byte, so that zeros at the end are padding.
_NO_ZEROS = ("ascii", "utf-8", "utf8", "latin-1", "latin1", "iso-8859-1")


def stringtoarr(string: Any, NUMCHARS: int, dtype: str = "S") -> NDArray[Any]:
    """The characters of a text as an array of `NUMCHARS` characters, with NULs after them.

    `dtype` is `"S"` for bytes or `"U"` for characters. Raises `ValueError` for another, and for a longer text.
    """
    if dtype not in ["S", "U"]:
        raise ValueError("dtype must string or unicode ('S' or 'U')")
    characters = np.zeros(NUMCHARS, dtype + "1")
    if isinstance(string, bytes):
        string = [string[place : place + 1] for place in range(len(string))]
    characters[0 : len(string)] = tuple(string)
    return characters


def stringtochar(a: NDArray[Any], encoding: str | None = None, n_strlen: int | None = None) -> NDArray[Any]:
    """An array of texts as one of characters, with an axis of `n_strlen` more.

    Texts of dtype `U` are encoded, in UTF-8 unless `encoding` names another; bytes of dtype `S` are checked to be ASCII.
    `n_strlen` is the number of bytes of an element unless given; shorter texts are padded with NULs, longer ones cut.

    Raises `ValueError` for an array of another dtype, and `UnicodeError` for characters that the encoding lacks.
    """
    kind = a.dtype.kind
    if kind not in ["S", "U"]:
        raise ValueError("type must string or unicode ('S' or 'U')")
    if encoding is None:
        encoding = "ascii" if kind == "S" else "utf-8"
    width = a.dtype.itemsize if n_strlen is None else n_strlen
    if encoding in _RAW:
        return _cut(_characters(a), width)
    if encoding == "ascii":
        return _ascii(a, n_strlen)
    texts = np.atleast_1d(a)
    return _cut(_characters(texts if kind == "S" else _encoded(texts, encoding)), width)


def _ascii(a: NDArray[Any], n_strlen: int | None) -> NDArray[Any]:
    """ASCII is stored as it lies in memory: of dtype `U`, a character takes four."""
    a.tobytes().decode("ascii")
    characters = _characters(a)
    if n_strlen is not None:
        characters = characters.reshape((*a.shape, n_strlen))
    return characters.astype(a.dtype.kind + "1")


def _encoded(texts: NDArray[Any], encoding: str) -> NDArray[Any]:
    if encoding in _NO_ZEROS:
        return np.char.encode(texts, encoding)
    parts = [text.encode(encoding) for text in texts.flat]
    width = max(map(len, parts), default=0)
    return np.array([part.ljust(width, b"\0") for part in parts], f"S{max(width, 1)}").reshape(texts.shape)


def _characters(texts: NDArray[Any]) -> NDArray[Any]:
    """The bytes of each element, along a new last axis."""
    return np.frombuffer(texts.tobytes(), "S1").reshape((*texts.shape, texts.dtype.itemsize))


def _cut(characters: NDArray[Any], width: int) -> NDArray[Any]:
    kept = np.zeros((*characters.shape[:-1], width), "S1")
    shared = min(width, characters.shape[-1])
    kept[..., :shared] = characters[..., :shared]
    return kept


def chartostring(b: NDArray[Any], encoding: str | None = None) -> NDArray[Any]:
    """An array of characters as one of texts, without its last axis.

    Bytes of dtype `S1` are decoded as ASCII unless `encoding` names another; `"none"` leaves them bytes.

    Raises `ValueError` for an array of another dtype, and `UnicodeError` for bytes that the encoding lacks.
    """
    kind = b.dtype.kind
    if kind not in ["S", "U"]:
        raise ValueError("type must be string or unicode ('S' or 'U')")
    length = int(b.shape[-1])
    if length == 0:
        return np.zeros(b.shape[:-1], "S1" if encoding in _RAW else "U1")
    joined = np.frombuffer(b.tobytes(), f"{kind}{length}").reshape(b.shape[:-1])
    if kind == "U":
        return joined if encoding not in _RAW else np.char.encode(joined, "utf-8")
    if encoding in _RAW:
        return joined
    return _decoded(joined, encoding or "ascii").astype(f"U{length}").reshape(b.shape[:-1])


def _decoded(texts: NDArray[Any], encoding: str) -> NDArray[Any]:
    if encoding in _NO_ZEROS:
        return np.asarray(np.char.decode(texts, encoding))
    width = texts.dtype.itemsize
    raw = texts.tobytes()
    return np.array([raw[start : start + width].decode(encoding) for start in range(0, len(raw), width)])
