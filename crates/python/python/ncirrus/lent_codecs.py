"""Codecs that Python lends: functions of the program, or classes in the way of numcodecs, decode and encode chunks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np


@dataclass(frozen=True)
class CodecChunk:
    """A description of the chunks that a codec decodes and encodes."""

    name: str
    """The name of the codec."""
    configuration: Mapping[str, Any]
    """The members of the codec in the metadata; of an HDF5 filter its parameters by the names in `members`."""
    shape: tuple[int, ...]
    """The shape of a chunk."""
    itemsize: int | None
    """Bytes of an element; `None` if elements have no fixed size."""
    limit: int
    """The most bytes that a chunk may decode to; 0 for encoding."""


class LentCodec:
    """A codec made of functions: `decode(data, chunk)` and `encode(data, chunk)`, from bytes to bytes or arrays.

    `hdf5_id` is its number among the filters of HDF5, and `members` are the names of the filter's parameters.
    """

    def __init__(
        self,
        decode: Callable[[bytes, CodecChunk], Any] | None = None,
        encode: Callable[[bytes, CodecChunk], Any] | None = None,
        *,
        hdf5_id: int | None = None,
        members: Sequence[str] = (),
    ) -> None:
        for function in (decode, encode):
            if function is not None and not callable(function):
                raise TypeError(f"{function!r} is not a function that decodes or encodes chunks")
        if decode is None and encode is None:
            raise TypeError("a codec decodes or encodes: one of both functions is needed")
        self._decode, self._encode = decode, encode
        self.hdf5_id: int | None = hdf5_id
        self.members: list[str] = list(members)

    def __repr__(self) -> str:
        # Sessions that arrive by pickles are found by this text: equal for codecs of the same functions.
        return f"LentCodec({self._decode!r}, {self._encode!r}, hdf5_id={self.hdf5_id!r}, members={self.members!r})"

    @property
    def encodes(self) -> bool:
        return self._encode is not None

    def bind(self, name: str, configuration: str, shape: list[int], itemsize: int | None) -> BoundCodec:
        """The codec for chunks of one shape: called by the library."""
        found = CodecChunk(name, json.loads(configuration), tuple(shape), itemsize, 0)
        return BoundCodec(self._decode, self._encode, found)


class BoundCodec:
    """A codec for chunks of one shape, from bytes to bytes."""

    __slots__ = ("_chunk", "_decode", "_encode")

    def __init__(self, decode: Any, encode: Any, chunk: CodecChunk) -> None:
        self._decode, self._encode, self._chunk = decode, encode, chunk

    def decode(self, data: bytes, limit: int) -> bytes | None:
        if self._decode is None:
            raise NotImplementedError("the codec does not decode")
        known = self._chunk
        known = CodecChunk(known.name, known.configuration, known.shape, known.itemsize, limit)
        view = _view(self._decode(data, known))
        return None if view.nbytes > limit else _bytes(view)

    def encode(self, data: bytes) -> bytes:
        if self._encode is None:
            raise NotImplementedError("the codec does not encode")
        return _bytes(_view(self._encode(data, self._chunk)))


def _view(result: Any) -> memoryview:
    if isinstance(result, np.ndarray):
        return memoryview(np.ascontiguousarray(result).reshape(-1).view("u1"))
    return memoryview(result)


def _bytes(view: memoryview) -> bytes:
    # A view may be of other bytes than its object's in their order: reversed, for example.
    if isinstance(view.obj, bytes) and len(view.obj) == view.nbytes and view.c_contiguous:
        return view.obj
    return view.tobytes()


def lent(name: str, codec: Any) -> LentCodec:
    """The codec of a session: a function that decodes, two of them, a class of numcodecs, or a `LentCodec`."""
    if isinstance(codec, LentCodec):
        return codec
    if hasattr(codec, "from_config"):
        return _of_numcodecs(codec)
    if isinstance(codec, tuple) and len(codec) == 2:
        return LentCodec(*codec)
    if callable(codec):
        return LentCodec(codec)
    raise TypeError(
        f"the codec {name!r} is {codec!r}: it must be a function, a pair of functions, a class of numcodecs, or a LentCodec"
    )


def _of_numcodecs(made: Any) -> LentCodec:
    # Functions of the module, so that sessions with the codec can be pickled.
    return LentCodec(partial(_decode_by, made), partial(_encode_by, made))


def _decode_by(made: Any, data: bytes, chunk: CodecChunk) -> Any:
    return _configured(made, chunk).decode(data)


def _encode_by(made: Any, data: bytes, chunk: CodecChunk) -> Any:
    # Codecs of numcodecs are given arrays: of bytes if nothing else is known.
    return _configured(made, chunk).encode(np.frombuffer(data, "u1"))


def _configured(made: Any, chunk: CodecChunk) -> Any:
    """A codec with the parameters of a chunk: numcodecs removes the `id` before it calls `from_config`."""
    return made.from_config({name: value for name, value in chunk.configuration.items() if name != "id"})
