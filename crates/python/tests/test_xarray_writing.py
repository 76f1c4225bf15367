"""`ds.ncirrus.to(...)`: the modes of `to_zarr` for every kind, appends that are checked, and regions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import ncirrus
import ncirrus.xarray

KINDS = {"nc3": "a.nc", "nc4": "a.nc", "nczarr": "a.zarr", "zarr2": "a.zarr", "zarr3": "a.zarr"}
GROWING = ["nc4", "nc3", "nczarr", "zarr2", "zarr3"]


def sample(steps: int = 4, start: str = "2000-01-01", freq: str = "D") -> xr.Dataset:
    time = pd.date_range(start, periods=steps, freq=freq)
    values = np.arange(steps * 6, dtype="f4").reshape(steps, 2, 3)
    return xr.Dataset(
        {"t": (("time", "y", "x"), values, {"units": "K"}), "mask": (("y", "x"), np.ones((2, 3), "i1"))},
        {"time": time, "y": [10.0, 20.0], "x": [1.0, 2.0, 3.0]},
        {"title": "a sample"},
    )


def reopened(path: Any, **words: Any) -> xr.Dataset:
    with xr.open_dataset(path, engine="ncirrus", **words) as dataset:
        return dataset.load()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_written_and_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / KINDS[kind]
    assert sample().ncirrus.to(path, kind=kind) is None
    xr.testing.assert_identical(reopened(path), sample())
    with pytest.raises(FileExistsError):
        sample().ncirrus.to(path, kind=kind)
    sample(2).ncirrus.to(path, kind=kind, mode="w")
    xr.testing.assert_identical(reopened(path), sample(2))


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_zarr_is_read_by_its_own_engine(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.zarr"
    sample().ncirrus.to(path, kind=kind)
    with xr.open_dataset(path, engine="zarr") as dataset:
        xr.testing.assert_equal(dataset.load(), sample())


def test_arrays_and_trees_are_written(tmp_path: Path) -> None:
    array = sample()["t"]
    array.ncirrus.to(tmp_path / "a.nc")
    xr.testing.assert_identical(xr.open_dataarray(tmp_path / "a.nc", engine="ncirrus").load(), array)
    tree = xr.DataTree.from_dict({"/": sample()[["mask"]], "/below": sample()[["t"]].drop_vars(["x", "y"])})
    for name in ("tree.nc", "tree.zarr"):
        tree.ncirrus.to(tmp_path / name)
        with xr.open_datatree(tmp_path / name, engine="ncirrus") as found:
            xr.testing.assert_equal(found.load(), tree)


def test_save_is_the_same_as_a_function(tmp_path: Path) -> None:
    ncirrus.xarray.save(sample(), tmp_path / "a.nc", encoding={"t": {"zlib": True, "complevel": 3}})
    encoding = reopened(tmp_path / "a.nc")["t"].encoding
    assert encoding["zlib"] and encoding["complevel"] == 3


@pytest.mark.parametrize("kind", GROWING)
def test_appends_go_on_where_the_axis_ends(tmp_path: Path, kind: str) -> None:
    path = tmp_path / KINDS[kind]
    whole = sample(7)
    whole.isel(time=slice(0, 4)).ncirrus.to(path, kind=kind, unlimited_dims=["time"])
    whole.isel(time=slice(4, 7)).ncirrus.to(path, append_dim="time")
    xr.testing.assert_identical(reopened(path), whole)


def refused(path: Path, added: xr.Dataset, *parts: str) -> None:
    """An append that is refused with these words, and leaves what is there as it was."""
    before = reopened(path)
    with pytest.raises(ValueError) as told:
        added.ncirrus.to(path, append_dim="time")
    for part in parts:
        assert part in str(told.value), str(told.value)
    xr.testing.assert_identical(reopened(path), before)


@pytest.fixture(params=["nc4", "zarr2"])
def stored(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / KINDS[request.param]
    sample().ncirrus.to(path, kind=request.param, unlimited_dims=["time"])
    return path


def test_six_hourly_steps_do_not_fit_days(stored: Path) -> None:
    refused(stored, sample(4, "2000-01-05", "6h"), "'time'", "2000-01-05T06:00:00")


def test_levels_in_another_order_are_refused(stored: Path) -> None:
    refused(stored, sample(2, "2000-01-05").isel(y=[1, 0]), "'y'", "20.0", "10.0")


def test_times_that_do_not_go_on_are_refused(stored: Path) -> None:
    refused(stored, sample(2, "2000-01-03"), "'time'", "does not continue")


def test_another_shape_is_refused(stored: Path) -> None:
    refused(stored, sample(2, "2000-01-05").isel(x=[0, 1]), "'x'", "3 there and 2 here")


def test_other_dimensions_are_refused(stored: Path) -> None:
    added = sample(2, "2000-01-05")
    added["t"] = (("time", "y", "z"), np.zeros((2, 2, 3), "f4"))
    refused(stored, added, "'t'", "different dimension names")


def test_a_dimension_that_is_not_there_is_refused(stored: Path) -> None:
    with pytest.raises(ValueError, match="append_dim='step'"):
        sample(2).ncirrus.to(stored, append_dim="step")


def test_packed_values_are_exact_or_refused(tmp_path: Path) -> None:
    packing = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 100.0, "_FillValue": np.int16(-1)}
    path = tmp_path / "a.nc"
    sample().ncirrus.to(path, unlimited_dims=["time"], encoding={"t": packing})
    added = sample(2, "2000-01-05")
    added["t"] = added["t"] * 0 + 101.5
    added.ncirrus.to(path, append_dim="time")
    assert (reopened(path)["t"][4:] == 101.5).all()
    for value in (101.3, 1e6):
        worse = sample(2, "2000-01-07")
        worse["t"] = worse["t"] * 0 + np.float32(value)
        refused(path, worse, "'t'", f"{value:.6g}"[:5])


def test_values_out_of_range_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    first = xr.Dataset({"n": ("time", np.arange(3, dtype="i2"))}, {"time": [0, 1, 2]})
    first.ncirrus.to(path, unlimited_dims=["time"])
    refused(path, xr.Dataset({"n": ("time", [70_000])}, {"time": [3]}), "'n'", "70000", "int16")
    refused(path, xr.Dataset({"n": ("time", [0.5])}, {"time": [3]}), "'n'", "0.5", "int16")
    xr.Dataset({"n": ("time", [7.0])}, {"time": [3]}).ncirrus.to(path, append_dim="time")
    assert reopened(path)["n"].values.tolist() == [0, 1, 2, 7]


def test_append_keeps_to_the_stored_units(stored: Path) -> None:
    added = sample(2, "2000-01-05")
    added["time"].encoding["units"] = "hours since 1950-01-01"
    units = reopened(stored)["time"].encoding["units"]
    added.ncirrus.to(stored, append_dim="time")
    assert reopened(stored)["time"].encoding["units"] == units
    assert reopened(stored).sizes["time"] == 6


def test_only_what_has_the_dimension_is_appended(stored: Path) -> None:
    added = sample(2, "2000-01-05")
    added["mask"] = added["mask"] * 7
    added.ncirrus.to(stored, mode="a-", append_dim="time")
    assert (reopened(stored)["mask"] == 1).all()


@pytest.mark.parametrize("kind", KINDS)
def test_regions_are_overwritten(tmp_path: Path, kind: str) -> None:
    path = tmp_path / KINDS[kind]
    sample().ncirrus.to(path, kind=kind)
    part = (sample().isel(time=slice(1, 3)) * 0)[["t"]].drop_vars(["x", "y"])
    part.ncirrus.to(path, region={"time": slice(1, 3)})
    expected = sample()
    expected["t"][1:3] = 0
    xr.testing.assert_identical(reopened(path), expected)
    (part + 5).ncirrus.to(path, region="auto")
    expected["t"][1:3] = 5
    xr.testing.assert_equal(reopened(path), expected)


def test_regions_are_checked(stored: Path) -> None:
    part = sample().isel(time=slice(1, 3))[["t"]].drop_vars(["x", "y"])
    for region, words in (
        ({"time": slice(3, 5)}, "ends after the 4"),
        ({"time": slice(0, 3)}, "has 3 of 4"),
        ({"time": slice(0, 4, 2)}, "step"),
        ({"level": slice(0, 2)}, "'level'"),
    ):
        with pytest.raises(ValueError, match=words):
            part.ncirrus.to(stored, region=region)
    with pytest.raises(ValueError, match="share no dimension"):
        sample().isel(time=slice(1, 3)).ncirrus.to(stored, region={"time": slice(1, 3)})
    shifted = part.assign_coords(time=part.time + pd.Timedelta("1h"))
    with pytest.raises(KeyError, match="Not all values"):
        shifted.ncirrus.to(stored, region="auto")


def test_modes_are_checked(stored: Path) -> None:
    with pytest.raises(ValueError, match="mode='x'"):
        sample().ncirrus.to(stored, mode="x")
    with pytest.raises(ValueError, match="append_dim"):
        sample().ncirrus.to(stored, mode="w", append_dim="time")
    with pytest.raises(ValueError, match="region"):
        sample().ncirrus.to(stored, mode="w", region={"time": slice(0, 4)})
    with pytest.raises(ValueError, match="non-pre-existing variables"):
        sample().rename(t="u").ncirrus.to(stored, mode="r+")
    with pytest.raises(ValueError, match="already exists, but encoding"):
        sample().ncirrus.to(stored, mode="a", encoding={"t": {"zlib": True}})
    with pytest.raises(FileNotFoundError):
        sample().ncirrus.to(stored.with_name("b.nc"), mode="r+")


def test_variables_are_added_and_overwritten(stored: Path) -> None:
    changed = sample() * 2
    changed["u"] = changed["t"] + 1
    changed.ncirrus.to(stored, mode="a")
    xr.testing.assert_equal(reopened(stored), changed)


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    broken = sample().chunk(time=1)
    broken["t"] = broken["t"].copy(data=broken["t"].data.map_blocks(_fails, dtype="f4"))
    for name in ("a.nc", "a.zarr"):
        with pytest.raises(RuntimeError, match="on purpose"):
            broken.ncirrus.to(tmp_path / name)
        with pytest.raises(RuntimeError, match="on purpose"):
            broken.to_netcdf(tmp_path / "b.nc", engine="ncirrus")
    bad = xr.Dataset({"a": ("x", [1, 2]), "b": ("x", np.array([1, object()], dtype=object))})
    with pytest.raises((TypeError, ValueError)):
        bad.ncirrus.to(tmp_path / "a.nc")
    assert list(tmp_path.iterdir()) == []


def _fails(block: Any) -> Any:
    raise RuntimeError("on purpose")


def test_encodings_that_a_kind_cannot_hold_are_errors(tmp_path: Path) -> None:
    for encoding, words in (
        ({"t": {"compression": "none-such"}}, "none-such"),
        ({"t": {"levels": 3}}, "levels"),
        ({"t": {"chunksizes": (1, 2)}}, r"\(1, 2\)"),
    ):
        with pytest.raises(ValueError, match=words):
            sample().ncirrus.to(tmp_path / "a.nc", encoding=encoding)
    with pytest.raises(ncirrus.Error):
        sample().ncirrus.to(tmp_path / "a.nc", kind="nc3", encoding={"t": {"zlib": True}})
    with pytest.raises(KeyError, match="'u'"):
        sample().ncirrus.to(tmp_path / "a.nc", encoding={"u": {}})
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_bytes(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    sample().chunk(time=1).ncirrus.to(tmp_path / "a.nc", progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] == sum(v.nbytes for v in sample().variables.values())

    def stop(done: int, total: int) -> None:
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError):
        sample().ncirrus.to(tmp_path / "b.nc", progress=stop)
    assert not (tmp_path / "b.nc").exists()
