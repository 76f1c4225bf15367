"""The objects of a store as a mapping from keys to bytes, as version 2 of zarr-python takes stores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from ncirrus import _ncirrus, processes
from ncirrus.opening import _session
from ncirrus.sessions import Session


def store(
    address: Any,
    *,
    create: bool = False,
    session: Session | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Store:
    """The objects below an address: a folder, a prefix of a bucket, a zip file (read-only) or a folder of a web server.

    With `create` an absent local folder is made. Keys are written and removed one by one, without regard to datasets that
    are open: to change a dataset, use `open` and `create`.

    Raises `NotFoundError` for a local folder that is absent, and `InvalidError` for a single file.
    """
    place = os.fspath(address)
    if create and "://" not in place:
        os.makedirs(place, exist_ok=True)
    return Store(place, _session(session, storage_options))


class Store(MutableMapping[str, bytes]):
    """Keys, and the bytes of their objects. A key that is absent is a `KeyError` in every store."""

    def __init__(self, address: str, session: Session) -> None:
        self.address = address
        self._session = session
        self._generation = processes.generation
        self._native = _ncirrus.ObjectStore.open(address, session._native())

    def _open(self) -> _ncirrus.ObjectStore:
        """The store, opened once in each process: a child of a fork lacks its parent's threads."""
        if self._generation != processes.generation:
            processes.remember(self._native)
            self._native = _ncirrus.ObjectStore.open(self.address, self._session._native())
            self._generation = processes.generation
        return self._native

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.address, self._session)

    def __getitem__(self, key: str) -> bytes:
        found = self._open().get(_checked(key))
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, value: Any) -> None:
        self._open().put(_checked(key), bytes(memoryview(value).cast("B")))

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._open().delete(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and _is_key(key) and self._open().size(key) is not None

    def __iter__(self) -> Iterator[str]:
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            for name, is_prefix in self._open().list(prefix):
                key = f"{prefix}/{name}" if prefix else name
                if is_prefix:
                    waiting.append(key)
                else:
                    yield key

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<ncirrus.Store {self.address!r}>"

    def listdir(self, path: str = "") -> list[str]:
        """The names directly below a prefix, in order: of objects, and of prefixes of others."""
        return sorted({name for name, _ in self._open().list(path.strip("/"))})

    def rmdir(self, path: str = "") -> None:
        """Removes everything below a prefix."""
        prefix = path.strip("/")
        if not prefix:
            self.clear()
            return
        self._open().delete_tree(prefix)

    def clear(self) -> None:
        """Removes everything."""
        for key in list(self):
            self._open().delete(key)

    def getsize(self, key: str = "") -> int:
        """The size of an object in bytes; of a prefix that of all objects directly below it."""
        path = key.strip("/")
        size = self._open().size(path) if _is_key(path) else None
        if size is not None:
            return size
        below = [f"{path}/{name}" if path else name for name, is_prefix in self._open().list(path) if not is_prefix]
        return sum(self._open().size(each) or 0 for each in below)


def _is_key(key: str) -> bool:
    return all(part not in ("", ".", "..") for part in key.split("/"))


def _checked(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key is text, not {type(key).__name__}")
    if not _is_key(key):
        raise KeyError(key)
    return key
