"""The exceptions of S3netCDF4. They derive from `Exception`, and have the fields and hints of `ncirrus.Error`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ncirrus.errors import Error
from ncirrus.netCDF4.failures import worded


class IOException(Error, OSError):
    """A file, a host or the configuration cannot be used."""

    kind = "io"

    def __str__(self) -> str:
        return Error.__str__(self)


class MemoryException(Error, MemoryError):
    """More memory is needed than is allotted."""

    kind = "limit"


class APIException(Error, ValueError):
    """The call does not accept an argument."""

    kind = "invalid"


class CFAError(Error):
    """What is wrong with an aggregation."""

    kind = "invalid"


class CFAGroupError(CFAError):
    """What is wrong with a group."""


class CFADimensionError(CFAError):
    """What is wrong with a dimension."""


class CFAVariableError(CFAError):
    """What is wrong with a variable."""


class CFAVariableIndexError(CFAError, IndexError):
    """An index of a variable that is invalid or out of range."""


class CFAPartitionError(CFAError):
    """What is wrong with a partition."""


class CFAPartitionIndexError(CFAError, IndexError):
    """An index of a partition that is out of range."""


class CFASubArrayError(CFAError, ValueError):
    """A shape or size of sub-arrays that does not fit."""


class CFAParserError(CFAError):
    """A master that describes its sub-arrays in a way that cannot be understood."""


_installed: list[bool] = []


def runs_as_s3netcdf4() -> bool:
    """Whether programs of S3netCDF4 run unchanged: after `install()`."""
    return bool(_installed)


@contextmanager
def raised_as(cls: type[Error], words: str | None = None) -> Iterator[None]:
    """Errors of the library as another class; its words lead where there are some."""
    try:
        yield
    except cls:
        raise
    except Error as error:
        raise worded(cls, words or error.message, error) from error
