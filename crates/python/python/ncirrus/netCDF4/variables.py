"""Variables as netCDF4-python's: how they are made, read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus.errors import Error
from ncirrus.netCDF4 import creating, failures, selections
from ncirrus.netCDF4.attributes import cast_to
from ncirrus.netCDF4.creating import KEYWORDS
from ncirrus.netCDF4.described import DescribedVariable
from ncirrus.netCDF4.dimension import Dimension
from ncirrus.netCDF4.masking import Decoding, decoded
from ncirrus.netCDF4.packing import encoded
from ncirrus.netCDF4.places import Place
from ncirrus.netCDF4.settings import get_chunk_cache
from ncirrus.netCDF4.text import chartostring, stringtochar
from ncirrus.netCDF4.user_types import CompoundType, scopes
from ncirrus.netCDF4.utils import _quantize
from ncirrus.types import is_string


class Variable(DescribedVariable):
    """A variable of a group."""

    __slots__ = (
        "__weakref__",
        "_cache",
        "_direct",
        "_found",
        "_generation",
        "_grp",
        "_how_decoded",
        "_is_complex",
        "_is_native",
        "_is_pair",
        "_name",
        "_ncstring_attrs__",
        "_place",
        "_use_get_vars",
        "_user_type",
        "always_mask",
        "chartostring",
        "dtype",
        "mask",
        "scale",
    )
    _own: frozenset[str] = frozenset(__slots__)
    __orthogonal_indexing__ = True

    dtype: Any
    mask: bool
    scale: bool
    always_mask: bool
    chartostring: bool
    # How stored values are decoded, from the first read on; and the same where it can be done while they are read.
    _how_decoded: Decoding | None
    _direct: Decoding | None

    def __init__(
        self,
        grp: Any,
        name: str,
        datatype: Any,
        dimensions: Sequence[Any] = (),
        compression: str | None = None,
        zlib: bool = False,
        complevel: int | None = 4,
        shuffle: bool = True,
        szip_coding: str = "nn",
        szip_pixels_per_block: int = 8,
        blosc_shuffle: int = 1,
        fletcher32: bool = False,
        contiguous: bool = False,
        chunksizes: Sequence[int] | None = None,
        endian: str = "native",
        least_significant_digit: int | None = None,
        significant_digits: int | None = None,
        quantize_mode: str = "BitGroom",
        fill_value: Any = None,
        chunk_cache: int | None = None,
        **kwargs: Any,
    ) -> None:
        words: dict[str, Any] = {word: value for word, value in locals().items() if word in KEYWORDS}
        words["shards"] = kwargs.get("shards")
        dims = [each if isinstance(each, Dimension) else grp._find(each) for each in dimensions]
        ask = creating.asked(grp, name, datatype, dims, words)
        names = [each.name for each in dims]
        if ask.is_primitive and ask.dtype.kind == "c":
            user_type, dtype, names = creating.of_complex(ask)
            dims = [grp._find(each) for each in names]
            ask = replace(ask, user_type=user_type, dtype=dtype, dimensions=dims)
        how = creating.library_words(ask)
        with failures.as_runtime_error(place=ask.place):
            self._take(grp, name, grp._owner().create_variable(name, how.pop("type"), names, **how))
        if ask.is_primitive and not self._is_complex:
            # Until the file is opened again, the type is what was asked for, however it is stored.
            self._keep(dtype=ask.dtype)
            self._is_native = words["endian"] == "native"
        if chunk_cache is not None and self._place.model.startswith("NETCDF4"):
            self.set_var_chunk_cache(size=chunk_cache)
        if least_significant_digit is not None:
            self.setncattr("least_significant_digit", least_significant_digit)

    @classmethod
    def _of(cls, grp: Any, name: str, found: Any) -> Variable:
        made = cls.__new__(cls)
        made._take(grp, name, found)
        return made

    def _take(self, grp: Any, name: str, found: Any) -> None:
        self._keep(_grp=grp)
        self._name, self._found = name, found
        self._place: Place = grp._place
        self._generation = self._place.generation
        self._is_native = False
        self._keep(_use_get_vars=True)
        self._forget()
        self._cache = get_chunk_cache()
        self._user_type = _user_type(grp, found.type)
        self._keep(mask=True, scale=True, always_mask=True, chartostring=True, _ncstring_attrs__=grp._ncstring_attrs__)
        self._keep(dtype=_shown(found, self._user_type))
        self._is_complex: bool = False
        self._is_pair: bool = False
        if grp.auto_complex:
            self._recognise()

    def _recognise(self) -> None:
        """Complex numbers: a compound of two equal floats, or a last dimension of two that is named so."""
        dtype = self.dtype
        if isinstance(self._user_type, CompoundType) and len(dtype.names) == 2 and dtype[0] == dtype[1] and dtype[0].kind == "f":
            self._is_complex, self._user_type = True, None
            self._keep(dtype=np.dtype(f"c{2 * dtype[0].itemsize}"))
            return
        dims = tuple(self._owner().dims)
        if isinstance(dtype, np.dtype) and dtype.kind == "f" and dims and dims[-1] in _PAIRS and self._owner().shape[-1] == 2:
            self._is_complex = self._is_pair = True
            self._keep(dtype=np.dtype(f"c{2 * dtype.itemsize}"))

    def _owner(self) -> Any:
        self._place.check_open()
        if self._generation != self._place.generation:
            self._found = self._grp._owner().variables[self._name]
            self._generation = self._place.generation
        return self._found

    def _file(self) -> Place:
        return self._place

    def _scope(self) -> Any:
        return self._grp

    def _may_be_filled_by_text(self) -> bool:
        return self.dtype is str

    def _check_name(self, name: str) -> None:
        if name == "_FillValue":
            raise failures.MissingAttributeError(
                "_FillValue attribute must be set when variable is created "
                "(using fill_value keyword to createVariable)"
            )

    def setncatts(self, attdict: Mapping[str, Any]) -> None:
        """Sets several attributes of the file, all together; `_FillValue` as long as nothing was written."""
        if "_FillValue" not in attdict or not self._isprimitive:
            super().setncatts(attdict)
            return
        self._file().check_open()
        self._writable("_FillValue", attdict["_FillValue"], False)
        self._check_settable("_FillValue")
        fill = np.asarray(attdict["_FillValue"])
        code = "S1" if fill.dtype.kind in "SU" else fill.dtype.str[1:]
        if code != self.dtype.str[1:] or fill.size != 1:
            words = failures.BAD_TYPE if code != self.dtype.str[1:] else failures.INVALID
            raise failures.MissingAttributeError(words, path=self._owner().path)
        try:
            super().setncatts(attdict)
        except Error as error:
            raise failures.worded(failures.MissingAttributeError, failures.LATE_FILL, error) from error

    def _cast(self, name: str, value: Any) -> Any:
        return cast_to(self.dtype, name, value) if self._isprimitive else value

    if not TYPE_CHECKING:

        @property
        def __dict__(self) -> dict[str, Any]:
            """The attributes of the file."""
            return self._dictionary()

    def set_auto_chartostring(self, chartostring: bool) -> None:
        """Whether characters are joined to text by `_Encoding`."""
        self._keep(chartostring=bool(chartostring))

    def set_auto_maskandscale(self, maskandscale: bool) -> None:
        """Whether missing values are masked and packed ones unpacked."""
        self._keep(mask=bool(maskandscale), scale=bool(maskandscale))

    def set_auto_scale(self, scale: bool) -> None:
        """Whether packed values are unpacked."""
        self._keep(scale=bool(scale))

    def set_auto_mask(self, mask: bool) -> None:
        """Whether missing values are masked."""
        self._keep(mask=bool(mask))

    def set_always_mask(self, always_mask: bool) -> None:
        """Whether arrays are masked ones where nothing is missing, too."""
        self._keep(always_mask=bool(always_mask))

    def set_ncstring_attrs(self, ncstring_attrs: bool) -> None:
        """Whether text of attributes is stored as `NC_STRING`."""
        self._keep(_ncstring_attrs__=bool(ncstring_attrs))

    def use_nc_get_vars(self, use_nc_get_vars: bool) -> None:
        """How strides are described; reads are one plan either way."""
        self._keep(_use_get_vars=bool(use_nc_get_vars))

    def set_collective(self, value: bool) -> None:
        """Has no effect: parallel files are not supported."""

    def _decoding(self) -> Decoding:
        flags = (self.mask, self.scale, self.always_mask)
        known = self._how_decoded
        if known is not None and (known.mask, known.scale, known.always_mask) == flags:
            return known
        is_filled = self._owner().fill_mode != "none"
        dtype = self.dtype if isinstance(self.dtype, np.dtype) else np.dtype(object)
        made = self._how_decoded = Decoding(dtype, self._dictionary(), is_filled, *flags)
        self._direct = made if self._is_stored_as_shown() and made.is_direct else None
        return made

    def _is_stored_as_shown(self) -> bool:
        """Whether the library reads numbers of the type that the variable shows, along some axes."""
        found, dtype = self._owner(), self.dtype
        if self._user_type is not None or not isinstance(dtype, np.dtype) or not found.shape:
            return False
        return bool(found.dtype == dtype) and found.dtype.metadata is None

    def _forget(self) -> None:
        self._how_decoded, self._direct = None, None

    def _read_directly(self, elem: Any) -> Any:
        """Numbers of integers and forward slices, decoded while they are read; none where the index is another one, or how
        they are decoded is not known yet."""
        direct = self._direct
        if direct is None or (direct.mask, direct.scale, direct.always_mask) != (self.mask, self.scale, self.always_mask):
            return None
        values = selections.read_decoded(self, elem, direct)
        is_element = type(values) is np.ndarray and values.ndim == 0 and not direct.mask and _is_integer(elem)
        return values[()] if is_element else values

    def __getitem__(self, elem: Any) -> Any:
        try:
            values = self._read_directly(elem)
            if values is not None:
                return values
            data = selections.read(self, elem)
        except failures.LibraryError:
            raise
        except Error as error:
            raise failures.runtime_error(error) from error
        if not self._isprimitive:
            if self._isvlen:
                return self._unpacked(_vlens(data, self.dtype))
            if self._iscompound:
                return self._viewed(data) if self.chartostring else data
        if self._is_complex:
            return ma.array(data) if self.mask and self.always_mask else data
        decoding = self._decoding()
        joined = decoded(data, decoding)
        if self.dtype.kind == "S":
            joined = self._joined(joined, elem, self._encoding(decoding.attributes))
        is_element = type(joined) is np.ndarray and joined.ndim == 0 and not self.mask and _is_integer(elem)
        return joined[()] if is_element else joined

    def _unpacked(self, data: Any) -> Any:
        """Each value of various lengths, as numbers are masked and unpacked."""
        if self.dtype is str or not (self.scale or self.mask) or "scale_factor" not in self._stored():
            return data
        decoding = self._decoding()
        if data.dtype != object:
            return decoded(data, decoding)
        unpacked = np.empty(data.shape, dtype=object)
        for at, item in np.ndenumerate(data):
            unpacked[at] = decoded(item, decoding)
        return unpacked

    def _viewed(self, data: Any) -> Any:
        view = self._user_type.dtype_view
        return data if view == self._user_type.dtype else np.asarray(data).view(view)

    def _joined(self, data: Any, elem: Any, encoding: str | None) -> Any:
        """Characters as text, where an attribute says how they are encoded."""
        if encoding is None or not getattr(data, "shape", ()) or data.shape[-1] != self.shape[-1]:
            return data
        if not selections.keeps_last(self, elem):
            return data
        return chartostring(ma.getdata(data), encoding=encoding)

    def _encoding(self, attributes: Mapping[str, Any]) -> str | None:
        if not self.chartostring or self.dtype.str[1:] != "S1" or not self.shape:
            return None
        return attributes.get("_Encoding")

    def __setitem__(self, elem: Any, data: Any) -> None:
        self._place.check_open()
        if self._is_complex:
            data = np.asarray(data, self.dtype)
        elif not self._isvlen:
            data = self._encoded(data, elem)
        elif isinstance(data, np.ndarray) and self.dtype is not str and self.scale and "scale_factor" in self._stored():
            data = encoded(data, self._decoding())
        with failures.as_runtime_error():
            selections.write(self, elem, data)

    def _encoded(self, data: Any, elem: Any) -> Any:
        if self._iscompound:
            view = self._user_type.dtype_view
            array = np.array(data, view) if not isinstance(data, np.ndarray) else data
            stored = self._user_type.dtype
            return array.astype(view).view(stored) if array.dtype != stored else array
        decoding = self._decoding()
        if self.dtype.kind == "S":
            return self._characters(data, decoding.attributes, elem)
        # Errors of the index are raised before errors of the packing.
        array = encoded(data, decoding, lambda array: selections.checked(self, elem, array))
        return self._checked(array) if self._isenum else array

    def _characters(self, data: Any, attributes: Mapping[str, Any], elem: Any) -> Any:
        """Characters; of text, where an attribute says how it is encoded."""
        encoding = self._encoding(attributes)
        if encoding is not None:
            if type(data) in (str, bytes):
                data = np.asarray(data, dtype=f"{'S' if encoding == 'ascii' else 'U'}{self.shape[-1]}")
            if data.dtype.kind in "SU" and data.dtype.itemsize > 1:
                data = stringtochar(data, encoding=encoding, n_strlen=self.shape[-1])
        if ma.isMA(data):
            masked: Any = data.astype("S1")
            data = np.asarray(masked.filled(attributes.get("_FillValue", b"\0")))
        # Of the type `c`, texts are taken apart.
        array = np.array(data, self.dtype)
        if "least_significant_digit" not in attributes:
            return array
        try:
            return _quantize(array, attributes["least_significant_digit"])
        except Exception:
            selections.checked(self, elem, array)
            raise

    def _checked(self, array: NDArray[Any]) -> NDArray[Any]:
        """Values of an enum; others are `ValueError`."""
        if not np.isin(array, list(self._user_type.enum_dict.values())).all():
            raise ValueError("trying to assign illegal value to Enum variable")
        return array

    def getValue(self) -> Any:
        """The value of a variable without dimensions."""
        if self.dimensions:
            raise IndexError("to retrieve values from a non-scalar variable, use slicing")
        return self[()]

    def assignValue(self, val: Any) -> None:
        """Assigns the value of a variable without dimensions."""
        if self.dimensions:
            raise IndexError("to assign values to a non-scalar variable, use a slice")
        self[:] = val

    def __array__(self) -> NDArray[Any]:
        return np.asarray(self[...])

    def __reduce__(self) -> Any:
        raise NotImplementedError("Variable is not picklable")


def _is_integer(elem: Any) -> bool:
    """Whether an index is one integer for each axis; without axes, for one."""
    keys = elem if type(elem) is tuple else (elem,)
    return bool(keys) and all(isinstance(key, (int, np.integer)) for key in keys)


_PAIRS = ("complex", "ri", "_pfnc_complex")


def _user_type(grp: Any, known: Any) -> Any:
    """The type of the dataset that stands for one of the library, in this group or above."""
    if known is None:
        return None
    named = (
        types[known.name]
        for group in scopes(grp)
        for types in (group.cmptypes, group.vltypes, group.enumtypes)
        if known.name in types
    )
    return next((each for each in named if each._known == known), None)


def _shown(found: Any, user_type: Any) -> Any:
    """The dtype that a variable shows."""
    if user_type is not None:
        return user_type.dtype
    dtype = found.dtype
    if is_string(dtype):
        return str
    plain = np.dtype(dtype.str)
    order = {"little": "<", "big": ">"}.get(found.endian)
    return plain if order is None or plain.itemsize == 1 or plain.kind not in "iuf" else plain.newbyteorder(order)


def _vlens(data: Any, dtype: Any) -> Any:
    if not isinstance(data, np.ndarray):
        return "" if data is None and dtype is str else data
    if dtype is str:
        is_null = np.array([item is None for item in data.flat], np.bool_).reshape(data.shape)
        data = np.where(is_null, "", data)
    return data if data.shape else data[()]
