"""Looking into aggregations: read-only views with the `get...` methods of S3netCDF4.

Nothing but the master is opened: a view says which part of a selection lies where, for as many partitions as there are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ncirrus
from ncirrus.netCDF4.orthogonal import by_axis
from ncirrus.s3netcdf4.exceptions import (
    CFADimensionError,
    CFAGroupError,
    CFAPartitionError,
    CFAPartitionIndexError,
    CFAVariableError,
    CFAVariableIndexError,
    raised_as,
)


class Numbers(tuple[Any, ...]):
    """Whole numbers, or rows of them: a tuple that also has `tolist()` and indices of two axes, as arrays have."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key] if isinstance(key, tuple) else super().__getitem__(key)

    def tolist(self) -> list[Any]:
        """As lists."""
        return [each.tolist() if isinstance(each, Numbers) else each for each in self]


class Partition(NamedTuple):
    """A place of the partition matrix: its box of the variable, and the location of its sub-array.

    `location` has the first element and the one past the last along each dimension; `file` is empty where nothing was
    written.
    """

    # A tuple's method of that name is hidden: S3netCDF4's word goes first.
    index: tuple[int, ...]  # type: ignore[assignment]
    location: tuple[tuple[int, int], ...]
    ncvar: str
    file: str
    format: str
    shape: tuple[int, ...]


class Selected(NamedTuple):
    """What of a partition a selection takes, and where that goes in the result: slices, or indices of lists."""

    partition: Partition
    source: tuple[Any, ...]
    target: tuple[Any, ...]


class Metadata(MutableMapping[str, Any]):
    """Attributes. What is put here becomes an attribute of what has them, and what is removed is one no more."""

    def __init__(self, holder: Any) -> None:
        self._holder = holder
        self._values: dict[str, Any] = holder._dictionary()

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._holder.setncattr(name, value)
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        if name not in self._values:
            raise KeyError(name)
        self._holder.delncattr(name)
        del self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class CFADimension:
    """A dimension."""

    def __init__(self, dimension: Any) -> None:
        self._dimension = dimension

    def getName(self) -> str:
        """Simple name."""
        return str(self._dimension.name)

    def getLen(self) -> int:
        """Present length."""
        return len(self._dimension)

    def getAxisType(self) -> str:
        """Kind of axis: one of `T Z Y X N`."""
        return str(self._dimension.axis_type)

    def getType(self) -> Any:
        """Type of the coordinates; none where there are none."""
        coordinate = self._dimension.group().variables.get(self._dimension.name)
        return None if coordinate is None else coordinate.dtype

    def getMetadata(self) -> dict[str, Any]:
        """Attributes of the coordinates."""
        return dict(self._dimension.metadata)

    def dump(self) -> dict[str, Any]:
        """Name, length and attributes."""
        return {"dim_name": self.getName(), "dim_len": self.getLen(), **self.getMetadata()}


class CFAGroup:
    """A group."""

    def __init__(self, group: Any) -> None:
        self._group = group

    @property
    def metadata(self) -> Metadata:
        """Attributes, which may be changed."""
        return Metadata(self._group)

    def __getitem__(self, name: str) -> Any:
        """A variable that lies in sub-arrays, or a dimension; `metadata` are the attributes."""
        if name == "metadata":
            return self.metadata
        if name in self.getVariables():
            return self.getVariable(name)
        if name in self.getDimensions():
            return self.getDimension(name)
        raise CFAGroupError(f"{name} is neither a variable nor a dimension of group: {self.getName()}", path=name)

    def getDataset(self) -> CFADataset:
        """The dataset that it is in."""
        root = self._group
        while root.parent is not None:
            root = root.parent
        return CFADataset(root)

    def getName(self) -> str:
        """Simple name; `root` for the root."""
        return "root" if self._group.path == "/" else str(self._group.name)

    def getMetadata(self) -> dict[str, Any]:
        """Attributes."""
        return dict(self._group._dictionary())

    def getVariables(self) -> list[str]:
        """Names of the variables that lie in sub-arrays."""
        return [name for name, each in self._group.variables.items() if each._owner().is_aggregated]

    def getVariable(self, name: str) -> CFAVariable:
        """A variable that lies in sub-arrays. Raises `CFAVariableError` where there is none."""
        if name not in self.getVariables():
            raise CFAVariableError(f"Variable: {name} does not exist in group: {self.getName()}", path=name)
        return CFAVariable(self._group.variables[name])

    def getDimensions(self) -> list[str]:
        """Names of the dimensions."""
        return list(self._group.dimensions)

    def getDimension(self, name: str) -> CFADimension:
        """A dimension. Raises `CFADimensionError` where there is none."""
        if name not in self._group.dimensions:
            raise CFADimensionError(f"Dimension: {name} does not exist in group: {self.getName()}", path=name)
        return CFADimension(self._group.dimensions[name])


