"""Aggregations as `s3Dataset` writes them: masters, sub-arrays, and what is read back while they are written."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy import ma

import ncirrus
from ncirrus.netCDF4 import Dataset
from ncirrus.s3netcdf4 import (
    APIException,
    CFADimensionError,
    CFASubArrayError,
    CFAVariableError,
    IOException,
    s3Dataset,
    s3Variable,
)

CORPUS = Path(os.environ.get("NCIRRUS_CORPUS", Path(__file__).parents[4] / "shared" / "corpus")) / "cfa"
FORMATS = [("CFA4", "0.5"), ("CFA4", "0.4"), ("CFA3", "0.4"), ("CFA4", "0.6"), ("CFA4", "cf-1.13")]
WHOLE = np.arange(10 * 4 * 6, dtype="f4").reshape(10, 4, 6)


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("S3_NC_CONFIG", raising=False)


def begun(path: Any, format: str = "CFA4", version: str | None = "0.5", **words: Any) -> tuple[s3Dataset, s3Variable]:
    """The case `s3nc-regular` of the corpus: 10 by 4 by 6 in blocks of 5 by 2 by 6."""
    dataset = s3Dataset(path, "w", format=format, cfa_version=version, **words)
    dataset.title, dataset.Conventions = "corpus", "CF-1.7"
    for name, length, kind, units in [
        ("time", 10, "T", "days since 2000-01-01"),
        ("lat", 4, "Y", "degrees_north"),
        ("lon", 6, "X", "degrees_east"),
    ]:
        dataset.createDimension(name, length, axis_type=kind)
        coordinate = dataset.createVariable(name, "f8", (name,))
        coordinate.units = units
        coordinate[:] = np.arange(length)
    tas = dataset.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-999.0, subarray_shape=(5, 2, 6))
    tas.units, tas.standard_name = "K", "air_temperature"
    return dataset, tas


def raw(path: Any) -> dict[str, Any]:
    """A master as it is stored."""
    with ncirrus.open(path, raw=True) as found:
        told: dict[str, Any] = {"attributes": dict(found.attrs), "dimensions": {name: len(each) for name, each in found.dims.items()}}
        for group in (found, *found.groups.values()):
            for name, variable in group.variables.items():
                attributes = {key: value for key, value in variable.attrs.items()}
                told[variable.path] = (str(variable.dtype), variable.dims, list(attributes.items()))
                if group is not found or variable.ndim:
                    told[f"{variable.path}="] = np.asarray(variable[...]).tolist()
        return told


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_masters_have_the_layout_of_s3netcdf4(tmp_path: Path, version: str) -> None:
    if not CORPUS.exists():
        pytest.skip("the corpus is not there")
    dataset, tas = begun(tmp_path / "m.nca", version=version)
    tas[:] = WHOLE
    dataset.close()
    have, want = raw(tmp_path / "m.nca"), raw(CORPUS / f"v{version}" / "s3nc-regular" / "m.nca")
    for told in (have, want):
        kind, dims, attributes = told["/tas"]
        # JSON is compared as what it says.
        told["/tas"] = (kind, dims, [(key, json.loads(str(value)) if key == "cfa_array" else str(value)) for key, value in attributes])
    assert have == want


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_sub_arrays_have_the_names_and_variables_of_s3netcdf4(tmp_path: Path, version: str) -> None:
    if not CORPUS.exists():
        pytest.skip("the corpus is not there")
    dataset, tas = begun(tmp_path / "m.nca", version=version)
    tas[:] = WHOLE
    dataset.close()
    folder = CORPUS / f"v{version}" / "s3nc-regular" / "m"
    assert sorted(each.name for each in (tmp_path / "m").iterdir()) == sorted(each.name for each in folder.iterdir())
    for each in folder.iterdir():
        with Dataset(tmp_path / "m" / each.name) as have, Dataset(each) as want:
            assert {name: len(one) for name, one in have.dimensions.items()} == {name: len(one) for name, one in want.dimensions.items()}
            assert set(have.variables) == set(want.variables)
            assert have["tas"].dimensions == want["tas"].dimensions and have["tas"]._FillValue == want["tas"]._FillValue
            assert np.array_equal(have["time"][:], want["time"][:]) and have["lat"].units == want["lat"].units


@pytest.mark.parametrize(("format", "version"), FORMATS)
def test_sub_arrays_appear_when_they_are_written_and_others_read_as_fill(tmp_path: Path, format: str, version: str) -> None:
    path = tmp_path / "m.nca"
    dataset, tas = begun(path, format, version)
    assert not (tmp_path / "m").exists()
    assert ma.getmaskarray(tas[:]).all() and tas.shape == (10, 4, 6)
    tas[3:7, 1, ::2] = 5.0
    assert {each.name for each in (tmp_path / "m").iterdir()} == {"m.tas.0.0.0.nc", "m.tas.1.0.0.nc"}
    want = ma.masked_all((10, 4, 6), "f4")
    want[3:7, 1, ::2] = 5.0
    for _ in range(2):
        assert not path.exists()
        assert np.array_equal(tas[:].filled(-1), want.filled(-1))
        assert tas[4, 1, 2] == 5.0 and tas[4, 1, 1] is ma.masked
    dataset.close()
    with s3Dataset(path) as found:
        assert np.array_equal(found["tas"][:].filled(-1), want.filled(-1))
        assert found["tas"].units == "K" and found["tas"].ncattrs()[0] == "_FillValue"
        assert found.data_model == ("NETCDF3_CLASSIC" if format == "CFA3" else "NETCDF4")


@pytest.mark.parametrize(
    "key",
    [
        np.s_[:],
        np.s_[4],
        np.s_[-1],
        np.s_[3:8, 1:3],
        np.s_[..., 2],
        np.s_[::3, ::-1],
        np.s_[[9, 0, 4], :, 1:5:2],
        np.s_[[1, 6], [0, 3], [5, 0]],
        np.s_[np.arange(10) % 3 == 0],
        np.s_[20:30],
        np.s_[2, 1, 3],
    ],
    ids=str,
)
def test_any_selection_across_sub_arrays_is_written_and_read(tmp_path: Path, key: Any) -> None:
    """As the same program on a plain file."""
    dataset, tas = begun(tmp_path / "m.nca")
    plain = Dataset(tmp_path / "plain.nc", "w")
    for name, length in (("time", 10), ("lat", 4), ("lon", 6)):
        plain.createDimension(name, length)
    like = plain.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=-999.0)
    for variable in (tas, like):
        variable[:] = WHOLE
        variable[key] = -variable[key] if np.size(variable[key]) else 1.0
        variable[key] = 7.0
        variable[0, 0] = variable[key][..., :6] if np.ndim(variable[key]) == 1 and len(variable[key]) == 6 else 3.0
    assert np.array_equal(tas[:], like[:])
    assert np.shape(tas[key]) == np.shape(like[key]) and np.array_equal(tas[key], like[key])
    dataset.close()
    with s3Dataset(tmp_path / "m.nca") as found:
        assert np.array_equal(found["tas"][key], like[key]) and np.array_equal(found["tas"][:], like[:])
    plain.close()


@pytest.mark.parametrize(("format", "version"), FORMATS)
def test_an_aggregation_is_changed_and_stays_what_it_is(tmp_path: Path, format: str, version: str) -> None:
    path = tmp_path / "m.nca"
    dataset, tas = begun(path, format, version)
    tas[:5] = WHOLE[:5]
    dataset.close()
    before = raw(path)["attributes"]
    with s3Dataset(path, "a") as again:
        assert np.array_equal(again["tas"][:5], WHOLE[:5])
        again["tas"][2:8, 3] = -1.0
        again["tas"].history = "changed"
        again["time"][0] = 100.0
        assert again["tas"][2, 3, 0] == -1.0
    want = ma.masked_all((10, 4, 6), "f4")
    want[:5] = WHOLE[:5]
    want[2:8, 3] = -1.0
    with s3Dataset(path) as found:
        assert np.array_equal(found["tas"][:].filled(-7), want.filled(-7))
        assert found["tas"].history == "changed" and found["time"][0] == 100.0
        assert found["tas"].units == "K"
    assert raw(path)["attributes"] == before


def test_what_is_synced_is_there_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "m.nca"
    dataset, tas = begun(path)
    tas[0] = 1.0
    dataset.sync()
    with s3Dataset(path) as found:
        assert found["tas"][0, 0, 0] == 1.0 and found["tas"][9, 0, 0] is ma.masked
    tas[9] = 2.0
    tas.comment = "later"
    assert tas[9, 0, 0] == 2.0 and tas[0, 0, 0] == 1.0
    dataset.close()
    with s3Dataset(path) as found:
        assert found["tas"][9, 0, 0] == 2.0 and found["tas"].comment == "later"


def test_unlimited_dimensions_grow(tmp_path: Path) -> None:
    for format, version in FORMATS:
        path = tmp_path / f"{format}{version}.nca"
        with s3Dataset(path, "w", format=format, cfa_version=version) as made:
            made.createDimension("time", None)
            made.createDimension("x", 3)
            time = made.createVariable("time", "f8", ("time",))
            value = made.createVariable("v", "i4", ("time", "x"), subarray_shape=(4, 3))
            assert value.shape == (0, 3) and made.dimensions["time"].isunlimited()
            for step in range(6):
                value[step] = [step, step + 1, step + 2]
                time[step] = step
            assert value.shape == (6, 3)
        with s3Dataset(path) as found:
            assert np.array_equal(found["v"][:], np.arange(6)[:, None] + np.arange(3)), version
        with s3Dataset(path, "a") as again:
            again["v"][6:9] = 9
            again["time"][6:9] = 9
        with s3Dataset(path) as found:
            assert found["v"][:, 0].tolist() == [0, 1, 2, 3, 4, 5, 9, 9, 9], version


@pytest.mark.parametrize("version", ["0.4", "0.5", "0.6"])
def test_groups_are_nested_and_see_the_dimensions_above(tmp_path: Path, version: str) -> None:
    path = tmp_path / "m.nca"
    with s3Dataset(path, "w", cfa_version=version) as made:
        made.createDimension("x", 5)
        deep = made.createGroup("ocean/deep")
        deep.createDimension("z", 4)
        deep.note = "below"
        variable = deep.createVariable("salt", "f8", ("z", "x"), subarray_shape=(2, 5))
        variable.scl = 2.0
        variable[:] = np.arange(20).reshape(4, 5)
        assert made["ocean/deep/salt"] is variable
    assert (tmp_path / "m" / "m.ocean.deep.salt.1.0.nc").exists()
    with s3Dataset(path) as found:
        assert np.array_equal(found["ocean/deep/salt"][:], np.arange(20).reshape(4, 5))
        assert found["ocean/deep"].note == "below" and found["ocean/deep/salt"].scl == 2.0
        assert list(found["ocean/deep"].variables) == ["salt"] and list(found["ocean/deep"].groups) == []
    with s3Dataset(path, "a") as again:
        again["ocean/deep/salt"][3] = 0
    with s3Dataset(path) as found:
        assert found["ocean/deep/salt"][3].tolist() == [0] * 5


def test_values_are_packed_masked_and_converted_as_in_plain_files(tmp_path: Path) -> None:
    path = tmp_path / "m.nca"
    with s3Dataset(path, "w") as made:
        made.createDimension("x", 6)
        packed = made.createVariable("p", "i2", ("x",), fill_value=-1, subarray_shape=(4,))
        packed.scale_factor, packed.add_offset = 0.5, 100.0
        packed[:] = ma.array([100.5, 101, 102, 103, 104, 105], mask=[0, 1, 0, 0, 0, 0])
        assert packed[0] == 100.5 and packed[1] is ma.masked
        text = made.createVariable("s", str, ("x",), subarray_shape=(4,))
        text[:] = np.array(["a", "bb", "", "dé", "e", "f"], dtype=object)
        big = made.createVariable("b", ">f4", ("x",), subarray_shape=(3,), zlib=True, chunksizes=(2,), endian="big")
        big[:] = np.arange(6)
        assert big.filters()["zlib"] and big.filters()["shuffle"]
        scalar = made.createVariable("n", "i4")
        scalar[...] = 3
    with s3Dataset(path) as found:
        assert found["p"][:].tolist() == [100.5, None, 102, 103, 104, 105]
        assert found["s"][:].tolist() == ["a", "bb", "", "dé", "e", "f"]
        assert np.array_equal(found["b"][:], np.arange(6)) and found["n"][...] == 3
    with Dataset(tmp_path / "m" / "m.b.0.nc") as part:
        assert part["b"].filters()["zlib"] and part["b"].chunking() == [2] and part["b"].endian() == "big"
    with Dataset(tmp_path / "m" / "m.p.1.nc") as part:
        assert part["p"].scale_factor == 0.5 and part["p"][:].tolist() == [104, 105]


def test_the_fill_value_may_be_set_as_an_attribute_first(tmp_path: Path) -> None:
    with s3Dataset(tmp_path / "m.nca", "w") as made:
        made.createDimension("x", 4)
        value = made.createVariable("v", "f4", ("x",), subarray_shape=(2,))
        value._FillValue = -5.0
        value[0] = 1.0
    with s3Dataset(tmp_path / "m.nca") as found:
        assert found["v"][:].tolist() == [1.0, None, None, None] and found["v"]._FillValue == np.float32(-5)
        assert found["v"][:].filled()[3] == -5


@pytest.mark.parametrize(
    ("size", "count"), [("50MB", 1), (0, 1), ("400B", 10), (400, 10), ("1kB", 4), (1000, 4)]
)
def test_sizes_of_sub_arrays_are_bytes(tmp_path: Path, size: Any, count: int) -> None:
    with s3Dataset(tmp_path / "m.nca", "w") as made:
        made.createDimension("time", 10)
        made.createDimension("n", 100)
        value = made.createVariable("v", "i4", ("time", "n"), max_subarray_size=size)
        value[:] = np.arange(1000).reshape(10, 100)
    parts = list((tmp_path / "m").iterdir())
    assert len(parts) >= count and max(part.stat().st_size for part in parts) > 0
    lengths = []
    for part in parts:
        with Dataset(part) as found:
            lengths.append(found["v"].size * 4)
    assert sum(lengths) == 4000
    if size not in ("50MB", 0):
        assert max(lengths) <= (400 if size in ("400B", 400) else 1000)
    with s3Dataset(tmp_path / "m.nca") as found:
        assert np.array_equal(found["v"][:].ravel(), np.arange(1000))


def test_the_kind_of_axes_decides_where_arrays_are_divided(tmp_path: Path) -> None:
    for kind, want in (("T", (4, 1)), ("X", (1, 4))):
        with s3Dataset(tmp_path / f"{kind}.nca", "w") as made:
            made.createDimension("a", 40, axis_type=kind, metadata={"units": "1"})
            made.createDimension("b", 40, axis_type="N" if kind == "T" else "Y")
            made.createVariable("a", "f4", ("a",))[:] = 0
            assert made["a"].units == "1" and made.dimensions["a"].axis_type == kind
            value = made.createVariable("v", "f4", ("a", "b"), max_subarray_size=1600)
            shape = tuple(value._cfa_var.getPartitionMatrixShape())
            assert np.prod(shape) >= 4, (shape, want)


def test_what_does_not_fit_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with s3Dataset(tmp_path / "m.nca", "w") as made:
        made.createDimension("x", 4)
        for shape in [(2, 2), (0,), (5,), (-1,), [[1]]]:
            with pytest.raises(CFASubArrayError, match="v"):
                made.createVariable("v", "f4", ("x",), subarray_shape=shape)
        for size in ["many", "-3", "5 apples", -5, object()]:
            with pytest.raises(CFASubArrayError):
                made.createVariable("v", "f4", ("x",), max_subarray_size=size)
        with pytest.raises(CFASubArrayError, match="no dimensions"):
            made.createVariable("v", "f4", (), subarray_shape=(1,))
        with pytest.raises(CFADimensionError, match="axis_type"):
            made.createDimension("y", 4, axis_type="Q")
        with pytest.raises(ValueError, match="cannot find dimension q"):
            made.createVariable("v", "f4", ("q",))
        with pytest.raises(CFAVariableError, match="sub-arrays hold"):
            made.createVariable("v", made.createVLType("i4", "lists"), ("x",))
        assert list(made.variables) == [] and list(made.dimensions) == ["x"]
        value = made.createVariable("v", "f4", ("x",), subarray_shape=(2,))
        with pytest.raises(RuntimeError, match="name in use"):
            made.createVariable("v", "f4", ("x",))
        with pytest.raises(IndexError, match="size of data array does not conform"):
            value[:2] = [1, 2, 3]
        with pytest.raises(IndexError):
            value[7]
    with s3Dataset(tmp_path / "m.nca") as found, pytest.raises(RuntimeError):
        found["v"][:] = 1
    assert list(tmp_path.iterdir()) == [tmp_path / "m.nca"]


def test_formats_and_versions_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    for format in ("CFA3", "NETCDF3_CLASSIC"):
        with pytest.raises(APIException, match="0.5"):
            s3Dataset(tmp_path / "m.nca", "w", format=format, cfa_version="0.5")
    with pytest.raises(APIException, match="Unsupported CFA version"):
        s3Dataset(tmp_path / "m.nca", "w", cfa_version="0.7")
    with pytest.raises(APIException, match="CFA5"):
        s3Dataset(tmp_path / "m.nca", "w", format="CFA5")
    assert list(tmp_path.iterdir()) == []
    for format in ("NETCDF3_CLASSIC", "NETCDF4", "NETCDF3_64BIT_DATA"):
        with s3Dataset(tmp_path / f"{format}.nc", "w", format=format) as made:
            made.createDimension("x", 3)
            made.createVariable("v", "i4", ("x",))[:] = 1
            assert made.data_model == format
    assert not [each for each in tmp_path.iterdir() if each.is_dir()]


def test_a_new_aggregation_replaces_an_old_one_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "m.nca"
    dataset, tas = begun(path)
    tas[:] = WHOLE
    dataset.close()
    dataset, tas = begun(path)
    with s3Dataset(path) as old:
        assert old["tas"][9, 3, 5] == WHOLE[9, 3, 5]
    tas[0, 0] = 1.0
    dataset.close()
    with s3Dataset(path) as found:
        assert found["tas"][0, 0, 0] == 1.0 and ma.count(found["tas"][:]) == 6
    with pytest.raises(OSError):
        s3Dataset(path, "w", clobber=False)


def test_renames_hold_until_and_after_the_master_is_written(tmp_path: Path) -> None:
    path = tmp_path / "m.nca"
    dataset, tas = begun(path)
    tas[:5] = WHOLE[:5]
    dataset.renameVariable("tas", "temperature")
    dataset.renameDimension("lon", "longitude")
    tas[5:] = WHOLE[5:]
    assert tas.dimensions == ("time", "lat", "longitude")
    dataset.close()
    with s3Dataset(path) as found:
        assert np.array_equal(found["temperature"][:], WHOLE)
        assert found["temperature"].dimensions == ("time", "lat", "longitude")


def test_a_dataset_in_memory_is_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dataset, tas = begun("m.nca", diskless=True)
    tas[:] = WHOLE
    assert np.array_equal(tas[:], WHOLE)
    dataset.close()
    assert list(tmp_path.iterdir()) == []
    dataset, tas = begun("m.nca", diskless=True, persist=True)
    tas[:] = WHOLE
    dataset.close()
    with s3Dataset("m.nca") as found:
        assert np.array_equal(found["tas"][:], WHOLE)


def test_sub_arrays_describe_themselves(tmp_path: Path) -> None:
    """Global attributes, bounds, scalars, grid mappings: each in the part that the sub-array is."""
    with s3Dataset(tmp_path / "m.nca", "w") as made:
        made.institution = "here"
        made.createDimension("x", 4)
        x = made.createVariable("x", "f8", ("x",))
        x[:] = [0, 1, 2, 3]
        crs = made.createVariable("crs", "i4")
        crs.grid_mapping_name = "latitude_longitude"
        crs[...] = 7
        height = made.createVariable("height", "f4")
        height[...] = 2.0
        value = made.createVariable("v", "f4", ("x",), subarray_shape=(2,))
        value.grid_mapping, value.coordinates = "crs", "height"
        value[:] = 1
    with Dataset(tmp_path / "m" / "m.v.1.nc") as part:
        assert part["x"][:].tolist() == [2, 3] and part.institution == "here"
        assert part["crs"][...] == 7 and part["crs"].grid_mapping_name == "latitude_longitude" and part["height"][...] == 2
        assert "Conventions" not in part.ncattrs() or "CFA" not in part.Conventions


def test_a_dimension_without_coordinates_has_none_in_sub_arrays(tmp_path: Path) -> None:
    with s3Dataset(tmp_path / "m.nca", "w") as made:
        made.createDimension("n", 4)
        made.createVariable("v", "f4", ("n",), subarray_shape=(2,))[:] = 1
    with Dataset(tmp_path / "m" / "m.v.0.nc") as part:
        assert list(part.variables) == ["v"]


def test_nothing_is_written_where_the_master_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(PermissionError):
        s3Dataset(tmp_path / "absent" / "m.nca", "w")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(params=["moto", "s3s"])
def alias(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The beginning of addresses on a server, by an alias."""
    server = request.getfixturevalue(request.param)
    host = {"alias": "lab", "url": server["endpoint_url"], "backend": "s3FileObject"}
    if "key" in server:
        host["credentials"] = {"accessKey": server["key"], "secretKey": server["secret"]}
    else:
        monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    (tmp_path / "config.json").write_text(json.dumps({"version": "9", "hosts": {"s3://lab": host}}))
    monkeypatch.setenv("S3_NC_CONFIG", str(tmp_path / "config.json"))
    return f"s3://lab/bucket/{request.param}-{tmp_path.name}"


