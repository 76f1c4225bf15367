"""Dimensions as netCDF4-python's."""

from __future__ import annotations

from typing import Any

from ncirrus.netCDF4 import failures
from ncirrus.netCDF4.settings import _size


class Dimension:
    """A dimension of a group."""

    __slots__ = ("_grp", "_name")

    def __init__(self, grp: Any, name: str, size: int | None = None, **kwargs: Any) -> None:
        self._grp, self._name = grp, name
        grp._place.check_open()
        if grp._place.mode == "r" and grp._place.model.startswith("NETCDF3"):
            raise failures.LibraryError(failures.DATA_MODE, object=name)
        grp._place.check_writable()
        length = 0 if size is None else _size(size)
        if not length and grp._place.model != "NETCDF4" and any(each.isunlimited() for each in grp.dimensions.values()):
            raise failures.LibraryError("NetCDF: NC_UNLIMITED size already in use", object=name)
        with failures.as_runtime_error(failures.NAME_IN_USE if name in grp.dimensions else None):
            grp._owner().create_dimension(name, length or None)

    @classmethod
    def _of(cls, grp: Any, name: str) -> Dimension:
        made = cls.__new__(cls)
        made._grp, made._name = grp, name
        return made

    def _known(self) -> Any:
        return self._grp._owner().dims[self._name]

    @property
    def name(self) -> str:
        """Simple name."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        raise AttributeError("name cannot be altered")

    @property
    def size(self) -> int:
        """Present length."""
        return len(self)

    @size.setter
    def size(self, value: int) -> None:
        raise AttributeError("size cannot be altered")

    def group(self) -> Any:
        """The group that defines it."""
        return self._grp

    def isunlimited(self) -> bool:
        """Whether it grows."""
        return bool(self._known()._handle.grows())

    def __len__(self) -> int:
        return len(self._known())

    def __repr__(self) -> str:
        grows = " (unlimited)" if self.isunlimited() else ""
        return f"\"<class 'netCDF4.Dimension'>\"{grows}: name = '{self._name}', size = {len(self)}"

    def __reduce__(self) -> Any:
        raise NotImplementedError("Dimension is not picklable")