class CFADataset:
    """A dataset."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @property
    def metadata(self) -> Metadata:
        """Global attributes, which may be changed."""
        return Metadata(self._dataset)

    def __getitem__(self, name: str) -> CFAGroup:
        """As `getGroup`."""
        return self.getGroup(name)

    def getName(self) -> str:
        """The address it was opened by."""
        return str(self._dataset.filepath())

    def getMetadata(self) -> dict[str, Any]:
        """Global attributes."""
        return dict(self._dataset._dictionary())

    def getFormat(self) -> str:
        """Format of the master, such as `NETCDF4`."""
        return str(self._dataset.data_model)

    def getCFAVersion(self) -> str | None:
        """Version of the convention by which sub-arrays are described, such as `0.5`; none where there are none."""
        how = getattr(self._dataset._place, "convention", None)
        return (how() if how is not None else None) or version_of(self._dataset)

    def getGroups(self) -> list[str]:
        """Names of the groups: `root`, and those below it."""
        return ["root", *self._dataset.groups]

    def getGroup(self, name: str) -> CFAGroup:
        """A group; `root`, and below it paths. Raises `CFAGroupError` where there is none."""
        if name in ("root", "/"):
            return CFAGroup(self._dataset)
        group = self._dataset
        for part in name.strip("/").split("/"):
            if part not in group.groups:
                raise CFAGroupError(f"Group: {name} does not exist", path=name)
            group = group.groups[part]
        return CFAGroup(group)

    def getVariables(self) -> list[str]:
        """Names of the variables of the root that lie in sub-arrays."""
        return CFAGroup(self._dataset).getVariables()

    def getVariable(self, name: str) -> CFAVariable:
        """A variable of the root."""
        return CFAGroup(self._dataset).getVariable(name)

    def getDimensions(self) -> list[str]:
        """Names of the dimensions of the root."""
        return CFAGroup(self._dataset).getDimensions()

    def getDimension(self, name: str) -> CFADimension:
        """A dimension of the root."""
        return CFAGroup(self._dataset).getDimension(name)


def version_of(dataset: Any) -> str | None:
    """The version that a dataset's `Conventions` name."""
    words = str(dataset._dictionary().get("Conventions", "")).replace(",", " ").split()
    found = [word.removeprefix("CFA-") for word in words if word.startswith("CFA-")]
    return ".".join(found[0].split(".")[:2]) if found else next((word.lower() for word in words if word == "CF-1.13"), None)


