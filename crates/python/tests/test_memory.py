"""Memory: what is read or written is held once, in the caller's array."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20
# Bytes that are read and written, and that may be held beside them.
WHOLE = int(os.environ.get("NCIRRUS_MEMORY_MIB", "512")) * MIB
MORE = 64 * MIB

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is what /proc tells")

START = f"""
import sys
import numpy as np
import ncirrus

ROWS, COLUMNS = {WHOLE} // (4 * 4096), 4096

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

def forget():
    # The peak begins anew.
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

def row(at):
    return np.arange(COLUMNS, dtype="f4") + at

def define(path, kind, **how):
    ds = ncirrus.create(path, kind)
    ds.create_dimension("y", ROWS)
    ds.create_dimension("x", COLUMNS)
    return ds, ds.create_variable("v", "f4", ("y", "x"), **how)

path, kind = sys.argv[1:3]
how = {{}} if kind == "nc3" else {{"chunks": (128, 1024), "filters": "zlib,level=1" if kind == "nc4" else "zstd"}}
"""

WRITE = """
whole = np.empty((ROWS, COLUMNS), "f4")
for at in range(ROWS):
    whole[at] = row(at % 251)
ds, v = define(path, kind, **how)
v[:2] = whole[:2]
forget()
before = resident()
v[...] = whole
ds.close()
print(peak() - before)
"""

READ = """
v = ncirrus.open(path)["v"]
v[:2]
forget()
before = resident()
whole = v[...]
print(peak() - before - whole.nbytes)
assert all(np.array_equal(whole[at], row(at % 251)) for at in range(0, ROWS, 97))
"""

INTO = """
v = ncirrus.open(path)["v"]
v[:2]
out = np.zeros((ROWS, COLUMNS), "f4")
out[:] = 1
where = out.__array_interface__["data"][0]
forget()
before = resident()
assert v.read(out=out) is out and out.__array_interface__["data"][0] == where
print(peak() - before)
assert all(np.array_equal(out[at], row(at % 251)) for at in range(0, ROWS, 97))
"""

STRIDED = """
v = ncirrus.open(path)["v"]
v[:2]
out = np.zeros((COLUMNS, ROWS), "f4")
out[:] = 1
forget()
before = resident()
v.read(out=out.T)
print(peak() - before)
assert all(np.array_equal(out[:, at], row(at % 251)) for at in range(0, ROWS, 97))
"""


def more_than_the_array(script: str, *arguments: object) -> int:
    """Bytes that a script held at its peak beside its array."""
    done = subprocess.run(
        [sys.executable, "-c", START + script, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.fixture(scope="module", params=["nc3", "nc4", "zarr3"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    path = tmp_path_factory.mktemp("memory") / f"a.{'zarr' if request.param == 'zarr3' else 'nc'}"
    return path, request.param, more_than_the_array(WRITE, path, request.param)


def test_writing_makes_no_second_array(written: tuple[Path, str, int]) -> None:
    _, kind, more = written
    assert more <= MORE, f"{kind}: {more / MIB:.0f} MiB beside the array"


@pytest.mark.parametrize("script", [READ, INTO], ids=["fresh", "out"])
def test_reading_makes_no_second_array(written: tuple[Path, str, int], script: str) -> None:
    path, kind, _ = written
    more = more_than_the_array(script, path, kind)
    assert more <= MORE, f"{kind}: {more / MIB:.0f} MiB beside the array"


def test_memory_in_another_order_is_filled_by_parts(written: tuple[Path, str, int]) -> None:
    path, kind, _ = written
    if kind != "zarr3":
        pytest.skip("one kind is enough")
    assert more_than_the_array(STRIDED, path, kind) <= MORE
