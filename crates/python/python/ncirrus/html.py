"""HTML for notebooks, without scripts: datasets, groups, variables, plans, reports and maps of chunks.

It is made from metadata that are already in memory. A page has at most `LIMIT` bytes.
"""

from __future__ import annotations

import dataclasses
import html
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

LIMIT = 200_000
"""Bytes of a page at most."""

CELLS = 4096
"""Cells of a map of chunks at most; more chunks than that are shown several to a cell."""

_PAGE_ROWS = 50
_TEXT = 400
_COLOURS = 8

# Steps from light to dark blue, which are told apart on light and dark pages.
_COLOUR = "hsl(208 62% {}%)"

# Kept back for what closes the tags that are open.
_RESERVE = 2_000

_maps = itertools.count()

_STYLE = """<style>
.ncirrus{--nc-fg:#1c2128;--nc-dim:#59636e;--nc-line:#d1d9e0;--nc-alt:#f4f6f8;--nc-bg:#fff;
--nc-fault:#c8372d;color:var(--nc-fg);background:var(--nc-bg);font:13px/1.5 ui-sans-serif,system-ui,sans-serif;padding:6px 8px}
@media (prefers-color-scheme:dark){.ncirrus{--nc-fg:#dfe5ec;--nc-dim:#98a3b0;--nc-line:#3a434e;--nc-alt:#1e242b;
--nc-bg:#14181d;--nc-fault:#ff8a80}}
html[data-theme=dark] .ncirrus,body[data-jp-theme-light=false] .ncirrus{--nc-fg:#dfe5ec;--nc-dim:#98a3b0;
--nc-line:#3a434e;--nc-alt:#1e242b;--nc-bg:#14181d;--nc-fault:#ff8a80}
html[data-theme=light] .ncirrus,body[data-jp-theme-light=true] .ncirrus{--nc-fg:#1c2128;--nc-dim:#59636e;
--nc-line:#d1d9e0;--nc-alt:#f4f6f8;--nc-bg:#fff;--nc-fault:#c8372d}
.ncirrus details{margin:1px 0 1px 14px}.ncirrus summary{cursor:pointer}
.ncirrus .nc-head{border-bottom:1px solid var(--nc-line);padding-bottom:3px;margin-bottom:3px}
.ncirrus .nc-dim{color:var(--nc-dim)}.ncirrus code{font-family:ui-monospace,monospace}
.ncirrus table{border-collapse:collapse;margin:2px 0 4px 14px;color:inherit}
.ncirrus td,.ncirrus th{text-align:left!important;padding:1px 10px 1px 0;border:0;vertical-align:top;
overflow-wrap:anywhere}
.ncirrus tr:nth-child(even){background:var(--nc-alt)}.ncirrus .nc-fault{color:var(--nc-fault)}
.ncirrus svg rect{width:1px;height:1px;stroke:var(--nc-bg);stroke-width:.04}
.ncirrus svg .nc-hatch{stroke:var(--nc-dim);stroke-width:.04}
.ncirrus svg .nc-box{fill:var(--nc-bg);stroke:var(--nc-dim)}.ncirrus svg .nc-first{fill:hsl(208 62% 50%)}
.ncirrus svg .nc-lines{fill:none;stroke:var(--nc-dim);stroke-width:.6}
</style>"""


def dataset(shown: Any) -> str:
    """A dataset: its address, its kind and its groups."""
    page = _Page()
    facts = ", ".join(f"{name} {value}" for name, value in shown.facts.items() if not name.startswith("_"))
    page.head("Dataset", shown.url, f"{shown.kind}{', ' + facts if facts else ''}, mode {shown.mode}")
    _members(page, shown, is_open=True)
    return page.finished()


def closed(shown: Any) -> str:
    """A dataset that cannot be shown without a request."""
    page = _Page()
    page.head("Dataset", shown.url, "closed" if shown.closed else "not opened yet")
    return page.finished()


def group(shown: Any) -> str:
    """A group and what is below it."""
    page = _Page()
    page.head("Group", shown.path, shown.dataset.url)
    _members(page, shown, is_open=True)
    return page.finished()


