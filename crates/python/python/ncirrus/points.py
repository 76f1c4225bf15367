"""Values of single points: each chunk that they touch is fetched and decoded once."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.indexing import Axis, Selection

# Elements that are read by the indices of each, at most: these take 8 bytes for each axis.
_MOST = 1 << 22

# Where chunks, or fragments, begin along each axis.
Starts = Callable[[], "list[NDArray[np.int64]]"]
# A part of the points: the indices of their elements along each axis, and where their values go.
_Place = tuple[Any, ...]
_Part = tuple["list[NDArray[np.int64]]", "_Place | None"]


def read(native: Any, selected: Selection, starts: Starts) -> NDArray[Any]:
    """Values in the order of the points, along the first axis; the axes that are selected otherwise follow."""
    raw: NDArray[Any] | None = None
    for indices, where in _parts(selected, starts):
        values = np.asarray(native.read_points(indices))
        raw = _put(raw, values, where, selected.raw_shape)
    assert raw is not None
    return raw


async def read_async(
    begin: Callable[[list[NDArray[np.int64]]], Awaitable[NDArray[Any]]], selected: Selection, starts: Starts
) -> NDArray[Any]:
    """As `read`, where `begin` begins to read points."""
    raw: NDArray[Any] | None = None
    for indices, where in _parts(selected, starts):
        raw = _put(raw, await begin(indices), where, selected.raw_shape)
    assert raw is not None
    return raw


def _put(raw: NDArray[Any] | None, values: NDArray[Any], where: _Place | None, shape: tuple[int, ...]) -> NDArray[Any]:
    if where is None:
        return values.reshape(shape)
    if raw is None:
        raw = np.empty(shape, values.dtype)
    chosen, *box = where
    raw[(chosen, *box)] = values.reshape(chosen.size, *(axis.stop - axis.start for axis in box))
    return raw


def _parts(selected: Selection, starts: Starts) -> Iterator[_Part]:
    """Parts of at most so many elements, of as many whole chunks as that allows."""
    assert selected.points is not None
    lists = [indices for _, indices in selected.points]
    along = [at for at, _ in selected.points]
    others = {at: _indices(axis) for at, axis in enumerate(selected.axes) if at not in along}
    if _count(lists, others.values()) <= _MOST:
        yield _expanded(along, lists, others), None
        return
    begins = starts()
    for boxes in itertools.product(*(_cuts(others[at], begins[at], room) for at, room in _rooms(others).items())):
        box = {at: others[at][first:last] for at, (first, last) in zip(others, boxes)}
        most = _MOST // max(1, int(np.prod([indices.size for indices in box.values()])))
        for chosen in _batches(lists, [begins[at] for at in along], most):
            where = (chosen, *(slice(first, last) for first, last in boxes))
            yield _expanded(along, [indices[chosen] for indices in lists], box), where


def _count(lists: list[NDArray[np.int64]], others: Any) -> int:
    return lists[0].size * int(np.prod([indices.size for indices in others], dtype=np.int64))


def _indices(axis: Axis) -> NDArray[np.int64]:
    if isinstance(axis, tuple):
        return np.arange(axis[0], axis[0] + axis[1] * axis[2], axis[2], dtype=np.int64)
    return axis


def _expanded(
    along: list[int], lists: list[NDArray[np.int64]], others: dict[int, NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """The indices of each element along each axis, the elements of a point one after the other."""
    shape = (lists[0].size, *(indices.size for indices in others.values()))
    places = {**dict.fromkeys(along, 0), **{at: 1 + place for place, at in enumerate(others)}}
    found = []
    for at in range(len(places)):
        indices = others[at] if at in others else lists[along.index(at)]
        spread = [1] * len(shape)
        spread[places[at]] = indices.size
        found.append(np.ascontiguousarray(np.broadcast_to(indices.reshape(spread), shape)).reshape(-1))
    return found


def _rooms(others: dict[int, NDArray[np.int64]]) -> dict[int, int]:
    """Indices along each of the other axes that are read together: few enough elements for each point that many points
    are, too."""
    room, rooms = _MOST >> 6, {}
    for at in reversed(others):
        rooms[at] = max(1, min(room, others[at].size))
        room //= rooms[at]
    return {at: rooms[at] for at in others}


def _cuts(indices: NDArray[np.int64], starts: NDArray[np.int64], room: int) -> list[tuple[int, int]]:
    """Runs of so many indices, which end where chunks do where they hold a whole one."""
    if indices.size <= room:
        return [(0, indices.size)]
    chunks = np.searchsorted(starts, indices, side="right")
    ends = [*(np.flatnonzero(np.diff(chunks)) + 1).tolist(), indices.size]
    cuts, first = [], 0
    for end, after in zip(ends, [*ends[1:], indices.size + room]):
        if after - first <= room:
            continue
        while first < end:
            cuts.append((first, min(end, first + room)))
            first = cuts[-1][1]
    return cuts


def _batches(
    lists: list[NDArray[np.int64]], starts: list[NDArray[np.int64]], most: int
) -> Iterator[NDArray[np.int64]]:
    """Points that are read together: those of as many whole chunks as hold so many; of a chunk with more some at a time."""
    most = max(1, most)
    cells = np.zeros(lists[0].size, np.int64)
    for indices, begins in zip(lists, starts):
        cells = cells * begins.size + np.searchsorted(begins, indices, side="right") - 1
    order = np.argsort(cells, kind="stable")
    begin = end = 0
    for after in [*(np.flatnonzero(np.diff(cells[order])) + 1).tolist(), order.size]:
        if after - begin > most and end > begin:
            yield order[begin:end]
            begin = end
        if after - begin > most:
            # As they lie in the chunk, so that little of it is read twice.
            inside = order[begin:after]
            inside = inside[np.lexsort([indices[inside] for indices in reversed(lists)])]
            yield from (inside[at : at + most] for at in range(0, inside.size, most))
            begin = after
        end = after
    if end > begin:
        yield order[begin:end]


def write(native: Any, selected: Selection, raw: NDArray[Any], starts: Starts) -> None:
    """Writes values point by point: each chunk that they touch is read and changed once. Of points that are given twice
    the last one counts."""
    for indices, where in _parts(selected, starts):
        values = raw if where is None else raw[where]
        # Arrays out of messages of other processes may begin anywhere.
        native.write_points(indices, np.require(values, requirements=("C", "A")))
