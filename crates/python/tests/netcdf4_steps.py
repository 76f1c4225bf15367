"""Programs of calls of netCDF4-python, as data: what they may be, and how one is run on two modules side by side.

A step names what it works on by numbers, which are taken modulo what is there, so that every program means something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from netcdf4_comparing import chunks_of, described, differences, outcome
from netcdf4_values import KEYS, VALUES, key_of, value_of

from ncirrus._ncirrus import reserved_attributes

FORMATS = ["NETCDF4", "NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "S1", ">i4", ">f8", "c", "d", "U5", "c8", "O"]
LIMITS = ["missing_value", "valid_min", "valid_max", "valid_range", "scale_factor", "add_offset", "_Unsigned"]
RESERVED = [
    *("_grpid", "groups", "name", "dtype", "mask", "scale", "_nunlimdim", "path", "shape", "size", "ndim", "_isvlen"),
    *("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict"),
    *("_NCProperties", "_IsNetcdf4", "_SuperblockVersion", "_FillValue", "_Encoding", "_Storage", "_ChunkSizes"),
    *("_DeflateLevel", "_Endianness", "_NoFill", "_Format", "_Filter", "_ARRAY_DIMENSIONS", "_nczarr_attr"),
]
ATTRIBUTES = ["a", "b", "units", "größe", *LIMITS]
# Of szip, `test_netcdf4_creation.py` has what is taken.
COMPRESSIONS = [None, "zlib", "zstd", "bzip2", "blosc_lz", "blosc_lz4", "blosc_lz4hc", "blosc_zlib", "blosc_zstd", "x"]
SETTINGS = ["auto_maskandscale", "auto_mask", "auto_scale", "always_mask", "auto_chartostring", "ncstring_attrs"]
COMPOUNDS = [
    np.dtype([("a", "i4"), ("b", "f8")]),
    np.dtype([("n", "S1", (6,)), ("x", "f4")]),
    np.dtype([("k", "i2", (2,)), ("y", "u1")]),
]


# What the original says of a file that it has spoilt, or left in define mode after it refused something.
_SPOILT = ("NetCDF: HDF error", "NetCDF: Operation not allowed in define mode", "NetCDF: Operation not allowed in data mode")


# What it says where there were fewer values than indices.
_HALF_WRITTEN = "is out of bounds for axis 0 with size"


@dataclass
class Side:
    """One of the two modules, with the file that it works on."""

    nc: Any
    path: str
    format: str
    ds: Any = None
    # Values that were never written may be anything.
    is_filled: bool = True
    # There, attributes of a file that was synced change their places when they are set to another type.
    is_ordered: bool = True
    # Values that are written or read sync definitions there.
    is_written: bool = False

    def groups(self) -> list[Any]:
        found = [self.ds]
        for group in found:
            found.extend(group.groups.values())
        return found

    def variables(self) -> list[Any]:
        return [each for group in self.groups() for each in group.variables.values()]

    def holders(self) -> list[Any]:
        """What has attributes."""
        return [*self.variables(), *self.groups()]


def _is_wordless(theirs: Any, ours: Any) -> bool:
    """Whether both raise `IndexError`, there without words, or with Python's own."""
    return theirs[:2] == ours[:2] == ("raised", "IndexError") and theirs[2] in ("", "tuple index out of range")


def _lines(side: Side, shown: str) -> Any:
    return shown if side.is_ordered else sorted(shown.splitlines())


def _pick(items: list[Any], number: int) -> Any:
    return items[number % len(items)] if items else None


