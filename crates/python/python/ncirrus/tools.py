"""Operations on whole datasets: the commands of `ncirrus`, as functions with typed reports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ncirrus import _ncirrus, reports, virtual_chunks
from ncirrus.copying import chunk_rules
from ncirrus.errors import ConflictError, Error, IoError
from ncirrus.opening import _address, _session, open
from ncirrus.progress import reporting
from ncirrus.reports import (
    AggregationReport,
    AppendReport,
    CheckReport,
    CleanReport,
    ComparisonReport,
    Filter,
    FoundDataset,
    GenerateReport,
    Key,
    Leftover,
    OptimizedFiles,
    ReferenceReport,
    RemovalReport,
    RenamedFragment,
    SplitReport,
)
from ncirrus.sessions import Session, default_session
from ncirrus.sources import Opened, Options, Overwrite, Source
from ncirrus.variable import Plan


def aggregate(
    files: Any,
    target: Any,
    *,
    axes: Sequence[str] | str = (),
    new_axis: str | None = None,
    sort: bool = False,
    compare: bool = True,
    convention: Literal["cf-1.13", "cfa-0.6", "cfa-0.5", "cfa-0.4"] | None = None,
    kind: str | None = None,
    naming: Literal["relative", "absolute"] | tuple[str, str] | None = None,
    compat: bool = False,
    overwrite: Overwrite = False,
    dry_run: bool = False,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Options = None,
) -> AggregationReport:
    """Makes one dataset of many files without copying their data.

    `files` are paths, URLs, wildcards and directories. `naming` is the form of fragment names: relative to the master,
    absolute, or below a name for a URL (`("BASE", "s3://bucket/run1/")`).
    """
    options = {
        **{"axes": _names(axes), "new_axis": new_axis, "sort": sort, "compare": compare, "dry_run": dry_run},
        **{"convention": convention, "kind": kind, "naming": naming, "compat": compat, "overwrite": overwrite},
    }
    return _aggregated(files, target, options, progress, _session(session, storage_options))


def aggregate_add(
    target: Any,
    files: Any,
    *,
    axes: Sequence[str] | str = (),
    sort: bool = False,
    compare: bool = True,
    dry_run: bool = False,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Options = None,
) -> AggregationReport:
    """Adds files to an aggregation; its present files are not opened. With `sort` they may be anywhere along the axis."""
    options = {"axes": _names(axes), "sort": sort, "compare": compare, "dry_run": dry_run, "add": True}
    return _aggregated(files, target, options, progress, _session(session, storage_options))


def append(
    target: Any,
    sources: Any,
    *,
    along: str | None = None,
    reorder: bool = False,
    skip_existing: bool = False,
    keep: bool = False,
    ignore: Sequence[str] | str | None = None,
    dry_run: bool = False,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Options = None,
) -> AppendReport:
    """Adds the records of datasets, in the given order, to the end of a dataset.

    Everything is checked before anything is written. The error, or the report of a dry run, lists mismatches.
    """
    options: dict[str, Any] = {
        **{"along": along, "reorder": reorder, "skip_existing": skip_existing, "keep": keep, "dry_run": dry_run},
        **({} if ignore is None else {"ignore": _names(ignore)}),
    }
    given = _session(session, storage_options)._native()
    with reporting(progress, "elements") as report:
        told = _ncirrus.append(_address(target), _addresses(sources), options, report, given)
    return AppendReport(**told)


def check(
    url: Any,
    *,
    quick: bool = False,
    cf: bool = False,
    absent: bool = False,
    digest: bool = False,
    profile: str | os.PathLike[str] | None = None,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Options = None,
) -> CheckReport:
    """Checks that a dataset is sound: metadata, locations of chunks, values with their checksums, references.

    `quick` leaves out the values, `cf` also checks the CF conventions, `absent` lists chunks that were never written, and
    `digest` computes a SHA-256 of the values of each variable, which is equal for equal values in any format. With a
    `profile` (`"cmip7"`, `"cloud"` or the path of a TOML file) only the storage is checked, by reading metadata.
    """
    options: dict[str, Any] = {
        **{"quick": quick, "cf": cf, "absent": absent, "digest": digest},
        **({} if profile is None else {"profile": os.fspath(profile)}),
    }
    given = _session(session, storage_options)._native()
    with reporting(progress, "elements") as report:
        return reports.check_report(_ncirrus.check(_address(url), options, report, given))


def compare(
    first: Source,
    second: Source,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    ulps: int | None = None,
    only: Literal["data", "definitions"] | None = None,
    variables: Sequence[str] | str = (),
    groups: Sequence[str] | str = (),
    select: Sequence[str] | str = (),
    ignore: Sequence[str] | str | None = None,
    order: bool = False,
    unpacked: bool = False,
    listed: int = 1,
    session: Session | None = None,
    storage_options: Options = None,
) -> ComparisonReport:
    """Compares two datasets of any kind and place: definitions, attributes, values.

    Numbers are the same within any of `tolerance` (absolute), `relative` and `ulps`. `select` are parts of variables, such
    as `"sst[0:10,5,:]"`; `ignore` are attributes that do not count (`history` and `_NCProperties` if it is not given);
    `listed` differing elements of each variable are in the report.
    """
    options: dict[str, Any] = {
        **{"tolerance": tolerance, "relative": relative, "ulps": ulps, "only": only, "order": order},
        **{"variables": _names(variables), "groups": _names(groups), "select": _names(select)},
        **{"unpacked": unpacked, "listed": listed},
        **({} if ignore is None else {"ignore": _names(ignore)}),
    }
    found = _session(session, storage_options)
    with Opened(first, found) as one, Opened(second, found) as other:
        return reports.comparison_report(_ncirrus.compare(one._opened(), other._opened(), options))


def optimize(
    paths: Any,
    *,
    profile: str | os.PathLike[str] = "cloud",
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    jobs: int = 1,
    times: bool = False,
    dry_run: bool = False,
    on_error: Literal["raise", "report"] = "raise",
    progress: Any = None,
    session: Session | None = None,
) -> OptimizedFiles:
    """Stores netCDF-4 files of this machine so that few requests read them. Values, attributes and filters do not change.

    `profile` is `"cmip7"`, `"cloud"` or the path of a TOML file. Each file is written beside itself, compared with the
    original, and then replaces it atomically, or is written to the folder `output`. Files that fit already are not changed.
    `jobs` files are processed at once, each within the memory of the session; with `times` the files keep their times. A
    file that fails stays as it was: the first failure is raised when all files are done, unless `on_error` is `"report"`.
    `progress` receives elements copied of a file, and how many it has. In notebooks the result shows the chunks of each
    variable before and after.
    """
    if on_error not in ("raise", "report"):
        raise ValueError(f'on_error={on_error!r} is neither "raise" nor "report"')
    options: dict[str, Any] = {
        **{"profile": os.fspath(profile), "overwrite": overwrite, "jobs": jobs, "times": times, "dry_run": dry_run},
        **{"raises": on_error == "raise"},
        **({} if output is None else {"output": os.fspath(output)}),
    }
    given = _session(session, None)._native()
    with reporting(progress, "elements") as report:
        told = _ncirrus.optimize(_addresses(paths), options, report, given)
    return OptimizedFiles(reports.optimized_file(row) for row in told)


def generate(
    text: str | os.PathLike[str] | bytes,
    target: Any = None,
    *,
    kind: str | None = None,
    overwrite: Overwrite = False,
    chunks: Mapping[str, Any] | Sequence[str] | Literal[False] | None = None,
    filter_rules: Sequence[str] = (),
    definitions_only: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
    **create: Any,
) -> GenerateReport:
    """Makes a dataset from CDL text: a file with this path, or the text itself as bytes.

    Without a target the text is only checked. The dataset appears complete or not at all; `create` are further options of
    `ncirrus.create`.
    """
    options = {
        "create": {**create, "kind": kind},
        "overwrite": overwrite,
        "chunks": chunk_rules(chunks),
        "filter_rules": list(filter_rules),
        "definitions_only": definitions_only,
    }
    path, content = (None, bytes(text)) if isinstance(text, bytes) else (os.fspath(text), None)
    address = None if target is None else _address(target)
    told = _ncirrus.generate(path, content, address, options, _session(session, storage_options)._native())
    return GenerateReport(**{**told, "cut": [(path, line) for path, line in told["cut"]]})


def _aggregated(files: Any, target: Any, options: dict[str, Any], progress: Any, session: Session) -> AggregationReport:
    with reporting(progress, "files") as report:
        told = _ncirrus.aggregate(_addresses(files), _address(target), options, report, session._native())
    return reports.aggregation_report(told)


def split(
    source: Source,
    target: Any,
    *,
    max_size: int | str | None = None,
    shape: Mapping[str, int] | None = None,
    fragments: str | None = None,
    like_s3netcdf4: bool = False,
    fragment_kind: str | None = None,
    convention: Literal["cf-1.13", "cfa-0.6", "cfa-0.5", "cfa-0.4"] | None = None,
    kind: str | None = None,
    naming: Literal["relative", "absolute"] | tuple[str, str] | None = None,
    compat: bool = False,
    overwrite: Overwrite = False,
    progress: Any = None,
    session: Session | None = None,
    storage_options: Options = None,
) -> SplitReport:
    """Writes parts of a dataset's variables to separate files, and a master that aggregates them.

    `shape` are lengths of fragments along dimensions, which go before `max_size`.
    """
    options = {
        "max_size": max_size,
        "shape": dict(shape) if shape is not None else None,
        "fragments": fragments,
        "like_s3netcdf4": like_s3netcdf4,
        "fragment_kind": fragment_kind,
        **{"convention": convention, "kind": kind, "naming": naming, "compat": compat, "overwrite": overwrite},
    }
    found = _session(session, storage_options)
    with Opened(source, found) as dataset, reporting(progress, "files") as report:
        return reports.split_report(
            _ncirrus.split(dataset._opened(), _address(target), options, report, found._native())
        )


def relocate(
    url: Any,
    *,
    prefix: str | None = None,
    replace: tuple[str, str] | None = None,
    naming: Literal["relative", "absolute"] | None = None,
    variable: str | None = None,
    dry_run: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> list[RenamedFragment]:
    """Changes the names of an aggregation's fragments after they were moved: another folder (`prefix`), another prefix
    (`replace=(old, new)`), or relative or absolute names."""
    ways = [way for way in (prefix, replace, naming) if way is not None]
    if len(ways) != 1:
        raise TypeError("relocate takes one of prefix, replace and naming")
    if replace is not None:
        how: tuple[str, str | None, str | None] = ("replace", *replace)
    else:
        how = ("prefix", prefix, None) if prefix is not None else (str(naming), None, None)
    native = _session(session, storage_options)._native()
    told = _ncirrus.relocate(_address(url), how, variable, dry_run, native)
    return [RenamedFragment(row["variable"], row["from"], row["to"]) for row in told]


def rebuild(
    folder: Any,
    target: Any,
    *,
    convention: Literal["cf-1.13", "cfa-0.6", "cfa-0.5", "cfa-0.4"] | None = None,
    kind: str | None = None,
    naming: Literal["relative", "absolute"] | tuple[str, str] | None = None,
    compat: bool = False,
    overwrite: Overwrite = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> AggregationReport:
    """Recreates a lost master from the fragments that `split` or S3netCDF4 wrote to a folder.

    The convention, scalars and unlimited dimensions are those that the fragments record, unless `convention` names another one.
    """
    options = {"convention": convention, "kind": kind, "naming": naming, "compat": compat, "overwrite": overwrite}
    native = _session(session, storage_options)._native()
    return reports.aggregation_report(_ncirrus.rebuild(_address(folder), _address(target), options, native))


def reference(
    files: Any,
    target: Any = None,
    *,
    kind: Literal["json", "parquet", "icechunk"] | None = None,
    store: Any = None,
    record_size: int | None = None,
    add: bool = False,
    axis: str | None = None,
    inline_threshold: int | str | None = None,
    inline_values: int | None = None,
    relative: bool = False,
    overwrite: Overwrite = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> ReferenceReport:
    """Writes references (kerchunk) to the chunks of datasets; several datasets are joined along an axis.

    They are a JSON file or, with `kind="parquet"` and for targets that end in `.parq` or `.parquet`, a folder of Parquet
    files with `record_size` chunks each. With `add` the files continue the references that exist at the target.

    With `kind="icechunk"` they become virtual chunks of `store`, the store of a writable session of icechunk; there is no
    target then. You commit the session.
    """
    if kind == "icechunk":
        embedding = {"axis": axis, "inline_threshold": inline_threshold, "inline_values": inline_values}
        if target is not None or add or relative or record_size is not None:
            raise TypeError('kind="icechunk" needs store and rejects target, record_size, add and relative')
        native = _session(session, storage_options)._native()
        return virtual_chunks.write(_addresses(files), store, embedding, bool(overwrite), native)
    if target is None or store is not None:
        raise TypeError('reference takes a target, or kind="icechunk" and a store')
    options = {
        "kind": kind,
        "record_size": record_size,
        "add": add,
        "axis": axis,
        "inline_threshold": inline_threshold,
        "inline_values": inline_values,
        "relative": relative,
        "overwrite": overwrite,
    }
    native = _session(session, storage_options)._native()
    told = _ncirrus.reference(_addresses(files), _address(target), options, native)
    return ReferenceReport(**{**told, "left_out": reports.left_out(told["left_out"])})


def fragments(
    source: Source,
    variable: str,
    sel: Any = ...,
    *,
    session: Session | None = None,
    storage_options: Options = None,
) -> list[dict[str, Any]]:
    """The fragments of a selection of an aggregated variable."""
    with Opened(source, _session(session, storage_options)) as dataset:
        return dataset.variables[variable].fragments(sel)


def explain(
    source: Source,
    variable: str,
    sel: Any = ...,
    *,
    session: Session | None = None,
    storage_options: Options = None,
) -> Plan:
    """The plan of reading a selection of a variable: requests, bytes, chunks."""
    with Opened(source, _session(session, storage_options)) as dataset:
        return dataset.variables[variable].explain(sel)


def info(source: Source, *, session: Session | None = None, storage_options: Options = None) -> dict[str, Any]:
    """A summary of a dataset, as `ncirrus info --json` prints it."""
    with Opened(source, _session(session, storage_options)) as dataset:
        return dataset.info()


def dump(
    source: Source,
    *,
    data: Literal["all", "coordinates", "none"] = "all",
    variables: Sequence[str] = (),
    groups: Sequence[str] = (),
    special: bool = False,
    line_len: int = 80,
    float_digits: int | None = None,
    double_digits: int | None = None,
    times: Literal["iso", "blank"] | None = None,
    name: str | None = None,
    ncml: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> str:
    """A dataset in CDL, as `ncdump` prints it, or its header in NcML. A warning names what NcML cannot express."""
    import warnings

    from ncirrus.errors import NcirrusWarning

    options = {
        **{"data": data, "variables": list(variables), "groups": list(groups), "special": special, "name": name},
        **{"line_len": line_len, "float_digits": float_digits, "double_digits": double_digits, "times": times},
        "ncml": ncml,
    }
    with Opened(source, _session(session, storage_options)) as dataset:
        text, lost = _ncirrus.dump(dataset._opened(), options)
    for path, reason in lost:
        warnings.warn(f"{path}: {reason}", NcirrusWarning, stacklevel=2)
    return text


def ls(
    url: Any,
    *,
    recursive: bool = False,
    all: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> list[FoundDataset]:
    """The datasets below a prefix; with `all` also other entries. A warning names places that cannot be read."""
    import warnings

    from ncirrus.errors import NcirrusWarning

    told = _ncirrus.ls(_address(url), recursive, all, _session(session, storage_options)._native())
    for message in [*told["errors"], *told["notes"]]:
        warnings.warn(message, NcirrusWarning, stacklevel=2)
    return [FoundDataset(**row) for row in told["places"]]


def keys(
    url: Any,
    *,
    prefix: str = "",
    sizes: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> list[Key]:
    """The objects of the store at an address, and those below its dataset or prefix."""
    told = _ncirrus.keys(_address(url), prefix, sizes, _session(session, storage_options)._native())
    return [Key(**row) for row in told]


def rm(
    url: Any,
    *,
    dry_run: bool = False,
    force: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> RemovalReport:
    """Removes a dataset. Other objects, and possible parts of another dataset, are rejected; `force` removes everything there."""
    found, address = _session(session, storage_options), _address(url)
    if not force:
        _check_dataset(address, found)
    told = _ncirrus.removal(address, force, True, found._native())
    if told["is_tree"] and not force:
        _check_around(address, found)
    if not dry_run:
        told = _ncirrus.removal(address, force, False, found._native())
    return RemovalReport(told["removed"], told["kept"])


def _check_dataset(url: str, session: Session) -> None:
    try:
        open(url, session=session).close()
    except FileNotFoundError:
        raise
    except Error as error:
        raise ConflictError(
            "cannot be opened as a dataset", object=url, hint="force=True removes everything at and below it"
        ) from error


def _check_around(url: str, session: Session) -> None:
    """Checks that a dataset is not a part of another dataset in whose folder it is."""
    address, mark, fragment = url.partition("#")
    folder, name = os.path.split(address.rstrip("/"))
    if not name or name in (".", "..") or folder.endswith(":/") or (not folder and address.startswith("/")):
        return
    around = (folder or ".") + mark + fragment
    try:
        open(around, session=session).close()
    except IoError:
        raise
    except Error:
        return
    raise ConflictError(f"may be part of the dataset {around}", object=url, hint="force=True removes it anyway")


def clean(
    url: Any,
    *,
    older_than: float = 86400.0,
    dry_run: bool = False,
    session: Session | None = None,
    storage_options: Options = None,
) -> CleanReport:
    """Removes remains of killed writers that are older than so many seconds."""
    told = _ncirrus.clean(_address(url), float(older_than), dry_run, _session(session, storage_options)._native())
    return CleanReport([Leftover(**row) for row in told["removed"]], told["young"], told["notes"])


def filters(*, session: Session | None = None) -> list[Filter]:
    """The available filters: built in, and from plugins."""
    return [Filter(**row) for row in _ncirrus.filters((session or default_session())._native())]


def whoami(
    url: Any, *, check: bool = False, session: Session | None = None, storage_options: Options = None
) -> dict[str, Any]:
    """The credentials that would be used for an address, and why. Secrets are not included; no request is sent without `check`."""
    told = _ncirrus.whoami(_address(url), check, _session(session, storage_options)._native())
    return told


def _names(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _addresses(files: Any) -> list[str]:
    """One address, or several."""
    if isinstance(files, (str, os.PathLike)):
        return [_address(files)]
    if not isinstance(files, Iterable):
        raise TypeError(f"files are addresses, not a {type(files).__name__}")
    return [_address(file) for file in files]
