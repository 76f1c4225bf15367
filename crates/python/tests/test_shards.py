"""Shards of Zarr v3: created, copied, changed, and written by xarray and Dask."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ncirrus

VALUES = np.arange(9 * 10, dtype="i4").reshape(9, 10)
CHUNKS, SHARDS = (2, 3), (4, 6)


def made(path: Path, **words: object) -> Path:
    with ncirrus.create(path, "zarr3") as new:
        new.create_dimension("y", None)
        new.create_dimension("x", 10)
        new.create_variable("v", "i4", ("y", "x"), chunks=CHUNKS, filters="zstd", **{"shards": SHARDS, **words})[:9] = VALUES
    return path


def test_a_variable_has_shards_that_zarr_reads(tmp_path: Path) -> None:
    path = made(tmp_path / "a.zarr")
    with ncirrus.open(path) as ds:
        assert (ds["v"].chunks, ds["v"].shards) == (CHUNKS, SHARDS)
        assert np.array_equal(ds["v"][:], VALUES)
    zarr = pytest.importorskip("zarr", minversion="3")
    array = zarr.open_array(str(path / "v"), mode="r")
    assert (array.chunks, array.shards) == (CHUNKS, SHARDS)
    assert np.array_equal(array[:], VALUES)


def test_the_index_is_at_the_start_on_request(tmp_path: Path) -> None:
    path = made(tmp_path / "a.zarr", index_first=True)
    ncirrus.copy(path, tmp_path / "kept.zarr", kind="zarr3")
    ncirrus.copy(path, tmp_path / "end.zarr", kind="zarr3", index_first=False)
    for name, place in ("a", "start"), ("kept", "start"), ("end", "end"):
        array = (tmp_path / f"{name}.zarr/v/zarr.json").read_text()
        assert f'"index_location":"{place}"' in array.replace(" ", ""), name
        assert np.array_equal(ncirrus.open(tmp_path / f"{name}.zarr")["v"][:], VALUES)


def test_netcdf4_creates_shards(tmp_path: Path) -> None:
    netCDF4 = pytest.importorskip("ncirrus.netCDF4")
    with netCDF4.Dataset(str(tmp_path / "a.zarr"), "w", format="ZARR3") as ds:
        ds.createDimension("y", 9)
        ds.createDimension("x", 10)
        ds.createVariable("v", "i4", ("y", "x"), chunksizes=CHUNKS, shards=SHARDS)[:] = VALUES
        assert ds["v"].chunking() == list(CHUNKS)
    with ncirrus.open(tmp_path / "a.zarr") as found:
        assert found["v"].shards == SHARDS and np.array_equal(found["v"][:], VALUES)
    with netCDF4.Dataset(str(tmp_path / "b.nc"), "w", format="NETCDF3_CLASSIC") as ds:
        ds.createDimension("x", 10)
        with pytest.raises(ValueError, match="shards need format='ZARR3'"):
            ds.createVariable("v", "i4", ("x",), shards=(10,))
    ds = netCDF4.Dataset(str(tmp_path / "c.nc"), "w")
    ds.createDimension("x", 10)
    with pytest.raises(RuntimeError, match="shards"):
        ds.createVariable("v", "i4", ("x",), chunksizes=(5,), shards=(10,))[:] = 1
    with pytest.raises(RuntimeError, match="refused"):
        ds.close()


def test_shards_are_changed_and_grow(tmp_path: Path) -> None:
    path = made(tmp_path / "a.zarr")
    with ncirrus.open(path, "r+") as ds:
        ds["v"][3:5, 2:8] = -1
        ds["v"].append(np.full((2, 10), 7, "i4"))
    expected = np.concatenate([VALUES, np.full((2, 10), 7, "i4")])
    expected[3:5, 2:8] = -1
    assert np.array_equal(ncirrus.open(path)["v"][:], expected)


def test_shards_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ncirrus.InvalidError, match="multiple of the chunk"):
        made(tmp_path / "a.zarr", shards=(3, 6))
    with (
        pytest.raises(ncirrus.UnsupportedError, match="shards"),
        ncirrus.create(tmp_path / "b.zarr", "zarr2") as new,
    ):
        new.create_dimension("x", 10)
        new.create_variable("v", "i4", ("x",), chunks=(5,), shards=(10,))
        new.sync()


def test_copies_take_rules_for_shards(tmp_path: Path) -> None:
    path = made(tmp_path / "a.zarr")
    for number, (rules, shards) in enumerate(
        [({"y": 2, "x": None}, (2, 12)), ({"v": (4, 3)}, (4, 3)), (False, None), (None, SHARDS), ("y/4", (4, 3))]
    ):
        target = tmp_path / f"{number}.zarr"
        ncirrus.copy(path, target, kind="zarr3", shards=rules)
        with ncirrus.open(target) as ds:
            assert ds["v"].shards == shards, rules
            assert np.array_equal(ds["v"][:], VALUES)


def test_xarray_keeps_and_chooses_shards(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    path = made(tmp_path / "a.zarr")
    with xr.open_dataset(path, engine="ncirrus", chunks=None) as ds:
        assert (ds["v"].encoding["chunks"], ds["v"].encoding["shards"]) == (CHUNKS, SHARDS)
        ds.ncirrus.to(tmp_path / "kept.zarr", kind="zarr3")
        ds.ncirrus.to(tmp_path / "none.nc")
        encoding = {"v": {"chunks": (3, 5), "shards": (9, 10)}}
        ds.ncirrus.to(tmp_path / "chosen.zarr", kind="zarr3", encoding=encoding)
    assert ncirrus.open(tmp_path / "kept.zarr")["v"].shards == SHARDS
    assert ncirrus.open(tmp_path / "chosen.zarr")["v"].shards == (9, 10)
    assert ncirrus.open(tmp_path / "none.nc")["v"].shards is None


def test_blocks_of_dask_that_share_a_shard_are_an_error_or_regrouped(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask.array")
    ds = xr.Dataset({"v": (("y", "x"), VALUES)}).chunk(y=2, x=10)
    encoding = {"v": {"chunks": CHUNKS, "shards": (4, 12)}}
    with pytest.raises(ValueError, match="share the stored chunk"):
        ds.ncirrus.to(tmp_path / "a.zarr", kind="zarr3", encoding=encoding)
    ds.ncirrus.to(tmp_path / "b.zarr", kind="zarr3", encoding=encoding, align="rechunk")
    with ncirrus.open(tmp_path / "b.zarr") as written:
        assert written["v"].shards == (4, 12)
        assert np.array_equal(written["v"][:], VALUES)
