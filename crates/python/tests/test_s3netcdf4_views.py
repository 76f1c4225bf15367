"""Locations of parts: views of aggregations, partitions, and the flows of several processes that are made of these."""

from __future__ import annotations

import io
import json
import multiprocessing
import pickle
import subprocess
import sys
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import ma
from partitions import read

import ncirrus
from ncirrus.netCDF4 import Dataset
from ncirrus.s3netcdf4 import (
    APIException,
    CFADimensionError,
    CFAGroupError,
    CFAPartitionError,
    CFAPartitionIndexError,
    CFAVariableError,
    CFAVariableIndexError,
    Partition,
    register_backend,
    s3Dataset,
)


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("S3_NC_CONFIG", raising=False)


def made(path: Any, steps: int = 10, size: int = 4, **words: Any) -> s3Dataset:
    dataset = s3Dataset(path, "w", **words)
    dataset.createDimension("time", steps)
    dataset.createDimension("x", 6, axis_type="X")
    time = dataset.createVariable("time", "f8", ("time",))
    time.units = "days since 2000-01-01"
    time[:] = np.arange(steps)
    value = dataset.createVariable("v", "f4", ("time", "x"), fill_value=-1, subarray_shape=(size, 3))
    value.units = "K"
    return dataset


WHOLE = np.arange(60, dtype="f4").reshape(10, 6)


def test_the_views_tell_what_is_defined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests of the process may run as programs of S3netCDF4.
    monkeypatch.setattr("ncirrus.s3netcdf4.exceptions._installed", [])
    with made(tmp_path / "m.nca") as dataset:
        dataset.createGroup("below/deep").createDimension("y", 2)
        dataset.title = "t"
        for _ in range(2):
            cfa = dataset._cfa_dataset
            assert cfa.getName() == str(tmp_path / "m.nca") and cfa.getFormat() == "NETCDF4" and cfa.getCFAVersion() == "0.5"
            cfa.metadata["later"] = "x"
            assert cfa.metadata.pop("later") == "x" and "later" not in cfa.getMetadata()
            assert cfa.getGroups() == ["root", "below"] and cfa.getMetadata()["title"] == "t"
            assert cfa.getGroup("root").getName() == "root" and cfa.getGroup("below/deep").getDimensions() == ["y"]
            assert cfa.getVariables() == ["v"] and cfa.getDimensions() == ["time", "x"]
            assert dataset._cfa_grp.getVariable("v").getName() == "v"
            variable = cfa.getVariable("v")
            assert variable.getType() == np.dtype("f4") and variable.getRole() == "cfa_variable"
            assert variable.getMetadata()["units"] == "K" and variable.getDimensions() == ["time", "x"]
            assert variable.getPartitionMatrixShape().tolist() == [3, 2]
            assert variable.getPartitionMatrixDimensions() == ["time", "x"]
            time = cfa.getDimension("time")
            assert (time.getName(), time.getLen(), time.getAxisType(), time.getType()) == ("time", 10, "T", np.dtype("f8"))
            assert time.getMetadata() == {"units": "days since 2000-01-01"}
            assert dataset.dimensions["x"]._cfa_dim.getAxisType() == "X" and cfa.getDimension("x").getType() is None
            dataset.sync()
        for call, kind in [(cfa.getGroup, CFAGroupError), (cfa.getVariable, CFAVariableError), (cfa.getDimension, CFADimensionError)]:
            with pytest.raises(kind, match="absent"):
                call("absent")
        with pytest.raises(CFAVariableError, match="time"):
            dataset["time"]._cfa_var


@pytest.mark.parametrize(("format", "version"), [("CFA4", "0.5"), ("CFA4", "0.4"), ("CFA3", "0.4")])
def test_partitions_tell_where_sub_arrays_lie(tmp_path: Path, format: str, version: str) -> None:
    dataset = made(tmp_path / "m.nca", format=format, cfa_version=version)
    kind = "NETCDF3_CLASSIC" if format == "CFA3" else "NETCDF4"
    file = f"{tmp_path}/m/m.v.2.1.nc"
    due = Partition((2, 1), ((8, 10), (3, 6)), "v", file, kind, (2, 3))
    assert dataset["v"]._cfa_var.getPartition((2, 1)) == due
    dataset["v"][8:] = 1
    dataset.close()
    with s3Dataset(tmp_path / "m.nca") as found:
        view = found["v"]._cfa_var
        part = view.getPartition((2, 1))
        assert part._replace(file="") == due._replace(file="") and part.file.endswith("m/m.v.2.1.nc")
        assert part._fields == ("index", "location", "ncvar", "file", "format", "shape")
        assert view.getPartition((0, 0)) == Partition((0, 0), ((0, 4), (0, 3)), "", "", "", (4, 3))
        assert [each.index for each in view.getPartitions()] == list(np.ndindex(3, 2))
        for index in [(3, 0), (0, -1), (0,), 0]:
            with pytest.raises(CFAPartitionIndexError, match="out of range"):
                view.getPartition(index)
        with pytest.raises(CFAVariableIndexError):
            view[99]


