"""Arrays of Dask along the stored chunks, and blocks that fit the chunks they are written to."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
xr = pytest.importorskip("xarray")
fitted = pytest.importorskip("ncirrus.dask").fitted

VALUES = np.arange(8 * 10 * 6, dtype="f4").reshape(8, 10, 6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.zarr"
    with ncirrus.create(path, "zarr2") as made:
        for name, length in zip(("t", "y", "x"), VALUES.shape):
            made.create_dimension(name, length)
        made.create_variable("v", "f4", ("t", "y", "x"), chunks=(2, 5, 6), filters="zstd")[...] = VALUES
        made.create_variable("one", "f4", ())[...] = 7
        made.create_variable("text", str, ("t",))[...] = np.array(list("abcdefgh"), object)
    return path


def test_blocks_are_stored_chunks(path: Path) -> None:
    with dask.config.set({"array.chunk-size": "250B"}):
        array = ncirrus.open(path)["v"].dask()
    assert array.chunks == ((2, 2, 2, 2), (5, 5), (6,))
    assert np.array_equal(array.compute(), VALUES)
    assert np.array_equal(array[1:5, ::-1, [5, 0]].compute(), VALUES[1:5, ::-1, [5, 0]])


def test_small_chunks_are_read_together(path: Path) -> None:
    with dask.config.set({"array.chunk-size": "1000B"}):
        array = ncirrus.open(path)["v"].dask()
    assert array.npartitions < 8
    assert all(end % 2 == 0 for end in np.cumsum(array.chunks[0])) and all(end % 5 == 0 for end in np.cumsum(array.chunks[1]))


@pytest.mark.parametrize("chunks", [3, (4, 5, 6), {"t": 4}, {"t": 4, "x": 3}, -1, "auto"])
def test_chunks_are_what_dask_takes(path: Path, chunks: Any) -> None:
    array = ncirrus.open(path)["v"].dask(chunks)
    assert np.array_equal(array.compute(), VALUES)


def test_scalars_and_text(path: Path) -> None:
    found = ncirrus.open(path)
    assert float(found["one"].dask().compute()) == 7
    assert found["text"].dask().compute().tolist() == list("abcdefgh")


def test_tasks_are_small(path: Path) -> None:
    array = ncirrus.open(path)["v"].dask((1, 1, 1))
    graph = dict(array.__dask_graph__())
    assert len(graph) == array.npartitions
    assert max(len(pickle.dumps(task)) for task in graph.values()) < 1500
    lazy = xr.open_dataset(path, engine="ncirrus", chunks={})["v"]
    assert max(len(pickle.dumps(task)) for task in lazy.__dask_graph__().values()) < 4000


def test_names_change_with_the_file(path: Path, tmp_path: Path) -> None:
    first = ncirrus.open(path)["v"].dask()
    assert ncirrus.open(path)["v"].dask().name == first.name
    assert ncirrus.open(path)["v"].dask((2, 5, 6)).name == ncirrus.open(path)["v"].dask((2, 5, 6)).name
    assert first.name != ncirrus.open(path)["one"].dask().name


def test_a_mean_decodes_each_chunk_once(path: Path) -> None:
    session = ncirrus.Session(chunk_cache=0)
    array = ncirrus.open(path, session=session)["v"].dask((2, 5, 6))
    assert session.statistics()["chunks_decoded"] == 0
    assert float(array.mean().compute(scheduler="threads")) == pytest.approx(VALUES.mean())
    assert session.statistics()["chunks_decoded"] == 8


@pytest.mark.parametrize(
    ("lengths", "offset", "words"),
    [((3, 5), 0, "blocks 0 (0:3) and 1 (3:8)"), ((2, 2, 4), 1, "blocks 0 (1:3) and 1 (3:5)")],
)
def test_blocks_that_share_a_chunk_are_errors(lengths: tuple[int, ...], offset: int, words: str) -> None:
    source = da.zeros((8, 6), chunks=(lengths, 6))
    with pytest.raises(ValueError) as told:
        fitted("v", source, (2, 6), ("t", "x"), (offset, 0), (8, 6), "error")
    for part in (words, "axis 0 ('t')", "stored chunk 1 (2:4)", "align='rechunk'"):
        assert part in str(told.value), str(told.value)


@pytest.mark.parametrize(
    ("lengths", "offset", "chunk", "expected"),
    [
        ((3, 5), 0, 2, (4, 4)),
        ((1, 1, 1, 1, 4), 0, 2, (2, 2, 4)),
        ((2, 2, 4), 1, 2, (3, 2, 3)),
        ((4, 4), 0, 100, (8,)),
        ((4, 4), 98, 100, (2, 6)),
        ((8,), 3, 2, (8,)),
    ],
)
def test_blocks_are_regrouped(lengths: Any, offset: int, chunk: int, expected: Any) -> None:
    source = da.from_array(np.arange(8), chunks=(lengths,))
    found = fitted("v", source, (chunk,), ("t",), (offset,), (8,), "rechunk")
    assert sum(found.chunks[0]) == 8 and np.array_equal(found.compute(), np.arange(8))
    ends = np.cumsum(found.chunks[0])[:-1] + offset
    assert (ends % chunk == 0).all()
    if expected != (2, 6):
        assert found.chunks[0] == expected


@pytest.mark.parametrize("name", ["a.nc", "b.zarr"])
@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_blocks_are_written_by_threads(tmp_path: Path, name: str, scheduler: str) -> None:
    target = tmp_path / f"new-{name}"
    dataset = xr.Dataset({"v": (("t", "y", "x"), da.from_array(VALUES, chunks=(2, 5, 6)))})
    with dask.config.set(scheduler=scheduler):
        dataset.ncirrus.to(target)
        found = ncirrus.open(target)["v"]
        assert np.array_equal(found[...], VALUES)
        assert name.endswith(".nc") or found.chunks == (2, 5, 6)
        uneven = dataset.chunk(t=(3, 5))
        encoding = {"v": {"chunksizes": (2, 5, 6)}}
        with pytest.raises(ValueError, match="share the stored chunk"):
            uneven.ncirrus.to(target, mode="w", encoding=encoding)
        assert np.array_equal(ncirrus.open(target)["v"][...], VALUES)
        (uneven * 2).ncirrus.to(target, mode="w", encoding=encoding, align="rechunk")
        assert np.array_equal(ncirrus.open(target)["v"][...], VALUES * 2)


def test_a_delayed_write_appears_when_it_is_computed(tmp_path: Path) -> None:
    target = tmp_path / "a.nc"
    dataset = xr.Dataset({"v": (("t", "y", "x"), da.from_array(VALUES, chunks=(2, 5, 6))), "w": ("x", np.arange(6.0))})
    delayed = dataset.ncirrus.to(target, compute=False)
    assert not target.exists()
    delayed.compute()
    assert np.array_equal(ncirrus.open(target)["v"][...], VALUES)
    assert ncirrus.open(target)["w"][...].tolist() == [0, 1, 2, 3, 4, 5]


def test_open_many_is_a_graph_along_the_files(tmp_path: Path) -> None:
    for at in range(5):
        part = xr.Dataset({"v": (("t", "x"), np.full((2, 3), at, "f4"))}, {"t": [2 * at, 2 * at + 1]})
        part.to_netcdf(tmp_path / f"{at}.nc", unlimited_dims=["t"])
    many = ncirrus.open_many(f"{tmp_path}/*.nc", axis="t")
    lazy = xr.open_dataset(many, engine="ncirrus", chunks={})
    assert lazy["v"].chunks == ((2,) * 5, (3,)) and lazy["t"].values.tolist() == list(range(10))
    assert float(pickle.loads(pickle.dumps(lazy))["v"].mean()) == 2
    assert many["v"].dask().chunks[0][0] % 2 == 0
    with pytest.raises(ncirrus.Error, match="do not match"):
        xr.Dataset({"v": (("t", "x"), np.zeros((2, 4), "f4"))}, {"t": [10, 11]}).to_netcdf(tmp_path / "9.nc")
        ncirrus.open_many(f"{tmp_path}/*.nc", axis="t")
