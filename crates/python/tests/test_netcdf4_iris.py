"""Iris saves and loads the same on ours as on netCDF4-python."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
PYTHON = Path(os.environ.get("NCIRRUS_IRIS_PYTHON", PROJECT / ".venv-iris" / "bin" / "python"))
PACKAGE = PROJECT / "crates" / "python" / "python"
PROGRAM = """
import hashlib, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "ours":
    import ncirrus.netCDF4
    ncirrus.netCDF4.install()
import iris, iris.analysis, netCDF4
import numpy as np
from iris.coords import AuxCoord, CellMethod, DimCoord
from iris.cube import Cube

assert hasattr(netCDF4, "__ncirrus_version__") == (sys.argv[1] == "ours")
lat = DimCoord(np.linspace(-80, 80, 9), "latitude", units="degrees")
lat.guess_bounds()
lon = DimCoord(np.arange(0, 360, 30.0), "longitude", units="degrees", circular=True)
time = DimCoord(np.arange(4.0), "time", units="days since 2000-01-01")
values = np.ma.masked_less(np.arange(4 * 9 * 12, dtype="f4").reshape(4, 9, 12), 7)
cube = Cube(values, "air_temperature", units="K", dim_coords_and_dims=[(time, 0), (lat, 1), (lon, 2)])
cube.add_aux_coord(AuxCoord(np.array(["a", "bb", "ccc", "d"]), long_name="label"), 0)
cube.add_cell_method(CellMethod("mean", "time"))
cube.attributes["source"] = "test"
iris.save([cube, cube.collapsed("time", iris.analysis.MAX)], "a.nc", zlib=True, unlimited_dimensions=["time"])
packing = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 1.0}
iris.save(cube, "b.nc", netcdf_format="NETCDF3_CLASSIC", packing=packing, fill_value=-1)
iris.save(cube[:, 2:5], "c.nc", chunksizes=(1, 3, 12))
for name in ("a.nc", "b.nc", "c.nc"):
    for found in iris.load(name):
        data = found.data
        print(found)
        print(data.dtype, hashlib.sha1(np.ma.filled(data, 0).tobytes()).hexdigest(), int(np.ma.getmaskarray(data).sum()))
        print([(each.name(), str(each.points[:3])) for each in found.coords()])
    for found in iris.load(name):
        print(found[..., ::2].data.shape)
"""


def run(who: str, folder: Path) -> tuple[str, list[str]]:
    """What is printed, and the files as text."""
    folder.mkdir()
    # Iris orders what it loads by sets.
    settings = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [str(PYTHON), "-c", PROGRAM, who], cwd=folder, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    dumps = [subprocess.run(["ncdump", name], cwd=folder, capture_output=True, text=True, check=True) for name in ("a.nc", "b.nc", "c.nc")]
    return done.stdout, [each.stdout for each in dumps]


def test_iris_saves_and_loads_as_on_the_original(tmp_path: Path) -> None:
    missing = [each for each in (str(PYTHON), "ncdump") if shutil.which(each) is None]
    if missing:
        assert os.environ.get("CI") != "true", f"{missing} are not there: cargo xtask peers"
        pytest.skip(f"{missing} are not there: cargo xtask peers")
    (there, theirs), (here, ours) = (run(who, tmp_path / who) for who in ("original", "ours"))
    assert "air_temperature" in there and there == here
    assert theirs == ours