@pytest.mark.parametrize(
    "key", [np.s_[:], np.s_[5], np.s_[1:9:3, ::2], np.s_[[9, 0, 4], 2:4], np.s_[::-1, [5, 1]], np.s_[20:]], ids=str
)
def test_what_a_selection_takes_of_each_partition_makes_the_selection(tmp_path: Path, key: Any) -> None:
    """The pieces put together are what a read gives, in the file and while it is written."""
    with made(tmp_path / "m.nca") as dataset:
        dataset["v"][:] = WHOLE
        for _ in range(2):
            want = dataset["v"][key]
            have = np.full(want.shape, np.nan, "f4")
            for partition, source, target in dataset["v"]._cfa_var[key]:
                with Dataset(partition.file) as part:
                    taken = part[partition.ncvar][:][np.ix_(*(_list(each, n) for each, n in zip(source, partition.shape)))]
                axes = np.ix_(*(_list(each, n) for each, n in zip(target, want.shape))) if target else ()
                have[axes] = np.asarray(taken).reshape(have[axes].shape)
            assert np.array_equal(have, want)
            dataset.sync()


def _list(key: Any, length: int) -> Any:
    return np.arange(length)[key]


def test_a_million_partitions_are_looked_into_without_opening_one(tmp_path: Path) -> None:
    with s3Dataset(tmp_path / "m.nca", "w") as dataset:
        dataset.createDimension("time", 1_000_000)
        value = dataset.createVariable("v", "f4", ("time",), subarray_shape=(1,))
        tracemalloc.start()
        found = value._cfa_var[999_990:]
        assert [each.partition.index for each in found] == [(at,) for at in range(999_990, 1_000_000)]
        assert found[3].target == (slice(3, 4),) and found[0].partition.file.endswith("m.v.999990.nc")
        assert tracemalloc.get_traced_memory()[1] < 512 << 20
        tracemalloc.stop()
        dataset._place.dataset.abort()


def test_like_s3netcdf4_gives_what_its_programs_had(tmp_path: Path) -> None:
    with made(tmp_path / "m.nca") as dataset:
        dataset["v"][:8] = WHOLE[:8]
    with s3Dataset(tmp_path / "m.nca", like_s3netcdf4=True) as found:
        value = found["v"]
        assert isinstance(value.shape, np.ndarray) and value.shape.tolist() == [10, 6] and len(value) == 10
        assert not ma.isMA(value[:]) and value[:].dtype == np.dtype("f4") and value[9, 0].tolist() == [[-1]]
        assert value[3].shape == (1, 6) and value[3, 2].shape == (1, 1) and value[-1, 1:3].shape == (1, 2)
        assert value.ndim == 2 and value.size == 60 and value.dimensions == ("time", "x") and "current shape" in repr(value)
    with s3Dataset(tmp_path / "n.nca", "w", like_s3netcdf4=True) as dataset:
        dataset.createDimension("time", 40)
        dataset.createVariable("v", "f8", ("time",), max_subarray_size=20)[:] = 1
        assert dataset["v"]._cfa_var.getPartitionMatrixShape().tolist() == [2]
        dataset.createDimension("t", 365)
        with pytest.raises(Exception, match="145"):
            dataset.createVariable("lost", "f8", ("t",), subarray_shape=(12,))
        assert "lost" not in dataset.variables


# Flows of several processes.


def _values(partition: Partition) -> Any:
    start, stop = partition.location[0]
    first, past = partition.location[1]
    return np.arange(start, stop)[:, None] * 6.0 + np.arange(first, past)


