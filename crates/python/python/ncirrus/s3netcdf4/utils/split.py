"""Splitting, as S3netCDF4's program calls it."""

from __future__ import annotations

from typing import Any

from ncirrus.s3netcdf4 import tools


def split_into_CFA(
    output_path: str,
    input_path: str,
    subarray_path: str = "",
    subarray_shape: Any = (),
    subarray_size: int = 50 * 1024 * 1024,
    cfa_version: str = "0.5",
) -> None:
    """Splits a dataset into sub-array files and a master. `subarray_size` is the maximum number of elements of a file."""
    if not output_path.endswith((".nc", ".nca")):
        output_path += ".nca"
    given = ["--subarray_path", subarray_path] if subarray_path else []
    if len(subarray_shape):
        shape = subarray_shape if isinstance(subarray_shape, str) else str([int(length) for length in subarray_shape])
        given += ["--subarray_shape", shape]
    else:
        given += ["--subarray_size", str(subarray_size), "--like_s3netcdf4"]
    tools.run("s3nc_cfa_split", [output_path, input_path, "--cfa_version", cfa_version, *given])
