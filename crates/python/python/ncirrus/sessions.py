"""Sessions: threads, caches, budgets and credentials that datasets share."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ncirrus import _ncirrus, processes
from ncirrus.errors import InvalidError
from ncirrus.storage_options import settings_of

_SETTINGS: dict[str, str] = {
    "memory": "NCIRRUS_MEMORY",
    "threads": "NCIRRUS_THREADS",
    "handles": "NCIRRUS_HANDLES",
    "requests": "NCIRRUS_REQUESTS",
    "timeout": "NCIRRUS_TIMEOUT",
    "connect_timeout": "NCIRRUS_CONNECT_TIMEOUT",
    "retries": "NCIRRUS_RETRIES",
    "scratch": "NCIRRUS_SCRATCH",
    "cache.folder": "NCIRRUS_CACHE",
    "cache.size": "NCIRRUS_CACHE_SIZE",
    "index_cache.folder": "NCIRRUS_INDEX_CACHE",
    "index_cache.size": "NCIRRUS_INDEX_CACHE_SIZE",
    "plugin_path": "HDF5_PLUGIN_PATH",
    "references.hosts": "NCIRRUS_REFERENCES_HOSTS",
    "icechunk.branch": "NCIRRUS_ICECHUNK_BRANCH",
    "icechunk.tag": "NCIRRUS_ICECHUNK_TAG",
    "icechunk.snapshot": "NCIRRUS_ICECHUNK_SNAPSHOT",
    "icechunk.at": "NCIRRUS_ICECHUNK_AT",
    "virtual.containers": "NCIRRUS_VIRTUAL_CONTAINERS",
    "consolidated": "NCZARR_CONSOLIDATED",
    "profile": "AWS_PROFILE",
    "region": "AWS_REGION",
    "endpoint": "AWS_ENDPOINT_URL_S3",
    "anonymous": "AWS_SKIP_SIGNATURE",
    "requester_pays": "AWS_REQUEST_PAYER",
    "http.proxy": "NCIRRUS_PROXY",
    "http.no_proxy": "NCIRRUS_NO_PROXY",
    "http.certificates": "CURL_CA_BUNDLE",
    "http.netrc": "NETRC",
    "http.user_agent": "NCIRRUS_USER_AGENT",
}
_TABLES = ("hosts", "substitutions", "http.hosts")
_SECRETS = ("credentials", "settings", "rc")
_WORDS = (
    "threads",
    "memory",
    "chunk_cache",
    "requests",
    "handles",
    "read_ahead",
    "cache_folder",
    "index_cache",
    "block_cache",
    "missing",
    "absent",
    "durable",
    "uploads",
    "rewrite",
    "local_fragments",
    "config",
    "settings",
    "credentials",
    "codes",
    "stores",
    "codecs",
    "portable_keys",
)


class Session:
    """Threads, caches, budgets, limits and credentials; several datasets may share one."""

    __slots__ = ("__weakref__", "_arguments", "_generation", "_handle", "_is_default", "_lock", "_made_of")
    # The session and the options that it was derived from.
    _made_of: tuple[Session, dict[str, Any]] | None

    def __init__(
        self,
        *,
        threads: int | None = None,
        memory: int | str | None = None,
        chunk_cache: int | str | None = None,
        requests: int | None = None,
        handles: int | None = None,
        read_ahead: bool | None = None,
        cache_folder: str | os.PathLike[str] | None = None,
        index_cache: int | str | None = None,
        block_cache: int | str | None = None,
        missing: str | None = None,
        absent: str | None = None,
        durable: bool | None = None,
        uploads: str | None = None,
        rewrite: bool | None = None,
        local_fragments: bool | None = None,
        config: str | os.PathLike[str] | None = None,
        settings: Mapping[str, Any] | None = None,
        credentials: Mapping[str, Any] | None = None,
        codes: Callable[[str], str] | None = None,
        stores: Mapping[str, Callable[..., Any]] | None = None,
        codecs: Mapping[str, Any] | None = None,
        portable_keys: bool = True,
    ) -> None:
        given = locals()
        self._arguments: dict[str, Any] = {name: given[name] for name in _WORDS if given[name] is not None}
        self._is_default = False
        self._made_of: tuple[Session, dict[str, Any]] | None = None
        self._start()
        # Mistakes are reported when the session is made, not when it is first used.
        self._native()

    def _start(self) -> None:
        self._handle: _ncirrus.Session | None = None
        self._generation = processes.generation
        self._lock = threading.Lock()

    @classmethod
    def _of(cls, arguments: Mapping[str, Any]) -> Session:
        """A session that is made when it is first used."""
        session = cls.__new__(cls)
        session._arguments = dict(arguments)
        session._is_default, session._made_of = False, None
        session._start()
        return session

    def _native(self) -> _ncirrus.Session:
        """The handle of the extension module; after a fork a new one."""
        if self._generation != processes.generation:
            self._start()
        if self._handle is None:
            with self._lock:
                if self._handle is None:
                    handle = _ncirrus.Session(_native_words({**_of_worker(self._arguments), **self._arguments}))
                    processes.remember(handle)
                    self._handle = handle
        return self._handle

    def statistics(self) -> dict[str, int]:
        """Statistics of what was fetched and decoded so far."""
        return self._native().statistics()

    def _with(self, storage_options: Mapping[str, Any] | None) -> Session:
        """A session with other credentials; the same one for the same options."""
        if not storage_options:
            return self
        return _derived(self, storage_options)

    def _with_words(self, words: Mapping[str, Any], rc: Mapping[str, str]) -> Session:
        """A session with further words where it has none of its own, and with keys of netCDF's rc files, which go before
        what files and the environment say."""
        keys = {**self._arguments.get("rc", {}), **rc}
        return Session._of({**words, **self._arguments, **({"rc": keys} if keys else {})})

    def __reduce__(self) -> tuple[Any, ...]:
        if self._made_of is not None:
            session, options = self._made_of
            return _with_options, (session, options if session._arguments.get("portable_keys", True) else {})
        if self._is_default and not _configured and not _registered:
            # That of the process where it is unpickled: its threads and memory are others.
            return default_session, ()
        arguments = dict(self._arguments)
        if _registered:
            arguments["codecs"] = {**_registered, **(arguments.get("codecs") or {})}
        if not arguments.get("portable_keys", True):
            # Keys of rc files may be passwords, too.
            for name in ("credentials", "rc"):
                arguments.pop(name, None)
        return _shared, (arguments,)

    def __repr__(self) -> str:
        shown = {name: value for name, value in self._arguments.items() if name not in _SECRETS}
        hidden = {name: "..." for name in _SECRETS if name in self._arguments}
        words = ", ".join(
            [f"{name}={value!r}" for name, value in shown.items()] + [f"{name}={value}" for name, value in hidden.items()]
        )
        return f"ncirrus.Session({words})"


def _native_words(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The session's arguments as the extension module takes them."""
    words = {name: value for name, value in arguments.items() if name not in ("settings", "credentials", "portable_keys")}
    own = words.get("stores") or {}
    words["stores"] = {"python": _bridged, **{scheme: _connecting(factory) for scheme, factory in own.items()}}
    variables, tables = _settings(arguments.get("settings") or {})
    words["variables"], words["tables"] = variables, tables
    lent = {**_registered, **(words.get("codecs") or {})}
    if lent:
        from ncirrus import lent_codecs

        words["codecs"] = {name: lent_codecs.lent(name, codec) for name, codec in lent.items()}
    found, word = settings_of(arguments.get("credentials") or {})
    words["store_settings"] = found
    if word is not None:
        words["credentials"] = word
    return words


