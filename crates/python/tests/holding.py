"""A web server that answers, or holds its answers back, and counts whose connections were closed meanwhile."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Any


class HoldingServer:
    """Serves one body by ranges at `url`. While `holds` is set it takes requests and does not answer: `held` counts those
    that wait, `closed` those whose connection the other side has closed."""

    def __init__(self, body: bytes, name: str = "a.nc") -> None:
        self.body = body
        self.holds = False
        self.held = self.closed = self.answered = 0
        self.changed = threading.Condition()
        self._drops = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._release = asyncio.Event()
        self._thread.start()
        started = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512), self._loop)
        self._server = started.result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/{name}"

    def wait_for(self, condition: Any) -> bool:
        """Waits until something is so of the counts."""
        with self.changed:
            return bool(self.changed.wait_for(condition, 60))

    def _count(self, **more: int) -> None:
        with self.changed:
            for name, step in more.items():
                setattr(self, name, getattr(self, name) + step)
            self.changed.notify_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                if self.holds and not await self._released(reader):
                    return
                self._count(answered=1)
                writer.write(self._answer(head))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _released(self, reader: asyncio.StreamReader) -> bool:
        """Holds a request back. Returns whether it is to be answered then; otherwise one side has closed its connection."""
        self._count(held=1)
        gone = asyncio.ensure_future(reader.read(1))
        released = asyncio.ensure_future(self._release.wait())
        await asyncio.wait([gone, released], return_when=asyncio.FIRST_COMPLETED)
        is_gone = gone.done()
        gone.cancel(), released.cancel()
        self._count(held=-1, closed=int(is_gone))
        return not is_gone and not self._drops

    def release(self) -> None:
        """Answers what was held back, and what comes."""
        self.holds = False
        self._loop.call_soon_threadsafe(self._let_go)

    def drop(self) -> None:
        """Closes the connections of what is held back."""
        self._drops = True
        self.release()
        assert self.wait_for(lambda: not self.held)
        self._drops = False

    def _let_go(self) -> None:
        self._release.set()
        self._release = asyncio.Event()

    def _answer(self, head: str) -> bytes:
        size, found = len(self.body), re.search(r"(?im)^range: bytes=(\d*)-(\d*)", head)
        lines = ["Accept-Ranges: bytes", 'ETag: "one"']
        if found and found[1]:
            first, last = int(found[1]), min(int(found[2] or size), size - 1)
        elif found:
            first, last = max(0, size - int(found[2])), size - 1
        else:
            first, last = 0, size - 1
        if found:
            lines.append(f"Content-Range: bytes {first}-{last}/{size}")
        body = b"" if head.startswith("HEAD") else self.body[first : last + 1]
        lines = [f"HTTP/1.1 {'206 Partial Content' if found else '200 OK'}", *lines, f"Content-Length: {last + 1 - first}"]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def __enter__(self) -> HoldingServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
