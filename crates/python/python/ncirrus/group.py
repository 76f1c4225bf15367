"""Groups: mappings of variables and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ncirrus import pickling, processes
from ncirrus.attributes import Attributes, check_types, of_native, to_native
from ncirrus.classic import check_feature, check_type
from ncirrus.codecs import filters_of
from ncirrus.dimension import Dimension
from ncirrus.errors import MemberNotFoundError
from ncirrus.types import Compound, Enum, Opaque, Vlen, name_of, type_of
from ncirrus.variable import Variable

if TYPE_CHECKING:
    from ncirrus.dataset import Dataset
    from ncirrus.plotting import PicturePage

_T = TypeVar("_T")
_HINTS = {
    "variable": "list(ds) has the names of variables and groups",
    "group": "list(ds.groups) has the names of groups",
    "dimension": "list(ds.dims) has the names of dimensions",
    "type": "list(ds.types) has the names of types",
}


class Members(Mapping[str, _T]):
    """Members of a group of one sort, in definition order."""

    __slots__ = ("_find", "_group", "_names", "_sort")

    def __init__(
        self, group: Group, sort: str, names: Callable[[], list[str]], find: Callable[[str], _T | None]
    ) -> None:
        self._group, self._sort, self._names, self._find = group, sort, names, find

    def __getitem__(self, name: str) -> _T:
        found = self._find(name) if isinstance(name, str) else None
        if found is None:
            raise self._group._lacks(self._sort, name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __repr__(self) -> str:
        names = self._names()
        shown = ", ".join(repr(name) for name in names[:20])
        return f"<{len(names)} {self._sort}s: {shown}{', ...' if len(names) > 20 else ''}>"


class Group(Mapping[str, "Variable | Group"]):
    """A group: variables, groups, dimensions, types and attributes."""

    __slots__ = ("_attribute_values", "_dataset", "_generation", "_handle", "_path")

    def __init__(self, dataset: Dataset, path: str, handle: Any) -> None:
        self._dataset, self._path, self._handle = dataset, path, handle
        self._generation = processes.generation
        self._attribute_values: dict[str, Any] | None = None

    def _native(self) -> Any:
        """The handle of the extension module, in this process."""
        if self._handle is None or self._generation != processes.generation:
            root = self.dataset._opened().root()
            found = root if self._path == "/" else root.group(self._path)
            if found is None:
                raise self._lacks("group", self._path)
            self._generation, self._handle = processes.generation, found
        return self._handle

    @property
    def dataset(self) -> Dataset:
        """The dataset of the group."""
        return self._dataset

    @property
    def name(self) -> str:
        """Simple name; empty for the root."""
        return str(self._native().name())

    @property
    def path(self) -> str:
        """Absolute path; `/` for the root."""
        return str(self._native().path())

    @property
    def parent(self) -> Group | None:
        """The parent group; `None` for the root."""
        handle = self._native().parent()
        return None if handle is None else self._group(handle)

    @property
    def variables(self) -> Mapping[str, Variable]:
        """Variables of this group by name."""
        return Members(self, "variable", lambda: self._native().variable_names(), self._find_variable)

    @property
    def groups(self) -> Mapping[str, Group]:
        """Groups below this one by name."""
        return Members(self, "group", lambda: self._native().group_names(), self._find_group)

    @property
    def dims(self) -> Mapping[str, Dimension]:
        """Dimensions that are defined in this group."""
        return {name: Dimension(self.dataset, handle) for name, handle in self._native().dimensions()}

    @property
    def types(self) -> Mapping[str, Enum | Compound | Vlen | Opaque]:
        """Types that are defined in this group."""
        made = [type_of(described) for described in self._native().types()]
        return {ty.name: ty for ty in made if ty is not None}

    @property
    def attrs(self) -> Attributes:
        """Attributes."""
        return Attributes(self)

    @property
    def fault(self) -> str | None:
        """The reason why the group cannot be read; `None` if it can."""
        return self._native().fault()  # type: ignore[no-any-return]

    def _attributes(self) -> Mapping[str, Any]:
        if self._attribute_values is not None:
            return self._attribute_values
        has_strings = not self.dataset._is_classic
        values = {name: of_native(value, has_strings) for name, value in self._native().attributes().items()}
        if self.dataset.mode == "r":
            self._attribute_values = values
        return values

    def _find_variable(self, path: str) -> Variable | None:
        handle = self._native().variable(path) if _is_name(path) else None
        return None if handle is None else Variable(self.dataset, handle.path(), handle)

    def _find_group(self, path: str) -> Group | None:
        handle = self._native().group(path) if _is_name(path) else None
        return None if handle is None else self._group(handle)

    def _group(self, handle: Any) -> Group:
        return Group(self.dataset, handle.path(), handle)

    def __getitem__(self, path: str) -> Variable | Group:
        found = (self._find_variable(path) or self._find_group(path)) if isinstance(path, str) else None
        if found is None:
            raise self._lacks("variable", path)
        return found

    def __contains__(self, path: object) -> bool:
        return _is_name(path) and (
            self._native().variable(path) is not None or self._native().group(path) is not None
        )

    def __iter__(self) -> Iterator[str]:
        native = self._native()
        yield from native.variable_names()
        yield from native.group_names()

    def __len__(self) -> int:
        native = self._native()
        return len(native.variable_names()) + len(native.group_names())

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self.dataset is other.dataset and self.path == other.path

    def __hash__(self) -> int:
        return hash((id(self.dataset), self._path))

    def __repr__(self) -> str:
        return f"<ncirrus.Group {self.path} of {self.dataset.url}: {_members(self)}>"

    def pictures(
        self, names: Iterable[str] | None = None, *, size: tuple[int, int] = (360, 260), max_bytes: int | str = "16M"
    ) -> PicturePage:
        """Small pictures of the named variables, or of all below the group that are not coordinates. Of further dimensions
        the first index is drawn. Variables that need more than `max_bytes` or cannot be drawn are left out, with the
        reason."""
        from ncirrus.plotting import pictures

        return pictures(self, names, size, max_bytes)

    def _repr_html_(self) -> str:
        from ncirrus import html

        return html.group(self)

    def _lacks(self, sort: str, name: object) -> MemberNotFoundError:
        path = "/" if self._handle is None else self.path
        return MemberNotFoundError(f"no {sort} {name!r}", path=path, object=self.dataset.url, hint=_HINTS[sort])

    def create_dimension(self, name: str, len: int | None) -> Dimension:
        """Adds a dimension; the length `None` makes it unlimited."""
        length = None if len is None else _length(name, len)
        native = self._changed()
        if length is None and any(dim.is_unlimited for dim in self.dims.values()):
            check_feature(self.dataset._known_kind, "second unlimited dimension", f"/{name}", self.dataset.url)
        return Dimension(self.dataset, native.create_dimension(name, length))

    def create_variable(
        self,
        name: str,
        dtype: Any,
        dims: Sequence[str] = (),
        *,
        chunks: Sequence[int] | Literal[False] | None = None,
        shards: Sequence[int] | Literal["auto"] | None = None,
        index_first: bool = False,
        filters: Any = None,
        fill_value: Any = ...,
        endian: Literal["native", "little", "big"] | None = None,
        quantize: Mapping[str, int] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Variable:
        """Adds a variable with dimensions of this group and the groups above it.

        `chunks=False` stores it contiguously. `shards` is the shape of the objects that contain several chunks each (Zarr v3):
        multiples of the chunk's lengths; `"auto"` makes them about 256 MiB. With `index_first` the index of each is at its start,
        otherwise at its end. `fill_value=False` leaves elements undefined that are not written.
        """
        native = self._changed()
        names = [dims] if isinstance(dims, str) else list(dims)
        path = f"{self.path.rstrip('/')}/{name}"
        how: dict[str, Any] = {"chunks": _chunks(chunks), "filters": filters_of(filters), "endian": endian}
        if shards is not None:
            how["shards"] = [] if shards == "auto" else list(_chunks(shards))
            how["index_first"] = bool(index_first)
        given = dict(attrs or {})
        if fill_value is ... and "_FillValue" in given:
            fill_value = given.pop("_FillValue")
        if fill_value is not ... and fill_value is not None:
            how["fill"] = _fill(fill_value, dtype, path)
        if quantize is not None:
            how["quantize"] = _only(quantize, path)
        classic = self.dataset._is_classic
        how["attrs"] = {key: to_native(key, value, classic, path) for key, value in given.items()}
        check_types(self.dataset, how["attrs"], path)
        type_name = name_of(dtype)
        check_type(self.dataset._known_kind, type_name, "a variable", path, self.dataset.url)
        handle = native.create_variable(name, type_name, names, how)
        return Variable(self.dataset, handle.path(), handle)

    def create_group(self, name: str) -> Group:
        """Adds a group; for a path such as `a/b`, the groups that do not exist yet."""
        native = self._changed()
        check_feature(self.dataset._known_kind, "groups", f"{self.path.rstrip('/')}/{name}", self.dataset.url)
        *above, last = name.strip("/").split("/") if name.strip("/") else [name]
        for part in above:
            handle = native.group(part) or native.create_group(part)
            native = handle
        return self._group(native.create_group(last))

    def create_type(self, type: Enum | Compound | Vlen | Opaque) -> Enum | Compound | Vlen | Opaque:
        """Adds a type for variables, attributes and other types."""
        native = self._changed()
        check_feature(self.dataset._known_kind, "types of its own", f"{self.path.rstrip('/')}/{type.name}", self.dataset.url)
        native.create_type(type._described())
        return type

    def make_unlimited(self, name: str) -> None:
        """Makes a fixed dimension unlimited."""
        self._changed().make_unlimited(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickling.group, (self.dataset, self._path)

    def __copy__(self) -> Group:
        return self

    def __deepcopy__(self, memo: Any) -> Group:
        return self

    def __dask_tokenize__(self) -> Any:
        return (*self.dataset.__dask_tokenize__(), self._path)

    def rename(self, name: str) -> None:
        """Renames the group."""
        self._changed().rename(name)
        self._path = self._native().path()

    def rename_dimension(self, old: str, new: str) -> None:
        """Renames a dimension."""
        self._changed().rename_dimension(old, new)

    def rename_variable(self, old: str, new: str) -> None:
        """Renames a variable."""
        self._changed().rename_variable(old, new)

    def remove(self, name: str) -> None:
        """Removes a variable, an empty group, or an unused dimension."""
        self._changed().remove(name)

    def _changed(self) -> Any:
        """The handle, of a dataset that may be changed."""
        self.dataset._check_writable()
        return self._native()


def _is_name(path: object) -> bool:
    """Whether something may be the name of a member: lone surrogates are in none."""
    return isinstance(path, str) and (path.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in path))


def _members(group: Group) -> str:
    native = group._native()
    counts = [
        (len(native.dimensions()), "dimension"),
        (len(native.variable_names()), "variable"),
        (len(native.group_names()), "group"),
    ]
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)


def _length(name: str, length: int) -> int:
    import operator

    from ncirrus.errors import InvalidError

    number = operator.index(length)
    if number < 0:
        raise InvalidError(f"the dimension {name!r} cannot have the length {number}")
    return number


def _chunks(chunks: Any) -> Any:
    if chunks is None or chunks is False:
        return chunks
    return [int(length) for length in ([chunks] if isinstance(chunks, int) else chunks)]


def _fill(value: Any, dtype: Any, path: str) -> Any:
    """An array of one element, or the word for none."""
    import numpy as np

    from ncirrus.casts import prepared
    from ncirrus.types import _DTYPES

    if value is False:
        return "none"
    if not isinstance(dtype, (str, type, np.dtype)) and hasattr(dtype, "dtype"):
        wanted = dtype.dtype
    else:
        name = name_of(dtype)
        wanted = _DTYPES.get(name) or np.dtype(dtype)
    array = prepared(value, wanted, None, path).reshape(-1)
    return np.ascontiguousarray(array)


def _only(quantize: Mapping[str, int], path: str) -> tuple[str, int]:
    from ncirrus.errors import InvalidError

    if len(quantize) != 1:
        raise InvalidError(f"quantize={dict(quantize)!r} names more or fewer modes than one", path=path)
    return next(iter(quantize.items()))
