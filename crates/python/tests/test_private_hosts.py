"""What datasets name that came over the network leads into no private network. Servers of this machine only: a proxy plays the
public network, whose hosts have no addresses here."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus


class Server:
    """Files by their path at a server of this machine; with those of hosts that only a proxy reaches."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                target, body = outer.redirects.get(self.path), outer.files.get(self.path)
                if target is not None:
                    self.send_response(302)
                    self.send_header("Location", target)
                    body = b""
                elif body is None:
                    self.send_response(404)
                    body = b""
                elif (given := self.headers.get("Range")) is not None:
                    first, _, last = given.removeprefix("bytes=").partition("-")
                    start, stop = (int(first), int(last or len(body)) + 1) if first else (len(body) - int(last), len(body))
                    size, body = len(body), body[start:stop]
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {start}-{start + len(body) - 1}/{size}")
                else:
                    self.send_response(200)
                self.send_header("ETag", '"1"')
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def private() -> Iterator[Server]:
    made = Server()
    made.files["/secret"] = np.arange(4, dtype="<i4").tobytes()
    yield made
    made.end()


@pytest.fixture
def proxy() -> Iterator[Server]:
    made = Server()
    yield made
    made.end()


def _references(chunk: str) -> bytes:
    array = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "compressor": None, "fill_value": 0, "filters": None, "order": "C"}
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "v/.zarray": json.dumps(array),
        "v/.zattrs": '{"_ARRAY_DIMENSIONS": ["x"]}',
        "v/0": [chunk, 0, 16],
    }
    return json.dumps({"version": 1, "refs": refs}).encode()


def _session(proxy: Server, **more: Any) -> ncirrus.Session:
    settings = {"http": {"proxy": f"http://127.0.0.1:{proxy.port}", "no_proxy": "127.0.0.1,localhost"}, "retries": 0, **more}
    return ncirrus.Session(settings=settings)


HOSTS = ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_reference_file_of_a_public_host_leads_to_no_private_one(private: Server, proxy: Server, host: str) -> None:
    proxy.files["http://data.invalid/refs.json"] = _references(f"http://{host}:{private.port}/secret")
    with ncirrus.open("http://data.invalid/refs.json", session=_session(proxy)) as ds:
        with pytest.raises(ncirrus.DeniedError, match="private network.*references.hosts"):
            ds["v"][...]
    assert private.asked == []


@pytest.mark.parametrize("allowed", ["127.0.0.1", "other.org, LOCALHOST", ["other.org", "localhost"]])
def test_the_user_may_allow_hosts(private: Server, proxy: Server, allowed: Any) -> None:
    proxy.files["http://data.invalid/refs.json"] = _references(f"http://localhost:{private.port}/secret")
    session = _session(proxy, references={"hosts": allowed})
    with ncirrus.open("http://data.invalid/refs.json", session=session) as ds:
        assert ds["v"][...].tolist() == [0, 1, 2, 3]


def test_datasets_of_this_machine_and_of_private_hosts_may_name_them(private: Server, tmp_path: Path) -> None:
    references = _references(f"http://localhost:{private.port}/secret")
    (tmp_path / "refs.json").write_bytes(references)
    private.files["/refs.json"] = references
    for address in (str(tmp_path / "refs.json"), f"http://127.0.0.1:{private.port}/refs.json"):
        with ncirrus.open(address) as ds:
            assert ds["v"][...].tolist() == [0, 1, 2, 3]


def test_a_redirect_of_a_public_host_leads_to_no_private_one(private: Server, proxy: Server, tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    with ncirrus.create(str(path), "nc3") as ds:
        ds.create_dimension("x", 3)
        ds.create_variable("v", "i4", ("x",))[...] = [1, 2, 3]
    private.files["/a.nc"] = path.read_bytes()
    proxy.redirects["http://data.invalid/a.nc"] = f"http://127.0.0.1:{private.port}/a.nc"
    private.redirects["/moved.nc"] = f"http://localhost:{private.port}/a.nc"
    with pytest.raises(ncirrus.DeniedError, match="private network"):
        ncirrus.open("http://data.invalid/a.nc", session=_session(proxy))
    assert private.asked == []
    with ncirrus.open("http://data.invalid/a.nc", session=_session(proxy, references={"hosts": "127.0.0.1"})) as ds:
        assert ds["v"][...].tolist() == [1, 2, 3]
    with ncirrus.open(f"http://127.0.0.1:{private.port}/moved.nc") as ds:
        assert ds["v"][...].tolist() == [1, 2, 3]


@pytest.mark.parametrize("form", ["http://{}/a.nc", "dap4+http://{}/a.nc", "dap2+http://{}/a.nc", "http://{}/bucket/a.nc#mode=s3"])
def test_fragments_of_a_public_master_lead_to_no_private_host(private: Server, proxy: Server, tmp_path: Path, form: str) -> None:
    fragment = form.format(f"127.0.0.1:{private.port}")
    master = _master(tmp_path, fragment)
    proxy.files["http://data.invalid/master.nc"] = master
    with ncirrus.open("http://data.invalid/master.nc", session=_session(proxy)) as ds:
        with pytest.raises(ncirrus.Error) as told:
            ds["v"][...]
    assert private.asked == [], told.value
    session = _session(proxy, references={"hosts": "127.0.0.1"})
    with ncirrus.open("http://data.invalid/master.nc", session=session) as ds, pytest.raises(ncirrus.Error):
        ds["v"][...]
    assert private.asked != []


def _master(tmp_path: Path, fragment: str) -> bytes:
    """An aggregation by CF-1.13 of one fragment."""
    path = str(tmp_path / "master.nc")
    with ncirrus.create(path, "nc4") as ds:
        ds.attrs["Conventions"] = "CF-1.13"
        ds.create_dimension("x", 3)
        for name, length in (("f_x", 1), ("i", 1), ("j", 1)):
            ds.create_dimension(name, length)
        words = {"aggregated_dimensions": "x", "aggregated_data": "map: m uris: u identifiers: n"}
        ds.create_variable("v", "i4", (), attrs=words)
        ds.create_variable("m", "i4", ("i", "j"))[...] = [[3]]
        ds.create_variable("u", str, ("f_x",))[...] = np.array([fragment], object)
        ds.create_variable("n", str, ("f_x",))[...] = np.array(["v"], object)
    return Path(path).read_bytes()
