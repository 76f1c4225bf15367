"""What processes of the tests of S3netCDF4's API do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ncirrus.s3netcdf4 import Partition, s3Dataset


def read(path: str, partition: Partition) -> tuple[tuple[int, ...], Any]:
    """The values of a partition, read through the master."""
    with s3Dataset(path) as dataset:
        return partition.index, np.asarray(dataset["v"][tuple(slice(start, stop) for start, stop in partition.location)])
