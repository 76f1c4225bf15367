"""What S3netCDF4 does wrong, and ours does right: a test for each defect of docs/spec/cfa.md, chapter 9."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import ma

import ncirrus
from ncirrus import s3netcdf4
from ncirrus.netCDF4 import Dataset
from ncirrus.s3netcdf4 import APIException, IOException, s3Dataset
from ncirrus.s3netcdf4.tools import main

CORPUS = Path(os.environ.get("NCIRRUS_CORPUS", Path(__file__).parents[4] / "shared" / "corpus")) / "cfa"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("S3_NC_CONFIG", raising=False)


def made(length: int, block: int, path: str = "m.nca", **words: Any) -> s3Dataset:
    dataset = s3Dataset(path, "w", **words)
    dataset.createDimension("time", length)
    dataset.createVariable("v", "f8", ("time",), subarray_shape=(block,))
    return dataset


@pytest.mark.parametrize(("length", "block"), [(13, 2), (26, 4), (365, 12)])
def test_d1_every_element_lies_in_a_sub_array(length: int, block: int) -> None:
    with made(length, block) as dataset:
        dataset["v"][:] = np.arange(length)
    with s3Dataset("m.nca") as found:
        assert found["v"][:].tolist() == list(range(length))
        assert sum(part.shape[0] for part in found["v"]._cfa_var.getPartitions()) == length


def test_d2_sparse_arrays_are_read_in_the_default_version() -> None:
    with made(10, 2) as dataset:
        dataset["v"][4] = 1
    with s3Dataset("m.nca") as found:
        assert found["v"][:].tolist() == [None] * 4 + [1] + [None] * 5


def test_d3_a_sub_array_that_is_there_is_changed() -> None:
    with made(4, 2) as dataset:
        dataset["v"][:] = [1, 2, 3, 4]
    with s3Dataset("m.nca", "a") as again:
        again["v"][1] = 9
    with s3Dataset("m.nca") as found:
        assert found["v"][:].tolist() == [1, 9, 3, 4]


def test_d4_no_partition_is_empty() -> None:
    with s3Dataset("m.nca", "w") as dataset:
        for name, length in (("time", 365), ("level", 1), ("latitude", 18), ("longitude", 36)):
            dataset.createDimension(name, length)
        value = dataset.createVariable("v", "f4", ("time", "level", "latitude", "longitude"), max_subarray_size="30kB")
        value[:] = 1
        assert all(min(part.shape) > 0 for part in value._cfa_var.getPartitions())
        assert value._cfa_var.getPartitionMatrixShape()[1] == 1


def test_d5_an_array_is_assigned_over_several_partitions() -> None:
    with made(10, 3) as dataset:
        dataset["v"][1:9] = np.arange(8)
        assert dataset["v"][1:9].tolist() == list(range(8))


def test_d6_packed_values_are_unpacked_and_missing_ones_masked() -> None:
    with s3Dataset("m.nca", "w") as dataset:
        dataset.createDimension("x", 4)
        value = dataset.createVariable("v", "i2", ("x",), fill_value=-999, subarray_shape=(2,))
        value.scale_factor = 0.5
        value[:2] = [100.5, 2]
    with s3Dataset("m.nca") as found:
        assert found["v"][:].tolist() == [100.5, 2, None, None] and found["v"]._FillValue == -999
    with Dataset("m/m.v.0.nc") as part:
        assert part["v"]._FillValue == -999 and part["v"][0] == 100.5


def test_d7_times_are_converted_and_scalars_keep_their_values() -> None:
    os.mkdir("in")
    for number in range(3):
        with Dataset(f"in/f{number}.nc", "w") as file:
            file.createDimension("time", None)
            file.title = "all"
            times = file.createVariable("time", "f8", ("time",))
            times.units, times.calendar = f"days since 2000-01-0{1 + 2 * number}", "standard"
            times[:] = [0, 1]
            file.createVariable("height", "f4")[...] = 2.0
            file.createVariable("v", "f4", ("time",))[:] = number
    assert main(["s3nc_cfa_agg.py", "m.nca", "in"]) == 0
    with s3Dataset("m.nca") as found:
        assert found["time"][:].tolist() == [0, 1, 2, 3, 4, 5] and found["height"][...] == 2 and found.title == "all"
        assert found["v"][:].tolist() == [0, 0, 1, 1, 2, 2]


def test_d8_scalars_groups_and_64_bit_offsets_are_split() -> None:
    with Dataset("a.nc", "w") as file:
        file.createDimension("x", 4)
        file.createVariable("crs", "i4")[...] = 5
        file.createVariable("below/v", "f4", ("x",))[:] = [1, 2, 3, 4]
    with Dataset("b.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "f4", ("x",))[:] = [1, 2, 3, 4]
    assert main(["s3nc_cfa_split.py", "a.nca", "a.nc", "--subarray_shape", "[2]", "--subarray_path", "parts"]) == 0
    assert main(["s3nc_cfa_split.py", "b.nca", "b.nc", "--subarray_shape", "[2]"]) == 0
    assert len(list(Path("parts").iterdir())) == 2
    with s3Dataset("a.nca") as found, s3Dataset("b.nca") as other:
        assert found["crs"][...] == 5 and found["below/v"][:].tolist() == other["v"][:].tolist() == [1, 2, 3, 4]


def test_d9_dimensions_have_no_made_up_coordinates() -> None:
    with made(4, 2) as dataset:
        dataset["v"][:] = 1
    with Dataset("m/m.v.0.nc") as part:
        assert list(part.variables) == ["v"]


def test_d10_sub_arrays_are_compressed_and_describe_themselves() -> None:
    with s3Dataset("m.nca", "w") as dataset:
        dataset.institution = "here"
        dataset.createDimension("x", 4)
        dataset.createDimension("nv", 2)
        x = dataset.createVariable("x", "f8", ("x",))
        x.bounds = "x_bnds"
        x[:] = [0, 1, 2, 3]
        bounds = dataset.createVariable("x_bnds", "f8", ("x", "nv"))
        bounds[:] = 1
        crs = dataset.createVariable("crs", "i4")
        crs.grid_mapping_name, crs[...] = "latitude_longitude", 1
        value = dataset.createVariable("v", "f4", ("x",), zlib=True, fill_value=-5, subarray_shape=(2,), chunksizes=(1,))
        value.grid_mapping = "crs"
        value[:] = 1
    with Dataset("m/m.v.1.nc") as part:
        assert part["v"].filters()["zlib"] and part["v"].chunking() == [1] and part["v"]._FillValue == -5
        assert part.institution == "here" and part["crs"].grid_mapping_name == "latitude_longitude"
        assert part["x"][:].tolist() == [2, 3]


def test_d11_a_sub_array_that_is_gone_reads_as_fill_and_is_told() -> None:
    with made(4, 2) as dataset:
        dataset["v"][:] = 1
    os.remove("m/m.v.0.nc")
    with s3Dataset("m.nca") as found:
        with pytest.warns(ncirrus.NcirrusWarning, match="m.v.0.nc"):
            values = found["v"][:]
        assert values.tolist() == [None, None, 1, 1]


@pytest.mark.parametrize("case", ["v0.4/cfpy-part", "v0.4/cfpy-matrix2d", "v0.4/hand-full"])
def test_d12_masters_of_others_are_understood(case: str) -> None:
    if not CORPUS.exists():
        pytest.skip("the corpus is not there")
    told = json.loads((CORPUS / case / "case.json").read_text())
    with s3Dataset(CORPUS / case / "m.nca") as found, Dataset(CORPUS / case / "expected.nc") as due:
        for name in told["variables"]:
            assert np.allclose(ma.filled(found[name][:], 0), ma.filled(due[name][:], 0), rtol=1e-6)


def test_d13_names_are_relative_to_the_master(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkdir("folder")
    with made(4, 2, "folder/m.nca") as dataset:
        dataset["v"][:] = 1
    os.rename("folder", "moved")
    os.mkdir("elsewhere")
    monkeypatch.chdir("elsewhere")
    with s3Dataset("../moved/m.nca") as found:
        assert found["v"][:].tolist() == [1, 1, 1, 1]


def test_d14_indices_are_those_of_netcdf4() -> None:
    with made(10, 3) as dataset:
        dataset["v"][...] = np.arange(10)
    with s3Dataset("m.nca") as found:
        value = found["v"]
        assert value[-1] == 9 and value[...].shape == (10,) and value[[7, 2]].tolist() == [7, 2]
        assert value[1::4].tolist() == [1, 5, 9] and value[3].shape == () and value[5:5].shape == (0,)


def test_d15_unlimited_dimensions_strings_scalars_renames_and_groups() -> None:
    with s3Dataset("m.nca", "w") as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", 2)
        dataset.createVariable("s", str, ("x",), subarray_shape=(1,))[:] = np.array(["a", "b"], object)
        dataset.createVariable("n", "i4")[...] = 3
        with pytest.raises(ValueError):
            dataset.createVariable("failed", "i4", ("absent",))
        deep = dataset.createGroup("one/two")
        deep.createVariable("v", "i4", ("time", "x"), subarray_shape=(2, 2))[:3] = 1
        dataset.renameVariable("s", "text")
    with s3Dataset("m.nca") as found:
        assert found["text"][:].tolist() == ["a", "b"] and found["n"][...] == 3 and found["one/two/v"].shape == (3, 2)
        assert sorted(found.variables) == ["n", "text"] and list(found.groups) == ["one"]
        assert list(found["one/two"].groups) == []


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_d16_a_selection_does_not_look_at_all_partitions(version: str) -> None:
    """S3netCDF4 took 15.5 s and 6.8 s for opening and one step of 20,000 partitions."""
    dataset = made(20_000, 1, cfa_version=version)
    dataset["v"][17] = 5
    dataset["v"].partitions_written([(at,) for at in range(20_000)])
    dataset.close()
    began = time.process_time()
    with s3Dataset("m.nca") as found:
        assert found["v"][17] == 5
    assert time.process_time() - began < (1.55 if version == "0.4" else 0.68)


def _alias(server: Any, monkeypatch: pytest.MonkeyPatch, **more: Any) -> None:
    host = {"url": server["endpoint_url"], "credentials": {"accessKey": server["key"], "secretKey": server["secret"]}}
    told = {"version": "9", "hosts": {"s3://lab": {**host, "backend": "s3aioFileObject"}}, **more}
    Path("config.json").write_text(json.dumps(told))
    monkeypatch.setenv("S3_NC_CONFIG", str(Path("config.json").absolute()))


def test_d17_a_slice_takes_the_bytes_that_it_needs(moto: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _alias(moto, monkeypatch)
    path = f"s3://lab/bucket/{tmp_path.name}/m.nca"
    with s3Dataset(path, "w") as dataset:
        dataset.createDimension("x", 4_000_000)
        value = dataset.createVariable("v", "f8", ("x",), chunksizes=(10_000,), max_subarray_size="100MB")
        value[:] = np.arange(4_000_000)
    session = ncirrus.Session()
    with s3Dataset(path, session=session) as found:
        assert found["v"][2_000_000] == 2_000_000
    assert session.statistics()["bytes_fetched"] < 4_000_000


def test_d17_budgets_of_the_configuration_are_obeyed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An array over the budget is a memory map, whose file has no name any more."""
    (tmp_path / "cache").mkdir()
    allotted = {"memory": "64MB", "filehandles": 20}
    told = {"version": "9", "hosts": {}, "resource_allocation": allotted, "cache_location": str(tmp_path / "cache")}
    Path("config.json").write_text(json.dumps(told))
    monkeypatch.setenv("S3_NC_CONFIG", str(tmp_path / "config.json"))
    with made(1000, 1) as dataset:
        dataset["v"][:] = np.arange(1000)
        assert dataset._place.dataset.session._native().memory() == 64_000_000
    with s3Dataset("m.nca") as found:
        assert found["v"][:].tolist() == list(range(1000))
    with s3Dataset("big.nca", "w") as dataset:
        dataset.createDimension("x", 10_000_000)
        value = dataset.createVariable("v", "f8", ("x",))
        value.set_auto_maskandscale(False)
        value[9_999_999] = 1
    with s3Dataset("big.nca") as found:
        value = found["v"]
        assert isinstance(value._owner()[...], np.memmap)
    assert list((tmp_path / "cache").iterdir()) == []


