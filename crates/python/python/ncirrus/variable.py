"""Variables: metadata are in memory, values are read when indexed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ncirrus import _ncirrus, casts, indexing, pickling, points, processes
from ncirrus.attributes import Attributes, of_native
from ncirrus.asynchronous import outcome
from ncirrus.chunks import blocks, chunk_table, mapped_array, parts, starts_of
from ncirrus.codecs import named
from ncirrus.decoding import DecodedVariable
from ncirrus.errors import InvalidError
from ncirrus.indexing import Selection, count_of, has_dots
from ncirrus.progress import Report, reporting
from ncirrus.sizes import byte_count
from ncirrus.types import Compound, Enum, Opaque, Vlen, type_of

if TYPE_CHECKING:
    from ncirrus.dataset import Dataset
    from ncirrus.encoders import EncodedChunk, Encoder
    from ncirrus.plotting import Picture

_T = TypeVar("_T")

_APPEND = "Variable.append makes an axis longer where the format allows it"

# Axes that grow have no end.
_FAR = 2**62


class Indexer(Generic[_T]):
    """Values by another kind of index."""

    __slots__ = ("_indexing", "_variable")

    def __init__(self, variable: Variable, indexing: Any) -> None:
        self._variable, self._indexing = variable, indexing

    def __getitem__(self, selection: Any) -> _T:
        return self._variable.read(selection, indexing=self._indexing)  # type: ignore[return-value]

    def __setitem__(self, selection: Any, values: ArrayLike) -> None:
        self._variable._write(selection, values, self._indexing)


class Plan(Mapping[str, Any]):
    """The plan of a read: requests, bytes, chunks, decoded bytes."""

    __slots__ = ("_told",)

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    def __getitem__(self, name: str) -> Any:
        return self._told[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._told if name != "text")

    def __len__(self) -> int:
        return len(self._told) - 1

    def _repr_html_(self) -> str:
        from ncirrus import html

        return html.plan(self)

    def __repr__(self) -> str:
        return f"{self._told['variable']}\n{self._told['text']}".rstrip()


class Variable:
    """A variable: metadata are in memory, values are read when indexed."""

    __slots__ = ("__weakref__", "_attribute_values", "_dataset", "_generation", "_handle", "_path")

    def __init__(self, dataset: Dataset, path: str, handle: Any) -> None:
        self._dataset, self._path, self._handle = dataset, path, handle
        self._generation = processes.generation
        self._attribute_values: dict[str, Any] | None = None

    def _native(self) -> Any:
        """The handle of the extension module, in this process."""
        if self._handle is None or self._generation != processes.generation:
            found = self._dataset._opened().root().variable(self._path)
            if found is None:
                raise self._dataset._lacks("variable", self._path)
            self._generation, self._handle = processes.generation, found
        return self._handle

    def release(self) -> None:
        """Releases the handle of the extension module; the next use makes a new one."""
        self._handle = None

    @property
    def name(self) -> str:
        """Simple name."""
        return str(self._native().name())

    @property
    def path(self) -> str:
        """Absolute path."""
        return str(self._native().path())

    @property
    def dataset(self) -> Dataset:
        """The dataset of the variable."""
        return self._dataset

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values, in the machine's byte order."""
        return self._native().dtype()  # type: ignore[no-any-return]

    @property
    def stored_dtype(self) -> np.dtype[Any] | None:
        """The type in storage if netCDF has no equal one: Zarr's booleans, half and complex numbers, times, and
        text of fixed length."""
        word = self._native().stored_dtype()
        return None if word is None else np.dtype(word)

    @property
    def type(self) -> Enum | Compound | Vlen | Opaque | None:
        """The user-defined type of the values; `None` for netCDF's own types."""
        return type_of(self._native().ty())

    @property
    def shape(self) -> tuple[int, ...]:
        """Present lengths, slowest axis first."""
        return self._native().shape()  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all values as an array."""
        return self.size * self.dtype.itemsize

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return self._native().dims()  # type: ignore[no-any-return]

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Shape of chunks; `None` if the values are stored contiguously."""
        chunks = self._native().storage()[1]
        return None if chunks is None else tuple(chunks)

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of the objects that contain several chunks each (Zarr v3); `None` if each chunk is an object of its own."""
        shards = self._native().shards()
        return None if shards is None else tuple(shards)

    @property
    def chunk_lengths(self) -> tuple[tuple[int, ...], ...] | None:
        """Lengths of the chunks along each axis, if the chunks have different shapes; as they were when the dataset was opened."""
        if self._dataset.format not in ("zarr3", "nczarr3") or self.fault is not None:
            return None
        lengths = self._native().chunk_lengths()
        return None if lengths is None else tuple(tuple(axis) for axis in lengths)

    @property
    def storage(self) -> Literal["default", "contiguous", "compact", "chunked", "virtual"]:
        """The storage layout of the values."""
        return self._native().storage()[0]  # type: ignore[no-any-return]

    @property
    def filters(self) -> list[dict[str, Any]]:
        """Filters in the order of encoding, in the words of the format."""
        return [named(filter) for filter in self._native().filters()]

    @property
    def fill_value(self) -> Any:
        """The fill value of the variable; `None` if none was defined."""
        fill = self._native().fill()
        return fill[0] if isinstance(fill, np.ndarray) else None

    @property
    def fill_mode(self) -> Literal["own", "default", "none"]:
        """The value of elements that were never written: the variable's fill value, that of its type, or undefined."""
        return self._native().fill_mode()  # type: ignore[no-any-return]

    @property
    def endian(self) -> Literal["native", "little", "big"]:
        """Byte order in storage."""
        return self._native().endian()  # type: ignore[no-any-return]

    @property
    def attrs(self) -> Attributes:
        """Attributes."""
        return Attributes(self)

    @property
    def fault(self) -> str | None:
        """The reason why the values cannot be read; `None` if they can."""
        return self._native().fault()  # type: ignore[no-any-return]

    @property
    def is_aggregated(self) -> bool:
        """Whether it is assembled from other variables."""
        return bool(self._native().is_aggregated())

    @property
    def stored_bytes(self) -> int | None:
        """Stored size of the values in bytes; `None` if it is not known without many requests."""
        return self._native().stored_bytes()  # type: ignore[no-any-return]

    def _attributes(self) -> Mapping[str, Any]:
        if self._attribute_values is not None:
            return self._attribute_values
        has_strings = not self._dataset._is_classic
        values = {name: of_native(value, has_strings) for name, value in self._native().attributes().items()}
        if self._dataset.mode == "r":
            self._attribute_values = values
        return values

    @property
    def cf(self) -> DecodedVariable:
        """The values decoded by the attributes (CF): missing ones masked, packed ones unpacked, times as dates."""
        return DecodedVariable(self)

    @property
    def oindex(self) -> Indexer[NDArray[Any]]:
        """Orthogonal indexing: each axis independently."""
        return Indexer(self, "outer")

    @property
    def vindex(self) -> Indexer[NDArray[Any]]:
        """Pointwise indexing: the axes of the indices come first."""
        return Indexer(self, "points")

    def __getitem__(self, selection: Any) -> NDArray[Any]:
        native = self._handle if self._generation == processes.generation else None
        values = (native or self._native()).get(selection)
        if values is None:
            return self.read(selection)
        return values  # type: ignore[no-any-return]

    def __setitem__(self, selection: Any, values: ArrayLike) -> None:
        self._write(selection, values, "numpy")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self.path}: an array without a copy cannot be had, for the values are stored")
        array = np.asarray(self[...])
        return array if dtype is None else array.astype(dtype, copy=False)

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError(f"len() of {self.path}, which has no dimensions")
        return shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"{self.path} cannot be iterated over, for each row would be a request: read it first ({self.name}[...]), "
            f"or loop over {self.name}.blocks()"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variable):
            return NotImplemented
        return self._dataset is other._dataset and self.path == other.path

    def __hash__(self) -> int:
        return hash((id(self._dataset), self._path))

    def __repr__(self) -> str:
        shape = ", ".join(f"{name}={length}" for name, length in zip(self.dims, self.shape))
        return f"<ncirrus.Variable {self.path}({shape}) {self.dtype} of {self._dataset.url}>"

    def _selection(self, selection: Any, indexing_by: str) -> Selection:
        return _rule(indexing_by)(selection, self.shape, None)

    def read(
        self,
        sel: Any = ...,
        *,
        out: NDArray[Any] | None = None,
        dtype: DTypeLike | None = None,
        indexing: Literal["numpy", "outer", "points"] = "numpy",
        progress: Any = None,
    ) -> NDArray[Any]:
        """Values of a selection: a new array, or `out`, which is filled in place.

        `dtype` is what they are cast to; `numpy.dtypes.StringDType()` gives text without an object for each. A new array
        that is larger than the session's memory is a `numpy.memmap` of an unnamed file in its cache folder.
        """
        selected = self._selection(sel, indexing)
        with reporting(progress, "elements") as report:
            if out is not None:
                self._check_out(out, selected.shape)
                self._fill(selected, out, report)
                return out
            array = self._read_new(selected, report)
        if dtype is not None:
            array = casts.converted(array, dtype, self.path)
        return array if selected.shape or has_dots(sel) else array[()]

    async def read_async(
        self, sel: Any = ..., *, out: NDArray[Any] | None = None, indexing: Literal["numpy", "outer", "points"] = "numpy"
    ) -> NDArray[Any]:
        """As `read`, without blocking the event loop. Cancelling the task cancels its requests."""
        selected = self._selection(sel, indexing)
        if out is not None:
            self._check_out(out, selected.shape)
        if 0 in selected.shape:
            return np.empty(selected.shape, self.dtype) if out is None else out
        native = self._native()

        async def begin(indices: list[NDArray[np.int64]]) -> NDArray[Any]:
            return await outcome(lambda told: native.begin_read_points(indices, told))  # type: ignore[no-any-return]

        if selected.points is not None:
            raw = await points.read_async(begin, selected, partial(starts_of, self))
        else:
            flat = await outcome(lambda told: native.begin_read(selected.axes, told))
            raw = flat.reshape([count_of(axis) for axis in selected.axes])
        array = selected.arranged(raw)
        if out is not None:
            out[...] = array
            return out
        return array if selected.shape or has_dots(sel) else array[()]

    def _read_new(self, selected: Selection, report: Report | None = None) -> NDArray[Any]:
        dtype = self.dtype
        if 0 in selected.shape:
            return np.empty(selected.shape, dtype)
        session = self._dataset._session._native()
        if math.prod(selected.shape) * dtype.itemsize > session.memory() and not dtype.hasobject:
            mapped = mapped_array(selected.shape, dtype, session.cache_folder())
            self._fill(selected, mapped, report)
            return mapped
        if report is not None:
            array = np.empty(selected.shape, dtype)
            self._fill(selected, array, report)
            return array
        native = self._native()
        if selected.points is not None:
            return selected.arranged(points.read(native, selected, partial(starts_of, self)))
        return selected.arranged(native.read(selected.axes))

    def _read_resolved(self, axes: list[Any], shape: Sequence[int]) -> NDArray[Any] | None:
        """Values of slices and lists that were resolved, in a shape of as many elements; none where they are more than
        the session's memory."""
        dtype = self.dtype
        if math.prod(shape) * dtype.itemsize > self._dataset._session._native().memory() and not dtype.hasobject:
            return None
        return self._native().read(axes).reshape(shape)  # type: ignore[no-any-return]

    def _fill(self, selected: Selection, out: NDArray[Any], report: Report | None) -> None:
        """Reads into an array: in place where its memory is in C order, else some rows at a time."""
        if 0 in selected.shape:
            return
        native = self._native()
        if selected.points is not None:
            out[...] = selected.arranged(points.read(native, selected, partial(starts_of, self)))
            return
        raw = selected.scattered(out)
        if not np.may_share_memory(raw, out):
            # Indices of several dimensions, into memory in another order.
            out[...] = selected.arranged(native.read(selected.axes))
            return
        done = 0
        whole = report is None and raw.flags.c_contiguous and not raw.dtype.hasobject
        for axes, part in [(selected.axes, raw)] if whole else parts(selected.axes, raw, self.chunks):
            if part.flags.c_contiguous and not part.dtype.hasobject:
                native.read_into(axes, part)
            else:
                part[...] = native.read(axes)
            done += part.size
            if report is not None:
                report(done, raw.size)

    def _check_out(self, out: Any, shape: tuple[int, ...]) -> None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{self.path}: out is a {type(out).__name__}, and must be an array of numpy")
        if out.shape != shape:
            raise ValueError(f"{self.path}: out has the shape {out.shape}, the selection {shape}")
        if out.dtype != self.dtype:
            raise TypeError(f"{self.path}: out is of type {out.dtype}, the variable of {self.dtype}")
        if not out.flags.writeable:
            raise ValueError(f"{self.path}: out is read-only")
        if out.size and any(stride == 0 and length > 1 for stride, length in zip(out.strides, out.shape)):
            raise ValueError(f"{self.path}: elements of out share memory")

    def write(self, sel: Any, values: ArrayLike, *, progress: Any = None) -> None:
        """Writes values to a selection. Unlimited dimensions grow if it extends beyond their end."""
        with reporting(progress, "elements") as report:
            self._write(sel, values, "numpy", report)

    def append(self, values: ArrayLike, axis: int = 0) -> None:
        """Writes values along an axis, after the last ones of this variable.

        In netCDF-3 and netCDF-4 the axis must be unlimited; in Zarr any may grow, and becomes unlimited. The values follow what
        was stored of this variable when the dataset was opened, and what was written to it since, even if another variable has
        made the dimension longer meanwhile: variables along one dimension are appended to one after the other. Once the dataset was
        closed, variables that were written are as long as their dimension, and have the fill value where nothing was written.
        netCDF-4 files of other programs may hold shorter ones.
        """
        self._dataset._check_writable()
        shape = self.shape
        if not -len(shape) <= axis < len(shape):
            raise np.exceptions.AxisError(axis, len(shape))
        axis %= len(shape)
        array = casts.prepared(values, self.dtype, self.fill_value, self.path)
        if array.ndim == len(shape) - 1:
            array = np.expand_dims(array, axis)
        if array.ndim != len(shape):
            message = f"values of shape {array.shape} cannot be appended to one of shape {shape}"
            raise InvalidError(message, path=self.path)
        wrong = [at for at in range(len(shape)) if at != axis and array.shape[at] != shape[at]]
        if wrong:
            message = f"axis {wrong[0]} of the values has the length {array.shape[wrong[0]]}, not {shape[wrong[0]]}"
            raise InvalidError(message, path=self.path)
        if array.shape[axis] == 0:
            return
        self._let_grow(axis)
        start = self._native().reach()[axis]
        key = tuple(slice(start, start + array.shape[at]) if at == axis else slice(None) for at in range(len(shape)))
        self._write(key, array, "numpy")

    def _let_grow(self, axis: int) -> None:
        """Makes sure that an axis may grow, where the format allows it."""
        native = self._native()
        if native.growing()[axis]:
            return
        if "zarr" not in self._dataset.format:
            name, length = self.dims[axis], self.shape[axis]
            message = f"axis {axis} cannot grow: the dimension {name} is not unlimited, and has the length {length}"
            raise InvalidError(message, path=self.path, object=self._dataset.url)
        native.make_unlimited(axis)

    def _write(self, sel: Any, values: Any, indexing_by: str, report: Report | None = None) -> None:
        self._dataset._check_writable()
        native = self._native()
        shape, growing = self.shape, native.growing()
        array = casts.prepared(values, self.dtype, self.fill_value, self.path)
        lens = [_FAR if grows else length for length, grows in zip(shape, growing)]
        if any(growing):
            sel = _opened(sel, shape, growing, array)
        selected = _rule(indexing_by)(sel, shape, lens)
        if 0 in selected.shape and array.size:
            _check_past_end(sel, shape, growing, self)
        array = _fitted(array, selected.shape)
        if 0 in selected.shape:
            return
        raw = selected.scattered(array)
        if selected.points is not None:
            points.write(native, selected, raw, partial(starts_of, self))
            return
        axes, raw = _last_of_repeated(selected.axes, raw)
        done, whole = 0, raw.flags.c_contiguous and report is None
        for part_axes, part in [(axes, raw)] if whole else parts(axes, raw, self.chunks):
            # Arrays out of messages of other processes may begin anywhere.
            native.write(part_axes, np.require(part, requirements=("C", "A")))
            done += part.size
            if report is not None:
                report(done, raw.size)

    def encoder(self) -> Encoder:
        """An encoder of chunks of this variable, for any process. It is for the present shape of the variable."""
        from ncirrus.encoders import Encoder

        return Encoder._of(self)

    def write_encoded(self, chunks: EncodedChunk | Iterable[EncodedChunk]) -> None:
        """Stores chunks that the encoder of this variable made, in this or another process."""
        from ncirrus.encoders import write_encoded

        write_encoded(self, chunks)

    def grow_to(self, shape: Sequence[int]) -> None:
        """Makes the variable at least that long along unlimited axes, in Zarr along any axis. Elements that are not written
        have the fill value."""
        self._dataset._check_writable()
        for axis, (length, now) in enumerate(zip(shape, self.shape)):
            if length > now:
                self._let_grow(axis)
        _ncirrus.grow_to(self._native(), [int(length) for length in shape])

    def blocks(self, max_bytes: int | str = "64M") -> Iterator[tuple[slice, ...]]:
        """Selections of at most that many bytes, along the boundaries of chunks if chunks are smaller."""
        shape = self.shape
        itemsize = max(1, self.dtype.itemsize)
        return blocks(shape, self.chunks, max(1, byte_count(max_bytes) // itemsize))

    def explain(self, sel: Any = ...) -> Plan:
        """The plan of reading a selection: requests, bytes, chunks. Locating chunks may take requests; data are not read."""
        selected = indexing.resolve(sel, self.shape)
        return Plan(self._native().plan(selected.axes))

    def fragments(self, sel: Any = ...) -> list[dict[str, Any]]:
        """The fragments of a selection of an aggregated variable. They are not opened."""
        return self._native().fragments(indexing.resolve(sel, self.shape).axes)  # type: ignore[no-any-return]

    def chunk_table(self, sel: Any = ...) -> NDArray[Any]:
        """The chunks that a selection touches: first element, object, offset and length of the stored bytes, whether they
        are inline in the metadata, and whether the chunk was never written. Lengths of whole objects on another machine
        are looked up by listing the variable's objects; where nothing can be listed they are -1, and whether these chunks
        were written is not known."""
        from ncirrus.chunk_sizes import with_sizes

        selected = indexing.resolve(sel, self.shape)
        stored = self._native().stored_chunks(selected.axes)
        return with_sizes(self, chunk_table(stored, selected, self.chunks, self.chunk_lengths))

    def dask(self, chunks: Any = None) -> Any:
        """The variable as an array of Dask. Without `chunks` its blocks are whole stored chunks."""
        from ncirrus import dask

        return dask.array(self, chunks)

    def chunk_map(self, plane: Mapping[str, int] | None = None) -> Any:
        """A map of the chunks in one plane: stored sizes by colour, and which are missing. Finding them may take
        requests. `plane` has an index for each dimension that is not shown; two are."""
        from ncirrus.html import ChunkMap

        return ChunkMap(self, plane)

    def plot(
        self,
        sel: Any = ...,
        *,
        others: Sequence[tuple[Variable, Any]] = (),
        size: tuple[int, int] | None = None,
        range: tuple[float, float] | None = None,
        log: bool = False,
        colors: str | None = None,
        compare: Dataset | None = None,
        max_bytes: int | str | None = None,
        progress: Any = None,
    ) -> Picture:
        """A picture of a selection: a line, a map with coastlines, or an image, as `ncirrus plot` draws it.

        `others` are further lines: variables with their selections. `size` is in pixels. The values of the same variable of
        `compare` are subtracted. No more values are read than can be seen; a picture that needs more than `max_bytes` (256
        MiB) raises `LimitError`.
        """
        from ncirrus.plotting import plot

        options = {"size": size, "range": range, "log": log, "colors": colors, "compare": compare, "max_bytes": max_bytes}
        return plot([(self, sel), *others], options, progress)

    def _repr_html_(self) -> str:
        from ncirrus import html

        return html.variable(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return pickling.variable, (self._dataset, self._path)

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        return self

    def __dask_tokenize__(self) -> Any:
        return (*self._dataset.__dask_tokenize__(), self._path)

    def rename(self, name: str) -> None:
        """Renames the variable."""
        self._dataset._check_writable()
        self._native().rename(name)
        self._path = self._native().path()


def _rule(indexing_by: str) -> Callable[[Any, Sequence[int], Sequence[int] | None], Selection]:
    rules = {"numpy": indexing.resolve, "outer": indexing.outer, "points": indexing.points}
    if indexing_by not in rules:
        raise ValueError(f"indexing={indexing_by!r} is not one of {', '.join(rules)}")
    return rules[indexing_by]


def _of_axes(sel: Any, rank: int) -> list[Any] | None:
    """The slices and integers of an index, one for each axis; `None` of an index with anything else."""
    items = list(sel) if isinstance(sel, tuple) else [sel]
    if not all(isinstance(item, (slice, int, np.integer, type(...))) for item in items):
        return None
    if sum(1 for item in items if item is Ellipsis) > 1 or len(items) > rank + 1:
        return None
    if Ellipsis not in items:
        items.append(Ellipsis)
    dots = items.index(Ellipsis)
    items[dots : dots + 1] = [slice(None)] * (rank - len(items) + 1)
    return items


def _opened(sel: Any, shape: tuple[int, ...], growing: list[bool], array: NDArray[Any]) -> Any:
    """The index, where slices without an end reach as far as the values do along axes that grow."""
    items = _of_axes(sel, len(shape))
    if items is None or any(isinstance(item, bool) for item in items):
        return sel
    # From the last axis on, as broadcasting pairs axes.
    at_value = array.ndim
    for at in range(len(items) - 1, -1, -1):
        item = items[at]
        if not isinstance(item, slice):
            continue
        at_value -= 1
        open_ended = item.stop is None and item.step in (None, 1) and (item.start is None or item.start >= 0)
        if at_value >= 0 and open_ended and growing[at]:
            start = item.start or 0
            count = array.shape[at_value]
            if count > 1 or shape[at] <= start:
                items[at] = slice(start, max(start + count, shape[at]))
    return tuple(items)


def _check_past_end(sel: Any, shape: tuple[int, ...], growing: list[bool], variable: Variable) -> None:
    """Refuses slices that begin behind the last element of an axis that does not grow: the values would not be written."""
    for axis, item in enumerate(_of_axes(sel, len(shape)) or []):
        if not isinstance(item, slice) or item.start is None or item.stop is None or growing[axis]:
            continue
        if item.start >= shape[axis] and item.stop > item.start and item.step in (None, 1):
            name = variable.dims[axis]
            message = f"axis {axis} ({name}) has {shape[axis]} elements, and does not grow: {item.start}:{item.stop} is behind them"
            raise InvalidError(message, path=variable.path, object=variable.dataset.url, hint=_APPEND)


def _fitted(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The values in the shape of the selection, by numpy's broadcasting."""
    given = array.shape
    while array.ndim > len(shape) and array.shape[0] == 1:
        array = array[0]
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"could not broadcast input array from shape {given} into shape {shape}") from None


def _last_of_repeated(axes: list[Any], raw: NDArray[Any]) -> tuple[list[Any], NDArray[Any]]:
    """Indices without repetitions: of values for one element the last one counts."""
    found = list(axes)
    for at, axis in enumerate(axes):
        if isinstance(axis, tuple):
            continue
        _, last = np.unique(axis[::-1], return_index=True)
        if last.size < axis.size:
            keep = np.sort(axis.size - 1 - last)
            found[at], raw = axis[keep], raw.take(keep, axis=at)
    return found, raw
