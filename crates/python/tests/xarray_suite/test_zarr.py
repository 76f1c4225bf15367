"""xarray's tests of Zarr, three ways: zarr-python writes and ours reads, ours writes and zarr-python reads, ours does both.

Where a test writes by `Dataset.to_zarr` itself, zarr-python writes in all three.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import xarray as xr
import zarr
from xarray.tests import test_backends as suite

import ncirrus.xarray  # noqa: F401

# Words of `to_zarr` about how zarr-python works, not about what is written.
ITS_OWN = (
    "consolidated", "zarr_version", "safe_chunks", "synchronizer", "write_empty_chunks", "chunk_store", "chunkmanager_store_kwargs",
)  # fmt: skip


class ReadsOurs:
    """Ours reads."""

    @contextlib.contextmanager
    def open(self, path: Any, **kwargs: Any) -> Iterator[Any]:
        if "use_zarr_fill_value_as_mask" in kwargs:
            kwargs["zarr_fill_as_mask"] = kwargs.pop("use_zarr_fill_value_as_mask")
        with xr.open_dataset(path, engine="ncirrus", **kwargs) as dataset:
            yield dataset


class WritesOurs:
    """Ours writes, in the version that zarr-python would write."""

    def save(self, dataset: Any, store_target: Any, **kwargs: Any) -> Any:
        words = {word: value for word, value in kwargs.items() if word not in ITS_OWN}
        version = words.pop("zarr_format", None) or zarr.config.get("default_zarr_format")
        return dataset.ncirrus.to(store_target, kind=f"zarr{version}", dialect="plain", **words)


class TestZarrReads(ReadsOurs, suite.TestZarrDirectoryStore):
    pass


class TestZarrWrites(WritesOurs, suite.TestZarrDirectoryStore):
    pass


class TestZarrBoth(ReadsOurs, WritesOurs, suite.TestZarrDirectoryStore):
    pass
