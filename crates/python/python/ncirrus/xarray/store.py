"""A group of a dataset as xarray's data store: read lazily, and written by `to_netcdf(engine="ncirrus")` and `to`."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import IOBase
from typing import Any, cast

import numpy as np
from xarray import Variable as XarrayVariable
from xarray.backends.common import ArrayWriter, WritableCFDataStore
from xarray.backends.netcdf3 import encode_nc3_attr_value, encode_nc3_variable
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder
from xarray.core.utils import FrozenDict

import ncirrus
from ncirrus.xarray import defining, reading

# What `to_netcdf(format=...)` calls the kinds.
FORMATS = {
    "NETCDF3_CLASSIC": "nc3",
    "NETCDF3_64BIT": "nc6",
    "NETCDF3_64BIT_OFFSET": "nc6",
    "NETCDF3_64BIT_DATA": "nc5",
    "NETCDF4_CLASSIC": "nc4c",
    "NETCDF4": "nc4",
}


class SharedHandle:
    """A dataset that several stores use. One that is read is closed by the last of them, one that is written by the
    first, as xarray closes only one store of a tree; a dataset that was handed in stays open."""

    def __init__(self, dataset: Any, *, is_own: bool, finish: Callable[[Any], None] | None = None) -> None:
        self.dataset = dataset
        self.is_written: bool = dataset.dataset.mode != "r"
        self.has_failed = False
        self.is_own = is_own
        self._finish = finish
        self._users = 0
        self._counting = threading.Lock()
        # What was being handled when writing began has nothing to do with it.
        self._outer = sys.exc_info()[1]

    def retain(self) -> SharedHandle:
        """One more user."""
        with self._counting:
            self._users += 1
        return self

    @property
    def is_open(self) -> bool:
        """Whether the dataset may be used."""
        return not self.dataset.dataset.closed

    def release(self) -> None:
        """One user less."""
        with self._counting:
            self._users -= 1
            is_last = self._users == 0 or self.is_written
        if not is_last or not self.is_open:
            return
        if self.is_written and (self.has_failed or sys.exc_info()[1] not in (None, self._outer)):
            self._abandon()
        elif self.is_own:
            self.dataset.close()
            if self._finish is not None:
                self._finish(self.dataset)
        elif self.is_written:
            self.dataset.dataset.sync()

    def _abandon(self) -> None:
        """Lets go of what was not synced: writing failed, and what is there would be a part."""
        with contextlib.suppress(ncirrus.Error):
            self.dataset.dataset.abort()


class FinishedStore:
    """A store whose dataset was written and closed, in another process: there is nothing left to be done with it."""

    def close(self) -> None:
        """Nothing."""

    def sync(self) -> None:
        """Nothing."""


def _travelled(
    dataset: Any, path: str, fill_as_mask: bool | None, dropped: frozenset[str], auto_complex: bool | None
) -> NcirrusStore:
    # Where it arrives, the dataset is shared by all that came from here, and none of them closes it.
    handle = SharedHandle(dataset, is_own=False)
    return NcirrusStore(handle, path, fill_as_mask=fill_as_mask, dropped=dropped, auto_complex=auto_complex)


class NcirrusStore(WritableCFDataStore):
    """A group of a dataset, opened by `NcirrusStore.open`."""

    def __init__(
        self,
        handle: SharedHandle,
        path: str = "/",
        *,
        autoclose: bool = False,
        fill_as_mask: bool | None = None,
        dropped: frozenset[str] = frozenset(),
        reopening: Mapping[str, Any] | None = None,
        auto_complex: bool | None = None,
    ) -> None:
        self._handle = handle.retain()
        self.auto_complex = auto_complex
        self._path = path
        self._is_closed = False
        self._group: Any = None
        self.autoclose = autoclose
        self._fill_as_mask = fill_as_mask
        self._dropped = dropped
        self._reopening = dict(reopening or {})

    @classmethod
    def open(
        cls,
        target: Any,
        mode: str = "r",
        format: str | None = None,
        group: str | None = None,
        clobber: bool = True,
        autoclose: bool = False,
        auto_complex: bool | None = None,
        *,
        kind: str | None = None,
        dialect: str | None = None,
        session: ncirrus.Session | None = None,
        storage_options: Mapping[str, Any] | None = None,
        consolidated: bool | None = None,
        raw: bool = False,
        lenient: bool = False,
        zarr_fill_as_mask: bool | None = None,
        drop_variables: str | Iterable[str] | None = None,
    ) -> NcirrusStore:
        """Opens a dataset to be read (`r`), changed (`r+`, `a`: made where there is none) or made (`w`; `w-` and
        `clobber=False`: only where there is none). Called as `NetCDF4DataStore.open` is; complex numbers are read
        and written unless `auto_complex` is false: then they are read as compounds, and not written."""
        if group is not None and not isinstance(group, str):
            raise ValueError(f"group must be a string or None, not {group!r}")
        places = {"session": session, "storage_options": storage_options}
        places = {name: value for name, value in places.items() if value is not None}
        options = {"consolidated": consolidated, "raw": raw or None, "lenient": lenient or None}
        options = {name: value for name, value in options.items() if value is not None}
        if mode == "r":
            handle = _opened(target, places | options)
        else:
            kind = kind or _kind_of(target, format)
            overwrite = clobber and mode == "w"
            made = {"overwrite": overwrite, **({} if dialect is None else {"dialect": dialect})}
            handle = _writable(target, mode, kind, made, places)
        dropped = (drop_variables,) if isinstance(drop_variables, str) else drop_variables or ()
        root = handle.dataset.path if isinstance(target, ncirrus.Group) and mode == "r" else "/"
        store = cls(
            handle,
            path=_joined(root, group),
            autoclose=autoclose,
            fill_as_mask=zarr_fill_as_mask,
            dropped=frozenset(dropped),
            reopening={"target": target, **places},
            auto_complex=auto_complex,
        )
        try:
            store._enter()
        except BaseException:
            store.close()
            raise
        return store

    # reading

    @property
    def dataset(self) -> Any:
        """The dataset, or the group that it was opened by."""
        return self._handle.dataset

    @property
    def is_own(self) -> bool:
        """Whether the dataset was opened here, and is closed by whoever is done with it."""
        return self._handle.is_own and self._handle._finish is None

    @property
    def ds(self) -> Any:
        """The group, as other stores of xarray call it."""
        if self._group is None:
            self._group = self._enter()
        return self._group

    def _enter(self) -> Any:
        """The group; made where it is not there and the dataset is open for writing."""
        dataset = self._handle.dataset
        found: Any = dataset if self._path == "/" else dataset.dataset
        for name in self._path.strip("/").split("/") if self._path != "/" else ():
            if name in found.groups:
                found = found.groups[name]
            elif dataset.dataset.mode == "r":
                raise OSError(f"{dataset.dataset.url}: group not found: {self._path}")
            elif self.is_classic:
                raise ValueError(f"Cannot create sub-groups in `{dataset.dataset._known_kind.data_model}` format: {self._path!r}")
            else:
                found = found.create_group(name)
        self._group = found
        return found

    def get_child_store(self, group: str) -> NcirrusStore:
        """The store of a group below this one; the group is created if it does not exist."""
        store = NcirrusStore(
            self._handle,
            _joined(self._path, group),
            autoclose=self.autoclose,
            fill_as_mask=self._fill_as_mask,
            dropped=self._dropped,
            reopening=self._reopening,
            auto_complex=self.auto_complex,
        )
        store._enter()
        return store

    def walk(self) -> Iterator[tuple[str, NcirrusStore]]:
        """This group as an empty path, and every group below it by its path; each is closed by itself."""
        yield "", self
        for path in _paths_below(self.ds):
            store = NcirrusStore(
                self._handle,
                _joined(self._path, path),
                fill_as_mask=self._fill_as_mask,
                dropped=self._dropped,
                auto_complex=self.auto_complex,
            )
            yield path, store

    def get_variables(self) -> Any:
        """Variables that can be read, undecoded."""
        found = reading.variables_of(
            self.ds,
            fill_as_mask=self._fill_as_mask,
            dropped=self._dropped,
            keeps_pairs=self.auto_complex is False,
        )
        return FrozenDict(found)

    def get_attrs(self) -> Any:
        """Attributes of the group."""
        return FrozenDict(reading.attributes_of(self.ds.attrs))

    def get_dimensions(self) -> Any:
        """The group's own dimensions with their lengths."""
        return FrozenDict({name: len(dim) for name, dim in self.ds.dims.items()})

    def get_parent_dimensions(self) -> Any:
        """Dimensions that the group sees in groups above it; the nearest of a name."""
        seen: dict[str, int] = {}
        for above in self._groups_above():
            for name, dim in above.dims.items():
                seen.setdefault(name, len(dim))
        return FrozenDict(seen)

    def _groups_above(self) -> list[Any]:
        names = self._path.strip("/").split("/")[:-1] if self._path != "/" else None
        if names is None:
            return []
        above = [self._handle.dataset.dataset]
        for name in names:
            above.append(above[-1].groups[name])
        return above[::-1]

    def get_encoding(self) -> dict[str, Any]:
        """Which of the dimensions grow, and where the dataset is."""
        unlimited = {name for name, dim in self.ds.dims.items() if dim.is_unlimited}
        return {"unlimited_dims": unlimited}

    # writing

    @property
    def is_classic(self) -> bool:
        """Whether the dataset keeps to the classic model: no groups, no strings, few types."""
        return bool(self._handle.dataset.dataset._is_classic)

    def set_dimension(self, name: str, length: int, is_unlimited: bool = False) -> None:
        """Adds a dimension to the group."""
        defining.check_name(name)
        # A length of nothing means unlimited in netCDF-3, whoever writes it.
        is_unlimited = is_unlimited or (length == 0 and self.is_classic)
        self.ds.create_dimension(name, None if is_unlimited else int(length))

    def set_attribute(self, key: str, value: Any) -> None:
        """Sets an attribute of the group."""
        self.ds.attrs[key] = self.attribute(value)

    def attribute(self, value: Any) -> Any:
        """An attribute's value as the dataset can hold it."""
        return defining.attribute(encode_nc3_attr_value(value) if self.is_classic else value)

    def encode_variable(self, variable: XarrayVariable, name: str | None = None) -> XarrayVariable:
        """A variable in types that the dataset has."""
        variable = defining.in_native_order(variable)
        if self.is_classic:
            return cast("XarrayVariable", encode_nc3_variable(variable, name=name))
        for coder in (EncodedStringCoder(allows_unicode=True), CharacterArrayCoder()):
            variable = coder.encode(variable, name=name)
        return variable

    def prepare_variable(
        self, name: str, variable: XarrayVariable, check_encoding: bool = False, unlimited_dims: Any = None
    ) -> tuple[NcirrusTarget, Any]:
        """Defines a variable; gives where its values go, and the values."""
        variable = defining.define(
            self, name, variable, check_encoding=check_encoding, unlimited_dims=unlimited_dims or ()
        )
        return NcirrusTarget(self, name, variable.shape), variable.data

    def set_variables(
        self, variables: Any, check_encoding_set: Any, writer: ArrayWriter, unlimited_dims: Any = None
    ) -> None:
        """Defines all variables, then writes them: a header that is known needs no moving."""
        prepared = []
        for name, variable in variables.items():
            name = defining.NAMELESS if name is None else name
            check = name in check_encoding_set
            prepared.append(self.prepare_variable(name, variable, check, unlimited_dims=unlimited_dims))
        for target, source in prepared:
            writer.add(source, target)

    def store(self, *arguments: Any, **words: Any) -> None:
        """As other stores; when it fails, nothing of it is kept."""
        with self.all_or_nothing():
            super().store(*arguments, **words)  # type: ignore[no-untyped-call]

    @contextlib.contextmanager
    def all_or_nothing_and_close(self) -> Iterator[None]:
        """As `all_or_nothing`, and the dataset is let go of at once when the work fails."""
        try:
            with self.all_or_nothing():
                yield
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Work after which the dataset is abandoned if it fails."""
        try:
            yield
        except BaseException:
            self._handle.has_failed = True
            raise

    def sync(self) -> None:
        """Publishes what was written to an existing dataset; a new one appears when it is closed."""
        dataset = self._handle.dataset.dataset
        if self._handle.is_open and not self._handle.has_failed and dataset.mode == "r+":
            dataset.sync()

    def close(self) -> None:
        """Ends the use of the dataset; one that was written is published, unless writing failed."""
        if not self._is_closed:
            self._is_closed = True
            self._handle.release()

    def variable(self, name: str) -> Any:
        """A variable of the group; of a store that was closed, for tasks that run afterwards, through a new handle."""
        return self.ds.variables[name]

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._handle.is_written:
            known = (self._fill_as_mask, self._dropped, self.auto_complex)
            return (_travelled, (self._handle.dataset, self._path, *known))
        if not self._handle.is_open:
            return (FinishedStore, ())
        url = self._handle.dataset.dataset.url
        raise TypeError(
            f"{url} is open for writing, and does not travel to another process: what is computed later is written by "
            "threads of the process that opened it (scheduler='threads'), unless it is a tree, or compute=True"
        )

    def __enter__(self) -> NcirrusStore:
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is not None:
            self._handle.has_failed = True
        self.close()


class NcirrusTarget:
    """Where the values of a variable go; in another process, through a handle that is opened for each piece."""

    def __init__(
        self,
        store: NcirrusStore,
        name: str,
        shape: Sequence[int],
        offset: Sequence[int] | None = None,
        *,
        is_new_data: bool = True,
    ) -> None:
        self._store: NcirrusStore | None = store
        self._reopening = store._reopening if store.autoclose else None
        self._path = store._path
        self.name = name
        # Whether the chunks held nothing before, but the first ones along an axis that grows.
        self.is_new_data = is_new_data
        self._lock: Any = None
        self._meter: Any = None
        self.shape: tuple[int, ...] = tuple(shape)
        self.ndim: int = len(self.shape)
        self.offset: tuple[int, ...] = tuple(offset) if offset is not None else (0,) * self.ndim
        if self._reopening is not None:
            from xarray.backends.locks import get_write_lock

            self._lock = get_write_lock(str(self._reopening["target"]))

    @property
    def path(self) -> str:
        """Path of the variable."""
        return f"{self._path.rstrip('/')}/{self.name}"

    def counted(self, meter: Any) -> NcirrusTarget:
        """The same place, where a meter counts what is written."""
        target = object.__new__(NcirrusTarget)
        target.__dict__.update(self.__dict__, _meter=meter)
        return target

    def grid(self) -> tuple[Sequence[int] | None, tuple[str, ...]]:
        """Lengths of the stored objects, shards or chunks, if it has any, and the dimensions."""
        assert self._store is not None
        variable = self._store.variable(self.name)
        uneven = variable.chunk_lengths
        if uneven is not None:
            # Along an axis whose chunks differ, an append adds one chunk: it is one block.
            ends = [max(begin + length, now) for begin, length, now in zip(self.offset, self.shape, variable.shape)]
            is_even = [len(axis) > 1 and len(set(axis)) == 1 for axis in uneven]
            return tuple(axis[0] if even else end for axis, even, end in zip(uneven, is_even, ends)), tuple(variable.dims)
        # A shard of which several blocks write parts would be read and replaced by each of them.
        return variable.shards or variable.chunks, tuple(variable.dims)

    def __setitem__(self, key: Any, values: Any) -> None:
        store = self._store
        values = np.asarray(values)
        if store is not None and store._handle.is_open:
            with store.all_or_nothing():
                self._write(store.variable(self.name), key, values)
        elif self._reopening is not None:
            with self._lock, NcirrusStore.open(**self._reopening, mode="r+") as reopened:
                group = reopened.get_child_store(self._path) if self._path != "/" else reopened
                self._write(group.variable(self.name), key, values)
        else:
            raise ValueError(f"{self._path.rstrip('/')}/{self.name}: its dataset was closed before it was written")
        if self._meter is not None:
            self._meter.add(values.nbytes)

    def _write(self, variable: Any, key: Any, values: Any) -> None:
        variable.write(self._selection(key), defining.values_for(variable, values))

    def _selection(self, key: Any) -> Any:
        """Slices with both ends: a dimension that grows is as long as what is written."""
        key = key if isinstance(key, tuple) else (key,)
        if Ellipsis in key:
            at = key.index(Ellipsis)
            filling = (slice(None),) * (self.ndim - len(key) + 1)
            key = key[:at] + filling + key[at + 1 :]
        key += (slice(None),) * (self.ndim - len(key))
        return tuple(
            _moved(index, length, start) for index, length, start in zip(key, self.shape, self.offset)
        )

    def __getstate__(self) -> dict[str, Any]:
        if self._reopening is None:
            message = (
                "a dataset that is open for writing does not travel to another process: "
                "write with ds.ncirrus.to(...), which joins the workers to it"
            )
            raise TypeError(message)
        return {**self.__dict__, "_store": None, "_meter": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _moved(index: Any, length: int, start: int) -> Any:
    if isinstance(index, slice):
        first, last, step = index.indices(length)
        return slice(first + start, last + start, step)
    return int(index) + start


def _opened(target: Any, options: dict[str, Any]) -> SharedHandle:
    if isinstance(target, ncirrus.Group):
        return SharedHandle(target, is_own=False)
    return SharedHandle(ncirrus.open(target, **options), is_own=True)


def _writable(
    target: Any, mode: str, kind: str | None, made: dict[str, Any], places: dict[str, Any]
) -> SharedHandle:
    """A dataset that is made or changed; where it shall end up in memory, it is handed over when it is closed."""
    if isinstance(target, ncirrus.Group):
        return SharedHandle(target, is_own=False)
    if hasattr(target, "getvalue") and hasattr(target, "getbuffer") and not isinstance(target, IOBase):
        return SharedHandle(ncirrus.create(None, kind, **made, **places), is_own=True, finish=_HandOver(target))
    if isinstance(target, IOBase) or hasattr(target, "write"):
        return SharedHandle(ncirrus.create(None, kind, **made, **places), is_own=True, finish=_WriteOut(target))
    if target is None:
        raise TypeError("a dataset is written to an address, a path, a file object or a store, not to None")
    if mode in ("r+", "a"):
        try:
            return SharedHandle(ncirrus.open(target, "r+", **places), is_own=True)
        except FileNotFoundError:
            if mode == "r+":
                raise
    return SharedHandle(ncirrus.create(target, kind, **made, **places), is_own=True)


class _HandOver:
    """Gives the finished bytes to xarray's proxy of a file in memory."""

    def __init__(self, proxy: Any) -> None:
        self._proxy = proxy

    def __call__(self, dataset: Any) -> None:
        value = dataset.finish_bytes()
        self._proxy.getvalue = lambda: value


