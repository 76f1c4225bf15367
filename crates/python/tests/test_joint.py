"""One dataset that several processes write: tickets, receipts, and chunks that travel encoded."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers

import ncirrus

TREES = ["nczarr", "zarr2", "zarr3"]
SHAPE, CHUNKS = (40, 30), (5, 8)
PARTS = [slice(0, 10), slice(10, 20), slice(20, 30), slice(30, 40)]


def made(url: str, kind: str) -> ncirrus.Dataset:
    """A dataset with definitions only."""
    shards = {"shards": (10, 16)} if kind == "shards" else {}
    ds = ncirrus.create(url, "zarr3" if shards else kind)
    ds.create_dimension("t", None if kind != "nc4" else 40)
    ds.create_dimension("x", 30)
    v = ds.create_variable("v", "i4", ("t", "x"), chunks=CHUNKS, filters="zlib,level=1", fill_value=-1, **shards)
    ds.create_variable("t", "f8", ("t",), chunks=(40,))
    v.grow_to(SHAPE)
    return ds


def files(folder: str) -> dict[str, bytes]:
    """All files below a folder."""
    found = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    """Four other processes."""
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        yield pool


def stored(url: str) -> dict[tuple[int, ...], bytes]:
    """The stored chunks of a variable in one file."""
    data = Path(url).read_bytes()
    table = ncirrus.open(url)["v"].chunk_table()
    return {tuple(row["start"]): data[row["offset"] : row["offset"] + row["length"]] for row in table}


def write_rows(ticket: str, rows: slice) -> tuple[int, str]:
    joined = ncirrus.join(ticket)
    joined.write("v", rows, numbers(SHAPE)[rows])
    joined.write("/v", (rows, ...), numbers(SHAPE)[rows])
    return os.getpid(), joined.close()


def encode_rows(encoder: ncirrus.Encoder, rows: slice) -> list[ncirrus.EncodedChunk]:
    values = numbers(SHAPE)
    return [encoder.encode(chunk, values[encoder.region(chunk)]) for chunk in encoder.chunks(rows)]


@pytest.mark.parametrize("tree", [*TREES, "shards"])
def test_processes_write_what_one_writes(tmp_path: Path, processes: Any, tree: str) -> None:
    url, alone = str(tmp_path / "a.zarr"), str(tmp_path / "alone.zarr")
    with made(url, tree) as ds:
        ds["t"][:] = np.arange(40)
        ticket = ds.ticket(["v"])
        told = processes.starmap(write_rows, [(ticket, rows) for rows in PARTS])
        assert os.getpid() not in [process for process, _ in told]
        assert not os.path.exists(url), "nothing is seen before the end"
        ds.finish([receipt for _, receipt in told])
        assert ds.closed
    with made(alone, tree) as ds:
        ds["t"][:] = np.arange(40)
        ds["v"][...] = numbers(SHAPE)
    assert files(url) == files(alone)
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "alone.zarr"]
    assert np.array_equal(ncirrus.open(url)["v"][...], numbers(SHAPE))


def test_a_part_of_a_shard_names_the_shape_of_shards(tmp_path: Path) -> None:
    with made(str(tmp_path / "a.zarr"), "shards") as ds:
        joined = ncirrus.join(ds.ticket())
        with pytest.raises(ncirrus.InvalidError, match=r"whole shards of \[10, 16\]"):
            joined.write("v", slice(0, 5), numbers(SHAPE)[:5])
        ds.abort()


@pytest.mark.parametrize("kind", ["nc4", "zarr3", "shards"])
def test_chunks_travel_encoded(tmp_path: Path, processes: Any, kind: str) -> None:
    url, alone = str(tmp_path / f"a.{kind}"), str(tmp_path / f"alone.{kind}")
    with made(url, kind) as ds:
        encoder = ds["v"].encoder()
        assert (encoder.path, encoder.shape, encoder.dtype) == ("/v", SHAPE, np.dtype("i4"))
        for chunks in processes.starmap(encode_rows, [(encoder, rows) for rows in PARTS]):
            ds["v"].write_encoded(chunks)
    with made(alone, kind) as ds:
        ds["v"][...] = numbers(SHAPE)
    assert np.array_equal(ncirrus.open(url)["v"][...], numbers(SHAPE))
    if kind == "nc4":
        assert len(stored(url)) == 32 and stored(url) == stored(alone)
    else:
        assert files(url) == files(alone)


def test_the_bytes_of_a_chunk_go_out_of_band(tmp_path: Path) -> None:
    with made(str(tmp_path / "a.nc4"), "nc4") as ds:
        encoder = pickle.loads(pickle.dumps(ds["v"].encoder()))
        assert encoder == ds["v"].encoder() and len(pickle.dumps(encoder)) < 2000
        chunk = encoder.encode((0, 3), numbers((5, 6)))
        assert chunk.chunk == (0, 3) and chunk.nbytes == len(bytes(chunk))
        buffers: list[pickle.PickleBuffer] = []
        text = pickle.dumps(chunk, protocol=5, buffer_callback=buffers.append)
        assert len(buffers) == 1 and len(text) < 200
        assert pickle.loads(text, buffers=buffers) == chunk
        assert pickle.loads(pickle.dumps(chunk, protocol=4)) == chunk
        ds["v"].write_encoded(pickle.loads(pickle.dumps(chunk)))
        assert np.array_equal(ds["v"][:5, 24:], numbers((5, 6)))
        masked = np.ma.masked_equal(numbers((5, 6)), 7)
        ds["v"].write_encoded(encoder.encode((1, 3), masked))
        assert ds["v"][6, 25] == -1
        with pytest.raises(ValueError, match=r"shape \(5, 8\) are not those of the chunk.*\(5, 6\).*\[0, 3\]"):
            encoder.encode((0, 3), numbers((5, 8)))
        with pytest.raises(ValueError, match=r"no such chunk.*/v, chunk \[0, 4\]"):
            encoder.encode((0, 4), numbers((5, 8)))
        with pytest.raises(ValueError, match="a chunk of /v is not a chunk of /t"):
            ds["t"].write_encoded(chunk)
        ds.abort()


def test_rows_are_appended_by_others(tmp_path: Path) -> None:
    url = str(tmp_path / "a.zarr")
    with ncirrus.create(url, "zarr3") as ds:
        ds.create_dimension("t", None)
        ds.create_dimension("x", 30)
        ds.create_variable("v", "i4", ("t", "x"), chunks=CHUNKS)[:10] = numbers(SHAPE)[:10]
    with ncirrus.open(url, "r+") as ds:
        ds["v"].grow_to(SHAPE)
        ticket = ds.ticket([ds["v"]])
        joined = ncirrus.join(ticket)
        with pytest.raises(ValueError, match="contains existing data"):
            joined.write("v", slice(5, 15), numbers(SHAPE)[5:15])
        joined.write("v", slice(10, 40), numbers(SHAPE)[10:])
        assert ncirrus.open(url)["v"].shape == (10, 30)
        ds.finish([joined.close()])
    assert np.array_equal(ncirrus.open(url)["v"][...], numbers(SHAPE))


def test_what_is_refused(tmp_path: Path) -> None:
    with made(str(tmp_path / "a.zarr"), "nczarr") as ds, made(str(tmp_path / "b.zarr"), "zarr3") as other:
        ds.create_dimension("n", 3)
        ds.create_variable("name", str, ("n",))
        ds.create_variable("lists", ds.create_type(ncirrus.Vlen("ints", "i4")), ("n",))
        for name in ("name", "lists"):
            with pytest.raises(ncirrus.UnsupportedError, match=f"/{name}"):
                ds.ticket([name])
        ticket = ds.ticket(["v"])
        joined = ncirrus.join(ticket)
        assert joined.variables == ["/t", "/v"] and joined.shape("v") == SHAPE and joined.dtype("v") == "i4"
        for sel, values, message in [
            (slice(0, 7), 0, r"part of the chunk.*\[1, 0\]"),
            (slice(0, 10, 2), 0, "slices without steps"),
            (3, 0, "slices without steps"),
            (slice(0, 5), np.zeros((3, 3)), "do not fit a box of shape"),
        ]:
            with pytest.raises(ncirrus.InvalidError, match=message):
                joined.write("v", sel, values)
        with pytest.raises(IndexError, match="past the end of axis 0"):
            joined.write("v", slice(0, 45), 0)
        with pytest.raises(ncirrus.InvalidError, match="does not fit the type"):
            joined.write("v", slice(0, 5), 2**40)
        with pytest.raises(KeyError, match="name"):
            joined.write("name", ..., "x")
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(joined)
        joined.write("v", slice(0, 40), numbers(SHAPE))
        receipt = joined.close()
        with pytest.raises(ncirrus.InvalidError, match="was closed"):
            joined.close()
        foreign = ncirrus.join(other.ticket()).close()
        for receipts, error, message in [
            ([], ncirrus.MissingError, "is missing"),
            ([receipt, receipt], ncirrus.InvalidError, "given twice"),
            ([receipt, foreign], ncirrus.InvalidError, "another writing"),
            ([receipt.replace("[0,0]", "[0,7]")], ncirrus.MalformedError, "it was changed"),
            ([ticket], ncirrus.MalformedError, "no receipt"),
        ]:
            with pytest.raises(error, match=message):
                ds.finish(receipts)
        for doctored in ("", receipt, ticket.replace("a.zarr", "b.zarr")):
            with pytest.raises(ncirrus.MalformedError, match="no ticket"):
                ncirrus.join(doctored)
        with pytest.raises(TypeError, match="a ticket is text"):
            ncirrus.join(b"x")  # type: ignore[arg-type]
        ds.finish([receipt])
        other.abort()
    with pytest.raises(ncirrus.ConflictError, match="has ended"):
        ncirrus.join(ticket)
    with made(str(tmp_path / "c.nc4"), "nc4") as ds:
        with pytest.raises(ncirrus.UnsupportedError):
            ds.ticket(["v"])


def test_masked_values_are_filled_with_the_variables_own(tmp_path: Path) -> None:
    url = str(tmp_path / "a.zarr")
    with made(url, "zarr2") as ds:
        joined = ncirrus.join(ds.ticket())
        joined.write("v", ..., np.ma.masked_less(numbers(SHAPE), 3))
        ds.finish([joined.close()])
    assert np.array_equal(ncirrus.open(url)["v"][0, :4], [-1, -1, -1, 3])


# Processes that are killed: 20 of each sort, or as many as this says.
KILLS = int(os.environ.get("NCIRRUS_TEST_KILLS", "20"))


def _worker(ticket: str, rows: slice, receipt: str) -> None:
    joined = ncirrus.join(ticket)
    for start in range(rows.start, rows.stop, 5):
        part = slice(start, start + 5)
        joined.write("v", part, numbers(SHAPE)[part])
    # A receipt is there whole or not at all.
    Path(f"{receipt}.new").write_text(joined.close())
    os.rename(f"{receipt}.new", receipt)


def _client(url: str, kind: str, folder: str) -> None:
    """A whole joint writing, in a group of processes of its own."""
    os.setsid()
    Path(folder, "begun").touch()
    with made(url, kind) as ds:
        ticket = ds.ticket(["v"])
        receipts = [os.path.join(folder, str(number)) for number in range(len(PARTS))]
        workers = [FORK.Process(target=_worker, args=pair) for pair in zip([ticket] * 4, PARTS, receipts)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        ds.finish(Path(receipt).read_text() for receipt in receipts)


FORK: Any = multiprocessing.get_context("fork")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_workers_that_are_killed_are_repeated(tmp_path: Path) -> None:
    chance = random.Random(17)
    folder = tmp_path / "receipts"
    folder.mkdir()
    for turn in range(KILLS):
        url = str(tmp_path / "a.zarr")
        killed = 0
        with made(url, TREES[turn % 3]) as ds:
            ticket = ds.ticket(["v"])
            waiting = [(rows, str(folder / f"{turn}-{number}")) for number, rows in enumerate(PARTS)]
            while waiting:
                running = [(FORK.Process(target=_worker, args=(ticket, *part)), part) for part in waiting]
                for process, _ in running:
                    process.start()
                if killed < 3:
                    time.sleep(chance.random() * 0.05)
                    chance.choice(running)[0].kill()
                    killed += 1
                for process, _ in running:
                    process.join()
                waiting = [part for _, part in running if not os.path.exists(part[1])]
                assert not os.path.exists(url), "nothing is seen before the end"
            ds.finish((folder / f"{turn}-{number}").read_text() for number in range(4))
        assert np.array_equal(ncirrus.open(url)["v"][...], numbers(SHAPE))
        shutil.rmtree(url)
        assert os.listdir(tmp_path) == ["receipts"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_client_that_is_killed_leaves_nothing_visible(tmp_path: Path) -> None:
    chance = random.Random(18)
    outcomes = set()
    place = tmp_path / "place"
    place.mkdir()
    url = str(place / "a.zarr")
    for turn in range(KILLS):
        folder = tmp_path / str(turn)
        folder.mkdir()
        client = FORK.Process(target=_client, args=(url, TREES[turn % 3], str(folder)))
        client.start()
        while not (folder / "begun").exists():
            time.sleep(0.001)
        time.sleep(chance.random() * 0.25)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(client.pid, signal.SIGKILL)
        client.join()
        is_there = os.path.exists(url)
        outcomes.add(is_there)
        if is_there:
            assert np.array_equal(ncirrus.open(url)["v"][...], numbers(SHAPE))
        ncirrus.clean(place, older_than=0)
        assert os.listdir(place) == (["a.zarr"] if is_there else [])
        shutil.rmtree(url, ignore_errors=True)
    assert False in outcomes, "some were killed before the end"


def test_a_writing_that_was_handed_over_is_finished_by_another_handle(tmp_path: Path) -> None:
    url = str(tmp_path / "a.zarr")
    ticket = made(url, "nczarr").hand_over(["v"])
    joined = ncirrus.join(ticket)
    joined.write("v", ..., numbers(SHAPE))
    receipt = joined.close()
    with made(url, "zarr3") as other, pytest.raises(ncirrus.ConflictError, match="not what they were"):
        try:
            other.finish([receipt], ticket)
        finally:
            other.abort()
    with made(url, "nczarr") as ds:
        with pytest.raises(ncirrus.MissingError, match="is missing"):
            ds.finish([], ticket)
        with pytest.raises(ncirrus.InvalidError, match="its owner finishes"):
            ds.finish([receipt], ds.ticket())
        ds["t"][:] = np.arange(40)
        ds.finish([receipt], ticket)
    assert np.array_equal(ncirrus.open(url)["v"][...], numbers(SHAPE))
    assert os.listdir(tmp_path) == ["a.zarr"]
    made(str(tmp_path / "b.zarr"), "zarr2").hand_over()
    assert len(os.listdir(tmp_path)) == 2
    ncirrus.clean(tmp_path, older_than=0)
    assert os.listdir(tmp_path) == ["a.zarr"]
