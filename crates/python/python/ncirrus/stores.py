"""Stores of others: what fsspec, obstore and zarr call a place becomes an address of ours, or is read through Python.

A filesystem whose options have words here is opened by its address: nothing of it runs in Python then. Every other
store is wrapped in a `Bridge`, which the library calls for ranges of bytes.
"""

from __future__ import annotations

import itertools
import os
import posixpath
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from ncirrus.bridges import Bridge, check_condition, clipped, refuse_tags
from ncirrus.zarr_stores import ZarrBridge

# Options that set how a filesystem works, and not what it reaches.
_HOW = frozenset(
    {
        "asynchronous", "loop", "skip_instance_cache", "use_listings_cache", "listings_expiry_time", "max_paths",
        "default_block_size", "default_fill_cache", "default_cache_type", "cache_regions", "block_size", "cache_type",
        "cache_options", "batch_size", "max_concurrency", "auto_mkdir", "use_ssl", "config_kwargs", "fixed_upload_size",
        "version_aware", "project", "consistency", "access", "cache_timeout", "check_connection", "simple_links",
        "same_scheme", "size_policy",
    }
)  # fmt: skip

# Words of storage options that ours are called by as well.
_S3_WORDS = frozenset(
    {"key", "secret", "token", "anon", "profile", "endpoint_url", "client_kwargs", "requester_pays"}
)
_AZURE_WORDS = frozenset(
    {"account_name", "account_key", "sas_token", "connection_string", "anon", "tenant_id", "client_id", "client_secret"}
)
_GCS_WORDS = frozenset({"token", "anon", "requester_pays", "endpoint_url"})
_HTTP_WORDS = frozenset({"headers", "client_kwargs"})

# Keys of obstore's configurations, and what they are called in storage options.
_OBSTORE_S3 = {
    "access_key_id": "key",
    "secret_access_key": "secret",
    "session_token": "token",
    "token": "token",
    "region": "region",
    "endpoint": "endpoint_url",
    "skip_signature": "anon",
    "request_payer": "requester_pays",
}
_OBSTORE_AZURE = {
    "account_name": "account_name",
    "account_key": "account_key",
    "sas_key": "sas_token",
    "tenant_id": "tenant_id",
    "client_id": "client_id",
    "client_secret": "client_secret",
    "skip_signature": "anon",
}
_OBSTORE_GCS = {"service_account": "token", "service_account_path": "token", "skip_signature": "anon"}


@dataclass(frozen=True)
class Place:
    """Where a dataset is: an address with options, or a path in a store that is read through Python."""

    url: str
    storage_options: dict[str, Any] = field(default_factory=dict)
    bridge: Bridge | None = None


def place_of(target: Any, storage_options: Mapping[str, Any] | None = None) -> Place:
    """What to open for an object that is not an address: a mapper, open file, filesystem with a path (a tuple) of fsspec, a
    store of obstore or zarr, or a binary file.

    Raises `TypeError` for anything else.
    """
    options = dict(storage_options or {})
    if isinstance(target, bytes | bytearray | memoryview):
        return Place(IN_MEMORY, {}, BytesBridge(target))
    module = type(target).__module__.split(".")[0]
    if isinstance(target, str):
        return _of_chained_url(target, options)
    if isinstance(target, tuple) and len(target) == 2 and hasattr(target[0], "cat_ranges"):
        return _of_fsspec(target[0], str(target[1]), options)
    if module == "icechunk" and hasattr(target, "store"):
        # A session, or what holds one.
        target = target.store
    if module == "zarr" or hasattr(target, "supports_consolidated_metadata"):
        return _of_zarr(target, options)
    if hasattr(target, "fs") and hasattr(target, "root"):
        return _of_fsspec(target.fs, target.root, options)
    if hasattr(target, "fs") and hasattr(target, "path") and getattr(target, "compression", None) is None:
        return _of_fsspec(target.fs, target.path, options)
    if module == "obstore" or _is_obstore(target):
        return _of_obstore(target, options)
    if hasattr(target, "open") and hasattr(target, "compression"):
        raise TypeError(f"a file that fsspec decompresses ({target.compression}) cannot be read by ranges: {target!r}")
    if hasattr(target, "read") and hasattr(target, "seek"):
        return Place("file", {}, FileBridge(target))
    raise TypeError(f"no dataset can be opened from {type(target).__name__}: {target!r}")


