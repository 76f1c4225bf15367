"""What a process has open, and what its children may do with it after a fork."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

# How often this process and those before it forked: what was made in another generation is not touched any more.
generation: int = 0

_living: weakref.WeakSet[Any] = weakref.WeakSet()


def remember(handle: Any) -> None:
    """Counts a handle of the extension module among those that a fork leaves behind."""
    _living.add(handle)


_hooks: list[Callable[[], None]] = []


def after_fork(hook: Callable[[], None]) -> None:
    """Has something done in children."""
    _hooks.append(hook)


def _forked() -> None:
    global generation
    generation += 1
    for handle in list(_living):
        # No thread is left that could finish the work of the handle.
        handle.leak()
    _living.clear()
    for hook in _hooks:
        hook()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
