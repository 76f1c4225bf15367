"""Where a dataset is and when it is published: files in memory, new files that `sync` publishes, files that change."""

from __future__ import annotations

import atexit
import re
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ncirrus
from ncirrus._ncirrus import is_reserved_attribute
from ncirrus.errors import Error, NotFoundError
from ncirrus.netCDF4 import failures
from ncirrus.netCDF4.settings import get_alignment, session_at

KINDS = {
    "NETCDF4": "nc4",
    "NETCDF4_CLASSIC": "nc4c",
    "NETCDF3_CLASSIC": "nc3",
    "NETCDF3_64BIT": "nc6",
    "NETCDF3_64BIT_OFFSET": "nc6",
    "NETCDF3_64BIT_DATA": "nc5",
    "NCZARR": "nczarr",
    "ZARR2": "zarr2",
    "ZARR3": "zarr3",
}
# The default modes, with the letter that asks for writes that others see at once.
MODES = {"r": "r", "rs": "r", "w": "w", "ws": "w", "x": "x", "a": "a", "as": "a", "r+": "r+", "r+s": "r+"}
_writing: weakref.WeakSet[Place] = weakref.WeakSet()


# Modes of an address that say what is made there.
_KINDS_IN_ADDRESSES = frozenset({"nczarr", "zarr", "zarr3", "xarray", "noxarray", "netcdf-3", "netcdf-4", "hdf5", "classic"})


def names_its_kind(name: str) -> bool:
    """Whether an address says what a new dataset is (`file://a#mode=nczarr,file`). A path without a scheme does not: what is after a
    `#` is a part of the name."""
    if "://" not in name:
        return False
    before, _, fragment = name.partition("#")
    words = set(re.split(r"[=,&;]", fragment))
    if before.startswith("["):
        words |= set(re.split(r"[\[\]=,&;]", before.partition("://")[0]))
    return not _KINDS_IN_ADDRESSES.isdisjoint(word.strip().lower() for word in words)


class Place:
    """A dataset of the library, which `sync` may replace by another one of the same place."""

    def __init__(self, name: str, words: Mapping[str, Any], session: Mapping[str, Any]) -> None:
        self.name: str = name
        self._session = dict(session)
        if self._session.get("session") is None:
            self._session["session"] = session_at(name)
        self.generation: int = 0
        self.is_closed: bool = False
        # Whether new variables have fill values.
        self.is_filled: bool = True
        self.persists: bool = bool(words["persist"])
        self._is_diskless: bool = bool(words["diskless"])
        self.mode: str = words["mode"]
        memory = words["memory"]
        self._is_in_memory = memory is not None or self._is_diskless
        try:
            self.dataset: ncirrus.Dataset = self._opened(words, memory)
        except Error as error:
            failures.on_opening(error, name)
        kind = self.dataset._known_kind
        self.model: str = kind.data_model
        self.disk_format: str = kind.disk_format
        self.is_hdf5: bool = kind.is_hdf5
        self.is_zarr: bool = "zarr" in self.dataset.format
        if self.mode != "r":
            _writing.add(self)

    def _opened(self, words: Mapping[str, Any], memory: Any) -> ncirrus.Dataset:
        if memory is not None and self.mode == "r":
            try:
                # A view, not a copy: the buffer keeps its length while the file is open.
                body = memory if isinstance(memory, bytes) else memoryview(memory).cast("B")
            except TypeError:
                raise TypeError(f"a bytes-like object is required, not '{type(memory).__name__}'") from None
            return ncirrus.open(body, **self._session)
        if self.mode == "r" and not self._is_diskless:
            return ncirrus.open(self.name, **self._session)
        if self.mode == "r":
            return ncirrus.open(Path(self.name).read_bytes(), **self._session)
        if self.mode in ("a", "r+"):
            try:
                found = ncirrus.open(self.name, "r+", **self._session)
                self.mode, self._is_in_memory = "r+", False
                return found
            except NotFoundError:
                # Both make what is not there.
                pass
        is_exclusive = self.mode == "x" or not words["clobber"]
        self.mode = "w"
        is_default = words["format"] == "NETCDF4" and not self._is_in_memory
        kind = None if is_default and names_its_kind(self.name) else KINDS[words["format"]]
        return self._created(kind, is_exclusive)

    def _created(self, kind: str | None, is_exclusive: bool) -> ncirrus.Dataset:
        words: dict[str, Any] = {**self._session, "default_chunks": "netcdf-c"}
        alignment = get_alignment()[1]
        if alignment > 1 and kind is not None and kind.startswith("nc4"):
            words["align"] = alignment
        if self._is_in_memory:
            return ncirrus.create(None, kind, **words)
        if is_exclusive:
            self._refuse_what_exists()
        self._refuse_where_nothing_can_be()
        return ncirrus.create(self.name, kind, overwrite=not is_exclusive, **words)

    def _refuse_what_exists(self) -> None:
        if "://" not in self.name and Path(self.name).exists():
            raise ncirrus.ConflictError("the target exists", object=self.name)

    def _refuse_where_nothing_can_be(self) -> None:
        """An absent folder is reported at once, and not when the file is closed."""
        folder = Path(self.name).parent
        if "://" not in self.name and "#" not in self.name and not folder.is_dir():
            raise PermissionError(13, "Permission denied", self.name)

    def check_open(self) -> None:
        """Raises `RuntimeError` where the dataset was closed."""
        if self.is_closed:
            raise failures.LibraryError(failures.NOT_AN_ID, object=self.name)

    def check_writable(self) -> None:
        """Raises `RuntimeError` where it cannot be changed."""
        self.check_open()
        if self.mode == "r":
            raise failures.LibraryError(failures.READ_ONLY, object=self.name)

    def is_reserved(self, name: str) -> bool:
        """Whether the format keeps attributes of this name for itself."""
        return self.model.startswith("NETCDF4") and is_reserved_attribute(name, self.is_hdf5)

    def check_enhanced(self) -> None:
        """Raises `RuntimeError` where there are no groups and types, or it cannot be changed."""
        self.check_open()
        if self.model != "NETCDF4":
            is_hdf5 = self.model == "NETCDF4_CLASSIC"
            raise failures.LibraryError(failures.STRICT_CLASSIC if is_hdf5 else failures.CLASSIC, object=self.name)
        self.check_writable()

    def sync(self) -> None:
        """Publishes what was written so far. A new file appears, and is changed in place from then on."""
        self.check_open()
        if self.mode == "r" or self._is_in_memory:
            return
        with failures.as_runtime_error():
            if self.mode == "r+":
                self.dataset.sync()
                return
            self.dataset.close()
            self.dataset = ncirrus.open(self.name, "r+", **self._session)
        self.mode = "r+"
        self.generation += 1

    def close(self) -> memoryview | None:
        """Publishes, and gives the bytes of a new file in memory."""
        self.check_open()
        self.is_closed = True
        _writing.discard(self)
        with failures.as_runtime_error():
            if not self._is_in_memory or self.mode == "r":
                self.dataset.close()
                return None
            body = self.dataset.finish_bytes()
        if self._is_diskless:
            if self.persists:
                Path(self.name).write_bytes(body)
            return None
        return body


@atexit.register
def _close_all() -> None:
    """What is still open for writing when the interpreter ends is published, as netCDF-C does."""
    for place in list(_writing):
        if not place.is_closed:
            place.close()
