"""Variables and dimensions as S3netCDF4's: those of netCDF4-python, whose values may be stored in sub-arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus.codecs import filters_of
from ncirrus.netCDF4 import creating, failures
from ncirrus.netCDF4.creating import KEYWORDS
from ncirrus.netCDF4.orthogonal import by_axis
from ncirrus.netCDF4.dimension import Dimension
from ncirrus.netCDF4.variables import Variable
from ncirrus.s3netcdf4 import exceptions
from ncirrus.s3netcdf4.exceptions import (
    CFAPartitionError,
    CFASubArrayError,
    CFAVariableError,
    CFAVariableIndexError,
    raised_as,
)
from ncirrus.s3netcdf4.flows import SubArrays, subarrays_of
from ncirrus.s3netcdf4.places import AggregationPlace, Field
from ncirrus.s3netcdf4.views import CFADimension, CFAVariable, Partition

_AXES = ("T", "Z", "Y", "X", "N", "U")


class s3Dimension(Dimension):
    """A dimension with an axis type: `T Z Y X N`, or `U` if it is not known."""

    __slots__ = ("_axis_type", "_metadata")

    def __init__(
        self,
        grp: Any,
        name: str,
        size: int | None = None,
        axis_type: str = "U",
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._axis_type, self._metadata = axis_type, dict(metadata or {})
        super().__init__(grp, name, size, **kwargs)

    @classmethod
    def _of(cls, grp: Any, name: str) -> s3Dimension:
        made = super()._of(grp, name)
        assert isinstance(made, s3Dimension)
        made._axis_type, made._metadata = "U", {}
        return made

    @property
    def axis_type(self) -> str:
        """Its axis type: as given at creation, else by the attribute `axis` of its coordinate variable, else by its name
        (docs/spec/cfa.md 7.2)."""
        if self._axis_type != "U":
            return self._axis_type
        coordinate = self._grp.variables.get(self._name)
        stored = coordinate._stored() if coordinate is not None else {}
        if "axis" in stored and coordinate.getncattr("axis") in _AXES[:5]:
            return str(coordinate.getncattr("axis"))
        return _named(self._name)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata given at its creation, or the attributes of its coordinate variable."""
        coordinate = self._grp.variables.get(self._name)
        return {**self._metadata, **(coordinate._dictionary() if coordinate is not None else {})}

    @property
    def _cfa_dim(self) -> CFADimension:
        return CFADimension(self)


def _named(name: str) -> str:
    """The kind that S3netCDF4 takes from a name."""
    for letter, begins, contains in (("T", None, "time"), ("Z", None, "level"), ("Y", "lat", None), ("X", "lon", None)):
        is_short = len(name) < 3 and name.startswith(letter.lower())
        if is_short or (contains and contains in name) or (begins and name.startswith(begins)):
            return letter
    return "N"


