"""Datasets that VirtualiZarr makes of netCDF-4 files are read: reference files, and virtual chunks in Icechunk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

# The versions that are tested need Python 3.12.
virtualizarr = pytest.importorskip("virtualizarr")

VALUES = np.arange(35, dtype="f4").reshape(5, 7)


@pytest.fixture
def virtual(tmp_path: Path) -> Any:
    """A virtual dataset of a file whose last chunks are not full, with a scalar."""
    from obspec_utils.registry import ObjectStoreRegistry
    from obstore.store import LocalStore
    from virtualizarr.parsers import HDFParser

    path = tmp_path / "a.nc"
    with ncirrus.create(path, "nc4") as ds:
        ds.create_dimension("t", None)
        ds.create_dimension("x", 7)
        variable = ds.create_variable(
            "v", "f4", ("t", "x"), chunks=(2, 4), filters="shuffle|deflate,level=3", fill_value=-1.0
        )
        variable[:5] = VALUES
        ds.create_variable("s", "i4", ())[...] = 7
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    return virtualizarr.open_virtual_dataset(url=f"file://{path}", parser=HDFParser(), registry=registry)


def _check(target: Any) -> None:
    with ncirrus.open(target) as ds:
        assert (ds["v"].dims, ds["v"].chunks) == (("t", "x"), (2, 4))
        np.testing.assert_array_equal(ds["v"][...], VALUES)
        np.testing.assert_array_equal(ds["v"][3:, ::3], VALUES[3:, ::3])
        assert ds["s"][...] == 7


def test_reference_files_are_read(virtual: Any, tmp_path: Path) -> None:
    virtual.vz.to_kerchunk(str(tmp_path / "a.json"), format="json")
    _check(tmp_path / "a.json")


def test_virtual_chunks_in_icechunk_are_read(virtual: Any, tmp_path: Path) -> None:
    icechunk = pytest.importorskip("icechunk")
    folder = f"file://{tmp_path}/"
    config = icechunk.RepositoryConfig.default()
    files = icechunk.local_filesystem_store(str(tmp_path))
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(folder, files))
    access = {folder: icechunk.credentials.LocalFileSystemAccess}
    storage = icechunk.in_memory_storage()
    repository = icechunk.Repository.create(storage, config=config, authorize_virtual_chunk_access=access)
    session = repository.writable_session("main")
    virtual.vz.to_icechunk(session.store)
    session.commit("references")
    _check(repository.readonly_session("main"))
