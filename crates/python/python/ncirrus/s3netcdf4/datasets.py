"""Datasets and groups as S3netCDF4's: those of netCDF4-python, with variables that are stored in sub-arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import ncirrus
from ncirrus.errors import Error
from ncirrus.netCDF4 import failures
from ncirrus.netCDF4.creating import KEYWORDS
from ncirrus.netCDF4.groups import Dataset, Group, _Members
from ncirrus.netCDF4.places import KINDS, MODES, Place
from ncirrus.netCDF4.dimension import Dimension
from ncirrus.s3netcdf4 import backends, configuration
from ncirrus.s3netcdf4.exceptions import APIException, CFADimensionError, IOException
from ncirrus.s3netcdf4.places import AggregationPlace, is_aggregation
from ncirrus.s3netcdf4.variables import _AXES, s3Dimension, s3Variable
from ncirrus.s3netcdf4.views import CFADataset, CFAGroup

# The convention of each version.
_VERSIONS = {"0.4": "cfa-0.4", "0.5": "cfa-0.5", "0.6": "cfa-0.6", "cf-1.13": "cf-1.13"}
_MASTERS = {"DEFAULT": "nc4", "CFA4": "nc4", "CFA3": "nc3"}


class _Getter:
    """A member by its name: called, or indexed."""

    __slots__ = ("_members", "_sort")

    def __init__(self, members: Mapping[str, Any], sort: str) -> None:
        self._members, self._sort = members, sort

    def __call__(self, name: str) -> Any:
        if name not in self._members:
            raise KeyError(f"there is no {self._sort} {name!r}")
        return self._members[name]

    __getitem__ = __call__


class _S3Members(_Members):
    """What datasets and groups have in common."""

    __slots__ = ()
    _Dimension = s3Dimension
    _Variable = s3Variable

    @classmethod
    def _sort_of_groups(cls) -> type[Group]:
        return s3Group

    @property
    def getVariable(self) -> _Getter:
        """A variable of this group: `getVariable(name)` or `getVariable[name]`."""
        return _Getter(self.variables, "variable")

    @property
    def getDimension(self) -> _Getter:
        """A dimension of this group: `getDimension(name)` or `getDimension[name]`."""
        return _Getter(self.dimensions, "dimension")

    @property
    def getGroup(self) -> _Getter:
        """A group below this one: `getGroup(name)` or `getGroup[name]`."""
        return _Getter(self.groups, "group")

    def createDimension(
        self,
        dimname: str,
        size: int | Dimension | None = None,
        axis_type: str = "U",
        metadata: Mapping[str, Any] = {},  # noqa: B006
    ) -> s3Dimension:
        """Creates a dimension; without a size it is unlimited. `axis_type` is one of `T Z Y X N`, or `U` if it follows
        from the coordinate variable or the name; `metadata` are attributes of the coordinate variable."""
        if axis_type not in _AXES:
            raise CFADimensionError(f"axis_type={axis_type!r} is not one of {', '.join(_AXES)}", path=dimname)
        length = len(size) if isinstance(size, Dimension) else size
        made = s3Dimension(self, dimname, length, axis_type, metadata)
        self.dimensions[dimname] = made
        return made

    def createVariable(
        self,
        varname: str,
        datatype: Any,
        dimensions: Any = (),
        compression: str | None = None,
        zlib: bool = False,
        complevel: int | None = 4,
        shuffle: bool = True,
        szip_coding: str = "nn",
        szip_pixels_per_block: int = 8,
        blosc_shuffle: int = 1,
        fletcher32: bool = False,
        contiguous: bool = False,
        chunksizes: Sequence[int] | None = None,
        endian: str = "native",
        least_significant_digit: int | None = None,
        significant_digits: int | None = None,
        quantize_mode: str = "BitGroom",
        fill_value: Any = None,
        chunk_cache: int | None = None,
        subarray_shape: Any = None,
        max_subarray_size: Any = 0,
        *,
        shards: Sequence[int] | Literal["auto"] | None = None,
    ) -> s3Variable:
        """Creates a variable. In a CFA dataset a variable with dimensions is stored in sub-arrays, unless it is the coordinate
        of one of them. Sub-arrays have the shape `subarray_shape`, else at most `max_subarray_size` bytes; the default, 0, is
        50 MiB (52428800 bytes)."""
        words: dict[str, Any] = {word: value for word, value in locals().items() if word in KEYWORDS}
        *above, name = (part for part in str(varname).strip("/").split("/") if part != ".")
        group = self.createGroup("/".join(above)) if above else self
        names = (dimensions,) if isinstance(dimensions, (str, bytes, Dimension)) else tuple(dimensions)
        made = s3Variable(group, name, datatype, names, subarray_shape, max_subarray_size, **words)
        group.variables[name] = made
        return made


class s3Dataset(_S3Members, Dataset):
    """A file, or an aggregation: a master and its sub-arrays.

    `format` of a new one is `DEFAULT` or `CFA4` (a netCDF-4 master), `CFA3` (a netCDF-3 one), or one of netCDF4-python's
    for a plain file; `cfa_version` is `0.4`, `0.5`, `0.6` or `cf-1.13`. Besides `session` and `storage_options`,
    `subarray_path` is the folder or prefix of the sub-arrays, and `like_s3netcdf4` selects the behaviour of S3netCDF4.
    """

    __slots__ = ()

    def __init__(
        self,
        filename: Any,
        mode: str = "r",
        clobber: bool = True,
        format: str = "DEFAULT",
        diskless: bool = False,
        persist: bool = False,
        keepweakref: bool = False,
        memory: Any = None,
        cfa_version: str | None = None,
        **kwargs: Any,
    ) -> None:
        if mode not in MODES:
            raise APIException(f"Mode '{mode}' not supported.", hint=f"one of {', '.join(MODES)}")
        convention = _convention(format, cfa_version, mode)
        name = os.fsdecode(filename) if isinstance(filename, (bytes, os.PathLike)) else str(filename)
        name = os.path.expanduser(name)
        session = {word: kwargs[word] for word in ("session", "storage_options") if kwargs.get(word) is not None}
        own = bool(session)
        found = configuration.configuration()
        session.setdefault("session", configuration.session())
        words = {"mode": MODES[mode], "clobber": clobber, "diskless": diskless, "persist": persist, "memory": memory}
        parts = kwargs.get("subarray_path")
        parts = None if parts is None else backends.address(os.fspath(parts), found.host(os.fspath(parts)))
        name = backends.address(name, found.host(name))
        how = {"kind": _MASTERS.get(format), "convention": convention, "fragments": parts}
        is_like = bool(kwargs.get("like_s3netcdf4", False))
        is_strange = name.startswith("s3://") and found.host(name) is None and not own
        place = _told_of_host(found, name, lambda: _place(name, words, session, how, (format, is_strange)))
        place.is_like_s3netcdf4 = is_like
        self._fill(place, None, place.dataset, bool(keepweakref), bool(kwargs.get("auto_complex", False)))

    @property
    def _cfa_dataset(self) -> CFADataset:
        return CFADataset(self)

    @property
    def _cfa_grp(self) -> CFAGroup:
        return CFAGroup(self)


class s3Group(_S3Members, Group):
    """A group below another one."""

    __slots__ = ()

    @property
    def _cfa_grp(self) -> CFAGroup:
        return CFAGroup(self)


def _convention(format: str, version: str | None, mode: str) -> str | None:
    """The convention of a new dataset; none for a plain file."""
    if format not in _MASTERS and format not in KINDS:
        known = ", ".join([*_MASTERS, *KINDS])
        raise APIException(f"format {format!r} is not supported", hint=f"one of {known}")
    if version is not None and version not in _VERSIONS:
        raise APIException(f"Unsupported CFA version ({version}).", hint=f"one of {', '.join(_VERSIONS)}")
    is_netcdf3 = format == "CFA3" or format.startswith("NETCDF3")
    if version == "0.5" and is_netcdf3 and mode not in ("r", "rs"):
        message = f"CFA version 0.5 needs groups and strings, which {format} has not"
        raise APIException(message, hint='cfa_version="0.4" has a form in netCDF-3')
    if format not in _MASTERS:
        return None
    return _VERSIONS[version or ("0.4" if is_netcdf3 else "0.5")]


def _place(name: str, words: dict[str, Any], session: Any, how: dict[str, Any], told: tuple[str, bool]) -> Any:
    """The location of the dataset. Reading it shows whether it is an aggregation."""
    format, is_strange = told
    if is_strange and words["mode"] in ("w", "x"):
        # A host that cannot be reached is reported before anything is written.
        try:
            ncirrus.open(name, **session).close()
        except FileNotFoundError:
            pass
    is_cfa = how["convention"] is not None
    if words["mode"] in ("a", "r+") and words["memory"] is None:
        try:
            is_cfa = is_aggregation(name, session)
        except FileNotFoundError:
            if words["mode"] == "r+":
                _raise_absent(name)
    is_plain = words["mode"] == "r" or words["memory"] is not None or not is_cfa
    if is_plain:
        return _PlainPlace(name, {**words, "format": format if format in KINDS else "NETCDF4"}, session)
    how = {key: value for key, value in how.items() if value is not None}
    return AggregationPlace(name, words, session, how)


class _PlainPlace(Place):
    """A file without sub-arrays, or an aggregation that is read."""

    is_like_s3netcdf4 = False


def _raise_absent(name: str) -> None:
    failures.on_opening(_absent(name), name)


def _absent(name: str) -> Error:
    from ncirrus.errors import NotFoundError

    return NotFoundError("the dataset does not exist", object=name)


def _told_of_host(found: configuration.Configuration, name: str, make: Callable[[], Any]) -> Any:
    """Makes a place; what fails on a host that the configuration does not have is said to."""
    try:
        return make()
    except (APIException, IOException):
        raise
    except Error as error:
        is_alias = name.startswith("s3://") and found.host(name) is None
        if is_alias and (error.kind in ("not_found", "invalid", "denied", "io") or isinstance(error, OSError)):
            host = "/".join(name.split("/")[:3])
            message = f"Host {host} is not present in the user config file: {found.path}"
            raise IOException(message, object=name, hint=f"{error.message}; {error.hint or ''}".rstrip("; ")) from error
        if isinstance(error, failures.OpeningError) and error.args[:1] == (-51,):
            raise IOException(f"File: {name} is not a netCDF file", object=name, hint=error.hint) from error
        raise
