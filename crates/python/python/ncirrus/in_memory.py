"""Files in memory: bytes that are opened as they are, and bytes that become of a new dataset."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

from ncirrus import _ncirrus

_numbers = itertools.count(1)


class InMemory(str):
    """What a file in memory is called. It keeps the bytes, and takes them along when it is pickled."""

    body: Any
    _digest: str | None

    @classmethod
    def of(cls, body: bytes | None, digest: str | None = None) -> InMemory:
        """A name for bytes; for those of a new dataset, which are not there yet, `None`."""
        made = cls(f"bytes://{digest or next(_numbers)}")
        made.body, made._digest = body, digest
        return made

    @property
    def digest(self) -> str:
        """Identifies these bytes, also in other processes."""
        if self._digest is None:
            self._digest = hashlib.blake2b(self.body, digest_size=16).hexdigest()
        return self._digest

    def opened(self, options: dict[str, Any], session: Any) -> Any:
        """The handle of the extension module."""
        return _ncirrus.Dataset.open_bytes(self.body, options, session)

    def finished(self) -> memoryview:
        """The bytes of a dataset that was closed."""
        return memoryview(self.body).toreadonly()

    def __reduce__(self) -> tuple[Any, ...]:
        return (InMemory.of, (bytes(self.body), self.digest))


def whole_bytes(target: Any) -> bytes | None:
    """The object of type `bytes` that a caller passes, itself or in a view of all of it. `None` for other buffers, which
    may change or be larger than the memory."""
    if isinstance(target, bytes):
        return target
    if isinstance(target, memoryview) and isinstance(target.obj, bytes) and target.c_contiguous:
        return target.obj if target.nbytes == len(target.obj) else None
    return None
