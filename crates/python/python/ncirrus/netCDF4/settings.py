"""What netCDF-C keeps for a whole process: the chunk cache, the alignment, and the table of its rc files.

The values are kept and reported; datasets take them when they are opened or created.
"""

from __future__ import annotations

import operator
import threading
from typing import Any

import numpy as np

from ncirrus import processes
from ncirrus.sessions import Session, default_session

_lock = threading.Lock()
# netCDF-C's defaults.
_chunk_cache: tuple[int, int, float] = (67108864, 1000, 0.75)
_alignment: tuple[int, int] = (0, 0)
_rc: dict[str, str] = {}
# Those for the keys as they are now, by the session that they were derived from, and whether they are for object stores.
_sessions: dict[tuple[Session, bool], Session] = {}


def get_chunk_cache() -> tuple[int, int, float]:
    """The chunk cache of variables that are opened from now on: bytes, number of slots, and preemption."""
    return _chunk_cache


def set_chunk_cache(size: int | None = None, nelems: int | None = None, preemption: float | None = None) -> None:
    """Changes what `get_chunk_cache` returns; what is `None` stays.

    Raises `RuntimeError` for a preemption that is not from 0 to 1.
    """
    global _chunk_cache
    with _lock:
        _chunk_cache = changed_cache(_chunk_cache, size, nelems, preemption)


def changed_cache(
    old: tuple[int, int, float], size: int | None, nelems: int | None, preemption: float | None
) -> tuple[int, int, float]:
    """A chunk cache with the settings that are given; what is `None` stays.

    Raises `RuntimeError` for a preemption that is not from 0 to 1, and `OverflowError` for an invalid size.
    """
    new = (
        old[0] if size is None else _size(size),
        old[1] if nelems is None else _size(nelems),
        # A C float.
        old[2] if preemption is None else float(np.float32(preemption)),
    )
    if not 0 <= new[2] <= 1:
        raise RuntimeError("NetCDF: Invalid argument")
    return new


def get_alignment() -> tuple[int, int]:
    """The alignment of data in new netCDF-4 files: the minimum size in bytes, and the multiple."""
    return _alignment


def set_alignment(threshold: int, alignment: int) -> None:
    """Changes what `get_alignment` returns."""
    global _alignment
    _alignment = _c_int(threshold), _c_int(alignment)


def rc_get(key: Any) -> str | None:
    """The value of a key that `rc_set` gave; none where none was given."""
    return _rc.get(str(key))


def rc_set(key: Any, value: Any) -> None:
    """Sets a key of netCDF's rc files for the datasets that are opened from now on without a session of their own."""
    with _lock:
        _rc[str(key)] = str(value)
        _sessions.clear()


def rc_keys() -> dict[str, str]:
    """The keys that `rc_set` gave."""
    with _lock:
        return dict(_rc)


def session_at(name: str) -> Session | None:
    """The session of a dataset that was given none: with the keys that `rc_set` gave. Files on object stores are put
    together in a scratch file, so that they can be synced, and are rewritten where they change."""
    keys, is_remote = rc_keys(), "://" in name
    if not keys and not is_remote:
        return None
    usual = default_session()
    with _lock:
        known = (usual, is_remote)
        if known not in _sessions:
            words = {"uploads": "folder", "rewrite": True} if is_remote else {}
            # The settings of the process's own session take precedence.
            _sessions[known] = usual._with_words(words, keys)
        return _sessions[known]


def _forked() -> None:
    """A lock that another thread held when the process forked is never given back."""
    global _lock
    _lock = threading.Lock()


processes.after_fork(_forked)


def _size(value: Any) -> int:
    number = _whole(value)
    if number < 0:
        raise OverflowError("can't convert negative value to size_t")
    if number >= 1 << 64:
        raise OverflowError("Python int too large to convert to C size_t")
    return number


def _c_int(value: Any) -> int:
    number = _whole(value)
    if not -(1 << 31) <= number < 1 << 31:
        raise OverflowError("value too large to convert to int")
    return number


def _whole(value: Any) -> int:
    """As C takes numbers: floats are cut, texts refused."""
    if isinstance(value, (float, np.floating)):
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError("an integer is required") from None
