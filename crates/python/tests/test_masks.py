"""Masked values of another type than the variable's, and integers that no double holds: what is stored is what netCDF4 stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

netCDF4 = pytest.importorskip("netCDF4")

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
FILLS: dict[str, Any] = {"i1": -99, "i2": -9999, "i4": -99999, "i8": -(2**53) - 1, "f4": -9.5e30}
FILLS |= {"u1": 201, "u2": 60001, "u4": 4000000001, "u8": 2**63 + 1, "f8": -1e300}


def _masked(given: str) -> Any:
    data = np.array([1, 100, 3, 4], given)
    if given[0] == "f":
        # What is hidden need not fit.
        data[1] = np.nan
    return np.ma.masked_array(data, [False, True, False, False])


def _stored(path: Path, name: str = "v") -> Any:
    with netCDF4.Dataset(path) as ds:
        ds.set_auto_mask(False)
        return ds[name][...]


@pytest.mark.parametrize("stored", NUMBERS)
@pytest.mark.parametrize("given", [*NUMBERS, "?"])
@pytest.mark.parametrize("own", [True, False])
def test_masked_values_of_any_type_become_the_fill_value_of_the_variable(
    tmp_path: Path, given: str, stored: str, own: bool
) -> None:
    values, fill = _masked(given), FILLS[stored] if own else None
    with netCDF4.Dataset(tmp_path / "theirs.nc", "w") as theirs:
        theirs.createDimension("x", 4)
        v = theirs.createVariable("v", stored, ("x",), fill_value=fill)
        with np.errstate(invalid="ignore"):
            v[...] = values
    with ncirrus.create(str(tmp_path / "ours.nc4")) as ours:
        ours.create_dimension("x", 4)
        ours.create_variable("v", stored, ("x",), fill_value=fill)[...] = values
    assert np.array_equal(_stored(tmp_path / "ours.nc4"), _stored(tmp_path / "theirs.nc"))


WAYS: list[Any] = [
    lambda v, values: v.__setitem__(slice(None), values),
    lambda v, values: v.oindex.__setitem__(np.array([0, 1, 2, 3]), values),
    lambda v, values: v.vindex.__setitem__(np.array([0, 1, 2, 3]), values),
    lambda v, values: (v.grow_to([4]), v.__setitem__(np.array([True] * 4), values)),
    lambda v, values: [v.__setitem__(at, values[at]) for at in range(4)],
    lambda v, values: v.write(slice(0, 4), values, progress=lambda *_: None),
    lambda v, values: v.append(values),
]


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_every_way_of_writing_fills_after_the_cast(tmp_path: Path, way: int) -> None:
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        ds.create_dimension("t", None)
        v = ds.create_variable("v", "i4", ("t",), fill_value=-99999)
        WAYS[way](v, _masked("i2"))
    assert _stored(tmp_path / "a.nc4").tolist() == [1, -99999, 3, 4]


def test_encoders_and_joint_writers_fill_after_the_cast(tmp_path: Path) -> None:
    url = str(tmp_path / "a.zarr")
    with ncirrus.create(url) as ds:
        ds.create_dimension("x", 4)
        v = ds.create_variable("v", "i4", ("x",), fill_value=-99999, chunks=(4,))
        v.write_encoded(v.encoder().encode((0,), _masked("i2")))
    with ncirrus.open(url) as ds:
        assert ds["v"][...].tolist() == [1, -99999, 3, 4]


def test_masked_text_and_characters_become_the_fill_value(tmp_path: Path) -> None:
    texts = np.ma.masked_array(["abcdef", "hidden", "c"], [False, True, False])
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        ds.create_dimension("x", 3)
        ds.create_dimension("n", 6)
        ds.create_variable("s", str, ("x",), fill_value="none")[...] = texts
        ds.create_variable("t", str, ("x",))[...] = texts
        ds.create_variable("c", "S1", ("x", "n"), fill_value=b"_")[...] = texts
    with ncirrus.open(str(tmp_path / "a.nc4")) as ds:
        assert list(ds["s"][...]) == ["abcdef", "none", "c"]
        assert list(ds["t"][...]) == ["abcdef", "", "c"]
        assert [bytes(row.tobytes()) for row in ds["c"][...]] == [b"abcdef", b"_" * 6, b"c" + b"\0" * 5]


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("u8", [2**63 + 1, 1]),
        ("u8", [2**64 - 1, 0]),
        ("i8", [2**63 - 1, -1]),
        ("i8", [2**53 + 1, -(2**53) - 1]),
        ("u8", [np.uint64(2**64 - 1), np.int64(1)]),
    ],
)
def test_integers_beyond_doubles_keep_all_their_digits(tmp_path: Path, dtype: str, values: list[int]) -> None:
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        ds.create_dimension("x", 2)
        ds.create_variable("v", dtype, ("x",))[...] = values
        with pytest.raises(ncirrus.InvalidError, match="fit no single type"):
            ds.attrs["wide"] = [2**63 + 1, -1]
    assert _stored(tmp_path / "a.nc4").tolist() == [int(value) for value in values]


def test_integers_beyond_the_type_are_errors(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        ds.create_dimension("x", 2)
        v = ds.create_variable("v", "u8", ("x",))
        with pytest.raises(ncirrus.InvalidError, match="18446744073709551616 does not fit"):
            v[...] = [2**64, 0]
        with pytest.raises(ncirrus.InvalidError, match="does not fit"):
            v[...] = [2**63, -1]
