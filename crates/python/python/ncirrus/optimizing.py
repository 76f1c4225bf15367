"""What notebooks show of `ncirrus.optimize`: chunks before and after, and what typical reads cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ncirrus import chunk_boxes
from ncirrus.html import _bytes, _dim, _Page, _paged, _text

if TYPE_CHECKING:
    from ncirrus.reports import OptimizedFile, PlannedVariable, ReadCost, TypicalReads

PICTURES = 40
"""Variables with pictures on a page at most; the chunks of others are described in words."""

_FAILURES = 20

Chunk = tuple[int, ...] | None


def page_of(files: Sequence[OptimizedFile]) -> str:
    """The page of some files: the one, or what became of all and each in a fold."""
    page = _Page()
    pictures = _Pictures()
    if len(files) == 1:
        page.head("Optimized file", files[0].path, _outcome(files[0]))
        _file(page, files[0], pictures)
        return page.finished()
    outcomes = Counter(file.outcome for file in files)
    page.head("Optimized files", "", ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items()))
    failed = [file for file in files if file.outcome == "failed"]
    page.table((f"<code>{_text(file.path)}</code>", _fault(file.error)) for file in failed[:_FAILURES])
    _paged(page, files, lambda part: _folds(page, part, pictures))
    return page.finished()


class _Pictures:
    """How many variables may still be shown with pictures."""

    def __init__(self) -> None:
        self._left = PICTURES

    def take(self) -> bool:
        """Whether there may be one more."""
        self._left -= 1
        return self._left >= 0


def _folds(page: _Page, files: Iterable[OptimizedFile], pictures: _Pictures) -> None:
    for file in files:
        if not page.open(f"<code>{_text(file.path)}</code> {_dim(_outcome(file))}"):
            return
        _file(page, file, pictures)
        page.close()


def _outcome(file: OptimizedFile) -> str:
    words = {"planned": "would be optimized"}.get(file.outcome, file.outcome)
    return f"{words}, {_change(file)}" if file.bytes_before else words


def _change(file: OptimizedFile) -> str:
    after = file.bytes_after if file.outcome == "optimized" else None
    return _bytes(file.bytes_before) if after is None else f"{_bytes(file.bytes_before)}, now {_bytes(after)}"


def _file(page: _Page, file: OptimizedFile, pictures: _Pictures) -> None:
    page.table(_facts(file))
    if file.reads_before is not None and file.reads_after is not None:
        page.add(_reads(file.reads_before, file.reads_after))
    rechunked = [variable for variable in file.variables if variable.recoded]
    kept = [variable for variable in file.variables if not variable.recoded and variable.kept is not None]
    moved = [variable for variable in file.variables if not variable.recoded and variable.kept is None]
    is_written = file.outcome == "optimized" or file.outcome == "planned"
    is_moved = "Moved as they are" if is_written else "Fit the profile"
    _variables(page, "Rechunked", rechunked, pictures, is_open=True)
    _variables(page, "Kept, although they do not fit the profile", kept, pictures, is_open=True)
    _variables(page, is_moved, moved, pictures, is_open=False)


def _facts(file: OptimizedFile) -> Iterator[tuple[str, str]]:
    if file.error is not None:
        yield "error", _fault(file.error)
        return
    if file.target != file.path:
        yield "written to", f"<code>{_text(file.target)}</code>"
    if file.outcome != "unchanged":
        yield "metadata", "moved to the front" if file.was_scattered else "at the front already"
    for note in file.notes:
        yield "note", _text(note)


def _fault(error: str | None) -> str:
    return f'<span class="nc-fault">{_text(error)}</span>'


def _reads(before: TypicalReads, after: TypicalReads) -> str:
    """A table of the requests and bytes of typical reads."""

    def cost(old: ReadCost, new: ReadCost) -> str:
        cells = (f"{old.requests:,}", f"{new.requests:,}", _bytes(old.bytes), _bytes(new.bytes))
        return "".join(f"<td>{cell}</td>" for cell in cells)

    what = f"reads of <code>{_text(before.variable)}</code>" if before.variable else "reads"
    later = f"after {_dim('(estimated)')}" if after.estimated else "after"
    heads = "".join(f"<th>{head}</th>" for head in (what, "requests before", later, "bytes before", later))
    names = {"opening": "opening", "step": "one step", "series": "one series", "whole": "whole"}
    rows = [
        f"<tr><th>{name}</th>{cost(getattr(before, key), getattr(after, key))}</tr>" for key, name in names.items()
    ]
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


def _variables(
    page: _Page, what: str, variables: Sequence[PlannedVariable], pictures: _Pictures, *, is_open: bool
) -> None:
    if not variables or not page.open(f"<b>{_text(what)}</b> {_dim(str(len(variables)))}", is_open=is_open):
        return

    def show(part: Iterable[PlannedVariable]) -> None:
        for variable in part:
            if not page.add(_variable(variable, pictures)):
                return

    _paged(page, variables, show)
    page.close()


def _variable(variable: PlannedVariable, pictures: _Pictures) -> str:
    """A variable: a column for each grid of its chunks, side by side."""
    sizes = ", ".join(f"{dim}: {length:,}" for dim, length in zip(variable.dims, variable.shape))
    line = f"<div><code><b>{_text(variable.path)}</b></code> ({_text(sizes)})"
    line += f" {_dim(variable.kept)}</div>" if variable.kept is not None else "</div>"
    grids = {"before": variable.before, "after": variable.after} if variable.recoded else {"": variable.before}
    if not variable.shape:
        return line
    rows: list[tuple[str, Iterable[str]]] = []
    if len(grids) > 1:
        rows.append(("", [f"<b>{when}</b>" for when in grids]))
    if pictures.take():
        rows.append(("", _pictured(variable, grids)))
    tellers: dict[str, Callable[[PlannedVariable, Chunk], str]] = {
        "chunk": lambda _, chunk: _shape(chunk),
        "chunks": _count,
        "bytes a chunk": _size,
    }
    rows += [(name, [tell(variable, chunk) for chunk in grids.values()]) for name, tell in tellers.items()]
    if variable.filters is not None:
        rows.append(("filters", ["", _text(", ".join(variable.filters) or "none")]))
    cells = (
        f"<tr>{f'<th>{name}</th>' if name else '<td></td>'}{''.join(f'<td>{value}</td>' for value in values)}</tr>"
        for name, values in rows
        if any(values)
    )
    return f"{line}<table>{''.join(cells)}</table>"


def _pictured(variable: PlannedVariable, grids: dict[str, Chunk]) -> list[str]:
    axes = chunk_boxes.shown_axes(variable.shape, [chunk for chunk in grids.values() if chunk is not None])
    pictures = []
    for when, chunk in grids.items():
        title = f"Chunks of {variable.path}{' ' if when else ''}{when}"
        names = " × ".join(variable.dims[axis] for axis in axes)
        words = _shape(chunk) if chunk is None else f"{_shape(chunk)}; number of chunks: {_count(variable, chunk)}"
        pictures.append(chunk_boxes.picture(variable.shape, chunk, axes, title, f"{names}: {words}"))
    return pictures


def _shape(chunk: Chunk) -> str:
    return "not chunked" if chunk is None else " × ".join(f"{length:,}" for length in chunk)


def _count(variable: PlannedVariable, chunk: Chunk) -> str:
    if chunk is None:
        return ""
    return f"{math.prod(-(-length // side) for length, side in zip(variable.shape, chunk) if side):,}"


def _size(variable: PlannedVariable, chunk: Chunk) -> str:
    if chunk is None or variable.element_bytes is None:
        return ""
    return _bytes(math.prod(chunk) * variable.element_bytes)
