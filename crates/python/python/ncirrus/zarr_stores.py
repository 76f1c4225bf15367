"""Stores of zarr as stores of the library."""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from ncirrus.bridges import Bridge, check_condition, clipped, refuse_tags


class ZarrBridge(Bridge):
    """A store of zarr (`zarr.abc.store.Store`), such as Icechunk's.

    These stores have no conditional puts: one program at a time may write, and sees its own changes only, or all of them at once
    (`isolated`). Some refuse every key that is not one of Zarr, and chunks of arrays that are not described yet, or not as long yet:
    what is refused is kept aside until the documents are put that it needs.
    """

    lists = True
    isolated = True

    def __init__(self, store: Any) -> None:
        self._store = store
        self._sizes: dict[str, int] = {}
        self._aside = Aside()
        # Held while a document is put, and while an object is kept aside because one is missing.
        self._documents = threading.Lock()
        self.writes: bool = bool(getattr(store, "supports_writes", False)) and not getattr(store, "read_only", True)
        if hasattr(store, "_ensure_open"):
            _synchronous(store._ensure_open())

    def __getstate__(self) -> dict[str, Any]:
        return {"_store": self._store, "_sizes": {}, "writes": self.writes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _aside=Aside(), _documents=threading.Lock())

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        body = self._aside.get(key)
        if body is not None:
            first, last = clipped(start, stop, len(body))
            return body[first:last], first, len(body), str(len(body))
        try:
            return self._found(key, start, stop)
        except Exception:
            if not self._refuses(key):
                raise
            return None

    def _refuses(self, key: str) -> bool:
        """Whether a store that raised an error for a key does so because it is not a name that it knows: there is no such object
        then. Some know those of Zarr v3 only."""
        if not is_key_of_zarr(key):
            return True
        if key.rsplit("/", 1)[-1] == "zarr.json" or "c" in key.split("/"):
            return False
        try:
            _synchronous(self._store.exists("zarr.json"))
        except Exception:
            return False
        return True

    def _found(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        from zarr.abc.store import RangeByteRequest

        if start is None:
            whole = self._bytes(key)
            if whole is None:
                return None
            self._sizes[key] = len(whole)
            return whole, 0, len(whole), str(len(whole))
        size = self._sizes.get(key)
        if size is None:
            size = self._size(key)
        if size is None:
            return None
        first, last = clipped(start, stop, size)
        if first == last:
            return b"", first, size, str(size)
        found = self._bytes(key, RangeByteRequest(first, last))
        return None if found is None else (found, first, size, str(size))

    def _bytes(self, key: str, wanted: Any = None) -> bytes | None:
        from zarr.core.buffer import default_buffer_prototype

        found = _synchronous(self._store.get(key, default_buffer_prototype(), wanted))
        return None if found is None else found.to_bytes()

    def _size(self, key: str) -> int | None:
        try:
            self._sizes[key] = int(_synchronous(self._store.getsize(key)))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        return self._sizes[key]

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        async def names() -> list[str]:
            return [name async for name in self._store.list_dir(prefix)]

        found = {name.rstrip("/"): None for name in _synchronous(names())}
        return [(name, self._is_prefix(f"{prefix}/{name}" if prefix else name)) for name in found]

    def _is_prefix(self, key: str) -> bool:
        if key.rsplit("/", 1)[-1] in _DOCUMENTS:
            return False
        try:
            return not _synchronous(self._store.exists(key))
        except Exception:
            # The store refuses the key: it is that of a group or an array.
            return True

    def put(self, key: str, body: bytes, tag: str | None, absent: bool) -> str:
        if tag is not None:
            refuse_tags(self._store)
        check_condition(self, key, None, absent)
        if key.rsplit("/", 1)[-1] in _DOCUMENTS:
            with self._documents:
                if self._put_or_keep(key, body):
                    self._put_what_waited(key)
            return str(len(body))
        try:
            self._set(key, body)
            self._aside.drop(key)
        except Exception:
            # Another thread may have put the document since the store refused the object. Until the object is kept, no
            # document may be put: nothing would put the object afterwards.
            with self._documents:
                self._put_or_keep(key, body, is_refused=self._lacks_documents(key))
        return str(len(body))

    def _put_or_keep(self, key: str, body: bytes, is_refused: bool = False) -> bool:
        """Puts an object, or keeps it aside if the store refuses it because documents are missing. Returns whether it was
        put."""
        try:
            if not is_refused:
                self._set(key, body)
                self._aside.drop(key)
                return True
        except Exception:
            if not self._lacks_documents(key):
                raise
        self._aside.put(key, body)
        return False

    def _set(self, key: str, body: bytes) -> None:
        from zarr.core.buffer import default_buffer_prototype

        self._sizes.pop(key, None)
        _synchronous(self._store.set(key, default_buffer_prototype().buffer.from_bytes(body)))

    def _lacks_documents(self, key: str) -> bool:
        """Whether the store refuses an object because a document is not put yet: of a group around it, or of its array, which may
        be shorter than it will be."""
        path, _, name = key.rpartition("/")
        if name in _DOCUMENTS:
            above = path.rpartition("/")[0] if path else None
            return above is not None and any(self._document(folder) is None for folder in _folders(above))
        found = _CHUNK.fullmatch(key)
        if found is None:
            return False
        array = self._document(found["array"])
        return array is None or _is_behind(array, found["chunk"])

    def _document(self, path: str) -> dict[str, Any] | None:
        """What describes a group or array in the store."""
        for name in ("zarr.json", ".zarray", ".zgroup"):
            key = f"{path}/{name}" if path else name
            try:
                body = None if self._aside.has(key) else self._bytes(key)
            except Exception:
                if not self._refuses(key):
                    raise
                continue
            if body is not None:
                return dict(json.loads(body))
        return None

    def _put_what_waited(self, document: str) -> None:
        folder = document.rpartition("/")[0]
        for key in self._aside.below(folder):
            body = self._aside.get(key)
            if body is None or self._lacks_documents(key):
                continue
            self._set(key, body)
            self._aside.drop(key)
            if key.rsplit("/", 1)[-1] in _DOCUMENTS:
                self._put_what_waited(key)

    def delete(self, key: str) -> None:
        self._sizes.pop(key, None)
        self._aside.drop(key)
        try:
            _synchronous(self._store.delete(key))
        except Exception:
            if not self._refuses(key):
                raise

    def delete_tree(self, prefix: str) -> None:
        for key in self._aside.below(prefix):
            self._aside.drop(key)
        self._sizes = {key: size for key, size in self._sizes.items() if not _is_below(key, prefix)}
        if hasattr(self._store, "delete_dir"):
            _synchronous(self._store.delete_dir(prefix))
        else:
            super().delete_tree(prefix)


def _synchronous(work: Any) -> Any:
    from zarr.core.sync import sync

    return sync(work)


# Names of Zarr's documents, and keys of its chunks.
_DOCUMENTS = frozenset({"zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata"})
_CHUNK = re.compile(r"(?:(?P<array>.+?)/)?(?P<chunk>c(?:[/.]\d+)*|\d+(?:[/.]\d+)*)")


def is_key_of_zarr(key: str) -> bool:
    """Whether Zarr gives an object that name: a document's, or a chunk's."""
    return key.rsplit("/", 1)[-1] in _DOCUMENTS or _CHUNK.fullmatch(key) is not None


def _folders(path: str) -> Iterator[str]:
    """The root, and all folders from it to a path."""
    yield ""
    parts = path.split("/") if path else []
    for count in range(len(parts)):
        yield "/".join(parts[: count + 1])


def _is_below(key: str, prefix: str) -> bool:
    return not prefix or key == prefix or key.startswith(f"{prefix}/")


def _is_behind(array: Mapping[str, Any], chunk: str) -> bool:
    """Whether a chunk is behind the end of an array, as it is described."""
    shape = array.get("shape") or []
    grid = array.get("chunk_grid") or {}
    lengths = array.get("chunks") or (grid.get("configuration") or {}).get("chunk_shape") or []
    at = [int(number) for number in re.findall(r"\d+", chunk)]
    if len(at) != len(shape) or len(lengths) != len(shape) or not all(isinstance(each, int) for each in lengths):
        return False
    return any(index * length >= end for index, length, end in zip(at, lengths, shape))


class Aside:
    """Objects that a store does not take yet, in a file without a name."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._file: Any = None
        self._places: dict[str, tuple[int, int]] = {}

    def put(self, key: str, body: bytes) -> None:
        """Keeps an object."""
        with self._turn:
            if self._file is None:
                self._file = tempfile.SpooledTemporaryFile(_MEMORY)  # noqa: SIM115
            start = self._file.seek(0, os.SEEK_END)
            self._file.write(body)
            self._places[key] = (int(start), len(body))

    def get(self, key: str) -> bytes | None:
        """An object that is kept."""
        if not self._places:
            return None
        with self._turn:
            place = self._places.get(key)
            if place is None:
                return None
            self._file.seek(place[0])
            return bytes(self._file.read(place[1]))

    def has(self, key: str) -> bool:
        """Whether an object is kept."""
        return key in self._places

    def below(self, folder: str) -> list[str]:
        """Keys of what is kept below a folder, documents first, and those of groups before what is in them."""
        with self._turn:
            found = [key for key in self._places if _is_below(key, folder)]
        return sorted(found, key=lambda key: (key.rsplit("/", 1)[-1] not in _DOCUMENTS, key.count("/"), key))

    def drop(self, key: str) -> None:
        """Forgets an object; when none is left, its bytes, too."""
        with self._turn:
            self._places.pop(key, None)
            if not self._places and self._file is not None:
                self._file.close()
                self._file = None


# How much of what a store does not take yet is kept in memory.
_MEMORY = 64 * 2**20
