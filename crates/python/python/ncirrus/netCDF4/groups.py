"""Datasets and groups as netCDF4-python's."""

from __future__ import annotations

import os
import posixpath
import warnings
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

import ncirrus
from ncirrus.errors import Error, NcirrusWarning
from ncirrus.netCDF4 import failures
from ncirrus.netCDF4.constants import class_of
from ncirrus.netCDF4.creating import KEYWORDS
from ncirrus.netCDF4.dimension import Dimension
from ncirrus.netCDF4.places import KINDS, MODES, Place
from ncirrus.netCDF4.switches import Switches
from ncirrus.netCDF4.user_types import CompoundType, EnumType, VLType, of_library
from ncirrus.netCDF4.utils import _find_dim
from ncirrus.netCDF4.variables import Variable


class _Members(Switches):
    """What datasets and groups have in common."""

    __slots__ = (
        "__weakref__",
        "_above",
        "_found",
        "_generation",
        "_place",
        "auto_complex",
        "cmptypes",
        "dimensions",
        "enumtypes",
        "groups",
        "keepweakref",
        "_ncstring_attrs__",
        "variables",
        "vltypes",
    )
    _own: frozenset[str] = frozenset(__slots__)
    __orthogonal_indexing__ = True
    # The classes of the members.
    _Dimension: type[Dimension] = Dimension
    _Variable: type[Variable] = Variable

    _place: Place
    _above: Any
    _found: Any
    _generation: int
    auto_complex: bool
    keepweakref: bool
    _ncstring_attrs__: bool
    dimensions: dict[str, Dimension]
    variables: dict[str, Variable]
    groups: dict[str, Group]
    cmptypes: dict[str, CompoundType]
    vltypes: dict[str, VLType]
    enumtypes: dict[str, EnumType]

    def _fill(self, place: Place, above: Any, found: Any, keepweakref: bool, auto_complex: bool) -> None:
        """Takes the definitions of a group of the library."""
        self._keep(keepweakref=keepweakref, auto_complex=auto_complex, _ncstring_attrs__=False)
        self._place, self._above, self._found, self._generation = place, above, found, place.generation
        self._keep(cmptypes={}, vltypes={}, enumtypes={})
        for name, known in found.types.items():
            made = of_library(self, known)
            if made is not None:
                self._types_of(made)[name] = made
        mine: Any = weakref.proxy(self) if self.keepweakref else self
        dimensions = {name: self._Dimension._of(mine, name) for name in found.dims}
        variables = {name: self._Variable._of(mine, name, variable) for name, variable in found.variables.items()}
        groups = {name: self._sort_of_groups()._of(mine, group) for name, group in found.groups.items()}
        self._keep(dimensions=dimensions, variables=variables, groups=groups)

    @classmethod
    def _sort_of_groups(cls) -> type[Group]:
        return Group

    def _types_of(self, made: Any) -> dict[str, Any]:
        if isinstance(made, CompoundType):
            return self.cmptypes
        return self.vltypes if isinstance(made, VLType) else self.enumtypes

    def _define(self, known: Any) -> None:
        self._place.check_enhanced()
        is_known = any(known.name in members for members in (self.cmptypes, self.vltypes, self.enumtypes))
        with failures.as_runtime_error(failures.NAME_IN_USE if is_known else None):
            self._owner().create_type(known)

    def _file(self) -> Place:
        return self._place

    def _scope(self) -> Any:
        return self

    def _told_of_file(self, name: str) -> Any:
        """What netCDF-4 files say of themselves: who wrote them, and how."""
        if not self._place.is_hdf5:
            return None
        value = self._place.dataset._opened().root_attribute(name, self._place.mode == "w")
        return np.int32(value) if isinstance(value, int) else value

    def _owner(self) -> Any:
        self._place.check_open()
        if self._generation != self._place.generation:
            root = self._place.dataset
            self._found = root if self.path == "/" else root.groups[self.path.strip("/")]
            self._generation = self._place.generation
        return self._found

    if not TYPE_CHECKING:

        @property
        def __dict__(self) -> dict[str, Any]:
            """The attributes of the file."""
            return self._dictionary()

    @property
    def parent(self) -> Any:
        """The group that it is in; none for the root."""
        return self._above

    @property
    def path(self) -> str:
        """Absolute path."""
        if self._above is None:
            return "/"
        return f"{self._above.path.rstrip('/')}/{self.name}"

    @property
    def name(self) -> str:
        """Simple name; `/` for the root."""
        return "/"

    @property
    def data_model(self) -> str:
        """One of the formats that `Dataset` takes."""
        return self._place.model

    file_format = data_model

    @property
    def disk_format(self) -> str:
        """`HDF5`, `NETCDF3`, `NCZARR`, `DAP2` or `DAP4`."""
        return self._place.disk_format

    @property
    def _isopen(self) -> int:
        return int(not self._place.is_closed)

    @property
    def _grpid(self) -> int:
        return id(self._place)

    def isopen(self) -> bool:
        """Whether it was not closed."""
        return not self._place.is_closed

    def filepath(self, encoding: str | None = None) -> str:
        """The address it was opened by."""
        self._place.check_open()
        return self._place.name

    def sync(self) -> None:
        """Publishes what was written so far; a new file appears."""
        self._place.sync()

    def set_fill_on(self) -> None:
        """Elements that are never written have fill values."""
        self._place.check_writable()
        self._place.is_filled = True

    def set_fill_off(self) -> None:
        """Elements that are never written have any value, in variables that are created from now on."""
        self._place.check_writable()
        self._place.is_filled = False

    def createDimension(self, dimname: str, size: int | Dimension | None = None) -> Dimension:
        """Creates a dimension; without a size, or with 0, it is unlimited."""
        made = self._Dimension(self, dimname, len(size) if isinstance(size, Dimension) else size)
        self.dimensions[dimname] = made
        return made

    def createVariable(
        self,
        varname: str,
        datatype: Any,
        dimensions: Any = (),
        compression: str | None = None,
        zlib: bool = False,
        complevel: int | None = 4,
        shuffle: bool = True,
        szip_coding: str = "nn",
        szip_pixels_per_block: int = 8,
        blosc_shuffle: int = 1,
        fletcher32: bool = False,
        contiguous: bool = False,
        chunksizes: Sequence[int] | None = None,
        endian: str = "native",
        least_significant_digit: int | None = None,
        significant_digits: int | None = None,
        quantize_mode: str = "BitGroom",
        fill_value: Any = None,
        chunk_cache: int | None = None,
        *,
        shards: Sequence[int] | Literal["auto"] | None = None,
    ) -> Variable:
        """A new variable; the groups of its path are created where they are not there.

        `shards`, an extension, is the shape of the objects that contain several chunks each (`format="ZARR3"`).
        """
        words: dict[str, Any] = {word: value for word, value in locals().items() if word in KEYWORDS}
        above, name = posixpath.split(posixpath.normpath(varname))
        group = self.createGroup(above) if above else self
        names = (dimensions,) if isinstance(dimensions, (str, bytes, Dimension)) else tuple(dimensions)
        made = self._Variable(group, name, datatype, names, **words)
        group.variables[name] = made
        return made

    def createGroup(self, groupname: str) -> Any:
        """Creates a group and the groups of its path, or returns the existing one."""
        group: Any = self
        for name in filter(None, posixpath.normpath(groupname).split("/")):
            if name not in group.groups:
                group.groups[name] = self._sort_of_groups()(group, name)
            group = group.groups[name]
        return group

    def createCompoundType(self, datatype: Any, datatype_name: str) -> CompoundType:
        """Creates a compound type with the fields of a dtype."""
        self.cmptypes[datatype_name] = CompoundType(self, datatype, datatype_name)
        return self.cmptypes[datatype_name]

    def createVLType(self, datatype: Any, datatype_name: str) -> VLType:
        """A new type of values of various lengths."""
        self.vltypes[datatype_name] = VLType(self, datatype, datatype_name)
        return self.vltypes[datatype_name]

    def createEnumType(self, datatype: Any, datatype_name: str, enum_dict: dict[str, int]) -> EnumType:
        """A new enum type."""
        self.enumtypes[datatype_name] = EnumType(self, datatype, datatype_name, enum_dict)
        return self.enumtypes[datatype_name]

    def renameDimension(self, oldname: str, newname: str) -> None:
        """Renames a dimension."""
        self._renamed("dimension", self.dimensions, oldname, newname, lambda: self._owner().rename_dimension(oldname, newname))

    def renameVariable(self, oldname: str, newname: str) -> None:
        """Renames a variable."""
        self._renamed("variable", self.variables, oldname, newname, lambda: self._owner().rename_variable(oldname, newname))

    def renameGroup(self, oldname: str, newname: str) -> None:
        """Renames a group."""

        def rename() -> None:
            self.groups[oldname]._owner().rename(newname)

        self._renamed("group", self.groups, oldname, newname, rename)

    def _renamed(self, sort: str, members: dict[str, Any], old: str, new: str, rename: Callable[[], None]) -> None:
        self._place.check_open()
        if old not in members:
            raise KeyError(f"{old} not a valid {sort} name")
        self._place.check_writable()
        if new in members:
            raise failures.LibraryError(failures.NAME_IN_USE, object=new)
        # Variables, groups and types have their names together.
        others = (self.variables, self.groups, self.cmptypes, self.vltypes, self.enumtypes)
        is_taken = sort != "dimension" and any(new in each for each in others)
        with failures.as_runtime_error(failures.NAME_IN_USE if is_taken else None):
            rename()
        # The last one from now on, until the file is opened again.
        members[new] = members.pop(old)
        members[new]._name = new

    def get_variables_by_attributes(self, **kwargs: Any) -> list[Variable]:
        """Variables whose attributes are equal to the given values, or satisfy the given functions."""

        def fits(variable: Variable) -> bool:
            found = ((getattr(variable, name, None), wanted) for name, wanted in kwargs.items())
            return all(wanted(value) if callable(wanted) else _is_equal(value, wanted) for value, wanted in found)

        return [variable for variable in self.variables.values() if fits(variable)]

    @staticmethod
    def fromcdl(
        cdlfilename: Any, ncfilename: Any = None, mode: str = "a", format: str = "NETCDF4"
    ) -> Any:
        """A dataset made of CDL; it is opened in the mode."""
        if format not in KINDS:
            raise ValueError("illegal format requested")
        path = os.fspath(cdlfilename)
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        target = os.fspath(ncfilename) if ncfilename is not None else f"{os.path.splitext(path)[0]}.nc"
        if os.path.exists(target):
            raise FileExistsError(target)
        try:
            ncirrus.generate(path, target, kind=KINDS[format])
        except Error as error:
            raise failures.worded(failures.LibraryError, error.message, error) from error
        return Dataset(target, mode=mode)

    def tocdl(self, coordvars: bool = False, data: bool = False, outfile: Any = None) -> str | None:
        """The dataset as CDL text: definitions, and on request the values of coordinates or all values."""
        self.sync()
        text = ncirrus.dump(
            self._place.dataset, data="all" if data else "coordinates" if coordvars else "none", special=True
        )
        if outfile is None:
            return text
        with open(outfile, "w", encoding="utf-8") as file:
            file.write(text)
        return None

    def __getitem__(self, elem: str) -> Any:
        above, name = posixpath.split(posixpath.normpath(elem))
        group: Any = self
        for part in filter(None, above.split("/")):
            group = group.groups[part]
        for members in (group.groups, group.variables):
            if name in members:
                return members[name]
        raise IndexError(f"{name} not found in {group.path}")

    def __iter__(self) -> NoReturn:
        raise TypeError("Dataset is not iterable. Consider iterating on Dataset.variables.")

    def __contains__(self, name: object) -> NoReturn:
        raise TypeError(
            "Dataset does not support membership operations. Perhaps try 'varname in dataset.variables' or "
            "'dimname in dataset.dimensions'."
        )

    def __repr__(self) -> str:
        self._place.check_open()
        lines = [class_of(self)]
        if self._above is None:
            lines.append(f"root group ({self.data_model} data model, file format {self.disk_format}):")
        else:
            lines.append(f"group {self.path}:")
        lines += [f"    {name}: {self.getncattr(name)}" for name in self.ncattrs()]
        sizes = ", ".join(f"{name}({len(dimension)})" for name, dimension in self.dimensions.items())
        variables = ", ".join(
            f"{variable.dtype} {name}({', '.join(variable.dimensions)})" for name, variable in self.variables.items()
        )
        lines += [f"    dimensions(sizes): {sizes}", f"    variables(dimensions): {variables}"]
        return "\n".join([*lines, f"    groups: {', '.join(self.groups)}"])

    def __reduce__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} is not picklable")

    def _find(self, name: str) -> Any:
        """A dimension that can be seen from here."""
        return _find_dim(self, name)


