"""Bytes of fixed length and complex numbers through xarray, in all kinds, and as other programs read and write them; the keywords of
the engine `netcdf4`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

xr = pytest.importorskip("xarray")
import ncirrus.xarray  # noqa: E402

ZARR_KINDS = ["nczarr", "zarr2", "zarr3"]
BYTES = np.array([b"ab\xe9", b"\xff", b"abc", b"", b"\xc3\xa9"], "S3")
COMPLEX = [np.array([1 + 2j, np.nan - 1j, 0], "c16"), np.array([1.5 - 2j, 3], "c8")]


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.filterwarnings("ignore::Warning")
def test_bytes_of_zarr_that_are_not_ascii_are_read(tmp_path: Path, version: int) -> None:
    zarr = pytest.importorskip("zarr")
    path = str(tmp_path / "a.zarr")
    group = zarr.open_group(path, mode="w", zarr_format=version)
    words = {"dimension_names": ["x"]} if version == 3 else {}
    array = group.create_array("s", shape=BYTES.shape, chunks=(2,), dtype="S3", fill_value=b"\xe9", **words)
    array[...] = BYTES
    if version == 2:
        array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
    xr.open_dataset(path, engine="ncirrus").load().close()
    for words in ({}, {"chunks": {}}):
        found = xr.open_dataset(path, engine="ncirrus", mask_and_scale=False, **words)
        assert found["s"].dtype == "S3" and found["s"].values.tolist() == BYTES.tolist()
        assert found["s"][::2].values.tolist() == BYTES[::2].tolist()
        found.close()


@pytest.mark.parametrize("kind", ["nc3", "nc4", *ZARR_KINDS])
def test_bytes_that_are_not_ascii_are_written_appended_and_replaced(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "a")
    data = xr.Dataset({"s": ("x", BYTES)}, {"x": np.arange(5)})
    data.ncirrus.to(path, kind=kind, unlimited_dims=["x"])
    data.assign_coords(x=np.arange(5, 10)).ncirrus.to(path, append_dim="x")
    data.isel(x=[1, 0]).drop_vars("x").ncirrus.to(path, region={"x": slice(0, 2)})
    expected = [BYTES[1], BYTES[0], *BYTES[2:], *BYTES]
    with xr.open_dataset(path, engine="ncirrus") as found:
        assert found["s"].values.tolist() == [bytes(each) for each in expected]


@pytest.mark.parametrize("kind", ZARR_KINDS)
@pytest.mark.parametrize("values", COMPLEX, ids=["double", "single"])
@pytest.mark.filterwarnings("ignore::Warning")
def test_complex_numbers_are_complex_in_zarr(tmp_path: Path, kind: str, values: Any) -> None:
    zarr = pytest.importorskip("zarr")
    path = str(tmp_path / "a.zarr")
    data = xr.Dataset({"z": (("y", "x"), np.stack([values, values]))})
    data.ncirrus.to(path, kind=kind, encoding={"z": {"chunks": (1, 2)}})
    for found in (zarr.open_group(path, mode="r")["z"], xr.open_dataset(path, engine="zarr")["z"], xr.open_dataset(path, engine="ncirrus")["z"]):
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(np.asarray(found[...]), data["z"].values)
    with ncirrus.open(path) as ds:
        assert ds["z"].dtype.names == ("r", "i")
    with ncirrus.open(path, "r+") as ds:
        ds["z"].append(np.zeros((1, values.size), ds["z"].dtype))
        ds.attrs["changed"] = 1
    assert zarr.open_group(path, mode="r")["z"].shape == (3, values.size)


@pytest.mark.parametrize("kind", ["nc4", *ZARR_KINDS])
def test_complex_numbers_are_copied_between_kinds(tmp_path: Path, kind: str) -> None:
    source, copy = str(tmp_path / "a.nc"), str(tmp_path / "copy")
    data = xr.Dataset({"z": ("x", COMPLEX[0]), "w": ("u", COMPLEX[1])})
    data.ncirrus.to(source, kind="nc4")
    ncirrus.copy(source, copy, kind=kind)
    with xr.open_dataset(copy, engine="ncirrus") as found:
        for name in data:
            assert found[name].dtype == data[name].dtype
            np.testing.assert_array_equal(found[name].values, data[name].values)


def test_an_element_that_was_never_written_has_the_complex_fill_value(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    path = str(tmp_path / "a.zarr")
    pair = np.dtype([("r", "f8"), ("i", "f8")])
    with ncirrus.create(path, kind="zarr3") as ds:
        ds.create_dimension("x", 4)
        made = ds.create_type(ncirrus.Compound("complex_t", pair))
        ds.create_variable("z", made, ("x",), chunks=(2,), fill_value=np.array((1.5, np.nan), pair)[()])[0:2] = np.zeros(2, pair)
    found = zarr.open_group(path, mode="r")["z"][...]
    assert found[:2].tolist() == [0, 0] and found[2].real == 1.5 and np.isnan(found[2].imag)
    with ncirrus.open(path) as ds:
        assert ds["z"][3]["r"] == 1.5


@pytest.mark.parametrize("kind", ["nc4", "zarr2"])
def test_the_keywords_of_the_engine_netcdf4_are_taken(tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "a")
    xr.Dataset({"z": ("x", COMPLEX[1])}).ncirrus.to(path, kind=kind)
    words: dict[str, Any] = {"format": "NETCDF4", "clobber": True, "diskless": False, "persist": False, "lock": None, "autoclose": False}
    with xr.open_dataset(path, engine="ncirrus", mode="r", auto_complex=True, **words) as found:
        assert found["z"].dtype == "c8"
    with xr.open_dataset(path, engine="ncirrus", auto_complex=False, **words) as found:
        assert found["z"].dtype.names == ("r", "i") and found["z"].values["i"].tolist() == [-2.0, 0.0]
    with xr.open_datatree(path, engine="ncirrus", auto_complex=False) as tree:
        assert tree["z"].dtype.names == ("r", "i")
    with pytest.raises(ValueError, match="opened for reading"):
        xr.open_dataset(path, engine="ncirrus", mode="a")
    with pytest.raises(ValueError, match="auto_complex=False"):
        xr.Dataset({"z": ("x", COMPLEX[1])}).to_netcdf(str(tmp_path / "b.nc"), engine="ncirrus", auto_complex=False)
    xr.Dataset({"z": ("x", COMPLEX[1])}).to_netcdf(str(tmp_path / "c.nc"), engine="ncirrus", auto_complex=True)
