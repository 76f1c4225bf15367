"""What is wrong is refused: by the class that fits, with the object, the path and what helps, in one line. Nothing is
written by halves, and the process lives."""

from __future__ import annotations

import os
import pickle
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers
from pressing import ctrl_c

import ncirrus
from ncirrus.stores import Bridge

SECRET = "wJalrXUtnFEMIK7MDENG"


def refused(
    act: Callable[[], Any],
    kind: type[BaseException],
    says: str,
    *,
    object: str | None = None,
    path: str | None = None,
    hint: str | None = None,
) -> BaseException:
    """Checks that something is refused, and how."""
    with pytest.raises(kind) as caught:
        act()
    error = caught.value
    text = str(error)
    assert re.search(says, text), text
    assert "\n" not in text and "panicked" not in text and "backtrace" not in text.lower() and ".rs:" not in text
    assert SECRET not in f"{error} {error!r} {error.__dict__}"
    if object is not None:
        assert isinstance(error, ncirrus.Error) and error.object is not None and error.object.endswith(object), text
    if path is not None:
        assert isinstance(error, ncirrus.Error) and error.path == path, text
    if hint is not None:
        assert isinstance(error, ncirrus.Error) and hint in str(error.hint), error.hint
    if isinstance(error, ncirrus.Error):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == text and again.hint == error.hint
    return error


class Answering:
    """A web server that answers everything with one status and body."""

    def __init__(self, status: int, body: bytes = b"", kind: str = "text/html") -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def _answer(self) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url: str = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()


PAGE = b"<!DOCTYPE html><html><body>Please log in</body></html>"
FORBIDDEN = b"<?xml version='1.0'?><Error><Code>%s</Code><Message>no</Message></Error>"


# Places


def test_a_missing_file(tmp_path: Path) -> None:
    place = str(tmp_path / "a.nc")
    error = refused(lambda: ncirrus.open(place), ncirrus.NotFoundError, "a.nc", object="a.nc", hint="check the path")
    assert isinstance(error, FileNotFoundError) and error.filename == place
    refused(lambda: ncirrus.open(place, "r+"), ncirrus.NotFoundError, "a.nc", object="a.nc")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is denied to root")
def test_a_denied_folder(tmp_path: Path, small: str) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    os.rename(small, folder / "a.nc")
    folder.chmod(0)
    try:
        place = str(folder / "a.nc")
        error = refused(lambda: ncirrus.open(place), ncirrus.DeniedError, "a.nc", object="a.nc", hint="permissions")
        assert isinstance(error, PermissionError)
        refused(lambda: ncirrus.create(str(folder / "b.nc"), "nc3").close(), ncirrus.DeniedError, "b.nc", object="b.nc")
    finally:
        folder.chmod(0o700)


def test_a_server_that_denies(small: str) -> None:
    with Answering(403) as server:
        refused(lambda: ncirrus.open(f"{server.url}/a.nc"), ncirrus.DeniedError, "403", object="/a.nc", hint="whoami")


def test_a_page_of_html(tmp_path: Path) -> None:
    place = tmp_path / "a.nc"
    place.write_bytes(PAGE)
    refused(lambda: ncirrus.open(place), ncirrus.Error, "", object="a.nc")
    with Answering(200, PAGE) as server:
        refused(lambda: ncirrus.open(f"{server.url}/a.nc"), ncirrus.Error, "", object="/a.nc", hint="address of the data")