def _is_equal(value: Any, wanted: Any) -> bool:
    equal = value == wanted
    return bool(equal) if getattr(equal, "shape", ()) == () else bool(equal.all())


class Dataset(_Members):
    """A file: its root group. Changes take effect when it is synced, closed or collected."""

    __slots__ = ()

    def __init__(
        self,
        filename: Any,
        mode: str = "r",
        clobber: bool = True,
        format: str = "NETCDF4",
        diskless: bool = False,
        persist: bool = False,
        keepweakref: bool = False,
        memory: Any = None,
        encoding: str | None = None,
        parallel: bool = False,
        comm: Any = None,
        info: Any = None,
        auto_complex: bool = False,
        **kwargs: Any,
    ) -> None:
        if parallel:
            raise ValueError("parallel mode requires MPI enabled netcdf-c: threads and joint writing need none")
        if memory is not None and mode not in ("r", "w"):
            raise ValueError("if memory kwarg specified, mode must be 'r' or 'w'")
        if mode not in MODES:
            raise ValueError("mode must be 'w', 'x', 'r', 'a' or 'r+', got '{}'".format(mode))
        if format not in KINDS:
            raise ValueError("unrecognized format requested")
        name = os.fsdecode(filename) if isinstance(filename, (bytes, os.PathLike)) else str(filename)
        for word in kwargs.keys() - {"session", "storage_options"}:
            warnings.warn(f"the keyword {word!r} is not known, and ignored", NcirrusWarning, stacklevel=2)
        session: dict[str, Any] = {word: kwargs[word] for word in ("session", "storage_options") if word in kwargs}
        words = {"mode": MODES[mode], "clobber": clobber, "format": format, "diskless": diskless}
        place = Place(os.path.expanduser(name), {**words, "persist": persist, "memory": memory}, session)
        self._fill(place, None, place.dataset, bool(keepweakref), bool(auto_complex))

    def close(self) -> Any:
        """Publishes what was written; for a file in memory, returns the bytes."""
        return self._place.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        place = getattr(self, "_place", None)
        if place is not None and not place.is_closed:
            place.close()


