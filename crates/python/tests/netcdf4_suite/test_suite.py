"""netCDF4-python's own tests pass on ours, and so do xarray's, but for the differences that are listed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import suite  # noqa: E402


@pytest.fixture(scope="module")
def tests() -> Path:
    found = suite.folder()
    if found is None:
        assert os.environ.get("CI") != "true", "the tests of netCDF4-python are not there: cargo xtask peers"
        pytest.skip("the tests of netCDF4-python are not there: cargo xtask peers")
    return found


@pytest.fixture(scope="module")
def reference(tests: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return suite.results(tests, tmp_path_factory.mktemp("reference"), on_ours=False)


def test_the_reference_passes_its_own_tests(reference: dict[str, str]) -> None:
    outcomes = list(reference.values())
    # How many are skipped depends on the programs and filters of the machine.
    assert len(outcomes) == 159 and outcomes.count("passed") >= 156
    assert set(outcomes) <= {"passed", "skipped"}


def test_what_passes_there_passes_here(tests: Path, reference: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("ncirrus.netCDF4._netCDF4")
    found = suite.results(tests, tmp_path, on_ours=True)
    lost = {test: found.get(test, "missing") for test, outcome in reference.items() if outcome == "passed"}
    lost = {test: outcome for test, outcome in lost.items() if outcome != "passed"}
    known = dict(suite.differences())
    assert {test: outcome for test, outcome in lost.items() if test not in known} == {}
    assert sorted(known.keys() - lost.keys()) == [], "these pass, and are no differences any more"


def test_xarrays_tests_of_netcdf_pass_on_ours(tmp_path: Path) -> None:
    found = suite.xarray_results(tmp_path, on_ours=True)
    failed = {test: outcome for test, outcome in found.items() if outcome not in ("passed", "skipped")}
    known = dict(suite.differences(suite.XARRAY_FAILURES))
    assert {test: outcome for test, outcome in failed.items() if test not in known} == {}
    assert sorted(known.keys() - failed.keys()) == [], "these pass, and are no failures any more"
    # How many are skipped depends on what is installed.
    assert list(found.values()).count("passed") >= 720
