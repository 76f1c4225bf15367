"""What a variable of netCDF4-python's says of itself: names, shapes, types, and how it is stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from ncirrus.netCDF4 import failures, storage
from ncirrus.netCDF4.attributes import Attributed
from ncirrus.netCDF4.constants import default_fillvals
from ncirrus.netCDF4.dimension import Dimension
from ncirrus.netCDF4.places import Place
from ncirrus.netCDF4.settings import changed_cache
from ncirrus.netCDF4.user_types import CompoundType, EnumType, VLType

_QUANTIZED = {
    "BitGroom": "_QuantizeBitGroomNumberOfSignificantDigits",
    "BitRound": "_QuantizeBitRoundNumberOfSignificantBits",
    "GranularBitRound": "_QuantizeGranularBitRoundNumberOfSignificantDigits",
}


class DescribedVariable(Attributed):
    """The description of a variable, without its values."""

    __slots__ = ()

    dtype: Any
    _cache: tuple[int, int, float]
    _grp: Any
    _is_complex: bool
    _is_native: bool
    _is_pair: bool
    _name: str
    _place: Place
    _user_type: Any

    @property
    def auto_complex(self) -> bool:
        """Whether complex numbers are recognised."""
        return bool(self._grp.auto_complex)

    @property
    def _grpid(self) -> int:
        return int(self._grp._grpid)

    @property
    def _varid(self) -> int:
        return list(self._grp.variables).index(self._name)

    @property
    def _nunlimdim(self) -> int:
        return sum(dimension.isunlimited() for dimension in self.get_dims())

    @property
    def _isprimitive(self) -> bool:
        return self._user_type is None and self.dtype is not str

    @property
    def _iscompound(self) -> bool:
        return isinstance(self._user_type, CompoundType)

    @property
    def _isvlen(self) -> bool:
        return self.dtype is str or isinstance(self._user_type, VLType)

    @property
    def _isenum(self) -> bool:
        return isinstance(self._user_type, EnumType)

    @property
    def datatype(self) -> Any:
        """The type of the values: a dtype, or a type of the dataset."""
        if self.dtype is str:
            return VLType(self._grp, str, None)
        return self.dtype if self._user_type is None else self._user_type

    @property
    def name(self) -> str:
        """Simple name."""
        self._place.check_open()
        return self._name

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        dims = tuple(self._owner().dims)
        return dims[:-1] if self._is_pair else dims

    @property
    def shape(self) -> tuple[int, ...]:
        """Present lengths."""
        shape = tuple(self._owner().shape)
        return shape[:-1] if self._is_pair else shape

    @shape.setter
    def shape(self, value: Any) -> None:
        raise AttributeError("shape cannot be altered")

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def group(self) -> Any:
        """The group that it is in."""
        return self._grp

    def get_dims(self) -> tuple[Dimension, ...]:
        """The dimensions."""
        return tuple(self._grp._find(name) for name in self.dimensions)

    def filters(self) -> dict[str, Any] | None:
        """How the values are compressed; none in netCDF-3 files."""
        if not self._place.model.startswith("NETCDF4"):
            return None
        return storage.told(self._owner()._native().filters())

    def quantization(self) -> tuple[int, str] | None:
        """Significant digits, and the way of rounding; none where values were not rounded."""
        for mode, attribute in _QUANTIZED.items():
            if attribute in self._stored():
                return int(self.getncattr(attribute)), mode
        return None

    def endian(self) -> str:
        """Byte order in storage; for a variable that was just made, the requested one."""
        if self._is_native or not self._place.model.startswith("NETCDF4") or not self._isprimitive:
            return "native"
        told = str(self._owner().endian)
        return "little" if told == "native" and self.dtype.kind in "iu" else told

    def chunking(self) -> Any:
        """Shape of chunks, or `contiguous`; none in netCDF-3 files."""
        if not self._place.model.startswith("NETCDF4"):
            return None
        if not self.shape:
            return [] if self._place.is_zarr else "contiguous"
        chunks = self._owner().chunks
        return "contiguous" if chunks is None else list(chunks)

    def get_var_chunk_cache(self) -> tuple[int, int, float]:
        """Bytes, slots and preemption of its chunk cache."""
        self._check_cached()
        return self._cache

    def set_var_chunk_cache(
        self, size: int | None = None, nelems: int | None = None, preemption: float | None = None
    ) -> None:
        """Changes what `get_var_chunk_cache` returns: the library has one cache for all variables."""
        self._check_cached()
        self._cache = changed_cache(self._cache, size, nelems, preemption)

    def _check_cached(self) -> None:
        self._place.check_open()
        if not self._place.model.startswith("NETCDF4"):
            raise failures.LibraryError(failures.CLASSIC)

    def get_fill_value(self) -> Any:
        """What elements are that were never written; none where they may be anything."""
        own = self._owner()
        if own.fill_mode == "none":
            return None
        if "_FillValue" in self._stored():
            return self.getncattr("_FillValue")
        return np.array(default_fillvals[self.dtype.str[1:]], self.dtype) if self._isprimitive else None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        self._place.check_open()
        dimensions = ", ".join(self.dimensions)
        kind = next((word for word, fits in self._words() if fits), str(self.dtype))
        lines = ["<class 'netCDF4.Variable'>", f"{kind} {self._name}({dimensions})"]
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        lines += [f"{word} data type: {self.dtype}" for word, fits in self._words() if fits]
        if self._grp.path != "/":
            lines.append(f"path = {self._grp.path}")
        grows = ", ".join(each.name for each in self.get_dims() if each.isunlimited())
        lines += [f"unlimited dimensions: {grows}", f"current shape = {self.shape!r}"]
        return "\n".join([*lines, *self._told_filling()])

    def _words(self) -> list[tuple[str, bool]]:
        is_compound = self._iscompound or (self._is_complex and not self._is_pair)
        return [("vlen", self._isvlen), ("compound", is_compound), ("enum", self._isenum)]

    def _told_filling(self) -> list[str]:
        if any(is_so for _, is_so in self._words()):
            return []
        own = self._owner()
        if own.fill_mode == "none":
            return ["filling off"]
        if own.fill_value is not None:
            return ["filling on"]
        default = default_fillvals[self.dtype.str[1:]]
        used = "ignored" if self.dtype.kind in "iu" and self.dtype.itemsize == 1 else "used"
        return [f"filling on, default _FillValue of {default} {used}"]
