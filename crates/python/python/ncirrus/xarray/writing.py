"""Writing of xarray's objects to every kind of dataset: `ds.ncirrus.to(...)`, and `save`."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import xarray as xr
from xarray import conventions

import ncirrus
from ncirrus.xarray import appending, blocks, defining
from ncirrus.xarray.store import NcirrusStore, NcirrusTarget

_MODES = ("w-", "w", "a", "a-", "r+")
_NAMELESS_ARRAY = "__xarray_dataarray_variable__"
_ARRAY_NAME = "__xarray_dataarray_name__"


def save(
    obj: xr.Dataset | xr.DataArray | xr.DataTree,
    url: Any,
    *,
    mode: str | None = None,
    kind: str | None = None,
    dialect: str | None = None,
    group: str | None = None,
    encoding: Mapping[Any, Any] | None = None,
    unlimited_dims: Iterable[Hashable] | Mapping[str, Iterable[Hashable]] | None = None,
    append_dim: Hashable | None = None,
    region: Mapping[str, slice | str] | str | None = None,
    align: str = "error",
    compute: bool = True,
    progress: Any = None,
    session: ncirrus.Session | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Writes a Dataset, DataArray or DataTree to a dataset of any kind, with the arguments of `to_zarr`.

    `mode` is `w-` (create it; an existing target is an error), `w` (replace), `a` (change it, and add what does not
    exist), `a-` (append only what has `append_dim`) or `r+` (only values of existing variables). By default it is
    `a` with `append_dim`, `r+` with `region` and `w-` otherwise. The address determines the default of `kind`; `dialect="plain"`
    leaves out what NCZarr adds to Zarr (`_nczarr_array` and the like, which xarray's engine `zarr` shows as attributes).
    Blocks of Dask that share a stored chunk are an error, or are regrouped with `align="rechunk"`.

    A new dataset appears when all of it is written, or not at all. With `compute=False` the result is a
    `dask.delayed.Delayed` that writes and finishes. Values that the kind cannot store, and appends that do not fit what
    is stored, raise errors with the value before anything is written.
    """
    mode = _mode_for(mode, append_dim, region)
    if align not in ("error", "rechunk"):
        raise ValueError(f"align={align!r}: one of 'error' and 'rechunk'")
    nodes, encodings_of, unlimited_of = _nodes(obj, encoding, unlimited_dims)
    places = {"group": group, "kind": kind, "dialect": dialect, "session": session, "storage_options": storage_options}
    task = SaveTask(url, mode, nodes, encodings_of, unlimited_of, append_dim, region, places)
    return task.run(blocks.BlockWriter(align=align, progress=progress, again=None if compute else task))


class SaveTask:
    """All that is asked of one call of `save`. It travels, so that another process can finish it."""

    def __init__(
        self,
        url: Any,
        mode: str,
        nodes: dict[str, xr.Dataset],
        encodings_of: dict[str, Any],
        unlimited_of: dict[str, Any],
        append_dim: Hashable | None,
        region: Any,
        places: dict[str, Any],
    ) -> None:
        self.url: Any = url
        self.mode: str = mode
        self.nodes: dict[str, xr.Dataset] = nodes
        self.places: dict[str, Any] = places
        self._encodings_of, self._unlimited_of = encodings_of, unlimited_of
        self._append_dim, self._region = append_dim, region

    def run(self, writer: blocks.BlockWriter) -> Any:
        """Makes the definitions, and lets the writer write the values."""
        open_mode = {"w": "w", "w-": "w-", "r+": "r+"}.get(self.mode, "a")
        store = NcirrusStore.open(self.url, open_mode, **self.places)
        with store.all_or_nothing_and_close():
            for path, dataset in self.nodes.items():
                node = store if path in ("", "/", ".") else store.get_child_store(path)
                job = _Job(node, self.mode, self._append_dim, self._region, writer)
                job.write(dataset, self._encodings_of.get(path) or {}, self._unlimited_of.get(path))
            return writer.finish(store)

    def without_blocks(self) -> SaveTask:
        """The same with arrays of Dask that have the shape and type only: their values come from elsewhere."""
        import dask.array

        nodes = {}
        for path, dataset in self.nodes.items():
            nodes[path] = bare = dataset.copy()
            for variable in bare.variables.values():
                if blocks.is_dask(variable.data):
                    made = dask.array.zeros(variable.shape, dtype=variable.dtype, chunks=variable.data.chunks)
                    variable.data = made
        url = self.url
        if isinstance(url, str | os.PathLike) and "://" not in os.fspath(url):
            url = os.path.abspath(url)
        words = (self._encodings_of, self._unlimited_of, self._append_dim, self._region, self.places)
        return SaveTask(url, self.mode, nodes, *words)


