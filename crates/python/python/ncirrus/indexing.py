"""numpy's rules of indexing, applied to selections that are read and written in one plan."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A slice that goes forwards (start, count, stride), or indices.
Axis = tuple[int, int, int] | NDArray[np.int64]
# A part of the result's axes: which kind of axis it is, and its number among those.
_Label = tuple[str, int]


class Selection:
    """The selection of an index.

    The axes are read as they are, one axis of the array for each. `labels` says what axes of the result each of those
    becomes: none (an integer), itself, or several (indices of more dimensions).
    """

    __slots__ = ("axes", "flips", "labels", "order", "points", "raw_shape", "shape", "sizes")

    def __init__(
        self,
        axes: list[Axis],
        labels: list[list[_Label]],
        order: list[_Label],
        sizes: dict[_Label, int],
        flips: list[int],
        points: list[tuple[int, NDArray[np.int64]]] | None = None,
    ) -> None:
        self.axes: list[Axis] = axes
        self.labels: list[list[_Label]] = labels
        self.order: list[_Label] = order
        self.sizes: dict[_Label, int] = sizes
        self.flips: list[int] = flips
        # Axes that are selected point by point, and the indices along them; they become the first axis of what is read.
        self.points: list[tuple[int, NDArray[np.int64]]] | None = points
        counts = [count_of(axis) for axis in axes]
        if points is not None:
            along = {at for at, _ in points}
            counts = [points[0][1].size] + [count for at, count in enumerate(counts) if at not in along]
        self.raw_shape: tuple[int, ...] = tuple(counts)
        self.shape: tuple[int, ...] = tuple(sizes[label] for label in order)

    @property
    def is_direct(self) -> bool:
        """Whether what is read is the result but for axes of length 1."""
        present = [label for labels in self.labels for label in labels]
        return not self.flips and present == [label for label in self.order if label in present]

    def arranged(self, raw: NDArray[Any]) -> NDArray[Any]:
        """The result, of what was read: a view of it."""
        if self.flips:
            raw = raw[tuple(slice(None, None, -1 if at in self.flips else 1) for at in range(raw.ndim))]
        present = [label for labels in self.labels for label in labels]
        raw = raw.reshape([self.sizes[label] for label in present])
        kept = [label for label in self.order if label in present]
        return raw.transpose([present.index(label) for label in kept]).reshape(self.shape)

    def scattered(self, values: NDArray[Any]) -> NDArray[Any]:
        """What is written, of values in the shape of the result: the inverse of `arranged`."""
        present = [label for labels in self.labels for label in labels]
        kept = [label for label in self.order if label in present]
        values = values.reshape([self.sizes[label] for label in kept])
        raw = values.transpose([kept.index(label) for label in present]).reshape(self.raw_shape)
        if self.flips:
            raw = raw[tuple(slice(None, None, -1 if at in self.flips else 1) for at in range(raw.ndim))]
        return raw


def count_of(axis: Axis) -> int:
    """How many indices are selected of an axis."""
    return axis[1] if isinstance(axis, tuple) else axis.size


def has_dots(key: Any) -> bool:
    """Whether an ellipsis is in an index. A single element is an array without axes then, else a scalar."""
    return any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))


def everything(shape: Sequence[int]) -> Selection:
    """All elements."""
    return basic([slice(None)] * len(shape), shape)


def resolve(key: Any, shape: Sequence[int], lens: Sequence[int] | None = None) -> Selection:
    """What `key` selects of an array of that shape, as numpy understands it. `lens` are the lengths that bound indices
    where they differ from the shape: those of axes that may grow."""
    items = _expanded(key, len(shape))
    bounds = shape if lens is None else lens
    if not any(isinstance(item, np.ndarray) for item in items):
        return basic(items, shape, bounds)
    return _advanced(items, shape, bounds, first=_numpy_goes_first(items))


def outer(key: Any, shape: Sequence[int], lens: Sequence[int] | None = None) -> Selection:
    """What `key` selects where each axis is selected for itself."""
    items = _expanded(key, len(shape), newaxis=False)
    bounds = shape if lens is None else lens
    axes: list[Axis] = []
    labels: list[list[_Label]] = []
    sizes: dict[_Label, int] = {}
    flips: list[int] = []
    for at, item in enumerate(item for item in items if item is not Ellipsis):
        if isinstance(item, np.ndarray):
            dimensions = item.mask_ndim if isinstance(item, _Mask) else item.ndim
            if dimensions != 1:
                raise IndexError(f"axis {at}: oindex takes indices of one dimension, not {dimensions}")
            _check_mask(item, at, shape[at])
            axis: Axis = _listed(_checked(item, at, bounds[at]))
            kept = True
        else:
            axis, kept, flipped = _basic_axis(item, at, shape[at], bounds[at])
            if flipped:
                flips.append(at)
        axes.append(axis)
        labels.append([("axis", at)] if kept else [])
        if kept:
            sizes["axis", at] = count_of(axis)
    return Selection(axes, labels, list(sizes), sizes, flips)


def points(key: Any, shape: Sequence[int], lens: Sequence[int] | None = None) -> Selection:
    """What `key` selects point by point: the axes of the indices come first, those of slices follow."""
    items = _expanded(key, len(shape), newaxis=False)
    bounds = shape if lens is None else lens
    if not any(isinstance(item, np.ndarray) for item in items):
        return basic(items, shape, bounds)
    return _advanced(items, shape, bounds, first=True)


def basic(items: Sequence[Any], shape: Sequence[int], lens: Sequence[int] | None = None) -> Selection:
    """Integers, slices and new axes."""
    bounds = shape if lens is None else lens
    axes: list[Axis] = []
    labels: list[list[_Label]] = []
    order: list[_Label] = []
    sizes: dict[_Label, int] = {}
    flips: list[int] = []
    for item in items:
        if item is Ellipsis:
            continue
        if item is None:
            order.append(("new", len(order)))
            sizes[order[-1]] = 1
            continue
        at = len(axes)
        axis, kept, flipped = _basic_axis(item, at, shape[at], bounds[at])
        axes.append(axis)
        labels.append([("axis", at)] if kept else [])
        if flipped:
            flips.append(at)
        if kept:
            order.append(("axis", at))
            sizes["axis", at] = axis[1]
    return Selection(axes, labels, order, sizes, flips)


def _basic_axis(item: Any, at: int, length: int, bound: int) -> tuple[tuple[int, int, int], bool, bool]:
    """The slice that an integer or slice means, whether its axis stays, and whether it goes backwards."""
    if not isinstance(item, slice):
        return (_wrapped(item, at, length, bound), 1, 1), False, False
    limit = length
    if bound > length and item.stop is not None:
        limit = max(length, min(bound, operator.index(item.stop)))
    start, stop, step = item.indices(limit)
    count = len(range(start, stop, step))
    if count == 0:
        return (0, 0, 1), True, False
    if count == 1:
        return (start, 1, 1), True, False
    if step < 0:
        return (start + (count - 1) * step, count, -step), True, True
    return (start, count, step), True, False


def _wrapped(item: Any, at: int, length: int, bound: int) -> int:
    index = operator.index(item)
    wrapped = index + length if index < 0 else index
    if not 0 <= wrapped < bound:
        raise IndexError(f"index {index} is out of bounds for axis {at} with size {length}")
    return wrapped


def _checked(indices: NDArray[np.int64], at: int, length: int, bound: int | None = None) -> NDArray[np.int64]:
    """Indices from the beginning, inside of the axis."""
    if indices.size == 0:
        return indices
    low, high = int(indices.min()), int(indices.max())
    if low < -length or high >= (length if bound is None else bound):
        wrong = high if high >= (length if bound is None else bound) else low
        raise IndexError(f"index {wrong} is out of bounds for axis {at} with size {length}")
    return np.where(indices < 0, indices + length, indices) if low < 0 else indices


def _listed(indices: NDArray[np.int64]) -> Axis:
    """Indices as a slice, where they are one."""
    if indices.size == 0:
        return (0, 0, 1)
    first = int(indices[0])
    if indices.size == 1:
        return (first, 1, 1)
    step = int(indices[1]) - first
    if step > 0 and bool((np.diff(indices) == step).all()):
        return (first, indices.size, step)
    return np.ascontiguousarray(indices)


def _expanded(key: Any, ndim: int, newaxis: bool = True) -> list[Any]:
    """One item for each axis, and `None` for new ones: integers, slices, and arrays of indices. Masks of several axes
    become one array for each."""
    given = list(key) if isinstance(key, tuple) else [key]
    items: list[Any] = []
    taken, dots = 0, -1
    for item in given:
        if item is Ellipsis:
            if dots >= 0:
                raise IndexError("an index can only have a single ellipsis ('...')")
            dots = len(items)
            items.append(item)
        elif item is None:
            if not newaxis:
                raise IndexError("oindex and vindex take no new axes")
            items.append(None)
        elif isinstance(item, slice):
            items.append(item)
            taken += 1
        else:
            found = _indices(item)
            items.extend(found)
            taken += sum(1 for part in found if not isinstance(part, _Bool))
    if taken > ndim:
        raise IndexError(f"too many indices: the variable has {ndim} axes, but {taken} were indexed")
    rest = [slice(None)] * (ndim - taken)
    if dots < 0:
        items.extend(rest)
    else:
        # The ellipsis stays, as a mark: also where it stands for no axis it keeps index arrays apart.
        items[dots + 1 : dots + 1] = rest
    return items


class _Bool(np.ndarray[Any, np.dtype[np.int64]]):
    """The axis that a single truth value adds: no axis of the variable belongs to it."""


class _Mask(np.ndarray[Any, np.dtype[np.int64]]):
    """Indices of a mask of that many dimensions, which had that length along their axis."""

    length: int
    mask_ndim: int


def _indices(item: Any) -> list[Any]:
    """An integer, or arrays of indices."""
    if isinstance(item, (bool, np.bool_)):
        return [np.zeros(1 if item else 0, np.int64).view(_Bool)]
    if not isinstance(item, (np.ndarray, list)) and hasattr(item, "__index__"):
        return [operator.index(item)]
    if isinstance(item, (float, complex, str, bytes, dict, set)):
        raise IndexError(_WRONG.format(repr(item)))
    array = np.asarray(item)
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype == bool:
        if array.ndim == 0:
            return [np.zeros(int(array), np.int64).view(_Bool)]
        parts = []
        for indices, length in zip(np.nonzero(array), array.shape):
            part = indices.view(_Mask)
            part.length, part.mask_ndim = length, array.ndim
            parts.append(part)
        return parts
    if array.dtype.kind not in "iu":
        raise IndexError(_WRONG.format(f"an array of {array.dtype}"))
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise IndexError(f"index {int(array.max())} is out of bounds")
    return [int(array)] if array.ndim == 0 else [array.astype(np.int64, copy=False)]


_WRONG = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices, not {}"
)


def _numpy_goes_first(items: list[Any]) -> bool:
    """Whether the axes of index arrays come first: they are not next to each other."""
    marks = ["i" if isinstance(item, (np.ndarray, int)) else "s" for item in items]
    inner = "".join(marks).strip("s")
    return "s" in inner


def _advanced(items: list[Any], shape: Sequence[int], bounds: Sequence[int], first: bool) -> Selection:
    axes: list[Any] = []
    labels: list[list[_Label]] = []
    order: list[_Label] = []
    sizes: dict[_Label, int] = {}
    flips: list[int] = []
    arrays: list[tuple[int, NDArray[np.int64]]] = []
    alone: list[NDArray[np.int64]] = []
    place = None
    for item in items:
        at = len(axes)
        if isinstance(item, (np.ndarray, int)):
            place = len(order) if place is None else place
        if item is Ellipsis:
            continue
        if item is None:
            order.append(("new", len(order)))
            sizes[order[-1]] = 1
        elif isinstance(item, _Bool):
            alone.append(item.view(np.ndarray))
        elif isinstance(item, np.ndarray):
            _check_mask(item, at, shape[at])
            arrays.append((at, item.view(np.ndarray)))
            axes.append(None)
            labels.append([])
        elif isinstance(item, slice):
            axis, _, flipped = _basic_axis(item, at, shape[at], bounds[at])
            axes.append(axis)
            labels.append([("axis", at)])
            order.append(("axis", at))
            sizes["axis", at] = axis[1]
            if flipped:
                flips.append(at)
        else:
            arrays.append((at, np.array(_wrapped(item, at, shape[at], bounds[at]), np.int64)))
            axes.append(None)
            labels.append([])
    joint = _broadcast([array for _, array in arrays] + alone)
    along: list[_Label] = [("index", number) for number in range(len(joint))]
    sizes.update(zip(along, joint))
    where = 0 if first else (place or 0)
    order[where:where] = along
    if 0 in joint or not arrays:
        # Nothing is selected: numpy does not look at the indices then. And truth values alone leave everything.
        return Selection([axis or (0, 0, 1) for axis in axes], labels, order, sizes, flips)
    arrays = [(at, _checked(array, at, shape[at], bounds[at])) for at, array in arrays]
    uses = [_varying(array, joint) for _, array in arrays]
    if sum(map(len, uses)) == len(set().union(*uses)):
        # Each varies along axes of its own: all combinations are wanted.
        for (at, array), varying in zip(arrays, uses):
            axes[at] = _listed(array.ravel())
            labels[at] = [("index", number) for number in sorted(varying)]
        return Selection(axes, labels, order, sizes, flips)
    flat = [(at, np.broadcast_to(array, joint).ravel()) for at, array in arrays]
    rest = [at for at in range(len(axes)) if axes[at] is not None]
    moved = [1 + rest.index(at) for at in flips]
    raw = [along, *(labels[at] for at in rest)]
    return Selection([axis or (0, 0, 1) for axis in axes], raw, order, sizes, moved, flat)


def _check_mask(item: NDArray[np.int64], at: int, length: int) -> None:
    if isinstance(item, _Mask) and item.length != length:
        message = f"boolean index did not match indexed array along axis {at}; size of axis is {length} but size of "
        raise IndexError(f"{message}corresponding boolean axis is {item.length}")


def _broadcast(arrays: list[NDArray[np.int64]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = " ".join(str(array.shape) for array in arrays)
        message = f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        raise IndexError(message) from None


def _varying(array: NDArray[np.int64], joint: tuple[int, ...]) -> set[int]:
    """The axes of the joint shape along which an array of indices varies."""
    before = len(joint) - array.ndim
    return {before + at for at, length in enumerate(array.shape) if length != 1}
