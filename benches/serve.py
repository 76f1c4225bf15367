"""`ncirrus serve` beside a plain file server that sends the same bytes.

`python benches/serve.py FOLDER [ROUNDS] [MIB]`: makes datasets in the folder, and prints the seconds of each case (the
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
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._file = self._socket.makefile("rb", buffering=1 << 20)
        self._room = bytearray(1 << 20)

    def get(self, path: str, keep: Path | None = None) -> int:
        """Reads a body, and returns its length."""
        self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status = self._file.readline()
        if b" 200 " not in status:
            raise RuntimeError(f"{path}: {status!r} {self._file.read1(500)!r}")
        headers = {}
        while line := self._file.readline().strip():
            name, value = line.split(b":", 1)
            headers[name.strip().lower()] = value.strip()
        out = keep.open("wb") if keep else None
        if b"content-length" in headers:
            total = self._take(int(headers[b"content-length"]), out)
        elif headers.get(b"transfer-encoding") == b"chunked":
            total = 0
            while size := int(self._file.readline(), 16):
                total += self._take(size, out)
                self._file.readline()
            self._file.readline()
        else:
            total = 0
            while got := self._file.readinto(self._room):
                total += got
                if out:
                    out.write(self._room[:got])
        if out:
            out.close()
        return total

    def _take(self, size: int, out: object | None) -> int:
        left = size
        view = memoryview(self._room)
        while left:
            got = self._file.readinto(view[: min(left, len(view))])
            if not got:
                raise RuntimeError("the body ended early")
            if out:
                out.write(view[:got])  # type: ignore[attr-defined]
            left -= got
        return size


def served(folder: Path) -> tuple[subprocess.Popen[str], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [NCIRRUS, "serve", str(folder), "--bind", f"127.0.0.1:{port}", "--max-per-client", "128", "--max-response", "2G"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("ncirrus serve does not start")


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


def main() -> None:
    folder = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    mib = int(sys.argv[3]) if len(sys.argv) > 3 else 512
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "big.zarr3").exists():
        made(folder, mib)
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
