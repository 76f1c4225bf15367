"""Threads, processes, forks and pickles."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers

import ncirrus

METHODS = ["fork", "forkserver", "spawn"]


@pytest.fixture
def chunked(tmp_path: Path) -> str:
    path = str(tmp_path / "chunked.nc4")
    with ncirrus.create(path) as ds:
        for name, length in zip("yx", (40, 50)):
            ds.create_dimension(name, length)
        ds.create_variable("v", "i4", ("y", "x"), chunks=(7, 9), filters="zlib,level=1")[...] = numbers((40, 50))
    return path


def test_threads_read_one_handle(chunked: str) -> None:
    v = ncirrus.open(chunked, session=ncirrus.Session(chunk_cache=0))["v"]
    expected = numbers((40, 50))
    start = threading.Barrier(8)

    def read(seed: int) -> None:
        random = np.random.default_rng(seed)
        start.wait()
        for _ in range(60):
            (a, b), (c, d) = np.sort(random.integers(0, 41, 2)), np.sort(random.integers(0, 51, 2))
            assert np.array_equal(v[a:b, c:d], expected[a:b, c:d])
            assert np.array_equal(v[[a % 40, b % 40], [c % 50, d % 50]], expected[[a % 40, b % 40], [c % 50, d % 50]])

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(read, range(8)))


def test_threads_write_one_handle(tmp_path: Path) -> None:
    path = str(tmp_path / "a.zarr")
    with ncirrus.create(path, "zarr3") as ds:
        ds.create_dimension("y", 32)
        ds.create_dimension("x", 10)
        v = ds.create_variable("v", "i4", ("y", "x"), chunks=(3, 10))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda y: v.__setitem__(y, np.arange(10) + 10 * y), range(32)))
    assert np.array_equal(ncirrus.open(path)["v"][...], numbers((32, 10)))


def test_pickles_are_opened_where_they_are_first_used(chunked: str) -> None:
    ds = ncirrus.open(chunked)
    for carried in (ds, ds["v"], ds.oindex if hasattr(ds, "oindex") else ds):
        assert len(pickle.dumps(carried)) < 1000
    text = pickle.dumps(ds["v"])
    first, second = pickle.loads(text), pickle.loads(text)
    assert "not opened" in repr(first.dataset)
    before = ds.session.statistics()["requests"]
    assert first[3, 4] == 154
    opened = ds.session.statistics()["requests"]
    assert second[3, 4] == 154 and second.dataset is not first.dataset
    assert opened > before and ds.session.statistics()["requests"] == opened
    first.dataset.close()
    assert second[0, 0] == 0


def test_pickles_carry_options_sessions_and_groups(tmp_path: Path) -> None:
    path = str(tmp_path / "a.nc4")
    with ncirrus.create(path) as ds:
        ds.create_group("g/h").create_dimension("x", 3)
        ds["g/h"].create_variable("v", "i2", ("x",))[...] = 4
    session = ncirrus.Session(threads=1, memory="32M")
    ds = ncirrus.open(path, session=session, lenient=True)
    group = pickle.loads(pickle.dumps(ds["g/h"]))
    assert group.path == "/g/h" and group["v"][...].tolist() == [4, 4, 4]
    assert group.dataset._options == {"lenient": True} and "threads=1" in repr(group.dataset.session)
    again = pickle.loads(pickle.dumps(ds))
    assert again.session is group.dataset.session


def test_changed_file_is_never_mixed(chunked: str) -> None:
    text = pickle.dumps(ncirrus.open(chunked)["v"])
    free = pickle.dumps(ncirrus.open(chunked, pin=False)["v"])
    with ncirrus.create(chunked, overwrite=True) as ds:
        ds.create_dimension("y", 40)
        ds.create_dimension("x", 50)
        ds.create_variable("v", "i4", ("y", "x"))[...] = 1
    with pytest.raises(ncirrus.ChangedError) as raised:
        pickle.loads(text)[0, 0]
    assert raised.value.object == chunked and isinstance(raised.value, OSError) and raised.value.hint
    assert pickle.loads(free)[0, 0] == 1


def test_tokens_tell_states(chunked: str) -> None:
    ds = ncirrus.open(chunked)
    tokens = [ds.__dask_tokenize__(), ds["v"].__dask_tokenize__(), ncirrus.open(chunked).__dask_tokenize__()]
    assert tokens[0] == tokens[2] != tokens[1] and ds.tag is not None
    os.utime(chunked, ns=(1, 1))
    assert ncirrus.open(chunked).__dask_tokenize__() != tokens[0]


def test_writers_are_not_pickled(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc")) as ds:
        for carried in (ds, ds.create_variable("v", "i4")):
            with pytest.raises(TypeError, match="cannot be pickled") as raised:
                pickle.dumps(carried)
            assert "ticket" in str(raised.value.hint)  # type: ignore[attr-defined]


def test_pickle_of_another_version_is_refused(chunked: str) -> None:
    made, arguments = ncirrus.open(chunked).__reduce__()
    with pytest.raises(ncirrus.UnsupportedError, match="version 99"):
        made(99, *arguments[1:])


def test_pickle_of_a_path_that_is_not_there(chunked: str) -> None:
    text = pickle.dumps(ncirrus.open(chunked)["v"])
    os.remove(chunked)
    with pytest.raises(FileNotFoundError) as raised:
        pickle.loads(text)[0]
    assert raised.value.filename == chunked


def test_errors_are_pickled(tmp_path: Path) -> None:
    with pytest.raises(ncirrus.NotFoundError) as raised:
        ncirrus.open(str(tmp_path / "nothing.nc"))
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is ncirrus.NotFoundError and str(again) == str(raised.value) and again.hint == raised.value.hint
    assert (again.kind, again.object, again.errno) == ("not_found", str(tmp_path / "nothing.nc"), 2)


def _sum(variable: Any) -> int:
    return int(variable[...].sum())


@pytest.mark.parametrize("method", METHODS)
def test_processes_read(chunked: str, method: str) -> None:
    variable = ncirrus.open(chunked)["v"]
    assert variable[0, 1] == 1
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(_sum, [variable] * 6)) == [int(numbers((40, 50)).sum())] * 6
    assert variable[0, 2] == 2


_inherited: dict[str, Any] = {}


def _use_inherited(what: str) -> str:
    handle = _inherited[what]
    try:
        if what == "writer":
            handle.attrs["a"] = 1
        return str(int(handle["v"][...].sum()))
    except ncirrus.Error as error:
        return f"{type(error).__name__}: {error}"


def test_forked_children_open_anew_and_do_not_write(chunked: str, tmp_path: Path) -> None:
    _inherited["reader"] = reader = ncirrus.open(chunked)
    _inherited["writer"] = writer = ncirrus.create(str(tmp_path / "w.nc"))
    total = reader["v"][...].sum()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for _ in range(3):
            assert pool.apply(_use_inherited, ("reader",)) == str(total)
            told = pool.apply(_use_inherited, ("writer",))
            assert told.startswith("InvalidError: ") and str(os.getpid()) in told
    writer.create_dimension("x", 2)
    writer.close()
    assert list(ncirrus.open(str(tmp_path / "w.nc")).dims) == ["x"]
    _inherited.clear()


def test_forked_child_that_ends_takes_nothing_away(tmp_path: Path) -> None:
    """A child that ends as a program ends, with all finalizers, leaves what its parent writes."""
    script = f"""
