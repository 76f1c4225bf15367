"""Aggregation, as S3netCDF4's program calls it."""

from __future__ import annotations

import os
from typing import Any

import ncirrus
from ncirrus.s3netcdf4 import configuration


def aggregate_into_CFA(
    output_master_array: str, path: str, axis: str, cfa_version: str, common_date: str | None = None
) -> None:
    """Makes one dataset of the files in a folder, below a prefix of a bucket, or of a name with wildcards. Times are converted to
    the reference date of the first file: `common_date` is not needed."""
    convention: Any = cfa_version if cfa_version.startswith("cf") else f"cfa-{cfa_version}"
    ncirrus.aggregate(
        os.path.expanduser(path),
        os.path.expanduser(output_master_array),
        axes=axis,
        sort=True,
        convention=convention,
        kind="nc4",
        overwrite=True,
        session=configuration.session(),
    )
