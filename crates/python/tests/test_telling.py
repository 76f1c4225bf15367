"""Output besides results: warnings of data that were filled in, and requests in the log."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers
from counting import CountingServer

import ncirrus


def _parts(tmp_path: Path) -> str:
    """A master of three files, the second of which is gone."""
    for part in range(3):
        with ncirrus.create(str(tmp_path / f"p{part}.nc"), "nc3") as ds:
            ds.create_dimension("t", None)
            ds.create_variable("t", "i4", ("t",))[:] = [2 * part, 2 * part + 1]
            ds.create_variable("v", "f4", ("t",))[:] = [part, part]
    master = str(tmp_path / "all.nc")
    ncirrus.aggregate([str(tmp_path / f"p{part}.nc") for part in range(3)], master, axes=["t"])
    (tmp_path / "p1.nc").unlink()
    return master


def _warned(act: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        act()
    return list(told)


def test_fragments_that_are_filled_in_give_a_warning_once(tmp_path: Path) -> None:
    v = ncirrus.open(_parts(tmp_path), session=ncirrus.Session(absent="fill"))["v"]
    assert _warned(lambda: v[:2]) == []
    told = _warned(lambda: v[...])
    assert [warning.category for warning in told] == [ncirrus.MissingDataWarning]
    assert "all.nc: 1 fragment is not there, the elements are missing: [1] of /v" in str(told[0].message)
    if sys.version_info >= (3, 12):
        assert told[0].filename == __file__
    assert _warned(lambda: v[...]) == []
    assert any("1 fragment is not there" in warning for warning in v.dataset.warnings)


def test_fragments_that_are_not_there_are_errors_where_nothing_is_said(tmp_path: Path) -> None:
    v = ncirrus.open(_parts(tmp_path))["v"]
    with pytest.raises(ncirrus.NotFoundError, match=r"fragment \[1\] is not there"):
        v[...]


@pytest.mark.parametrize("how", ["whole", "points", "text", "many", "async"])
def test_chunks_that_were_never_written_are_reported_by_choice(tmp_path: Path, how: str) -> None:
    path = str(tmp_path / "a.zarr")
    with ncirrus.create(path, "zarr3") as ds:
        ds.create_dimension("x", 10)
        for name, dtype in (("v", "i4"), ("s", str)):
            ds.create_variable(name, dtype, ("x",), chunks=(2,))
        ds["v"][:2] = 1
        ds["s"][:2] = "a"
    ds = ncirrus.open(path, session=ncirrus.Session(missing="report"))
    v = ds["s" if how == "text" else "v"]
    assert _warned(lambda: v[:2]) == []

    async def read() -> None:
        await v.read_async(slice(4, 8))

    def act() -> None:
        import asyncio

        reads = {
            "points": lambda: v.vindex[[4, 7, 6]],
            "many": lambda: ds.read_many(["v"]),
            "async": lambda: asyncio.run(read()),
        }
        reads.get(how, lambda: v[4:8])()

    told = _warned(act)
    assert [warning.category for warning in told] == [ncirrus.MissingDataWarning]
    chunks = [1, 2, 3] if how == "many" else [2, 3]
    named = ", ".join(f"[{chunk}] of {v.path}" for chunk in chunks) + (", ..." if how == "many" else "")
    count = 4 if how == "many" else 2
    assert str(told[0].message).endswith(f"a.zarr: {count} chunks were never written, the elements are fill: {named}")
    assert _warned(act) == []


def test_chunks_that_were_never_written_are_nothing_special_by_default(tmp_path: Path) -> None:
    path = str(tmp_path / "a.zarr")
    with ncirrus.create(path, "zarr3") as ds:
        ds.create_dimension("x", 4)
        ds.create_variable("v", "i4", ("x",), chunks=(2,))
    assert _warned(lambda: ncirrus.open(path)["v"][...]) == []


def _served(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), "nc3") as ds:
        ds.create_dimension("x", 1000)
        ds.create_variable("v", "i4", ("x",))[...] = numbers((1000,))


def test_requests_go_to_the_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _served(tmp_path)
    with CountingServer(tmp_path) as server:
        with caplog.at_level(logging.DEBUG, logger="ncirrus"):
            ds = ncirrus.open(f"{server.url}/a.nc", session=ncirrus.Session())
            assert np.array_equal(ds["v"][...], numbers((1000,)))
        sent = [
            (method, server.url + path, wanted and wanted.removeprefix("bytes="))
            for _, method, path, wanted in server.requests
        ]
        told = [record.request for record in caplog.records]  # type: ignore[attr-defined]
        assert sorted([(one["method"], one["object"], one["range"]) for one in told], key=str) == sorted(sent, key=str)
        assert {record.name for record in caplog.records} == {"ncirrus"}
        assert {record.levelno for record in caplog.records} == {logging.DEBUG}
        assert all(one["status"] in (200, 206) and one["milliseconds"] >= 0 for one in told)
        assert any(one["received"] >= 4000 for one in told)
        assert "GET " in caplog.records[-1].getMessage() and f"{server.url}/a.nc" in caplog.records[-1].getMessage()

        caplog.clear()
        with caplog.at_level(logging.INFO, logger="ncirrus"):
            assert ncirrus.open(f"{server.url}/a.nc", session=ncirrus.Session())["v"][0] == 0
        assert caplog.records == []


def test_requests_that_fail_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with CountingServer(tmp_path) as server, caplog.at_level(logging.DEBUG, logger="ncirrus"):
        with pytest.raises(FileNotFoundError):
            ncirrus.open(f"{server.url}/nothing.nc", session=ncirrus.Session())
    assert {record.request["status"] for record in caplog.records} == {404}  # type: ignore[attr-defined]


def test_an_interrupt_in_a_handler_of_the_log_ends_the_read(tmp_path: Path) -> None:
    class Interrupted(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise KeyboardInterrupt

    logger, handler = logging.getLogger("ncirrus"), Interrupted()
    _served(tmp_path)
    with CountingServer(tmp_path) as server:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        try:
            with pytest.raises(KeyboardInterrupt):
                ncirrus.open(f"{server.url}/a.nc", session=ncirrus.Session())
        finally:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)


def test_requests_of_tasks_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import asyncio

    async def read(url: str) -> Any:
        ds = await ncirrus.open_async(url, session=ncirrus.Session())
        return await ds.variables["v"].read_async(slice(0, 10))

    _served(tmp_path)
    with CountingServer(tmp_path) as server, caplog.at_level(logging.DEBUG, logger="ncirrus"):
        assert asyncio.run(read(f"{server.url}/a.nc")).tolist() == list(range(10))
        assert len(caplog.records) == len(server.requests) > 0


def test_secrets_are_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _served(tmp_path)
    with CountingServer(tmp_path) as server, caplog.at_level(logging.DEBUG):
        host = server.url.removeprefix("http://")
        ncirrus.open(f"http://{host}/a.nc?X-Amz-Signature=s3cr3t", session=ncirrus.Session())
        ncirrus.open(f"http://user:s3cr3t@{host}/a.nc", session=ncirrus.Session())
        with pytest.raises(ncirrus.Error) as caught:
            ncirrus.open(
                "s3://bucket/a.nc",
                session=ncirrus.Session(),
                storage_options={"key": "AKIAFAKE", "secret": "s3cr3t", "token": "t0k3n", "endpoint_url": server.url},
            )
    assert len(caplog.records) > 3
    records = repr([record.__dict__ for record in caplog.records])
    for text in (caplog.text, records, str(caught.value), repr(caught.value)):
        assert "s3cr3t" not in text and "t0k3n" not in text and "AKIAFAKE" not in text


def test_without_logging_nothing_is_imported(tmp_path: Path) -> None:
    _served(tmp_path)
    with CountingServer(tmp_path) as server:
        code = (
            "import sys\nimport ncirrus\n"
            f"assert ncirrus.open({server.url + '/a.nc'!r})['v'][5] == 5\n"
            "assert 'logging' not in sys.modules\n"
            "import logging\nlogging.basicConfig(level=logging.DEBUG, stream=sys.stdout)\n"
            f"assert ncirrus.open({server.url + '/a.nc'!r}, session=ncirrus.Session())['v'][5] == 5\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(Path(ncirrus.__file__).parents[1])}
        command = [sys.executable, "-S", "-c", _SITE + code]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("DEBUG:ncirrus:GET ") > 0


# The packages beside the interpreter, without what they import when it starts.
_SITE = f"import sys\nsys.path += {[path for path in sys.path if path]!r}\n"
