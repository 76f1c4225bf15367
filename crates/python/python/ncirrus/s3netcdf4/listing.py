"""What `s3nc_cfa_info.py` prints: definitions, and where the parts of aggregated variables are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ncirrus.errors import MemberNotFoundError
from ncirrus.group import Group
from ncirrus.variable import Variable


@dataclass(frozen=True)
class Choice:
    """What is listed. `all`, `none`, or one by its name; a partition by its indices."""

    group: str = "all"
    variable: str = "all"
    partition: str | tuple[int, ...] = "none"
    metadata: bool = False


def listing(dataset: Any, name: str, choice: Choice) -> Iterator[str]:
    """The lines. Nothing but the dataset itself is opened.

    Raises `MemberNotFoundError` for a group, variable or partition that is not there.
    """
    yield f"{name} {{"
    if choice.group in ("all", "root", "/"):
        yield from _group(dataset, choice, "")
        if choice.group == "all":
            for below in _groups_of(dataset):
                yield f"group: {below.path.lstrip('/')} {{"
                yield from _group(below, choice, "    ")
                yield "}"
    else:
        # Raises for what is not there.
        yield from _group(dataset.groups[choice.group], choice, "")
    yield "// global attributes"
    for attribute, value in dataset.attrs.items():
        yield f"    :{attribute} = {value}"
    yield "}"


def _groups_of(group: Group) -> Iterator[Group]:
    for below in group.groups.values():
        yield below
        yield from _groups_of(below)


def _group(group: Group, choice: Choice, indent: str) -> Iterator[str]:
    yield f"{indent}dimensions:"
    for name, dimension in group.dims.items():
        yield f"{indent}        {name} = {len(dimension)}"
    if choice.variable == "none":
        return
    yield f"{indent}variables:"
    if choice.variable == "all":
        chosen = [each for each in group.variables.values() if each.name not in group.dims]
    else:
        chosen = [group.variables[choice.variable]]
    for variable in chosen:
        yield from _variable(variable, choice, indent)


def _variable(variable: Variable, choice: Choice, indent: str) -> Iterator[str]:
    deep = f"{indent}            {variable.name}:"
    yield f"{indent}        {variable.dtype} {variable.name}({','.join(variable.dims)})"
    for name, value in variable.attrs.items():
        yield f"{deep}{name} = {value}"
    if not variable.is_aggregated or (not choice.metadata and choice.partition == "none"):
        return
    parts = variable.fragments()
    counts = tuple(len({part["start"][axis] for part in parts}) for axis in range(variable.ndim))
    if choice.metadata:
        yield f"{deep}pmshape = {counts}"
        yield f"{deep}pmdimensions = ({', '.join(variable.dims)})"
    if choice.partition != "none":
        yield from _partitions(variable, _indexed(parts, counts), choice.partition, deep)


def _indexed(parts: list[dict[str, Any]], counts: tuple[int, ...]) -> dict[tuple[int, ...], dict[str, Any]]:
    """The parts by their place in the matrix; those that were never written have places as well."""
    starts = [sorted({part["start"][axis] for part in parts}) for axis in range(len(counts))]
    places = [{start: place for place, start in enumerate(axis)} for axis in starts]
    return {tuple(places[axis][start] for axis, start in enumerate(part["start"])): part for part in parts}


def _partitions(
    variable: Variable, parts: dict[tuple[int, ...], dict[str, Any]], which: str | tuple[int, ...], deep: str
) -> Iterator[str]:
    if isinstance(which, tuple) and which not in parts:
        hint = f"there are {len(parts)} partitions"
        raise MemberNotFoundError(f"no partition {list(which)}", path=variable.path, hint=hint)
    for index in [which] if isinstance(which, tuple) else sorted(parts):
        part = parts[index]
        location = [[start, start + length] for start, length in zip(part["start"], part["shape"], strict=True)]
        yield f"{deep}partition [{' '.join(map(str, index))}] ="
        margin = " " * (len(deep) - len(variable.name) + 6)
        yield f"{margin}:location = {location}"
        yield f"{margin}:shape    = {list(part['shape'])}"
        yield f"{margin}:filename = {part['names'][0] if part['names'] else ''}"
        yield f"{margin}:variable = {part['variables'][-1] if part['variables'] else ''}"
