"""The compiled passes over values say what numpy says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy import ma

from ncirrus.netCDF4 import masking
from ncirrus.netCDF4.masking import Decoding, Missing, decoded, mark

NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
# Below and above the number of elements that other cores are asked for.
SIZES = (0, 1, 7, 4097, 200_001)


def some(code: str, size: int) -> np.ndarray:
    random = np.random.default_rng([ord(letter) for letter in code])
    values = random.integers(0, 100, size).astype(code)
    if code[0] == "f":
        values[::11], values[3::101] = np.nan, np.inf
    return values


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("code", NUMBERS)
def test_missing_values_are_marked_as_by_numpy(code: str, size: int) -> None:
    data = some(code, size)
    of = lambda *numbers: np.array(numbers, code)
    fills = of(np.nan, 9) if code[0] == "f" else of(9)
    for sources, limits in (
        ((of(101),), (None, None)),
        ((of(7),), (None, None)),
        ((of(3, 4), fills), (None, None)),
        ((of(101),), (of(10)[0], None)),
        ((of(7), of(101)), (of(10)[0], of(90)[0])),
        ((), (None, of(120)[0])),
    ):
        missing = Missing(sources, limits, ())
        expected, marked = np.zeros(size, bool), np.zeros(size, bool)
        told = masking._mark_by_numpy(data, missing, expected)
        assert mark(data, missing, marked) == told
        np.testing.assert_array_equal(marked, expected)


def test_values_in_another_byte_order_are_marked_too() -> None:
    data = np.arange(10, dtype=">i2")
    mask = np.zeros(10, bool)
    assert mark(data, Missing((np.array([3], ">i2"),), (None, None), ()), mask) == ([True], False)
    assert mask.tolist() == [False] * 3 + [True] + [False] * 6


@pytest.mark.parametrize("width", ("f4", "f8"))
@pytest.mark.parametrize("code", NUMBERS)
def test_packed_values_are_unpacked_as_by_numpy(code: str, width: str) -> None:
    scale, offset = np.dtype(width).type(0.013), np.dtype(width).type(271.3)
    for size in SIZES:
        data = some(code, size).reshape(1, size)
        masked = ma.masked_array(data, mask=data == 9, fill_value=9)
        for values in (data, masked, ma.masked_array(data)):
            for packing in ((scale, offset), (scale, None), (None, offset), (scale, np.float64(3.5))):
                expected = masking._linear_by_numpy(values, *packing)
                got = masking._linear(values, *packing)
                assert type(got) is type(expected) and got.dtype == expected.dtype
                np.testing.assert_array_equal(ma.getmaskarray(got), ma.getmaskarray(expected))
                np.testing.assert_array_equal(ma.getdata(got), ma.getdata(expected))
                if ma.isMA(got):
                    assert repr(got.fill_value) == repr(expected.fill_value)


def test_a_scale_that_is_an_integer_is_numpys() -> None:
    data = np.arange(5000, dtype="i2")
    got = masking._linear(data, np.int16(3), None)
    assert got.dtype == np.dtype("i2")
    np.testing.assert_array_equal(got, data * np.int16(3))


def test_what_is_missing_is_found_out_once_for_all_reads() -> None:
    decoding = Decoding(np.dtype("i2"), {"_FillValue": np.int16(-1), "valid_max": np.int16(90)})
    assert decoding.missing is decoding.missing
    assert decoded(np.array([1, -1, 91], "i2"), decoding).mask.tolist() == [False, True, True]
