"""Stores of others: translated to addresses where all of their options have words here, else read through Python."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import pytest

import ncirrus
from ncirrus import _ncirrus, stores

fsspec = pytest.importorskip("fsspec")
obstore_store = pytest.importorskip("obstore.store")
zarr_storage = pytest.importorskip("zarr.storage")


def s3(**words: Any) -> Any:
    pytest.importorskip("s3fs")
    return fsspec.filesystem("s3", skip_instance_cache=True, **words)


def place(target: Any, **options: Any) -> tuple[str, dict[str, Any], bool]:
    found = stores.place_of(target, options)
    return found.url, found.storage_options, found.bridge is not None


def test_mappers_files_and_pairs_of_fsspec_are_addresses() -> None:
    filesystem = s3(key="k", secret="s", client_kwargs={"endpoint_url": "http://h:1", "region_name": "r"})
    options = {"key": "k", "secret": "s", "client_kwargs": {"endpoint_url": "http://h:1", "region_name": "r"}}
    assert place(filesystem.get_mapper("bucket/a.zarr")) == ("s3://bucket/a.zarr", options, False)
    assert place((filesystem, "bucket/a.zarr")) == ("s3://bucket/a.zarr", options, False)
    assert place((s3(anon=True), "b/c"), requester_pays=True) == ("s3://b/c", {"anon": True, "requester_pays": True}, False)


def test_local_places_are_paths(tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    path.write_bytes(b"0123456789")
    local = fsspec.filesystem("file")
    with local.open(str(path)) as file:
        assert place(file) == (str(path), {}, False)
    assert place(fsspec.open(str(path))) == (str(path), {}, False)
    assert place((fsspec.filesystem("dir", path=str(tmp_path), fs=local), "a.nc")) == (str(path), {}, False)
    assert place(obstore_store.LocalStore(str(tmp_path))) == (str(tmp_path), {}, False)
    assert place(zarr_storage.LocalStore(str(tmp_path))) == (str(tmp_path), {}, False)
    chained = stores.place_of(f"simplecache::file://{path}")
    assert chained.bridge is not None


def test_options_without_a_word_are_read_through_python() -> None:
    assert place((s3(anon=True, s3_additional_kwargs={"ServerSideEncryption": "x"}), "b/c"))[2]
    assert place((s3(anon=True, client_kwargs={"verify": False}), "b/c"))[2]
    assert not place((s3(anon=True, client_kwargs={"verify": True}), "b/c"))[2]
    assert not place((s3(anon=True, default_block_size=2**20), "b/c"))[2]
    assert place((fsspec.filesystem("memory"), "/a"))[2]


def test_stores_of_obstore_are_addresses() -> None:
    store = obstore_store.S3Store(
        "bucket", prefix="a/b", region="r", endpoint="http://h:1", access_key_id="k", secret_access_key="s",
        client_options={"allow_http": True},
    )  # fmt: skip
    options = {"client_kwargs": {"region_name": "r"}, "endpoint_url": "http://h:1", "key": "k", "secret": "s"}
    assert place(store) == ("s3://bucket/a/b", options, False)
    assert place(zarr_storage.ObjectStore(store)) == ("s3://bucket/a/b", options, False)
    anonymous = obstore_store.S3Store("bucket", region="r", skip_signature=True)
    assert place(anonymous)[1] == {"client_kwargs": {"region_name": "r"}, "anon": True}
    timed = obstore_store.S3Store("bucket", region="r", client_options={"timeout": "3s"})
    assert place(timed)[2]
    assert place(obstore_store.MemoryStore())[2]
    assert place(obstore_store.HTTPStore("http://h/x")) == ("http://h/x", {}, False)


def test_what_is_no_store_is_refused() -> None:
    with pytest.raises(TypeError, match="int"):
        stores.place_of(3)
    with pytest.raises(TypeError, match="decompresses"):
        stores.place_of(fsspec.open("memory://a.gz", compression="gzip"))


DIGITS = b"0123456789"
WANTS = [((None, None), 0, DIGITS), ((2, 5), 2, b"234"), ((8, 50), 8, b"89"), ((10, 20), 10, b""), ((-3, None), 7, b"789")]


def bridges(tmp_path: Path) -> dict[str, Any]:
    """A bridge of each kind, with an object `digits`."""
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/laws/digits", DIGITS)
    store = obstore_store.MemoryStore()
    store.put("laws/digits", DIGITS)
    (tmp_path / "laws").mkdir()
    (tmp_path / "laws" / "digits").write_bytes(DIGITS)
    return {
        "fsspec": stores.FsspecBridge(memory),
        "obstore": stores.ObstoreBridge(store),
        "zarr": stores.ZarrBridge(zarr_storage.LocalStore(str(tmp_path))),
    }


@pytest.mark.parametrize("kind", ["fsspec", "obstore", "zarr"])
def test_bridges_give_ranges(tmp_path: Path, kind: str) -> None:
    bridge = bridges(tmp_path)[kind]
    for (start, stop), offset, body in WANTS:
        found = bridge.get("laws/digits", start, stop)
        assert found is not None and (found[0], found[2]) == (body, 10), (start, stop, found)
        assert not body or found[1] == offset
    assert bridge.get("laws/nothing", None, None) is None
    assert bridge.get("laws", None, None) is None
    assert ("digits", False) in bridge.list("laws") and bridge.list("nothing") == []


def test_files_are_read_by_seeking() -> None:
    file = io.BytesIO(DIGITS)
    file.seek(4)
    bridge = stores.FileBridge(file)
    for (start, stop), _, body in WANTS:
        found = bridge.get("file", start, stop)
        assert found is not None and found[0] == body
    assert file.tell() == 4 and not file.closed
    assert bridge.get("other", None, None) is None

    class Short(io.BytesIO):
        def read(self, count: int | None = -1) -> bytes:
            return super().read(1) if self.tell() < 2 else b""

    with pytest.raises(OSError, match="gave 2 of 10 bytes at 0"):
        stores.FileBridge(Short(DIGITS)).get("file", None, None)


def sample() -> Any:
    xr = pytest.importorskip("xarray")
    return xr.Dataset({"t": (("x", "y"), [[1.5, 2.5], [3.5, 4.5]], {"units": "K"})}, {"x": [1, 2]})


def same(found: Any) -> bool:
    return found["t"][...].tolist() == [[1.5, 2.5], [3.5, 4.5]] and found["t"].attrs["units"] == "K"


@pytest.mark.parametrize("kind", ["fsspec", "obstore", "zarr"])
def test_bridges_obey_the_laws_of_stores(tmp_path: Path, kind: str) -> None:
    fsspec.filesystem("memory").store.clear()
    bridge = bridges(tmp_path)[kind]
    _ncirrus.check_store(bridge, "laws/digits", True)
    if kind != "zarr":
        _ncirrus.check_store(bridge, "laws/below", False)


def test_datasets_of_stores_that_only_python_reads(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    sample().to_zarr("memory://tree.zarr", consolidated=False)
    sample().to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    memory.pipe_file("/a.nc", (tmp_path / "a.nc").read_bytes())
    inside = zarr_storage.MemoryStore()
    sample().to_zarr(inside)
    store = obstore_store.MemoryStore()
    store.put("a/b.nc", (tmp_path / "a.nc").read_bytes())
    for target in (
        memory.get_mapper("/tree.zarr"),
        (memory, "/tree.zarr"),
        (memory, "/a.nc"),
        memory.open("/a.nc"),
        f"simplecache::file://{tmp_path / 'a.nc'}",
        inside,
        io.BytesIO((tmp_path / "a.nc").read_bytes()),
    ):
        with ncirrus.open(target) as found:
            assert same(found), target
    session = ncirrus.Session(stores={"kept": lambda url: store, "paired": lambda url: (store, "a/b.nc")})
    for url in ("kept://anything/a/b.nc", "paired://anything"):
        with ncirrus.open(url, session=session) as found:
            assert same(found), url


def test_datasets_are_written_through_python() -> None:
    memory = fsspec.filesystem("memory")
    with ncirrus.create((memory, "/new/tree.zarr"), "zarr2") as made:
        made.create_dimension("x", 3)
        made.create_variable("v", "f4", ("x",))[...] = [1, 2, 3]
    assert memory.exists("/new/tree.zarr/v/.zarray")
    with ncirrus.open((memory, "/new/tree.zarr")) as found:
        assert found["v"][...].tolist() == [1, 2, 3]


def test_an_address_of_a_bridge_pickles_with_its_store() -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/laws/digits", DIGITS)
    url = stores.BridgedUrl.of(stores.FsspecBridge(memory), "/laws/digits")
    again = pickle.loads(pickle.dumps(url))
    bridge, key = stores.connect(again)
    assert bridge.get(key, 2, 4)[0] == b"23" and again != url


class Broken(stores.Bridge):
    """A store that does what is asked of it wrongly."""

    lists = True

    def __init__(self, wrong: Any) -> None:
        self._wrong = wrong

    def get(self, key: str, start: int | None, stop: int | None) -> Any:
        if isinstance(self._wrong, Exception):
            raise self._wrong
        return self._wrong

    def list(self, prefix: str) -> Any:
        return []


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (RuntimeError("on fire"), "IoError", "on fire"),
        (PermissionError("keep out"), "DeniedError", "keep out"),
        ((b"CDF\x01", 0, 400, "t"), "IoError", "gave 4 bytes"),
        ("nonsense", "IoError", "the store raised"),
    ],
)
def test_a_store_that_fails_is_an_error_with_its_words(wrong: Any, kind: str, words: str) -> None:
    session = ncirrus.Session(stores={"broken": lambda url: Broken(wrong)})
    with pytest.raises(getattr(ncirrus, kind), match=words) as told:
        ncirrus.open("broken://host/a.nc", session=session)
    assert "broken://" in str(told.value)


def test_a_factory_that_gives_no_store_is_an_error() -> None:
    session = ncirrus.Session(stores={"odd": lambda url: 3})
    with pytest.raises(ncirrus.Error, match="which is not a store: 3"):
        ncirrus.open("odd://host/a.nc", session=session)
    with pytest.raises(ncirrus.Error, match="built in"):
        ncirrus.Session(stores={"s3": lambda url: 3})


def test_files_in_memory_are_read_and_made() -> None:
    made = ncirrus.create(None, "nc4")
    made.create_dimension("x", 3)
    made.create_variable("v", "f4", ("x",))[...] = [1, 2, 3]
    body = made.finish_bytes()
    assert bytes(body[:4]) == b"\x89HDF"
    for held in (body, bytes(body), bytearray(body)):
        with ncirrus.open(held) as found:
            assert found["v"][...].tolist() == [1, 2, 3]
            assert pickle.loads(pickle.dumps(found["v"]))[...].tolist() == [1, 2, 3]
    with pytest.raises(ncirrus.Error):
        ncirrus.open(b"neither this nor that")
    with ncirrus.open(bytes(body)) as found, pytest.raises(ncirrus.InvalidError, match="without an address"):
        found.finish_bytes()
