"""`ncirrus.store`: the objects of a store as a mapping."""

from __future__ import annotations

import multiprocessing
import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ncirrus


@pytest.fixture(params=["folder", "memory", "s3"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> ncirrus.Store:
    if request.param == "folder":
        return ncirrus.store(tmp_path / "new", create=True)
    if request.param == "memory":
        ncirrus.create(f"memory://{tmp_path.name}/d.zarr").close()
        store = ncirrus.store(f"memory://{tmp_path.name}/d.zarr")
        store.clear()
        return store
    moto = request.getfixturevalue("moto")
    return ncirrus.store(f"s3://bucket/{tmp_path.name}", storage_options=moto)


def read_of(store: ncirrus.Store) -> dict[str, bytes]:
    return dict(store)


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_other_processes_read_a_store(tmp_path: Path, start: str) -> None:
    store = ncirrus.store(tmp_path / "new", create=True)
    store["a"] = b"1"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)) as pool:
        assert pool.submit(read_of, store).result(60) == {"a": b"1"}


def test_a_store_is_a_mapping_of_keys_to_bytes(made: Any) -> None:
    assert dict(made) == {} and len(made) == 0 and made.listdir() == []
    made["a"] = b"1"
    made["b/c"] = memoryview(b"23")
    made["b/d/e"] = bytearray(b"456")
    assert sorted(made) == ["a", "b/c", "b/d/e"] and dict(made)["b/d/e"] == b"456" and len(made) == 3
    assert made.listdir() == ["a", "b"] and made.listdir("b") == ["c", "d"] and made.listdir("/b/d/") == ["e"]
    assert made.listdir("none") == []
    assert made.getsize("b/d/e") == 3 and made.getsize("b") == 2
    made["a"] = b"new"
    assert made["a"] == b"new" and "a" in made and "b" not in made and 5 not in made
    for absent in ("x", "b", "b/c/d", "a/b", "../a", "", "a//b", "/a"):
        with pytest.raises(KeyError):
            made[absent]
        with pytest.raises(KeyError):
            del made[absent]
        assert absent not in made and made.get(absent) is None
    with pytest.raises(TypeError):
        made[3]
    del made["a"]
    assert "a" not in made
    made.rmdir("b/d")
    assert list(made) == ["b/c"]
    made.clear()
    assert len(made) == 0


def test_a_dataset_is_seen_by_its_objects(tmp_path: Path) -> None:
    with ncirrus.create(tmp_path / "a.zarr", kind="zarr2") as ds:
        ds.create_dimension("x", 3)
        ds.create_variable("v", "i4", ["x"])[:] = [1, 2, 3]
    store = ncirrus.store(tmp_path / "a.zarr")
    assert {".zgroup", "v/.zarray", "v/0"} <= set(store) and store["v/0"] == b"\1\0\0\0\2\0\0\0\3\0\0\0"
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        for key, value in store.items():
            file.writestr(key, value)
    packed = ncirrus.store(tmp_path / "a.zip")
    assert dict(packed) == dict(store) and packed.listdir("v") == store.listdir("v")
    with pytest.raises(KeyError):
        packed["none"]
    with pytest.raises(ncirrus.UnsupportedError):
        packed["v/0"] = b""


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ncirrus.NotFoundError):
        ncirrus.store(tmp_path / "none")
    with ncirrus.create(tmp_path / "a.nc") as ds:
        ds.create_dimension("x", 3)
    with pytest.raises(ncirrus.InvalidError, match="one file"):
        ncirrus.store(tmp_path / "a.nc")
