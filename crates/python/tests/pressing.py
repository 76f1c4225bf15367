"""Ctrl-C, as a user presses it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def ctrl_c(begun: Callable[[], object]) -> Iterator[None]:
    """Presses Ctrl-C once something has begun, which must end the block. The interpreter loses one that comes while it
    finalises an object: then it is pressed again, after a while."""
    ended = threading.Event()

    def press() -> None:
        begun()
        while not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            ended.wait(10)

    threading.Thread(target=press, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        ended.set()
