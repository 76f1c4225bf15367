"""How much is asked for: requests, opened files, and decoded chunks, each counted."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers
from counting import CountingServer

import ncirrus
from ncirrus import points

SIDE, CHUNK = 600, 50


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one array of 600 x 600 in chunks of 50 x 50, in every way to store that: as one file, as a tree, and
    as an aggregation of files with chunks."""
    folder = tmp_path_factory.mktemp("grid")
    for name, kind in (("a.nc4", "nc4"), ("a.zarr", "zarr3")):
        _square(folder / name, kind, numbers((SIDE, SIDE)))
    for row in range(3):
        _square(folder / f"part-{row}.nc4", "nc4", numbers((SIDE, SIDE))[200 * row : 200 * row + 200], row)
    ncirrus.aggregate(f"{folder}/part-*.nc4", folder / "all.nc", axes="y")
    return folder


def _square(path: Path, kind: str, values: Any, at: int | None = None) -> None:
    with ncirrus.create(path, kind) as ds:
        ds.create_dimension("y", None if at is not None else SIDE)
        ds.create_dimension("x", SIDE)
        if at is not None:
            ds.create_variable("y", "i4", ("y",))[:] = np.arange(200) + 200 * at
        how: dict[str, Any] = {"chunks": (CHUNK, CHUNK), "filters": "zlib,level=1"}
        ds.create_variable("v", "i4", ("y", "x"), **how)[...] = values