def _bridged(url: str) -> Any:
    """Where an address is that stands for a store of Python's."""
    from ncirrus import stores

    return stores.connect(url)


def _connecting(factory: Callable[..., Any]) -> Callable[[str], Any]:
    def connecting(url: str) -> Any:
        from ncirrus import stores

        return stores.connected(factory, url)

    return connecting


def _settings(settings: Mapping[str, Any]) -> tuple[dict[str, str], str | None]:
    """Settings as variables of the environment, and tables in the words of the configuration's file."""
    flat: dict[str, Any] = {}
    tables: dict[str, Mapping[str, Any]] = {}
    for name, value in settings.items():
        inner = {f"{name}.{key}": part for key, part in value.items()} if isinstance(value, Mapping) else {name: value}
        for key, part in ({name: value} if name in _TABLES else inner).items():
            if key in _TABLES:
                tables[key] = part
            else:
                flat[key] = part
    unknown = [name for name in flat if name not in _SETTINGS]
    if unknown:
        raise InvalidError(f"unknown setting {unknown[0]!r}", hint="ncirrus.config_show() lists the settings")
    hosts = flat.get("references.hosts")
    if isinstance(hosts, (list, tuple)):
        flat["references.hosts"] = ",".join(map(str, hosts))
    variables = {_SETTINGS[name]: _text(value) for name, value in flat.items() if value is not None}
    return variables, _toml(tables) if tables else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.pathsep.join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    import json

    lines = []
    for table, members in tables.items():
        if table == "substitutions":
            members = {"": members}
        for name, entries in members.items():
            lines.append(f"[{table}.{json.dumps(name)}]" if name else f"[{table}]")
            lines.extend(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in entries.items())
    return "\n".join(lines)


