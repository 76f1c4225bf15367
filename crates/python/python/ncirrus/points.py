"""Values of single points: each chunk that they touch is fetched once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.indexing import Axis, Selection

# Elements that are read by the indices of each, at most: these take 8 bytes for each axis.
_MOST = 1 << 22


def read(native: Any, selected: Selection, chunks: tuple[int, ...] | None) -> NDArray[Any]:
    """Values in the order of the points, along the first axis; the axes that are selected otherwise follow."""
    axes = _expanded(selected)
    if axes is not None:
        return np.asarray(native.read_points(axes).reshape(selected.raw_shape))
    raw = _Gathered(selected)
    for part, picks, chosen in _parts(selected, chunks):
        raw.put(native.read(part), picks, chosen)
    return raw.values


async def read_async(
    begin: Callable[[list[Axis]], Awaitable[NDArray[Any]]], selected: Selection, chunks: tuple[int, ...] | None
) -> NDArray[Any]:
    """As `read`, where `begin` reads boxes and lists."""
    raw = _Gathered(selected)
    parts = list(_parts(selected, chunks))
    for (_, picks, chosen), values in zip(parts, await asyncio.gather(*(begin(part) for part, *_ in parts))):
        raw.put(values, picks, chosen)
    return raw.values


class _Gathered:
    """Values that come chunk by chunk."""

    def __init__(self, selected: Selection) -> None:
        assert selected.points is not None
        self._along = [at for at, _ in selected.points]
        self._shape = selected.raw_shape
        self._raw: NDArray[Any] | None = None

    def put(self, part: NDArray[Any], picks: list[NDArray[np.int64]], chosen: NDArray[np.int64]) -> None:
        """Takes the points of one chunk."""
        # The axes of the points first, so that one index takes them all.
        values = np.moveaxis(part, self._along, range(len(self._along)))[tuple(picks)]
        if self._raw is None:
            self._raw = np.empty(self._shape, dtype=values.dtype)
        self._raw[chosen] = values

    @property
    def values(self) -> NDArray[Any]:
        """All of them."""
        assert self._raw is not None
        return self._raw


def _expanded(selected: Selection) -> list[NDArray[np.int64]] | None:
    """The indices of each element along each axis; none where they would take too much memory."""
    assert selected.points is not None
    if int(np.prod(selected.raw_shape)) > _MOST:
        return None
    along = dict(selected.points)
    others = [at for at in range(len(selected.axes)) if at not in along]
    rank = 1 + len(others)
    found = []
    for at, axis in enumerate(selected.axes):
        place = 0 if at in along else 1 + others.index(at)
        indices = along[at] if at in along else _indices(axis)
        shape = [1] * rank
        shape[place] = indices.size
        found.append(np.ascontiguousarray(np.broadcast_to(indices.reshape(shape), selected.raw_shape)).reshape(-1))
    return found


def _indices(axis: Axis) -> NDArray[np.int64]:
    if isinstance(axis, tuple):
        return np.arange(axis[0], axis[0] + axis[1] * axis[2], axis[2], dtype=np.int64)
    return axis


def _parts(
    selected: Selection, chunks: tuple[int, ...] | None
) -> Iterator[tuple[list[Axis], list[NDArray[np.int64]], NDArray[np.int64]]]:
    """For the points of each chunk: what is read, where they are in it, and which of the points they are."""
    assert selected.points is not None
    along = [at for at, _ in selected.points]
    lists = [indices for _, indices in selected.points]
    for chosen in _groups(lists, [chunks[at] if chunks else None for at in along]):
        axes, picks = list(selected.axes), []
        for at, indices in zip(along, lists):
            unique, inverse = np.unique(indices[chosen], return_inverse=True)
            axes[at] = unique
            picks.append(inverse.reshape(-1))
        yield axes, picks, chosen


def write(native: Any, selected: Selection, raw: NDArray[Any]) -> None:
    """Writes values point by point; of points that are given twice the last one counts."""
    assert selected.points is not None
    lists = [indices for _, indices in selected.points]
    stacked = np.stack(lists)
    _, last = np.unique(stacked[:, ::-1], axis=1, return_index=True)
    for point in np.sort(stacked.shape[1] - 1 - last):
        axes = list(selected.axes)
        for at, indices in selected.points:
            axes[at] = (int(indices[point]), 1, 1)
        value = raw[point]
        for at in sorted(at for at, _ in selected.points):
            value = np.expand_dims(value, at)
        native.write(axes, np.ascontiguousarray(value))


def _groups(lists: list[NDArray[np.int64]], chunks: list[int | None]) -> list[NDArray[np.int64]]:
    """Points that are read together: those in one chunk."""
    cells = np.stack([indices // chunk if chunk else np.zeros_like(indices) for indices, chunk in zip(lists, chunks)])
    _, numbers = np.unique(cells, axis=1, return_inverse=True)
    numbers = numbers.reshape(-1)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