class Group(Dataset):
    """A group below another one."""

    __slots__ = ("_name",)
    _own: frozenset[str] = Dataset._own | {"_name"}
    _name: str

    def __init__(self, parent: Any, name: str, **kwargs: Any) -> None:
        place = parent._place
        # netCDF-C compares names before it checks whether the file may be changed.
        is_checked = place.model == "NETCDF4_CLASSIC" or (place.model == "NETCDF4" and not place.is_closed)
        if is_checked and name in parent.variables:
            raise failures.LibraryError(failures.NAME_IN_USE, object=name)
        place.check_enhanced()
        with failures.as_runtime_error(failures.NAME_IN_USE if name in parent.variables else None):
            self._take(parent, parent._owner().create_group(name))
        self._keep(_ncstring_attrs__=parent._ncstring_attrs__)

    @classmethod
    def _of(cls, parent: Any, found: Any) -> Group:
        made: Group = cls.__new__(cls)
        made._take(parent, found)
        return made

    def _take(self, parent: Any, found: Any) -> None:
        self._name = found.name
        self._fill(parent._place, parent, found, parent.keepweakref, parent.auto_complex)

    @property
    def name(self) -> str:
        """Simple name."""
        return self._name

    def close(self) -> NoReturn:
        """Refused: the dataset is closed, not its groups."""
        raise OSError("cannot close a `Group` (only applies to Dataset)")

    def __del__(self) -> None:
        """A group that is collected closes nothing."""

