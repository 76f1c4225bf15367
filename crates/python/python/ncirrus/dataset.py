"""Datasets: opened, created or opened for change."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from ncirrus import _ncirrus, pickling, processes
from ncirrus.casts import InvalidTypeError
from ncirrus.errors import InvalidError, NcirrusWarning
from ncirrus.group import Group, _members
from ncirrus.in_memory import InMemory
from ncirrus.indexing import everything
from ncirrus.sessions import Session
from ncirrus.variable import Variable

if TYPE_CHECKING:
    from typing_extensions import Self


class Dataset(Group):
    """An open dataset: its root group and its handle."""

    __slots__ = (
        "__weakref__",
        "_came_by_pickle",
        "_is_closed",
        "_kind",
        "_mode",
        "_open",
        "_options",
        "_pid",
        "_pin",
        "_session",
        "_tag",
        "_url",
    )

    def __init__(self, url: str, mode: Literal["r", "r+", "w"], options: Mapping[str, Any], session: Session) -> None:
        super().__init__(self, "/", None)
        self._url, self._mode, self._options, self._session = url, mode, dict(options), session
        self._open: Any = None
        self._kind: _ncirrus.DatasetKind | None = None
        self._pid = os.getpid()
        self._is_closed = self._came_by_pickle = False
        # What is in memory does not change.
        self._pin = not isinstance(url, InMemory)
        self._tag: str | None = None

    @classmethod
    def _restored(cls, url: str, options: Mapping[str, Any], session: Session, tag: str | None, pin: bool) -> Dataset:
        """A dataset that came by a pickle: opened when it is first used, and only in the state that has the tag."""
        dataset = cls(url, "r", options, session)
        dataset._came_by_pickle, dataset._tag, dataset._pin = True, tag, pin
        return dataset

    def _opened(self) -> Any:
        """The handle of the extension module, opened where this process has none yet."""
        if self._open is not None and self._generation == processes.generation:
            return self._open
        if self._is_closed:
            raise InvalidError("the dataset was closed", object=self._url)
        if self._mode != "r" and self._open is not None:
            message = f"the dataset is being written by the process {self._pid}, and cannot be used in its children"
            raise InvalidError(message, object=self._url, hint="open it again here, or join by a ticket")
        if self._came_by_pickle:
            key = (self._url, repr(sorted(self._options.items())), id(self._session), self._tag)
            # The session is kept with it, so that its number is not another's.
            native, _ = pickling.once(key, lambda: (self._made(), self._session))
        else:
            native = self._made()
        return self._opened_as(native)

    def _opened_as(self, native: Any) -> Any:
        """Takes a handle of the extension module. Threads may look at any time: what they look at first comes last."""
        processes.remember(native)
        if self._pin and self._mode == "r":
            # A child that opens the dataset again after a fork is to find the same state.
            self._tag = native.tag()
        self._handle, self._generation = native.root(), processes.generation
        self._open = native
        for warning in native.warnings():
            warnings.warn(f"{self._url}: {warning}", NcirrusWarning, stacklevel=4)
        return native

    def _words(self) -> dict[str, Any]:
        """The options, with the state that is expected."""
        return self._options if self._tag is None else {**self._options, "expected_tag": self._tag}

    def _made(self) -> Any:
        if isinstance(self._url, InMemory):
            session = self._session._native()
            if self._mode == "w":
                return _ncirrus.Dataset.create_bytes(self._options, session)
            return self._url.opened(self._words(), session)
        call = {"r": _ncirrus.Dataset.open, "r+": _ncirrus.Dataset.update, "w": _ncirrus.Dataset.create}
        return call[self._mode](self._url, self._words(), self._session._native())

    def _native(self) -> Any:
        if self._handle is None or self._generation != processes.generation:
            self._opened()
        return self._handle

    @property
    def dataset(self) -> Dataset:
        """This dataset."""
        return self

    @property
    def url(self) -> str:
        """The address or path that it was opened by."""
        return self._url

    @property
    def kind(self) -> str:
        """The kind as `ncdump -k` names it."""
        return self._known_kind.name

    @property
    def _known_kind(self) -> _ncirrus.DatasetKind:
        if self._kind is None:
            self._kind = self._opened().kind()
        return self._kind

    @property
    def _is_classic(self) -> bool:
        """Whether text is of characters only."""
        return self._known_kind.has_classic_model

    @property
    def format(self) -> str:
        """How it is stored: `netcdf3`, `netcdf4`, `zarr2`, `zarr3`, `nczarr2` or `nczarr3`; `dap2` or `dap4` if a
        server computes it."""
        return self._known_kind.stored

    @property
    def mode(self) -> Literal["r", "r+", "w"]:
        """`r` for reading, `r+` for changing, `w` for a new dataset."""
        return self._mode

    @property
    def session(self) -> Session:
        """The session that it was opened in."""
        return self._session

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the storage."""
        return dict(self._opened().facts())

    @property
    def warnings(self) -> list[str]:
        """Warnings: what was repaired or ignored on opening, or filled in since."""
        return list(self._opened().warnings())

    @property
    def tag(self) -> str | None:
        """Identifies the state of the dataset's root object; `None` if the store does not report it, and for a
        dataset that is being written."""
        return self._opened().tag()  # type: ignore[no-any-return]

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._is_closed

    def info(self) -> dict[str, Any]:
        """The output of `ncirrus info --json`."""
        return self._opened().info()  # type: ignore[no-any-return]

    def close(self) -> None:
        """Closes the dataset. What was written is published, and a new dataset appears."""
        url = self._url
        if not isinstance(url, InMemory) or self._mode != "w":
            self._end(lambda native: native.close())
            return

        def finish(native: Any) -> None:
            url.body = native.finish_bytes()

        self._end(finish)

    def finish_bytes(self) -> memoryview:
        """Closes a dataset that `create(None, kind)` made, and returns its bytes."""
        if self._mode != "w" or not isinstance(self._url, InMemory):
            raise InvalidError("only a dataset that was created without an address has bytes", object=self._url)
        self.close()
        if self._url.body is None:
            raise InvalidError("the dataset was abandoned, and has no bytes", object=self._url)
        return self._url.finished()

    def abort(self) -> None:
        """Ends writing and discards what was not synced: a new dataset does not appear."""
        self._end(lambda native: native.abort())

    def _end(self, end: Any) -> None:
        if self._is_closed:
            return
        if self._mode != "r":
            # In a child of the process that writes it is refused.
            native = self._opened()
            try:
                end(native)
            finally:
                self._is_closed = True
        elif self._open is not None and self._generation == processes.generation and not self._came_by_pickle:
            end(self._open)
        self._is_closed = True
        self._open = self._handle = None

    def read_many(self, names: Sequence[str]) -> list[NDArray[Any]]:
        """All values of several variables by their paths. They are fetched together, in as many rounds of requests as one variable."""
        variables = [self.variables[name] for name in names]
        wanted = [(variable._native(), everything(variable.shape).axes) for variable in variables]
        found = self._opened().read_many(wanted)
        return [array.reshape(variable.shape) for array, variable in zip(found, variables)]

    def ticket(self, variables: Sequence[str | Variable] = ()) -> str:
        """A text without secrets, with which other processes join in writing chunks of this dataset (`ncirrus.join`).

        It is for new trees (NCZarr, Zarr) and appends to them. Dimensions must have their final lengths, and definitions
        must not change any more. `finish` requires every chunk of `variables` that contains no old data. Text and values of
        variable length can only be written by this handle.
        """
        return str(self._opened().ticket(self._own(variables)))

    def hand_over(self, variables: Sequence[str | Variable] = ()) -> str:
        """As `ticket`, for a dataset that another handle finishes, in any process (`finish` with this ticket).

        This handle is abandoned, and what it wrote is discarded. The finishing handle makes the same definitions, and
        writes the chunks that do not come from others.
        """
        native = self._opened()
        ticket = str(native.hand_over(self._own(variables)))
        self._is_closed = True
        self._open = self._handle = None
        return ticket

    def _own(self, variables: Sequence[str | Variable]) -> list[Any]:
        self._check_writable()
        found = [variable if isinstance(variable, Variable) else self._variable(variable) for variable in variables]
        for variable in found:
            if variable.dataset is not self:
                raise InvalidError("the variable is one of another dataset", object=self._url, path=variable.path)
        return [variable._native() for variable in found]

    def _variable(self, name: str) -> Variable:
        found = self[name]
        if not isinstance(found, Variable):
            raise InvalidError("a group has no chunks of its own", object=self._url, path=found.path)
        return found

    def finish(self, receipts: Iterable[str], ticket: str | None = None) -> None:
        """Ends joint writing: takes over the chunks of the receipts and closes, so that all of it appears or nothing.

        `ticket` is that of a handle that was handed over; the default is this handle's own. Rejected receipts
        change nothing, and the call can be repeated with the right ones.
        """
        self._check_writable()
        receipts = [receipts] if isinstance(receipts, str) else list(receipts)
        wrong = [receipt for receipt in receipts if not isinstance(receipt, str)]
        if wrong:
            raise TypeError(f"receipts are text, not {type(wrong[0]).__name__}")
        self._opened().finish(receipts, ticket)
        self._is_closed = True
        self._open = self._handle = None

    def sync(self) -> None:
        """Makes what was written so far durable, and visible if the dataset is changed in place."""
        self._check_writable()
        self._opened().sync()

    @contextmanager
    def edit(self) -> Iterator[Self]:
        """Applies the definitions of the block together, or none of them if the block raises an exception.

        Write the values of new variables after the block, because they are not stored before it ends.
        """
        self._check_writable()
        native = self._opened()
        native.begin_edit()
        try:
            yield self
        except BaseException:
            native.abandon_edit()
            raise
        native.finish_edit()

    def _check_writable(self) -> None:
        self._opened().check_writable()

    def __enter__(self) -> Self:
        self._opened()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None or self._mode == "r":
            self.close()
        else:
            self.abort()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._mode != "r":
            raise InvalidTypeError(
                "a dataset that is open for writing cannot be pickled",
                object=self._url,
                hint="ds.ticket() gives other processes the right to write chunks of it",
            )
        if self._is_closed:
            raise InvalidError("the dataset was closed", object=self._url)
        return pickling.dataset, (
            pickling.VERSION,
            self._url,
            self._options,
            self._session,
            self._pinned_tag() if self._pin else None,
            self._pin,
        )

    def _pinned_tag(self) -> str | None:
        """The tag of the dataset, or the required one if it came by a pickle and was not opened: pickling it again does not
        open it."""
        return self._tag if self._came_by_pickle or self._open is not None else self.tag

    def __dask_tokenize__(self) -> Any:
        if self._mode != "r":
            # What is being written changes: nothing that is read from it is the same twice.
            return ("ncirrus", uuid.uuid4().hex)
        options = repr(sorted(self._options.items()))
        if isinstance(self._url, InMemory):
            return ("ncirrus", self._url.digest, options)
        return ("ncirrus", self._url, options, self._pinned_tag() if self._pin else self.tag)

    def __del__(self) -> None:
        # Attributes lack where opening failed.
        is_open = getattr(self, "_open", None) is not None and not getattr(self, "_is_closed", True)
        if is_open and self._mode != "r" and self._generation == processes.generation:
            warnings.warn(
                f"unclosed {self!r}: what was not synced is abandoned", ResourceWarning, source=self, stacklevel=2
            )
            self.abort()

    def _repr_html_(self) -> str:
        from ncirrus import html

        return html.dataset(self) if self._open is not None and not self._is_closed else html.closed(self)

    def __repr__(self) -> str:
        if self._is_closed:
            return f"<ncirrus.Dataset {self._url}, closed>"
        if self._open is None:
            return f"<ncirrus.Dataset {self._url}, not opened yet>"
        return f"<ncirrus.Dataset {self._url} ({self.kind}, mode {self._mode}): {_members(self)}>"
