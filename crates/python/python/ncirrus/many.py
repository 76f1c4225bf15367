"""Many files as one dataset, without a copy and without a master file."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from ncirrus import stores, tools
from ncirrus.dataset import Dataset
from ncirrus.in_memory import InMemory
from ncirrus.sessions import Session, default_session

_lock = threading.Lock()
_sessions: weakref.WeakKeyDictionary[Session, Session] = weakref.WeakKeyDictionary()


def open_many(
    files: Any,
    *,
    axis: Sequence[str] | str = (),
    new_axis: str | None = None,
    sort: bool = False,
    compare: bool = True,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Dataset:
    """Opens many files as one dataset, joined along an axis.

    Each file is opened once. The result is an aggregation whose master is in memory: variables along the axis are
    read from the files when they are indexed. It is pickled with the master, so that workers only open files that they
    read. `files` are paths, URLs, wildcards and directories; the other arguments are those of `aggregate`. Without
    `axis` the files are joined along the unlimited dimension, or that of time.
    """
    session = (session if session is not None else default_session())._with(storage_options)
    session = _with_local_fragments(session)
    held = stores.BytesBridge()
    target = stores.BridgedUrl.of(held, stores.IN_MEMORY)
    axes = [axis] if isinstance(axis, str) else list(axis)
    words: dict[str, Any] = {"axes": axes, "new_axis": new_axis, "sort": sort, "compare": compare}
    tools.aggregate(files, target, **words, kind="nc4", naming="absolute", progress=progress, session=session)
    dataset = Dataset(InMemory.of(bytes(held.finished())), "r", {}, session)
    dataset._opened()
    return dataset


def _with_local_fragments(session: Session) -> Session:
    """A session like another in which a master in memory may name files of this machine: it was made here."""
    with _lock:
        found = _sessions.get(session)
        if found is None:
            found = Session._of({**session._arguments, "local_fragments": True})
            _sessions[session] = found
        return found