def variable(shown: Any) -> str:
    """A variable: shape, type, storage and attributes."""
    page = _Page()
    page.head("Variable", shown.path, shown.dataset.url)
    page.table(_storage_rows(shown))
    _attributes(page, shown.attrs, is_open=True)
    return page.finished()


def plan(shown: Mapping[str, Any]) -> str:
    """The requests of a read."""
    page = _Page()
    page.head("Plan", "", "")
    _nested(page, shown)
    return page.finished()


def report(shown: Any) -> str:
    """What a tool did: a dataclass or a mapping."""
    page = _Page()
    page.head(type(shown).__name__, "", "")
    _nested(page, _as_mapping(shown))
    return page.finished()


class _Page:
    """HTML that stops growing before the limit."""

    def __init__(self) -> None:
        self._parts = [_STYLE, '<div class="ncirrus">']
        self._bytes = sum(len(part.encode()) for part in self._parts)
        self.is_full = False

    def add(self, part: str) -> bool:
        """Adds a piece with balanced tags; whether there was room."""
        size = len(part.encode())
        if self.is_full or self._bytes + size > LIMIT - _RESERVE:
            self.is_full = True
            return False
        self._parts.append(part)
        self._bytes += size
        return True

    def open(self, summary: str, *, is_open: bool = False) -> bool:
        """Begins a part that can be folded; it is closed by `close` if this was true."""
        return self.add(f"<details{' open' if is_open else ''}><summary>{summary}</summary>")

    def close(self) -> None:
        """Ends a part that can be folded; there is always room for that."""
        self._parts.append("</details>")
        self._bytes += len("</details>")

    def head(self, what: str, name: str, rest: str) -> None:
        """The first line."""
        self.add(f'<div class="nc-head"><b>{_text(what)}</b> <code>{_text(name)}</code> {_dim(rest)}</div>')

    def table(self, rows: Iterable[tuple[str, str]]) -> None:
        """Names and values; both are HTML already."""
        kept: list[str] = []
        room = LIMIT - _RESERVE - self._bytes - len("<table></table>")
        for name, value in rows:
            row = f"<tr><th>{name}</th><td>{value}</td></tr>"
            room -= len(row.encode())
            if room < 0:
                self.is_full = True
                break
            kept.append(row)
        if kept:
            self._parts.append("<table>" + "".join(kept) + "</table>")
            self._bytes += len(self._parts[-1].encode())

    def finished(self) -> str:
        """The page; where something did not fit, it says so."""
        if self.is_full:
            self._parts.append('<div class="nc-dim">There is more than a page holds.</div>')
        return "".join([*self._parts, "</div>"])


def _text(value: Any) -> str:
    text = str(value)
    if len(text) > _TEXT:
        text = f"{text[:_TEXT]}… ({len(text)} characters)"
    return html.escape(text.encode("utf-8", "replace").decode(), quote=True)


def _dim(text: str) -> str:
    return f'<span class="nc-dim">{_text(text)}</span>'


def _members(page: _Page, shown: Any, *, is_open: bool) -> None:
    dims = shown.dims
    if dims and page.open(f"<b>Dimensions</b> {_dim(str(len(dims)))}", is_open=is_open):
        _paged(page, list(dims.values()), lambda part: page.table(_dimension_rows(part)))
        page.close()
    found = shown.variables
    if found and page.open(f"<b>Variables</b> {_dim(str(len(found)))}", is_open=is_open):
        _paged(page, list(found.values()), lambda part: _variable_parts(page, part))
        page.close()
    below = shown.groups
    if below and page.open(f"<b>Groups</b> {_dim(str(len(below)))}", is_open=is_open):
        for name, one in below.items():
            if not page.open(f"<code>{_text(name)}</code> {_dim(_counts(one))}"):
                break
            _members(page, one, is_open=False)
            page.close()
        page.close()
    _attributes(page, shown.attrs, is_open=False)


def _counts(shown: Any) -> str:
    return f"{len(shown.variables)} variables, {len(shown.groups)} groups"


def _paged(page: _Page, members: Any, show: Callable[[Any], None]) -> None:
    """Fifty members, and the others fifty by fifty in folds."""
    for start in range(0, len(members), _PAGE_ROWS):
        part = members[start : start + _PAGE_ROWS]
        is_folded = start > 0
        if is_folded and not page.open(_dim(f"{start + 1} to {start + len(part)} of {len(members)}")):
            return
        show(part)
        if is_folded:
            page.close()
        if page.is_full:
            return


