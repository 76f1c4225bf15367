"""S3netCDF4's own test of its datasets passes on ours, unchanged: `test_s3Dataset.py` of its sdist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROJECT = Path(__file__).parents[3]
_RUN = "import runpy, sys; import ncirrus.s3netcdf4 as s; s.install(); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"


@pytest.fixture
def tests() -> Path:
    """The folder `test` of the sdist, where `cargo xtask peers` fetched it, or `NCIRRUS_S3NETCDF4_TESTS`."""
    named = os.environ.get("NCIRRUS_S3NETCDF4_TESTS")
    build = Path(os.environ.get("CARGO_TARGET_DIR", _PROJECT / "target"))
    found = [Path(named)] if named else sorted((build / "peers").glob("s3netcdf4-*/test"))
    if not found:
        assert os.environ.get("CI") != "true", "the sdist of S3netCDF4 is not there: cargo xtask peers"
        pytest.skip("the sdist of S3netCDF4 is not there: cargo xtask peers")
    return found[-1]


def test_its_own_test_of_datasets_passes(tests: Path, tmp_path: Path) -> None:
    # It writes into this folder, which it does not make.
    (tmp_path / "Test").mkdir()
    own = {name: value for name, value in os.environ.items() if name != "S3_NC_CONFIG"}
    command = [sys.executable, "-c", _RUN, str(tests / "test_s3Dataset.py")]
    done = subprocess.run(command, env={**own, "HOME": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Ran 8 tests" in done.stderr, done.stderr
