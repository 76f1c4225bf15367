"""Files that are opened by `ncirrus.netCDF4` are let go of: handles and memory stay where they are, however many were opened."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ncirrus.netCDF4 as nc

KINDS = ["NETCDF4", "NETCDF3_CLASSIC", "NCZARR"]
FILES = 150
# Opens all of the files as one, with fewer handles than files for the process.
MANY = """
import resource, sys
import numpy as np
import ncirrus, ncirrus.netCDF4 as nc

resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))
ncirrus.configure(handles=20)
files = [f"{{sys.argv[1]}}/{{number}}.nc" for number in range({files})]
for _ in range(2):
    with nc.MFDataset(files) as ds:
        v = ds["v"]
        assert v.shape == (3 * {files}, 5) and (v[:, 2] == np.arange(3 * {files})).all()
print(nc.Dataset(files[0])["v"].shape)
"""


def handles() -> int:
    # A dataset and its variables know each other: the collector finds those that are forgotten.
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def resident() -> int:
    """Bytes of memory of the process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def make(path: Path, format: str, first: int = 0) -> None:
    with nc.Dataset(path, "w", format=format) as ds:
        ds.createDimension("t", None)
        ds.createDimension("x", 5)
        ds.createVariable("v", "i4", ("t", "x"))[:] = np.arange(first, first + 3)[:, None]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="handles are counted in /proc")
@pytest.mark.parametrize("format", KINDS)
def test_what_was_opened_is_let_go_of(format: str, tmp_path: Path) -> None:
    place = tmp_path / "a"
    make(place, format)

    def work(times: int) -> None:
        for turn in range(times):
            with nc.Dataset(place) as ds:
                assert ds["v"][1, 2] == 1
            # One that is only forgotten is closed as well.
            nc.Dataset(place)["v"][:]
            with nc.Dataset(place, "a") as ds:
                ds["v"][0, 0] = turn
                if turn % 10 == 0:
                    ds.sync()
            make(tmp_path / "b", format)

    work(30)
    before, memory = handles(), resident()
    work(150)
    assert handles() <= before
    # What every open would keep, 20 kB each, would be more.
    assert resident() - memory < 20_000 * 150


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="handles are limited there")
def test_many_files_are_read_as_one_with_few_handles(tmp_path: Path) -> None:
    for number in range(FILES):
        make(tmp_path / f"{number}.nc", KINDS[number % 2], 3 * number)
    command = [sys.executable, "-c", MANY.format(files=FILES), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "(3, 5)"), done.stderr
