"""Variables that continue through several files: what `MFDataset` and `MFTime` are made of."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus.netCDF4.constants import class_of
from ncirrus.netCDF4.orthogonal import _find_dim, by_axis

# Files that are opened at the same time.
_CONCURRENT = 16


class Parts:
    """The files of a dataset, and which of their variables continue from one to the next."""

    def __init__(
        self,
        open: Callable[[Any], Any],
        files: Any,
        check: bool = False,
        aggdim: str | None = None,
        exclude: Sequence[str] = (),
        master_file: Any = None,
    ) -> None:
        self.files: list[Any] = _listed(files)
        if master_file is not None and master_file not in self.files:
            raise ValueError("master_file not in files list")
        self.master_name: Any = self.files[0] if master_file is None else master_file
        self.datasets: list[Any] = _opened(open, self.files)
        self.master: Any = self.datasets[self.files.index(self.master_name)]
        try:
            self.dimension: str = self._dimension(aggdim)
            self.names: list[str] = self._names(exclude)
            if check:
                for file, dataset in zip(self.files, self.datasets, strict=True):
                    self._check(file, dataset)
            self.lengths: list[int] = [len(dataset.dimensions[self.dimension]) for dataset in self.datasets]
            self.variables: dict[str, list[Any]] = {
                name: [each.variables[name] for each in self.datasets] for name in self.names
            }
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes all files."""
        for dataset in self.datasets:
            dataset.close()

    def _dimension(self, name: str | None) -> str:
        found = [
            each for each, dimension in self.master.dimensions.items()
            if (dimension.isunlimited() if name is None else each == name)
        ]
        if not found:
            raise OSError(f"master dataset {self.master_name} does not have a aggregation dimension")
        return str(found[-1])

    def _names(self, exclude: Sequence[str]) -> list[str]:
        names = [
            name for name, variable in self.master.variables.items()
            if name not in exclude and tuple(variable.dimensions[:1]) == (self.dimension,)
        ]
        if not names:
            raise OSError(f"master dataset {self.master_name} does not have any variables to aggregate")
        return names

    def _check(self, file: Any, dataset: Any) -> None:
        """Every file defines the same variables in the same way."""
        for name in self.names:
            if name not in dataset.variables:
                raise OSError(f"aggregation variable {name} not defined in {file}")
            first, other = self.master.variables[name], dataset.variables[name]
            for what, one, two in (
                ("dimensions", first.dimensions, other.dimensions),
                ("rank", len(first.shape), len(other.shape)),
                ("shape", first.shape[1:], other.shape[1:]),
                ("data type", first.dtype, other.dtype),
            ):
                if one != two:
                    if what == "shape":
                        one, two = first.shape, other.shape
                    places = f"master {self.master_name} ({one}) and extension {file} ({two})"
                    raise OSError(f"variable {name} : {what} mismatch between {places}")


def _listed(files: Any) -> list[Any]:
    if isinstance(files, str):
        if files.startswith("http"):
            raise ValueError("cannot using file globbing for remote (OPeNDAP) datasets")
        files = sorted(glob(files))
    if not files:
        raise OSError("no files specified (file list is empty)")
    return list(files)


def _opened(open: Callable[[Any], Any], files: Sequence[Any]) -> list[Any]:
    """All files, opened side by side; where one cannot be, the others are closed."""
    with ThreadPoolExecutor(min(_CONCURRENT, len(files))) as pool:
        pending = [pool.submit(open, file) for file in files]
    failed = [each for each in pending if each.exception() is not None]
    if failed:
        for each in pending:
            if each.exception() is None:
                each.result().close()
    return [each.result() for each in failed or pending]


class _Dimension:
    """The dimension along which files are put together."""

    def __init__(self, dimname: str, dim: Any, dimlens: list[int], dimtotlen: int) -> None:
        self.dimlens = dimlens
        self.dimtotlen = dimtotlen
        self._name = dimname

    def __len__(self) -> int:
        return self.dimtotlen

    def isunlimited(self) -> bool:
        """It is, whatever it is in the files."""
        return True

    def __repr__(self) -> str:
        return f'"{class_of(self)}" (unlimited): name = \'{self._name}\', size = {len(self)}'


