"""Races: several writers make one kind of change to one dataset at the same time.

Each change is kept, or its writer gets a conflict; of the writers of one dataset at least one succeeds. `test_races.py`
makes a few races of each kind; `race_table.py` makes many, and prints a table (`cargo xtask races`).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ncirrus

WRITERS = 4
# The last one is Zarr v3 with shards, in which several chunks share an object.
KINDS = ["nczarr", "zarr2", "zarr3", "shards"]
# Where the datasets are: a directory, a zip file, an object store.
PLACES = ["directory", "zip", "s3"]
KEPT, CONFLICT = "kept", "conflict"
# How long a writer waits for the others, and the program for a writer, in seconds.
_PATIENCE = 300


@dataclass(frozen=True)
class Place:
    """An address with what is needed to open it."""

    url: str
    kind: str
    options: dict[str, Any] | None = None

    def open(self, mode: Any = "r") -> ncirrus.Dataset:
        return ncirrus.open(self.url, mode, storage_options=self.options)

    def create(self, overwrite: bool = False) -> ncirrus.Dataset:
        kind = "zarr3" if self.is_sharded else self.kind
        return ncirrus.create(self.url, kind=kind, overwrite=overwrite, storage_options=self.options)

    @property
    def is_sharded(self) -> bool:
        """Whether chunks share objects."""
        return self.kind == "shards"

    def stored(self, chunks: tuple[int, ...], shards: tuple[int, ...]) -> dict[str, Any]:
        """How a variable is stored: in chunks, and in shards if there are any."""
        return {"chunks": chunks, "shards": shards} if self.is_sharded else {"chunks": chunks}


def _append(place: Place, number: int) -> None:
    with place.open("r+") as ds:
        ds["t"].append([number])
        ds["v"].append(np.full((1, 3), number))


def _attribute(place: Place, number: int) -> None:
    with place.open("r+") as ds:
        ds.attrs[f"a{number}"] = number


def _variable(place: Place, number: int) -> None:
    with place.open("r+") as ds:
        ds.create_variable(f"v{number}", "i4", ("x",))[...] = number


def _region(place: Place, number: int) -> None:
    with place.open("r+") as ds:
        ds["p"][number * 5 : number * 5 + 5] = number


def _creation(place: Place, number: int) -> None:
    with place.create() as ds:
        ds.create_dimension("n", 20)
        ds.create_variable("p", "i4", ("n",), **place.stored((5,), (20,)))[...] = number


def _replacement(place: Place, number: int) -> None:
    with place.create(overwrite=True) as ds:
        ds.create_dimension("n", 20)
        ds.create_variable("p", "i4", ("n",), **place.stored((5,), (20,)))[...] = number


def _xarray_region(place: Place, number: int) -> None:
    import xarray as xr

    import ncirrus.xarray  # noqa: F401

    part = xr.Dataset({"p": ("n", np.full(5, number, "i4"))})
    region = {"n": slice(number * 5, number * 5 + 5)}
    part.ncirrus.to(place.url, region=region, storage_options=place.options)


def _xarray_append(place: Place, number: int) -> None:
    import xarray as xr

    import ncirrus.xarray  # noqa: F401

    part = xr.Dataset({"t": ("time", np.array([number], "i4")), "v": (("time", "x"), np.full((1, 3), number, "i4"))})
    part.ncirrus.to(place.url, append_dim="time", storage_options=place.options)


CHANGES: dict[str, dict[str, Callable[[Place, int], None]]] = {
    "python": {
        "append": _append,
        "region": _region,
        "attribute": _attribute,
        "variable": _variable,
        "creation": _creation,
        "replacement": _replacement,
    },
    "xarray": {"append": _xarray_append, "region": _xarray_region},
}


def made(place: Place) -> Place:
    """A dataset that can be changed."""
    with place.create() as ds:
        ds.create_dimension("time", None)
        ds.create_dimension("x", 3)
        ds.create_dimension("n", 20)
        ds.create_variable("t", "i4", ("time",), **place.stored((1,), (4,)))
        ds.create_variable("v", "i4", ("time", "x"), **place.stored((1, 3), (4, 3)))
        ds.create_variable("p", "i4", ("n",), **place.stored((5,) if place.is_sharded else (20,), (20,)))[...] = -1
    return place


class Mixed(Exception):
    """A dataset has a part of a change, or parts of several where one belongs."""


def there(place: Place, change: str) -> set[int]:
    """The numbers of the writers whose changes are in the dataset, whole.

    Raises `Mixed` where one is there in part.
    """
    with place.open() as ds:
        if change == "append":
            return _appended(ds)
        if change == "attribute":
            return {_one([value, int(name[1:])]) for name, value in ds.attrs.items() if name[0] == "a" and name[1:].isdigit()}
        if change == "variable":
            names = [name for name in ds.variables if name[0] == "v" and name[1:].isdigit()]
            return {_one([*ds[name][...].tolist(), int(name[1:])]) for name in names}
        if change == "region":
            rows = [_one(row) for row in ds["p"][...].reshape(4, 5).tolist()]
            wrong = [row for at, row in enumerate(rows) if row not in (-1, at)]
            if wrong:
                raise Mixed(f"parts in the places of others: {rows}")
            return {row for row in rows if row >= 0}
        return {number for number in [_one(ds["p"][...].tolist())] if number >= 0}


def _appended(ds: ncirrus.Dataset) -> set[int]:
    times, values = ds["t"][...].tolist(), ds["v"][...].tolist()
    if len(times) != len(values) or len(set(times)) != len(times):
        raise Mixed(f"times {times}, values {values}")
    return {_one([when, *row]) for when, row in zip(times, values, strict=True)}


def _one(values: Sequence[Any]) -> int:
    """The number that all values are."""
    if len({int(value) for value in values}) != 1:
        raise Mixed(f"different values: {[int(value) for value in values]}")
    return int(values[0])


def _work(face: str, tasks: Any, number: int, barrier: Any, results: Any) -> None:
    for change, places in iter(tasks.get, None):
        outcomes = []
        for place in places:
            barrier.wait(_PATIENCE)
            try:
                CHANGES[face][change](place, number)
                outcomes.append(KEPT)
            except (ncirrus.ConflictError, ncirrus.ChangedError):
                outcomes.append(CONFLICT)
            except Exception as error:
                outcomes.append(repr(error))
        results.put((number, outcomes))


class Writers:
    """Processes that make the same change at the same time."""

    def __init__(self, face: str = "python") -> None:
        context = multiprocessing.get_context("spawn")
        # Kept as long as they run: a semaphore that the parent forgets is removed.
        self._barrier, self._results = context.Barrier(WRITERS), context.Queue()
        self._tasks = [context.Queue() for _ in range(WRITERS)]
        arguments = [(face, tasks, at, self._barrier, self._results) for at, tasks in enumerate(self._tasks)]
        self._processes = [context.Process(target=_work, args=given, daemon=True) for given in arguments]
        for process in self._processes:
            process.start()

    def outcomes(self, change: str, places: Sequence[Place]) -> list[dict[int, str]]:
        """The outcome of each writer at each place."""
        for tasks in self._tasks:
            tasks.put((change, list(places)))
        by_writer = dict(self._results.get(timeout=_PATIENCE) for _ in range(WRITERS))
        return [{number: outcomes[at] for number, outcomes in by_writer.items()} for at in range(len(places))]

    def end(self) -> None:
        for tasks in self._tasks:
            tasks.put(None)
        for process in self._processes:
            process.join(60)


@dataclass
class Tally:
    """What happened in the races of one cell of the table."""

    races: int = 0
    kept: int = 0
    conflicts: int = 0
    # Changes that were reported as kept and are not there.
    lost: int = 0
    # Datasets that have a part of a change, or one whose writer got an error.
    mixed: int = 0
    # Writers that got another error than a conflict.
    other: int = 0
    # Races in which no writer succeeded.
    none: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def is_right(self) -> bool:
        return not (self.lost or self.mixed or self.other or self.none)

    def count(self, place: Place, change: str, outcomes: dict[int, str]) -> None:
        """Compares the dataset with the outcomes that the writers got."""
        kept = {number for number, outcome in outcomes.items() if outcome == KEPT}
        other = [outcome for outcome in outcomes.values() if outcome not in (KEPT, CONFLICT)]
        self.races += 1
        self.kept += len(kept)
        self.conflicts += len(outcomes) - len(kept) - len(other)
        self.other += len(other)
        self.none += not kept
        self.faults += [f"{place.url}: {each}" for each in other]
        try:
            found = there(place, change)
        except (Mixed, ncirrus.Error) as error:
            self.mixed += 1
            self.faults.append(f"{place.url}: kept {sorted(kept)}: {error}")
            return
        # The last of several that replace a dataset is the one that remains.
        lost = bool(kept) and not found if change == "replacement" else bool(kept - found)
        mixed = bool(found - kept)
        self.lost += lost
        self.mixed += mixed
        if lost or mixed or not kept:
            self.faults.append(f"{place.url}: kept {sorted(kept)}, there {sorted(found)}")
