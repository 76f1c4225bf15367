"""`Variable.append`, `grow_to` and assignments behind the end of an axis, in all kinds: they store what was given, or an error
names the axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ncirrus

# Whether only unlimited dimensions grow, or any one does, in NCZarr or in plain Zarr.
KINDS = {
    "nc3": "netcdf",
    "nc5": "netcdf",
    "nc4": "netcdf",
    "nc4c": "netcdf",
    "nczarr": "zarr",
    "nczarr3": "zarr",
    "zarr2": "plain",
    "zarr3": "plain",
}


def _create(path: Path | str, kind: str) -> ncirrus.Dataset:
    if kind in ("zarr3", "nczarr3"):
        return ncirrus.create(str(path), kind="zarr3", dialect="plain" if kind == "zarr3" else None)
    return ncirrus.create(str(path), kind=kind)


def _made(path: Path, kind: str, length: int | None = None) -> str:
    with _create(path, kind) as ds:
        ds.create_dimension("time", length)
        ds.create_dimension("x", 3)
        ds.create_variable("t", "i4", ("time",), fill_value=-1)[0:2] = [0, 1]
        ds.create_variable("v", "i4", ("time", "x"), fill_value=-1)[0:2] = [[0, 0, 0], [1, 1, 1]]
    return str(path)


def _values(path: str) -> tuple[list[int], list[int]]:
    with ncirrus.open(path) as ds:
        rows = ds["v"][...].tolist()
        assert all(len(set(row)) == 1 for row in rows)
        return ds["t"][...].tolist(), [row[0] for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_appends_one_variable_after_the_other_make_whole_records(tmp_path: Path, kind: str) -> None:
    path = _made(tmp_path / "a", kind)
    for session in range(2):
        with ncirrus.open(path, "r+") as ds:
            for number in range(2 + 2 * session, 4 + 2 * session):
                ds["t"].append([number])
                ds["v"].append([[number] * 3])
                if number % 2:
                    ds.sync()
            assert ds["t"].shape == (4 + 2 * session,)
    assert _values(path) == (list(range(6)), list(range(6)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_variable_goes_on_at_its_own_end_however_it_was_written(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "a")
    with _create(path, kind) as ds:
        ds.create_dimension("time", None)
        ds.create_dimension("x", 3)
        t = ds.create_variable("t", "i4", ("time",), fill_value=-1)
        t[0:4] = [0, 1, 2, 3]
        v = ds.create_variable("v", "i4", ("time", "x"), fill_value=-1)
        v.append([0, 0, 0])
        v[1] = 1
        v.append([[2] * 3])
        v.append(np.empty((0, 3), "i4"))
        v.append([[3] * 3, [4] * 3])
        t.append(4)
    assert _values(path) == (list(range(5)), list(range(5)))


@pytest.mark.parametrize("kind", KINDS)
def test_when_the_dataset_was_closed_variables_that_were_written_are_as_long_as_their_dimension(tmp_path: Path, kind: str) -> None:
    path = _made(tmp_path / "a", kind)
    with ncirrus.open(path, "r+") as ds:
        ds["t"].append([2, 3])
        ds["v"].append([[2] * 3])
    with ncirrus.open(path, "r+") as ds:
        ds["v"].append([[9] * 3])
    assert _values(path) == ([0, 1, 2, 3, -1], [0, 1, 2, -1, 9])


def test_a_variable_that_a_file_stores_shorter_than_its_dimension_goes_on_at_its_end(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    path = str(tmp_path / "a.nc")
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("t", "i4", ("time",), fill_value=-1)[:] = [0, 1, 2]
        file.createVariable("v", "i4", ("time", "x"), fill_value=-1)[0:1] = 0
    with ncirrus.open(path, "r+") as ds:
        ds["v"].append([[1] * 3])
        ds["t"].append([3])
        ds["v"].append([[2] * 3, [3] * 3])
    assert _values(path) == (list(range(4)), list(range(4)))


@pytest.mark.parametrize("kind", KINDS)
def test_an_axis_of_fixed_length_grows_in_zarr_and_is_named_elsewhere(tmp_path: Path, kind: str) -> None:
    path = _made(tmp_path / "a", kind, 2)
    grows = "netcdf" not in KINDS[kind]
    for number in (2, 3):
        with ncirrus.open(path, "r+") as ds:
            if grows:
                ds["v"].append([[number] * 3])
                ds["t"].append([number])
                assert len(ds.dims["time"]) == number + 1
                continue
            for refused in (lambda: ds["v"].append([[number] * 3]), lambda: ds["v"].grow_to((5, 3))):
                with pytest.raises(ncirrus.InvalidError, match="axis 0 cannot grow: the dimension time is not unlimited"):
                    refused()
    expected = list(range(4 if grows else 2))
    assert _values(path) == (expected, expected)
    with ncirrus.open(path, "r+") as ds:
        if grows:
            ds["v"].append(np.full((4, 1), 7), axis=1)
            ds["v"].grow_to((6, 5))
    with ncirrus.open(path) as ds:
        assert ds["v"].shape == ((6, 5) if grows else (2, 3))
        if grows:
            assert ds["v"][:, 3].tolist() == [7, 7, 7, 7, -1, -1]
            assert ds["v"][:, 4].tolist() == [-1] * 6


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_lie_behind_a_fixed_axis_are_refused(tmp_path: Path, kind: str) -> None:
    path = _made(tmp_path / "a", kind, 2)
    with ncirrus.open(path, "r+") as ds:
        for key in (slice(2, 3), (slice(2, 3), slice(None)), (..., slice(3, 4)), (slice(0, 2), slice(4, 9))):
            with pytest.raises(ncirrus.InvalidError, match=r"axis \d .*does not grow"):
                ds["v"][key] = 5
        # As with numpy, what reaches over the end ends there, and nothing may be written to nothing.
        ds["v"][1:9] = 1
        ds["v"][0:0] = 5
    assert _values(path) == ([0, 1], [0, 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [None, 2])
def test_what_is_unlimited_does_not_change_between_sessions(tmp_path: Path, kind: str, length: int | None) -> None:
    expected = length is None
    path = str(tmp_path / "a")
    with _create(path, kind) as ds:
        ds.create_dimension("time", length)
        v = ds.create_variable("v", "i4", ("time",))
        assert ds.dims["time"].is_unlimited == expected
        v[0:2] = [0, 1]
        assert ds.dims["time"].is_unlimited == expected
    for mode in ("r", "r+", "r"):
        with ncirrus.open(path, mode) as ds:
            assert ds.dims["time"].is_unlimited == expected
            if mode == "r+" and (length is None or "netcdf" not in KINDS[kind]):
                ds["v"].append([2])
                # In Zarr, what was appended to is unlimited from then on.
                expected = True
                assert ds.dims["time"].is_unlimited == expected


def test_arrays_without_names_of_dimensions_grow_one_by_one(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    path = str(tmp_path / "a.zarr")
    group = zarr.open_group(path, mode="w", zarr_format=3)
    group.create_array("a", shape=(3,), chunks=(2,), dtype="i4", fill_value=0)[...] = [0, 1, 2]
    group.create_array("square", shape=(4, 4), chunks=(2, 2), dtype="i4", fill_value=0)
    with ncirrus.open(path, "r+") as ds:
        ds["a"].append([3])
        with pytest.raises(ncirrus.InvalidError, match="axis 1 cannot grow"):
            ds["square"].append(np.ones((4, 1)), axis=1)
    again = zarr.open_group(path, mode="r")
    assert again["a"][...].tolist() == [0, 1, 2, 3] and again["square"].shape == (4, 4)