def _mode_for(mode: str | None, append_dim: Any, region: Any) -> str:
    if mode is None:
        mode = "a" if append_dim is not None else "r+" if region is not None else "w-"
    if mode not in _MODES:
        raise ValueError(f"mode={mode!r}: one of {', '.join(_MODES)}")
    if append_dim is not None and mode not in ("a", "a-"):
        raise ValueError(f"append_dim={append_dim!r} needs mode='a' or 'a-', not {mode!r}")
    if region is not None and mode not in ("a", "a-", "r+"):
        raise ValueError(f"region={region!r} needs mode='a', 'a-' or 'r+', not {mode!r}")
    return mode


def _nodes(
    obj: Any, encoding: Mapping[Any, Any] | None, unlimited: Any
) -> tuple[dict[str, xr.Dataset], dict[str, Any], dict[str, Any]]:
    """The datasets to be written by the path of their group, with what was asked for each."""
    if isinstance(obj, xr.DataTree):
        nodes = {}
        for path, node in obj.subtree_with_keys:
            nodes["/" if path == "." else f"/{path}"] = node.to_dataset(inherit=path == ".")
        strange = set(encoding or {}) - set(nodes)
        if strange:
            raise ValueError(f"unexpected encoding group name(s) provided: {strange}")
        return nodes, dict(encoding or {}), dict(unlimited or {})
    if isinstance(obj, xr.DataArray):
        obj = _as_dataset(obj)
    if not isinstance(obj, xr.Dataset):
        raise TypeError(f"a Dataset, DataArray or DataTree is written, not {type(obj).__name__}")
    for name, words in (encoding or {}).items():
        if not isinstance(words, Mapping):
            raise ValueError(f"encoding[{name!r}] must be castable to a dictionary, not {words!r}")
    return {"/": obj}, {"/": encoding}, {"/": unlimited}


def _as_dataset(array: xr.DataArray) -> xr.Dataset:
    """A DataArray as `DataArray.to_netcdf` stores it."""
    if array.name is None:
        return array.to_dataset(name=_NAMELESS_ARRAY)
    if array.name in array.coords or array.name in array.dims:
        dataset = array.to_dataset(name=_NAMELESS_ARRAY)
        dataset.attrs[_ARRAY_NAME] = array.name
        return dataset
    return array.to_dataset()