def _of_chained_url(url: str, options: dict[str, Any]) -> Place:
    """An address that only fsspec knows (`simplecache::s3://...`)."""
    import fsspec

    filesystem, path = fsspec.core.url_to_fs(url, **options)
    return _of_fsspec(filesystem, path, {})


def _of_fsspec(filesystem: Any, path: str, options: dict[str, Any]) -> Place:
    while type(filesystem).__name__ == "DirFileSystem":
        path = posixpath.join(filesystem.path, path) if filesystem.path else path
        filesystem = filesystem.fs
    told = {**_options_of(filesystem), **options}
    protocol = filesystem.protocol
    protocol = protocol if isinstance(protocol, str) else protocol[0]
    found = _address(protocol, str(path), told)
    if found is not None:
        return found
    return Place(str(path), {}, _bridge_to(filesystem, str(path)))


def _bridge_to(filesystem: Any, path: str) -> FsspecBridge:
    return FsspecBridge(filesystem, "/" if path.startswith("/") else "")


def _options_of(filesystem: Any) -> dict[str, Any]:
    told = dict(getattr(filesystem, "storage_options", {}))
    return {word: value for word, value in told.items() if word not in _HOW and value is not None}


def _address(protocol: str, path: str, told: dict[str, Any]) -> Place | None:
    """The address of a path in a filesystem; `None` where an option has no word of ours."""
    if protocol in ("file", "local"):
        return Place(os.path.abspath(path)) if not told else None
    if protocol in ("s3", "s3a"):
        return _s3_address(path, told)
    if protocol in ("gs", "gcs"):
        return _with_words("gs", path, told, _GCS_WORDS)
    if protocol in ("abfs", "az", "abfss"):
        return _with_words("az", path, told, _AZURE_WORDS)
    if protocol in ("http", "https"):
        return Place(path, told) if told.keys() <= _HTTP_WORDS else None
    return None


def _with_words(scheme: str, path: str, told: dict[str, Any], words: frozenset[str]) -> Place | None:
    if not told.keys() <= words or not _are_plain(told):
        return None
    return Place(f"{scheme}://{path.lstrip('/')}", told)


def _s3_address(path: str, told: dict[str, Any]) -> Place | None:
    clients = dict(told.get("client_kwargs") or {})
    if not told.keys() <= _S3_WORDS or not clients.keys() <= {"endpoint_url", "region_name", "verify"}:
        return None
    if clients.get("verify", True) is not True:
        return None
    clients.pop("verify", None)
    told = {word: value for word, value in told.items() if word != "client_kwargs"}
    if clients:
        told["client_kwargs"] = clients
    return Place(f"s3://{path.lstrip('/')}", told)


def _are_plain(told: Mapping[str, Any]) -> bool:
    return all(isinstance(value, str | bool | int) for value in told.values())


def _is_obstore(target: Any) -> bool:
    return any(base.__module__.split(".")[0] == "obstore" for base in type(target).__mro__)


def _of_obstore(store: Any, options: dict[str, Any]) -> Place:
    kind = type(store).__name__
    if kind == "LocalStore" and store.prefix is not None:
        return Place(os.fspath(store.prefix))
    if kind == "HTTPStore" and not getattr(store, "client_options", None):
        return Place(store.url, options)
    words = {"S3Store": _OBSTORE_S3, "AzureStore": _OBSTORE_AZURE, "GCSStore": _OBSTORE_GCS}.get(kind)
    if words is not None and getattr(store, "credential_provider", None) is None:
        found = _of_obstore_config(kind, store, words, options)
        if found is not None:
            return found
    return Place("", {}, ObstoreBridge(store))