@pytest.fixture
def alias(moto: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    host = {"url": moto["endpoint_url"], "credentials": {"accessKey": moto["key"], "secretKey": moto["secret"]}}
    told = {"version": "9", "hosts": {"s3://lab": {**host, "backend": "s3aioFileObject"}}}
    (tmp_path / "config.json").write_text(json.dumps(told))
    monkeypatch.setenv("S3_NC_CONFIG", str(tmp_path / "config.json"))
    return f"s3://lab/bucket/{tmp_path.name}"


@pytest.mark.parametrize("place", ["disk", "s3"])
@pytest.mark.parametrize("how", ["processes", "threads", "dask"])
def test_sub_arrays_are_written_and_read_by_several(
    tmp_path: Path, place: str, how: str, request: pytest.FixtureRequest
) -> None:
    path = f"{request.getfixturevalue('alias')}/m.nca" if place == "s3" else str(tmp_path / "m.nca")
    steps = 250 if (place, how) == ("s3", "processes") else 20
    dataset = made(path, steps, 1)
    variable = dataset["v"]
    partitions = variable._cfa_var.getPartitions()
    assert len(partitions) == 2 * steps
    subarrays = variable.subarrays()
    assert pickle.loads(pickle.dumps(subarrays)).path == "/v"
    work = [(partition, _values(partition)) for partition in partitions]
    if how == "processes":
        with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as pool:
            # One worker did a part of it before it was killed: all of it is done again.
            list(pool.map(subarrays.write, *zip(*work[:3])))
            written = list(pool.map(subarrays.write, *zip(*work), chunksize=16))
            assert _is_absent(path)
            variable.partitions_written(written)
            dataset.close()
            found = dict(pool.map(partial(read, path), partitions, chunksize=16))
    elif how == "threads":
        with ThreadPoolExecutor(4) as pool:
            written = list(pool.map(lambda each: subarrays.write(*each), work))
            variable.partitions_written(written)
            dataset.close()
            found = dict(pool.map(partial(read, path), partitions))
    else:
        dask = pytest.importorskip("dask")
        written = dask.compute(*(dask.delayed(subarrays.write)(*each) for each in work), scheduler="threads")
        variable.partitions_written(written)
        dataset.close()
        found = dict(dask.compute(*(dask.delayed(read)(path, each) for each in partitions), scheduler="threads"))
    whole = np.arange(steps)[:, None] * 6.0 + np.arange(6)
    for partition in partitions:
        assert np.array_equal(found[partition.index], _values(partition))
    with s3Dataset(path) as again:
        assert np.array_equal(again["v"][:], whole) and again["v"].units == "K"
        with s3Dataset(again["v"]._cfa_var.getPartition((3, 1)).file if place == "disk" else f"{path[:-4]}/m.v.3.1.nc") as part:
            assert part["time"][:].tolist() == [3] and part["v"].units == "K"


def _is_absent(path: str) -> bool:
    try:
        s3Dataset(path).close()
    except (FileNotFoundError, OSError):
        return True
    return False


def test_sub_arrays_record_what_a_lost_master_is_recreated_by(tmp_path: Path) -> None:
    path = tmp_path / "m.nca"
    with s3Dataset(path, "w", cfa_version="0.4") as dataset:
        dataset.createDimension("time", None)
        dataset.createVariable("run", "i4", ())[...] = 7
        variable = dataset.createVariable("v", "f4", ("time",), subarray_shape=(2,))
        variable[:4] = [1, 2, 3, 4]
        partition = variable._cfa_var.getPartition((1,))
        subarrays = pickle.loads(pickle.dumps(variable.subarrays()))
        subarrays.write(partition, [5, 6])
        variable.partitions_written([partition])
    with s3Dataset(partition.file) as part:
        assert json.loads(part.ncirrus_aggregation) == {"convention": "cfa-0.4", "unlimited": ["/time"]}
        assert part["run"][...] == 7 and part["v"][:].tolist() == [5, 6]
    path.unlink()
    ncirrus.rebuild(tmp_path / "m", path)
    with s3Dataset(path) as again:
        assert again.Conventions == "CFA-0.4" and again.dimensions["time"].isunlimited()
        assert again["run"][...] == 7 and again["v"][:].tolist() == [1, 2, 5, 6]
    ncirrus.rebuild(tmp_path / "m", path, convention="cfa-0.5", overwrite=True)
    with s3Dataset(path) as again:
        assert again.Conventions == "CFA-0.5"


def test_partitions_of_others_are_refused(tmp_path: Path) -> None:
    with made(tmp_path / "m.nca") as dataset:
        with pytest.raises(CFAPartitionError, match="v"):
            dataset["v"].partitions_written([(7, 7)])
        with pytest.raises(CFAPartitionError, match="dimensions"):
            dataset["v"].subarrays().write(Partition((0,), ((0, 1),), "v", str(tmp_path / "a.nc"), "NETCDF4", (1,)), 0)
        with pytest.raises(CFAVariableError):
            dataset["time"].subarrays()


# Back ends.


class Shelf(io.BufferedIOBase):
    """A back end whose objects are in a dictionary."""

    objects: dict[str, bytes] = {}

    def __init__(self, uri: str, credentials: dict[str, Any], mode: str = "r") -> None:
        assert credentials["accessKey"] == "key"
        self._uri, self._mode, self._body = uri, mode, io.BytesIO()

    def connect(self) -> None:
        if self._mode == "r" and self._uri in self.objects:
            self._body = io.BytesIO(self.objects[self._uri])
        elif self._mode == "r":
            raise FileNotFoundError(self._uri)

    def tell(self) -> int:
        return self._body.tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._body.seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        return self._body.read(size)

    def write(self, data: Any) -> int:
        return self._body.write(data)

    def close(self) -> None:
        if self._mode == "w" and not self.closed:
            self.objects[self._uri] = self._body.getvalue()
        super().close()


class Broken(Shelf):
    """A back end that fails."""

    def read(self, size: int | None = -1) -> bytes:
        raise RuntimeError("the shelf fell down")


def _of_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    host = {"url": "shelf", "credentials": {"accessKey": "key", "secretKey": "hunter2"}, "backend": name}
    (tmp_path / "config.json").write_text(json.dumps({"version": "9", "hosts": {"s3://shelf": host}}))
    monkeypatch.setenv("S3_NC_CONFIG", str(tmp_path / "config.json"))


def test_a_back_end_of_a_program_holds_masters_and_sub_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register_backend("Shelf", Shelf)
    _of_backend(monkeypatch, tmp_path, "Shelf")
    Shelf.objects.clear()
    with made("s3://shelf/bucket/m.nca") as dataset:
        dataset["v"][:5] = WHOLE[:5]
        dataset["v"][2] = 7
    assert "s3://shelf/bucket/m.nca" in Shelf.objects and "s3://shelf/bucket/m/m.v.0.0.nc" in Shelf.objects
    with s3Dataset("s3://shelf/bucket/m.nca") as found:
        assert found["v"][2, 0] == 7 and found["v"][4].tolist() == WHOLE[4].tolist() and found["v"][9, 0] is ma.masked
    with pytest.raises(FileNotFoundError):
        s3Dataset("s3://shelf/bucket/absent.nc")


def test_a_back_end_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register_backend("Broken", Broken)
    _of_backend(monkeypatch, tmp_path, "Broken")
    Shelf.objects["s3://shelf/bucket/a.nc"] = b"\x89HDF\r\n\x1a\n" + bytes(100)
    with pytest.raises(OSError) as caught:
        s3Dataset("s3://shelf/bucket/a.nc")
    assert isinstance(caught.value, ncirrus.Error) and "hunter2" not in str(caught.value)
    for wrong in (dict, "Shelf", None):
        with pytest.raises(APIException, match="io.BufferedIOBase"):
            register_backend("wrong", wrong)  # type: ignore[arg-type]


def test_views_have_the_methods_of_s3netcdf4(tmp_path: Path) -> None:
    with made(tmp_path / "m.nca") as dataset:
        below = dataset.createGroup("below")
        below.createDimension("y", 4)
        below.createVariable("w", "i4", ("y",), subarray_shape=(2,))[:2] = 1
        dataset["v"][:4, :3] = 1
        cfa = dataset._cfa_dataset
        assert cfa["root"].getName() == "root" and cfa["below"].getDataset().getName() == cfa.getName()
        assert cfa["root"]["v"].getName() == "v" and cfa["root"]["time"].getLen() == 10
        with pytest.raises(CFAGroupError, match="absent"):
            cfa["root"]["absent"]
        view, other = dataset["v"]._cfa_var, below["w"]._cfa_var
        assert view.getGroup().getName() == "root" and other.getGroup().getName() == "below"
        assert isinstance(view.shape(), np.ndarray) and view.shape().tolist() == [10, 6]
        assert view.getBaseFilename() == f"{tmp_path}/m/m.v." and other.getBaseFilename() == f"{tmp_path}/m/m.below.w."
        assert view.partitionIsDefined((0, 0))
        part = view.getPartition((1, 1))
        assert part.location.tolist() == [[4, 8], [3, 6]] and part.location[1, 0] == 3 and part.shape.tolist() == [4, 3]
        assert pickle.loads(pickle.dumps(part)) == part
        assert view.getPartitionValues(key="location").shape == (3, 2, 2, 2)
        assert view.getPartitionValues((2, 1), "shape").tolist() == [2, 3]
        with pytest.raises(CFAVariableError, match="colour"):
            view.getPartitionValues(key="colour")
        cfa.metadata.update({"history": "made"})
        view.metadata["long_name"] = "value"
        assert dataset.history == "made" and dataset["v"].long_name == "value"
        assert dataset["v"]._cfa.getName() == "v" and dataset["time"]._cfa is None
        assert ma.getdata(dataset["v"]._nc_var[0, :3]).tolist() == [1, 1, 1]
        assert cfa.getDimension("time").dump() == {"dim_name": "time", "dim_len": 10, "units": "days since 2000-01-01"}
    with s3Dataset(tmp_path / "m.nca") as found:
        view = found["v"]._cfa_var
        assert view.getBaseFilename() == f"{tmp_path}/m/m.v." and not view.partitionIsDefined((1, 1))
        dumped = json.loads(json.dumps(view.dump(), default=str))
        assert dumped["units"] == "K" and dumped["cf_dimensions"] == "time x" and dumped["cfa_array"]["pmshape"] == [3, 2]
        (only,) = dumped["cfa_array"]["Partitions"]
        assert only["index"] == [0, 0] and only["location"] == [[0, 4], [0, 3]]
        assert only["subarray"]["ncvar"] == "v" and only["subarray"]["shape"] == [4, 3]
        with pytest.raises(CFAPartitionError, match="not open for writing"):
            view.writePartition(view.getPartition((0, 0)))


def test_partitions_are_recorded_elsewhere(tmp_path: Path) -> None:
    with made(tmp_path / "m.nca") as dataset:
        dataset["v"][:] = WHOLE
    (tmp_path / "m").rename(tmp_path / "moved")
    with s3Dataset(tmp_path / "m.nca", "a") as dataset:
        view = dataset["v"]._cfa_var
        for part in view.getPartitions():
            view.writePartition(part._replace(file=f"{tmp_path}/moved/{Path(part.file).name}"))
        with pytest.raises(CFAPartitionError, match="shape"):
            view.writePartition(view.getPartition((0, 0))._replace(shape=(1, 1)))
    with s3Dataset(tmp_path / "m.nca") as found:
        assert found["v"][:].tolist() == WHOLE.tolist()
        assert found["v"]._cfa_var.getPartition((2, 1)).file.endswith("moved/m.v.2.1.nc")


PROGRAM = """
import sys
from ncirrus.s3netcdf4 import install
install()
import numpy as np
from S3netCDF4._s3netCDF4 import s3Dataset
from S3netCDF4._Exceptions import APIException, IOException
from S3netCDF4.CFA._CFAExceptions import CFAError, CFASubarrayError
from S3netCDF4.CFA._CFAClasses import CFAPartition, CFAVariable
from S3netCDF4.utils.agg import aggregate_into_CFA
from S3netCDF4.utils.split import split_into_CFA
folder = sys.argv[1]
split_into_CFA(folder + "/s.nca", folder + "/in.nc", subarray_shape="[5,6]", cfa_version="0.4")
with s3Dataset(folder + "/s.nca") as ds:
    assert ds.variables["time"]._cfa_var is None
    part = ds["v"]._cfa_var.getPartition((1, 0))
    assert isinstance(part, CFAPartition) and part.location.tolist() == [[5, 10], [0, 6]]
aggregate_into_CFA(folder + "/a.nca", folder + "/s/*.nc", "time", "0.5")
with s3Dataset(folder + "/a.nca") as ds:
    assert ds["v"][:].tolist() == np.arange(60).reshape(10, 6).tolist()
"""


def test_programs_run_unchanged_on_its_modules(tmp_path: Path) -> None:
    with Dataset(tmp_path / "in.nc", "w") as source:
        source.createDimension("time", 10)
        source.createDimension("x", 6)
        source.createVariable("time", "f8", ("time",))[:] = np.arange(10)
        source["time"].units = "days since 2000-01-01"
        source.createVariable("x", "f8", ("x",))[:] = np.arange(6)
        source.createVariable("v", "f4", ("time", "x"))[:] = WHOLE
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
