"""What is interrupted ends at once, leaves nothing over, and leaves handles that go on."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers
from holding import HoldingServer
from pressing import ctrl_c

import ncirrus

COUNT = 300_000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HoldingServer]:
    """A file in chunks, which a server gives or holds back."""
    path = tmp_path / "served.nc4"
    with ncirrus.create(path) as ds:
        ds.create_dimension("x", COUNT)
        ds.create_variable("v", "i4", ("x",), chunks=(1000,), filters="zlib,level=1")[...] = numbers((COUNT,))
    with HoldingServer(path.read_bytes()) as server:
        path.unlink()
        yield server


def nothing_is_left(folder: Path) -> bool:
    report = ncirrus.clean(folder, older_than=0, dry_run=True)
    return report.removed == [] and list(folder.iterdir()) == []


def test_a_whole_read_is_interrupted(server: HoldingServer) -> None:
    v = ncirrus.open(server.url)["v"]
    assert v[5] == 5
    server.holds = True
    with ctrl_c(lambda: server.wait_for(lambda: server.held)):
        v[...]
    assert server.wait_for(lambda: server.closed and not server.held), "requests are cancelled"
    server.holds = False
    assert np.array_equal(v[...], numbers((COUNT,)))


@pytest.mark.parametrize("name", ["a.nc", "a.nc4", "a.zarr"])
def test_a_copy_is_interrupted(server: HoldingServer, tmp_path: Path, name: str) -> None:
    source, folder = ncirrus.open(server.url), tmp_path / "copies"
    folder.mkdir()
    server.holds = True
    with ctrl_c(lambda: server.wait_for(lambda: server.held)):
        ncirrus.copy(source, folder / name)
    assert server.wait_for(lambda: server.closed and not server.held)
    assert nothing_is_left(folder)
    server.holds = False
    ncirrus.copy(source, folder / name)
    assert np.array_equal(ncirrus.open(folder / name)["v"][...], numbers((COUNT,)))


@pytest.mark.parametrize("name", ["a.nc4", "a.zarr"])
@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_a_write_of_dask_is_interrupted(tmp_path: Path, name: str, scheduler: str) -> None:
    """Some blocks are written, others are still computed."""
    names = ("xarray", "dask", "dask.array", "ncirrus.xarray")
    xr, dask, da, _ = (pytest.importorskip(name) for name in names)
    folder, begun, goes_on = tmp_path / "copies", threading.Event(), threading.Event()
    folder.mkdir()

    def waiting(block: Any) -> Any:
        if block.size and block[0] >= 3000:
            begun.set()
            goes_on.wait()
        return block

    plain = xr.Dataset({"v": ("x", da.from_array(numbers((20_000,)), chunks=1000))})
    slow = plain.map_blocks(lambda found: found.copy(data={"v": waiting(found["v"].values)}), template=plain)
    with concurrent.futures.ThreadPoolExecutor(2) as pool, dask.config.set(scheduler=scheduler, pool=pool):
        with ctrl_c(begun.wait):
            slow.ncirrus.to(folder / name)
        # What threads of Dask's had begun they end; it goes nowhere.
        goes_on.set()
    assert nothing_is_left(folder), list(folder.rglob("*"))
    with dask.config.set(scheduler=scheduler):
        plain.ncirrus.to(folder / name)
    assert np.array_equal(ncirrus.open(folder / name)["v"][...], numbers((20_000,)))


async def test_five_hundred_cancelled_reads_close_their_requests(server: HoldingServer) -> None:
    session = ncirrus.Session(chunk_cache=0)
    v = (await ncirrus.open_async(server.url, session=session))["v"]
    await v.read_async(0)
    server.holds, threads = True, threading.active_count()
    tasks = [asyncio.ensure_future(v.read_async(600 * at)) for at in range(500)]
    assert await asyncio.to_thread(server.wait_for, lambda: server.held >= 4)
    # The one of asyncio that waits for the server.
    assert threading.active_count() <= threads + 1
    for task in tasks[::2]:
        task.cancel()
    await asyncio.wait(tasks[::2])
    assert all(task.cancelled() for task in tasks[::2]) and not any(task.done() for task in tasks[1::2])
    for task in tasks[1::2]:
        task.cancel()
    gone = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(error, asyncio.CancelledError) for error in gone)
    assert await asyncio.to_thread(server.wait_for, lambda: server.held == 0 and server.closed >= 4)
    server.holds, answered = False, server.answered
    got = await asyncio.gather(*(v.read_async(600 * at) for at in range(500)))
    assert [int(value) for value in got] == [600 * at for at in range(500)]
    # Besides the chunks, parts of their index are read, by reads side by side more than once; what was cancelled is not
    # sent again.
    assert server.answered - answered < 2 * 500


def test_other_threads_meet_while_a_read_waits(server: HoldingServer) -> None:
    """The answer comes after two threads of Python have met: a read that kept the interpreter would wait for ever."""
    v = ncirrus.open(server.url, session=ncirrus.Session(chunk_cache=0))["v"]
    v[0]
    meeting, met = threading.Barrier(2), []

    def meet() -> None:
        assert server.wait_for(lambda: server.held)
        for _ in range(100):
            meeting.wait(60)
        met.append(True)
        server.release()

    threads = [threading.Thread(target=meet) for _ in range(2)]
    for thread in threads:
        thread.start()
    server.holds = True
    assert int(v[123_456]) == 123_456
    for thread in threads:
        thread.join()
    assert met == [True, True]