_small = st.integers(0, 7)
# The original loses a variable without that dimension when a dimension of its name is made: their names differ.
_dimension_name = st.sampled_from(["d", "e", "f", "t", "x"])
_name = st.sampled_from(["u", "v", "w"])
# Some names are reserved: by Python's objects, by netCDF-C, or by HDF5.
_attribute = st.one_of(st.sampled_from(ATTRIBUTES), st.sampled_from(ATTRIBUTES), st.sampled_from(RESERVED))
_keywords = st.fixed_dictionaries(
    {},
    optional={
        "compression": st.sampled_from(COMPRESSIONS),
        "complevel": st.sampled_from([0, 1, 4, 9]),
        "shuffle": st.booleans(),
        "szip_coding": st.sampled_from(["nn", "ec", "x"]),
        "blosc_shuffle": st.sampled_from([0, 1, 2]),
        "fletcher32": st.booleans(),
        "contiguous": st.booleans(),
        "chunksizes": st.lists(st.integers(1, 5), min_size=1, max_size=3),
        "endian": st.sampled_from(["native", "little", "big", "x"]),
        "least_significant_digit": st.integers(0, 3),
        "fill_value": st.sampled_from([0, 1, -1, 7.5, "default", "x", float("nan"), None]),
    },
).flatmap(lambda words: st.sampled_from([{}, {key: words[key] for key in list(words)[:2]}, words]))

STEPS = {
    "dimension": st.tuples(_small, _dimension_name, st.sampled_from([None, 1, 2, 3, 4, 4, 5, 0])),
    "variable": st.tuples(_small, _name, st.sampled_from(TYPES), st.lists(_small, max_size=3), _keywords),
    "typed": st.tuples(_small, _name, _small, st.lists(_small, max_size=2)),
    "group": st.tuples(_small, st.sampled_from(["g", "h", "g/k", "v"])),
    "type": st.tuples(_small, st.sampled_from(["compound", "vlen", "enum"]), st.sampled_from(["P", "Q", "E"]), _small),
    "set": st.tuples(_small, _attribute, VALUES, st.sampled_from(["setncattr", "setattr", "setncattr_string", "setncatts"])),
    "get": st.tuples(_small, _attribute),
    "delete": st.tuples(_small, _attribute),
    "rename attribute": st.tuples(_small, _attribute, _attribute),
    "rename dimension": st.tuples(_small, st.just("Dimension"), _small, _dimension_name),
    "rename": st.tuples(_small, st.sampled_from(["Variable", "Group"]), _small, _name),
    "assign": st.tuples(_small, KEYS, VALUES),
    "assign whole": st.tuples(_small, st.just((("e",),)), st.tuples(st.just("like"), st.integers(0, 99))),
    "read": st.tuples(_small, KEYS),
    "read whole": st.tuples(_small, st.just((("e",),))),
    "describe": st.tuples(_small),
    "switch": st.tuples(_small, st.sampled_from(SETTINGS), st.booleans(), st.booleans()),
    "look up": st.tuples(_small, st.sampled_from(["v", "g", "g/v", "/v", "q", "g/q/v"])),

    "sync": st.just(()),
    "reopen": st.tuples(st.sampled_from(["a", "a", "r+", "r"])),
    "fill": st.tuples(st.booleans()),
}
# How often each is drawn.
_OFTEN = ("dimension", "variable", "variable", "set", "set", "assign", "assign", "assign whole", "read", "read", "read whole")


def programs() -> st.SearchStrategy[Any]:
    """A format, and 10 to 60 calls."""
    step = st.sampled_from([*_OFTEN, *STEPS]).flatmap(lambda name: st.tuples(st.just(name), STEPS[name]))
    begin = st.tuples(
        st.tuples(st.just("dimension"), st.tuples(st.just(0), st.just("x"), st.sampled_from([3, 4]))),
        st.tuples(st.just("dimension"), st.tuples(st.just(0), st.just("t"), st.none())),
        st.tuples(st.just("variable"), STEPS["variable"]),
    )
    rest = st.lists(step, min_size=7, max_size=57)
    return st.tuples(st.sampled_from(FORMATS), begin, rest).map(lambda told: (told[0], [*told[1], *told[2]]))


