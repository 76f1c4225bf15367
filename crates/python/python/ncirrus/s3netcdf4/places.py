"""Where an aggregation that is written lies: its master, and the sub-arrays that appear when they are written."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Mapping
from typing import Any

import ncirrus
from ncirrus import _ncirrus, processes
from ncirrus.dataset import Dataset
from ncirrus.errors import NotFoundError
from ncirrus.netCDF4 import failures
from ncirrus.netCDF4.places import Place
from ncirrus.opening import _session
from ncirrus.sessions import Session
from ncirrus.variable import Variable

_numbers = itertools.count(1)


class Master(Dataset):
    """The master of an aggregation that is being written. In it the aggregated variables are scalars."""

    __slots__ = ("_writer",)

    def __init__(self, writer: Any, url: str, session: Session) -> None:
        super().__init__(url, "w", {}, session)
        self._writer = writer
        processes.remember(writer)

    def _made(self) -> Any:
        return self._writer.master()

    def close(self) -> None:
        """Writes the master."""
        self._end(lambda native: self._writer.close())

    def forget(self) -> None:
        """Leaves the writer to another one."""
        self._end(lambda native: None)

    def abort(self) -> None:
        """Ends without a master."""
        self._end(lambda native: self._writer.abort())


class AggregationPlace(Place):
    """A place whose new variables lie in sub-arrays."""

    dataset: Dataset
    mode: str
    generation: int

    def __init__(self, name: str, words: Mapping[str, Any], session: Mapping[str, Any], how: Mapping[str, Any]) -> None:
        self._how = dict(how)
        self._opened_view: Any = None
        self.writer: Any = None
        self.is_like_s3netcdf4: bool = False
        # How sub-arrays are compressed, by the paths of variables.
        self.words: dict[str, dict[str, Any]] = {}
        # Variables whose handles keep the master open.
        self._taken: list[weakref.ref[Variable]] = []
        # A dataset that is kept in memory is nowhere else, unless it is on an object store.
        is_away = bool(words["diskless"]) and not words["persist"] and "://" not in name
        self._target = f"memory://s3netcdf4-{os.getpid()}-{next(_numbers)}/{os.path.basename(name)}" if is_away else name
        super().__init__(name, {**words, "diskless": False}, session)

    def _opened(self, words: Mapping[str, Any], memory: Any) -> ncirrus.Dataset:
        session = _session(self._session.get("session"), self._session.get("storage_options"))
        if self.mode in ("a", "r+"):
            try:
                return self._continued(session)
            except NotFoundError:
                if self.mode == "r+":
                    raise
        is_exclusive = self.mode == "x" or not words["clobber"]
        self.mode = "w"
        if is_exclusive:
            self._refuse_what_exists()
        if self._target == self.name:
            self._refuse_where_nothing_can_be()
        options = {**self._how, "overwrite": not is_exclusive, "replace_fragments": True}
        self.writer = _ncirrus.AggregationWriter.create(self._target, options, session._native())
        return Master(self.writer, self._target, session)

    def _continued(self, session: Session) -> ncirrus.Dataset:
        """The aggregation that is there, opened for change."""
        with ncirrus.open(self._target, session=session) as found:
            has_fields = any(each.is_aggregated for each in _all_variables(found))
        options = {"overwrite": True, "replace_fragments": True, "fragments": self._how.get("fragments")}
        # Without aggregated variables the file does not say how they are described.
        options |= {} if has_fields else self._how
        self.writer = _ncirrus.AggregationWriter.open(self._target, options, session._native())
        self.mode = "r+"
        return Master(self.writer, self._target, session)

    def convention(self) -> str | None:
        """The version of the convention, as S3netCDF4 names it; none where the master says it."""
        found = self._how.get("convention")
        return None if found is None or self.mode == "r+" else str(found).removeprefix("cfa-")

    def changed(self) -> None:
        """What was written is to be read."""
        self._opened_view = None

    def view(self) -> Any:
        """The aggregated variables as they are now: the root group of a dataset that is read."""
        if self._opened_view is None:
            self._opened_view = self.writer.view()
        return self._opened_view.root()

    def sync(self) -> None:
        """Writes the master, and goes on from there."""
        self.check_open()
        with failures.as_runtime_error():
            session = self.dataset.session
            self.writer.reopen()
            assert isinstance(self.dataset, Master)
            self.dataset.forget()
            self.changed()
            self.dataset = Master(self.writer, self._target, session)
        self.mode = "r+"
        self.generation += 1

    def took(self, found: Variable) -> None:
        """Notes a variable of the master that a program has."""
        self._taken.append(weakref.ref(found))

    def close(self) -> memoryview | None:
        """Writes the master, and leaves no file of it open, whatever variables the program keeps."""
        self._opened_view = None
        try:
            return super().close()
        finally:
            for found in (each() for each in self._taken):
                if found is not None:
                    found.release()


def is_aggregation(name: str, session: Mapping[str, Any]) -> bool:
    """Whether what is there has aggregated variables, or says that it is to have some."""
    with ncirrus.open(name, **session) as found:
        words = str(found.attrs.get("Conventions", "")).replace(",", " ").split()
        return any(word.startswith("CFA") for word in words) or any(each.is_aggregated for each in _all_variables(found))


def _all_variables(group: Any) -> Any:
    yield from group.variables.values()
    for below in group.groups.values():
        yield from _all_variables(below)


class Field(Variable):
    """An aggregated variable that is being written: its definition is the master's, its values are in sub-arrays."""

    __slots__ = ("_place", "_scalar")

    def __init__(self, scalar: Variable, place: AggregationPlace) -> None:
        super().__init__(scalar.dataset, scalar.path, None)
        self._scalar, self._place = scalar, place

    def _native(self) -> Any:
        return _Handle(self._scalar._native(), self._place)

    def release(self) -> None:
        """Gives up the handle."""
        super().release()
        self._scalar.release()


class _Handle:
    """The extension module's handle of an aggregated variable that is being written."""

    def __init__(self, scalar: Any, place: AggregationPlace) -> None:
        self._scalar, self._place = scalar, place

    def __getattr__(self, name: str) -> Any:
        if name in _READING:
            return getattr(self._place.view().variable(self._scalar.path()), name)
        return getattr(self._scalar, name)

    def _division(self) -> Any:
        return self._place.writer.division(self._scalar.path())

    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(self._division()[0])

    def shape(self) -> tuple[int, ...]:
        """Present lengths."""
        return tuple(self._place.writer.shape(self._scalar.path()))

    def growing(self) -> list[bool]:
        """Which axes may grow."""
        return list(self._division()[1])

    def filters(self) -> list[dict[str, Any]]:
        """Filters of the sub-arrays."""
        return list(self._division()[2])

    def is_aggregated(self) -> bool:
        """It is."""
        return True

    def write(self, axes: Any, array: Any) -> None:
        """Writes an array in C order to axes that were resolved."""
        self._place.writer.write(self._scalar.path(), axes, array)
        self._place.changed()


_READING = frozenset(
    {"get", "get_marked", "read", "read_into", "read_points", "begin_read", "begin_read_points", "plan", "fragments"}
)
