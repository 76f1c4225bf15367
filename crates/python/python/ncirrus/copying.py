"""Copies of datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from ncirrus import _ncirrus, reports
from ncirrus.codecs import filters_of
from ncirrus.opening import _place, _session
from ncirrus.progress import reporting
from ncirrus.reports import CopyPlan, CopyReport
from ncirrus.sessions import Session
from ncirrus.sources import Opened, Options, Overwrite, Source


@overload
def copy(
    source: Source,
    target: Any,
    *,
    kind: str | None = ...,
    overwrite: Overwrite = ...,
    chunks: Mapping[str, Any] | Sequence[str] | Literal[False] | None = ...,
    shards: Mapping[str, Any] | Sequence[str] | Literal["auto", False] | None = ...,
    index_first: bool | None = ...,
    filters: Any = ...,
    filter_rules: Sequence[str] = ...,
    drop_filters: bool = ...,
    quantize: Sequence[str] = ...,
    cf_quantization: bool = ...,
    variables: Sequence[str] = ...,
    groups: Sequence[str] = ...,
    select: Sequence[str] = ...,
    skip_damaged: bool = ...,
    fix_unlimited: bool = ...,
    long_names: Literal["refuse", "shorten"] = ...,
    rename_reserved: bool = ...,
    verify: bool = ...,
    packing: Literal["attributes", "codecs"] = ...,
    dry_run: Literal[False] = ...,
    progress: Any = ...,
    session: Session | None = ...,
    storage_options: Options = ...,
    **create: Any,
) -> CopyReport: ...
@overload
def copy(
    source: Source,
    target: Any,
    *,
    kind: str | None = ...,
    overwrite: Overwrite = ...,
    chunks: Mapping[str, Any] | Sequence[str] | Literal[False] | None = ...,
    shards: Mapping[str, Any] | Sequence[str] | Literal["auto", False] | None = ...,
    index_first: bool | None = ...,
    filters: Any = ...,
    filter_rules: Sequence[str] = ...,
    drop_filters: bool = ...,
    quantize: Sequence[str] = ...,
    cf_quantization: bool = ...,
    variables: Sequence[str] = ...,
    groups: Sequence[str] = ...,
    select: Sequence[str] = ...,
    skip_damaged: bool = ...,
    fix_unlimited: bool = ...,
    long_names: Literal["refuse", "shorten"] = ...,
    rename_reserved: bool = ...,
    verify: bool = ...,
    packing: Literal["attributes", "codecs"] = ...,
    dry_run: Literal[True],
    progress: Any = ...,
    session: Session | None = ...,
    storage_options: Options = ...,
    **create: Any,
) -> CopyPlan: ...
def copy(
    source: Source,
    target: Any,
    *,
    kind: str | None = None,
    overwrite: Overwrite = False,
    chunks: Mapping[str, Any] | Sequence[str] | Literal[False] | None = None,
    shards: Mapping[str, Any] | Sequence[str] | Literal["auto", False] | None = None,
    index_first: bool | None = None,
    filters: Any = None,
    filter_rules: Sequence[str] = (),
    drop_filters: bool = False,
    quantize: Sequence[str] = (),
    cf_quantization: bool = False,
    variables: Sequence[str] = (),
    groups: Sequence[str] = (),
    select: Sequence[str] = (),
    skip_damaged: bool = False,
    fix_unlimited: bool = False,
    long_names: Literal["refuse", "shorten"] = "refuse",
    rename_reserved: bool = False,
    verify: bool = False,
    packing: Literal["attributes", "codecs"] = "attributes",
    dry_run: bool = False,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Options = None,
    **create: Any,
) -> CopyReport | CopyPlan:
    """Copies a dataset to any writable kind and place, also into a store of zarr or a session of icechunk. The copy appears
    complete or not at all.

    `chunks` are lengths by dimension (`None`: the whole of it) and shapes by variable; `shards`, of a copy in Zarr v3, are given
    in the same way, are about 256 MiB large (`"auto"`), or none (`False`). `index_first` says
    whether their indexes are at the start (`None`: as in the source, otherwise at the end). `filters` are those of all variables
    (an empty list: none). `packing="codecs"` stores packed variables in Zarr v3 as floats with the codecs `scale_offset` and
    `cast_value`. `create` are further options of `ncirrus.create`.

    Arrays of Zarr v3 with these codecs become packed variables, if the source is an address and the values are the same bit for
    bit; an open dataset is copied as it was opened (`ncirrus.open(.., packed="exact")`).
    """
    options = {
        "create": {**create, "kind": kind},
        "overwrite": overwrite,
        "chunks": chunk_rules(chunks),
        "shards": shard_rules(shards),
        "index_first": index_first,
        "filters": filters_of(filters),
        "filter_rules": list(filter_rules),
        "drop_filters": drop_filters,
        "quantize": list(quantize),
        "cf_quantization": cf_quantization,
        "variables": list(variables),
        "groups": list(groups),
        "select": list(select),
        "skip_damaged": skip_damaged,
        "fix_unlimited": fix_unlimited,
        "long_names": long_names,
        "rename_reserved": rename_reserved,
        "verify": verify,
        "packing": packing,
    }
    address, storage_options = _target(target, storage_options)
    found = _session(session, storage_options)
    packed = "stored" if kind == "zarr3" else "exact"
    with Opened(source, found, packed=packed) as dataset:
        native = found._native()
        if dry_run:
            return reports.copy_plan(_ncirrus.plan_copy(dataset._opened(), address, options, native))
        with reporting(progress, "elements") as report:
            told = _ncirrus.copy(dataset._opened(), address, options, report, native)
        return reports.copy_report(told)


def _target(target: Any, storage_options: Options) -> tuple[str, Options]:
    """An address with its options, also for a store of another library. Memory would be lost."""
    if target is None or isinstance(target, bytes | bytearray | memoryview):
        raise TypeError(f"an address is text, a path or a store, not a {type(target).__name__}")
    return _place(target, storage_options)


def chunk_rules(chunks: Any) -> list[str]:
    """Rules of chunk shapes as the library takes them."""
    if chunks is None:
        return []
    if chunks is False:
        return ["/"]
    if isinstance(chunks, str):
        return [chunks]
    if not isinstance(chunks, Mapping):
        return list(chunks)
    rules = []
    for name, value in chunks.items():
        if value is False:
            rules.append(f"{name}:contiguous")
        elif value is None or isinstance(value, int):
            rules.append(f"{name}/{'' if value is None else value}")
        else:
            rules.append(f"{name}:{','.join(str(length) for length in value)}")
    return rules


def shard_rules(shards: Any) -> list[str]:
    """Rules of shards as the library takes them."""
    if shards is False:
        return ["none"]
    if not isinstance(shards, Mapping):
        return chunk_rules(shards)
    return [rule.removesuffix("contiguous") for rule in chunk_rules(shards)]
