"""Virtual chunks of existing files, written through a session of icechunk."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from ncirrus import _ncirrus, reports
from ncirrus.errors import ConflictError, DeniedError
from ncirrus.reports import ReferenceReport


def write(
    files: Sequence[str], store: Any, options: dict[str, Any], overwrite: bool, native: Any
) -> ReferenceReport:
    """Puts the documents and virtual chunks of files into the store of a writable session. The session is not committed."""
    store = getattr(store, "store", store)
    if not hasattr(store, "set_virtual_refs"):
        raise TypeError(f"store is session.store of a writable session of icechunk, not a {type(store).__name__}")
    if store.read_only:
        raise DeniedError("the session is read-only: use repository.writable_session(branch)")
    if not overwrite and _synchronous(store.exists("zarr.json")):
        raise ConflictError("the session has a dataset already", hint="overwrite=True replaces it in this session")
    plan = _ncirrus.plan_virtual(list(files), options, native)
    _check_containers(store, [address for address, _, _ in plan["objects"]])
    if overwrite:
        _synchronous(store.clear())
    for key, body in plan["documents"]:
        _put(store, key, body)
    for path, chunks in plan["arrays"]:
        _refer(store, path, chunks, plan["objects"])
    report = plan["report"]
    return ReferenceReport(**{**report, "left_out": reports.left_out(report["left_out"])})


def _refer(store: Any, path: str, chunks: list[Any], objects: list[Any]) -> None:
    from icechunk import VirtualChunkSpec

    states = [_state(etag, modified) for _, etag, modified in objects]
    for first in range(0, len(chunks), _BATCH):
        specs = [
            VirtualChunkSpec(index, objects[number][0], offset, length, **states[number])
            for index, number, offset, length in chunks[first : first + _BATCH]
        ]
        failed = store.set_virtual_refs(f"/{path}", specs, validate_containers=True)
        if failed:
            raise DeniedError(f"icechunk rejects {len(failed)} virtual chunks", path=f"/{path}")


def _state(etag: str | None, modified: int | None) -> dict[str, Any]:
    """What icechunk checks when a chunk is read."""
    if etag is not None:
        return {"etag_checksum": etag}
    if modified is None:
        return {}
    return {"last_updated_at_checksum": datetime.datetime.fromtimestamp(modified, datetime.timezone.utc)}


def _check_containers(store: Any, addresses: list[str]) -> None:
    """Checks that the repository has virtual chunk containers for all objects."""
    containers = store.session.config.virtual_chunk_containers or {}
    prefixes = [container.url_prefix for container in containers.values()]
    for address in addresses:
        if not any(address.startswith(prefix) for prefix in prefixes):
            raise DeniedError(
                "the repository has no virtual chunk container for this object",
                object=address,
                hint="add one with set_virtual_chunk_container to the configuration of the repository, and save_config",
            )


def _put(store: Any, key: str, body: bytes) -> None:
    from zarr.core.buffer import default_buffer_prototype

    _synchronous(store.set(key, default_buffer_prototype().buffer.from_bytes(body)))


def _synchronous(work: Any) -> Any:
    from zarr.core.sync import sync

    return sync(work)


# Virtual chunks that are passed to icechunk at once.
_BATCH = 100_000
