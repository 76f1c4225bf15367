"""What the tests of the package share."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from arrays import numbers

import ncirrus

# A program that a shell started in the background ignores the signal, and so would the tests of Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

KINDS = ["nc3", "nc5", "nc4", "nczarr", "zarr2", "zarr3"]
ENDINGS = {"nc3": "nc", "nc5": "nc", "nc4": "nc4", "nczarr": "zarr", "zarr2": "zarr", "zarr3": "zarr"}


def _enter_the_engine() -> None:
    """Where the package is not installed but lies on the path, gives it the entry points that installing would give, for
    this process and those that it starts."""
    if any(found.name == "ncirrus" for found in entry_points(group="xarray.backends")):
        return
    folder = Path(tempfile.mkdtemp(prefix="ncirrus-entry-"))
    info = folder / f"ncirrus-{ncirrus.__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ncirrus\nVersion: {ncirrus.__version__}\n")
    (info / "entry_points.txt").write_text(
        "[xarray.backends]\nncirrus = ncirrus.xarray:NcirrusBackendEntrypoint\n"
    )
    sys.path.append(str(folder))
    package = str(Path(ncirrus.__file__).parents[1])
    kept = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*kept, package, str(folder)]))


_enter_the_engine()
# What tests share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of dataset."""
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path, kind: str) -> str:
    """Where a dataset of that kind may be made."""
    return str(tmp_path / f"a.{ENDINGS[kind]}")


@pytest.fixture(autouse=True)
def _no_warning_is_lost() -> Iterator[None]:
    """Warnings of the package are errors, unless a test expects them. So are uses of what numpy, xarray, Dask or zarr-python
    will remove."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.filterwarnings("error", category=category, module=r"ncirrus(\.|$)")
        warnings.simplefilter("error", ncirrus.NcirrusWarning)
        warnings.simplefilter("error", ResourceWarning)
        yield


@pytest.fixture
def small(tmp_path: Path) -> str:
    """A netCDF-3 file with a variable of 4 x 5 x 6 numbers."""
    path = str(tmp_path / "small.nc")
    with ncirrus.create(path, "nc3") as ds:
        for name, length in (("t", None), ("y", 5), ("x", 6)):
            ds.create_dimension(name, length)
        ds.create_variable("v", "i4", ("t", "y", "x"), attrs={"units": "K"})[:] = numbers((4, 5, 6))
    return path


@pytest.fixture(scope="session")
def moto() -> Iterator[Any]:
    """An S3 server that checks keys."""
    pytest.importorskip("moto")
    program = Path(__file__).parents[3] / "peers" / "moto_server.py"
    with subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        told = json.loads(server.stdout.readline()) if server.stdout else {}
        yield {"key": told["key"], "secret": told["secret"], "endpoint_url": told["endpoint"]}
        if server.stdin is not None:
            server.stdin.close()


@pytest.fixture(scope="session")
def s3s(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The S3 server of the benchmarks."""
    program = os.environ.get("NCIRRUS_BENCH")
    if program is None or not os.path.exists(program):
        pytest.skip("NCIRRUS_BENCH names no program")
    folder = tmp_path_factory.mktemp("s3s")
    (folder / "bucket").mkdir()
    with subprocess.Popen([program, "s3", str(folder), "0"], stdout=subprocess.PIPE, text=True) as server:
        endpoint = server.stdout.readline().strip() if server.stdout else ""
        yield {"anon": True, "endpoint_url": endpoint}
        server.terminate()
