"""Checks that definitions can be stored in the classic kinds."""

from __future__ import annotations

from ncirrus._ncirrus import DatasetKind
from ncirrus.errors import UnsupportedError

_HINT = 'choose a kind that supports it: kind="nc5", "nc4" or "nczarr"'
_HINT_BEYOND_CDF5 = 'choose a kind that supports it: kind="nc4" or "nczarr"'


def check_type(kind: DatasetKind, type_name: str, what: str, path: str, url: str) -> None:
    """Refuses types that the kind does not have."""
    if kind.holds(type_name):
        return
    hint = _HINT if DatasetKind.data64_holds(type_name) else _HINT_BEYOND_CDF5
    message = f"{what} of type {type_name}, which kind {kind.name} does not have"
    raise UnsupportedError(message, path=path, object=url, hint=hint)


def check_feature(kind: DatasetKind, what: str, path: str, url: str) -> None:
    """Rejects features that only netCDF-4 has."""
    if kind.has_classic_model:
        message = f"kind {kind.name} has no {what}"
        raise UnsupportedError(message, path=path, object=url, hint=_HINT_BEYOND_CDF5)