class s3Variable(Variable):
    """A variable. The values of an aggregated one are in sub-arrays, which appear when they are first written."""

    __slots__ = ()

    dtype: Any

    def __init__(
        self,
        grp: Any,
        name: str,
        datatype: Any,
        dimensions: Sequence[Any] = (),
        subarray_shape: Any = None,
        max_subarray_size: Any = None,
        **words: Any,
    ) -> None:
        names = [each.name if isinstance(each, Dimension) else str(each) for each in dimensions]
        shape = None if subarray_shape is None or np.size(subarray_shape) == 0 else np.atleast_1d(subarray_shape)
        if shape is not None and not names:
            raise CFASubArrayError(f"variable {name} has a sub-array shape, but no dimensions", path=name)
        # A variable of the name of a dimension is its coordinate, which the master holds.
        is_field = isinstance(grp._place, AggregationPlace) and bool(names) and name not in _visible(grp)
        if not is_field:
            super().__init__(grp, name, datatype, dimensions, **words)
            self._set_metadata(names)
            return
        lengths = None if shape is None else _checked_shape(grp, name, names, shape)
        self._create(grp, name, datatype, names, lengths, max_subarray_size, words)

    def _set_metadata(self, names: Sequence[str]) -> None:
        if names == [self._name]:
            dimension = self._grp._find(self._name)
            if isinstance(dimension, s3Dimension) and dimension._metadata:
                self.setncatts(dimension._metadata)

    def _create(
        self, grp: Any, name: str, datatype: Any, names: list[str], shape: list[int] | None, size: Any, words: Any
    ) -> None:
        place = grp._place
        place.check_writable()
        if name in grp.variables or name in grp.groups:
            raise failures.LibraryError(f"{failures.NAME_IN_USE}: (variable '{name}', group '{grp.path}')")
        dimensions = [grp._find(each) for each in names]
        given = {**dict.fromkeys(KEYWORDS), **_DEFAULTS, **words}
        ask = creating.asked(grp, name, datatype, dimensions, given)
        if not (ask.is_primitive or ask.dtype is str) or (ask.is_primitive and ask.dtype.kind == "c"):
            raise CFAVariableError(f"variable {name}: sub-arrays hold numbers, characters and strings", path=name)
        how = creating.library_words(ask)
        kind, chunks, filters = how.pop("type"), how.pop("chunks", None), how.pop("filters", None)
        # Without a shape of chunks each sub-array has that of its own.
        chunks = chunks if given["chunksizes"] is not None else None
        owner = grp._owner()
        division = {
            "axes": [_letter(each) for each in dimensions],
            "shape": shape,
            "max_size": _size(size),
            "like_s3netcdf4": place.is_like_s3netcdf4,
            "filters": filters_of(filters),
            "chunks": chunks or None,
        }
        with failures.as_runtime_error():
            scalar = owner.create_variable(name, kind, [], **how)
        paths = [f"{each._grp.path.rstrip('/')}/{each.name}" for each in dimensions]
        try:
            with raised_as(CFASubArrayError):
                place.writer.divide(scalar.path, paths, division)
        except BaseException:
            owner.remove(name)
            raise
        place.words[scalar.path] = {word: value for word, value in words.items() if word in _STORAGE and value is not None}
        self._take(grp, name, scalar)
        if ask.is_primitive:
            self._keep(dtype=ask.dtype)
            self._is_native = given["endian"] == "native"
        if given["least_significant_digit"] is not None:
            self.setncattr("least_significant_digit", int(given["least_significant_digit"]))

    def _take(self, grp: Any, name: str, found: Any) -> None:
        found = _field_of(grp._place, found)
        if isinstance(grp._place, AggregationPlace):
            grp._place.took(found)
        super()._take(grp, name, found)

    def _owner(self) -> Any:
        is_old = self._generation != self._place.generation
        found = super()._owner()
        if is_old:
            found = self._found = _field_of(self._place, found)
            if isinstance(self._place, AggregationPlace):
                self._place.took(found)
        return found

    def _check_name(self, name: str) -> None:
        # S3netCDF4 sets a fill value like any other attribute, before anything is written; so does `setncattr`.
        if name != "_FillValue":
            super()._check_name(name)

    def _writable(self, name: str, value: Any, as_strings: bool) -> Any:
        if name == "_FillValue" and self._isprimitive:
            value = np.asarray(value).astype(self.dtype)[()]
        return super()._writable(name, value, as_strings)

    @property
    def _is_like(self) -> bool:
        return bool(getattr(self._place, "is_like_s3netcdf4", False))

    def _plain(self) -> Variable:
        """The variable as netCDF4-python has it."""
        plain = _Plain.__new__(_Plain)
        Variable._take(plain, self._grp, self._name, self._owner())
        plain._keep(mask=self.mask, scale=self.scale, always_mask=self.always_mask, chartostring=self.chartostring)
        plain._keep(_use_get_vars=self._use_get_vars)
        return plain

    @property
    def shape(self) -> Any:
        """Present lengths; an array with `like_s3netcdf4`."""
        shape = tuple(self._owner().shape)
        return np.array(shape, dtype=np.int64) if self._is_like else shape

    @shape.setter
    def shape(self, value: Any) -> None:
        raise AttributeError("shape cannot be altered")

    def __getitem__(self, elem: Any) -> Any:
        if not self._is_like:
            return super().__getitem__(elem)
        plain = self._plain()
        if plain.shape:
            elem = _with_axes(plain, elem)
        return ma.getdata(plain[elem])

    def __setitem__(self, elem: Any, data: Any) -> None:
        if self._is_like:
            self._plain()[elem] = data
        else:
            super().__setitem__(elem, data)

    def __len__(self) -> int:
        return len(self._plain()) if self._is_like else super().__len__()

    def chunking(self) -> Any:
        """Shape of chunks, or `contiguous`."""
        return self._plain().chunking() if self._is_like else super().chunking()

    def __repr__(self) -> str:
        return repr(self._plain()) if self._is_like else super().__repr__()

    @property
    def _cfa(self) -> CFAVariable | None:
        """As `_cfa_var`; none where the values are not in sub-arrays."""
        return CFAVariable(self) if self._owner().is_aggregated else None

    @property
    def _nc_var(self) -> Variable:
        """The variable as netCDF4-python has it, without S3netCDF4's ways."""
        return self._plain()

    @property
    def _cfa_var(self) -> CFAVariable | None:
        if not self._owner().is_aggregated:
            if exceptions.runs_as_s3netcdf4():
                return None
            raise CFAVariableError(f"variable {self._name} is not in sub-arrays", path=self._name)
        return CFAVariable(self)

    def subarrays(self) -> SubArrays:
        """A picklable description with which other processes write sub-arrays of this variable."""
        if not isinstance(self._owner(), Field):
            raise CFAVariableError(f"variable {self._name} has no sub-arrays that are written", path=self._name)
        return subarrays_of(self)

    def partitions_written(self, partitions: Iterable[Partition | Sequence[int]]) -> None:
        """Takes over sub-arrays that other processes wrote: partitions, or their indices.

        Raises `CFAPartitionError` for a partition of another variable.
        """
        self._place.check_writable()
        owner, place = self._owner(), self._place
        if not isinstance(owner, Field) or not isinstance(place, AggregationPlace):
            raise CFAVariableError(f"variable {self._name} has no sub-arrays that are written", path=self._name)
        places = [list(each.index if isinstance(each, Partition) else each) for each in partitions]
        with raised_as(CFAPartitionError):
            place.writer.adopt(owner.path, places)
        place.changed()


