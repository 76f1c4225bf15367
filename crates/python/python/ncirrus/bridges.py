"""What a store that is read through Python is to the library."""

from __future__ import annotations

from typing import Any


class Bridge:
    """A store that is read through Python. Keys are paths in it; several threads call it at once.

    What a store of a program's own returns for `Session(stores={"scheme": factory})` is one of these, or anything that
    `place_of` knows.
    """

    lists = False
    writes = False
    # Whether one program at a time may write: nothing need depend on the state of what is replaced.
    isolated = False

    def get(self, key: str, start: int | None, stop: int | None) -> tuple[bytes, int, int, str] | None:
        """Bytes of an object from `start` to before `stop` (all bytes if neither is given, the last `-start` if it is negative),
        the offset of the first of them, the size of the whole object, and a tag of its state; `None` where there is no
        such object."""
        raise NotImplementedError

    def list(self, prefix: str) -> list[tuple[str, bool]]:
        """Names directly below a prefix, and whether each is a prefix itself."""
        raise NotImplementedError

    def put(self, key: str, body: bytes, tag: str | None, absent: bool) -> str:
        """Replaces an object and returns its new tag. With a condition, the object must have the tag, or be absent.

        A condition that does not hold raises `FileExistsError`. A store that cannot check and put in one step, so that two
        programs with the same tag would both succeed, raises `NotImplementedError` for a tag. Then only whole chunks of
        existing objects are written.
        """
        raise NotImplementedError

    def delete(self, key: str) -> None:
        """Removes an object; absent is fine."""
        raise NotImplementedError

    def delete_tree(self, prefix: str) -> None:
        """Removes everything below a prefix, and an object of that name."""
        for name, is_prefix in self.list(prefix):
            path = f"{prefix}/{name}" if prefix else name
            if is_prefix:
                self.delete_tree(path)
            else:
                self.delete(path)
        self.delete(prefix)


def clipped(start: int | None, stop: int | None, size: int) -> tuple[int, int]:
    """The bytes of an object that are wanted."""
    if start is None:
        return 0, size
    if start < 0:
        return max(0, size + start), size
    first = min(start, size)
    return first, max(first, min(size if stop is None else stop, size))


def refuse_tags(store: Any) -> None:
    """Returns the error of a store without conditional puts."""
    raise NotImplementedError(f"{type(store).__name__} cannot put depending on the state of what is replaced")


def check_condition(bridge: Bridge, key: str, tag: str | None, absent: bool) -> None:
    """Conditions by looking first: they hold for one program only."""
    if not absent and tag is None:
        return
    found = bridge.get(key, 0, 0)
    if absent and found is not None:
        raise FileExistsError(f"{key}: there is such an object")
    if tag is not None and (found is None or found[3] != tag):
        raise FileExistsError(f"{key}: the object was changed")
