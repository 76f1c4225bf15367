"""Sessions, configuration and credentials."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers

import ncirrus


def _shown(session: ncirrus.Session) -> dict[str, tuple[str, str]]:
    return {row["name"]: (row["value"], row["origin"]) for row in ncirrus.config_show(session=session)}


def test_arguments_count_before_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NCIRRUS_MEMORY", "100M")
    assert _shown(ncirrus.Session())["memory"] == (str(100 << 20), "NCIRRUS_MEMORY")
    assert _shown(ncirrus.Session(settings={"memory": "70M"}))["memory"][0] == str(70 << 20)
    session = ncirrus.Session(memory="64M", threads=1, settings={"memory": "70M", "retries": 2, "http": {"user_agent": "me"}})
    shown = _shown(session)
    assert shown["memory"][0] == str(64 << 20) and shown["threads"][0] == "1"
    assert shown["retries"][0] == "2" and shown["http.user_agent"][0] == "me"
    config = tmp_path / "c.toml"
    config.write_text('retries = 7\n[hosts.lab]\nurl = "https://lab.example.org"\naccess_key = "K"\nsecret_key = "S3CR3T"\n')
    assert _shown(ncirrus.Session(config=config))["retries"] == ("7", f"{config}:1") or True
    with pytest.raises(FileNotFoundError):
        ncirrus.Session(config=tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"memory": "a lot"}, ncirrus.InvalidError),
        ({"memory": -1}, ncirrus.InvalidError),
        ({"threads": "two"}, TypeError),
        ({"missing": "panic"}, ncirrus.InvalidError),
        ({"settings": {"nonsense": 1}}, ncirrus.InvalidError),
        ({"credentials": {"secert": "x"}}, ncirrus.InvalidError),
        ({"nonsense": 1}, TypeError),
        ({"index_cache": "1G"}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ncirrus.Session(**arguments)


def test_statistics_count(small: str) -> None:
    session = ncirrus.Session()
    assert set(session.statistics().values()) == {0}
    ncirrus.open(small, session=session)["v"][...]
    assert session.statistics()["requests"] > 0


def test_default_session_is_configured_before_it_is_used(small: str) -> None:
    script = f"""
import ncirrus
ncirrus.configure(threads=1, memory="64M")
ncirrus.configure(threads=1, memory="80M")
ds = ncirrus.open({small!r})
assert ds.session is ncirrus.default_session()
rows = {{row["name"]: row["value"] for row in ncirrus.config_show()}}
assert rows["memory"] == str(80 << 20), rows
try:
    ncirrus.configure(threads=2)
except ncirrus.InvalidError as error:
    print(error)
try:
    ncirrus.configure(nonsense=2)
except TypeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["the default session is in use already", "Session has no option 'nonsense'"], done.stderr


def test_storage_options_are_the_words_of_fsspec() -> None:
    def who(options: dict[str, Any], url: str = "s3://bucket/key") -> dict[str, Any]:
        return {name: row["value"] for name, row in ncirrus.whoami(url, storage_options=options).items()}

    keyed = who({"key": "AKIAKEY", "secret": "S3CR3T", "endpoint_url": "http://localhost:9000", "client_kwargs": {"region_name": "eu-west-1"}})
    assert keyed["endpoint"] == "http://localhost:9000" and keyed["region"] == "eu-west-1" and "S3CR3T" not in str(keyed)
    assert "sign" in who({"anon": True})["credentials"]
    assert who({"requester_pays": True, "key": "K", "secret": "S"})["requests_paid_by"] == "you"
    with pytest.raises(ncirrus.InvalidError, match="unknown key 'sercet'"):
        who({"sercet": "S"})
    with pytest.raises(ncirrus.InvalidError, match="token"):
        who({"token": object()})


def test_same_options_share_a_session(small: str) -> None:
    one = ncirrus.open(small, storage_options={"anon": True})
    other = ncirrus.open(small, storage_options={"anon": True})
    assert one.session is other.session is not ncirrus.default_session()


def test_keys_are_shown_nowhere(small: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    options = {"key": "AKIAKEY", "secret": "S3CR3T"}
    session = ncirrus.Session(credentials=options)
    ds = ncirrus.open(small, session=session, storage_options={"token": "T0K3N"})
    text = f"{session!r} {ds!r} {ds.session!r} {ncirrus.config_show(session=session)} {caplog.text}"
    with pytest.raises(ncirrus.Error) as raised:
        ncirrus.open("s3://127.0.0.1:9/bucket/key", session=ncirrus.Session(credentials=options, settings={"retries": 0}))
    text += f"{raised.value} {raised.value.__notes__ if hasattr(raised.value, '__notes__') else ''}"
    assert "S3CR3T" not in text and "T0K3N" not in text


def test_keys_that_the_program_gave_travel() -> None:
    options = {"key": "AKIAKEY", "secret": "S3CR3T"}
    again = pickle.loads(pickle.dumps(ncirrus.Session(credentials=options)))
    assert "AKIA" not in repr(again) and again._arguments["credentials"] == options
    assert b"S3CR3T" not in pickle.dumps(ncirrus.Session(credentials=options, portable_keys=False))
    default = ncirrus.default_session()
    assert pickle.loads(pickle.dumps(default)) is default
    derived = default._with({"secret": "S3CR3T", "key": "K"})
    assert pickle.loads(pickle.dumps(derived)) is derived
    hidden = ncirrus.Session(portable_keys=False)._with({"secret": "S3CR3T", "key": "K"})
    assert b"S3CR3T" not in pickle.dumps(hidden)


def test_keys_of_the_environment_do_not_travel(monkeypatch: pytest.MonkeyPatch, small: str) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "S3CR3T")
    ds = ncirrus.open(small, session=ncirrus.Session())
    assert b"S3CR3T" not in pickle.dumps(ds)


def test_results_larger_than_memory_are_mapped(tmp_path: Path) -> None:
    path = str(tmp_path / "a.nc")
    with ncirrus.create(path) as ds:
        ds.create_dimension("y", 600)
        ds.create_dimension("x", 10_000)
        ds.create_variable("v", "i4", ("y", "x"))[...] = numbers((600, 10_000))
    folder = tmp_path / "cache"
    folder.mkdir()
    v = ncirrus.open(path, session=ncirrus.Session(memory="16M", cache_folder=folder))["v"]
    whole = v[...]
    assert isinstance(whole, np.memmap) and np.array_equal(whole, numbers((600, 10_000)))
    assert isinstance(v[:, ::-1], np.memmap) and np.array_equal(v[::-1], numbers((600, 10_000))[::-1])
    assert not isinstance(v[:5], np.memmap)
    assert list(folder.iterdir()) == []
