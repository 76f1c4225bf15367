"""xarray's own tests, run with the engine `ncirrus`: its fixtures, its marks, and the list of exceptions."""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xarray.tests.conftest import create_test_datatree, handle_numpy_1_warnings, simple_datatree, time_unit, use_dask  # noqa: F401
from xarray.tests.test_backends import chunks, default_zarr_format, nfiles, parallel  # noqa: F401

sys.path.insert(0, str(Path(__file__).parent))

# Ways that have found nothing that another way did not find; they run with NCIRRUS_ALL_CASES=1, as in `cargo xtask long`.
# What is written is read by xarray's own engine, what that has written is read here: both by ncirrus is neither.
RARE = {
    "TestZarrBoth",
    "TestNetcdf4Both",
    "TestTreeBoth",
    "TestNetcdf4ViaDaskReads",
    "TestNetcdf4ViaDaskWrites",
    "TestNetcdf3Reads",
    "TestNetcdf3Writes",
    "TestNetcdf3Offset64Both",
    "TestNetcdf4ClassicReads",
    "TestNetcdf4ClassicWrites",
}

EXCEPTIONS = Path(__file__).with_name("exceptions.txt")


@pytest.fixture(autouse=True)
def _no_warning_is_lost() -> None:
    """Warnings are what xarray's tests expect of them."""


@pytest.fixture(autouse=True)
def _files_without_a_folder_lie_in_a_temporary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of xarray's tests write to the working directory."""
    monkeypatch.chdir(tmp_path)


def exceptions() -> Iterator[tuple[str, str]]:
    """Patterns of test names with the reason why they fail: `pattern: reason`, one to a line."""
    for line in EXCEPTIONS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, reason = line.split(": ", 1)
            yield pattern.strip(), reason.strip()


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Marks what is excepted as failing, strictly: a test that passes after all is an error, and so is a pattern that
    matches nothing while everything is collected."""
    rare = [item for item in items if item.cls is not None and item.cls.__name__ in RARE]
    if os.environ.get("NCIRRUS_ALL_CASES"):
        rare = []
    config.hook.pytest_deselected(items=rare)
    ours = [item for item in items if Path(item.fspath).parent == EXCEPTIONS.parent]
    left_out = set(rare)
    items[:] = [item for item in items if item not in left_out]
    known = list(exceptions())
    unused = {pattern for pattern, _ in known}
    for item in ours:
        name = item.nodeid.split("::", 1)[1]
        for pattern, reason in known:
            if fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")):
                unused.discard(pattern)
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
                break
    collected = {Path(item.fspath).name for item in ours}
    is_whole = collected == {path.name for path in EXCEPTIONS.parent.glob("test_*.py")}
    narrowed = config.option.keyword or config.option.markexpr or any("::" in argument for argument in config.args)
    if unused and is_whole and not narrowed:
        raise pytest.UsageError(f"exceptions.txt has patterns that match no test: {sorted(unused)}")
