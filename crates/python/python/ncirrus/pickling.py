"""Pickles: an address, options, session arguments and the tag of the root object. A process opens each once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ncirrus import processes

if TYPE_CHECKING:
    from ncirrus.dataset import Dataset
    from ncirrus.group import Group
    from ncirrus.sessions import Session
    from ncirrus.variable import Variable

# Datasets that came by pickles are kept open for the next task, this many.
_MOST = 128
_lock = threading.Lock()
_opened: OrderedDict[Any, Any] = OrderedDict()
_opening: dict[Any, threading.Lock] = {}
_generation = 0


def dataset(version: int, url: Any, options: dict[str, Any], session: Session, tag: str | None, pin: bool) -> Dataset:
    """A dataset that is opened when it is first used."""
    from ncirrus.dataset import Dataset
    from ncirrus.errors import UnsupportedError

    if version != VERSION:
        raise UnsupportedError(
            f"a pickle of version {version}; this package takes version {VERSION}",
            object=str(url),
            hint="use the same version of ncirrus in all processes",
        )
    return Dataset._restored(url, options, session, tag, pin)


VERSION = 1


def group(dataset: Dataset, path: str) -> Group:
    """A group of a dataset that came by a pickle."""
    from ncirrus.group import Group

    return Group(dataset, path, None)


def variable(dataset: Dataset, path: str) -> Variable:
    """A variable of a dataset that came by a pickle."""
    from ncirrus.variable import Variable

    return Variable(dataset, path, None)


def once(key: Any, make: Callable[[], Any]) -> Any:
    """What `make` makes, once for each key however many threads ask."""
    global _generation
    with _lock:
        if _generation != processes.generation:
            # The parent's; they are kept from being ended by the fork's own hook.
            _opened.clear()
            _opening.clear()
            _generation = processes.generation
        if key in _opened:
            _opened.move_to_end(key)
            return _opened[key]
        gate = _opening.setdefault(key, threading.Lock())
    with gate:
        with _lock:
            if key in _opened:
                return _opened[key]
        made = make()
        with _lock:
            _opened[key] = made
            _opening.pop(key, None)
            while len(_opened) > _MOST:
                _opened.popitem(last=False)
        return made


def _forked() -> None:
    """A lock that another thread held when the process forked is never given back."""
    global _lock
    _lock = threading.Lock()
    _opening.clear()


processes.after_fork(_forked)
