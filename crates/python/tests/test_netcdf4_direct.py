"""Reads of simple indices take one call from the second one on, and give what the first one gave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_comparing import outcome
from numpy import ma

import ncirrus.netCDF4 as ours
from ncirrus import indexing
from ncirrus.netCDF4 import masking, selections
from ncirrus.netCDF4.variables import Variable

SHAPE = (6, 5)
KEYS: tuple[Any, ...] = (
    *(0, 5, -1, -6, 6, -7, np.int64(2), np.uint8(3), True, None, 1.0),
    *(slice(None), slice(1, 4), slice(4, 1), slice(5, None, 2), slice(None, None, -1), slice(2, 99), ...),
    *((), (2, 3), (2, slice(None)), (..., 1), (slice(None), 4), (1, 2, 3), (-1, -1), (..., ...), (2, 3, ...)),
    *([0, 2, 5], [5, 0], (slice(None), [1, 2, 4]), ([0, 3], [4, 0]), (2, [0, 1, 4]), ([-1, 2], slice(4, None, -2))),
    *((np.int32(1), 2), (np.int64(5), np.int64(0)), np.arange(6) % 2 == 0, []),
)
ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {},
    {"missing_value": 7},
    {"missing_value": [7, 8], "valid_max": 25},
    {"valid_range": [3, 20]},
    {"valid_min": 3.5},
    {"scale_factor": 0.5, "add_offset": 10.0},
    {"scale_factor": np.float32(2.0), "missing_value": 7},
    {"scale_factor": "none"},
    {"_Unsigned": "true"},
)
FLAGS = ((True, True, True), (True, True, False), (False, True, True), (True, False, True), (False, False, False))


@pytest.fixture(params=("i1", "u1", "i2", ">i4", "i8", "f4", "f8", "S1"))
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    values = np.arange(30).reshape(SHAPE)
    with ours.Dataset(tmp_path / "a.nc", "w") as made:
        made.createDimension("y", None)
        made.createDimension("x", SHAPE[1])
        for number, attributes in enumerate(ATTRIBUTES):
            variable = made.createVariable(f"v{number}", request.param, ("y", "x"), fill_value=b"a" if request.param == "S1" else 29)
            variable[:] = values.astype("S1") if request.param == "S1" else values
            variable.setncatts(attributes)
    with ours.Dataset(tmp_path / "a.nc") as found:
        yield found


@pytest.mark.filterwarnings("ignore")
def test_later_reads_give_what_the_first_one_gave(file: Any) -> None:
    for variable in file.variables.values():
        for flags in FLAGS:
            variable.set_auto_mask(flags[0])
            variable.set_auto_scale(flags[1])
            variable.set_always_mask(flags[2])
            for key in KEYS:
                variable._forget()
                first = outcome(lambda: variable[key], "")  # noqa: B023
                assert outcome(lambda: variable[key], "") == first, (variable, flags, key)  # noqa: B023
                # Another index in between says how values are decoded, where that failed.
                outcome(lambda: variable[0, 0], "")  # noqa: B023
                assert outcome(lambda: variable[key], "") == first, (variable, flags, key)  # noqa: B023


def rows(path: Path) -> Any:
    with ours.Dataset(path, "w") as made:
        made.createDimension("y", 6)
        made.createDimension("x", 5)
        variable = made.createVariable("v", "i2", ("y", "x"), fill_value=-1)
        variable[:] = ma.masked_equal(np.arange(30).reshape(SHAPE), 8)
        variable.scale_factor = 0.5
    return ours.Dataset(path, "r+")


def test_attributes_are_fetched_once_and_again_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    usual = Variable._dictionary

    def counted(self: Variable) -> dict[str, Any]:
        fetched.append(self._name)
        return usual(self)

    monkeypatch.setattr(Variable, "_dictionary", counted)
    with rows(tmp_path / "a.nc") as file:
        variable = file["v"]
        fetched.clear()
        for row in range(6):
            assert variable[row][4] == (5 * row + 4) / 2
        assert fetched == ["v"]
        variable.valid_max = np.int16(20)
        assert variable[4].mask.tolist() == [False, True, True, True, True]
        assert variable[4].mask.tolist() == [False, True, True, True, True]
        assert fetched == ["v"] * 2
        del variable.valid_max
        assert not ma.getmaskarray(variable[4]).any() and not ma.getmaskarray(variable[4]).any()
        variable.renameAttribute("scale_factor", "factor")
        assert [variable[4, 0], variable[4, 0]] == [20, 20]
        variable.set_auto_mask(False)
        assert [variable[1, 3], variable[1, 3]] == [-1, -1]


def test_simple_indices_are_not_taken_apart_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any, **__: Any) -> Any:
        raise AssertionError("a call for each read")

    with rows(tmp_path / "a.nc") as file:
        variable = file["v"]
        expected = variable[:]
        for module, name in ((selections, "by_axis"), (selections, "read"), (masking, "mark"), (masking, "decoded")):
            monkeypatch.setattr(module, name, forbidden)
        for key in (1, slice(2, 5), (1, slice(None)), (..., 2), np.int64(3)):
            np.testing.assert_array_equal(ma.getmaskarray(variable[key]), ma.getmaskarray(expected[key]))
            np.testing.assert_array_equal(variable[key], expected[key])
        with pytest.raises(AssertionError):
            variable[[1, 2, 5]]


def test_lists_are_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: Any, **__: Any) -> Any:
        raise AssertionError("resolved again")

    with rows(tmp_path / "a.nc") as file:
        variable = file["v"]
        expected = variable[:]
        monkeypatch.setattr(indexing, "outer", forbidden)
        np.testing.assert_array_equal(variable[[1, 2, 5], 1:4:2], expected[[1, 2, 5], 1:4:2])
        np.testing.assert_array_equal(variable[4, [-1, 0]], expected[4, [-1, 0]])


def test_values_larger_than_the_memory_of_the_session_are_mapped_all_the_same(tmp_path: Path) -> None:
    import ncirrus

    with ours.Dataset(tmp_path / "a.nc", "w") as made:
        made.createDimension("y", 2048)
        made.createDimension("x", 2048)
        made.createVariable("v", "f8", ("y", "x"), chunksizes=(64, 2048))[:] = np.arange(2048.0)
    with ours.Dataset(tmp_path / "a.nc", session=ncirrus.Session(memory="16 MiB")) as file:
        variable = file["v"]
        few = [0, 5, 9]
        for _ in range(2):
            assert variable[few].shape == (3, 2048)
            assert (variable[np.r_[0:1500, 1501:2048]].sum(axis=0) == np.arange(2048.0) * 2047).all()
            assert (variable[...][77] == np.arange(2048.0)).all()