import os, sys, ncirrus
ds = ncirrus.create({str(tmp_path / "a.zarr")!r}, "zarr3")
ds.create_dimension("x", 3)
ds.create_variable("v", "i4", ("x",))[...] = 7
reader = ncirrus.open({str(Path(__file__).parents[3] / "examples" / "sst.nc")!r})
name = next(iter(reader.variables))
reader[name][...]
child = os.fork()
if child == 0:
    reader[name][...]
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
ds.close()
print(ncirrus.open({str(tmp_path / "a.zarr")!r})["v"][...].tolist())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[7, 7, 7]"), done.stderr


def test_fork_while_threads_read(chunked: str) -> None:
    """A child that is forked while other threads are in the library does not hang."""
    v = ncirrus.open(chunked, session=ncirrus.Session(chunk_cache=0))["v"]
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            v[...]

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if v[3, 4] == 154 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_importing_is_cheap() -> None:
    script = "import sys, threading, ncirrus; print([m for m in ('numpy', 'xarray', 'dask', 'fsspec') if m in sys.modules]); print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "1"]


def test_pickles_are_handed_on_without_opening(chunked: str) -> None:
    """What a scheduler does with a graph: it unpickles, and pickles again, and may lack the file."""
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask")
    ds = ncirrus.open(chunked)
    lazy = xr.open_dataset(chunked, engine="ncirrus", chunks={})["v"]
    carried = {"variable": ds["v"], "array": ds["v"].dask(), "xarray": lazy}
    texts = {name: pickle.dumps(value) for name, value in carried.items()}
    os.rename(chunked, chunked + ".away")
    again = {name: pickle.dumps(pickle.loads(text)) for name, text in texts.items()}
    assert pickle.loads(texts["variable"]).dataset.__dask_tokenize__() == ds.__dask_tokenize__()
    os.rename(chunked + ".away", chunked)
    assert np.array_equal(pickle.loads(again["variable"])[...], numbers((40, 50)))
    for name in ("array", "xarray"):
        assert np.array_equal(pickle.loads(again[name]).compute(), numbers((40, 50)))
