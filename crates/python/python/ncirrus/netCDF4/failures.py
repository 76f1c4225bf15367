"""Errors as netCDF4-python raises them: its classes, numbers and words, with the fields of `ncirrus.Error`."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn

from ncirrus.errors import Error

NOT_AN_ID = "NetCDF: Not a valid ID"
READ_ONLY = "NetCDF: Write to read only"
# The message of definitions in a classic file that is open for reading.
DATA_MODE = "NetCDF: Operation not allowed in data mode"
NAME_IN_USE = "NetCDF: String match to name in use"
NO_ATTRIBUTE = "NetCDF: Attribute not found"
INVALID = "NetCDF: Invalid argument"
LATE_FILL = "NetCDF: Attempt to define fill value when data already exists."
BAD_TYPE = "NetCDF: Not a valid data type or _FillValue type mismatch"
CLASSIC = "NetCDF: Attempting netcdf-4 operation on netcdf-3 file"
STRICT_CLASSIC = "NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file"


class _Worded(Error):
    """An error whose text is only netCDF's message; its fields contain the place and the reason."""

    def __str__(self) -> str:
        return self.message


class LibraryError(_Worded, RuntimeError):
    """What fails in an open dataset."""

    kind = "library"


class MissingAttributeError(_Worded, AttributeError):
    """An attribute does not exist, or cannot be changed."""

    kind = "attribute"


class OpeningError(Error, OSError):
    """What fails when a file is opened: not netCDF, or damaged."""

    kind = "format"

    def __str__(self) -> str:
        return OSError.__str__(self)


class AbsentFileError(OpeningError, FileNotFoundError):
    """The file does not exist."""

    kind = "not_found"


class DeniedFileError(OpeningError, PermissionError):
    """It is not allowed to read or write there."""

    kind = "denied"


class _AsRuntimeError:
    """A class, not a generator: it is entered for every definition and every write, and takes a third of the time."""

    __slots__ = ("_cls", "_place", "_words")

    def __init__(self, words: str | None, place: str, cls: type[Error] | None) -> None:
        self._words, self._place, self._cls = words, place, cls

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if not isinstance(error, Error) or isinstance(error, (LibraryError, MissingAttributeError)):
            return
        known = self._words or _words(error, self._cls is not None)
        told = f"{known}: {self._place}" if known and self._place else known
        raise worded(self._cls or LibraryError, told or error.message, error) from error


def as_runtime_error(words: str | None = None, place: str = "", cls: type[Error] | None = None) -> _AsRuntimeError:
    """Errors of the library as the `RuntimeError` that programs expect; its words lead where there are some, and what is
    said of the place follows them."""
    return _AsRuntimeError(words, place, cls)


def runtime_error(error: Error, words: str | None = None) -> Error:
    """The `RuntimeError` for an error of the library."""
    return worded(LibraryError, words or error.message, error)


def _words(error: Error, is_attribute: bool) -> str | None:
    """netCDF's message for an invalid name."""
    if not (error.message.startswith('name "') and "is not allowed" in error.message):
        return None
    is_long = len(error.message) > 256 and not is_attribute
    return "NetCDF: NC_MAX_NAME exceeded" if is_long else "NetCDF: Name contains illegal characters"


def worded(cls: type[Error], words: str, error: Error) -> Error:
    """An error of another class and other words, with the fields of one of the library."""
    hint = error.hint if words == error.message else "; ".join(filter(None, (error.message, error.hint)))
    fields = {name: getattr(error, name) for name in ("object", "path", "chunk", "offset", "driver", "retryable")}
    made = cls(words, **fields, hint=hint)
    made.kind = error.kind
    return made


_OPENING: dict[str, tuple[type[OpeningError], int, str]] = {
    "not_found": (AbsentFileError, 2, "No such file or directory"),
    "denied": (DeniedFileError, 13, "Permission denied"),
    "conflict": (OpeningError, -35, "NetCDF: File exists && NC_NOCLOBBER"),
}


def on_opening(error: Error, name: str) -> NoReturn:
    """Raises what `Dataset(name)` raises for an error of the library."""
    cls, number, words = _OPENING.get(error.kind, (OpeningError, -51, "NetCDF: Unknown file format"))
    made = worded(cls, words, error)
    assert isinstance(made, OSError)
    made.errno, made.strerror, made.filename, made.args = number, words, name, (number, words)
    raise made from error