@dataclass
class Pair:
    """Both modules, with programs that run on both."""

    theirs: Side
    ours: Side
    half_made: str | None = None

    def run(self, steps: list[Any]) -> list[str]:
        """Runs a program; returns where the modules differ, up to the first step that does."""
        for side in (self.theirs, self.ours):
            side.ds = side.nc.Dataset(side.path, "w", format=side.format)
        try:
            for at, step in enumerate(steps):
                told = [self._outcome(side, step) for side in (self.theirs, self.ours)]
                if told[0] != told[1] and told[0][0][0] == "raised" and told[0][0][2].startswith(_SPOILT):
                    # There is nothing to compare with any more.
                    return []
                if step[0] == "assign" and told[0][0][:2] == ("raised", "IndexError") and _HALF_WRITTEN in told[0][0][2]:
                    # There, a part was written before.
                    return []
                if told[0] != told[1] and not _is_wordless(told[0][0], told[1][0]):
                    return [f"step {at}: {step!r}\n there {told[0]!r}\n here  {told[1]!r}"]
                if step[0] in ("variable", "typed") and told[0][0][0] == "raised":
                    # There, a variable may stay that was refused half made.
                    self.half_made = step[1][1]
                    break
        finally:
            ended = [outcome(lambda side=side: side.ds.close())[0] for side in (self.theirs, self.ours)]
        if ended[0][0] == "raised" and ended[1][0] == "returned":
            # Some filters fail there when the file is closed, and it is not whole.
            return []
        return self._files()

    def _outcome(self, side: Side, step: Any) -> Any:
        name, arguments = step
        if name in ("assign", "assign whole", "set"):
            arguments = self._resolved(name, arguments)
        return outcome(lambda: _perform(side, name, arguments), side.path)

    def _resolved(self, name: str, arguments: Any) -> Any:
        """Values, in a shape that the variable of netCDF4-python asks for."""
        if name in ("set"):
            target = _pick(self.ours.holders(), arguments[0])
            if arguments[1] == "_Unsigned" and arguments[2][0] not in ("text", "bytes"):
                # Arrays there make reading fail.
                return arguments[0], "b", 1, *arguments[3:]
            if type(target).__name__ == "Group" and arguments[1] in reserved_attributes():
                # There, they are taken and lost.
                return arguments[0], "a", value_of(arguments[2], np.dtype("i4"), (), None), *arguments[3:]
            dtype = target.dtype if type(target).__name__ == "Variable" else np.dtype("i4")
            if dtype is not str and dtype.kind == "S" and arguments[1] in LIMITS:
                # Characters have no limits; the original warns of them all the same.
                return arguments[0], "a", value_of(arguments[2], dtype, (), None), *arguments[3:]
            return *arguments[:2], value_of(arguments[2], dtype, (), None), *arguments[3:]
        variable = _pick(self.ours.variables(), arguments[0])
        if variable is None:
            return arguments
        key = key_of(arguments[1], variable.shape)
        return arguments[0], key, value_of(arguments[2], variable.dtype, _shape(variable, key), variable)

    def _files(self) -> list[str]:
        """Where the files differ, or are read differently."""
        filled = self.ours.is_filled
        first, *others = (
            (f"{name} reads what {owner.nc.__name__} wrote", described(nc, owner.path, filled, self.half_made, self.ours.is_ordered))
            for name, nc in (("netCDF4", self.theirs.nc), ("ncirrus", self.ours.nc))
            for owner in (self.theirs, self.ours)
            if Path(owner.path).exists()
        )
        return [f"{place}: {each}" for place, told in others for each in differences(first[1], told)]


def _shape(variable: Any, key: Any) -> tuple[int, ...]:
    """The shape of what a key selects: each list and mask along its own axis."""
    try:
        keys = key if isinstance(key, tuple) else (key,)
        rest = np.empty(variable.shape, "i1")
        at = 0
        for each in keys:
            if each is Ellipsis:
                at += rest.ndim - at - (len(keys) - 1 - [one is Ellipsis for one in keys].index(True))
                continue
            each = np.asarray(each, np.intp) if isinstance(each, list) else each
            rest = rest[(*[slice(None)] * at, each)]
            at += not isinstance(each, (int, np.integer))
        return np.shape(rest)
    except (IndexError, ValueError):
        return ()


