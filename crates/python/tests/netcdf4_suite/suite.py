"""Runs netCDF4-python's own tests, unchanged, on netCDF4-python or on ours; and xarray's tests of it, on either.

As a program, it prints what passes there and not here: `python suite.py [ARGUMENTS OF PYTEST]`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent
DIFFERENCES, XARRAY_FAILURES = HERE / "differences.txt", HERE / "xarray_failures.txt"
# `cargo xtask peers` unpacks the sdist there.
_PROJECT = HERE.parents[3]


def folder() -> Path | None:
    """The folder `test` of the sdist, where it was fetched."""
    named = os.environ.get("NCIRRUS_NETCDF4_TESTS")
    build = Path(os.environ.get("CARGO_TARGET_DIR", _PROJECT / "target"))
    found = [Path(named)] if named else sorted((build / "peers").glob("netcdf4-*/test"))
    return found[-1] if found and found[-1].is_dir() else None


def results(tests: Path, work: Path, *, on_ours: bool, arguments: Sequence[str] = ()) -> dict[str, str]:
    """The outcome of each test: `passed`, `skipped`, or the first line of its error.

    The tests write beside themselves: they run in a copy in the folder `work`.
    """
    copy = work / "test"
    shutil.copytree(tests, copy)
    return _run([f"--rootdir={copy}", *arguments, "."], copy, on_ours=on_ours)


def xarray_results(work: Path, *, on_ours: bool) -> dict[str, str]:
    """The outcome of each of xarray's tests of netCDF files, which lie where it is installed."""
    found = importlib.util.find_spec("xarray")
    assert found is not None and found.origin is not None
    tests = Path(found.origin).parent / "tests"
    names = ("test_backends.py", "test_backends_datatree.py", "test_backends_file_manager.py")
    # Those of other modules would not use ours.
    others = "Zarr or H5NetCDF or h5netcdf or Scipy or scipy"
    chosen = f"(netcdf or NetCDF or nc4 or Nc4 or Dask or MFDataset or Validate) and not ({others})"
    return _run([f"--rootdir={tests}", "-k", chosen, *(str(tests / name) for name in names)], work, on_ours=on_ours)


def _run(arguments: Sequence[str], folder: Path, *, on_ours: bool) -> dict[str, str]:
    report = folder.with_suffix(".report.xml")
    plugins = ["-p", "answered"] if on_ours else []
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    settings = {**os.environ, "NO_NET": "1", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins]
    command += ["-o", "junit_family=xunit1", f"--junitxml={report}", *arguments]
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    if not report.exists():
        raise RuntimeError(f"the tests did not run:\n{done.stdout}\n{done.stderr}")
    cases = ElementTree.parse(report).iter("testcase")
    return {f"{case.get('classname')}::{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> str:
    for child in case:
        if child.tag in ("failure", "error"):
            return next(iter((child.get("message") or "failed").splitlines()), "failed")
        if child.tag == "skipped":
            return "skipped"
    return "passed"


def differences(file: Path = DIFFERENCES) -> Iterator[tuple[str, str]]:
    """The tests that are known to fail on ours, with the reason: `test: reason`, one to a line."""
    for line in file.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            test, reason = line.split(": ", 1)
            yield test.strip(), reason.strip()


def _main(arguments: Sequence[str]) -> None:
    tests = folder()
    if tests is None:
        raise SystemExit("the tests of netCDF4-python are not there: cargo xtask peers")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        expected = results(tests, Path(one), on_ours=False, arguments=arguments)
        found = results(tests, Path(two), on_ours=True, arguments=arguments)
    wanted = [test for test, outcome in expected.items() if outcome == "passed"]
    lost = [test for test in wanted if found.get(test) != "passed"]
    for test in lost:
        print(f"{test}: {found.get(test, 'missing')}")
    print(f"{len(wanted) - len(lost)} of {len(wanted)} pass")


if __name__ == "__main__":
    _main(sys.argv[1:])
