"""Chunks that one process encodes and another stores."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ncirrus import _ncirrus, casts, pickling, processes
from ncirrus.errors import InvalidError
from ncirrus.sessions import Session
from ncirrus.types import dtype_of

if TYPE_CHECKING:
    from ncirrus.variable import Variable


class EncodedChunk:
    """A chunk as it is stored. Its pickle has the bytes out of band, where the protocol (5) and the carrier allow."""

    __slots__ = ("body", "chunk", "mask", "path")

    def __init__(self, path: str, chunk: Sequence[int], body: NDArray[np.uint8], mask: int = 0) -> None:
        self.path: str = path
        self.chunk: tuple[int, ...] = tuple(int(number) for number in chunk)
        self.body: NDArray[np.uint8] = body
        self.mask: int = mask

    @property
    def nbytes(self) -> int:
        """Bytes of the chunk as it is stored."""
        return int(self.body.nbytes)

    def __bytes__(self) -> bytes:
        return self.body.tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EncodedChunk):
            return NotImplemented
        mine, others = (self.path, self.chunk, self.mask), (other.path, other.chunk, other.mask)
        return mine == others and np.array_equal(self.body, other.body)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        body = pickle.PickleBuffer(self.body.data) if int(protocol) >= 5 else self.body.tobytes()
        return _chunk, (self.path, self.chunk, body, self.mask)

    def __repr__(self) -> str:
        return f"<ncirrus.EncodedChunk {list(self.chunk)} of {self.path}, {self.nbytes} bytes>"


def _chunk(path: str, chunk: tuple[int, ...], body: Any, mask: int) -> EncodedChunk:
    return EncodedChunk(path, chunk, np.frombuffer(body, np.uint8), mask)


class Encoder:
    """Makes stored chunks of a variable from arrays, in any process: `variable.encoder()` gives it. Its pickle is text,
    and whoever unpickles it needs no access to the dataset."""

    __slots__ = ("_dtype", "_generation", "_handle", "_path", "_session", "_shape", "_text")

    def __init__(self, text: str, session: Session) -> None:
        self._text, self._session = text, session
        self._handle: Any = None
        self._generation = -1
        native = self._native()
        self._path, self._shape = str(native.path()), tuple(native.shape())
        self._dtype = dtype_of(native.ty())

    @classmethod
    def _of(cls, variable: Variable) -> Encoder:
        native = _ncirrus.Encoder.of(variable._native())
        return cls(native.to_text(), variable.dataset.session)

    def _native(self) -> Any:
        if self._handle is None or self._generation != processes.generation:
            key = ("encoder", self._text, id(self._session))
            make = lambda: (_ncirrus.Encoder.from_text(self._text, self._session._native()), self._session)  # noqa: E731
            # The session is kept with it, so that its number is not another's.
            self._handle, _ = pickling.once(key, make)
            self._generation = processes.generation
        return self._handle

    @property
    def path(self) -> str:
        """Path of the variable."""
        return self._path

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the variable when the encoder was made: where chunks are cut."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._dtype

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Lengths of the first chunk: those of all but the last along each axis."""
        return tuple(part.stop for part in self.region((0,) * len(self._shape)))

    def region(self, chunk: Sequence[int]) -> tuple[slice, ...]:
        """The region of a chunk in the variable, cut at its end."""
        start, count = self._native().region([int(number) for number in chunk])
        return tuple(slice(first, first + length) for first, length in zip(start, count))

    def chunks(self, sel: Any = ...) -> list[tuple[int, ...]]:
        """The chunks that a box consists of; an error that names the chunk where it has a part of one."""
        start, count = box_of(sel, self._shape, self._path)
        return [tuple(chunk) for chunk in self._native().whole_chunks(start, count)]

    def encode(self, chunk: Sequence[int], values: ArrayLike) -> EncodedChunk:
        """A chunk from its values inside of the variable."""
        region = self.region(chunk)
        shape = tuple(part.stop - part.start for part in region)
        fill = self._native().fill(self._dtype)[0] if isinstance(values, np.ma.MaskedArray) else None
        array = casts.prepared(values, self._dtype, fill, self._path)
        if array.shape != shape:
            message = f"values of shape {array.shape} are not those of the chunk, which has the shape {shape}"
            raise InvalidError(message, path=self._path, chunk=tuple(chunk))
        numbers = [int(number) for number in chunk]
        body, mask = self._native().encode(numbers, np.require(array, requirements=("C", "A")))
        return EncodedChunk(self._path, numbers, body, mask)

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Encoder) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoder, (self._text, self._session)

    def __dask_tokenize__(self) -> Any:
        return ("ncirrus.Encoder", self._text)

    def __repr__(self) -> str:
        return f"<ncirrus.Encoder of {self._path} {self._shape}, {self._dtype}>"


def write_encoded(variable: Variable, chunks: EncodedChunk | Iterable[EncodedChunk]) -> None:
    """Stores chunks that the variable's encoder made."""
    given = [chunks] if isinstance(chunks, EncodedChunk) else list(chunks)
    path = variable.path
    for chunk in given:
        if not isinstance(chunk, EncodedChunk):
            raise TypeError(f"{path}: an EncodedChunk is stored, not a {type(chunk).__name__}")
        if chunk.path != path:
            raise InvalidError(f"a chunk of {chunk.path} is not a chunk of {path}", path=path, chunk=chunk.chunk)
    variable.dataset._check_writable()
    _ncirrus.write_encoded(variable._native(), [(list(chunk.chunk), chunk.body, chunk.mask) for chunk in given])


def box_of(sel: Any, shape: Sequence[int], path: str) -> tuple[list[int], list[int]]:
    """First element and lengths of a box that slices select."""
    items = list(sel) if isinstance(sel, tuple) else [sel]
    if sum(1 for item in items if item is Ellipsis) > 1 or len(items) - (Ellipsis in items) > len(shape):
        raise IndexError(f"{path} has {len(shape)} axes, and the index is for another number of them")
    if Ellipsis not in items:
        items.append(Ellipsis)
    dots = items.index(Ellipsis)
    items[dots : dots + 1] = [slice(None)] * (len(shape) - len(items) + 1)
    start, count = [], []
    for axis, (item, length) in enumerate(zip(items, shape)):
        if not isinstance(item, slice) or item.step not in (None, 1):
            message = f"whole chunks are selected by slices without steps, not by {item!r} along axis {axis}"
            raise InvalidError(message, path=path)
        first, last = (item.start or 0), (length if item.stop is None else item.stop)
        if not 0 <= first <= last:
            first, last, _ = item.indices(length)
        if last > length:
            raise IndexError(f"{path}: {first}:{last} is past the end of axis {axis}, which has the length {length}")
        start.append(int(first))
        count.append(max(0, int(last) - int(first)))
    return start, count
