"""Chunks: their locations, and boxes along their boundaries."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.indexing import Axis, Selection


def blocks(shape: tuple[int, ...], chunks: tuple[int, ...] | None, most: int) -> Iterator[tuple[slice, ...]]:
    """Boxes of at most so many elements: whole chunks along each axis, as many as fit, the fastest axis first."""
    if 0 in shape:
        return
    grain = [min(chunk, length) for chunk, length in zip(chunks or (1,) * len(shape), shape)]
    if chunks is not None and math.prod(grain) > most:
        grain = [1] * len(shape)
    lengths = list(grain)
    for at in range(len(shape) - 1, -1, -1):
        others = math.prod(lengths) // lengths[at]
        fitting = most // others
        lengths[at] = shape[at] if fitting >= shape[at] else max(1, fitting // grain[at]) * grain[at]
        if lengths[at] < shape[at]:
            break
    starts = [range(0, length, step) for length, step in zip(shape, lengths)]
    for start in itertools.product(*starts):
        yield tuple(slice(a, min(a + step, length)) for a, step, length in zip(start, lengths, shape))


def starts_of(variable: Any) -> list[NDArray[np.int64]]:
    """Where chunks begin along each axis of a variable, or fragments; the whole is one where nothing is known."""
    uneven, chunks = variable.chunk_lengths, variable.chunks
    if uneven is not None:
        return [np.cumsum([0, *lengths[:-1]], dtype=np.int64) for lengths in uneven]
    if variable.is_aggregated:
        begins: list[set[int]] = [{0} for _ in variable.shape]
        for fragment in variable.fragments():
            for axis, start in enumerate(fragment["start"]):
                begins[axis].add(start)
        return [np.array(sorted(axis), np.int64) for axis in begins]
    if chunks is None:
        return [np.zeros(1, np.int64) for _ in variable.shape]
    return [np.arange(0, max(1, length), chunk, dtype=np.int64) for length, chunk in zip(variable.shape, chunks)]


def chunk_table(
    stored: list[tuple[list[int], str | None, int, int, bool]],
    selected: Selection,
    chunks: tuple[int, ...] | None,
    lengths: tuple[tuple[int, ...], ...] | None,
) -> NDArray[Any]:
    """One row for each chunk that is selected, in row-major order."""
    rank = len(selected.axes)
    dtype = np.dtype(
        [("start", "i8", (rank,)), ("object", "O"), ("offset", "i8"), ("length", "i8"), ("inline", "?"), ("missing", "?")]
    )
    if chunks is None:
        return np.empty(0, dtype)
    found = {tuple(start): (where, offset, length, inline) for start, where, offset, length, inline in stored}
    along = [_starts(axis, chunk, lengths[at] if lengths else None) for at, (axis, chunk) in enumerate(zip(selected.axes, chunks))]
    rows = []
    for start in itertools.product(*along):
        where, offset, length, inline = found.get(start, (None, -1, -1, False))
        missing = start not in found or (offset < 0 and not inline)
        place = max(offset, 0) if where is not None else -1
        rows.append((start, where, place, 0 if missing else length, inline, missing))
    return np.array(rows, dtype=dtype)


def _starts(axis: Axis, chunk: int, lengths: tuple[int, ...] | None) -> list[int]:
    """Where the chunks begin that are selected along an axis."""
    indices = np.arange(axis[0], axis[0] + axis[1] * axis[2], axis[2]) if isinstance(axis, tuple) else np.unique(axis)
    if lengths is None:
        return [int(start) for start in np.unique(indices // chunk) * chunk]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return [int(start) for start in np.unique(starts[np.searchsorted(starts, indices, side="right") - 1])]


# Values that are not laid out as they are stored are read and written so many bytes at a time.
_BLOCK = 16 << 20


def parts(
    axes: list[Axis], raw: NDArray[Any], chunks: tuple[int, ...] | None, at: int = 0
) -> Iterator[tuple[list[Axis], NDArray[Any]]]:
    """A selection and its array, some rows at a time, cut between chunks where that can be."""
    if raw.nbytes <= _BLOCK or at == raw.ndim:
        yield axes, raw
        return
    length = raw.shape[at]
    rows = max(1, _BLOCK // max(1, raw.nbytes // length))
    if rows == 1 or length == 1:
        for row in range(length):
            yield from parts(_cut(axes, at, row, 1), raw[_rows(at, row, row + 1)], chunks, at + 1)
        return
    start = 0
    while start < length:
        end = min(length, _boundary(axes[at], start, start + rows, chunks[at] if chunks else 1))
        yield _cut(axes, at, start, end - start), raw[_rows(at, start, end)]
        start = end


def _rows(at: int, start: int, end: int) -> tuple[slice, ...]:
    return (slice(None),) * at + (slice(start, end),)


def _boundary(axis: Axis, start: int, end: int, chunk: int) -> int:
    """An end at the boundary of a chunk, where there is one behind the start."""
    if not isinstance(axis, tuple) or axis[2] != 1:
        return end
    aligned = (axis[0] + end) // chunk * chunk - axis[0]
    return aligned if aligned > start else end


def _cut(axes: list[Axis], at: int, start: int, count: int) -> list[Axis]:
    some, axis = list(axes), axes[at]
    some[at] = (axis[0] + start * axis[2], count, axis[2]) if isinstance(axis, tuple) else axis[start : start + count]
    return some


def mapped_array(shape: tuple[int, ...], dtype: np.dtype[Any], folder: Any) -> NDArray[Any]:
    """An array in an unnamed file of a folder; the file is removed with the array."""
    with tempfile.TemporaryFile(dir=folder, prefix="ncirrus-") as file:
        file.truncate(math.prod(shape) * dtype.itemsize)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