@pytest.mark.parametrize("kind", ["nc3", "nc4"])
def test_a_truncated_file(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "a.nc"
    with ncirrus.create(str(place), kind) as ds:
        ds.create_dimension("x", 10_000)
        ds.create_variable("v", "i4", ("x",))[...] = numbers((10_000,))
    whole = place.read_bytes()
    place.write_bytes(whole[:40])
    refused(lambda: ncirrus.open(place), ncirrus.MalformedError, "", object="a.nc", hint="truncated")
    place.write_bytes(whole[: len(whole) // 2])
    out = np.zeros(10_000, "i4")
    refused(lambda: ncirrus.open(place)["v"].read(out=out), ncirrus.MalformedError, "", object="a.nc", hint="truncated")


def test_an_unknown_scheme() -> None:
    refused(lambda: ncirrus.open("gopher://host/a.nc"), ncirrus.Error, "gopher", hint="known schemes: file, http")


@pytest.mark.parametrize("code", [b"InvalidAccessKeyId", b"SignatureDoesNotMatch", b"AccessDenied"])
def test_wrong_keys(code: bytes) -> None:
    with Answering(403, FORBIDDEN % code, "application/xml") as server:
        options = {"key": "AKIDEXAMPLE", "secret": SECRET, "token": SECRET, "endpoint_url": server.url, "region": "us-east-1"}
        act = lambda: ncirrus.open("s3://bucket/a.nc", storage_options=options)
        error = refused(act, ncirrus.DeniedError, "", object="a.nc", hint="whoami")
        assert isinstance(error, PermissionError)
        session = ncirrus.default_session()._with(options)
        assert SECRET not in repr(session) and SECRET not in str(session.statistics())


def test_an_unknown_word_in_storage_options() -> None:
    act = lambda: ncirrus.open("s3://bucket/a.nc", storage_options={"secrte": SECRET})
    refused(act, (TypeError, ncirrus.InvalidError), "secrte")  # type: ignore[arg-type]
    act = lambda: ncirrus.open("a.nc", no_such_option=1)
    refused(act, TypeError, "no_such_option")


def test_listing_that_is_denied() -> None:
    with Answering(403, FORBIDDEN % b"AccessDenied", "application/xml") as server:
        options = {"anon": True, "endpoint_url": server.url, "region": "us-east-1"}
        refused(lambda: ncirrus.ls("s3://bucket/folder", storage_options=options), ncirrus.DeniedError, "", hint="whoami")
    with Answering(404) as server:
        refused(lambda: ncirrus.ls(f"{server.url}/folder/"), ncirrus.Error, "")


# Indices, and arrays to be filled


@pytest.mark.parametrize("how", ["numpy", "oindex", "vindex"])
@pytest.mark.parametrize(
    ("key", "says"),
    [
        ((9,), "index 9 is out of bounds for axis 0 with size 4"),
        ((0, [1, -6]), "index -6 is out of bounds for axis 1 with size 5"),
        ((0, 1.5), "only integers"),
        (([0.5],), "only integers"),
        ((np.ones(7, bool),), "boolean"),
        ((0,) * 100, "too many indices: the variable has 3 axes, but 100 were indexed"),
        ((..., ...), "single ellipsis"),
        (("name",), "only integers"),
    ],
)
def test_indices(small: str, how: str, key: Any, says: str) -> None:
    v = ncirrus.open(small)["v"]
    target: Any = v if how == "numpy" else getattr(v, how)
    refused(lambda: target[key], IndexError, says)


def test_arrays_that_cannot_be_filled(small: str) -> None:
    v = ncirrus.open(small)["v"]
    fixed = np.zeros((4, 5, 6), "i4")
    fixed.flags.writeable = False
    shared = np.lib.stride_tricks.as_strided(np.zeros(6, "i4"), (4, 5, 6), (0, 0, 4))
    cases: list[tuple[Any, type[Exception], str]] = [
        (np.zeros((4, 5), "i4"), ValueError, r"out has the shape \(4, 5\), the selection \(4, 5, 6\)"),
        (np.zeros((4, 5, 6), "f4"), TypeError, "out is of type float32, the variable of int32"),
        (fixed, ValueError, "out is read-only"),
        (shared, ValueError, "elements of out share memory"),
        ([[1]], TypeError, "out is a list"),
    ]
    for out, kind, says in cases:
        refused(lambda: v.read(out=out), kind, f"^/v: {says}")
    assert not fixed.any() and not shared.any()


# Values, names, handles


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([{}, {}, {}], r"\{\} is not a number"),
        (["a", "b", "c"], "do not fit the type int16"),
        ([1, 2, 40_000], "40000 does not fit the type int16"),
        ([1, 2, 2**70], "does not fit the type int16"),
        ([1.0, np.nan, 3.0], "nan does not fit the type int16"),
        ([1.0, np.inf, 3.0], "inf does not fit the type int16"),
        (np.array(["2000-01-01"] * 3, "M8[D]"), "do not fit the type int16"),
    ],
)
def test_values_that_do_not_fit(kind: str, place: str, values: Any, says: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("x", 3)
        v = ds.create_variable("v", "i2", ("x",))
        v[...] = [7, 8, 9]

        def assign() -> None:
            v[...] = values

        refused(assign, ncirrus.InvalidError, says, path="/v")
        assert v[...].tolist() == [7, 8, 9]
    assert ncirrus.open(place)["v"][...].tolist() == [7, 8, 9]


def test_names_with_a_lone_surrogate(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        refused(lambda: ds.create_dimension("a\udc80", 3), (ValueError, ncirrus.Error), "")  # type: ignore[arg-type]
        refused(lambda: ds.create_variable("a\udc80", "i4"), (ValueError, ncirrus.Error), "")  # type: ignore[arg-type]
        refused(lambda: ds["a\udc80"], ncirrus.MemberNotFoundError, "no variable")
        assert list(ds) == [] and list(ds.dims) == []


def _assigning(variable: Any) -> Callable[[], None]:
    def assign() -> None:
        variable[...] = 1

    return assign


def test_writing_through_a_handle_that_does_not(tmp_path: Path, small: str) -> None:
    before = Path(small).read_bytes()
    reader = ncirrus.open(small)
    refused(_assigning(reader["v"]), ncirrus.DeniedError, "", object="small.nc")
    refused(lambda: reader.create_dimension("z", 1), ncirrus.DeniedError, "", object="small.nc")
    refused(lambda: reader.attrs.update(a=1), ncirrus.DeniedError, "", object="small.nc")
    writer = ncirrus.open(small, "r+")
    v = writer["v"]
    writer.close()
    refused(_assigning(v), ncirrus.InvalidError, "the dataset was closed", object="small.nc")
    abandoned = ncirrus.create(str(tmp_path / "b.nc"), "nc3")
    abandoned.create_dimension("x", 1)
    w = abandoned.create_variable("w", "i4", ("x",))
    abandoned.abort()
    refused(_assigning(w), ncirrus.InvalidError, "the dataset was closed", object="b.nc")
    assert Path(small).read_bytes() == before and not (tmp_path / "b.nc").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_writing_through_a_handle_of_the_parent(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), "nc3") as ds:
        ds.create_dimension("x", 1)
        v = ds.create_variable("v", "i4", ("x",))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                v[...] = 1
                told = "written"
            except BaseException as error:
                told = f"{type(error).__name__}: {error}: {getattr(error, 'hint', '')}"
            os.write(write, told.encode())
            os._exit(0)
        os.waitpid(child, 0)
        told = os.read(read, 1000).decode()
        os.close(read)
        os.close(write)
        assert told.startswith("InvalidError: the dataset is being written by the process") and "a.nc" in told
        assert "join by a ticket" in told
        v[...] = 2
    assert ncirrus.open(str(tmp_path / "a.nc"))["v"][0] == 2


# Pickles


def test_pickles_of_another_version_and_of_a_path_that_is_not_there(small: str) -> None:
    from ncirrus import pickling

    act = lambda: pickling.dataset(99, small, {}, ncirrus.default_session(), None, True)
    refused(act, ncirrus.UnsupportedError, "a pickle of version 99", object="small.nc", hint="same version")
    body = pickle.dumps(ncirrus.open(small)["v"])
    os.unlink(small)
    found = pickle.loads(body)
    refused(lambda: found[0], ncirrus.NotFoundError, "small.nc", object="small.nc", hint="check the path")


# What Python does meanwhile


class Unwilling(Exception):
    """What a callable raises."""


def test_progress_that_raises(tmp_path: Path, small: str) -> None:
    def unwilling(*_: Any) -> None:
        raise Unwilling("no more")

    source = ncirrus.open(small)
    refused(lambda: source["v"].read(progress=unwilling), Unwilling, "no more")
    for target in ("b.nc", "b.zarr"):
        refused(lambda: ncirrus.copy(source, str(tmp_path / target), progress=unwilling), Unwilling, "no more")
    assert sorted(os.listdir(tmp_path)) == ["small.nc"]
    assert source["v"][0, 0, 0] == 0


class Faulty(Bridge):
    """A store in Python with one file, of which reading goes wrong."""

    lists = True

    def __init__(self, body: bytes, fault: str) -> None:
        self.body, self.fault = body, fault
        self.released = threading.Event()

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        if key != "a.nc":
            return None
        size = len(self.body)
        first, last = (0, size) if start is None else (max(0, size + start), size) if start < 0 else (start, stop or size)
        found = self.body[first:last]
        if self.fault == "raises":
            raise Unwilling("the store is tired")
        if self.fault == "short":
            found = found[: len(found) // 2]
        if self.fault == "nonsense":
            return "nonsense"  # type: ignore[return-value]
        if self.fault == "blocks":
            self.released.wait(60)
        return found, first, size, "1"

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        return [("a.nc", False)] if not prefix else []


@pytest.fixture
def faulty(small: str) -> Iterator[Callable[[str], Any]]:
    made: list[Faulty] = []

    def opening(fault: str) -> Any:
        made.append(Faulty(Path(small).read_bytes(), fault))
        session = ncirrus.Session(stores={"faulty": lambda url: (made[-1], "a.nc")})
        return lambda: ncirrus.open("faulty://host/a.nc", session=session)["v"][...]

    yield opening
    for bridge in made:
        bridge.released.set()


@pytest.mark.parametrize(
    ("fault", "says"), [("raises", "the store is tired"), ("short", "bytes"), ("nonsense", "")]
)
def test_stores_in_python_that_fail(faulty: Callable[[str], Any], fault: str, says: str) -> None:
    refused(faulty(fault), ncirrus.Error, says, object="a.nc")


def test_stores_in_python_that_block_are_interrupted(faulty: Callable[[str], Any]) -> None:
    act = faulty("blocks")
    with ctrl_c(lambda: time.sleep(1)):
        act()


# xarray


def _dataset() -> Any:
    xr = pytest.importorskip("xarray")
    return xr.Dataset({"v": (("t", "x"), numbers((3, 4), "f8"))}, coords={"t": [0, 1, 2]})


def test_what_a_kind_cannot_hold(tmp_path: Path) -> None:
    import ncirrus.xarray  # noqa: F401

    ds = _dataset()
    place = str(tmp_path / "a.nc")

    def encoded(kind: str, **encoding: Any) -> Callable[[], Any]:
        return lambda: ds.ncirrus.to(place, kind=kind, encoding=encoding)

    refused(encoded("nc3", v={"zlib": True}), ncirrus.UnsupportedError, "filters", path="/v")
    refused(encoded("nc3", v={"dtype": "c16"}), ValueError, "complex numbers need netCDF-4 or Zarr")
    refused(encoded("nc4", v={"compression": "nothing"}), ValueError, "compression='nothing' is unknown: one of zlib")
    assert not os.path.exists(place)


def test_regions_and_appends_that_cannot_be(tmp_path: Path) -> None:
    import ncirrus.xarray  # noqa: F401

    ds = _dataset()
    place = str(tmp_path / "a.zarr")
    ds.ncirrus.to(place, kind="zarr3")
    act = lambda: ds.drop_vars("t").ncirrus.to(place, mode="r+", region={"t": slice(2, 5)})
    refused(act, (ncirrus.Error, ValueError, IndexError), "t")  # type: ignore[arg-type]
    act = lambda: ds.ncirrus.to(place, mode="a", append_dim="nothing")
    refused(act, (ncirrus.Error, ValueError, KeyError), "nothing")  # type: ignore[arg-type]
    found = ncirrus.open(place)
    assert found["v"].shape == (3, 4) and np.array_equal(found["v"][...], numbers((3, 4), "f8"))
