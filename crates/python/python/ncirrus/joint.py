"""Writing one dataset by several processes without a lock: the owner gives tickets, the others put whole chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ncirrus import _ncirrus, casts, processes
from ncirrus.casts import InvalidTypeError
from ncirrus.encoders import box_of
from ncirrus.errors import InvalidError
from ncirrus.sessions import Session, default_session
from ncirrus.types import dtype_of


class JointWriter:
    """One process's part in writing a dataset: `ncirrus.join(ticket)` gives it. It writes boxes of whole chunks, of which
    nothing is seen before the dataset is finished; a repeated task writes the same chunks again. Threads may share it."""

    __slots__ = ("__weakref__", "_generation", "_handle", "_url")

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._generation = processes.generation
        self._url = str(handle.url())
        processes.remember(handle)

    def _native(self) -> Any:
        if self._generation != processes.generation:
            message = "a part of a joint writing cannot be used in the children of its process"
            raise InvalidError(message, object=self._url, hint="join by the ticket again here")
        return self._handle

    def part(self) -> JointWriter:
        """Another part of the same writing, with its own receipt, for a task that may be repeated in another process."""
        return JointWriter(self._native().part())

    @property
    def url(self) -> str:
        """Address of the dataset."""
        return self._url

    @property
    def variables(self) -> list[str]:
        """Paths of the variables that can be written."""
        return list(self._native().paths())

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape that a variable will have."""
        return tuple(self._native().shape(name))

    def dtype(self, name: str) -> np.dtype[Any]:
        """Type of a variable's values."""
        return dtype_of(self._native().ty(name))

    def write(self, name: str, sel: Any, values: ArrayLike) -> None:
        """Writes a box of whole chunks that slices select; chunks at the end of the variable are cut there."""
        native = self._native()
        shape = self.shape(name)
        start, count = box_of(sel, shape, name)
        dtype = self.dtype(name)
        array = casts.prepared(values, dtype, self._fill(name, dtype, values), name)
        if array.shape != tuple(count):
            try:
                array = np.broadcast_to(array, count)
            except ValueError:
                message = f"values of shape {array.shape} do not fit a box of shape {tuple(count)}"
                raise InvalidError(message, object=self._url, path=name) from None
        native.write(name, start, count, np.require(array, requirements=("C", "A")))

    def _fill(self, name: str, dtype: np.dtype[Any], values: Any) -> Any:
        """What stands for masked values."""
        return self._native().fill(name, dtype)[0] if isinstance(values, np.ma.MaskedArray) else None

    def close(self) -> str:
        """Ends this part and returns the receipt, for `finish` of the dataset."""
        return self._native().close()  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        raise InvalidTypeError(
            "a part of a joint writing cannot be pickled",
            object=self._url,
            hint="the ticket travels, and each process joins by it",
        )

    def __repr__(self) -> str:
        return f"<ncirrus.JointWriter of {self._url}>"


def join(
    ticket: str, *, session: Session | None = None, storage_options: Mapping[str, Any] | None = None
) -> JointWriter:
    """Joins in writing a dataset, by the ticket that whoever makes it gave. Credentials are this process's own."""
    if not isinstance(ticket, str):
        raise TypeError(f"a ticket is text, not a {type(ticket).__name__}")
    session = session if session is not None else default_session()
    return JointWriter(_ncirrus.JointWriter.join(ticket, session._with(storage_options)._native()))
