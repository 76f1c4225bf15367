"""Values as the attributes of their variable mean them (CF): missing ones masked, packed ones unpacked, times as dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ncirrus.errors import InvalidError
from ncirrus.indexing import has_dots
from ncirrus.types import _DTYPES

if TYPE_CHECKING:
    from ncirrus.variable import Variable

_Masked = np.ma.MaskedArray[Any, Any]

# Calendars whose dates numpy has, but for those of the standard one before the reform of 1582.
_OF_NUMPY = ("standard", "proleptic_gregorian")
_TIME = np.dtype("M8[us]")


class DecodedIndexer:
    """Decoded values by another kind of index."""

    __slots__ = ("_decoded", "_indexing")

    def __init__(self, decoded: DecodedVariable, indexing: Literal["outer", "points"]) -> None:
        self._decoded, self._indexing = decoded, indexing

    def __getitem__(self, selection: Any) -> Any:
        return self._decoded.read(selection, indexing=self._indexing)


class DecodedVariable:
    """A variable whose values are decoded by its attributes when they are read: `v.cf`.

    `_FillValue`, `missing_value` and the valid range define missing values, `scale_factor` and `add_offset` how packed
    numbers are unpacked, `_Unsigned` whether integers are read as unsigned ones, and `units` and `calendar` the dates
    of times.
    """

    __slots__ = ("_variable",)

    def __init__(self, variable: Variable) -> None:
        self._variable = variable

    def __repr__(self) -> str:
        return f"<decoded values of {self._variable!r}>"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the decoded numbers; that of times as numbers, too."""
        return self._dtype(self._variable._native().decoding())

    @property
    def calendar(self) -> str | None:
        """Calendar of the dates; `None` if the values are not times."""
        return self._variable._native().decoding().calendar()  # type: ignore[no-any-return]

    @property
    def oindex(self) -> DecodedIndexer:
        """Orthogonal indexing: each axis is indexed for itself."""
        return DecodedIndexer(self, "outer")

    @property
    def vindex(self) -> DecodedIndexer:
        """Pointwise indexing: the axes of the indices come first."""
        return DecodedIndexer(self, "points")

    def __getitem__(self, selection: Any) -> Any:
        return self.read(selection)

    def read(
        self,
        sel: Any = ...,
        *,
        out: NDArray[Any] | None = None,
        indexing: Literal["numpy", "outer", "points"] = "numpy",
        times: Literal["auto", "datetime64", "cftime", "numbers"] = "auto",
    ) -> Any:
        """Decoded values of a selection, as a masked array; of a single element a scalar, or `numpy.ma.masked`.

        Times are `datetime64[us]` if all selected ones are dates of the Gregorian calendar, else objects of
        cftime; `times` selects one of these, or `"numbers"`. Numbers that are not a date of the calendar are masked.
        `out` is an array of the decoded type; the mask of a masked array is set.
        """
        if times not in ("auto", "datetime64", "cftime", "numbers"):
            raise ValueError(f"times={times!r} is not 'auto', 'datetime64', 'cftime' or 'numbers'")
        variable = self._variable
        # Types that have no decoding are refused.
        decoding = variable._native().decoding()
        stored = np.asarray(variable.read(sel, indexing=indexing), dtype=variable.dtype)
        if variable.dtype.kind == "O":
            # Text of any length is as it is stored.
            return _given(np.ma.MaskedArray(stored), sel, out, variable.path)
        # Elements are decoded one after the other; results of orthogonal indices may lie otherwise.
        flat = np.ascontiguousarray(stored).reshape(-1)
        numbers, missing = np.empty(flat.size, self._dtype(decoding)), np.zeros(flat.size, bool)
        decoding.decode(flat.view("u1"), numbers.view("u1"), missing)
        values: NDArray[Any] = numbers
        if times != "numbers" and decoding.calendar() is not None:
            values = _dates(decoding, numbers, missing, times, variable.path)
        mask = missing.reshape(stored.shape) if missing.any() else np.ma.nomask
        return _given(np.ma.MaskedArray(values.reshape(stored.shape), mask), sel, out, variable.path)

    def _dtype(self, decoding: Any) -> np.dtype[Any]:
        decoded, own = _DTYPES[decoding.decoded_type()], self._variable.dtype
        # An enum stays what it is.
        return own if decoded == own else decoded


def _given(array: _Masked, sel: Any, out: NDArray[Any] | None, path: str) -> Any:
    """What the caller is given: the array, his own one, or a scalar."""
    if out is not None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{path}: out is a {type(out).__name__}, and must be an array of numpy")
        if out.shape != array.shape:
            raise ValueError(f"{path}: out has the shape {out.shape}, the selection {array.shape}")
        if out.dtype != array.dtype:
            raise TypeError(f"{path}: out is of type {out.dtype}, the decoded values of {array.dtype}")
        if isinstance(out, np.ma.MaskedArray):
            out[...] = array
        else:
            out[...] = array.data
        return out
    if array.shape or has_dots(sel):
        return array
    return np.ma.masked if np.ma.getmaskarray(array)[()] else array.data[()]


def _dates(decoding: Any, numbers: NDArray[Any], missing: NDArray[Any], times: Literal["auto", "datetime64", "cftime", "numbers"], path: str) -> NDArray[Any]:
    """Dates of numbers. Numbers that are not dates are missing, too."""
    calendar = decoding.calendar()
    if times != "cftime" and calendar in _OF_NUMPY:
        instants = np.empty(numbers.size, np.int64)
        if decoding.instants(numbers.view("u1"), missing, instants):
            return instants.view(_TIME)
    if times == "datetime64":
        message = f"dates of the calendar {calendar!r} that datetime64 does not have"
        raise InvalidError(message, path=path, hint='times="cftime" gives objects of cftime')
    made = _class_of(calendar)
    # Without a year 0, the year before 1 is -1.
    shift = 0 if made(1, 1, 1).has_year_zero else 1
    found = np.empty(numbers.size, object)
    for at, date in enumerate(decoding.dates(numbers.view("u1"), missing)):
        if date is not None:
            year, *rest = date
            found[at] = made(year if year > 0 else year - shift, *rest)
    return found


def _class_of(calendar: str) -> Any:
    import cftime

    return {
        "standard": cftime.DatetimeGregorian,
        "proleptic_gregorian": cftime.DatetimeProlepticGregorian,
        "julian": cftime.DatetimeJulian,
        "noleap": cftime.DatetimeNoLeap,
        "all_leap": cftime.DatetimeAllLeap,
        "360_day": cftime.Datetime360Day,
    }[calendar]
