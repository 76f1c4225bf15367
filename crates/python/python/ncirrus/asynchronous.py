"""Waiting in an event loop for work on the threads of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


async def outcome(begin: Callable[[Callable[[Any, BaseException | None], None]], Any]) -> Any:
    """What comes of something that `begin` begins. Cancelling the task cancels its requests."""
    # It takes as long to import as all of the package.
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def told(value: Any, error: BaseException | None) -> None:
        loop.call_soon_threadsafe(settle, value, error)

    pending = begin(told)
    try:
        return await future
    finally:
        # Of no effect on what has ended.
        pending.cancel()