class _Plain(Variable):
    """A variable of netCDF4-python's in the place of one of S3netCDF4's."""

    __slots__ = ()


# Keywords of storage that sub-arrays of other processes are created with.
_STORAGE = frozenset(KEYWORDS) - {"fill_value", "chunk_cache", "least_significant_digit", "contiguous"}
_DEFAULTS: dict[str, Any] = {
    "zlib": False,
    "complevel": 4,
    "shuffle": True,
    "szip_coding": "nn",
    "szip_pixels_per_block": 8,
    "blosc_shuffle": 1,
    "fletcher32": False,
    "contiguous": False,
    "endian": "native",
    "quantize_mode": "BitGroom",
}


def _field_of(place: Any, found: Any) -> Any:
    """An aggregated variable that is being written, for the scalar that the master has of it."""
    is_writing = isinstance(place, AggregationPlace) and not isinstance(found, Field)
    return Field(found, place) if is_writing and place.writer.division(found.path) is not None else found


def _visible(grp: Any) -> set[str]:
    """Names of the dimensions that can be seen from a group."""
    names: set[str] = set()
    while grp is not None:
        names |= set(grp.dimensions)
        grp = grp.parent
    return names


def _checked_shape(grp: Any, name: str, names: Sequence[str], shape: NDArray[Any]) -> list[int]:
    if shape.ndim != 1 or len(shape) != len(names):
        message = f"variable {name}: a sub-array shape {shape.tolist()} for {len(names)} dimensions"
        raise CFASubArrayError(message, path=name)
    lengths = [int(length) for length in shape]
    for length, each in zip(lengths, names):
        dimension = grp._find(each)
        if length < 1 or (not dimension.isunlimited() and length > len(dimension)):
            message = f"variable {name}: a sub-array of length {length} along {each}, which has the length {len(dimension)}"
            raise CFASubArrayError(message, path=name)
    return lengths


def _letter(dimension: Any) -> str | None:
    return dimension.axis_type if isinstance(dimension, s3Dimension) else None


def _size(size: Any) -> Any:
    """A size as the library takes it; nothing for none."""
    if size is None or (not isinstance(size, str) and size == 0):
        return None
    if isinstance(size, str):
        return size
    try:
        return int(size)
    except (TypeError, ValueError):
        raise CFASubArrayError(f"max_subarray_size={size!r} is not a size") from None


def _with_axes(variable: Variable, elem: Any) -> Any:
    """The index with slices in place of integers, so that all axes stay. S3netCDF4 does not have steps and
    lists; here they select as in numpy."""
    try:
        keys, _ = by_axis(elem, variable.shape, variable.dimensions, variable._grp)
    except IndexError as error:
        raise CFAVariableIndexError(str(error), path=variable._name) from error
    keys = [slice(key, key + 1) if isinstance(key, int) and key >= 0 else key for key in keys]
    return tuple(slice(len_ + key, len_ + key + 1) if isinstance(key, int) else key for key, len_ in zip(keys, variable.shape))

