"""Many threads at once on `ncirrus.netCDF4`: on one file, on files of their own, reading and creating. netCDF4-python dies of
such programs, and is not run.

A few seconds by default; `NCIRRUS_NETCDF4_SECONDS=1200 pytest -k netcdf4_threads` is an hour.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus.netCDF4 as nc

# Seconds of each of the three tests.
SECONDS = float(os.environ.get("NCIRRUS_NETCDF4_SECONDS", "5"))
COUNT = 8
SHAPE = (40, 30)
KINDS = ["NETCDF4", "NETCDF3_64BIT_OFFSET", "NETCDF4_CLASSIC", "NCZARR"]


def values(seed: int) -> Any:
    return np.random.default_rng(seed).integers(-1000, 1000, SHAPE).astype("f4") / 4


def make(path: Path, seed: int, format: str = "NETCDF4", parts: int = 1) -> None:
    """A file of a packed and masked variable, one that is not, and text, written in as many parts."""
    compression: dict[str, Any] = {} if format.startswith("NETCDF3") else {"zlib": True, "chunksizes": (7, 9)}
    with nc.Dataset(path, "w", format=format) as ds:
        ds.createDimension("t", None)
        ds.createDimension("x", SHAPE[1])
        packed = ds.createVariable("packed", "i2", ("t", "x"), fill_value=-32768, **compression)
        packed.setncatts({"scale_factor": 0.25, "add_offset": 1.0})
        plain = ds.createVariable("plain", "f4", ("t", "x"), **compression)
        ds.note = f"made of {seed}"
        whole, bounds = values(seed), np.linspace(0, SHAPE[0], parts + 1).astype(int)
        for start, stop in zip(bounds, bounds[1:], strict=False):
            plain[start:stop] = whole[start:stop]
            packed[start:stop] = np.ma.masked_less(whole[start:stop], -200)
            if parts > 1:
                ds.sync()


def check(ds: nc.Dataset, seed: int, random: np.random.Generator) -> None:
    whole = values(seed)
    (a, b), rows = np.sort(random.integers(0, SHAPE[0] + 1, 2)), random.integers(0, SHAPE[0], 5)
    assert ds.note == f"made of {seed}" and list(ds.variables) == ["packed", "plain"]
    assert ds["plain"][a:b].tobytes() == whole[a:b].tobytes()
    assert ds["plain"][rows, ::2].tobytes() == whole[rows, ::2].tobytes()
    packed, expected = ds["packed"][a:b], np.ma.masked_less(whole[a:b], -200)
    assert (np.ma.getmaskarray(packed) == np.ma.getmaskarray(expected)).all()
    assert packed.filled(0).tobytes() == expected.filled(0).astype("f8").tobytes()


def together(work: Callable[[int, int, np.random.Generator], None], seconds: float = SECONDS) -> None:
    """Runs the work of each thread again and again, all beginning at once."""
    start, until = threading.Barrier(COUNT), time.monotonic() + seconds

    def run(thread: int) -> int:
        random, rounds = np.random.default_rng(thread), 0
        start.wait()
        while rounds < 2 or time.monotonic() < until:
            work(thread, rounds, random)
            rounds += 1
        return rounds

    with ThreadPoolExecutor(COUNT) as pool:
        assert min(pool.map(run, range(COUNT))) >= 2


@pytest.mark.parametrize("format", KINDS)
def test_eight_threads_read_one_file(format: str, tmp_path: Path) -> None:
    place = tmp_path / "a"
    make(place, 1, format)
    with nc.Dataset(place) as ds:
        together(lambda thread, rounds, random: check(ds, 1, random), SECONDS / len(KINDS))


def test_eight_threads_have_files_of_their_own(tmp_path: Path) -> None:
    def work(thread: int, rounds: int, random: np.random.Generator) -> None:
        place, seed = tmp_path / f"{thread}", 100 * thread + rounds
        make(place, seed, KINDS[thread % 3], parts=1 + rounds % 3)
        with nc.Dataset(place) as ds:
            check(ds, seed, random)
        with nc.Dataset(place, "a") as ds:
            ds["plain"][3] = 7
        with nc.Dataset(place) as ds:
            assert (ds["plain"][3] == 7).all() and ds["plain"][4].tobytes() == values(seed)[4].tobytes()

    together(work)


def test_threads_read_while_others_create_and_change(tmp_path: Path) -> None:
    make(tmp_path / "shared", 5)
    shared, changed = nc.Dataset(tmp_path / "shared"), nc.Dataset(tmp_path / "changed", "w")
    changed.createDimension("x", SHAPE[1])

    def work(thread: int, rounds: int, random: np.random.Generator) -> None:
        if thread < 3:
            check(shared, 5, random)
        elif thread < 6:
            make(tmp_path / f"{thread}", rounds)
            with nc.Dataset(tmp_path / f"{thread}") as ds:
                check(ds, rounds, random)
        elif rounds < 200:
            # Two threads define and write in one dataset.
            name = f"v{thread}_{rounds}"
            variable = changed.createVariable(name, "i4", ("x",))
            variable[:] = rounds
            variable.note = name
            assert (variable[:] == rounds).all()

    with shared, changed:
        together(work)
    with nc.Dataset(tmp_path / "changed") as ds:
        assert len(ds.variables) >= 4
        for name, variable in ds.variables.items():
            assert variable.note == name and (variable[:] == int(name.split("_")[1])).all()
