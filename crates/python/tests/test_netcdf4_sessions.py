"""Which session datasets of `ncirrus.netCDF4` are opened in: keys of `rc_set`, and what object stores need."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from counting import CountingServer

import ncirrus
from ncirrus.netCDF4 import Dataset, rc_set, settings
from ncirrus.s3netcdf4 import configuration


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_rc", {})
    monkeypatch.setattr(settings, "_sessions", {})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CountingServer]:
    with Dataset(tmp_path / "a.nc", "w", format="NETCDF3_CLASSIC") as ds:
        ds.note = "here"
    with CountingServer(tmp_path) as made:
        yield made


def agents_of(server: CountingServer, **words: Any) -> set[str | None]:
    """How the program names itself when it opens the file."""
    server.forget()
    with Dataset(f"{server.url}/a.nc", **words) as ds:
        assert ds.note == "here"
    return set(server.agents)


def test_keys_of_rc_files_hold_for_later_datasets(server: CountingServer) -> None:
    before = agents_of(server)
    assert "first/1" not in before
    rc_set("HTTP.USERAGENT", "first/1")
    assert agents_of(server) == {"first/1"}
    # One session for all datasets with the same keys.
    assert settings.session_at(server.url) is settings.session_at(server.url)
    rc_set("HTTP.USERAGENT", "second/2")
    assert agents_of(server) == {"second/2"}
    assert agents_of(server, session=ncirrus.Session()) == before
    assert agents_of(server, storage_options={"anon": True}) == {"second/2"}


def test_keys_of_rc_files_go_before_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NCIRRUS_TIMEOUT", "8s")
    rc_set("HTTP.TIMEOUT", 5)
    with Dataset(tmp_path / "a.nc", "w") as ds:
        effective = {name: (value, origin) for name, value, origin in ds._place.dataset.session._native().effective()}
    assert effective["timeout"] == ("5s", "the program")


def test_keys_of_rc_files_hold_for_aggregations(tmp_path: Path) -> None:
    rc_set("HTTP.USERAGENT", "first/1")
    told = {name: value for name, value, _ in configuration.session()._native().effective()}
    assert told["http.user_agent"] == "first/1"


def test_passwords_among_the_keys_are_not_shown_and_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    rc_set("HTTP.CREDENTIALS.PASSWORD", "geheim")
    session = settings.session_at("https://h.org/a.nc")
    assert session is not None and "geheim" not in repr(session)
    assert "geheim" not in repr(session._native().effective())
    hidden = ncirrus.Session(portable_keys=False)._with_words({}, settings.rc_keys())
    assert b"geheim" not in pickle.dumps(hidden) and b"geheim" in pickle.dumps(session)


def test_files_of_object_stores_are_synced_and_changed(moto: Any) -> None:
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=moto["endpoint_url"],
        aws_access_key_id=moto["key"],
        aws_secret_access_key=moto["secret"],
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="netcdf4")
    place, words = "s3://netcdf4/a.nc", {"storage_options": moto}
    with Dataset(place, "w", **words) as ds:
        ds.createDimension("x", None)
        ds.createVariable("v", "i4", ("x",))[:] = [1, 2]
        # A warning says that changes there are costly.
        with pytest.warns(ncirrus.NcirrusWarning, match="downloaded and uploaded again"):
            ds.sync()
        with Dataset(place, **words) as seen:
            assert seen["v"][:].tolist() == [1, 2]
        ds["v"][2] = 3
        assert ds["v"][:].tolist() == [1, 2, 3]
    with pytest.warns(ncirrus.NcirrusWarning, match="downloaded and uploaded again"):
        changing = Dataset(place, "a", **words)
    with changing as ds:
        ds["v"][0] = 9
        ds.note = "changed"
    with Dataset(place, **words) as ds:
        assert ds["v"][:].tolist() == [9, 2, 3] and ds.note == "changed"
