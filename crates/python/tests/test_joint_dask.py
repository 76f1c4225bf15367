"""Datasets whose blocks other processes compute: trees by tickets, single files by chunks that travel encoded."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")
pytest.importorskip("ncirrus.xarray")

TREES = ["nczarr", "zarr2", "zarr3"]
# Chunks of 2 x 2: 200 steps are 2,000 of them, in 25 blocks.
CHUNKS, MANY = (2, 2), 200
VALUES = np.arange(3200, dtype="f4").reshape(80, 40)
ENCODING = {"v": {"chunksizes": CHUNKS, "zlib": True, "complevel": 1}}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Four worker processes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("distributed").setLevel(logging.ERROR)
        words = {"n_workers": 4, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with distributed.LocalCluster(**words) as cluster, distributed.Client(cluster) as client:
            yield client


def sample(steps: int = 80, start: int = 0, block: int = 8) -> Any:
    """A dataset whose variable is computed by Dask, with a coordinate that is at hand."""
    values = da.from_array(np.resize(VALUES, (start + steps, 40)), chunks=(block, 40))[start:] * 2
    return xr.Dataset(
        {"v": (("t", "x"), values, {"units": "K"}), "w": ("x", np.arange(40.0))},
        {"t": np.arange(start, start + steps)},
    )


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def words_of(session: ncirrus.Session) -> tuple[str, str]:
    """The threads and memory of a session, as they are in the process where this runs."""
    shown = {row["name"]: row["value"] for row in ncirrus.config_show(session=session)}
    return shown["threads"], shown["memory"]


def test_sessions_take_the_threads_and_memory_of_their_worker(client: Any) -> None:
    """Else each of four workers would decode with the threads of all processors."""

    def words(**given: Any) -> tuple[str, str]:
        found: tuple[str, str] = client.submit(words_of, ncirrus.Session(**given), pure=False).result()
        return found

    worker = next(iter(client.scheduler_info()["workers"].values()))
    share = str(max(64 << 20, worker["memory_limit"] // 8))
    assert words(durable=False) == ("1", share)
    assert words(threads=3, memory="80M") == ("3", str(80 << 20))
    assert words(settings={"threads": 2}) == ("2", share)


def values_of(path: Any, **words: Any) -> Any:
    return ncirrus.open(path, **words)["v"][...]


@pytest.mark.parametrize("kind", TREES)
def test_workers_write_trees_as_one_process_does(client: Any, tmp_path: Path, kind: str) -> None:
    sample(MANY).ncirrus.to(tmp_path / "a.zarr", kind=kind, encoding=ENCODING)
    with dask.config.set(scheduler="threads"):
        sample(MANY).ncirrus.to(tmp_path / "alone.zarr", kind=kind, encoding=ENCODING)
    assert len(files(tmp_path / "a.zarr")) > 2000
    assert files(tmp_path / "a.zarr") == files(tmp_path / "alone.zarr")
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "alone.zarr"]


def test_workers_write_shards_as_one_process_does(client: Any, tmp_path: Path) -> None:
    encoding = {"v": {"chunks": CHUNKS, "shards": (8, 20), "zlib": True, "complevel": 1}}
    sample(MANY).ncirrus.to(tmp_path / "a.zarr", kind="zarr3", encoding=encoding)
    with dask.config.set(scheduler="threads"):
        sample(MANY).ncirrus.to(tmp_path / "alone.zarr", kind="zarr3", encoding=encoding)
    assert len(list((tmp_path / "a.zarr/v").rglob("c/*/*"))) == 50
    assert files(tmp_path / "a.zarr") == files(tmp_path / "alone.zarr")
    # Blocks that share a shard are refused, or regrouped.
    with pytest.raises(ValueError, match="share the stored chunk"):
        sample(MANY, block=4).ncirrus.to(tmp_path / "b.zarr", kind="zarr3", encoding=encoding)
    sample(MANY, block=4).ncirrus.to(tmp_path / "b.zarr", kind="zarr3", encoding=encoding, align="rechunk")
    assert files(tmp_path / "b.zarr") == files(tmp_path / "alone.zarr")


@pytest.mark.parametrize("name", ["a.nc4", "a.nc", "a.zarr.zip"])
def test_workers_encode_chunks_of_one_file(client: Any, tmp_path: Path, name: str) -> None:
    kind = {"a.nc4": "nc4", "a.nc": "nc3"}.get(name, "zarr3")
    encoding = ENCODING if kind != "nc3" else None
    done: list[int] = []
    told = {"progress": lambda count, total: done.append(count)}
    sample(MANY).ncirrus.to(tmp_path / name, kind=kind, encoding=encoding, **told)
    with dask.config.set(scheduler="threads"):
        sample(MANY).ncirrus.to(tmp_path / f"alone-{name}", kind=kind, encoding=encoding)
    mine, alone = ncirrus.open(tmp_path / name), ncirrus.open(tmp_path / f"alone-{name}")
    assert np.array_equal(mine["v"][...], 2 * np.resize(VALUES, (MANY, 40))) and mine["v"].chunks == alone["v"].chunks
    if kind == "nc4":
        assert np.array_equal(mine["v"].chunk_table()["length"], alone["v"].chunk_table()["length"])
    if kind == "nc3":
        assert (tmp_path / name).read_bytes() == (tmp_path / f"alone-{name}").read_bytes()
    assert done[-1] >= MANY * 40 * 4 and sorted(done) == done


def test_daskes_own_processes_write(tmp_path: Path) -> None:
    with dask.config.set(scheduler="processes", num_workers=2):
        sample(16).ncirrus.to(tmp_path / "a.zarr", kind="zarr3", encoding=ENCODING)
        sample(16).ncirrus.to(tmp_path / "a.nc4", encoding=ENCODING)
    for name in ("a.zarr", "a.nc4"):
        assert np.array_equal(values_of(tmp_path / name), 2 * VALUES[:16])


@pytest.mark.parametrize("kind", ["nczarr", "zarr3", "nc4"])
def test_workers_append(client: Any, tmp_path: Path, kind: str) -> None:
    # The first block shares a chunk with what is stored.
    path = tmp_path / ("a.zarr" if kind != "nc4" else "a.nc4")
    encoding = {"v": {"chunksizes": (2, 40), "zlib": True}}
    sample(3, block=2).ncirrus.to(path, kind=kind, encoding=encoding, unlimited_dims=["t"])
    sample(1000, start=3, block=100).ncirrus.to(path, append_dim="t")
    assert np.array_equal(values_of(path), 2 * np.resize(VALUES, (1003, 40)))
    assert np.array_equal(ncirrus.open(path)["t"][...], np.arange(1003))
    assert os.listdir(tmp_path) == [path.name]


def test_parts_of_chunks_are_written_into_a_region(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    sample(20).ncirrus.to(path, kind="zarr3", encoding=ENCODING)
    part = sample(9, start=3, block=4)[["v"]].drop_vars("t") * 0
    part.ncirrus.to(path, region={"t": slice(3, 12), "x": slice(0, 40)})
    expected = 2 * VALUES[:20]
    expected[3:12] = 0
    assert np.array_equal(values_of(path), expected)


@pytest.mark.parametrize("name", ["a.zarr", "a.nc4"])
def test_blocks_that_share_a_chunk(client: Any, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"variable 'v': along axis 0 \('t'\) the blocks 0 \(0:7\) and 1 \(7:14\) share"):
        sample(block=7).ncirrus.to(tmp_path / name, encoding=ENCODING)
    assert os.listdir(tmp_path) == []
    sample(block=7).ncirrus.to(tmp_path / name, encoding=ENCODING, align="rechunk")
    assert np.array_equal(values_of(tmp_path / name), 2 * VALUES)


def test_text_is_written_by_the_owner(client: Any, tmp_path: Path) -> None:
    text = da.from_array(np.array(list("abcdefgh"), dtype="U1"), chunks=3)
    both = sample(16).assign(text=("n", text))
    both.ncirrus.to(tmp_path / "a.zarr", kind="zarr3", encoding=ENCODING)
    found = ncirrus.open(tmp_path / "a.zarr")
    assert found["text"][...].tolist() == list("abcdefgh") and np.array_equal(found["v"][...], 2 * VALUES[:16])


def test_a_block_that_fails_leaves_nothing(client: Any, tmp_path: Path) -> None:
    def fails(block: Any) -> Any:
        if block[0, 0] == 2 * VALUES[64, 0]:
            raise RuntimeError("no such luck")
        return block

    broken = sample()
    broken["v"] = broken["v"].copy(data=broken["v"].data.map_blocks(fails, dtype="f4", meta=np.empty((0, 0), "f4")))
    for name in ("a.zarr", "a.nc4"):
        with pytest.raises(RuntimeError, match="no such luck"):
            broken.ncirrus.to(tmp_path / name, encoding=ENCODING)
        assert not (tmp_path / name).exists()
        # Tasks that were running then may put one chunk more; what is left of that is cleaned.
        for _ in range(600):
            ncirrus.clean(tmp_path, older_than=0)
            if not os.listdir(tmp_path):
                break
            time.sleep(0.1)
        assert os.listdir(tmp_path) == []


def test_a_block_goes_to_its_worker_without_the_others(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    compute = client.compute

    def counted(tasks: Any, **words: Any) -> Any:
        sizes.extend(len(dict(task.__dask_graph__())) for task in tasks)
        return compute(tasks, **words)

    monkeypatch.setattr(client, "compute", counted)
    sample().ncirrus.to(str(tmp_path / "one.nc"), kind="nc4", encoding=ENCODING)
    # The values of all ten blocks are in the graph of each.
    assert len(sizes) == 10 and max(sizes) <= 6


def submitted(source: Any, ticket: Any = None) -> list[int]:
    """How many of the tasks of an array are submitted together, in turn."""
    from dask.delayed import delayed

    from ncirrus.xarray import workers

    run = delayed(lambda *_: None, pure=False)
    blocks = source.to_delayed(optimize_graph=True).ravel()
    alone = [(workers._alone(run(block, ticket)), source.nbytes // len(blocks)) for block in blocks]
    return [len(batch) for batch in workers.submissions(alone)]


def test_tasks_are_submitted_in_turn_unless_they_share_work(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers begin with the first values while the others are on their way to the scheduler."""
    from dask.delayed import delayed

    from ncirrus.xarray import workers

    own = da.from_array(VALUES, chunks=(8, 40))
    monkeypatch.setattr(workers, "SUBMITTED", 3 * own.nbytes // 10)
    assert submitted(own) == submitted(own * 2) == [3, 3, 3, 1]
    # A ticket is sent with each.
    assert submitted(own, delayed(workers.Ticket("t", None), traverse=False)) == [3, 3, 3, 1]  # type: ignore[arg-type]
    # What is computed for several blocks, and values that are one piece, are sent once.
    assert submitted(own.rechunk((16, 20)).rechunk((8, 40))) == [10]
    assert submitted(own, delayed(np.zeros(3), traverse=False)) == [10]
    monkeypatch.setattr(workers, "SUBMITTED", 1)
    monkeypatch.setattr(workers, "SUBMISSIONS", 2)
    assert submitted(own) == [5, 5]
    monkeypatch.setattr(workers, "SUBMISSIONS", 32)
    sample().ncirrus.to(tmp_path / "w.zarr", kind="zarr2", encoding=ENCODING)
    assert np.array_equal(values_of(tmp_path / "w.zarr"), 2 * np.resize(VALUES, (80, 40)))


def test_a_worker_that_is_killed_is_replaced(client: Any, tmp_path: Path) -> None:
    def dies_once(block: Any, marker: str) -> Any:
        if block[0, 0] == 2 * VALUES[64, 0]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(marker)
                os._exit(1)
        return block

    dying = sample()
    words = {"marker": str(tmp_path / "died"), "dtype": "f4", "meta": np.empty((0, 0), "f4")}
    dying["v"] = dying["v"].copy(data=dying["v"].data.map_blocks(dies_once, **words))
    dying.ncirrus.to(tmp_path / "a.zarr", kind="zarr2", encoding=ENCODING)
    assert np.array_equal(values_of(tmp_path / "a.zarr"), 2 * VALUES)
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "died"]