class _WriteOut:
    """Writes the finished bytes to a file object, from its beginning; the file stays open."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __call__(self, dataset: Any) -> None:
        self._file.seek(0)
        self._file.write(dataset.finish_bytes())
        self._file.truncate()
        self._file.flush()


def _kind_of(target: Any, format: str | None) -> str | None:
    """The kind that `format` names; without one, the kind of the address, and netCDF-4 if that says netCDF only."""
    if format is not None:
        try:
            return FORMATS[format.upper()]
        except KeyError:
            raise ValueError(f"unknown format for netCDF: {format!r}: one of {', '.join(FORMATS)}") from None
    if not isinstance(target, str | os.PathLike):
        return "nc4"
    bare, _, fragment = os.fspath(target).partition("#")
    ending = os.path.splitext(bare.rstrip("/"))[1].lower()
    if fragment or ending in (".zarr", ".nczarr", ".zip", ".nc3", ".nc5", ".nc6"):
        return None
    return "nc4"


def _joined(path: str, group: str | None) -> str:
    names = [name for part in (path, group or "") for name in part.split("/") if name]
    return "/" + "/".join(names)


def _paths_below(group: Any, above: str = "") -> Iterator[str]:
    for name, below in group.groups.items():
        path = f"{above}/{name}" if above else name
        yield path
        yield from _paths_below(below, path)

