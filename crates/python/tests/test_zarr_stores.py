"""Stores of zarr as targets: its own, and one that takes names of Zarr only, and chunks of what is described, as Icechunk's does."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus
from ncirrus.zarr_stores import ZarrBridge

zarr = pytest.importorskip("zarr")
zarr_storage = pytest.importorskip("zarr.storage")


class StrictStore(zarr_storage.MemoryStore):  # type: ignore[misc]
    """A store that refuses keys that are not Zarr v3's, documents below groups that are not there, and chunks outside of arrays. Of
    documents it keeps what it understands. Nothing can be put depending on the state of what is replaced."""

    supports_consolidated_metadata = False

    @staticmethod
    def _node(key: str) -> tuple[str, list[int] | None]:
        """The path of a group or array, and the indices of its chunk; none for its document."""
        if key == "zarr.json" or key.endswith("/zarr.json"):
            return key[: -len("zarr.json")].rstrip("/"), None
        found = re.fullmatch(r"(.+?)/c((?:/\d+)*)", key)
        if found is None:
            raise ValueError(f"bad key: invalid zarr key format `{key}`")
        return found[1], [int(number) for number in found[2].split("/") if number]

    def _document(self, path: str) -> Any:
        found = self._store_dict.get(f"{path}/zarr.json".lstrip("/"))
        return None if found is None else json.loads(found.to_bytes())

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        self._node(key)
        return await super().get(key, prototype, byte_range)

    async def exists(self, key: str) -> bool:
        self._node(key)
        return await super().exists(key)

    async def getsize(self, key: str) -> int:
        self._node(key)
        return await super().getsize(key)  # type: ignore[no-any-return]

    async def delete(self, key: str) -> None:
        self._node(key)
        await super().delete(key)

    async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
        path, chunk = self._node(key)
        if chunk is None:
            above = path.rpartition("/")[0]
            if path and (self._document(above) or {}).get("node_type") != "group":
                raise ValueError(f"ancestor node not found for `{path}`")
            told = json.loads(value.to_bytes())
            told.pop("consolidated_metadata", None)
            text = json.dumps(told, sort_keys=True).encode()
            await super().set(key, type(value).from_bytes(text))
            return
        array = self._document(path)
        if array is None or array["node_type"] != "array":
            raise ValueError(f"node not found at `{path}`")
        lengths = array["chunk_grid"]["configuration"]["chunk_shape"]
        counts = [math.ceil(end / length) for end, length in zip(array["shape"], lengths)]
        if len(chunk) != len(counts) or any(at >= count for at, count in zip(chunk, counts)):
            raise ValueError(f"invalid chunk coordinates {chunk} of `{path}`")
        await super().set(key, value)


class Session:
    """What has a store, as a session of Icechunk does."""

    __module__ = "icechunk.session"

    def __init__(self) -> None:
        self.store = StrictStore()


def _icechunk(path: Path) -> Any:
    """A session of Icechunk; the versions that are tested need Python 3.12."""
    icechunk = pytest.importorskip("icechunk")
    return icechunk.Repository.create(icechunk.local_filesystem_storage(str(path))).writable_session("main")


TARGETS: dict[str, Callable[[Path], Any]] = {
    "memory": lambda path: zarr_storage.MemoryStore(),
    "local": lambda path: zarr_storage.LocalStore(str(path / "a.zarr")),
    "wrapped": lambda path: zarr_storage.WrapperStore(zarr_storage.LocalStore(str(path / "a.zarr"))),
    "strict": lambda path: StrictStore(),
    "session": lambda path: Session(),
    "icechunk": _icechunk,
}


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return TARGETS[request.param](tmp_path)


def _store_of(target: Any) -> Any:
    return target if isinstance(target, zarr.abc.store.Store) else target.store


def _filled(ds: ncirrus.Dataset) -> None:
    ds.create_dimension("time", None)
    ds.create_dimension("x", 3)
    ds.create_variable("v", "i4", ("time", "x"), chunks=(2, 2), fill_value=-1)[0:3] = np.arange(9).reshape(3, 3)
    ds.create_variable("scalar", "f8", ())[...] = 2.5
    inner = ds.create_group("g/h")
    inner.create_variable("w", "i2", ("x",), attrs={"units": "K"})[...] = [1, 2, 3]
    ds.attrs["title"] = "text"


@pytest.mark.parametrize("dialect", ["plain", None])
def test_datasets_are_created_read_and_changed(target: Any, dialect: str | None) -> None:
    with ncirrus.create(target, "zarr3", dialect=dialect) as ds:
        _filled(ds)
        assert ds["v"][2].tolist() == [6, 7, 8]
    store = _store_of(target)
    group = zarr.open_group(store, mode="r", zarr_format=3, use_consolidated=False)
    assert group["v"][...].tolist() == np.arange(9).reshape(3, 3).tolist() and group["g/h/w"][...].tolist() == [1, 2, 3]
    with ncirrus.open(target, "r+") as ds:
        assert ds["scalar"][...] == 2.5
        ds["v"][0, 0] = 100
        ds["v"].append([[9, 10, 11], [12, 13, 14], [15, 16, 17]])
        assert ds["v"][5].tolist() == [15, 16, 17]
        ds["v"].attrs["units"] = "m"
        ds.create_variable("late", "i4", ("x",))[...] = 7
    with ncirrus.open(target) as ds:
        expected = np.arange(18).reshape(6, 3)
        expected[0, 0] = 100
        assert ds["v"][...].tolist() == expected.tolist() and ds["v"].attrs["units"] == "m"
        assert ds["late"][...].tolist() == [7, 7, 7] and ds.attrs["title"] == "text"
    group = zarr.open_group(store, mode="r", zarr_format=3, use_consolidated=False)
    assert group["v"][...].tolist() == expected.tolist()
    assert all(_is_of_zarr(key) for key in _keys(store)), sorted(_keys(store))


def test_a_dataset_is_replaced_only_where_that_is_allowed(target: Any) -> None:
    with ncirrus.create(target, "zarr3") as ds:
        _filled(ds)
    with pytest.raises(ncirrus.ConflictError):
        ncirrus.create(target, "zarr3")
    with ncirrus.create(target, "zarr3", overwrite=True) as ds:
        ds.create_dimension("y", 2)
        ds.create_variable("u", "i4", ("y",))[...] = [1, 2]
    with ncirrus.open(target) as ds:
        assert list(ds.variables) == ["u"] and not ds.groups and ds["u"][...].tolist() == [1, 2]
    assert all(_is_of_zarr(key) for key in _keys(_store_of(target)))


def test_copies_and_xarray_write_into_them(target: Any, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    import ncirrus.xarray  # noqa: F401

    data = xr.Dataset({"t": (("time", "x"), np.arange(6.0).reshape(2, 3))}, {"time": [0, 1], "x": [1, 2, 3]})
    data.ncirrus.to(target, kind="zarr3", encoding={"t": {"chunks": (1, 3)}})
    data.assign_coords(time=[2, 3]).ncirrus.to(target, append_dim="time")
    (data * 2).drop_vars("x").ncirrus.to(target, region={"time": slice(0, 2)})
    found = xr.open_dataset(target, engine="ncirrus")
    assert found["t"].values[:, 1].tolist() == [2, 8, 1, 4] and found["time"].values.tolist()[2:] == [2, 3]
    found.close()
    ncirrus.copy(target, str(tmp_path / "copy.nc"))
    with ncirrus.open(str(tmp_path / "copy.nc")) as ds:
        assert ds["t"].shape == (4, 3)


def test_what_a_store_takes_no_more_of_is_an_error() -> None:
    class Full(StrictStore):
        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            if "/c/" in key:
                raise OSError("no space left")
            await super().set(key, value)

    store = Full()
    with pytest.raises(ncirrus.Error, match="no space left"), ncirrus.create(store, "zarr3") as ds:
        _filled(ds)


def test_chunks_are_put_although_their_document_arrives_while_they_are_refused() -> None:
    class Slow(StrictStore):
        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            try:
                await super().set(key, value)
            except ValueError:
                while self._document("v") is None:
                    await asyncio.sleep(0.001)
                raise

    store = Slow()
    bridge = ZarrBridge(store)
    grid = {"name": "regular", "configuration": {"chunk_shape": [4]}}
    array = {"zarr_format": 3, "node_type": "array", "shape": [4], "chunk_grid": grid}
    bridge.put("zarr.json", b'{"zarr_format": 3, "node_type": "group"}', None, False)
    with ThreadPoolExecutor(2) as threads:
        chunk = threads.submit(bridge.put, "v/c/0", b"abcd", None, False)
        document = threads.submit(bridge.put, "v/zarr.json", json.dumps(array).encode(), None, False)
        assert (chunk.result(60), document.result(60)) == ("4", str(len(json.dumps(array))))
    assert "v/c/0" in _keys(store)


def _keys(store: Any) -> set[str]:
    async def all_of_it() -> list[str]:
        return [key async for key in store.list()]

    return set(zarr.core.sync.sync(all_of_it()))


def _is_of_zarr(key: str) -> bool:
    return key.rsplit("/", 1)[-1] == "zarr.json" or re.search(r"/c(/\d+)*$", key) is not None
