"""Dask: arrays that read along the stored chunks, and blocks that fit the chunks they are written to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

Chunks = tuple[tuple[int, ...], ...]


class Block:
    """What a task reads with: a variable, pickled as its address; indexing it reads."""

    __slots__ = ("dtype", "ndim", "shape", "variable")

    variable: Any
    shape: tuple[int, ...]
    ndim: int
    dtype: np.dtype[Any]

    def __init__(self, variable: Any, shape: tuple[int, ...] | None = None, dtype: Any = None) -> None:
        self.variable = variable
        self.shape = tuple(variable.shape) if shape is None else shape
        self.ndim = len(self.shape)
        self.dtype = np.dtype(variable.dtype if dtype is None else dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.variable.read(key)

    def __reduce__(self) -> tuple[Any, ...]:
        # With what describes it: the scheduler unpickles it, and is not to open the dataset.
        return (Block, (self.variable, self.shape, self.dtype))

    def __dask_tokenize__(self) -> Any:
        return ("ncirrus.dask.Block", self.variable.__dask_tokenize__())


def array(variable: Any, chunks: Any = None) -> Any:
    """A variable as a `dask.array.Array`.

    `chunks` is a value that Dask accepts, or a mapping of dimensions. Without it, blocks contain as many whole stored chunks
    as Dask's `array.chunk-size` holds. Blocks along other boundaries decode the chunks on their edges once each.
    """
    import dask.array
    from dask.base import tokenize

    lengths = block_lengths(variable, chunks)
    name = "ncirrus-" + tokenize(variable, lengths)
    return dask.array.from_array(Block(variable), lengths, name=name, lock=False, asarray=False, inline_array=True)


def block_lengths(variable: Any, chunks: Any = None) -> Chunks:
    """Lengths of blocks along each axis, for `chunks` as `array` takes it."""
    from dask.array.core import normalize_chunks

    shape, dtype = tuple(variable.shape), np.dtype(variable.dtype)
    if isinstance(chunks, Mapping):
        named = {variable.dims.index(dim) if isinstance(dim, str) else dim: part for dim, part in chunks.items()}
        chunks = tuple(named.get(axis, -1) for axis in range(len(shape)))
    stored = stored_lengths(variable)
    if chunks is None and dtype.hasobject:
        return stored
    chunks = "auto" if chunks is None else chunks
    # Dask makes blocks that are too small by a hair where an axis is empty.
    return tuple(
        tuple(int(length) for length in axis)
        for axis in normalize_chunks(chunks, shape=shape, dtype=dtype, previous_chunks=stored)
    )


def stored_lengths(variable: Any) -> Chunks:
    """Lengths of the stored chunks, or of an aggregation's fragments, along each axis."""
    from ncirrus.xarray.encodings import preferred_chunks

    preferred = preferred_chunks(variable)
    lengths = []
    for dim, length in zip(variable.dims, variable.shape):
        part = preferred.get(dim, length)
        lengths.append(part if isinstance(part, tuple) else _cut(length, part))
    return tuple(lengths)


def _cut(length: int, part: int) -> tuple[int, ...]:
    if length == 0:
        return (0,)
    part = max(1, min(part, length))
    whole, rest = divmod(length, part)
    return (part,) * whole + ((rest,) if rest else ())


def fitted(
    name: str,
    source: Any,
    chunks: Sequence[int] | None,
    dims: Sequence[str],
    offset: Sequence[int],
    shape: Sequence[int],
    align: str,
) -> Any:
    """A Dask array whose blocks share no stored chunk, for writing at an offset.

    Raises `ValueError` with variable, axis and both blocks where some do and `align` is `"error"`; with `"rechunk"` they
    are regrouped.
    """
    if chunks is None:
        return source
    regrouped = []
    for axis, lengths in enumerate(source.chunks):
        ends = list(accumulate(lengths))[:-1]
        for block, end in enumerate(ends):
            if align == "error" and (end + offset[axis]) % chunks[axis]:
                raise ValueError(_shared(name, dims[axis], axis, block, lengths, offset[axis], chunks[axis]))
        regrouped.append(_regrouped(lengths, offset[axis], chunks[axis]))
    lengths = tuple(regrouped)
    return source if lengths == source.chunks else source.rechunk(lengths)


def _shared(name: str, dim: str, axis: int, block: int, lengths: Sequence[int], offset: int, chunk: int) -> str:
    ends = [offset, *(offset + end for end in accumulate(lengths))]
    shared = ends[block + 1] // chunk
    return (
        f"variable {name!r}: along axis {axis} ({dim!r}) the blocks {block} ({ends[block]}:{ends[block + 1]}) and "
        f"{block + 1} ({ends[block + 1]}:{ends[block + 2]}) share the stored chunk {shared} "
        f"({shared * chunk}:{(shared + 1) * chunk}); choose blocks of whole chunks, or align='rechunk'"
    )


def _regrouped(lengths: Sequence[int], offset: int, chunk: int) -> tuple[int, ...]:
    """Block lengths with each end moved up to the end of the chunk that it lies in."""
    total = sum(lengths)
    ends = {0, total}
    for end in accumulate(lengths):
        ends.add(min(total, -(-(end + offset) // chunk) * chunk - offset))
    found = tuple(int(length) for length in np.diff(sorted(ends)))
    return found or (0,)