def scattered(count: int) -> tuple[Any, Any]:
    """Points that leave out some of the chunks."""
    random = np.random.default_rng(7)
    y, x = random.integers(0, SIDE, count), random.integers(0, SIDE, count)
    keep = (y // CHUNK + x // CHUNK) % 3 != 0
    return y[keep], x[keep]


def touched(*indices: Any) -> int:
    return len({tuple(cell) for cell in np.stack([index // CHUNK for index in indices], axis=1).tolist()})


@pytest.mark.parametrize("name", ["a.nc4", "a.zarr", "all.nc"])
@pytest.mark.parametrize("reader", ["vindex", "numpy", "async"])
async def test_scattered_points_decode_each_touched_chunk_once(grid: Path, name: str, reader: str) -> None:
    y, x = scattered(100_000)
    session = ncirrus.Session(chunk_cache=0)
    v = ncirrus.open(grid / name, session=session)["v"]
    v[0, 0]
    before = session.statistics()
    if reader == "async":
        got = await v.read_async((y, x))
    else:
        got = v.vindex[y, x] if reader == "vindex" else v[y, x]
    after = session.statistics()
    assert np.array_equal(got, numbers((SIDE, SIDE))[y, x])
    due = touched(y, x)
    assert due < 144
    assert after["chunks_decoded"] - before["chunks_decoded"] == due
    if name != "all.nc":
        assert after["requests"] - before["requests"] <= due


def test_scattered_points_take_a_request_for_each_touched_chunk(grid: Path) -> None:
    y, x = scattered(100_000)
    with CountingServer(grid) as server:
        v = ncirrus.open(f"{server.url}/a.zarr", session=ncirrus.Session(chunk_cache=0))["v"]
        server.forget()
        assert np.array_equal(v.vindex[y, x], numbers((SIDE, SIDE))[y, x])
        asked = Counter(path for _, _, path, _ in server.requests if "/c/" in path)
    assert len(asked) == touched(y, x) and set(asked.values()) == {1}
    assert len(server.requests) == len(asked)


@pytest.mark.parametrize("name", ["a.nc4", "a.zarr", "all.nc"])
async def test_points_that_are_read_in_parts_decode_each_chunk_once(
    grid: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As many as there are in a fragment, whose own chunks are not known.
    monkeypatch.setattr(points, "_MOST", 40_000)
    random = np.random.default_rng(3)
    y, x = random.integers(0, SIDE, 100_000), random.integers(0, SIDE, 100_000)
    session = ncirrus.Session(chunk_cache=0)
    v = ncirrus.open(grid / name, session=session)["v"]
    for way in ("points", "async"):
        before = session.statistics()["chunks_decoded"]
        got = v.vindex[y, x] if way == "points" else await v.read_async((y, x))
        assert session.statistics()["chunks_decoded"] - before == touched(y, x) == 144
        assert np.array_equal(got, numbers((SIDE, SIDE))[y, x])


@pytest.mark.parametrize("kind", ["nc3", "nc4"])
@pytest.mark.parametrize("reader", ["index", "xarray"])
def test_a_loop_over_time_steps_waits_for_a_tenth_of_the_requests(tmp_path: Path, kind: str, reader: str) -> None:
    values = numbers((100, 64, 64))
    with ncirrus.create(tmp_path / "a.nc", kind) as ds:
        for name, length in zip("tyx", values.shape):
            ds.create_dimension(name, length)
        how: dict[str, Any] = {} if kind == "nc3" else {"chunks": (1, 64, 64), "filters": "zlib,level=1"}
        ds.create_variable("v", "i4", ("t", "y", "x"), **how)[...] = values
    rounds = {}
    for read_ahead in (False, True):
        with CountingServer(tmp_path, delay=0.02) as server:
            session = ncirrus.Session(read_ahead=read_ahead)
            if reader == "xarray":
                xarray = pytest.importorskip("xarray")
                v = xarray.open_dataset(f"{server.url}/a.nc", engine="ncirrus", session=session, cache=False)["v"]
            else:
                v = ncirrus.open(f"{server.url}/a.nc", session=session)["v"]
            # Headers and indexes are not counted.
            assert np.array_equal(np.asarray(v[50]), values[50])
            server.forget()
            for t in range(100):
                assert np.array_equal(np.asarray(v[t]), values[t])
            rounds[read_ahead] = server.rounds()
    assert rounds[False] >= 99
    assert rounds[True] <= rounds[False] // 10


def test_more_than_four_mega_points_decode_each_chunk_once(grid: Path) -> None:
    count = (1 << 22) + 1000
    random = np.random.default_rng(3)
    y, x = random.integers(0, SIDE, count), random.integers(0, SIDE, count)
    session = ncirrus.Session(chunk_cache=0)
    got = ncirrus.open(grid / "a.zarr", session=session)["v"].vindex[y, x]
    assert session.statistics()["chunks_decoded"] == 144
    assert np.array_equal(got, numbers((SIDE, SIDE))[y, x])


@pytest.mark.parametrize("kind", ["nc3", "nc4", "zarr3"])
def test_points_of_rows_are_read_in_parts(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each point is a row: points times rows are more than is read at once, whatever way they are selected."""
    monkeypatch.setattr(points, "_MOST", 20_000)
    path = tmp_path / f"a.{'zarr' if kind == 'zarr3' else 'nc'}"
    shape, values = (40, 30, 700), numbers((40, 30, 700))
    with ncirrus.create(path, kind) as ds:
        for name, length in zip("tyx", shape):
            ds.create_dimension(name, length)
        how: dict[str, Any] = {} if kind == "nc3" else {"chunks": (20, 10, 300)}
        ds.create_variable("v", "i4", ("t", "y", "x"), **how)[...] = values
    random = np.random.default_rng(5)
    t, y = random.integers(0, 40, 90), random.integers(0, 30, 90)
    v = ncirrus.open(path, session=ncirrus.Session(chunk_cache=0))["v"]
    assert np.array_equal(v.vindex[t, y, 100:], values[t, y, 100:])
    assert np.array_equal(v[t, y, ::-1], values[t, y, ::-1])
    assert np.array_equal(v[t, :, 5], values[t, :, 5])
    assert np.array_equal(v[t, ::2][:, 3], values[t, ::2][:, 3])
    out = np.zeros((90, 700), "i4", order="F")
    assert np.array_equal(v.read((t, y), out=out), values[t, y])


def test_a_consolidated_zarr_with_twelve_coordinates_opens_in_three_rounds(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    lengths = {f"c{at}": 3 + at for at in range(12)}
    coordinates = {name: np.arange(float(length)) for name, length in lengths.items()}
    values = {"v": (("c0", "c1", "c2"), np.zeros((3, 4, 5))), "w": (("c11",), np.ones(14))}
    for form in (2, 3):
        xr.Dataset(values, coordinates).to_zarr(tmp_path / f"{form}.zarr", zarr_format=form, consolidated=True)
        with CountingServer(tmp_path, delay=0.25) as server:
            with xr.open_dataset(f"{server.url}/{form}.zarr", engine="ncirrus", session=ncirrus.Session()) as found:
                assert len(found.indexes) == 12
                assert server.rounds() <= 3, server.requests
                server.forget()
                for shown in (found, found["v"]):
                    assert repr(shown) and shown._repr_html_()
                assert server.requests == []


def test_what_is_shown_sends_nothing(grid: Path, tmp_path: Path) -> None:
    (tmp_path / "grid").symlink_to(grid)
    with CountingServer(tmp_path) as server:
        for name in ("a.nc4", "a.zarr", "all.nc"):
            ds = ncirrus.open(f"{server.url}/grid/{name}", session=ncirrus.Session())
            server.forget()
            for shown in (ds, ds.groups, ds.variables, ds.dims, ds.attrs, ds["v"], ds["v"].attrs, ds.session):
                assert repr(shown) and str(shown)
                assert not hasattr(shown, "_repr_html_") or shown._repr_html_()
            assert server.requests == [], name


OPEN = 0x20


class OpenedFiles:
    """Counts how often the files of a folder are opened, as the kernel reports it."""

    def __init__(self, folder: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._told = self._libc.inotify_init1(os.O_NONBLOCK)
        assert self._told >= 0 and self._libc.inotify_add_watch(self._told, os.fsencode(folder), OPEN) >= 0

    def count(self) -> Counter[str]:
        found: Counter[str] = Counter()
        while True:
            try:
                events = os.read(self._told, 1 << 20)
            except BlockingIOError:
                os.close(self._told)
                return found
            at = 0
            while at < len(events):
                _, mask, _, length = struct.unpack_from("iIII", events, at)
                assert not mask & 0x4000, "more events than the kernel keeps"
                name = events[at + 16 : at + 16 + length].rstrip(b"\0").decode()
                if name:
                    found[name] += 1
                at += 16 + length


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thousand files of one day each."""
    folder = tmp_path_factory.mktemp("thousand")
    first = folder / "0000.nc"
    with ncirrus.create(first, "nc3") as ds:
        ds.create_dimension("t", None)
        ds.create_dimension("x", 4)
        ds.create_variable("t", "i4", ("t",), attrs={"units": "days since 2000-01-01"})[:] = [0x01020304]
        ds.create_variable("v", "i4", ("t", "x"))[:] = np.full((1, 4), 0x05060708)
    body = first.read_bytes()
    for day in range(1000):
        changed = body.replace(b"\x01\x02\x03\x04", struct.pack(">i", day)).replace(b"\x05\x06\x07\x08", struct.pack(">i", day))
        (folder / f"{day:04}.nc").write_bytes(changed)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux")
def test_many_local_files_are_each_opened_once(thousand: Path) -> None:
    session = ncirrus.Session()
    opened = OpenedFiles(thousand)
    many = ncirrus.open_many(f"{thousand}/*.nc", axis="t", session=session)
    counted = opened.count()
    # A handle may be closed for others before all of its file was read: no second pass over the files, though.
    assert len(counted) == 1000 and sum(counted.values()) <= 1050, counted.most_common(3)
    assert many["v"].shape == (1000, 4) and many["t"][...].tolist() == list(range(1000))
    # A read opens the files that it reads, and no other.
    opened = OpenedFiles(thousand)
    assert many["v"][500:503, 1].tolist() == [500, 501, 502]
    assert set(opened.count()) <= {"0500.nc", "0501.nc", "0502.nc"}


def test_of_many_remote_files_each_header_is_read_once(thousand: Path) -> None:
    with CountingServer(thousand) as server:
        files = [f"{server.url}/{day:04}.nc" for day in range(60)]
        many = ncirrus.open_many(files, axis="t", session=ncirrus.Session())
        headers = Counter(path for _, _, path, asked in server.requests if asked and asked.startswith("bytes=0-"))
        # The first is looked at once more, for what the master is to be like.
        assert headers.pop("/0000.nc") <= 2 and len(headers) == 59 and set(headers.values()) == {1}, headers
        # Beside them the values of the axis are asked for.
        assert len(server.requests) <= 60 * 2 + 1
        assert many["v"].shape == (60, 4)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            client.wait_for_workers(4)
            yield client


def test_a_mean_by_workers_fetches_each_chunk_once_and_opens_once_a_worker(tmp_path: Path, client: Any) -> None:
    values = np.random.default_rng(1).random((64, 40, 20), "f4")
    with ncirrus.create(tmp_path / "a.zarr", "zarr3") as ds:
        for name, length in zip("tyx", values.shape):
            ds.create_dimension(name, length)
        ds.create_variable("v", "f4", ("t", "y", "x"), chunks=(1, 20, 20), filters="zstd")[...] = values
    with CountingServer(tmp_path) as server:
        v = ncirrus.open(f"{server.url}/a.zarr", session=ncirrus.Session())["v"]
        to_open = Counter(path for _, _, path, _ in server.requests)
        server.forget()
        array = v.dask((1, 20, 20))
        assert array.npartitions == 128
        assert float(array.mean().compute()) == pytest.approx(values.mean(dtype="f8"), rel=1e-5)
        asked = Counter(path for _, _, path, _ in server.requests)
        chunks = {path: count for path, count in asked.items() if "/c/" in path}
        assert len(chunks) == 128 and set(chunks.values()) == {1}
        for path, count in to_open.items():
            # Four workers, each of which opens as the client did.
            assert asked[path] == 4 * count, (path, asked[path], count)
        assert set(asked) == set(chunks) | set(to_open)
        # What is open stays open: another graph over the same chunks fetches these only.
        server.forget()
        assert float(array[:8].max().compute()) == values[:8].max()
        assert {path for _, _, path, _ in server.requests} == {path for path in chunks if int(path.split("/")[4]) < 8}


def test_workers_do_not_mix_two_states_of_a_file(tmp_path: Path, client: Any) -> None:
    """A file that is replaced while a graph runs: some workers have it open, what the others open is another one."""
    path = tmp_path / "a.nc4"

    def make(value: int) -> None:
        with ncirrus.create(path, overwrite=True) as ds:
            ds.create_dimension("x", 400)
            ds.create_variable("v", "i4", ("x",), chunks=(10,), filters="zlib,level=1")[...] = value

    make(1)
    v = ncirrus.open(path)["v"]
    first, *others = client.scheduler_info()["workers"]
    assert client.submit(lambda v: int(v[...].sum()), v, workers=[first], pure=False).result(60) == 400
    make(2)
    for worker in others:
        future = client.submit(lambda v: int(v[...].sum()), v, workers=[worker], pure=False, retries=0)
        with pytest.raises(ncirrus.ChangedError) as raised:
            future.result(60)
        assert raised.value.object == str(path) and raised.value.hint
    with pytest.raises(ncirrus.ChangedError):
        client.compute(v.dask((10,)).sum(), retries=0).result(60)
    assert client.compute(ncirrus.open(path)["v"].dask((10,)).sum()).result(60) == 800