def test_d17_open_files_stay_within_the_budget_after_writing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = {"version": "9", "hosts": {}, "resource_allocation": {"filehandles": 5}}
    Path("config.json").write_text(json.dumps(told))
    monkeypatch.setenv("S3_NC_CONFIG", str(tmp_path / "config.json"))

    def opened() -> list[str]:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return [os.readlink(link) for link in links if os.path.exists(link) and str(tmp_path) in os.readlink(link)]

    with s3Dataset("m.nca", "w") as written:
        written.createDimension("x", 400)
        coordinate = written.createVariable("x", "f8", ("x",))
        coordinate[:] = np.arange(400)
        value = written.createVariable("v", "f4", ("x",), subarray_shape=(10,))
        value[:] = np.arange(400)
    assert opened() == []
    with s3Dataset("m.nca") as found:
        for start in range(0, 400, 10):
            assert found["v"][start : start + 3].tolist() == [start, start + 1, start + 2]
            assert len(opened()) <= 5
    with s3Dataset("m.nca", "a") as changed:
        changed["v"][:3] = 1
        changed.sync()
        assert changed["v"][:4].tolist() == [1, 1, 1, 3]
    assert len(opened()) <= 5


def test_d18_sizes_and_multipart_keys_are_read(moto: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for size, due in [("100MB", 100_000_000), ("1PB", 10**15), ("2GiB", 2 << 30), (123456789, 123456789)]:
        _alias(moto, monkeypatch, resource_allocation={"memory": size}, mark=size)
        with made(2, 1) as dataset, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert dataset._place.dataset.session._native().memory() == due


@pytest.mark.parametrize("is_multipart", [True, False])
def test_d19_a_last_part_may_be_small(moto: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_multipart: bool) -> None:
    backends = {"s3aioFileObject": {"maximum_part_size": "5MB", "enable_multipart_upload": is_multipart}}
    _alias(moto, monkeypatch, backends=backends)
    path = f"s3://lab/bucket/{tmp_path.name}/a.nc"
    with s3Dataset(path, "w", format="NETCDF4") as dataset:
        dataset.createDimension("x", 1_400_000)
        dataset.createVariable("v", "f8", ("x",))[:] = np.arange(1_400_000)
    with s3Dataset(path) as found:
        assert found["v"][1_399_999] == 1_399_999


def test_d20_names_of_back_ends_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    host = {"url": "http://x", "credentials": {}, "backend": "open('ran', 'w')"}
    Path("config.json").write_text(json.dumps({"version": "9", "hosts": {"s3://lab": host}}))
    monkeypatch.setenv("S3_NC_CONFIG", "config.json")
    with pytest.raises(APIException, match="not known"):
        s3Dataset("s3://lab/bucket/a.nc")
    assert not Path("ran").exists()


def test_d21_an_address_of_a_server_is_no_host_of_the_configuration() -> None:
    with pytest.raises(OSError) as caught:
        s3Dataset("http://127.0.0.1:9/data.nc")
    assert isinstance(caught.value, ncirrus.Error) and "user config" not in str(caught.value)


def test_d22_exceptions_are_caught_by_exception() -> None:
    kinds = [each for name, each in vars(s3netcdf4).items() if name.endswith(("Error", "Exception"))]
    assert len(kinds) >= 12 and all(issubclass(each, Exception) and issubclass(each, ncirrus.Error) for each in kinds)


def test_d23_plain_netcdf3_needs_no_version() -> None:
    with s3Dataset("a.nc", "w", format="NETCDF3_CLASSIC") as dataset:
        dataset.createDimension("x", 1)
    with s3Dataset("b.nca", "w", format="CFA3") as dataset:
        dataset.createDimension("time", None)
        dataset.createVariable("v", "f4", ("time",), subarray_shape=(2,))[:3] = 1
    with s3Dataset("b.nca") as found:
        assert found._cfa_dataset.getCFAVersion() == "0.4" and found["v"][:].tolist() == [1, 1, 1]


def test_d24_nothing_of_botocore_is_needed() -> None:
    program = "import sys, ncirrus.s3netcdf4; sys.exit(any(name.startswith(('boto', 'aio')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("name", ["a.nc.d/x.nca/m.nca", "plain", "m.tar.nc"])
def test_d25_only_the_ending_of_the_name_is_dropped(name: str) -> None:
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with made(4, 2, name) as dataset:
        dataset["v"][:] = 1
    with s3Dataset(name) as found:
        part = found["v"]._cfa_var.getPartition((1,)).file
        assert found["v"][:].tolist() == [1, 1, 1, 1]
    assert os.path.isfile(name) and part.endswith(f"{os.path.basename(name).removesuffix('.nca').removesuffix('.nc')}.v.1.nc")


def test_d26_lengths_go_beyond_31_bits() -> None:
    with s3Dataset("m.nca", "w", cfa_version="0.4") as dataset:
        dataset.createDimension("x", 3_000_000_000)
        value = dataset.createVariable("v", "i1", ("x",), fill_value=0, subarray_shape=(10_000_000,))
        value[2_999_999_999] = 7
        assert value.shape == (3_000_000_000,)
    with s3Dataset("m.nca") as found:
        assert found["v"][2_999_999_999] == 7 and found["v"][1_999_999_999] is ma.masked
    # The numbers of CFA-0.5 are of 32 bits.
    dataset = s3Dataset("n.nca", "w")
    dataset.createDimension("x", 3_000_000_000)
    dataset.createVariable("v", "i1", ("x",), subarray_shape=(10_000_000,))[2_999_999_999] = 1
    with pytest.raises(RuntimeError, match="more than CFA-0.5 can hold"):
        dataset.close()
    assert not os.path.exists("n.nca")


def test_d27_04_masters_are_moved_and_plain_files_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with s3Dataset("m.nca", "w", cfa_version="0.4") as dataset:
        dataset.createDimension("x", 2)
        dataset.createVariable("below/v", "f4", ("x",), subarray_shape=(1,))[:] = 1
    os.rename("m", "moved")
    assert main(["s3nc_cfa_mv.py", "m.nca", "--prefix", "moved", "--group", "below"]) == 0
    with s3Dataset("m.nca") as found:
        assert found["below/v"][:].tolist() == [1, 1]
    with Dataset("plain.nc", "w") as file:
        file.createDimension("x", 2)
    assert main(["s3nc_cfa_info.py", "plain.nc"]) == 0 and main(["s3nc_cfa_info.py", "m.nca", "--variable", "none"]) == 0
    assert "x = 2" in capsys.readouterr().out


def test_d28_an_unknown_alias_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(IOException, match="Host s3://no_where is not present"):
        made(2, 1, "s3://no_where/bucket/m.nca")
    assert list(tmp_path.iterdir()) == []
