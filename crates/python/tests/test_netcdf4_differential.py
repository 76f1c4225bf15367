"""Random programs do the same with netCDF4-python and with ours: results, errors, warnings, and the files that they write.

`NCIRRUS_NETCDF4_PROGRAMS` is how many are run: `NCIRRUS_NETCDF4_PROGRAMS=20000 pytest -k random_programs`.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

pytest.importorskip("netCDF4")
from netcdf4_isolated import DiedError, compared, survives  # noqa: E402
from netcdf4_steps import programs  # noqa: E402

COUNT = int(os.environ.get("NCIRRUS_NETCDF4_PROGRAMS", "300"))
_died: list[Any] = []
# Where programs differed, all of them: one that is mended is not the last.
_found: list[str] = []
_is_ci = "CI" in os.environ
# Shrinking takes longer than everything else, and helps only to find the cause.
_PHASES = [Phase.explicit, Phase.generate] if _is_ci else [*Phase]


@settings(max_examples=COUNT, deadline=None, derandomize=_is_ci, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(programs())
def test_random_programs_do_the_same(program: Any) -> None:
    try:
        found = compared(program)
    except DiedError as error:
        # The original dies now and then; ours must not.
        assert str(error).startswith("exit code") and survives(program), str(error)
        _died.append(program)
        return
    if _is_ci:
        _found.extend(f"{program!r}: {each}" for each in found)
    else:
        assert found == []


def test_no_program_differed() -> None:
    assert _found == []


def test_few_programs_are_lost_with_the_original() -> None:
    assert len(_died) <= max(3, COUNT // 50)
