"""Sub-arrays that several processes write. A description is pickled for them; the first process writes the master last."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ncirrus.s3netcdf4.exceptions import CFAPartitionError
from ncirrus.s3netcdf4.views import Partition


@dataclass(frozen=True)
class SubArrays:
    """How sub-arrays of a variable are written, by any process: a picklable description of the variable.

    `write` makes a whole sub-array: it appears when it is complete, and replaces an existing one. Pass its
    result to `s3Variable.partitions_written`.
    """

    path: str
    datatype: Any
    dimensions: tuple[str, ...]
    attributes: Mapping[str, Any]
    global_attributes: Mapping[str, Any]
    # Of each dimension with coordinates: type, attributes and values.
    coordinates: Mapping[str, tuple[Any, Mapping[str, Any], Any]]
    words: Mapping[str, Any] = field(default_factory=dict)
    # Of each scalar of the master that stores it: type, attributes and value.
    scalars: Mapping[str, tuple[Any, Mapping[str, Any], Any]] = field(default_factory=dict)

    def write(self, partition: Partition, data: Any) -> Partition:
        """Writes the sub-array of a partition: an array of its shape, or what can be broadcast to it.

        Raises `CFAPartitionError` for a partition of another number of dimensions.
        """
        from ncirrus.s3netcdf4.datasets import s3Dataset

        if len(partition.shape) != len(self.dimensions):
            raise CFAPartitionError(f"a partition of {len(partition.shape)} dimensions for {self.path}", path=self.path)
        if "://" not in partition.file:
            os.makedirs(os.path.dirname(partition.file) or ".", exist_ok=True)
        with s3Dataset(partition.file, "w", format=partition.format) as made:
            _set(made, self.global_attributes)
            for name, length, (start, stop) in zip(self.dimensions, partition.shape, partition.location):
                made.createDimension(name, length)
                if name in self.coordinates:
                    kind, attributes, values = self.coordinates[name]
                    coordinate = made.createVariable(name, kind, (name,), fill_value=attributes.get("_FillValue"))
                    _set(coordinate, attributes)
                    coordinate.set_auto_maskandscale(False)
                    coordinate[:] = values[start:stop]
            words = {**self.words, "fill_value": self.attributes.get("_FillValue")}
            if words.get("chunksizes") is not None:
                words["chunksizes"] = [min(chunk, length) for chunk, length in zip(words["chunksizes"], partition.shape)]
            variable = made.createVariable(self.path, self.datatype, self.dimensions, **words)
            _set(variable, self.attributes)
            variable[...] = data
            for name, (kind, attributes, value) in self.scalars.items():
                scalar = made.createVariable(name, kind, (), fill_value=attributes.get("_FillValue"))
                _set(scalar, attributes)
                scalar.set_auto_maskandscale(False)
                scalar[...] = value
        return partition


def subarrays_of(variable: Any) -> SubArrays:
    """What other processes need to write sub-arrays of a variable of a dataset that is being written."""
    group = variable._grp
    root = group
    while root.parent is not None:
        root = root.parent
    coordinates = {}
    for dimension in variable.get_dims():
        found = dimension.group().variables.get(dimension.name)
        if found is not None and found.dimensions == (dimension.name,) and not dimension.isunlimited():
            plain = found._plain()
            plain.set_auto_maskandscale(False)
            coordinates[dimension.name] = (found.dtype, found._dictionary(), np.asarray(plain[:]))
    return SubArrays(
        f"{group.path.rstrip('/')}/{variable._name}",
        variable.dtype,
        tuple(variable.dimensions),
        variable._dictionary(),
        {name: value for name, value in root._dictionary().items() if name != "Conventions"} | {_RECORD: _recorded(root)},
        coordinates,
        dict(variable._place.words.get(variable._owner().path, {})),
        _scalars_of(root),
    )


# The attribute of a fragment by which a lost master is recreated as it was.
_RECORD = "ncirrus_aggregation"


def _recorded(root: Any) -> str:
    convention = root._place.convention()
    named = {} if convention is None else {"convention": convention if convention.startswith("cf") else f"cfa-{convention}"}
    return json.dumps({**named, "unlimited": _unlimited(root)}, ensure_ascii=False)


def _unlimited(group: Any) -> list[str]:
    """Paths of the unlimited dimensions of a group and those below."""
    own = [f"{group.path.rstrip('/')}/{name}" for name, each in group.dimensions.items() if each.isunlimited()]
    return own + [path for below in group.groups.values() for path in _unlimited(below)]


def _scalars_of(root: Any) -> dict[str, tuple[Any, Mapping[str, Any], Any]]:
    """The numbers without dimensions that the master stores."""
    found = {}
    for name, variable in root.variables.items():
        if variable.dimensions == () and variable._isprimitive and not variable._owner().is_aggregated:
            plain = variable._plain()
            plain.set_auto_maskandscale(False)
            found[name] = (variable.dtype, variable._dictionary(), np.asarray(plain[...]))
    return found


def _set(target: Any, attributes: Mapping[str, Any]) -> None:
    target.setncatts({name: value for name, value in attributes.items() if name != "_FillValue"})