def _perform(side: Side, name: str, told: Any) -> Any:
    """Makes the call of a step."""
    calls = {"assign whole": "assign", "read whole": "read", "rename dimension": "rename"}
    return globals()[f"_{calls.get(name, name).replace(' ', '_')}"](side, *told)


def _dimension(side: Side, group: int, name: str, size: int | None) -> Any:
    if size is None and side.format != "NETCDF4" and any(each.isunlimited() for each in side.ds.dimensions.values()):
        size = 2
    scope = _pick(side.groups(), group)
    return None if _hides(scope, name) else scope.createDimension(name, size)


def _hides(scope: Any, name: str) -> bool:
    """Whether a dimension of that name would hide one further up that variables below have: the original reads them with
    the length of the wrong one."""
    if name in scope.dimensions:
        return False
    below = [scope]
    while below:
        group = below.pop()
        if any(name in variable.dimensions for variable in group.variables.values()):
            return True
        below.extend(group.groups.values())
    return False


def _variable(side: Side, group: int, name: str, datatype: str, dims: list[int], words: dict[str, Any]) -> Any:
    scope = _pick(side.groups(), group)
    if datatype == "f4" and words.get("fill_value") == "default":
        # There, it is 0.
        words = {**words, "fill_value": 1}
    if datatype == "O":
        # Strings that are rounded cannot be assigned.
        words = {word: value for word, value in words.items() if word != "least_significant_digit"}
    return _repr(side, scope.createVariable(name, str if datatype == "O" else datatype, _dims(scope, dims), **words))


def _dims(scope: Any, numbers: list[int]) -> list[str]:
    seen: dict[str, Any] = {}
    while scope is not None:
        seen = {**scope.dimensions, **seen}
        scope = scope.parent
    names = [_pick(sorted(seen), number) for number in numbers]
    names = [name for name in names if name]
    # The original spoils variables that grow along one dimension twice.
    names = [name for at, name in enumerate(names) if not seen[name].isunlimited() or name not in names[:at]]
    # Axes that grow come first, or the classic formats refuse the variable.
    return sorted(names, key=lambda name: not seen[name].isunlimited())


def _typed(side: Side, group: int, name: str, number: int, dims: list[int]) -> Any:
    scope = _pick(side.groups(), group)
    known = [each for types in (scope.cmptypes, scope.vltypes, scope.enumtypes) for each in types.values()]
    datatype = _pick(known, number)
    return None if datatype is None else _repr(side, scope.createVariable(name, datatype, _dims(scope, dims)))


def _group(side: Side, group: int, name: str) -> Any:
    made = _pick(side.groups(), group).createGroup(name)
    return _path(made), made.name


def _type(side: Side, group: int, sort: str, name: str, number: int) -> Any:
    scope = _pick(side.groups(), group)
    if sort == "compound":
        return scope.createCompoundType(_pick(COMPOUNDS, number), name)
    if sort == "vlen":
        return scope.createVLType(_pick(["i4", "f8", "u1"], number), name)
    return scope.createEnumType(_pick(["i1", "u1", "i4"], number), name, {"zero": 0, "one": 1, "seven": 7})


def _set(side: Side, holder: int, name: str, value: Any, call: str) -> Any:
    target = _pick(side.holders(), holder)
    if side.is_written and {name, "b"}.intersection(target.ncattrs()):
        side.is_ordered = False
    if call == "setattr":
        try:
            return setattr(target, name, value)
        except KeyError:
            # As when it is asked for.
            raise AttributeError(f"{name!r} is one of the reserved attributes {side.nc._netCDF4._private_atts!r}, cannot rebind. Use setncattr instead.") from None
    return target.setncatts({name: value, "b": 1}) if call == "setncatts" else getattr(target, call)(name, value)


