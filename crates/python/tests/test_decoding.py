"""`v.cf`: values as their attributes mean them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

PACKED = np.arange(24, dtype="i2").reshape(4, 6)


def _made(tmp_path: Path, values: Any, dtype: Any, **attrs: Any) -> Any:
    """A variable `v` of those values, along as many dimensions as they have."""
    path = str(tmp_path / "a.nc")
    values = np.asarray(values)
    with ncirrus.create(path, "nc4") as ds:
        dims = [f"d{at}" for at in range(values.ndim)]
        for name, length in zip(dims, values.shape):
            ds.create_dimension(name, length)
        ds.create_variable("v", dtype, dims, attrs=attrs)[...] = values
    return ncirrus.open(path)["v"]


def _packed(tmp_path: Path) -> Any:
    return _made(
        tmp_path, PACKED, "i2", _FillValue=np.int16(7), scale_factor=np.float32(0.5), add_offset=np.float32(10)
    )


def _same(got: Any, expected: Any, missing: Any) -> None:
    assert isinstance(got, np.ma.MaskedArray) and got.dtype == expected.dtype
    assert np.array_equal(np.ma.getmaskarray(got), missing)
    assert np.array_equal(got.compressed(), expected[~missing])


def test_packed_numbers_are_unpacked_and_missing_ones_masked(tmp_path: Path) -> None:
    v = _packed(tmp_path)
    expected, missing = PACKED.astype("f4") / 2 + 10, PACKED == 7
    assert v.cf.dtype == "f4" and v.cf.calendar is None
    _same(v.cf[...], expected, missing)
    _same(v.cf[1, ::-2], expected[1, ::-2], missing[1, ::-2])
    _same(v.cf[v[...] > 5], expected[PACKED > 5], missing[PACKED > 5])
    _same(v.cf.oindex[[3, 1], [1, 1, 0]], expected[[3, 1]][:, [1, 1, 0]], missing[[3, 1]][:, [1, 1, 0]])
    _same(v.cf.vindex[[3, 1], [1, 1]], expected[[3, 1], [1, 1]], missing[[3, 1], [1, 1]])
    assert v[1, 1] == 7


def test_single_elements_are_scalars_or_masked(tmp_path: Path) -> None:
    v = _packed(tmp_path)
    assert v.cf[1, 1] is np.ma.masked
    assert isinstance(v.cf[0, 1], np.float32) and v.cf[0, 1] == 10.5
    whole = v.cf[0, 1, ...]
    assert isinstance(whole, np.ma.MaskedArray) and whole.shape == () and whole == 10.5


def test_out_is_filled_with_decoded_values(tmp_path: Path) -> None:
    v = _packed(tmp_path)
    plain, masked = np.zeros((4, 6), "f4"), np.ma.zeros((4, 6), "f4")
    assert v.cf.read(out=plain) is plain and v.cf.read(out=masked) is masked
    assert np.isnan(plain[1, 1]) and plain[0, 1] == 10.5
    assert masked[1, 1] is np.ma.masked and np.ma.count_masked(masked) == 1
    with pytest.raises(TypeError, match="/v: out is of type int16, the decoded values of float32"):
        v.cf.read(out=np.zeros((4, 6), "i2"))
    with pytest.raises(ValueError, match=r"/v: out has the shape \(4,\), the selection \(4, 6\)"):
        v.cf.read(out=np.zeros(4, "f4"))


@pytest.mark.parametrize(
    ("attrs", "missing"),
    [
        ({"missing_value": np.array([3, 5], "i2")}, [3, 5]),
        ({"valid_min": np.int16(2)}, [0, 1]),
        ({"valid_max": np.int16(3)}, [4, 5]),
        ({"valid_range": np.array([1, 4], "i2")}, [0, 5]),
        ({"_FillValue": np.int16(1), "missing_value": np.int16(2)}, [1, 2]),
        ({}, []),
    ],
)
def test_what_attributes_exclude_is_masked(tmp_path: Path, attrs: Any, missing: list[int]) -> None:
    v = _made(tmp_path, np.arange(6, dtype="i2"), "i2", **attrs)
    got = v.cf[...]
    assert got.dtype == "i2" and list(np.flatnonzero(np.ma.getmaskarray(got))) == missing


def test_elements_that_were_never_written_are_masked(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("x", 4)
        ds.create_variable("v", "f4", ("x",))[:2] = [1, 2]
        ds.create_variable("own", "i4", ("x",), fill_value=-1)[:2] = [1, 2]
    ds = ncirrus.open(place)
    assert list(np.ma.getmaskarray(ds["v"].cf[...])) == [False, False, True, True]
    assert list(np.ma.getmaskarray(ds["own"].cf[...])) == [False, False, True, True]


def test_integers_may_be_taken_for_unsigned_ones(tmp_path: Path) -> None:
    v = _made(tmp_path, np.array([-1, 1], "i1"), "i1", _Unsigned="true")
    assert v.cf.dtype == "u1" and v.cf[...].tolist() == [255, 1]


@pytest.mark.parametrize(
    ("units", "calendar", "numbers"),
    [
        ("days since 2000-01-01", None, [0, 0.5, 366]),
        ("hours since 1970-01-01 06:00:00 -06:00", "proleptic_gregorian", [-1, 0, 1e6]),
        ("seconds since 0001-01-01", "proleptic_gregorian", [0, 1.25, 6e10]),
        ("microseconds since 1970-01-01", "standard", [1, 1_700_000_000_123_456]),
    ],
)
def test_times_of_the_gregorian_calendar_are_those_of_numpy(
    tmp_path: Path, units: str, calendar: str | None, numbers: Any
) -> None:
    cftime = pytest.importorskip("cftime")
    attrs = {"units": units} if calendar is None else {"units": units, "calendar": calendar}
    v = _made(tmp_path, np.array(numbers, "f8"), "f8", **attrs)
    got = v.cf[...]
    assert got.dtype == "M8[us]" and not np.ma.getmaskarray(got).any()
    dates = cftime.num2date(numbers, units, calendar or "standard", only_use_cftime_datetimes=False)
    expected = np.array([np.datetime64(str(date).replace(" ", "T"), "us") for date in dates])
    assert np.array_equal(got.data, expected)
    assert v.cf[1] == expected[1] and isinstance(v.cf[1], np.datetime64)
    assert v.cf.read(times="numbers").tolist() == list(numbers)


@pytest.mark.parametrize(
    ("units", "calendar", "numbers"),
    [
        ("days since 2000-02-28", "noleap", [0, 1, 400.25]),
        ("days since 2000-02-28", "all_leap", [0, 1, 400.25]),
        ("days since 2000-02-30", "360_day", [0, 1, 400.25]),
        ("hours since 1500-02-28", "julian", [0, 24.5]),
        ("days since 1582-10-04", "standard", [0, 1]),
        ("days since 0001-01-01", "noleap", [-1, 0]),
    ],
)
def test_other_times_are_objects_of_cftime(tmp_path: Path, units: str, calendar: str, numbers: Any) -> None:
    cftime = pytest.importorskip("cftime")
    v = _made(tmp_path, np.array(numbers, "f8"), "f8", units=units, calendar=calendar)
    got = v.cf[...]
    expected = cftime.num2date(numbers, units, calendar, only_use_cftime_datetimes=True)
    assert got.dtype == object and v.cf.calendar == calendar
    assert list(got) == list(expected)
    assert [type(date).__name__ for date in got] == [_NAMES[calendar]] * len(numbers)
    assert v.cf[0] == expected[0]
    with pytest.raises(ncirrus.InvalidError, match="that datetime64 does not have") as caught:
        v.cf.read(times="datetime64")
    assert caught.value.path == "/v" and "cftime" in str(caught.value.hint)


_NAMES = {
    "noleap": "DatetimeNoLeap",
    "all_leap": "DatetimeAllLeap",
    "360_day": "Datetime360Day",
    "julian": "DatetimeJulian",
    "standard": "DatetimeGregorian",
}


def test_cftime_may_be_asked_for(tmp_path: Path) -> None:
    cftime = pytest.importorskip("cftime")
    v = _made(tmp_path, np.array([0, 1], "i4"), "i4", units="days since 2000-01-01")
    assert list(v.cf.read(times="cftime")) == [cftime.DatetimeGregorian(2000, 1, 1), cftime.DatetimeGregorian(2000, 1, 2)]


def test_times_that_are_missing_or_none_are_masked(tmp_path: Path) -> None:
    numbers = np.array([0, -1, np.nan, 1e300])
    v = _made(tmp_path, numbers, "f8", units="days since 2000-01-01", missing_value=-1.0)
    got = v.cf[...]
    assert list(np.ma.getmaskarray(got)) == [False, True, True, True] and np.isnat(got.data[1:]).all()
    assert v.cf[1] is np.ma.masked


def test_text_stays_what_it_is_and_compounds_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "t.nc")
    with ncirrus.create(path, "nc4") as ds:
        ds.create_dimension("x", 2)
        ds.create_variable("s", str, ("x",))[...] = ["a", "b"]
        ds.create_variable("c", "char", ("x",), attrs={"missing_value": ncirrus.Char("y")})[...] = [b"x", b"y"]
        pair = ds.create_type(ncirrus.Compound("pair", [("a", "i4"), ("b", "f8")]))
        ds.create_variable("p", pair, ("x",))
    ds = ncirrus.open(path)
    assert ds["s"].cf[...].tolist() == ["a", "b"] and ds["s"].cf[0] == "a"
    assert ds["c"].cf[0] == b"x" and ds["c"].cf[1] is np.ma.masked
    with pytest.raises(ncirrus.InvalidError, match="only numbers and text") as caught:
        ds["p"].cf[...]
    assert caught.value.path == "/p"


def test_enums_stay_enums(tmp_path: Path) -> None:
    path = str(tmp_path / "e.nc")
    with ncirrus.create(path, "nc4") as ds:
        ds.create_dimension("x", 2)
        cloud = ds.create_type(ncirrus.Enum("cloud", "u1", {"clear": 0, "rain": 5}))
        ds.create_variable("v", cloud, ("x",))[...] = [5, 0]
    v = ncirrus.open(path)["v"]
    assert v.cf.dtype.metadata == v.dtype.metadata and v.cf[...].tolist() == [5, 0]


def test_words_for_times_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="times='dates' is not"):
        _packed(tmp_path).cf.read(times="dates")
