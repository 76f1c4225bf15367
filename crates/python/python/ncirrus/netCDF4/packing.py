"""What is stored for numbers that are assigned, as netCDF4-python packs, rounds and fills them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus.netCDF4.constants import default_fillvals
from ncirrus.netCDF4.masking import Decoding
from ncirrus.netCDF4.utils import _quantize


def encoded(values: Any, decoding: Decoding, check: Callable[[Any], object] | None = None) -> NDArray[Any]:
    """The stored form of values: in the variable's type, of the same shape.

    Raises `RuntimeError` for masked values where `missing_value` is a list, and numpy's errors for values that are not
    numbers. `check` may raise for the array before the errors of packing.
    """
    data = _as_array(values, decoding)
    try:
        return _stored(data, decoding)
    except Exception:
        if check is not None:
            check(data)
        raise


def _stored(data: Any, decoding: Decoding) -> NDArray[Any]:
    if "least_significant_digit" in decoding.attributes:
        data = _quantize(data, decoding.attributes["least_significant_digit"])
    if decoding.scale:
        data = _filled(_packed(data, decoding), decoding)
    # Without scaling, the values below a mask are stored.
    return ma.getdata(data).astype(decoding.dtype, copy=False)


def _as_array(values: Any, decoding: Decoding) -> Any:
    """An array; it does not have an integer type if its numbers are packed afterwards."""
    if ma.isMA(values) or isinstance(getattr(values, "data", None), memoryview):
        return values
    attributes = decoding.attributes
    is_packed = decoding.scale and decoding.dtype.kind in "iu" and "scale_factor" in attributes
    return np.array(values, np.float64 if is_packed or "add_offset" in attributes else decoding.dtype)


def _packed(data: Any, decoding: Decoding) -> Any:
    scale, offset = (decoding.attributes.get(name) for name in ("scale_factor", "add_offset"))
    if offset is not None:
        data = data - offset
    if scale is not None:
        data = data / scale
    if (scale is not None or offset is not None) and decoding.dtype.kind in "iu":
        data = np.around(data)
    return data.astype(decoding.dtype) if data.dtype != decoding.dtype else data


def _filled(data: Any, decoding: Decoding) -> Any:
    """A plain array, in which masked elements have the value that stands for missing ones."""
    if not ma.isMA(data):
        return data
    missing = decoding.attributes.get("missing_value")
    is_missing_already = missing is not None and np.isin(data.data[ma.getmaskarray(data)], missing).all()
    if is_missing_already:
        return data.data
    if missing is not None and np.array(missing).shape != ():
        raise RuntimeError(
            "cannot assign fill_value for masked array when missing_value attribute is not a scalar"
        )
    default = default_fillvals[decoding.code]
    fill = missing if missing is not None else decoding.attributes.get("_FillValue", default)
    # numpy's constant for a masked element cannot be filled.
    is_alone = data.shape in ((), (1,)) and ma.getmaskarray(data).all()
    return np.full(data.shape, fill, decoding.dtype) if is_alone else data.filled(fill)
