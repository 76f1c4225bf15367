"""The configuration of S3netCDF4: `$S3_NC_CONFIG`, else `~/.s3nc.json`.

The library reads it whole, with every other source (`docs/configuration.md`). Here it is looked at for what S3netCDF4
refuses, and for what only Python can do: back ends that programs register.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ncirrus.netCDF4.settings import rc_keys
from ncirrus.s3netcdf4.exceptions import APIException, IOException
from ncirrus.sessions import Session

_VERSION = "9"
# The library does what both of S3netCDF4's back ends are for.
_OWN_BACKENDS = ("s3aioFileObject", "s3FileObject", "_s3aioFileObject", "_s3FileObject")


@dataclass(frozen=True)
class Configuration:
    """What the file says; nothing where there is none."""

    path: str
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def host(self, address: str) -> dict[str, Any] | None:
        """The host whose alias an address begins with."""
        parts = urlsplit(address)
        return self.hosts.get(f"{parts.scheme}://{parts.netloc}") if parts.scheme else None


def path() -> str:
    """Where the file is, or would be."""
    return os.path.expanduser(os.environ.get("S3_NC_CONFIG") or "~/.s3nc.json")


def configuration() -> Configuration:
    """The file as it is now. Raises `IOException` where it cannot be read, and `APIException` for another version."""
    place = path()
    try:
        with open(place, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        if os.environ.get("S3_NC_CONFIG"):
            raise IOException(f"User config file does not exist with path: {place}", object=place) from None
        return Configuration(place)
    except OSError as error:
        raise IOException(f"User config file cannot be read: {error.strerror}", object=place) from error
    return _checked(place, _parsed(place, text))


def _parsed(place: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        # The text is not shown: it has keys.
        message = f"User config file is no JSON: {error.msg}, line {error.lineno}"
        raise IOException(message, object=place) from None
    if not isinstance(found, dict):
        raise IOException("User config file is no JSON object", object=place)
    return found


def _checked(place: str, found: dict[str, Any]) -> Configuration:
    if str(found.get("version")) != _VERSION:
        raise APIException(
            "User config file is not compatible with current version of S3netCDF4.  "
            f"Please update the config file at: {place}",
            object=place,
            hint=f'"version" is to be "{_VERSION}"',
        )
    hosts = found.get("hosts", {})
    hosts = {name: host for name, host in hosts.items() if isinstance(host, dict)} if isinstance(hosts, dict) else {}
    from ncirrus.s3netcdf4.backends import registered

    for name, host in hosts.items():
        backend = host.get("backend", _OWN_BACKENDS[0])
        if backend not in _OWN_BACKENDS and registered(str(backend)) is None:
            message = f"Backend {backend!r} of host {name} is not known"
            hint = "s3aioFileObject and s3FileObject are; register_backend(name, cls) adds others"
            raise APIException(message, object=place, hint=hint)
    return Configuration(place, hosts)


_lock = threading.Lock()
_sessions: dict[tuple[Any, ...], Session] = {}


def session() -> Session:
    """The session of datasets that were given none: it obeys the file as it is when it is first used. Files on object
    stores are put together in a scratch file, and are rewritten where they change."""
    place = path()
    try:
        state: Any = os.stat(place).st_mtime_ns
    except OSError:
        state = None
    from ncirrus.s3netcdf4 import backends

    # Back ends are looked up when they are used.
    has_own = bool(backends.stores())
    rc = rc_keys()
    key = (place, state, os.environ.get("HOME"), has_own, tuple(sorted(_variables())), tuple(rc.items()))
    with _lock:
        if key not in _sessions:
            made = Session(uploads="folder", rewrite=True, stores=backends.stores() or None)
            _sessions[key] = made._with_words({}, rc) if rc else made
        return _sessions[key]


def _variables() -> list[tuple[str, str]]:
    """The variables of the environment that sessions are made by."""
    return [(name, value) for name, value in os.environ.items() if name.startswith(("NCIRRUS_", "AWS_"))]
