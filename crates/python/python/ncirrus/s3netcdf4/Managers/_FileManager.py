"""Files and objects by their addresses, as S3netCDF4's programs open them.

The library opens datasets itself. This is for programs that list a prefix of a bucket, or read the bytes of an object.
"""

from __future__ import annotations

import fnmatch
import os
from typing import Any
from urllib.parse import urlsplit

import ncirrus
from ncirrus.s3netcdf4 import backends, configuration
from ncirrus.s3netcdf4.exceptions import APIException, IOException


class _Object:
    """An object of a bucket, or a prefix of one: `s3://ALIAS/bucket/key`."""

    def __init__(self, url: str, mode: str) -> None:
        found = configuration.configuration()
        host = found.host(url)
        if host is None:
            alias = "/".join(url.split("/")[:3])
            raise IOException(f"Host {alias} is not present in the user config file: {found.path}", object=url)
        parts = urlsplit(backends.address(url, host))
        self._bucket, _, self._key = parts.path.lstrip("/").partition("/")
        self._address = f"{parts.scheme}://{parts.netloc}/{self._bucket}"
        self._mode, self._position = mode, 0
        if "w" not in mode and not _is_pattern(self._key) and self._key not in self._store() and not self.glob():
            raise FileNotFoundError(f"{url}: there is no such object, and none below it")

    def _store(self, folder: str = "") -> ncirrus.Store:
        return ncirrus.store(f"{self._address}/{folder}".rstrip("/"), session=configuration.session())

    def connect(self) -> bool:
        """Nothing is to be done: requests are sent when they are needed."""
        return True

    def glob(self) -> list[str]:
        """The keys in the bucket that begin with this one or match it, in order."""
        folder = self._key[: _first_special(self._key)].rpartition("/")[0]
        keys = [f"{folder}/{name}" if folder else name for name in self._store(folder)]
        if _is_pattern(self._key):
            return sorted(key for key in keys if fnmatch.fnmatchcase(key, self._key))
        return sorted(key for key in keys if key.startswith(self._key))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Sets where the next read begins."""
        begins = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}
        begin = begins[whence] if whence in begins else self._store().getsize(self._key)
        self._position = max(0, begin + offset)
        return self._position

    def tell(self) -> int:
        """Where the next read begins."""
        return self._position

    def read(self, size: int = -1) -> bytes:
        """That many bytes, or all up to the end."""
        if self._key not in self._store():
            raise FileNotFoundError(f"{self._address}/{self._key}: there is no such object")
        stop = None if size < 0 else self._position + size
        data = self._store()[self._key][self._position : stop]
        self._position += len(data)
        return data

    def write(self, data: Any) -> int:
        """Replaces the object."""
        self._store()[self._key] = data
        return len(data)

    def close(self) -> None:
        """Nothing is left open."""


class FileObject:
    """What `FileManager` returns: a file, an object, or none for a folder and for names with wildcards."""

    async_system = False

    def __init__(self, url: str, mode: str = "r") -> None:
        self._mode = mode
        self.remote_system: bool = "://" in url and not url.startswith("file://")
        self._fh: Any = None
        if self.remote_system:
            self._fh = _Object(url, mode)
            return
        path = url.removeprefix("file://")
        if "w" in mode:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if not (os.path.isdir(path) or _is_pattern(path)):
            self._fh = open(path, mode.replace("b", "") + "b")  # noqa: SIM115

    @property
    def mode(self) -> str:
        """The mode that it was opened with."""
        return self._mode

    @property
    def file_handle(self) -> Any:
        """The file or object."""
        return self._fh

    def _opened(self) -> Any:
        if self._fh is None:
            raise APIException("a folder, or a name with wildcards, has no bytes")
        return self._fh

    def glob(self) -> list[str]:
        """The keys in the bucket that begin with that of the address, or match it. Raises `APIException` for local files."""
        if not isinstance(self._fh, _Object):
            raise APIException("only addresses in buckets are listed", hint="glob.glob lists local files")
        return self._fh.glob()

    def read_from(self, seek_pos: int = 0, nbytes: int = 4) -> bytes:
        """That many bytes from a position on; the next read begins there again."""
        file = self._opened()
        file.seek(seek_pos)
        data = bytes(file.read(nbytes))
        file.seek(seek_pos)
        return data

    def read(self) -> bytes:
        """All bytes from the current position on."""
        return bytes(self._opened().read())

    def close(self, data: Any = None) -> None:
        """Closes it; bytes become those of an object that was opened with `w`."""
        if self._fh is None:
            return
        if data is not None and "w" in self._mode and self.remote_system:
            self._fh.write(data)
        self._fh.close()


class FileManager:
    """Opens files and objects."""

    def __init__(self) -> None:
        self._open_files: dict[str, FileObject] = {}

    @property
    def files(self) -> dict[str, FileObject]:
        """What `request_file` opened, by address."""
        return self._open_files

    def open(self, url: str, mode: str = "r") -> FileObject:
        """A file, an object or a prefix. Raises `FileNotFoundError` if it does not exist, and `IOException` for a host that the
        configuration does not have."""
        return FileObject(os.path.expanduser(url), mode)

    _open = open

    def request_file(self, url: str, size: int = 0, mode: str = "r") -> FileObject:
        """As `open`; an address that was requested before has the same object. The library limits memory itself: `size` is
        ignored."""
        if url not in self._open_files:
            self._open_files[url] = self.open(url, mode)
        return self._open_files[url]

    def free_all_files(self) -> None:
        """Closes what `request_file` opened."""
        for opened in self._open_files.values():
            opened.close()
        self._open_files.clear()


def _first_special(text: str) -> int:
    """Where the first wildcard is, or the end."""
    return min((at for at, letter in enumerate(text) if letter in "*?["), default=len(text))


def _is_pattern(text: str) -> bool:
    return _first_special(text) < len(text)