def _dimension_rows(dims: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for dim in dims:
        grows = f" {_dim('unlimited')}" if dim.is_unlimited else ""
        yield f"<code>{_text(dim.name)}</code>", f"{len(dim):,}{grows}"


def _variable_parts(page: _Page, variables: Iterable[Any]) -> None:
    for shown in variables:
        if page.is_full:
            return
        _variable_part(page, shown)


def _variable_part(page: _Page, shown: Any) -> None:
    dims = ", ".join(f"{dim}: {length:,}" for dim, length in zip(shown.dims, shown.shape))
    name = f"<code><b>{_text(shown.name)}</b></code>"
    if shown.fault is not None:
        page.add(f'<div>{name} ({_text(dims)}) <span class="nc-fault">{_text(shown.fault)}</span></div>')
        return
    size = f" {_dim(_bytes(shown.nbytes))}" if not shown.dtype.hasobject else ""
    if page.open(f"{name} ({_text(dims)}) <code>{_text(_type_of(shown))}</code>{size}"):
        page.table(_storage_rows(shown))
        _attributes(page, shown.attrs, is_open=False)
        page.close()


def _type_of(shown: Any) -> str:
    dtype = shown.dtype
    metadata = dtype.metadata or {}
    if "enum_name" in metadata:
        return f"{dtype.name} enum {metadata['enum_name']}"
    return "string" if dtype.hasobject and dtype.names is None else str(dtype)


def _storage_rows(shown: Any) -> Iterator[tuple[str, str]]:
    if shown.fault is not None:
        yield "fault", f'<span class="nc-fault">{_text(shown.fault)}</span>'
        return
    yield "shape", _text(" × ".join(f"{length:,}" for length in shown.shape) or "scalar")
    yield "dimensions", _text(", ".join(shown.dims) or "none")
    yield "type", f"<code>{_text(_type_of(shown))}</code>"
    if shown.chunks is not None:
        count = math.prod(-(-length // chunk) for length, chunk in zip(shown.shape, shown.chunks) if chunk)
        yield "chunks", f"{_text(' × '.join(f'{chunk:,}' for chunk in shown.chunks))} {_dim(f'{count:,} chunks')}"
    elif shown.storage == "virtual":
        yield "storage", "aggregated"
    else:
        yield "storage", "one run"
    if shown.filters:
        yield "filters", _text(", ".join(_filter_name(codec) for codec in shown.filters))
    if not shown.dtype.hasobject:
        yield "bytes", _text(_bytes(shown.nbytes))


def _filter_name(codec: Any) -> str:
    if not isinstance(codec, Mapping):
        return str(codec)
    name = codec.get("name", codec.get("id"))
    rest = codec.get("configuration") or codec.get("parameters")
    rest = rest or {key: value for key, value in codec.items() if key not in ("id", "name", "optional", "parameters")}
    return f"{name} {rest}" if rest else str(name)


def _attributes(page: _Page, attributes: Any, *, is_open: bool) -> None:
    if not getattr(attributes, "is_loaded", True):
        page.add(f"<div>{_dim('attributes are not read yet')}</div>")
        return
    if len(attributes) and page.open(f"<b>Attributes</b> {_dim(str(len(attributes)))}", is_open=is_open):
        page.table((f"<code>{_text(name)}</code>", _text(_value(value))) for name, value in attributes.items())
        page.close()


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.size > 20:
        return f"{np.array2string(value.ravel()[:20], threshold=20)[:-1]} … ({value.size} values)"
    return str(value)


def _bytes(count: int) -> str:
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def _as_mapping(shown: Any) -> Mapping[str, Any]:
    if isinstance(shown, Mapping):
        return shown
    if dataclasses.is_dataclass(shown) and not isinstance(shown, type):
        return {field.name: getattr(shown, field.name) for field in dataclasses.fields(shown)}
    return {name: getattr(shown, name) for name in dir(shown) if not name.startswith("_")}


def _nested(page: _Page, shown: Mapping[str, Any]) -> None:
    simple: list[tuple[str, Any]] = []
    folded: list[tuple[str, Any]] = []
    for name, value in shown.items():
        is_folded = isinstance(value, Mapping | list | tuple) and len(value) > 0
        (folded if is_folded else simple).append((name, value))
    page.table((f"<code>{_text(name)}</code>", _text(_number(value))) for name, value in simple)
    for name, value in folded:
        if not page.open(f"<b>{_text(name)}</b> {_dim(str(len(value)))}"):
            return
        if isinstance(value, Mapping):
            _nested(page, value)
        else:
            _listed(page, value)
        page.close()


def _listed(page: _Page, values: Any) -> None:
    numbered = list(enumerate(values))
    _paged(page, numbered, lambda part: page.table((_dim(str(at)), _text(_number(value))) for at, value in part))


def _number(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return str(value)


class ChunkMap:
    """One plane of a variable's chunks: where they are stored, how large they are, and which are missing."""

    def __init__(self, shown: Any, plane: Mapping[str, int] | None = None) -> None:
        self._name = shown.path
        self._dims = tuple(shown.dims)
        self._shape = tuple(shown.shape)
        chunks = shown.chunks
        if chunks is None or not self._shape:
            raise ValueError(f"{shown.path}: it is not stored in chunks, so there is no map of them")
        # Where the chunks begin along each axis.
        lengths = getattr(shown, "chunk_lengths", None)
        self._starts = [
            np.cumsum([0, *lengths[axis][:-1]]) if lengths else np.arange(0, length, chunk)
            for axis, (length, chunk) in enumerate(zip(self._shape, chunks))
        ]
        self._axes, self._plane = _plane_of(self._dims, self._shape, plane)
        selection = tuple(
            slice(None) if axis in self._axes else slice(self._plane[dim], self._plane[dim] + 1)
            for axis, dim in enumerate(self._dims)
        )
        self.table: Any
        self.knows_sizes: bool
        self.table = shown.chunk_table(selection)
        self.knows_sizes = not bool((self.table["length"] < 0).any())
        self.sizes: Any
        self.missing: Any
        self.sizes, self.missing = self._gridded()

    def _gridded(self) -> tuple[Any, Any]:
        """Stored bytes and missing marks by rows and columns of the plane."""
        counts = [len(self._starts[axis]) for axis in self._axes]
        sizes = np.zeros(counts, dtype="u8")
        missing = np.ones(counts, dtype=bool)
        if len(self.table):
            starts = np.asarray(self.table["start"]).reshape(len(self.table), -1)
            places = tuple(np.searchsorted(self._starts[axis], starts[:, axis]) for axis in self._axes)
            sizes[places] = np.where(self.table["missing"], 0, np.maximum(self.table["length"], 0))
            missing[places] = self.table["missing"]
        if sizes.ndim == 1:
            return sizes[np.newaxis], missing[np.newaxis]
        return sizes, missing

    def __repr__(self) -> str:
        rows, columns = self.sizes.shape
        return (
            f"<ncirrus.ChunkMap {self._name} {rows} x {columns} chunks, {int(self.missing.sum())} missing, "
            f"{_bytes(int(self.sizes.sum()))}>"
        )

    def _repr_html_(self) -> str:
        page = _Page()
        plane = ", ".join(f"{dim} = {index}" for dim, index in self._plane.items())
        page.head("Chunks", self._name, plane)
        cells = CELLS
        svg = self._svg(cells)
        while len(svg.encode()) > LIMIT - 2 * _RESERVE:
            cells //= 2
            svg = self._svg(cells)
        page.add(svg)
        return page.finished()

    def _svg(self, most: int) -> str:
        sizes, counts, missing = _binned(self.sizes, self.missing, most)
        rows, columns = sizes.shape
        side = max(3, min(24, 640 // max(columns, 1), 480 // max(rows, 1)))
        name = f"nc-missing-{next(_maps)}"
        present = sizes[counts > missing]
        low, high = (int(present.min()), int(present.max())) if present.size else (0, 0)
        cells: dict[str, list[str]] = {}
        hatched = []
        for row, column in np.ndindex(rows, columns):
            size, count, lacking = int(sizes[row, column]), int(counts[row, column]), int(missing[row, column])
            place = f"x={column} y={row}"
            kind = "missing" if lacking == count else str(_step(size, low, high))
            tip = _tip((row, column), size, count, lacking, is_long=sizes.size <= CELLS // 2)
            cells.setdefault(kind, []).append(f"<rect {place}><title>{tip}</title></rect>")
            if 0 < lacking < count:
                hatched.append(f"<rect {place} />")
        parts = [_defined(name, (rows, columns), side, f"chunks of {self._name}")]
        for kind, rects in sorted(cells.items()):
            fill = f"url(#{name})" if kind == "missing" else _COLOUR.format(78 - int(kind) * 7)
            parts.append(f'<g class="nc-{"missing" if kind == "missing" else "chunk"}" fill="{fill}">')
            parts += [*rects, "</g>"]
        if hatched:
            parts += [f'<g fill="url(#{name})" pointer-events="none">', *hatched, "</g>"]
        parts.append("</svg>")
        axes = " × ".join(self._dims[axis] for axis in self._axes)
        told = f"{_bytes(low)} to {_bytes(high)} a cell" if self.knows_sizes else "sizes unknown, for the store lists nothing"
        legend = f"{axes}: {told}, {int(missing.sum()):,} missing"
        if (rows, columns) != self.sizes.shape:
            legend += f", up to {int(counts.max()):,} chunks a cell"
        return "".join([*parts, f"<div>{_text(legend)}</div>"])


def _defined(name: str, cells: tuple[int, int], side: int, label: str) -> str:
    """The beginning of a map whose cells are one unit wide, with the pattern of what is missing."""
    rows, columns = cells
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * side}" height="{rows * side}" '
        f'viewBox="0 0 {columns} {rows}" role="img" aria-label="{_text(label)}"><defs><pattern id="{name}" width="0.25" '
        'height="0.25" patternUnits="userSpaceOnUse"><path class="nc-hatch" d="M0 .25L.25 0" fill="none"/></pattern></defs>'
    )


def _tip(place: tuple[int, int], size: int, count: int, lacking: int, *, is_long: bool) -> str:
    tip = "missing" if lacking == count else _bytes(size)
    if count > 1 and (is_long or 0 < lacking < count):
        tip += f" in {count - lacking} of {count}"
    return f"{place[0]}, {place[1]}: {tip}" if is_long else tip


def _plane_of(
    dims: tuple[str, ...], shape: tuple[int, ...], plane: Mapping[str, int] | None
) -> tuple[list[int], dict[str, int]]:
    """The axes that are shown, and the index of the others: the last two are shown where nothing else is said."""
    told = dict(plane or {})
    for dim, index in told.items():
        if dim not in dims:
            raise ValueError(f"plane names {dim!r}; the dimensions are {', '.join(dims)}")
        if not 0 <= index < shape[dims.index(dim)]:
            raise IndexError(f"plane {dim}={index} is outside 0 to {shape[dims.index(dim)] - 1}")
    free = [axis for axis, dim in enumerate(dims) if dim not in told][-2:]
    if not free:
        raise ValueError("plane leaves no dimension to be shown")
    return free, {dim: told.get(dim, 0) for axis, dim in enumerate(dims) if axis not in free}


def _binned(sizes: Any, missing: Any, most: int) -> tuple[Any, Any, Any]:
    """Sums of sizes, numbers of chunks and of missing ones, in so many cells at most."""
    rows, columns = sizes.shape
    by_row = by_column = 1
    while -(-rows // by_row) * -(-columns // by_column) > most:
        if -(-rows // by_row) >= -(-columns // by_column):
            by_row += 1
        else:
            by_column += 1
    at_rows, at_columns = np.arange(0, rows, by_row), np.arange(0, columns, by_column)

    def summed(values: Any) -> Any:
        return np.add.reduceat(np.add.reduceat(values, at_rows, axis=0), at_columns, axis=1)

    return summed(sizes), summed(np.ones(sizes.shape, dtype="i8")), summed(missing.astype("i8"))


def _step(size: int, low: int, high: int) -> int:
    """Which of the colours stands for a size, on a logarithmic scale."""
    if high <= low:
        return 0
    share = (math.log1p(size) - math.log1p(low)) / (math.log1p(high) - math.log1p(low))
    return min(_COLOURS - 1, int(share * _COLOURS))
