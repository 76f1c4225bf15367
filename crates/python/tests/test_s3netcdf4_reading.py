"""Aggregations as `s3Dataset` reads them, and how it finds them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import ma

import ncirrus
from ncirrus.netCDF4 import Dataset
from ncirrus.s3netcdf4 import APIException, IOException, s3Dataset, s3Dimension, s3Group, s3Variable

CORPUS = Path(os.environ.get("NCIRRUS_CORPUS", Path(__file__).parents[4] / "shared" / "corpus")) / "cfa"


def _cases() -> list[Any]:
    manifest = CORPUS / "manifest.json"
    if not manifest.exists():
        return []
    cases = json.loads(manifest.read_text())["cases"]
    return [case for case in cases if case["id"].startswith(("v0.4/", "v0.5/")) and not case.get("expect_error")]


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("S3_NC_CONFIG", raising=False)


def test_the_corpus_is_there() -> None:
    if not CORPUS.exists() and os.environ.get("CI") != "true":
        pytest.skip("the corpus is not there")
    assert len(_cases()) >= 20


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_every_case_of_04_and_05_reads_equal(case: Any) -> None:
    folder = CORPUS / case["id"]
    with warnings.catch_warnings():
        # Sub-arrays that are gone are reported by warnings.
        warnings.simplefilter("ignore", ncirrus.NcirrusWarning)
        with s3Dataset(folder / case["master"]) as found, Dataset(folder / "expected.nc") as expected:
            for name in case["variables"]:
                variable, due = found.variables[name], expected.variables[name]
                assert isinstance(variable, s3Variable) and variable.dimensions == due.dimensions
                assert variable.shape == due.shape and variable.dtype == due.dtype
                have, want = variable[...], due[...]
                assert ma.isMA(have) == ma.isMA(want)
                assert np.array_equal(ma.getmaskarray(have), ma.getmaskarray(want))
                if want.dtype.kind == "f":
                    assert np.allclose(ma.filled(have, 0), ma.filled(want, 0), rtol=1e-6, atol=0, equal_nan=True)
                else:
                    assert np.array_equal(ma.filled(have, 0), ma.filled(want, 0))
                if variable.ndim:
                    last = tuple(slice(None, None, -1) for _ in variable.shape)
                    assert np.array_equal(ma.filled(variable[last], 0), ma.filled(due[last], 0)) or want.dtype.kind == "f"
                    assert variable[0].shape == due[0].shape


def _master(folder: Path, case: str = "v0.5/s3nc-regular") -> Path:
    if not CORPUS.exists():
        pytest.skip("the corpus is not there")
    return CORPUS / case / "m.nca"


def test_members_are_found_by_call_and_by_index(tmp_path: Path) -> None:
    with s3Dataset(_master(tmp_path)) as dataset:
        variable = dataset.variables["tas"]
        assert dataset.getVariable("tas") is variable and dataset.getVariable["tas"] is variable and dataset["tas"] is variable
        assert isinstance(dataset.getDimension("time"), s3Dimension) and len(dataset.getDimension["time"]) == 10
        assert variable.units == "K" and "units" in variable.ncattrs() and variable.getncattr("units") == "K"
        assert dataset.ncattrs() and not [name for name in dataset.groups if name.startswith("cfa_")]
        for missing in (dataset.getVariable, dataset.getDimension, dataset.getGroup):
            with pytest.raises(KeyError, match="absent"):
                missing("absent")


def test_axes_are_of_the_kinds_that_s3netcdf4_gives_them(tmp_path: Path) -> None:
    with s3Dataset(_master(tmp_path)) as dataset:
        kinds = {name: each.axis_type for name, each in dataset.dimensions.items()}
        assert kinds == {"time": "T", "lat": "Y", "lon": "X"}


def test_plain_files_are_read_too(tmp_path: Path) -> None:
    for kind in ("NETCDF4", "NETCDF3_CLASSIC"):
        path = tmp_path / f"{kind}.nc"
        with Dataset(path, "w", format=kind) as made:
            made.createDimension("x", 3)
            made.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
            if kind == "NETCDF4":
                made.createGroup("below").createVariable("w", "i4")[:] = 4
        with s3Dataset(path) as found:
            assert found.data_model == kind and found["v"][:].tolist() == [1, 2, 3]
            if kind == "NETCDF4":
                assert isinstance(found.getGroup("below"), s3Group) and found["below/w"][...] == 4


def test_what_is_no_netcdf_is_told_in_s3netcdf4s_words(tmp_path: Path) -> None:
    text = tmp_path / "text.nc"
    text.write_text("<html>no dataset</html>")
    with pytest.raises(IOException, match=r"File: .*text\.nc is not a netCDF file"):
        s3Dataset(text)
    with pytest.raises(FileNotFoundError):
        s3Dataset(tmp_path / "absent.nc")
    with pytest.raises(FileNotFoundError):
        s3Dataset(tmp_path / "absent.nc", "r+")
    with pytest.raises(APIException, match="Mode 'q' not supported"):
        s3Dataset(text, "q")


def test_install_answers_the_original_names() -> None:
    program = (
        "import ncirrus.s3netcdf4 as ours; ours.install()\n"
        "from S3netCDF4._s3netCDF4 import s3Dataset\n"
        "import S3netCDF4\n"
        "assert s3Dataset is ours.s3Dataset is S3netCDF4.s3Dataset\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _configured(monkeypatch: pytest.MonkeyPatch, path: Path, **told: Any) -> None:
    path.write_text(json.dumps({"version": "9", **told}))
    monkeypatch.setenv("S3_NC_CONFIG", str(path))


def test_a_file_is_opened_by_its_alias(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moto: Any) -> None:
    host = {
        "alias": "minio",
        "url": moto["endpoint_url"],
        "credentials": {"accessKey": moto["key"], "secretKey": moto["secret"]},
        "backend": "s3aioFileObject",
    }
    _configured(monkeypatch, tmp_path / "config.json", hosts={"s3://minio": host})
    with s3Dataset("s3://minio/bucket/alias/plain.nc", "w", format="NETCDF4") as made:
        made.createDimension("x", 3)
        made.createVariable("v", "i4", ("x",))[:] = [1, 2, 3]
    with s3Dataset("s3://minio/bucket/alias/plain.nc") as found:
        assert found["v"][1:].tolist() == [2, 3]


@pytest.mark.parametrize("mode", ["r", "w", "a"])
def test_an_unknown_alias_is_told_and_no_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.chdir(tmp_path)
    _configured(monkeypatch, tmp_path / "config.json", hosts={})
    with pytest.raises(IOException, match="Host s3://no_where is not present in the user config file: .*config.json"):
        s3Dataset("s3://no_where/bucket/a.nc", mode)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["config.json"]


def test_a_config_that_cannot_be_used_is_told_without_its_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.json"
    host = {"url": "http://x", "credentials": {"accessKey": "key", "secretKey": "hunter2"}, "backend": "mine"}
    for text, kind, words in [
        ('{"version": "8"}', APIException, "not compatible with current version"),
        ('{"version": "9", "hosts": {"s3://a": {"secretKey": "hunter2"', IOException, "no JSON"),
        ("[]", IOException, "no JSON object"),
        (json.dumps({"version": "9", "hosts": {"s3://a": host}}), APIException, "Backend 'mine' of host s3://a"),
    ]:
        path.write_text(text)
        monkeypatch.setenv("S3_NC_CONFIG", str(path))
        with pytest.raises(kind, match=words) as caught:
            s3Dataset(tmp_path / "a.nc")
        assert isinstance(caught.value, Exception) and str(path) in str(caught.value) and "hunter2" not in str(caught.value)
        assert caught.value.object == str(path)
    monkeypatch.setenv("S3_NC_CONFIG", str(tmp_path / "absent.json"))
    with pytest.raises(IOException, match="does not exist with path: .*absent.json"):
        s3Dataset(tmp_path / "a.nc")
