"""A writer of `ncirrus.netCDF4` that is killed leaves what it synced last, or nothing.

`NCIRRUS_NETCDF4_KILLS` is how often each is killed.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ncirrus.netCDF4 as nc

KILLS = int(os.environ.get("NCIRRUS_NETCDF4_KILLS", "4"))
WIDTH = 500
# Records with their number in each element; the attribute `last` says how many there are. The number of each sync is printed
# when it has returned.
WRITER = """
import sys
import numpy as np
import ncirrus.netCDF4 as nc

place, format, begin = sys.argv[1], sys.argv[2], int(sys.argv[3])
if begin:
    ds = nc.Dataset(place, "a")
    v = ds["v"]
else:
    ds = nc.Dataset(place, "w", format=format)
    ds.createDimension("t", None)
    ds.createDimension("x", {width})
    v = ds.createVariable("v", "i4", ("t", "x"))
print("open", flush=True)
for record in range(begin, 100000):
    v[record] = record
    ds.last = np.int32(record + 1)
    if record % 3 == 2:
        ds.sync()
        print(record + 1, flush=True)
"""


def killed(place: Path, format: str, begin: int, wait: float) -> int:
    """Runs the writer, and kills it a while after it has begun; returns what it has said to be synced."""
    command = [sys.executable, "-c", WRITER.format(width=WIDTH), str(place), format, str(begin)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline().strip() == "open"
        time.sleep(wait)
        os.kill(writer.pid, signal.SIGKILL)
        told = [int(line) for line in writer.stdout.read().split()]
    assert writer.returncode == -signal.SIGKILL
    return max(told, default=begin)


def records(place: Path) -> int:
    """How many records there are, all whole."""
    with nc.Dataset(place) as ds:
        v = ds["v"][:]
        count = int(ds.last)
        assert v.shape == (count, WIDTH)
        assert (np.ma.getdata(v) == np.arange(count)[:, None]).all() and not np.ma.getmaskarray(v).any()
    return count


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET", "NCZARR"])
def test_a_killed_writer_leaves_its_last_sync_or_nothing(format: str, tmp_path: Path) -> None:
    chance = random.Random(format)
    for time_ in range(KILLS):
        place = tmp_path / f"{time_}"
        # It is killed twice: when it creates, and when it changes what it had created.
        synced, found = 0, 0
        for _ in range(2):
            synced = killed(place, format, found, chance.uniform(0, 0.1))
            if not place.exists():
                assert synced == 0
                continue
            found = records(place)
            assert found % 3 == 0 and found >= synced


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_64BIT_OFFSET", "NCZARR"])
def test_what_is_overwritten_stays_until_the_new_one_is_whole(format: str, tmp_path: Path) -> None:
    place = tmp_path / "a"
    with nc.Dataset(place, "w", format=format) as ds:
        ds.note = "old"
    synced = killed(place, format, 0, 0.0)
    with nc.Dataset(place) as ds:
        is_old = "note" in ds.ncattrs()
        assert ds.note == "old" if is_old else int(ds.last) >= synced
    assert not is_old or synced == 0