_lock = threading.Lock()
_default: Session | None = None
_configured: dict[str, Any] = {}
_registered: dict[str, Any] = {}
_sessions: dict[tuple[int, str], tuple[Session, Session]] = {}
_MOST = 64


def _derived(session: Session, storage_options: Mapping[str, Any]) -> Session:
    settings_of(storage_options)
    key = (id(session), repr(sorted(storage_options.items(), key=lambda item: str(item[0]))))
    with _lock:
        found = _sessions.get(key)
        if found is not None:
            return found[1]
        credentials = {**(session._arguments.get("credentials") or {}), **storage_options}
        derived = Session._of({**session._arguments, "credentials": credentials})
        derived._made_of = (session, dict(storage_options))
        while len(_sessions) >= _MOST:
            _sessions.pop(next(iter(_sessions)))
        # The session is kept as well, so that its number is not another's.
        _sessions[key] = (session, derived)
        return derived


def configure(**arguments: Any) -> None:
    """Configures the default session. It must be called before that session is used."""
    global _default, _configured
    unknown = [name for name in arguments if name not in _WORDS]
    if unknown:
        raise TypeError(f"Session has no option {unknown[0]!r}")
    with _lock:
        if _default is not None and _default._handle is not None:
            raise InvalidError(
                "the default session is in use already", hint="call ncirrus.configure() before the first dataset is opened"
            )
        _configured, _default = dict(arguments), None


def register_codec(
    name: str, decode: Any = None, encode: Any = None, *, hdf5_id: int | None = None, members: Sequence[str] = ()
) -> None:
    """Lends a codec to all sessions that are made from now on, and to the default session.

    Chunks with the codec `name` are decoded by `decode(data, chunk)`, which is given bytes and a `CodecChunk`, and returns bytes
    or an array; `encode` is its inverse. Instead of `decode` a class of numcodecs or a `LentCodec` can be given. Several threads
    call both at once.
    """
    global _default
    from ncirrus import lent_codecs

    if encode is None and hdf5_id is None and not members and decode is not None:
        codec = lent_codecs.lent(name, decode)
    else:
        codec = lent_codecs.LentCodec(decode, encode, hdf5_id=hdf5_id, members=members)
    # A name that is taken is reported here.
    Session._of({"codecs": {name: codec}})._native()
    with _lock:
        _registered[name] = codec
        _default = None


def default_session() -> Session:
    """The session of datasets that were given none: one for each process, made at first use."""
    global _default
    with _lock:
        if _default is None:
            _default = Session._of(_configured)
            _default._is_default = True
        return _default


def _with_options(session: Session, storage_options: dict[str, Any]) -> Session:
    """A session that came by a pickle, with other credentials."""
    return session._with(storage_options)


_arrived: dict[str, Session] = {}


def _shared(arguments: dict[str, Any]) -> Session:
    """A session that came by a pickle: one for the same arguments, however often they come."""
    key = repr(sorted(arguments.items()))
    with _lock:
        if key not in _arrived:
            _arrived[key] = Session._of(arguments)
        return _arrived[key]


def _forked() -> None:
    """A lock that another thread held when the process forked is never given back."""
    global _lock
    _lock = threading.Lock()


processes.after_fork(_forked)


def _of_worker(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Inside of a worker of Dask its threads, an eighth of its memory, and no reading ahead, since what comes next may be the part of
    another worker, unless the session's settings name others."""
    distributed = sys.modules.get("distributed.worker")
    if distributed is None or "config" in arguments:
        return {}
    try:
        worker = distributed.get_worker()
    except ValueError:
        return {}
    state = getattr(worker, "state", None)
    found: dict[str, Any] = {"read_ahead": False}
    threads = getattr(state, "nthreads", None)
    if threads:
        found["threads"] = int(threads)
    limit = getattr(getattr(worker, "memory_manager", None), "memory_limit", None)
    if limit:
        found["memory"] = max(64 << 20, int(limit) // 8)
    return {name: value for name, value in found.items() if name not in (arguments.get("settings") or {})}