def _get(side: Side, holder: int, name: str) -> Any:
    target = _pick(side.holders(), holder)
    try:
        found = getattr(target, name)
    except KeyError as error:
        # For names of Python's objects that it has not: ours answers `hasattr`.
        raise AttributeError(*error.args) from None
    # Each library names itself as the writer of a file, and numbers of groups are arbitrary.
    is_own = name in ("_grpid", "_NCProperties", "_IsNetcdf4")
    names, values = target.ncattrs(), list(target.__dict__.items())
    if not side.is_ordered:
        names, values = sorted(names), sorted(values, key=lambda item: item[0])
    return names, values, type(found).__name__ if is_own else found


def _delete(side: Side, holder: int, name: str) -> Any:
    _pick(side.holders(), holder).delncattr(name)


def _rename_attribute(side: Side, holder: int, old: str, new: str) -> Any:
    target = _pick(side.holders(), holder)
    target.renameAttribute(old, new)
    return target.ncattrs() if side.is_ordered else sorted(target.ncattrs())


def _rename(side: Side, group: int, sort: str, member: int, new: str) -> Any:
    scope = _pick(side.groups(), group)
    members = {"Dimension": scope.dimensions, "Variable": scope.variables, "Group": scope.groups}[sort]
    if sort == "Dimension" and _hides(scope, new):
        return None
    getattr(scope, f"rename{sort}")(_pick(sorted(members), member) or "absent", new)
    return list(members), [each.name for each in members.values()]


def _assign(side: Side, number: int, key: Any, value: Any) -> Any:
    variable = _pick(side.variables(), number)
    side.is_written = True
    if variable is not None:
        variable[key] = value
        return variable.shape
    return None


def _read(side: Side, number: int, key: Any) -> Any:
    variable = _pick(side.variables(), number)
    side.is_written = True
    if variable is None:
        return None
    value = variable[key_of(key, variable.shape)]
    return value if side.is_filled else np.shape(value)


def _describe(side: Side, number: int) -> Any:
    variable = _pick(side.variables(), number)
    shown = [re.sub(r"\ngroup \S+", "\ngroup", repr(each)) for each in side.groups()]
    shown = [_lines(side, each) for each in shown]
    return shown, None if variable is None else _repr(side, variable)


def _path(group: Any) -> list[str]:
    """Names from the root down: the original keeps the path of before when a group is renamed."""
    return [] if group.parent is None else [*_path(group.parent), group.name]


def _repr(side: Side, variable: Any) -> Any:
    told = ("dtype", "shape", "size", "ndim", "dimensions", "scale", "mask", "always_mask", "chartostring", "name")
    values = [getattr(variable, name) for name in told]
    values += [variable.filters(), chunks_of(variable), variable.endian(), variable.quantization()]
    return values, [each.name for each in variable.get_dims()], _lines(side, _unnamed(variable)), _path(variable.group())


def _unnamed(variable: Any) -> str:
    """How a variable is shown, without its name and filling: the original keeps the old name after a renaming, and
    reports filling that was switched off for the dataset when the file is opened again."""
    shown = re.sub(r"(?m)^(\S+) \S+\(", r"\1 (", repr(variable), count=1)
    return re.sub(r"\n(filling|path) .*", "", shown)


def _switch(side: Side, holder: int, name: str, value: bool, is_one: bool) -> Any:
    target = _pick(side.holders() if is_one else side.groups(), holder)
    getattr(target, f"set_{name}")(value)


def _look_up(side: Side, group: int, path: str) -> Any:
    found = _pick(side.groups(), group)[path]
    return found.name, _path(found.group() if type(found).__name__ == "Variable" else found)


def _sync(side: Side) -> Any:
    side.ds.sync()
    side.is_ordered = False


def _reopen(side: Side, mode: str) -> Any:
    side.ds.close()
    side.ds = side.nc.Dataset(side.path, mode)
    side.is_ordered = False
    return _lines(side, repr(side.ds))


def _fill(side: Side, is_filled: bool) -> Any:
    side.ds.set_fill_on() if is_filled else side.ds.set_fill_off()
    side.is_filled = side.is_filled and is_filled
