"""A web server that serves a folder by ranges, and counts what it is asked for."""

from __future__ import annotations

import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class CountingServer:
    """Serves the files of a folder at `url`; `requests` has a (time, method, path, range) for each request."""

    def __init__(self, folder: Path, delay: float = 0.0) -> None:
        self.folder = folder
        self.delay = delay
        self.requests: list[tuple[float, str, str, str | None]] = []
        # The programs that asked, as they name themselves.
        self.agents: set[str | None] = set()
        self._adding = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_HEAD(self) -> None:
                server._answer(self)

            def do_GET(self) -> None:
                server._answer(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def rounds(self) -> int:
        """How often requests had to wait for answers to earlier ones: requests that begin while the first of a round is
        still delayed belong to that round."""
        starts = sorted(start for start, *_ in self.requests)
        count, begin = 0, float("-inf")
        for start in starts:
            if start >= begin + self.delay:
                count, begin = count + 1, start
        return count

    def forget(self) -> None:
        with self._adding:
            self.requests.clear()
            self.agents.clear()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        with self._adding:
            self.requests.append((time.monotonic(), handler.command, handler.path, wanted))
            self.agents.add(handler.headers.get("User-Agent"))
        if self.delay:
            time.sleep(self.delay)
        path = self.folder / handler.path.split("?")[0].lstrip("/")
        if not path.is_file():
            handler.send_response(404)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        size = path.stat().st_size
        first, last, status = 0, size - 1, 200
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted or "")
        if found and size:
            status = 206
            if found[1]:
                first, last = int(found[1]), min(int(found[2] or last), last)
            else:
                first = max(0, size - int(found[2]))
        if first > last:
            status, first, last = 416, 0, -1
        handler.send_response(status)
        handler.send_header("Accept-Ranges", "bytes")
        handler.send_header("ETag", f'"{path.stat().st_mtime_ns}-{size}"')
        if status == 206:
            handler.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        handler.send_header("Content-Length", str(last - first + 1))
        handler.end_headers()
        if handler.command == "GET":
            with path.open("rb") as file:
                file.seek(first)
                handler.wfile.write(file.read(last + 1 - first))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> CountingServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
