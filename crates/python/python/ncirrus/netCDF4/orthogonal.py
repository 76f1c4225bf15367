"""Orthogonal selections as netCDF4-python describes them: `start`, `count`, `stride` and `indices` of each box.

One box covers the slices and integers of a selection; every combination of the elements of its index lists is a box
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The words that programs match.
_INVALID_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), and 1-d integer or boolean arrays are valid indices"
)


def _StartCountStride(
    elem: Any,
    shape: Sequence[int],
    dimensions: Sequence[str] | None = None,
    grp: Any = None,
    datashape: Sequence[int] | None = None,
    put: bool = False,
    use_get_vars: bool = True,
    return_selection: bool = False,
) -> tuple[Any, ...]:
    """The boxes that a selection `elem` of a variable consists of.

    `shape` is the variable's; `dimensions` their names, found from the group `grp` upwards; `datashape` the shape of
    what is assigned, when `put`. Unlimited dimensions grow only then.

    Returns four arrays with one axis per dimension, as long as its index list or 1, and a last one over the dimensions:
    the start of each box, the number of elements, the step, and its position in the data: a slice, an index, or -1 for
    an axis that an integer selected. With `return_selection`, the normalised selection comes fifth.

    Raises `IndexError` for indices that are out of range or no indices, and `ValueError` for too many of them and for
    unknown dimensions.
    """
    keys, axes = by_axis(elem, shape, dimensions, grp, datashape, put, use_get_vars)
    boxes = _boxes(axes, keys)
    return (*boxes, keys) if return_selection else boxes


def by_axis(
    elem: Any,
    shape: Sequence[int],
    dimensions: Sequence[str] | None = None,
    grp: Any = None,
    datashape: Sequence[int] | None = None,
    put: bool = False,
    use_get_vars: bool = True,
) -> tuple[list[Any], list[AxisBox]]:
    """The normalised selection, and what it selects along each axis; arguments and errors are those of
    `_StartCountStride`, whose boxes are all combinations of these."""
    target = _Target(tuple(shape) or (1,), dimensions, grp, put)
    keys = _as_keys(elem, target.rank)
    keys = [_simplified(key, use_get_vars) for key in _normalised(keys, target, use_get_vars)]
    keys = _with_all_axes(keys, target.rank)
    datashape = _aligned_datashape(keys, datashape, target)
    axes = [_axis_box(axis, key, datashape, target) for axis, key in enumerate(keys)]
    if not put and any(box.count == 0 for box in axes):
        # Nothing is read that could notice it.
        for key, length in zip(keys, target.shape, strict=True):
            if isinstance(key, int) and key >= length:
                raise IndexError("integer index exceeds dimension size")
    return keys, axes


def _out_array_shape(count: NDArray[Any]) -> list[Any]:
    """The shape of what a read returns, before the axes of integers are dropped, from the `count` of its boxes."""
    box_counts = count.shape[:-1]
    first = count.reshape(-1, count.shape[-1])[0] if count.size else None
    return [
        first[axis] if boxes == 1 and first is not None else boxes for axis, boxes in enumerate(box_counts)
    ]


def _find_dim(grp: Any, dimname: str) -> Any:
    """The dimension of that name that is in scope in a group: its own, or that of the nearest parent.

    Raises `ValueError` where there is none.
    """
    scope = grp
    while scope is not None:
        found = scope.dimensions.get(dimname)
        if found is not None:
            return found
        scope = getattr(scope, "parent", None)
    raise ValueError(f"cannot find dimension {dimname} in this group or parent groups")


class _Target:
    """The variable that is selected from: its shape, and which of its dimensions a write may make longer."""

    def __init__(self, shape: tuple[int, ...], dimensions: Sequence[str] | None, grp: Any, put: bool) -> None:
        self.shape, self.rank, self.put = shape, len(shape), put
        self.dimensions, self.group = dimensions, grp
        found = [self.dimension(axis) for axis in range(self.rank)] if put and dimensions else []
        self._unlimited = [bool(dimension.isunlimited()) for dimension in found]
        self.has_unlimited = any(self._unlimited)
        # The reference looks at the last dimension when it decides whether a scalar makes a first record.
        self.last_is_empty = bool(found) and hasattr(found[-1], "__len__") and len(found[-1]) == 0

    def dimension(self, axis: int) -> Any:
        return _find_dim(self.group, (self.dimensions or ())[axis])

    def grows(self, axis: int) -> bool:
        # Of too many keys, which are refused later, some are before the first axis.
        return -len(self._unlimited) <= axis < len(self._unlimited) and self._unlimited[axis]


def _as_keys(elem: Any, rank: int) -> list[Any]:
    """One key per axis; a lone array or list of integers selects along the first axis."""
    if not np.iterable(elem):
        return [elem]
    is_one_list = type(elem) is np.ndarray or (type(elem) is not tuple and all(map(_is_int, elem)))
    return [elem, *[slice(None)] * (rank - 1)] if is_one_list else list(elem)


def _normalised(keys: Sequence[Any], target: _Target, use_get_vars: bool) -> Iterator[Any]:
    """Each key as an integer, a slice, an ellipsis or an array of integers that are not negative."""
    if sum(key is Ellipsis for key in keys) > 1:
        raise IndexError("At most one ellipsis allowed in a slicing expression")
    axis = 0
    for key in keys:
        if key is Ellipsis:
            axis += 1 + target.rank - len(keys)
            yield key
            continue
        if type(key) is slice:
            yield key if use_get_vars else _strided(key, axis, target)
        else:
            yield _index(key, axis, target)
        axis += 1


def _index(key: Any, axis: int, target: _Target) -> Any:
    """An integer, or an array of integers."""
    if type(key) in (str, bytes):
        return _as_integer(key)
    array = np.asarray(key)
    if array.ndim > 1:
        raise IndexError("Index cannot be multidimensional")
    if array.ndim == 1 and array.dtype.kind == "b":
        if not target.grows(axis) and target.shape[axis] != len(array):
            raise IndexError("\nBoolean array must have the same shape as the data along this dimension.")
        array = np.flatnonzero(array)
    if array.ndim == 1 and array.dtype.kind == "i":
        return _index_list(array.astype(np.intp, copy=False), axis, target)
    if array.ndim == 0 and array.dtype.kind == "f" and (not np.isfinite(array) or array != np.floor(array)):
        raise IndexError(_INVALID_INDEX)
    return _as_integer(key)


def _as_integer(key: Any) -> int:
    try:
        return int(key)
    except (TypeError, ValueError, OverflowError) as error:
        raise IndexError(_INVALID_INDEX) from error


def _index_list(indices: NDArray[np.intp], axis: int, target: _Target) -> NDArray[np.intp]:
    length = target.shape[axis]
    if not indices.size:
        return indices
    low, high = int(indices.min()), int(indices.max())
    if low < -length:
        raise IndexError("integer index out of range")
    if not target.grows(axis) and high >= length:
        raise IndexError("integer index exceeds dimension size")
    return np.where(indices < 0, indices + length, indices) if low < 0 else indices


def _strided(key: slice, axis: int, target: _Target) -> Any:
    """A slice with steps as a list of indices: what `use_nc_get_vars(False)` requests.

    A slice that leaves the dimension remains one, and is clipped like all others.
    """
    if key.step in (None, -1, 1) or target.dimensions is None or target.group is None:
        return key
    length = len(target.dimension(axis))
    stop = length if key.stop is None else key.stop + length if key.stop < 0 else key.stop
    try:
        indices = np.arange(key.start or 0, stop, key.step, dtype=np.intp)
    except ZeroDivisionError:
        return key
    is_inside = indices.size > 0 and indices.min() >= 0 and (target.grows(axis) or indices.max() < length)
    return indices if is_inside else key


def _simplified(key: Any, use_get_vars: bool) -> Any:
    """An index list as the slice that selects the same, where there is one."""
    if not isinstance(key, np.ndarray):
        return key
    if len(key) < 2:
        return slice(key[0], key[0] + 1, 1) if len(key) else slice(0, 0, 1)
    step = key[1] - key[0]
    is_slice = step > 0 and (use_get_vars or step == 1) and key[-1] - key[0] == step * (len(key) - 1)
    # Comparing the ends excludes most lists that are not slices.
    is_slice = is_slice and bool((key[1:] - key[:-1] == step).all())
    return slice(key[0], key[-1] + 1, step) if is_slice else key


def _with_all_axes(keys: list[Any], rank: int) -> list[Any]:
    """The keys with the ellipsis written out, or one assumed at the end."""
    gap = next((place for place, key in enumerate(keys) if key is Ellipsis), None)
    before, after = (keys, []) if gap is None else (keys[:gap], keys[gap + 1 :])
    keys = [*before, *[slice(None)] * (rank - len(before) - len(after)), *after]
    if len(keys) > rank:
        raise ValueError("slicing expression exceeds the number of dimensions of the variable")
    return keys


def _aligned_datashape(
    keys: list[Any], datashape: Sequence[int] | None, target: _Target
) -> Sequence[int] | None:
    """The shape of the data with a length of 0 for each axis that an integer selects, where it has none for them."""
    if not datashape:
        return datashape
    is_whole = all(type(key) is slice and key == slice(None) for key in keys)
    if is_whole and target.put and not target.has_unlimited:
        datashape = np.broadcast_shapes(target.shape, tuple(datashape))
    if len(datashape) == len(keys):
        return datashape
    # Index lists have an axis in the data only where nothing is selected.
    is_empty = any(type(key) is slice and _selects_nothing(key, axis, target) for axis, key in enumerate(keys))
    lengths = sum(type(key) is slice or (is_empty and np.iterable(key)) for key in keys)
    if len(datashape) != lengths:
        return datashape
    aligned: list[int] = []
    position = 0
    for key in keys:
        if type(key) is slice or np.iterable(key):
            aligned.append(datashape[position])
            position += 1
        else:
            aligned.append(0)
    return tuple(aligned)


def _selects_nothing(key: slice, axis: int, target: _Target) -> bool:
    length = target.shape[axis]
    if target.grows(axis):
        if key.stop is None:
            return False
        length = max(length, key.stop)
    return not range(*key.indices(length))


@dataclass(frozen=True, slots=True)
class AxisBox:
    """What a key selects along its axis, as one box."""

    start: int
    count: int
    stride: int
    # `slice(None)`, 0 for an index list, -1 for an integer.
    place: Any


def _axis_box(axis: int, key: Any, datashape: Sequence[int] | None, target: _Target) -> AxisBox:
    if type(key) is slice:
        start, stop, step = key.indices(_slice_length(key, axis, datashape, target))
        return AxisBox(start, len(range(start, stop, step)), step, slice(None))
    if isinstance(key, np.ndarray):
        return AxisBox(int(key[0]), len(key), 1, 0)
    if key < -target.shape[axis]:
        raise IndexError("Index out of range")
    return AxisBox(key if key >= 0 else key + target.shape[axis], 1, 1, -1)


def _slice_length(key: Any, axis: int, datashape: Sequence[int] | None, target: _Target) -> int:
    """The length of the axis that a slice is resolved against: that after the write, where it grows."""
    length = target.shape[axis]
    if not target.grows(axis):
        return length
    if key.stop is not None and key.stop > length:
        return int(key.stop)
    if datashape == ():
        return 1 if target.last_is_empty else length
    if key.stop is not None:
        return length
    if datashape is None or axis >= len(datashape):
        raise IndexError("shape of data does not conform to slice")
    return int(key.start or 0) + datashape[axis]


def _boxes(axes: list[AxisBox], keys: list[Any]) -> tuple[NDArray[Any], ...]:
    """The four arrays, over all combinations of the elements of index lists."""
    rank, is_empty = len(axes), any(box.count == 0 for box in axes)
    lists = {} if is_empty else {axis: key for axis, key in enumerate(keys) if isinstance(key, np.ndarray)}
    form = [*(len(lists[axis]) if axis in lists else 1 for axis in range(rank)), rank]
    start, count, stride = (np.empty(form, dtype=np.intp) for _ in range(3))
    place = np.empty(form, dtype=object)
    for axis, box in enumerate(axes):
        start[..., axis], count[..., axis], stride[..., axis] = box.start, box.count, box.stride
        place[..., axis] = box.place
    for axis, indices in lists.items():
        along = [-1 if other == axis else 1 for other in range(rank)]
        start[..., axis] = indices.reshape(along)
        place[..., axis] = np.arange(len(indices)).reshape(along)
        count[..., axis] = 1
    return start, count, stride, place


def _is_int(value: Any) -> bool:
    """Whether it equals an integer."""
    try:
        return bool(int(value) == value)
    except (TypeError, ValueError, OverflowError):
        return False
