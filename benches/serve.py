"""`ncirrus serve` beside a plain file server that sends the same bytes, and beside other servers (`peers`).

`python benches/serve.py FOLDER [ROUNDS] [MIB] [peers]`: makes datasets in the folder, and prints the seconds of each case (the
smallest of the rounds, in which the servers take turns) and their ratio. The command is `target/release/ncirrus`, or what
`NCIRRUS_BINARY` names. The client reads the body and drops it.
"""

from __future__ import annotations

import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import netCDF4
import numpy as np

ROOT = Path(__file__).parents[1]
NCIRRUS = os.environ.get("NCIRRUS_BINARY", str(ROOT / "target/release/ncirrus"))
CLIENTS = 64
MEMBERS = 1000


class Plain(socketserver.StreamRequestHandler):
    """Sends files by `sendfile`, without anything else that a server has."""

    folder: Path

    def handle(self) -> None:
        while line := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            name = line.split()[1].decode().lstrip("/")
            with (self.folder / name).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                self.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
                sent = 0
                while sent < size:
                    sent += os.sendfile(self.connection.fileno(), file.fileno(), sent, size - sent)


class ThreadingServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Client:
    """One connection that is kept. Bodies are received into one buffer and dropped, whatever their framing: no byte is copied
    again."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._room = bytearray(1 << 20)
        self._start = self._end = 0

    def get(self, path: str, keep: Path | None = None) -> int:
        """Reads a body, and returns its length."""
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status = self._line()
        if b" 200 " not in status:
            raise RuntimeError(f"{path}: {status!r} {bytes(self._room[self._start : self._end][:500])!r}")
        headers = {}
        while line := self._line().strip():
            name, value = line.split(b":", 1)
            headers[name.strip().lower()] = value.strip()
        out = keep.open("wb") if keep else None
        total = 0
        if b"content-length" in headers:
            total = self._take(int(headers[b"content-length"]), out)
        elif headers.get(b"transfer-encoding") == b"chunked":
            while size := int(self._line(), 16):
                total += self._take(size, out)
                self._line()
            self._line()
        else:
            raise RuntimeError(f"{path}: a body without a length")
        if out:
            out.close()
        return total

    def _receive(self) -> None:
        """Receives more behind what is left, which is first moved to the front."""
        left = self._end - self._start
        self._room[:left] = self._room[self._start : self._end]
        got = self._socket.recv_into(memoryview(self._room)[left:])
        if not got:
            raise RuntimeError("the body ended early")
        self._start, self._end = 0, left + got

    def _line(self) -> bytes:
        while (at := self._room.find(b"\n", self._start, self._end)) < 0:
            self._receive()
        line = bytes(self._room[self._start : at + 1])
        self._start = at + 1
        return line

    def _take(self, size: int, out: BinaryIO | None) -> int:
        left = size
        while left:
            if self._start == self._end:
                self._receive()
            got = min(left, self._end - self._start)
            if out:
                out.write(memoryview(self._room)[self._start : self._start + got])
            self._start += got
            left -= got
        return size


def started(command: list[str], address: str, port: int) -> subprocess.Popen[str]:
    process = subprocess.Popen([*command, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return process
    raise RuntimeError(f"{command[0]} does not start")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def served(folder: Path) -> tuple[subprocess.Popen[str], int]:
    port = free_port()
    command = [NCIRRUS, "serve", str(folder), "--max-per-client", "128", "--max-response", "2G", "--bind"]
    return started(command, f"127.0.0.1:{port}", port), port


def made(folder: Path, mib: int) -> None:
    """Floats in netCDF-4 without filters and as Zarr in chunks of 1 MiB, and many small variables."""
    values = np.random.default_rng(1).random((mib, 512, 512), "f4")
    with netCDF4.Dataset(folder / "big.nc", "w") as ds:
        for name, length in (("t", mib), ("y", 512), ("x", 512)):
            ds.createDimension(name, length)
        ds.createVariable("v", "f4", ("t", "y", "x"), contiguous=True)[:] = values
    with netCDF4.Dataset(folder / "part.nc", "w") as ds:
        for name, length in (("t", max(1, mib // 8)), ("y", 512), ("x", 512)):
            ds.createDimension(name, length)
        ds.createVariable("v", "f4", ("t", "y", "x"), contiguous=True)[:] = values[: max(1, mib // 8)]
    with netCDF4.Dataset(folder / "many.nc", "w") as ds:
        ds.createDimension("x", 10)
        for number in range(MEMBERS):
            ds.createVariable(f"v{number:04}", "f4", ("x",))[:] = number
    for kind in ("zarr2", "zarr3"):
        copied = [NCIRRUS, "copy", "-q", "-k", kind, "-c", "v:1,512,512", str(folder / "big.nc"), str(folder / f"big.{kind}")]
        subprocess.run(copied, check=True)


def best(rounds: int, works: dict[str, Callable[[], int]]) -> dict[str, float]:
    seconds = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def shown(what: str, seconds: dict[str, float]) -> None:
    first = next(iter(seconds.values()))
    print(f"{what:34}" + "".join(f"  {name} {value:.3f} s ({value / first:.2f})" for name, value in seconds.items()), flush=True)


def peak(process: subprocess.Popen[str]) -> float:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def many_clients(port: int) -> None:
    errors: list[str] = []
    took: list[float] = []

    def work() -> None:
        start = time.perf_counter()
        try:
            Client(port).get("/dap/part.nc.dap")
            took.append(time.perf_counter() - start)
        except Exception as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{CLIENTS} clients at once: {len(errors)} errors {errors[:2]}, first {min(took):.2f} s, last {max(took):.2f} s")


XPUBLISH = """
import sys, xarray, xpublish
# An array in memory, in chunks of 4 MiB of Zarr and pieces of Dask.
data = xarray.open_dataset(sys.argv[1]).load().chunk(t=4)
xpublish.Rest({"big": data}, cache_kws={"available_bytes": 0}).serve(host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
"""
PYDAP = """
import sys
from pydap.wsgi.app import DapServer
from waitress import serve
serve(DapServer(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), threads=4)
"""


def peers(folder: Path, rounds: int, mib: int) -> None:
    """Other servers, whose interpreters of Python are named by `NCIRRUS_XPUBLISH_PYTHON` (xpublish, xpublish-zarr,
    xpublish-opendap) and `NCIRRUS_PYDAP_PYTHON` (pydap 3.4.1, the last one with a server of netCDF, and waitress). pydap sends
    at most 2^25 elements of a variable, so it gets the smaller file."""
    process, port = served(folder)
    others = [process]
    try:
        ours = Client(port)
        if python := os.environ.get("NCIRRUS_XPUBLISH_PYTHON"):
            other = free_port()
            others.append(started([python, "-c", XPUBLISH, str(folder / "big.nc")], str(other), other))
            theirs = Client(other)
            # Their chunks have four steps; the same bytes from us in the chunks of the store.
            works = {
                "ncirrus": lambda: sum(ours.get(f"/zarr/big.zarr3/v/c/{at}/0/0") for at in range(mib)),
                "xpublish": lambda: sum(theirs.get(f"/datasets/big/zarr/v/c/{at}/0/0") for at in range(mib // 4)),
            }
            shown("Zarr", best(rounds, works))
            works = {
                "ncirrus": lambda: ours.get("/dap/big.nc.dods?v"),
                "ncirrus, DAP4": lambda: ours.get("/dap/big.nc.dap?dap4.ce=/v"),
                "xpublish": lambda: theirs.get("/datasets/big/opendap.dods?v"),
            }
            shown("DAP", best(rounds, works))
        if python := os.environ.get("NCIRRUS_PYDAP_PYTHON"):
            other = free_port()
            others.append(started([python, "-c", PYDAP, str(folder)], str(other), other))
            theirs = Client(other)
            works = {
                "ncirrus": lambda: ours.get("/dap/part.nc.dods?v"),
                "ncirrus, DAP4": lambda: ours.get("/dap/part.nc.dap?dap4.ce=/v"),
                "pydap": lambda: theirs.get("/part.nc.dods?v.v"),
            }
            shown(f"DAP, {mib // 8} MiB", best(rounds, works))
    finally:
        for process in others:
            process.terminate()


def main() -> None:
    folder = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    mib = int(sys.argv[3]) if len(sys.argv) > 3 else 512
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "big.zarr3").exists():
        made(folder, mib)
    if sys.argv[4:] == ["peers"]:
        return peers(folder, rounds, mib)
    Plain.folder = folder.parent / f"{folder.name}-sent"
    Plain.folder.mkdir(exist_ok=True)
    plain = ThreadingServer(("127.0.0.1", 0), Plain)
    # A process of its own, as the other one is.
    plain_port = plain.server_address[1]
    if (child := os.fork()) == 0:
        plain.serve_forever()
    process, port = served(folder)
    try:
        ours, theirs = Client(port), Client(plain_port)
        for name, path in (("big.dap", "/dap/big.nc.dap"), ("big.dods", "/dap/big.nc.dods"), ("many.dods", "/dap/many.nc.dods")):
            ours.get(path, Plain.folder / name)
            works = {"plain": lambda name=name: theirs.get(f"/{name}"), "ncirrus": lambda path=path: ours.get(path)}
            shown(name, best(rounds, works))
        ours.get("/zarr/big.zarr3/v/c/0/0/0", Plain.folder / "chunk")
        works = {
            "plain": lambda: sum(theirs.get("/chunk") for _ in range(mib)),
            "ncirrus": lambda: sum(ours.get(f"/zarr/big.zarr3/v/c/{at}/0/0") for at in range(mib)),
        }
        shown(f"{mib} chunks of Zarr", best(rounds, works))
        print(f"memory of the server so far: {peak(process):.0f} MiB")
        many_clients(port)
        print(f"memory of the server at the end: {peak(process):.0f} MiB")
    finally:
        process.terminate()
        os.kill(child, 9)


main()
