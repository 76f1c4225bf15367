"""What `createVariable` makes and refuses is what netCDF4-python makes and refuses, over all its keywords.

Before and after the file is closed `filters()`, `chunking()`, `endian()` and `quantization()` are equal.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("netCDF4")
import netcdf4_creating as creating  # noqa: E402
from netcdf4_comparing import differences  # noqa: E402
from netcdf4_isolated import DiedError, apart  # noqa: E402


@pytest.fixture(scope="module")
def theirs() -> list[Any]:
    parts = [creating.CASES[start : start + 8] for start in range(0, len(creating.CASES), 8)]
    with ThreadPoolExecutor(2) as workers:
        return [each for part in workers.map(_told, parts) for each in part]


def _told(cases: list[Any]) -> list[Any]:
    try:
        return apart(creating.told_each, "netCDF4", cases)  # type: ignore[no-any-return]
    except DiedError:
        return [apart(creating.told, "netCDF4", case) for case in cases]


def test_variables_are_made_and_refused_as_there(theirs: list[Any], tmp_path: Path) -> None:
    found = []
    for case, expected in zip(creating.CASES, theirs, strict=True):
        ours = creating.told("ncirrus.netCDF4", case, str(tmp_path))
        if ours != expected:
            found.append(f"{case!r}: {differences(expected, ours)[:2]}")
    assert found == []


def test_the_cases_are_made_as_well_as_refused(theirs: list[Any]) -> None:
    outcomes = [result[0] for result, _ in theirs]
    assert outcomes.count("returned") > 200 and outcomes.count("raised") > 100
    told = repr(theirs)
    for word in "'zlib'", "'szip'", "'zstd'", "'bzip2'", "'blosc_lz4hc'", "'contiguous'", "'big'", "'GranularBitRound'":
        assert word in told
