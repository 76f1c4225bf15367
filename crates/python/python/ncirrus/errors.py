"""Errors: one class for each kind, which are also the built-in exceptions that fit."""

from __future__ import annotations

import builtins
import errno
import os
import sys
import warnings
from typing import Any


class NcirrusWarning(UserWarning):
    """Something was repaired or left out when a dataset was opened or read."""


class MissingDataWarning(NcirrusWarning):
    """Data are missing and were replaced by fill values."""


class Error(Exception):
    """An error of the library: the kind of failure, and its place."""

    kind: str = "error"
    message: str
    object: str | None
    path: str | None
    chunk: tuple[int, ...] | None
    offset: int | None
    driver: str | None
    retryable: bool
    hint: str | None

    def __init__(
        self,
        message: str,
        *,
        object: str | None = None,
        path: str | None = None,
        chunk: tuple[int, ...] | None = None,
        offset: int | None = None,
        driver: str | None = None,
        retryable: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.object, self.path, self.chunk = message, object, path, chunk
        self.offset, self.driver, self.retryable, self.hint = offset, driver, retryable, hint
        number = _NUMBERS.get(self.kind)
        if number is not None and isinstance(self, OSError):
            _name(self, number, object)
        if hint is not None and hasattr(self, "add_note"):
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        places = [self.path] if self.path else []
        if self.chunk is not None:
            places.append(f"chunk {list(self.chunk)}")
        if self.object:
            places.append(f"in {self.object}")
        if self.offset is not None:
            places.append(f"at byte {self.offset}")
        return f"{self.message} ({', '.join(places)})" if places else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        words = ("object", "path", "chunk", "offset", "driver", "retryable", "hint")
        return _remade, (type(self), self.message, {word: getattr(self, word) for word in words})


class NotFoundError(Error, FileNotFoundError):
    """The object does not exist."""

    kind = "not_found"


class MemberNotFoundError(Error, KeyError):
    """A group, dimension, type, variable or attribute does not exist in the dataset."""

    kind = "not_found"


class DeniedError(Error, PermissionError):
    """Access was denied."""

    kind = "denied"


class IoError(Error, OSError):
    """Input or output failed."""

    kind = "io"


class MalformedError(Error, ValueError):
    """Data are damaged, or of another format than expected."""

    kind = "malformed"


class UnsupportedError(Error, NotImplementedError):
    """The feature is not supported."""

    kind = "unsupported"


class LimitError(Error, ValueError):
    """A limit on bytes, depth or counts was reached."""

    kind = "limit"


class ChangedError(Error, OSError):
    """An object was changed by another program."""

    kind = "changed"


class ConflictError(Error, FileExistsError):
    """The target exists, or another writer was faster."""

    kind = "conflict"


class MissingError(Error, LookupError):
    """Data are missing, and missing data were declared an error."""

    kind = "missing"


class InvalidError(Error, ValueError):
    """An argument is wrong."""

    kind = "invalid"


class InterruptedError(Error, builtins.InterruptedError):
    """A wait was ended by the program."""

    kind = "interrupted"


class InternalError(Error, RuntimeError):
    """A fault in the library."""

    kind = "internal"


_NUMBERS = {"not_found": errno.ENOENT, "denied": errno.EACCES, "io": errno.EIO, "conflict": errno.EEXIST}

_CLASSES: dict[str, type[Error]] = {
    "not_found": NotFoundError,
    "denied": DeniedError,
    "io": IoError,
    "malformed": MalformedError,
    "unsupported": UnsupportedError,
    "limit": LimitError,
    "changed": ChangedError,
    "conflict": ConflictError,
    "missing": MissingError,
    "invalid": InvalidError,
    "internal": InternalError,
    "interrupted": InterruptedError,
}

# Hints for specific errors.
_DETAIL_HINTS = {
    "is_source": "choose a target other than the source",
    "joined_by_aggregation": "ncirrus.aggregate joins files whose chunks, packing or units differ",
    "not_replaced": 'overwrite="any" replaces any dataset that is not being read',
    "exists": "choose another target, or pass overwrite=True",
    "no_variable": "list(ds) has the names of variables and groups",
    "no_group": "list(ds) has the names of variables and groups",
    "no_dimension": "list(group.dims) has the names of dimensions; create_dimension adds one",
    "no_attribute": "list(x.attrs) has the names of attributes",
    "read_only_protocol": "write to a path, s3://, gs:// or az://; #mode=s3 marks a server with an S3 interface",
    "beyond_classic": 'choose a kind that supports it: kind="nc5", "nc4" or "nczarr"',
    "unknown_codec": "ncirrus.filters() lists the available filters; HDF5_PLUGIN_PATH sets the plugin directories",
    "unusable_codec": 'use other filters, such as filters="zstd", or none',
    "reserved_name": "rename_reserved=True of `ncirrus.copy` renames it in the copy",
    "beyond_header": 'store it as a variable, or choose kind="nczarr"',
    "no_listings": "give the address of the dataset itself; buckets can be listed by s3://, gs:// or az://",
    "unknown_scheme": "known schemes: file, http, https, s3, gs, gs3, az, abfs",
    "found_page": "this is the address of a web page; use the address of the data",
    "found_directory": "ncirrus.ls(url, recursive=True) lists the datasets in it",
    "unreachable": "check the address and the network",
}

# Hints for kinds of errors.
_KIND_HINTS = {
    "not_found": "check the path; a URL needs its scheme, such as s3:// or https://",
    "denied": "check the permissions; ncirrus.whoami(url) shows which credentials are used",
    "malformed": "the file may be truncated, or its format may differ from what its name suggests",
    "limit": "Session(memory=...) raises the limit; such a size is often a sign of a damaged file",
    "changed": "another program wrote to it; open it again when that has finished",
    "internal": "this is a bug in ncirrus: please report it with the code that caused it",
}


def of_native(
    *,
    kind: str,
    message: str,
    object: str | None,
    path: str | None,
    chunk: list[int] | None,
    offset: int | None,
    driver: str | None,
    retryable: bool,
    detail: str | None,
) -> Error:
    """The exception of an error of the library."""
    of_member = kind == "not_found" and detail is not None and detail.startswith("no_")
    hint = _DETAIL_HINTS.get(detail) if detail is not None else None
    if hint is None and detail != "found_empty_directory" and not of_member:
        hint = _KIND_HINTS.get(kind)
    return (MemberNotFoundError if of_member else _CLASSES[kind])(
        message,
        object=object,
        path=path,
        chunk=None if chunk is None else tuple(chunk),
        offset=offset,
        driver=driver,
        retryable=retryable,
        hint=hint,
    )


def warn_of_filled(url: str, text: str) -> None:
    """Warns at the reading line that missing data were filled in."""
    message = f"{url}: {text}"
    if sys.version_info >= (3, 12):
        warnings.warn(message, MissingDataWarning, skip_file_prefixes=(os.path.dirname(__file__),))
    else:
        warnings.warn(message, MissingDataWarning, stacklevel=3)


def _name(error: OSError, number: int, filename: str | None) -> None:
    """Says what the system would."""
    error.errno, error.filename = number, filename


def _remade(made: type[Error], message: str, words: dict[str, Any]) -> Error:
    return made(message, **words)
