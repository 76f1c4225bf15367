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
