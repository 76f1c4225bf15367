"""Filters: every form that the library knows, and objects of others that describe themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ncirrus._ncirrus import parse_filters
from ncirrus.errors import InvalidError


def filters_of(given: Any) -> list[dict[str, Any]] | None:
    """Codecs in the order of encoding, as the extension module takes them; none where the format is to choose."""
    if given is None:
        return None
    if isinstance(given, (str, Mapping)) or _is_hdf5(given) or not isinstance(given, (list, tuple)):
        given = [given]
    found: list[dict[str, Any]] = []
    for item in given:
        found.extend(_codecs(item))
    return found


_NUMBERS = {
    1: "deflate",
    2: "shuffle",
    3: "fletcher32",
    4: "szip",
    5: "nbit",
    6: "scaleoffset",
    307: "bzip2",
    32000: "lzf",
    32001: "blosc",
    32004: "lz4",
    32008: "bitshuffle",
    32013: "zfp",
    32015: "zstd",
    32026: "blosc2",
}


def named(filter: dict[str, Any]) -> dict[str, Any]:
    """A filter of HDF5 with its name, where it has one; others as they are."""
    name = _NUMBERS.get(filter["id"]) if isinstance(filter.get("id"), int) else None
    return {**filter, "name": name} if name is not None else filter


def _codecs(item: Any) -> list[dict[str, Any]]:
    if isinstance(item, str):
        return list(parse_filters(item))
    if isinstance(item, bool):
        raise _wrong(item)
    if isinstance(item, int):
        return [{"id": item, "parameters": []}]
    if _is_hdf5(item):
        return [{"id": int(item[0]), "parameters": [int(value) for value in item[1]]}]
    for describe in ("get_config", "to_dict"):
        if hasattr(item, describe):
            item = getattr(item, describe)()
            break
    if isinstance(item, Mapping) and ("id" in item or "name" in item):
        # Codecs of other libraries contain numpy's scalars and tuples, which are not JSON.
        plain: dict[str, Any] = json.loads(json.dumps(dict(item), default=_plain))
        return [plain]
    raise _wrong(item)


def _is_hdf5(item: Any) -> bool:
    """A pair of a registered number and its parameters."""
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], int)
        and isinstance(item[1], (list, tuple))
    )


def _plain(value: Any) -> Any:
    for convert in ("item", "to_dict", "get_config"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    return str(value)


def _wrong(item: Any) -> InvalidError:
    return InvalidError(
        f"{item!r} is not a filter",
        hint='a name ("zstd,level=5"), (id, [parameters]), a dict of Zarr, or an object with get_config()',
    )
