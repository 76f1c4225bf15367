"""What the classic kinds cannot hold: told where it is defined."""

from __future__ import annotations

from ncirrus._ncirrus import format_name
from ncirrus.errors import UnsupportedError

_TYPES = frozenset(["byte", "char", "short", "int", "float", "double"])
_CDF5_TYPES = _TYPES | {"ubyte", "ushort", "uint", "int64", "uint64"}
_HINT = 'choose a richer kind: kind="nc5", "nc4" or "nczarr"'
_HINT_BEYOND_CDF5 = 'choose a richer kind: kind="nc4" or "nczarr"'


def check_type(kind: str, type_name: str, what: str, path: str, url: str) -> None:
    """Refuses types that the kind does not have."""
    if kind == "netCDF-4" or type_name in (_CDF5_TYPES if format_name(kind) == "NETCDF3_64BIT_DATA" else _TYPES):
        return
    hint = _HINT if type_name in _CDF5_TYPES else _HINT_BEYOND_CDF5
    raise UnsupportedError(f"{what} of type {type_name}, which kind {kind} does not have", path=path, object=url, hint=hint)


def check_feature(kind: str, what: str, path: str, url: str) -> None:
    """Refuses what only netCDF-4 has."""
    if kind != "netCDF-4":
        message = f"kind {kind} has no {what}"
        raise UnsupportedError(message, path=path, object=url, hint=_HINT_BEYOND_CDF5)
