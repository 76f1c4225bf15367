"""What `netCDF4.Dataset` makes at an address that names a kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ncirrus
from ncirrus import netCDF4


@pytest.mark.parametrize(
    ("fragment", "words", "expected"),
    [
        ("#mode=nczarr,file", {}, "nczarr2"),
        ("#mode=nczarr,file", {"format": "NETCDF4"}, "nczarr2"),
        ("#mode=nczarr", {}, "nczarr2"),
        ("#mode=nczarr&log=0", {}, "nczarr2"),
        ("#mode=zarr,file", {}, "zarr2"),
        ("#mode=xarray,file", {}, "zarr2"),
        ("#mode=zarr3", {}, "zarr3"),
        ("#mode=nczarr,zip", {}, "nczarr2"),
        ("#mode=bytes", {}, "netcdf4"),
        ("", {}, "netcdf4"),
        ("#mode=nczarr,file", {"format": "NETCDF3_CLASSIC"}, "netcdf3"),
        ("#mode=nczarr,file", {"format": "ZARR2"}, "zarr2"),
    ],
)
@pytest.mark.parametrize("mode", ["w", "x", "a"])
def test_the_address_decides_unless_the_format_says_otherwise(
    tmp_path: Path, fragment: str, words: dict[str, str], expected: str, mode: str
) -> None:
    address = f"file://{tmp_path}/made{fragment}"
    with netCDF4.Dataset(address, mode, **words) as file:
        file.createDimension("x", 3)
        file.createVariable("v", "f4", ("x",))[:] = [1, 2, 3]
        file.sync()
        file.title = "text"
    with ncirrus.open(address if "zip" in fragment else f"{tmp_path}/made") as found:
        assert found.format.replace("nczarr3", "zarr3") == expected
        np.testing.assert_array_equal(found["v"][...], [1, 2, 3])


def test_new_variables_of_nczarr_are_chunked_from_their_definition_on(tmp_path: Path) -> None:
    places = [("reference", pytest.importorskip("netCDF4")), ("own", netCDF4)]
    found = {}
    for name, module in places:
        chunks = []
        with module.Dataset(f"file://{tmp_path}/{name}.zarr#mode=nczarr,file", "w", format="NETCDF4") as ds:
            for axis, length in (("a", 5), ("b", 40), ("c", 2000000)):
                ds.createDimension(axis, length)
            for dims in ((), ("a",), ("a", "b"), ("c", "a", "b")):
                for words in ({}, {"zlib": True}, {"chunksizes": [2] * len(dims)}):
                    made = ds.createVariable(f"v{len(chunks)}", "f8", dims, **words)
                    chunks.append(made.chunking())
            chunks.append(ds.createVariable("contiguous", "f8", ("a", "b"), contiguous=True).chunking())
            chunks.append(ds.createVariable("both", "f8", ("a", "b"), contiguous=True, zlib=True).chunking())
        with module.Dataset(f"file://{tmp_path}/{name}.zarr#mode=nczarr,file") as ds:
            assert [each.chunking() for each in ds.variables.values()] == chunks
        found[name] = chunks
    assert found["own"] == found["reference"]
