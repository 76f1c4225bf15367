"""The engine `ncirrus`: what it opens, what it asks for, and the encodings that it hands on."""

from __future__ import annotations

import asyncio
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from counting import CountingServer

import ncirrus
from ncirrus.xarray import NcirrusBackendEntrypoint, claim

netcdf4 = pytest.importorskip("netCDF4")


def sample() -> xr.Dataset:
    time = pd.date_range("2000-01-01", periods=6)
    return xr.Dataset(
        {
            "t": (("time", "y", "x"), np.arange(120, dtype="f4").reshape(6, 4, 5), {"units": "K"}),
            "name": ("y", np.array(["a", "bc", "déf", ""], dtype=object)),
        },
        {"time": time, "y": [1.0, 2, 3, 4], "x": np.arange(5)},
        {"title": "a sample"},
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.nc"
    encoding = {"t": {"zlib": True, "complevel": 5, "shuffle": True, "fletcher32": True, "chunksizes": (2, 4, 5)}}
    sample().to_netcdf(path, engine="netcdf4", encoding=encoding, unlimited_dims=["time"])
    return path


def test_addresses_paths_bytes_files_and_datasets_are_opened(path: Path) -> None:
    with path.open("rb") as file:
        for target in (path, str(path), path.read_bytes(), memoryview(path.read_bytes()), file):
            with xr.open_dataset(target, engine="ncirrus") as found:
                xr.testing.assert_identical(found.load(), sample())
        assert not file.closed
    opened = ncirrus.open(path)
    # No engine is named: none but ours takes it.
    xr.testing.assert_identical(xr.open_dataset(opened).load(), sample())
    with xr.open_dataset(opened) as found:
        found.load()
    assert not opened.closed and opened["t"].shape == (6, 4, 5)


def test_groups_and_trees_are_opened(tmp_path: Path) -> None:
    path = tmp_path / "tree.nc"
    tree = xr.DataTree.from_dict({"/": sample()[["name"]], "/b/c": sample()[["t"]].drop_vars("y")})
    tree.to_netcdf(path, engine="netcdf4")
    with xr.open_datatree(path, engine="ncirrus") as found:
        xr.testing.assert_equal(found.load(), tree)
    assert list(xr.open_groups(path, engine="ncirrus")) == ["/", "/b", "/b/c"]
    assert xr.open_dataset(path, engine="ncirrus", group="/b/c")["t"].shape == (6, 4, 5)
    with xr.open_datatree(path, engine="ncirrus", group="b") as found:
        assert list(found.children) == ["c"]
    assert xr.open_dataset(ncirrus.open(path)["b/c"])["t"].shape == (6, 4, 5)
    with pytest.raises(OSError, match="group not found: /z"):
        xr.open_dataset(path, engine="ncirrus", group="z")


def test_encodings_are_in_the_words_of_netcdf4(path: Path) -> None:
    ours = xr.open_dataset(path, engine="ncirrus")
    theirs = xr.open_dataset(path, engine="netcdf4")
    for name in theirs.variables:
        expected = dict(theirs[name].encoding)
        found = ours[name].encoding
        expected.pop("preferred_chunks", None)
        for word, value in expected.items():
            if word not in ("chunksizes", "contiguous") or expected["contiguous"] is False:
                assert found[word] == value or (value != value and found[word] != found[word]), (name, word, found)
    assert ours["t"].encoding["preferred_chunks"] == {"time": 2, "y": 4, "x": 5}
    assert ours.encoding["unlimited_dims"] == {"time"} == theirs.encoding["unlimited_dims"]
    assert sorted(codec["id"] for codec in ours["t"].encoding["ncirrus_filters"]) == [1, 2, 3]


def test_what_was_read_goes_on_through_other_engines(path: Path, tmp_path: Path) -> None:
    found = xr.open_dataset(path, engine="ncirrus")
    found.to_netcdf(tmp_path / "b.nc", engine="netcdf4")
    again = xr.open_dataset(tmp_path / "b.nc", engine="netcdf4")
    assert again["t"].encoding["complevel"] == 5 and again["t"].encoding["chunksizes"] == (2, 4, 5)
    found.to_netcdf(tmp_path / "c.nc", engine="h5netcdf")
    found.to_zarr(tmp_path / "d.zarr")
    for name, engine in (("b.nc", "netcdf4"), ("c.nc", "h5netcdf"), ("d.zarr", "zarr")):
        xr.testing.assert_identical(xr.open_dataset(tmp_path / name, engine=engine).load(), sample())
    found.ncirrus.to(tmp_path / "e.nc")
    assert ncirrus.open(tmp_path / "e.nc")["t"].filters == ncirrus.open(path)["t"].filters


KEYS = [
    {"x": 2},
    {"x": slice(None, None, -1), "time": slice(1, 6, 2)},
    {"x": [4, 0, 0], "y": [3, 1]},
    {"x": xr.DataArray([0, 1, 4], dims="p"), "y": xr.DataArray([3, 3, 0], dims="p")},
    {"x": xr.DataArray([[0, 1], [4, 2]], dims=("p", "q")), "time": xr.DataArray([5, 0], dims="p")},
    {"x": xr.DataArray([0, 4], dims="p"), "y": [2, 0], "time": -1},
    {"time": np.zeros(6, bool)},
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("chunks", [None, {}])
def test_every_kind_of_key_gives_what_numpy_gives(path: Path, key: dict[str, Any], chunks: Any) -> None:
    found = xr.open_dataset(path, engine="ncirrus", chunks=chunks)["t"].isel(key)
    xr.testing.assert_identical(found.load(), sample()["t"].isel(key))


def test_each_key_is_read_by_itself(path: Path) -> None:
    """A key that selects a part does not read the whole, and points are not an outer product."""
    session = ncirrus.Session(chunk_cache=0)
    found = xr.open_dataset(path, engine="ncirrus", session=session)["t"]
    points = {"time": xr.DataArray([0, 5], dims="p"), "x": xr.DataArray([0, 4], dims="p")}
    for key, decoded in (({"time": 0}, 1), ({"time": [0, 5]}, 2), (points, 2), ({}, 3)):
        before = session.statistics()["chunks_decoded"]
        found.isel(key).copy(deep=False).variable._data.get_duck_array()
        assert session.statistics()["chunks_decoded"] - before == decoded, key


def test_many_threads_read_one_dataset(path: Path) -> None:
    found = xr.open_dataset(path, engine="ncirrus", cache=False)["t"]
    wrong: list[Any] = []

    def read() -> None:
        for at in range(20):
            if not np.array_equal(found[at % 6].values, sample()["t"].values[at % 6]):
                wrong.append(at)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_lazy_datasets_pickle_and_copy(path: Path) -> None:
    found = xr.open_dataset(path, engine="ncirrus")
    again = pickle.loads(pickle.dumps(found))
    xr.testing.assert_identical(again.load(), sample())
    again.close()
    xr.testing.assert_identical(found.copy(deep=True), sample())


def test_guessing_sends_nothing_and_keeps_to_its_setting(path: Path, tmp_path: Path) -> None:
    guess = NcirrusBackendEntrypoint().guess_can_open
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "zarr.json").write_text("{}")
    (tmp_path / "page").write_text("<html>")
    renamed = tmp_path / "data.bin"
    renamed.write_bytes(path.read_bytes())
    # Requests to such an address fail.
    far = ["s3://b/a.nc", "https://h.invalid/a.zarr?x=1", "gs://b/c#mode=nczarr,zarr"]
    new = ["s3://b/a.h5", "s3://b/a.nczarr", str(tmp_path / "tree"), "s3://b/x#mode=zarr"]
    others = ["s3://b/a.csv", str(tmp_path / "page"), str(tmp_path), 3, b"nothing"]
    try:
        for how_much, known in (("all", [*far, *new, path, renamed, path.read_bytes()]), ("new", new), ("none", [])):
            claim(how_much)
            for target in known:
                assert guess(target), (how_much, target)
            for target in others:
                assert not guess(target), (how_much, target)
            assert guess(ncirrus.open(path))
        assert not guess("s3://b/a.nc") and not guess(new[0])
        with pytest.raises(ValueError, match="some"):
            claim("some")
    finally:
        claim("all")


def test_index_coordinates_come_together(tmp_path: Path) -> None:
    coordinates = {f"c{at}": np.arange(3.0) + at for at in range(11)}
    coordinates["time"] = pd.date_range("2000-01-01", periods=4)
    dims = tuple(coordinates)[:3]
    xr.Dataset({"v": (dims, np.zeros((3, 3, 3)))}, coordinates).to_zarr(tmp_path / "a.zarr", zarr_format=2)
    with CountingServer(tmp_path, delay=0.25) as server:
        found = xr.open_dataset(f"{server.url}/a.zarr", engine="ncirrus")
        assert len(found.indexes) == 12 and found["c3"].values.tolist() == [3, 4, 5]
        assert server.rounds() <= 3, server.requests
        server.forget()
        repr(found), found._repr_html_()
        assert server.requests == []


@pytest.mark.xfail(not hasattr(ncirrus.Variable, "read_async"), reason="no futures yet", strict=True)
def test_async_loading(path: Path) -> None:
    found = xr.open_dataset(path, engine="ncirrus", cache=False)

    async def load() -> Any:
        parts = [found["t"].isel(key).load_async() for key in KEYS]
        return await asyncio.gather(*parts)

    for part, key in zip(asyncio.run(load()), KEYS):
        xr.testing.assert_identical(part, sample()["t"].isel(key))


def test_runs_are_cut_for_dask(tmp_path: Path) -> None:
    from ncirrus.xarray.encodings import _runs

    assert _runs(("t", "y", "x"), (10, 20, 30), np.dtype("f4")) == {}
    assert _runs(("t", "y", "x"), (1000, 1024, 1024), np.dtype("f4")) == {"t": 16, "y": 1024, "x": 1024}
    assert _runs(("t", "x"), (3, 2**27), np.dtype("f8")) == {"t": 1, "x": 2**23}


def test_fill_values_of_zarr_are_masks_as_in_its_own_engine(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    for version, masked in ((2, True), (3, False)):
        group = zarr.open_group(tmp_path / f"{version}.zarr", mode="w", zarr_format=version)
        words = {"dimension_names": ("x",)} if version == 3 else {}
        array = group.create_array("v", shape=(3,), chunks=(3,), dtype="i4", fill_value=0, **words)
        array[:] = [0, 1, 2]
        if version == 2:
            array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
        path = tmp_path / f"{version}.zarr"
        theirs = xr.open_dataset(path, engine="zarr", consolidated=False)
        ours = xr.open_dataset(path, engine="ncirrus")
        xr.testing.assert_identical(ours.load(), theirs.load())
        assert np.isnan(ours["v"].values[0]) == masked
        forced = xr.open_dataset(path, engine="ncirrus", zarr_fill_as_mask=not masked)
        assert (forced["v"].dtype.kind == "f") != masked
