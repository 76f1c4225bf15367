"""Several files as one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ncirrus.netCDF4.groups import Dataset
from ncirrus.netCDF4.several_files import Parts, _Dimension, _Variable


class MFDataset(Dataset):
    """Files whose variables continue along one dimension. Everything else is read from the first file, or `master_file`."""

    __slots__ = ("_cdf", "_cdfRecVar", "_cdfVLen", "_files", "_master")
    _own: frozenset[str] = Dataset._own | frozenset(__slots__)

    def __init__(
        self,
        files: Any,
        check: bool = False,
        aggdim: str | None = None,
        exclude: Sequence[str] = [],  # noqa: B006
        master_file: Any = None,
    ) -> None:
        parts = Parts(Dataset, files, check, aggdim, exclude, master_file)
        self._files, self._cdf, self._master = parts.files, parts.datasets, parts.master
        self._cdfRecVar, self._cdfVLen = parts.variables, parts.lengths
        self._fill(self._master._place, None, self._master._found, False, False)
        joined: Any = _Dimension(
            parts.dimension, self.dimensions[parts.dimension], parts.lengths, sum(parts.lengths)
        )
        self.dimensions[parts.dimension] = joined
        for name in parts.names:
            variable: Any = _Variable(self, name, self.variables[name], parts.dimension)
            self.variables[name] = variable

    def ncattrs(self) -> list[str]:
        """Names of the master's attributes."""
        return list(self._master.ncattrs())

    def close(self) -> None:
        """Closes all files."""
        for each in self._cdf:
            each.close()

    def isopen(self) -> bool:
        """Whether all files are open."""
        return all(each.isopen() for each in self._cdf)

    def __del__(self) -> None:
        for each in getattr(self, "_cdf", ()):
            if each.isopen():
                each.close()

    def __repr__(self) -> str:
        dimensions = ", ".join(f"{name}({len(each)})" for name, each in self.dimensions.items())
        variables = ", ".join(f"{each.dtype} {name}({', '.join(each.dimensions)})" for name, each in self.variables.items())
        lines = ["<class 'netCDF4.MFDataset'>", f"root group ({self.data_model} data model, file format {self.disk_format}):"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        lines += [f"    dimensions = {dimensions}", f"    variables = {variables}", f"    groups = {', '.join(self.groups)}"]
        return "\n".join(lines)