def _of_obstore_config(
    kind: str, store: Any, words: Mapping[str, str], options: dict[str, Any]
) -> Place | None:
    config = dict(store.config)
    container = config.pop("bucket", None) or config.pop("container_name", None)
    clients = dict(getattr(store, "client_options", None) or {})
    is_plain_http = str(config.get("endpoint", "")).startswith("http://")
    if clients.pop("allow_http", None) and not is_plain_http:
        return None
    if container is None or clients or not config.keys() <= words.keys():
        return None
    told: dict[str, Any] = {}
    for key, value in config.items():
        if words[key] == "region":
            told.setdefault("client_kwargs", {})["region_name"] = value
        else:
            told[words[key]] = str(value).lower() == "true" if words[key] in ("anon", "requester_pays") else value
    scheme = {"S3Store": "s3", "AzureStore": "az", "GCSStore": "gs"}[kind]
    path = "/".join(part for part in (container, store.prefix or "") if part)
    return Place(f"{scheme}://{path}", {**told, **options})


def _of_zarr(store: Any, options: dict[str, Any]) -> Place:
    kind = type(store).__name__
    if kind == "LocalStore":
        return Place(os.fspath(store.root))
    if kind == "FsspecStore":
        return _of_fsspec(store.fs, store.path, options)
    if kind == "ObjectStore":
        return _of_obstore(store.store, options)
    return Place("", {}, ZarrBridge(store))


_numbers = itertools.count(1)
_living: weakref.WeakValueDictionary[int, Bridge] = weakref.WeakValueDictionary()


class BridgedUrl(str):
    """The address of a dataset in a store that is read through Python. It keeps the store, and takes it along when it
    is pickled."""

    bridge: Bridge

    @classmethod
    def of(cls, bridge: Bridge, path: str) -> BridgedUrl:
        """An address for a path in a bridge."""
        number = next(_numbers)
        _living[number] = bridge
        made = cls(f"python://{number}/{quote(path.lstrip('/'))}")
        made.bridge = bridge
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return (BridgedUrl.of, (self.bridge, _path_of(self)))


def _path_of(url: str) -> str:
    """What comes after the host of an address."""
    path = url.partition("://")[2].partition("/")[2]
    return unquote(path.partition("#")[0])


def connect(url: str) -> tuple[Bridge, str]:
    """The bridge of an address that `BridgedUrl.of` made, and the key in it; the library calls it."""
    number = url.partition("://")[2].partition("/")[0]
    found = _living.get(int(number))
    if found is None:
        raise FileNotFoundError(f"{url}: the Python store of this dataset no longer exists")
    return found, _path_of(url)


def connected(factory: Callable[[str], Any], url: str) -> tuple[Bridge, str]:
    """As `connect`, for a scheme of `Session(stores={scheme: factory})`. The factory gets the address and gives a
    `Bridge`, or a store of fsspec, obstore or zarr; a pair of it and a path is where the dataset is in it, else that is
    what the address says after its host."""
    found, path = factory(url), _path_of(url).strip("/")
    if isinstance(found, tuple):
        found, path = found
    if isinstance(found, Bridge):
        return found, path
    if hasattr(found, "fs") and hasattr(found, "root"):
        path = posixpath.join(str(found.root), path).rstrip("/")
        return _bridge_to(found.fs, path), path.lstrip("/")
    if hasattr(found, "cat_ranges"):
        return _bridge_to(found, path), path.lstrip("/")
    if _is_obstore(found):
        return ObstoreBridge(found), path
    if hasattr(found, "supports_consolidated_metadata"):
        return ZarrBridge(found), path
    raise TypeError(f"the factory of {url} gave {type(found).__name__}, which is not a store: {found!r}")