class _Variable:
    """A variable that is put together along its first dimension; its attributes are the master's."""

    def __init__(self, dset: Any, varname: str, var: Any, recdimname: str) -> None:
        self.dimensions: tuple[str, ...] = var.dimensions
        self._dset = self._grp = dset
        self._mastervar = var
        self._recVar: list[Any] = dset._cdfRecVar[varname]
        self._recdimname = recdimname
        self._recLen: list[int] = dset._cdfVLen
        self.dtype: Any = var.dtype
        self._name = varname
        self.__dict__.update(var.__dict__)

    def typecode(self) -> Any:
        """Type of the values."""
        return self.dtype

    def ncattrs(self) -> list[str]:
        """Names of the master's attributes."""
        return list(self._mastervar.__dict__)

    def __getattr__(self, name: str) -> Any:
        if name == "shape":
            return self._shape()
        if name == "ndim":
            return len(self._shape())
        if name == "name":
            return self._name
        raise AttributeError(name)

    def __repr__(self) -> str:
        lines = [class_of(self), f"{self.dtype} {self._name}{tuple(map(str, self.dimensions))}"]
        lines += [f"    {name}: {self.__dict__[name]}" for name in self.ncattrs()]
        grow = tuple(str(name) for name in self.dimensions if _find_dim(self._grp, name).isunlimited())
        return "\n".join([*lines, f"unlimited dimensions = {grow!r}", f"current size = {self.shape!r}"])

    def __len__(self) -> int:
        return self._shape()[0]

    def _shape(self) -> tuple[int, ...]:
        return (len(self._dset.dimensions[self._recdimname]), *self._mastervar.shape[1:])

    def set_auto_chartostring(self, val: bool) -> None:
        """As of each file's variable."""
        for variable in self._recVar:
            variable.set_auto_chartostring(val)

    def set_auto_maskandscale(self, val: bool) -> None:
        """As of each file's variable."""
        for variable in self._recVar:
            variable.set_auto_maskandscale(val)

    def set_auto_mask(self, val: bool) -> None:
        """As of each file's variable."""
        for variable in self._recVar:
            variable.set_auto_mask(val)

    def set_auto_scale(self, val: bool) -> None:
        """As of each file's variable."""
        for variable in self._recVar:
            variable.set_auto_scale(val)

    def set_always_mask(self, val: bool) -> None:
        """As of each file's variable."""
        for variable in self._recVar:
            variable.set_always_mask(val)

    def __getitem__(self, elem: Any) -> Any:
        keys, axes = by_axis(elem, self._shape())
        if any(box.stride < 0 for box in axes):
            raise IndexError("negative strides not allowed when slicing MFVariable Variable instance")
        records = _records(keys[0], self._shape()[0])
        is_list = isinstance(keys[0], np.ndarray) and records.size
        if is_list and any(box.count == 0 for box in axes[1:]):
            # As there, it is of the type and the rank of its last record.
            [(_, last)] = self._pieces(records[-1:], keys[1:])
            pieces = [(np.arange(records.size), np.repeat(last, records.size, axis=0))]
        else:
            pieces = list(self._pieces(records, keys[1:]))
        joined = _in_order(pieces)
        if is_list:
            # As there, an index list has the type of its last record.
            joined = joined.astype(next(array.dtype for places, array in pieces if records.size - 1 in places))
        # Characters that were joined have lost their last axis.
        dropped = tuple(0 if isinstance(key, int) else slice(None) for key in keys[: joined.ndim])
        values = joined[dropped]
        return values.filled() if ma.isMA(values) and not values.mask.any() else values

    def _pieces(self, records: NDArray[np.intp], rest: Sequence[Any]) -> Iterator[tuple[NDArray[np.intp], Any]]:
        """What each file contributes, with the places of its records in the result."""
        ends = np.cumsum(self._recLen)
        files = np.searchsorted(ends, records, side="right")
        kept = tuple(_kept(key, length) for key, length in zip(rest, self._shape()[1:], strict=True))
        if kept and isinstance(rest[-1], int) and self.dtype == np.dtype("S1"):
            # One character of each text: of a slice, texts would be made.
            kept = (*kept[:-1], rest[-1])
        for file in np.unique(files) if records.size else [0]:
            places = np.flatnonzero(files == file)
            local = records[places] - (ends[file] - self._recLen[file])
            yield places, self._recVar[file][(_as_slice(local), *kept)]


def _records(key: Any, length: int) -> NDArray[np.intp]:
    if isinstance(key, slice):
        return np.arange(*key.indices(length), dtype=np.intp)
    records = np.atleast_1d(np.asarray(key, dtype=np.intp))
    if (records >= length).any():
        raise IndexError("integer index exceeds dimension size")
    return np.where(records < 0, records + length, records)


def _kept(key: Any, length: int) -> Any:
    """A key that keeps its axis."""
    if not isinstance(key, int):
        return key
    start = key + length if key < 0 else key
    return slice(start, start + 1)


def _as_slice(indices: NDArray[np.intp]) -> Any:
    if indices.size == 0:
        return slice(0, 0)
    step = int(indices[1] - indices[0]) if indices.size > 1 else 1
    is_regular = step > 0 and bool((np.diff(indices) == step).all())
    return slice(int(indices[0]), int(indices[-1]) + 1, step) if is_regular else indices


def _in_order(pieces: Sequence[tuple[NDArray[np.intp], Any]]) -> Any:
    """The pieces as one array, records in the order in which they were asked for."""
    arrays = [array for _, array in pieces]
    if any(map(ma.isMA, arrays)):
        data = np.concatenate([ma.getdata(array) for array in arrays])
        # Its fill value is numpy's own for the type, as there.
        joined: Any = ma.array(data, mask=np.concatenate([ma.getmaskarray(array) for array in arrays]))
    else:
        joined = np.concatenate(arrays)
    places = np.concatenate([place for place, _ in pieces])
    return joined if (np.diff(places) > 0).all() else joined[np.argsort(places)]


class MFTime(_Variable):
    """Times of several files in the units, and by the calendar, of one."""

    def __init__(self, time: Any, units: str | None = None, calendar: str | None = None) -> None:
        self.__time = time
        self.__dict__.update(time.__dict__)
        self.calendar: str = self._common_calendar() if calendar is None else calendar
        self.units: str = units or time.units
        self.__delta = self._offsets(time.dtype)

    def _common_calendar(self) -> str:
        if not all(hasattr(part, "calendar") for part in self._recVar):
            raise ValueError(
                "MFTime requires that the time variable in all files have a calendar attribute if no default calendar "
                "is provided."
            )
        calendars = {part.calendar for part in self._recVar}
        if len(calendars) > 1:
            raise ValueError(
                "MFTime requires that the same time calendar is used by all files if no default calendar is provided."
            )
        return str(calendars.pop())

    def _offsets(self, dtype: Any) -> NDArray[Any]:
        """What is added to the times of each record."""
        from cftime import date2num

        date = datetime.datetime(1900, 1, 1)
        common = date2num(date, self.units, self.calendar)
        offsets = [common - date2num(date, part.units, self.calendar) for part in self._recVar]
        return np.repeat(np.array(offsets).astype(dtype), self._recLen)

    def __getitem__(self, elem: Any) -> Any:
        return self.__time[elem] + self.__delta[elem]

