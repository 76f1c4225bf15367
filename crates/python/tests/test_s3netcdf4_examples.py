"""The examples that S3netCDF4 documents, as its programs have them; and what cf-python and cfdm read of what is written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus.s3netcdf4


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moto: Any) -> str:
    """A bucket at the alias `minio`, with `S3netCDF4` answered by ours."""
    keys = {"accessKey": moto["key"], "secretKey": moto["secret"]}
    host = {"alias": "minio", "url": moto["endpoint_url"], "credentials": keys, "backend": "s3aioFileObject", "api": "S3v4"}
    told = {
        "version": "9",
        "hosts": {"s3://minio": host},
        "backends": {"s3aioFileObject": {"maximum_part_size": "50MB", "maximum_parts": 8, "connect_timeout": 30.0}},
        "cache_location": str(tmp_path),
        "resource_allocation": {"memory": "1GB", "filehandles": 20},
    }
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("S3_NC_CONFIG", raising=False)
    (tmp_path / ".s3nc.json").write_text(json.dumps(told))
    ncirrus.s3netcdf4.install()
    return f"s3://minio/bucket/{tmp_path.name}"


def test_the_documented_examples_run_as_printed(at: str) -> None:
    from S3netCDF4._s3netCDF4 import s3Dataset  # type: ignore[import-not-found]

    # A netCDF-4 file, opened again by its alias.
    nc_data = s3Dataset(f"{at}/netcdf_test.nc", mode="w", format="NETCDF4")
    nc_data.createDimension("x", 3)
    nc_data.createVariable("field8", "f4", ("x",))[:] = [1, 2, 3]
    nc_data.close()
    test_dataset = s3Dataset(f"{at}/netcdf_test.nc", "r")
    assert test_dataset.variables["field8"][:].tolist() == [1, 2, 3]
    test_dataset.close()

    # CFA-netCDF files: of netCDF-4, and of netCDF-3 with version 0.4.
    for name, words in [("cfa4", {"format": "CFA4"}), ("cfa3", {"format": "CFA3", "cfa_version": "0.4"}), ("default", {})]:
        cfa_data = s3Dataset(f"{at}/{name}.nc", mode="w", **words)
        cfa_data.createDimension("lat", 4)
        temp = cfa_data.createVariable("field8", "f4", ("lat",), subarray_shape=np.array([2]))
        temp[:] = 8
        temp.units = "K"
        cfa_data.close()
        read = s3Dataset(f"{at}/{name}.nc")
        assert read.variables["field8"][:].tolist() == [8, 8, 8, 8]
        assert read.getVariable("field8").ncattrs() == ["units"] and read.getVariable("field8").getncattr("units") == "K"
        assert read._cfa_dataset.getCFAVersion() == ("0.4" if name == "cfa3" else "0.5")
        read.close()

    # An unlimited dimension of a netCDF-3 master, without a version.
    with s3Dataset(f"{at}/unlimited.nc", "w", format="CFA3") as cfa_data:
        cfa_data.createDimension("time", None)
        times = cfa_data.createVariable("times", "f8", ("time",), subarray_shape=(2,))
        times[0:3] = [1, 2, 3]
        assert len(cfa_data.dimensions["time"]) in (0, 3) and times.shape == (3,)
    with s3Dataset(f"{at}/unlimited.nc") as cfa_data:
        assert len(cfa_data.dimensions["time"]) == 3 and cfa_data["times"][:].tolist() == [1, 2, 3]

    # Attributes of a dataset that is put together in memory.
    cfa_data = s3Dataset(f"{at}/attributes.nc", mode="w", diskless=True)
    cfa_data.description = "bogus example script"
    cfa_data.setncattr("history", "Created")
    cfa_data.createDimension("lat", 2)
    temps = cfa_data.createVariable("temp", "f4", ("lat",))
    temps.setncatts({"units": "K", "scl": 2.0})
    temps[:] = 1
    cfa_data.close()
    with s3Dataset(f"{at}/attributes.nc") as cfa_data:
        assert [cfa_data.getncattr(name) for name in ("description", "history")] == ["bogus example script", "Created"]
        assert cfa_data["temp"].scl == 2.0 and cfa_data["temp"][:].tolist() == [1, 1]


_PROGRAMS = {
    "cf": "import cf as module",
    "cfdm": "import cfdm as module",
}
_READING = """
import sys, json, numpy
{0}
field = next(field for field in module.read("m.nca") if field.nc_get_variable() == "tas")
print(json.dumps(numpy.asarray(field.array.filled(-1) if hasattr(field.array, "filled") else field.array, float).tolist()))
"""


@pytest.mark.parametrize(("peer", "version", "folder"), [("cf", "0.6", ".venv-cf"), ("cfdm", "cf-1.13", ".venv-cfa")])
def test_other_programs_read_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, peer: str, version: str, folder: str
) -> None:
    python = Path(__file__).parents[3] / folder / "bin" / "python"
    if not python.exists():
        assert os.environ.get("CI") != "true", f"{folder} is not there"
        pytest.skip(f"{folder} is not there")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("S3_NC_CONFIG", raising=False)
    whole = np.arange(40, dtype="f4").reshape(10, 4)
    with ncirrus.s3netcdf4.s3Dataset(tmp_path / "m.nca", "w", cfa_version=version) as made:
        made.Conventions = "CF-1.11"
        for name, length, units in (("time", 10, "days since 2000-01-01"), ("lat", 4, "degrees_north")):
            made.createDimension(name, length)
            coordinate = made.createVariable(name, "f8", (name,))
            coordinate.units, coordinate.standard_name = units, {"lat": "latitude"}.get(name, name)
            coordinate[:] = np.arange(length)
        tas = made.createVariable("tas", "f4", ("time", "lat"), fill_value=-999.0, subarray_shape=(4, 2))
        tas.units, tas.standard_name = "K", "air_temperature"
        tas[:] = whole
    command = [str(python), "-c", _READING.format(_PROGRAMS[peer])]
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert np.array_equal(json.loads(done.stdout.splitlines()[-1]), whole)


def test_a_file_manager_lists_and_reads_objects_as_programs_ask_it(at: str) -> None:
    from S3netCDF4._Exceptions import IOException  # type: ignore[import-not-found]
    from S3netCDF4.Managers._FileManager import FileManager  # type: ignore[import-not-found]

    manager = FileManager()
    for name in ("in/a.nc", "in/b.nc", "in/c.txt", "other/d.nc"):
        made = manager._open(f"{at}/{name}", mode="w")
        made.close(name.encode())
    prefix = at.rpartition("/")[2]
    found = manager._open(f"{at}/in")
    assert found.remote_system and not found.async_system and found.file_handle._bucket == "bucket"
    assert found.glob() == [f"{prefix}/in/{name}" for name in ("a.nc", "b.nc", "c.txt")]
    assert manager._open(f"{at}/in/*.nc").glob() == [f"{prefix}/in/a.nc", f"{prefix}/in/b.nc"]
    opened = manager.request_file(f"{at}/other/d.nc")
    assert manager.request_file(f"{at}/other/d.nc") is opened and list(manager.files) == [f"{at}/other/d.nc"]
    assert opened.read_from(6, 3) == b"d.n" and opened.read() == b"d.nc"
    with pytest.raises(FileNotFoundError):
        manager._open(f"{at}/absent")
    with pytest.raises(IOException, match="s3://absent is not present"):
        manager._open("s3://absent/bucket/a")


def test_a_file_manager_opens_local_files(tmp_path: Path) -> None:
    from ncirrus.s3netcdf4 import APIException
    from ncirrus.s3netcdf4.Managers._FileManager import FileManager

    manager = FileManager()
    with open(tmp_path / "a", "wb") as file:
        file.write(b"CDF\x01")
    found = manager._open(str(tmp_path / "a"))
    assert not found.remote_system and found.read_from(0, 3) == b"CDF" and found.mode == "r"
    found.close()
    folder = manager._open(str(tmp_path))
    assert folder.file_handle is None
    with pytest.raises(APIException):
        folder.glob()
    with pytest.raises(FileNotFoundError):
        manager._open(str(tmp_path / "absent"))