@pytest.mark.parametrize("kind", TREES)
def test_a_delayed_write_finishes_in_any_process(client: Any, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.zarr"
    with dask.config.set(scheduler="threads"):
        sample().ncirrus.to(tmp_path / "alone.zarr", kind=kind, encoding=ENCODING)
        sample(3, block=2).ncirrus.to(tmp_path / "b.zarr", kind=kind, encoding=ENCODING)
    later = sample().ncirrus.to(path, kind=kind, encoding=ENCODING, compute=False)
    more = sample(21, start=3, block=6).ncirrus.to(tmp_path / "b.zarr", append_dim="t", compute=False)
    assert not path.exists() and values_of(tmp_path / "b.zarr").shape == (3, 40)
    # All of it travels.
    pickle.loads(pickle.dumps(later)).compute()
    assert files(path) == files(tmp_path / "alone.zarr")
    more.compute()
    assert np.array_equal(values_of(tmp_path / "b.zarr"), 2 * VALUES[:24])
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "alone.zarr", "b.zarr"]
    with pytest.raises(ncirrus.ConflictError):
        later.compute()


def test_a_delayed_write_of_one_file_is_for_threads_of_its_process(client: Any, tmp_path: Path) -> None:
    later = sample(16).ncirrus.to(tmp_path / "a.nc4", encoding=ENCODING, compute=False)
    with pytest.raises(TypeError, match="does not travel.*threads of the process that opened it"):
        pickle.dumps(later)
    assert not (tmp_path / "a.nc4").exists()
    later.compute(scheduler="threads")
    assert np.array_equal(values_of(tmp_path / "a.nc4"), 2 * VALUES[:16])


def test_of_two_clients_at_one_place_one_wins(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    first = sample(16).ncirrus.to(path, kind="zarr3", encoding=ENCODING, compute=False)
    second = (sample(16) * 3).ncirrus.to(path, kind="zarr3", encoding=ENCODING, compute=False)
    second.compute()
    with pytest.raises(ncirrus.ConflictError):
        first.compute()
    assert np.array_equal(values_of(path), 6 * VALUES[:16])
    appended = [sample(4, start=16).ncirrus.to(path, append_dim="t", compute=False) for _ in range(2)]
    appended[0].compute()
    with pytest.raises((ncirrus.ConflictError, ValueError)):
        appended[1].compute()
    assert values_of(path).shape == (20, 40)
    ncirrus.clean(tmp_path, older_than=0)
    assert os.listdir(tmp_path) == ["a.zarr"]
