"""Back ends: classes of programs that read and write the objects of a host of S3netCDF4's configuration.

Such a class derives from `io.BufferedIOBase`. `cls(uri, credentials, mode)` is an object, with the mode `r` or `w`;
`connect()`, if it has one, is called first. It is used by `seek`, `tell`, `read`, `write` and `close`. Its size is the
result of `getsize()`, or the position after `seek(0, 2)`. An absent object raises `FileNotFoundError`. `glob()`, if it
has one, returns the names of all objects that begin with the uri, and `remove()` removes the object.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from typing import Any

from ncirrus.bridges import Bridge, clipped
from ncirrus.s3netcdf4.exceptions import APIException, IOException

_registered: dict[str, type[io.BufferedIOBase]] = {}
# What `s3://ALIAS/bucket/key` is called where the alias has such a back end.
SCHEME = "s3backend"


def register_backend(name: str, cls: type[io.BufferedIOBase]) -> None:
    """Registers a class that reads and writes hosts of the configuration whose `backend` is `name`.

    Raises `APIException` for a class that does not derive from `io.BufferedIOBase`.
    """
    if not isinstance(cls, type) or not issubclass(cls, io.BufferedIOBase):
        raise APIException(f"the backend {name!r} is not a class that derives from io.BufferedIOBase")
    _registered[name] = cls


def registered(name: str) -> type[io.BufferedIOBase] | None:
    """The class of a back end; none where none was registered."""
    return _registered.get(name)


def stores() -> dict[str, Callable[..., Any]]:
    """What sessions reach back ends by."""
    return {SCHEME: _bridge_to} if _registered else {}


def address(name: str, host: dict[str, Any] | None) -> str:
    """The address in the library of one by an alias."""
    if host is None or registered(str(host.get("backend"))) is None:
        return name
    return f"{SCHEME}://{name.partition('://')[2]}"


def _bridge_to(url: str) -> BackendBridge:
    from ncirrus.s3netcdf4.configuration import configuration

    alias = url.partition("://")[2].partition("/")[0]
    host = configuration().host(f"s3://{alias}/")
    cls = registered(str(host.get("backend"))) if host is not None else None
    if host is None or cls is None:
        raise IOException(f"Host s3://{alias} has no registered backend", object=url)
    return BackendBridge(cls, f"s3://{alias}", host)


# States of objects that this process put: sizes alone do not tell two of them apart.
_states = itertools.count(1)
_put: dict[str, int] = {}


class BackendBridge(Bridge):
    """A host that is read and written through a class of a program."""

    writes = True
    lists: bool

    def __init__(self, cls: type[io.BufferedIOBase], alias: str, host: dict[str, Any]) -> None:
        self._cls, self._alias = cls, alias
        self._credentials = dict(host.get("credentials") or {}) | {"url": host.get("url")}
        self.lists = hasattr(cls, "glob")

    def _opened(self, key: str, mode: str) -> Any:
        make: Any = self._cls
        file = make(f"{self._alias}/{key}", self._credentials, mode)
        if hasattr(file, "connect"):
            file.connect()
        return file

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        try:
            file = self._opened(key, "r")
        except FileNotFoundError:
            return None
        try:
            size = int(file.getsize()) if hasattr(file, "getsize") else int(file.seek(0, io.SEEK_END))
            first, past = clipped(start, stop, size)
            file.seek(first)
            parts, left = [], past - first
            while left > 0:
                part = bytes(file.read(left))
                if not part:
                    raise IOException(f"{self._cls.__name__} gave {past - first - left} of {past - first} bytes", object=key)
                parts.append(part[:left])
                left -= len(parts[-1])
        except FileNotFoundError:
            return None
        finally:
            file.close()
        return b"".join(parts), first, size, f"{size}-{_put.get(f'{self._alias}/{key}', 0)}"

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        file: Any = self._opened(prefix, "r")
        found: dict[str, bool] = {}
        for name in file.glob():
            inside = str(name).partition("://")[2].partition("/")[2] if "://" in str(name) else str(name).lstrip("/")
            rest = inside.removeprefix(prefix).lstrip("/")
            first, slash, _ = rest.partition("/")
            if first:
                found[first] = found.get(first, False) or bool(slash)
        file.close()
        return list(found.items())

    def put(self, key: str, body: bytes, tag: str | None, absent: bool) -> str:
        if tag is not None or absent:
            found = self.get(key, 0, 0)
            if (absent and found is not None) or (tag is not None and (found is None or found[3] != tag)):
                raise FileExistsError(f"{key}: the object was changed")
        file = self._opened(key, "w")
        try:
            file.write(body)
        finally:
            file.close()
        _put[f"{self._alias}/{key}"] = next(_states)
        return f"{len(body)}-{_put[f'{self._alias}/{key}']}"

    def delete(self, key: str) -> None:
        if hasattr(self._cls, "remove"):
            try:
                file: Any = self._opened(key, "r")
                file.remove()
                file.close()
            except FileNotFoundError:
                return