class CFAVariable:
    """A variable that lies in sub-arrays."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable
        self._recorded: _Description | None = None
        self._grid: list[list[int]] | None = None

    def _lengths(self) -> tuple[int, ...]:
        return tuple(self._variable._owner().shape)

    @property
    def metadata(self) -> Metadata:
        """Attributes, which may be changed."""
        return Metadata(self._variable)

    def getGroup(self) -> CFAGroup:
        """The group that it is in."""
        return CFAGroup(self._variable._grp)

    def shape(self) -> NDArray[np.int32]:
        """Present lengths of the dimensions."""
        return np.array(self._lengths(), dtype=np.int32)

    def getBaseFilename(self) -> str:
        """The beginning of the names of its sub-arrays, unless they are placed elsewhere: indices and `.nc` follow."""
        writer = getattr(self._variable._place, "writer", None)
        if writer is not None and all(self._lengths()):
            rank = len(self._lengths())
            start = writer.fragment_at(self._variable._owner().path, [0] * rank)[0]
            return str(start).removesuffix(".".join(["0"] * rank) + ".nc")
        path = self.getGroup().getDataset().getName()
        base = path.removesuffix(".nca").removesuffix(".nc")
        above = [] if self.getGroup().getName() == "root" else self._variable._grp.path.strip("/").split("/")
        return ".".join([f"{base}/{os.path.basename(base)}", *above, self.getName(), ""])

    def partitionIsDefined(self, index: Any) -> bool:
        """Whether the sub-array at a place of the matrix was written."""
        return bool(self.getPartition(index).file)

    def getPartitionValues(self, index: Any = None, key: str = "index") -> Any:
        """One field of the partitions (`index location ncvar file format shape`), as an array of the shape of the partition
        matrix, with further axes for fields that are lists; or that of one partition."""
        if key not in Partition._fields:
            raise CFAVariableError(f"Partitions have no {key}", path=self.getName(), hint=" ".join(Partition._fields))
        if index is not None:
            return np.asarray(getattr(self.getPartition(index), key))[()]
        values = np.array([getattr(part, key) for part in self.getPartitions()])
        return values.reshape((*self.getPartitionMatrixShape(), *values.shape[1:]))

    def writePartition(self, partition: Partition) -> None:
        """Records where the sub-array of a partition is, instead of what was recorded at its index. Nothing is opened, and the
        place of the partition is that of its index. Raises `CFAPartitionError` for another shape, or a dataset that is read."""
        writer = getattr(self._variable._place, "writer", None)
        if writer is None:
            raise CFAPartitionError(f"{self.getName()} is not open for writing", path=self.getName(), hint='mode "a"')
        at = [int(number) for number in np.atleast_1d(partition.index)]
        with raised_as(CFAPartitionError):
            _, _, shape = writer.fragment_at(self._variable._owner().path, at)
            if [int(length) for length in partition.shape] != list(shape):
                told = f"partition {at} has the shape {list(shape)}, not {list(map(int, partition.shape))}"
                raise CFAPartitionError(told, path=self.getName())
            variable = f"{self._variable._grp.path.rstrip('/')}/{partition.ncvar}"
            writer.place(self._variable._owner().path, at, str(partition.file), variable)
        self._variable._place.changed()

    def dump(self) -> dict[str, Any]:
        """Attributes, and the description of the sub-arrays that were written, as CFA-0.4 has it."""
        parts = [
            {
                "index": list(part.index),
                "location": [list(along) for along in part.location],
                "subarray": {"ncvar": part.ncvar, "file": part.file, "format": part.format, "shape": list(part.shape)},
            }
            for part in self.getPartitions()
            if part.file
        ]
        matrix = {"pmshape": self.getPartitionMatrixShape().tolist(), "pmdimensions": self.getDimensions()}
        described = {"cf_role": self.getRole(), "cf_dimensions": " ".join(self.getDimensions())}
        return {**self.getMetadata(), **described, "cfa_array": {**matrix, "Partitions": parts}}

    def getName(self) -> str:
        """Simple name."""
        return str(self._variable._name)

    def getType(self) -> Any:
        """Type of the values."""
        return self._variable.dtype

    def getRole(self) -> str:
        """What S3netCDF4 calls it."""
        return "cfa_variable"

    def getDimensions(self) -> list[str]:
        """Names of the dimensions."""
        return list(self._variable.dimensions)

    def getMetadata(self) -> dict[str, Any]:
        """Attributes."""
        return dict(self._variable._dictionary())

    def getPartitionMatrixShape(self) -> NDArray[np.int32]:
        """Number of partitions along each dimension."""
        return np.array([len(starts) for starts in self._starts()], dtype=np.int32)

    def getPartitionMatrixDimensions(self) -> list[str]:
        """Dimensions of the partition matrix."""
        return self.getDimensions()

    def getPartitions(self) -> list[Partition]:
        """All partitions, in row-major order."""
        return [each.partition for each in self._selected((slice(None),) * len(self._lengths()))]

    def getPartition(self, index: Any) -> Partition:
        """The partition at a place of the matrix. Raises `CFAPartitionIndexError` where there is none."""
        at = tuple(int(number) for number in np.atleast_1d(index))
        starts = self._starts()
        if len(at) != len(starts) or any(not 0 <= number < len(along) for number, along in zip(at, starts)):
            shape = [len(along) for along in starts]
            raise CFAPartitionIndexError(f"Index {list(at)} into a partition matrix of shape {shape} is out of range")
        first = tuple(int(along[number]) for number, along in zip(at, starts))
        found = list(self._selected(tuple(slice(number, number + 1) for number in first)))
        return found[0].partition

    def __getitem__(self, key: Any) -> list[Selected]:
        """The partitions that a selection touches, what it takes of each, and where that goes."""
        return list(self._selected(key))

    def _starts(self) -> list[list[int]]:
        """First elements of the partitions along each dimension."""
        writer = getattr(self._variable._place, "writer", None)
        if writer is not None:
            return [_begins(along) for along in writer.sizes(self._variable._owner().path)]
        if self._grid is None:
            self._grid = self._found_grid()
        return self._grid

    def _found_grid(self) -> list[list[int]]:
        """The grid of partitions. Places next to each other that nothing was written to look like one; how many there are
        is what the master records."""
        lengths, owner = self._lengths(), self._variable._owner()
        counts = self._description().counts
        grid = []
        for axis, length in enumerate(lengths):
            # One line of partitions along each axis.
            key = tuple(slice(None) if other == axis else slice(0, 1) for other in range(len(lengths)))
            parts = owner.fragments(key) if all(lengths) else []
            seen = sorted({int(part["start"][axis]) for part in parts})
            known = [(int(part["start"][axis]), int(part["shape"][axis])) for part in parts if part["names"]]
            count = counts[axis] if len(counts) == len(lengths) else len(seen)
            grid.append(seen if count <= len(seen) else _divided(length, count, known) or seen)
        return grid

    def _selected(self, key: Any) -> Iterator[Selected]:
        lengths = self._lengths()
        try:
            keys, _ = by_axis(key, lengths, self._variable.dimensions, self._variable._grp)
        except IndexError as error:
            raise CFAVariableIndexError(str(error), path=self.getName()) from error
        for each, length in zip(keys, lengths):
            if isinstance(each, (int, np.integer)) and not -length <= each < length:
                raise CFAVariableIndexError(f"Index into CFA array is out of range: {key}", path=self.getName())
        axes = [_indices(each, length) for each, length in zip(keys, lengths)]
        if any(len(axis) == 0 for axis in axes):
            return
        reached = tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in axes)
        kept = [not isinstance(each, (int, np.integer)) for each in keys]
        for part in self._parts(reached):
            taken = [_taken(axis, start, start + length) for axis, (start, length) in zip(axes, zip(part["start"], part["shape"]))]
            if all(len(inside) for inside, _ in taken):
                source = tuple(_short(inside) for inside, _ in taken)
                target = tuple(_short(positions) for (_, positions), is_kept in zip(taken, kept) if is_kept)
                yield Selected(self._partition(part), source, target)

    def _parts(self, reached: tuple[slice, ...]) -> Iterator[dict[str, Any]]:
        """The partitions that a box touches."""
        owner = self._variable._owner()
        writer = getattr(self._variable._place, "writer", None)
        starts = self._starts()
        touched = [
            [at for at, (start, stop) in enumerate(zip(along, [*along[1:], length])) if start < box.stop and stop > box.start]
            for along, length, box in zip(starts, self._lengths(), reached)
        ]
        found = {}
        if writer is None:
            parts = owner.fragments(reached)
            found = {tuple(part["start"]): part for part in parts if part["names"]}
            ends = [dict(zip(along, [*along[1:], length])) for along, length in zip(starts, self._lengths())]
            if not all(_fits(part, ends) for part in found.values()):
                # They form no grid.
                yield from parts
                return
        for at in np.ndindex(*(len(along) for along in touched)):
            index = [along[number] for along, number in zip(touched, at)]
            start = tuple(along[number] for along, number in zip(starts, index))
            if writer is not None:
                url, first, shape = writer.fragment_at(owner.path, index)
                yield {"index": index, "start": first, "shape": shape, "names": [url], "variables": [owner.path]}
            elif start in found:
                yield {**found[start], "index": index}
            else:
                past = [[*along[1:], length][number] for along, length, number in zip(starts, self._lengths(), index)]
                shape = [stop - first for first, stop in zip(start, past)]
                yield {"index": index, "start": start, "shape": shape, "names": [], "variables": []}

    def _partition(self, part: dict[str, Any]) -> Partition:
        start, shape = part["start"], part["shape"]
        names = part["names"]
        name = str(names[0]) if names else ""
        file = str(part["places"][0]) if part.get("places") else name
        ncvar = str(part["variables"][-1]).rpartition("/")[2] if part["variables"] else ""
        return Partition(
            Numbers(int(number) for number in part["index"]),
            Numbers(Numbers((int(first), int(first) + int(length))) for first, length in zip(start, shape)),
            ncvar if file else "",
            file,
            self._format(name) if file else "",
            Numbers(int(length) for length in shape),
        )

    def _format(self, name: str) -> str:
        """The format of a sub-array, as the master records it, else that of the master."""
        model = self._variable._place.model
        return self._description().formats.get(name, model if model.startswith("NETCDF3") else "NETCDF4")

    def _description(self) -> _Description:
        """What the master records of the sub-arrays."""
        if self._recorded is None:
            is_written = getattr(self._variable._place, "writer", None) is not None
            self._recorded = _Description() if is_written else self._read_description()
        return self._recorded

    def _read_description(self) -> _Description:
        dataset = self._variable._place.dataset
        if not isinstance(dataset.url, str):
            return _Description()
        with ncirrus.open(dataset.url, raw=True, session=dataset.session) as raw:
            group = self._variable._grp.path.rstrip("/")
            attributes = raw[f"{group}/{self.getName()}"].attrs
            if "cfa_array" in attributes:
                return _of_json(str(attributes["cfa_array"]), str(attributes.get("cfa_dimensions", "")).split())
            if "cfa_group" in attributes:
                matrix = raw.groups[f"{group}/{attributes['cfa_group']}"]
                names, formats = (np.ravel(matrix.variables[name][...]) for name in ("file", "format"))
                known = {str(name): str(form) for name, form in zip(names, formats) if name}
                return _Description(matrix.variables["file"].shape, known)
        return _Description()


class _Description(NamedTuple):
    """Number of places along each dimension, and formats by the names of sub-arrays."""

    counts: tuple[int, ...] = ()
    formats: Mapping[str, str] = MappingProxyType({})


def _of_json(text: str, dimensions: list[str]) -> _Description:
    try:
        told = json.loads(text)
        counts = tuple(told["pmshape"]) if told.get("pmdimensions") == dimensions else ()
        parts = [each.get("subarray") or each.get("data") or {} for each in told["Partitions"]]
        formats = {str(part["file"]): str(part["format"]) for part in parts if "file" in part and "format" in part}
    except (ValueError, KeyError, TypeError, AttributeError):
        return _Description()
    return _Description(counts, formats)


def _begins(lengths: Any) -> list[int]:
    return [int(start) for start in np.cumsum([0, *lengths])[:-1]]


def _divided(length: int, count: int, known: list[tuple[int, int]]) -> list[int] | None:
    """First elements of that many blocks, of which some are known: all of one length but the last, or even ones."""
    most = -(-length // count)
    longest = max((size for _, size in known), default=most)
    evenly = [at * length // count for at in range(count)]
    for starts in (list(range(0, length, longest)), list(range(0, length, most)), evenly):
        ends = dict(zip(starts, [*starts[1:], length]))
        if len(starts) == count and all(ends.get(start) == start + size for start, size in known):
            return starts
    return None


def _fits(part: dict[str, Any], ends: list[dict[int, int]]) -> bool:
    return all(along.get(start) == start + length for along, start, length in zip(ends, part["start"], part["shape"]))


def _indices(key: Any, length: int) -> NDArray[Any]:
    """The elements that a normalised key selects along an axis."""
    if isinstance(key, slice):
        return np.arange(*key.indices(length))
    if isinstance(key, np.ndarray):
        return key
    return np.array([key if key >= 0 else key + length])


def _taken(axis: NDArray[Any], first: int, past: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Elements within a partition, and their positions in the result."""
    positions = np.flatnonzero((axis >= first) & (axis < past))
    return axis[positions] - first, positions


def _short(indices: NDArray[Any]) -> Any:
    """A slice, where one says the same."""
    first = int(indices[0])
    if len(indices) == 1:
        return slice(first, first + 1)
    step = int(indices[1]) - first
    if step > 0 and bool((np.diff(indices) == step).all()):
        return slice(first, int(indices[-1]) + 1, step)
    return indices
