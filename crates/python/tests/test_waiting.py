"""Interrupts, progress, event loops: what happens while something waits."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from arrays import numbers
from counting import CountingServer
from pressing import ctrl_c

import ncirrus


class StalledServer:
    """Takes connections and never answers."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/a.nc"
        self.connected = threading.Event()
        self.closed = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._hold, args=(connection,), daemon=True).start()
        except OSError:
            pass

    def _hold(self, connection: socket.socket) -> None:
        connection.recv(65536)
        self.connected.set()
        while connection.recv(65536):
            pass
        self.closed.set()

    def stop(self) -> None:
        self._listener.close()


@pytest.fixture
def stalled() -> Iterator[StalledServer]:
    server = StalledServer()
    yield server
    server.stop()


def test_ctrl_c_ends_a_wait_for_a_server(stalled: StalledServer) -> None:
    with ctrl_c(stalled.connected.wait):
        ncirrus.open(stalled.url)
    assert stalled.closed.wait(30)


def test_ctrl_c_ends_a_read_and_the_handle_stays_usable(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), "nc3") as ds:
        ds.create_dimension("x", 200_000)
        ds.create_variable("v", "i4", ("x",))[...] = numbers((200_000,))
    with CountingServer(tmp_path) as server:
        v = ncirrus.open(f"{server.url}/a.nc")["v"]
        assert v[5] == 5
        server.delay = 3600.0
        began = threading.Event()
        count = len(server.requests)

        def watch() -> None:
            while len(server.requests) == count:
                time.sleep(0.01)
            began.set()

        threading.Thread(target=watch, daemon=True).start()
        with ctrl_c(began.wait):
            v[...]
        server.delay = 0.0
        assert np.array_equal(v[...], numbers((200_000,)))


def test_other_signals_run_their_handlers(stalled: StalledServer) -> None:
    class Enough(Exception):
        pass

    def handler(*_: object) -> None:
        raise Enough

    before = signal.signal(signal.SIGUSR1, handler)

    def send() -> None:
        stalled.connected.wait()
        os.kill(os.getpid(), signal.SIGUSR1)

    threading.Thread(target=send, daemon=True).start()
    try:
        with pytest.raises(Enough):
            ncirrus.open(stalled.url)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_other_threads_run_while_one_waits(stalled: StalledServer) -> None:
    """A read that waits for a server does not hold the interpreter."""
    ran = threading.Event()

    def other() -> None:
        stalled.connected.wait()
        ran.set()

    with ctrl_c(other):
        ncirrus.open(stalled.url)
    assert ran.is_set()


@pytest.fixture
def chunked(tmp_path: Path) -> str:
    path = str(tmp_path / "chunked.nc4")
    with ncirrus.create(path) as ds:
        ds.create_dimension("y", 60)
        ds.create_dimension("x", 70)
        ds.create_variable("v", "i4", ("y", "x"), chunks=(7, 9), filters="zlib,level=1")[...] = numbers((60, 70))
        ds.create_variable("w", "f8", ("x",))[...] = np.arange(70)
    return path


def test_progress_takes_callables_and_bars(chunked: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    class Bar:
        total: int | None = None
        done = 0

        def update(self, more: int) -> None:
            self.done += more

    bar = Bar()
    ncirrus.copy(chunked, str(tmp_path / "a.zarr"), progress=lambda done, total: told.append((done, total)))
    ncirrus.copy(chunked, str(tmp_path / "b.zarr"), progress=bar)
    assert told[-1] == (4270, 4270) and told == sorted(told) and (bar.done, bar.total) == (4270, 4270)
    told.clear()
    v = ncirrus.open(chunked)["v"]
    assert np.array_equal(v.read(progress=lambda done, total: told.append((done, total))), numbers((60, 70)))
    assert told[-1] == (4200, 4200)
    with pytest.raises(TypeError, match="progress is a int"):
        v.read(progress=3)


def test_progress_that_raises_cancels(chunked: str, tmp_path: Path) -> None:
    def refuse(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ncirrus.copy(chunked, str(tmp_path / "a.zarr"), progress=refuse)
    assert not (tmp_path / "a.zarr").exists()
    with pytest.raises(ZeroDivisionError):
        ncirrus.open(chunked)["v"].read(progress=refuse)


async def test_event_loops_read(chunked: str) -> None:
    ds = await ncirrus.open_async(chunked)
    v = ds["v"]
    expected = numbers((60, 70))
    out = np.zeros((60, 70), "i4")
    got = await asyncio.gather(
        v.read_async(),
        v.read_async((slice(None, None, -2), 3)),
        v.read_async((1, 2)),
        v.read_async(([1, 2, 3], [4, 5, 6])),
        v.read_async(([3, 1], [2]), indexing="outer"),
        v.read_async(out=out),
        v.read_async(slice(3, 3)),
    )
    wanted = [expected, expected[::-2, 3], expected[1, 2], expected[[1, 2, 3], [4, 5, 6]], expected[[3, 1]][:, [2]], expected, expected[3:3]]
    assert all(np.array_equal(a, b) for a, b in zip(got, wanted)) and got[5] is out
    with pytest.raises(IndexError):
        await v.read_async(99)
    with pytest.raises(FileNotFoundError):
        await ncirrus.open_async(chunked + ".not")


async def test_five_hundred_reads_on_one_loop(chunked: str) -> None:
    v = (await ncirrus.open_async(chunked))["v"]
    threads = threading.active_count()
    got = await asyncio.gather(*(v.read_async((n % 60, n % 70)) for n in range(500)))
    assert [int(value) for value in got] == [(n % 60) * 70 + n % 70 for n in range(500)]
    # Threads of earlier tests may end meanwhile.
    assert threading.active_count() <= threads


async def test_cancelled_tasks_close_their_requests(stalled: StalledServer) -> None:
    task = asyncio.ensure_future(ncirrus.open_async(stalled.url))
    await asyncio.to_thread(stalled.connected.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(stalled.closed.wait, 30)


async def test_several_variables_are_read_together(chunked: str) -> None:
    ds = ncirrus.open(chunked)
    v, w = ds.read_many(["/v", "w"])
    assert np.array_equal(v, numbers((60, 70))) and np.array_equal(w, np.arange(70.0))
    with pytest.raises(KeyError):
        ds.read_many(["z"])