@pytest.mark.parametrize(("format", "version"), [*FORMATS[:3], ("NETCDF4", None), ("NETCDF3_CLASSIC", None)])
@pytest.mark.parametrize("places", ["disk disk", "disk s3", "s3 disk", "s3 s3"])
def test_the_steps_of_its_own_test(tmp_path: Path, alias: str, format: str, version: str | None, places: str) -> None:
    """S3netCDF4's own test, on disk and on S3, with masters and sub-arrays in all combinations of places."""
    master, parts = (alias if place == "s3" else str(tmp_path) for place in places.split())
    if not format.startswith("CFA") and master != parts:
        pytest.skip("a plain file has no sub-arrays")
    is_nested = format not in ("CFA3", "NETCDF3_CLASSIC")
    path = f"{master}/test_{format}_{version}.nc"
    words: dict[str, Any] = {"subarray_path": f"{parts}/parts_{format}"} if master != parts else {}
    if places == "s3 disk":
        # A master in another place may not name files of this machine, unless it is trusted.
        words["session"] = ncirrus.Session(uploads="folder", rewrite=True, local_fragments=True)
    shape = (365, 1, 7, 14)
    with s3Dataset(path, "w", format=format, cfa_version=version, **words) as made:
        group = made.createGroup("test_group") if is_nested else made
        for name, length, kind in (("time", 365, "T"), ("level", 1, "Z"), ("latitude", 7, "Y"), ("longitude", 14, "X")):
            group.createDimension(name, length, axis_type=kind) if format.startswith("CFA") else group.createDimension(name, length)
            group.createVariable(name, np.float32, (name,))[:] = np.arange(length)
        names = ("time", "level", "latitude", "longitude")
        field = group.createVariable("field", np.float32, names, subarray_shape=(12, 1, 7, 14))
        field.scl = 5.0
        field[:] = 2.0
        velocity = group.createVariable("velocity", np.float32, names, subarray_shape=(100, 1, 7, 14))
        velocity[0] = 1.5
        assert np.array_equal(field[:, 0, 0, 0], np.full(365, 2.0, "f4"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ncirrus.NcirrusWarning)
        with s3Dataset(path, **{word: words[word] for word in words if word == "session"}) as found:
            group = found["test_group"] if is_nested else found
            assert group["field"].shape == shape and group["field"].scl == 5.0
            assert np.array_equal(group["field"][:, 0, 0, 0], np.full(365, 2.0, "f4"))
            assert ma.count(group["velocity"][:]) == 7 * 14 and group["velocity"][0].min() == 1.5
            assert np.array_equal(group["time"][:], np.arange(365))
            if format.startswith("CFA"):
                assert len(group["field"]._cfa_var.getPartitions()) == 31


def test_a_disk_that_is_full_leaves_no_half_master(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no full disk")
    with pytest.raises((OSError, RuntimeError, IOException)):
        dataset, tas = begun("/dev/full/m.nca")
        tas[:] = WHOLE
        dataset.close()
