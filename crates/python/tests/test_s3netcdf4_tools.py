"""The tools of S3netCDF4, by `python -m ncirrus.s3netcdf4.tools`."""

import subprocess
import sys

import numpy as np
import pytest
from netCDF4 import Dataset

import ncirrus
from ncirrus.s3netcdf4.tools import main


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    first = 0
    for number, length in enumerate([3, 4, 5]):
        with Dataset(f"in/f{number}.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("lat", 2)
            time = file.createVariable("time", "f8", ("time",))
            time.units, time.calendar = "days since 2000-01-01", "standard"
            time[:] = np.arange(first, first + length)
            tas = file.createVariable("tas", "f4", ("time", "lat"), fill_value=-9)
            tas.units = "K"
            tas[:] = 10 * np.arange(first, first + length)[:, None] + np.arange(2)
        first += length


WHOLE = 10.0 * np.arange(12)[:, None] + np.arange(2)


def values(path):
    with ncirrus.open(path) as dataset:
        return dataset["tas"][...]


@pytest.mark.parametrize("version", ["0.4", "0.5", "0.6", "cf-1.13"])
def test_files_of_a_folder_are_put_together(version):
    assert main(["s3nc_cfa_agg.py", "agg.nca", "in", "--axis", "time", "--cfa_version", version]) == 0
    assert np.array_equal(values("agg.nca"), WHOLE)
    with ncirrus.open("agg.nca") as dataset:
        assert len(dataset["tas"].fragments()) == 3


def test_the_listing_tells_partitions(capsys):
    assert main(["s3nc_cfa_agg", "agg.nca", "in"]) == 0
    assert main(["s3nc_cfa_info.py", "agg.nca", "--partition", "1,0", "--metadata"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == ["agg.nca {", "dimensions:", "time = 12", "lat = 2"]
    for line in (
        "float32 tas(time,lat)",
        "tas:units = K",
        "tas:pmshape = (3, 1)",
        "tas:pmdimensions = (time, lat)",
        "tas:partition [1 0] =",
        ":location = [[3, 7], [0, 2]]",
        ":shape    = [4, 2]",
        ":filename = in/f1.nc",
        ":variable = tas",
    ):
        assert line in lines, line
    assert "tas:partition [0 0] =" not in lines and lines[-1] == "}"
    assert main(["s3nc_cfa_info.py", "agg.nca", "--partition", "all"]) == 0
    assert capsys.readouterr().out.count(":location") == 3
    assert main(["s3nc_cfa_info.py", "agg.nca", "--variable", "none"]) == 0
    assert "variables" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "count"),
    [(["--subarray_shape", "[5,2]"], 3), (["--subarray_size", "40"], 4), (["--cfa_version", "0.4"], 1)],
)
def test_a_dataset_is_split_and_holds_every_element(options, count):
    assert main(["s3nc_cfa_agg.py", "agg.nca", "in"]) == 0
    ncirrus.copy("agg.nca", "whole.nc", kind="nc4")
    assert main(["s3nc_cfa_split.py", "parts.nca", "whole.nc", *options]) == 0
    assert np.array_equal(values("parts.nca"), WHOLE)
    with ncirrus.open("parts.nca") as dataset:
        assert len(dataset["tas"].fragments()) == count


def test_a_netcdf3_file_becomes_a_netcdf3_master_of_cfa_04(tmp_path):
    ncirrus.copy("in/f2.nc", "whole.nc", kind="nc3")
    assert main(["s3nc_cfa_split.py", "parts.nca", "whole.nc", "--cfa_version", "0.4"]) == 0
    with ncirrus.open("parts.nca") as dataset:
        assert dataset.format == "netcdf3"
    assert np.array_equal(values("parts.nca"), WHOLE[7:])


def test_sub_arrays_lie_where_that_is_asked_for(tmp_path):
    assert main(["s3nc_cfa_split.py", "parts.nca", "in/f2.nc", "--subarray_path", "elsewhere"]) == 0
    assert list((tmp_path / "elsewhere").rglob("*.nc*")) and np.array_equal(values("parts.nca"), WHOLE[7:])


@pytest.mark.parametrize("options", [[], ["--variable", "tas"]])
def test_sub_arrays_that_were_moved_are_found_again(tmp_path, options):
    assert main(["s3nc_cfa_agg.py", "agg.nca", "in"]) == 0
    (tmp_path / "in").rename(tmp_path / "moved")
    assert main(["s3nc_cfa_mv.py", "agg.nca", "--prefix", "moved", *options]) == 0
    assert np.array_equal(values("agg.nca"), WHOLE)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "usage"),
        (["absent.py"], 2, "usage"),
        (["s3nc_cfa_agg.py", "agg.nca"], 2, "path"),
        (["s3nc_cfa_agg.py", "agg.nca", "in", "--cfa_version", "7"], 2, "7"),
        (["s3nc_cfa_agg.py", "agg.nca", "absent"], 1, "absent"),
        (["s3nc_cfa_split.py", "parts.nca", "in/f0.nc", "--subarray_shape", "[1,2,3]"], 1, "3 dimensions"),
        (["s3nc_cfa_split.py", "parts.nca", "in/f0.nc", "--subarray_shape", "[0,2]"], 1, "positive"),
        (["s3nc_cfa_split.py", "parts.nca", "in/f0.nc", "--subarray_shape", "nonsense"], 1, "nonsense"),
        (["s3nc_cfa_split.py", "parts.nca", "absent.nc"], 1, "absent.nc"),
        (["s3nc_cfa_info.py", "absent.nc"], 1, "absent.nc"),
        (["s3nc_cfa_info.py", "in/f0.nc", "--variable", "absent"], 1, "absent"),
        (["s3nc_cfa_info.py", "in/f0.nc", "--group", "absent"], 1, "absent"),
        (["s3nc_cfa_info.py", "in/f0.nc", "--partition", "x"], 1, "--partition"),
        (["s3nc_cfa_mv.py", "in/f0.nc"], 2, "prefix"),
    ],
)
def test_mistakes_are_told_with_a_code(tmp_path, capsys, arguments, code, words):
    assert main(arguments) == code
    said = capsys.readouterr()
    assert words in said.err and said.out == "" and "Traceback" not in said.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in"]


def test_a_partition_that_is_not_there_is_told(capsys):
    assert main(["s3nc_cfa_agg.py", "agg.nca", "in"]) == 0
    assert main(["s3nc_cfa_info.py", "agg.nca", "--partition", "7,0"]) == 1
    assert "[7, 0]" in capsys.readouterr().err


def test_a_tool_runs_as_a_module():
    command = [sys.executable, "-m", "ncirrus.s3netcdf4.tools", "s3nc_cfa_info.py", "in/f0.nc"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "tas(time,lat)" in done.stdout, done.stderr
