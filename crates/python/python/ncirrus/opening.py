"""Opening and creating datasets."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from typing import Any, Literal

from ncirrus import _ncirrus
from ncirrus.asynchronous import outcome
from ncirrus.dataset import Dataset
from ncirrus.errors import InvalidError
from ncirrus.in_memory import InMemory, whole_bytes
from ncirrus.sessions import Session, default_session


def open(
    url: Any,
    mode: Literal["r", "r+"] = "r",
    *,
    session: Session | None = None,
    storage_options: Mapping[str, Any] | None = None,
    pin: bool = True,
    branch: str | None = None,
    tag: str | None = None,
    snapshot: str | None = None,
    at: str | datetime.datetime | None = None,
    **options: Any,
) -> Dataset:
    """Opens a dataset of any kind, anywhere, for reading (`r`) or for changing it in place (`r+`).

    Values are read when variables are indexed. `branch`, `tag`, `snapshot` and `at` choose the state of an Icechunk
    repository. `options` are `consolidated members prefer_v2 no_repairs name raw substitutions aligned lenient packed`.
    """
    if mode not in ("r", "r+"):
        raise InvalidError(f"mode={mode!r} is neither 'r' nor 'r+'", hint="ncirrus.create() makes new datasets")
    if url is None:
        raise TypeError("an address is text, a path, bytes, a file or a store, not None")
    url = with_state(url, branch=branch, tag=tag, snapshot=snapshot, at=at)
    address, storage_options = _place(url, storage_options)
    dataset = Dataset(address, mode, options, _session(session, storage_options))
    dataset._pin = pin and dataset._pin
    dataset._opened()
    return dataset


async def open_async(
    url: Any,
    *,
    session: Session | None = None,
    storage_options: Mapping[str, Any] | None = None,
    pin: bool = True,
    branch: str | None = None,
    tag: str | None = None,
    snapshot: str | None = None,
    at: str | datetime.datetime | None = None,
    **options: Any,
) -> Dataset:
    """As `open`, for reading, without blocking the event loop. Cancelling the task cancels its requests."""
    if url is None:
        raise TypeError("an address is text, a path, bytes, a file or a store, not None")
    url = with_state(url, branch=branch, tag=tag, snapshot=snapshot, at=at)
    address, storage_options = _place(url, storage_options)
    dataset = Dataset(address, "r", options, _session(session, storage_options))
    dataset._pin = pin and dataset._pin
    native = dataset._session._native()
    dataset._opened_as(
        await outcome(lambda told: _ncirrus.Dataset.begin_open(dataset._url, dataset._words(), native, told))
    )
    return dataset


def create(
    url: Any,
    kind: str | None = None,
    *,
    overwrite: bool = False,
    session: Session | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> Dataset:
    """Creates a dataset, which appears complete when it is closed. Without an address it is a file in memory;
    `finish_bytes` returns its bytes.

    `kind` is one of `nc3 nc6 nc5 nc4 nc4c nczarr zarr2 zarr3`; by default the address determines it. In memory the default is `nc4`, and
    the Zarr kinds are zip files. `options` are `dialect
    array_dimensions consolidated separator header_pad zip_top_folder structures default_chunks align reserve strings
    json_attributes`.
    """
    if url is None and kind is None:
        kind = "nc4"
    choices = {**options, "kind": kind, "overwrite": bool(overwrite)}
    address, storage_options = _place(url, storage_options)
    dataset = Dataset(address, "w", choices, _session(session, storage_options))
    dataset._opened()
    return dataset


def with_state(
    url: Any,
    *,
    branch: str | None = None,
    tag: str | None = None,
    snapshot: str | None = None,
    at: str | datetime.datetime | None = None,
) -> Any:
    """The address of a state of an Icechunk repository; a time without an offset is in UTC."""
    time = at.isoformat() if isinstance(at, datetime.datetime) else at
    states = {"branch": branch, "tag": tag, "snapshot": snapshot, "at": time}
    words = [f"{name}={value}" for name, value in states.items() if value is not None]
    if not words:
        return url
    if not isinstance(url, str | os.PathLike):
        raise TypeError(f"{words[0]} needs an address, not a {type(url).__name__}")
    address = _address(url)
    for word in words:
        if "&" in word or "#" in word:
            raise InvalidError(f"{word!r} cannot be part of an address")
    return f"{address}{'&' if '#' in address else '#'}{'&'.join(words)}"


def _session(session: Session | None, storage_options: Mapping[str, Any] | None) -> Session:
    return (session if session is not None else default_session())._with(storage_options)


def _place(url: Any, storage_options: Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any] | None]:
    """An address with its options, also for a store of another library."""
    if isinstance(url, os.PathLike) or (isinstance(url, str) and "::" not in url):
        return _address(url), storage_options
    from ncirrus import stores

    if isinstance(url, (int, float, complex, dict, list, set)):
        raise TypeError(f"an address is text, a path, bytes, a file or a store, not a {type(url).__name__}")
    if url is None:
        return InMemory.of(None), storage_options
    body = whole_bytes(url)
    if body is not None:
        return InMemory.of(body), storage_options
    place = stores.place_of(url, storage_options)
    if place.bridge is None:
        return place.url, place.storage_options or None
    return stores.BridgedUrl.of(place.bridge, place.url), None


def _address(url: Any) -> str:
    if isinstance(url, str):
        address = url
    elif isinstance(url, os.PathLike):
        address = os.fspath(url)
    else:
        raise TypeError(f"an address is text or a path, not a {type(url).__name__}")
    if isinstance(address, bytes):
        address = os.fsdecode(address)
    if "\0" in address:
        raise InvalidError(f"the address {address!r} has a zero byte")
    return address