class FsspecBridge(Bridge):
    """A filesystem of fsspec: `cat_ranges` for bytes, `info` once for sizes."""

    lists = True

    def __init__(self, filesystem: Any, base: str = "") -> None:
        self._filesystem = filesystem
        # The text before keys, which have no leading slash.
        self._base = base
        self._known: dict[str, tuple[int, str]] = {}
        self.writes: bool = not getattr(filesystem, "read_only", False)

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        known = self._info(key)
        if known is None:
            return None
        size, tag = known
        first, last = clipped(start, stop, size)
        if first == last:
            return b"", first, size, tag
        if (first, last) == (0, size):
            found = self._filesystem.cat_file(self._base + key)
        else:
            found = self._filesystem.cat_ranges([self._base + key], [first], [last])[0]
        if isinstance(found, Exception):
            raise found
        return bytes(found), first, size, tag

    def _info(self, key: str) -> tuple[int, str] | None:
        if key not in self._known:
            try:
                info = self._filesystem.info(self._base + key)
            except (FileNotFoundError, NotADirectoryError):
                return None
            if info.get("type") == "directory" or info.get("size") is None:
                return None
            tag = info.get("ETag") or info.get("etag") or info.get("mtime") or info.get("LastModified")
            tag = tag or info.get("created") or info.get("updated") or ""
            self._known[key] = (int(info["size"]), f"{tag}-{info['size']}")
        return self._known[key]

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        try:
            found = self._filesystem.ls(self._base + prefix, detail=True, refresh=True)
        except TypeError:
            found = self._filesystem.ls(self._base + prefix, detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = []
        for entry in found:
            name = str(entry["name"]).rstrip("/").rsplit("/", 1)[-1]
            is_itself = str(entry["name"]).strip("/") == prefix.strip("/")
            if name and not is_itself:
                names.append((name, entry.get("type") == "directory"))
        return names

    def put(self, key: str, body: bytes, tag: str | None, absent: bool) -> str:
        if tag is not None and not self._is_in_memory():
            refuse_tags(self._filesystem)
        # What is in memory belongs to this program, whose writers take turns.
        with _turn if tag is not None or absent else nullcontext():
            self._known.pop(key, None)
            check_condition(self, key, tag, absent)
            parent = key.rsplit("/", 1)[0] if "/" in key else ""
            if parent:
                self._filesystem.makedirs(self._base + parent, exist_ok=True)
            self._filesystem.pipe_file(self._base + key, body)
            self._known.pop(key, None)
            known = self._info(key)
            return known[1] if known is not None else ""

    def _is_in_memory(self) -> bool:
        protocol = self._filesystem.protocol
        return "memory" in ((protocol,) if isinstance(protocol, str) else protocol)

    def delete(self, key: str) -> None:
        self._known.pop(key, None)
        try:
            self._filesystem.rm_file(self._base + key)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return

    def delete_tree(self, prefix: str) -> None:
        self._known = {key: known for key, known in self._known.items() if not key.startswith(prefix)}
        try:
            self._filesystem.rm(self._base + prefix, recursive=True)
        except FileNotFoundError:
            return


# Held between looking at an object and putting it.
_turn = threading.Lock()


class ObstoreBridge(Bridge):
    """A store of obstore."""

    lists = True
    writes = True

    def __init__(self, store: Any) -> None:
        self._store = store

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        import obstore

        options: Any = None
        if start is not None and start < 0:
            options = {"range": {"suffix": -start}}
        elif start is not None and stop is not None and stop > start:
            options = {"range": (start, stop)}
        elif start:
            options = {"range": {"offset": start}}
        try:
            if start is not None and start == stop:
                meta = obstore.head(self._store, key)
                return b"", start, meta["size"], _obstore_tag(meta)
            found = obstore.get(self._store, key, options=options)
        except FileNotFoundError:
            return None
        except Exception:
            meta = self._meta(key)
            if meta is not None and start is not None and start >= meta["size"]:
                return b"", meta["size"], meta["size"], _obstore_tag(meta)
            raise
        first, _ = found.range
        return bytes(found.bytes()), first, found.meta["size"], _obstore_tag(found.meta)

    def _meta(self, key: str) -> Any:
        import obstore

        try:
            return obstore.head(self._store, key)
        except Exception:
            return None

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        import obstore

        found = obstore.list_with_delimiter(self._store, prefix or None)
        names = [(path.rstrip("/").rsplit("/", 1)[-1], True) for path in found["common_prefixes"]]
        return names + [(meta["path"].rsplit("/", 1)[-1], False) for meta in found["objects"]]

    def put(self, key: str, body: bytes, tag: str | None, absent: bool) -> str:
        import obstore

        # A tag that the library makes up may have a version in its second line; no header may have two.
        mode: Any = "create" if absent else {"e_tag": tag.partition("\n")[0]} if tag is not None else "overwrite"
        try:
            found = obstore.put(self._store, key, body, mode=mode, use_multipart=False)
        except Exception as error:
            if type(error).__name__ in ("AlreadyExistsError", "PreconditionError"):
                raise FileExistsError(str(error)) from error
            raise
        return found["e_tag"] or _obstore_tag(obstore.head(self._store, key))

    def delete(self, key: str) -> None:
        import obstore

        try:
            obstore.delete(self._store, key)
        except FileNotFoundError:
            return


def _obstore_tag(meta: Any) -> str:
    return str(meta.get("e_tag") or f"{meta['last_modified']}-{meta['size']}")


# The key of a file that is in memory.
IN_MEMORY = "memory"


class BytesBridge(Bridge):
    """One file in memory, of which ranges are copied when they are read."""

    lists = True

    def __init__(self, body: Any = None) -> None:
        self.writes: bool = body is None
        self._body = None if body is None else memoryview(body).cast("B").toreadonly()
        self._changes = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"writes": self.writes, "_body": None if self._body is None else bytes(self._body), "_changes": 0}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._body is not None:
            self._body = memoryview(self._body)

    def finished(self) -> memoryview:
        """The whole file."""
        if self._body is None:
            raise ValueError("nothing was written into memory")
        return self._body

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        if key != IN_MEMORY or self._body is None:
            return None
        first, last = clipped(start, stop, len(self._body))
        return bytes(self._body[first:last]), first, len(self._body), str(self._changes)

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        return [(IN_MEMORY, False)] if not prefix and self._body is not None else []

    def put(self, key: str, body: bytes, tag: str | None, absent: bool) -> str:
        check_condition(self, key, tag, absent)
        if key != IN_MEMORY:
            raise OSError(f"a file in memory has one object, not {key!r}")
        self._body, self._changes = memoryview(body), self._changes + 1
        return str(self._changes)

    def delete(self, key: str) -> None:
        if key == IN_MEMORY:
            self._body = None


class FileBridge(Bridge):
    """One binary file that can be read and moved in; whatever the key, it is meant."""

    def __init__(self, file: Any) -> None:
        if hasattr(file, "readable") and not file.readable():
            raise TypeError(f"the file cannot be read: {file!r}")
        self._file = file
        self._turn = threading.Lock()
        here = file.tell()
        self._size = int(file.seek(0, os.SEEK_END))
        file.seek(here)

    def __getstate__(self) -> dict[str, Any]:
        return {"_file": self._file, "_size": self._size}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _turn=threading.Lock())

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        if key != "file":
            return None
        first, last = clipped(start, stop, self._size)
        with self._turn:
            here = self._file.tell()
            self._file.seek(first)
            found = _read_fully(self._file.read, last - first)
            self._file.seek(here)
        if len(found) != last - first:
            raise OSError(f"{self._file!r} gave {len(found)} of {last - first} bytes at {first}")
        return found, first, self._size, str(self._size)


def _read_fully(read: Callable[[int], bytes | None], count: int) -> bytes:
    parts = []
    while count > 0:
        part = read(count)
        if not part:
            break
        parts.append(bytes(part))
        count -= len(part)
    return b"".join(parts)