class _Job:
    """What is written into one group."""

    def __init__(self, store: NcirrusStore, mode: str, append_dim: Any, region: Any, writer: Any) -> None:
        self.store = store
        self.mode = mode
        self.append_dim = append_dim
        self.region = region
        self.writer = writer
        self.existing = dict(store.ds.variables) if mode not in ("w", "w-") else {}

    def write(self, dataset: xr.Dataset, encoding: Mapping[Any, Any], unlimited: Any) -> None:
        _check_names(dataset)
        clashing = [name for name in encoding if name in self.existing]
        if clashing:
            raise ValueError(f"variable {clashing[0]!r} already exists, but encoding was provided")
        dataset, region = appending.settled_region(self, dataset)
        variables, attributes = conventions.encode_dataset_coordinates(dataset)
        for name, words in encoding.items():
            if name not in variables:
                raise KeyError(f"encoding names {name!r}, which is not a variable of the dataset")
            variables[name].encoding = dict(words)
        strange = [name for name in variables if name not in self.existing]
        if self.mode == "r+" and strange:
            raise ValueError(f"dataset contains non-pre-existing variables {strange!r}, which mode='r+' does not allow")
        if self.append_dim is not None:
            appending.check_append_dim(self, dataset)
        new = {name: variables[name] for name in variables if name not in self.existing}
        old = {name: variables[name] for name in variables if name in self.existing}
        unlimited = _unlimited(dataset, unlimited)
        offsets = appending.checked(self, old, region)
        if self.append_dim is not None and offsets:
            appending.let_grow(self)
        prepared = self._define(new, attributes, unlimited, set(encoding))
        for name, (variable, offset) in offsets.items():
            if self.mode == "a-" and self.append_dim is not None and self.append_dim not in variable.dims:
                continue
            goes_on = self.append_dim is not None and self.append_dim in variable.dims
            if goes_on:
                appending.grow_uneven(self, name, variable, offset)
            target = NcirrusTarget(self.store, name, variable.shape, offset, is_new_data=goes_on)
            self.writer.add(target, variable.data)
        for target, source in prepared:
            self.writer.add(target, source)

    def _define(
        self, variables: dict[Any, Any], attributes: Mapping[str, Any], unlimited: Any, checked: set[Any]
    ) -> list[Any]:
        store = self.store
        variables, attributes = store.encode(variables, dict(attributes))  # type: ignore[no-untyped-call]
        if self.mode != "r+":
            store.set_attributes(attributes)  # type: ignore[no-untyped-call]
            shapes = {name: variable for name, variable in variables.items()}
            store.set_dimensions(shapes, unlimited_dims=unlimited)  # type: ignore[no-untyped-call]
        prepared = []
        for name, variable in variables.items():
            stored_name = defining.NAMELESS if name is None else name
            blocks.propose_chunks(store, variable)
            prepared.append(
                store.prepare_variable(stored_name, variable, name in checked, unlimited_dims=unlimited)
            )
        return prepared


def _check_names(dataset: xr.Dataset) -> None:
    for name in dataset.variables:
        if name is not None and (not isinstance(name, str) or not name):
            raise TypeError(f"Invalid name {name!r} for a variable: it must be a string of at least one character")


def _unlimited(dataset: xr.Dataset, unlimited: Any) -> set[Any]:
    told = unlimited is not None
    names = unlimited if told else dataset.encoding.get("unlimited_dims", ())
    names = {names} if isinstance(names, str) else set(names)
    strange = names - set(dataset.dims)
    if told and strange:
        raise ValueError(f"unlimited_dims names {strange!r}, which the dataset lacks: it has {list(dataset.dims)!r}")
    return names - strange


class NcirrusAccessor:
    """`obj.ncirrus.to(url, ...)` on Datasets, DataArrays and DataTrees: see `save`."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def to(self, url: Any, **words: Any) -> Any:
        return save(self._obj, url, **words)

    to.__doc__ = save.__doc__


for _register in (
    xr.register_dataset_accessor,
    xr.register_dataarray_accessor,
    getattr(xr, "register_datatree_accessor", None),
):
    if _register is not None:
        _register("ncirrus")(NcirrusAccessor)


def _enter_writeable_stores() -> None:
    """Makes `to_netcdf(engine="ncirrus")` work, where xarray keeps a table of writers."""
    try:
        from xarray.backends.writers import WRITEABLE_STORES
    except ImportError:
        try:
            from xarray.backends.api import WRITEABLE_STORES  # type: ignore[attr-defined,no-redef]
        except ImportError:
            return
    WRITEABLE_STORES["ncirrus"] = NcirrusStore.open  # type: ignore[index]


_enter_writeable_stores()
