"""Several processes change one dataset at the same time: each change is kept, or its program gets a conflict, and one at least
is kept."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import ncirrus

# 1000 is a full run.
ROUNDS = int(os.environ.get("NCIRRUS_RACES", "6"))
WRITERS = 4
KINDS = ["nczarr", "zarr2", "zarr3"]
# Where they are: a directory, a zip file, an object store.
PLACES = ["directory", "zip", "s3"]


class Place:
    """An address with what is needed to open it."""

    def __init__(self, url: str, kind: str, options: dict[str, Any] | None = None) -> None:
        self.url, self.kind, self.options = url, kind, options

    def open(self, mode: Any = "r") -> ncirrus.Dataset:
        return ncirrus.open(self.url, mode, storage_options=self.options)


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


def _part_of_a_chunk(place: Place, number: int) -> None:
    with place.open("r+") as ds:
        ds["p"][number * 5 : number * 5 + 5] = number


def _xarray_region(place: Place, number: int) -> None:
    import ncirrus.xarray  # noqa: F401

    part = xr.Dataset({"p": ("n", np.full(5, number, "i4"))})
    region = {"n": slice(number * 5, number * 5 + 5)}
    part.ncirrus.to(place.url, region=region, storage_options=place.options)


def _xarray_append(place: Place, number: int) -> None:
    import ncirrus.xarray  # noqa: F401

    part = xr.Dataset({"t": ("time", np.array([number], "i4")), "v": (("time", "x"), np.full((1, 3), number, "i4"))})
    part.ncirrus.to(place.url, append_dim="time", storage_options=place.options)


def _creation(place: Place, number: int) -> None:
    with ncirrus.create(place.url, kind=place.kind, storage_options=place.options) as ds:
        ds.create_dimension("n", 20)
        ds.create_variable("p", "i4", ("n",), chunks=(5,))[...] = number


WAYS: dict[str, Any] = {
    "append": _append,
    "attribute": _attribute,
    "variable": _variable,
    "part": _part_of_a_chunk,
    "xarray region": _xarray_region,
    "xarray append": _xarray_append,
    "creation": _creation,
}


def _work(tasks: Any, number: int, barrier: Any, results: Any) -> None:
    for way, places in iter(tasks.get, None):
        for at, place in enumerate(places):
            barrier.wait(120)
            try:
                WAYS[way](place, number)
                results.put((at, number, "kept"))
            except (ncirrus.ConflictError, ncirrus.ChangedError):
                results.put((at, number, "conflict"))
            except Exception as error:
                results.put((at, number, repr(error)))


class Writers:
    """Processes that do the same thing at the same time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        # Kept as long as they run: a semaphore that the parent forgets is gone.
        self._barrier, self._results = context.Barrier(WRITERS), context.Queue()
        self._tasks = [context.Queue() for _ in range(WRITERS)]
        arguments = [(tasks, at, self._barrier, self._results) for at, tasks in enumerate(self._tasks)]
        self._processes = [context.Process(target=_work, args=given, daemon=True) for given in arguments]
        for process in self._processes:
            process.start()

    def outcomes(self, way: str, places: list[Place]) -> list[tuple[int, int, str]]:
        """What each of them got at each place."""
        for tasks in self._tasks:
            tasks.put((way, places))
        return [self._results.get(timeout=300) for _ in range(WRITERS * len(places))]

    def end(self) -> None:
        for tasks in self._tasks:
            tasks.put(None)
        for process in self._processes:
            process.join(60)


@pytest.fixture(scope="module")
def writers() -> Iterator[Writers]:
    made = Writers()
    yield made
    made.end()


def _made(place: Place) -> Place:
    with ncirrus.create(place.url, kind=place.kind, storage_options=place.options) as ds:
        ds.create_dimension("time", None)
        ds.create_dimension("x", 3)
        ds.create_dimension("n", 20)
        ds.create_variable("t", "i4", ("time",), chunks=(1,))
        ds.create_variable("v", "i4", ("time", "x"), chunks=(1, 3))
        ds.create_variable("p", "i4", ("n",), chunks=(20,))[...] = -1
    return place


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", PLACES)
def test_of_concurrent_changes_one_is_kept_and_none_is_lost(
    request: pytest.FixtureRequest, writers: Writers, tmp_path: Path, where: str, kind: str, way: str
) -> None:
    options = request.getfixturevalue("s3s") if where == "s3" else None
    folder = f"s3://bucket/races-{kind}-{way.replace(' ', '-')}" if where == "s3" else str(tmp_path)
    end = ".zip" if where == "zip" else ".zarr"
    places = [Place(f"{folder}/{at}{end}", kind, options) for at in range(ROUNDS)]
    if way != "creation":
        places = [_made(place) for place in places]
    outcomes = writers.outcomes(way, places)
    wrong = [outcome for outcome in outcomes if outcome[2] not in ("kept", "conflict")]
    assert not wrong, wrong
    for at, place in enumerate(places):
        kept = {number for round, number, outcome in outcomes if round == at and outcome == "kept"}
        assert kept, (place.url, "all writers got conflicts")
        with place.open() as ds:
            assert _there(ds, way) == kept, place.url


def _there(ds: ncirrus.Dataset, way: str) -> set[int]:
    """The numbers of the writers whose changes are in the dataset, whole."""
    if "append" in way:
        numbers = [int(number) for number in ds["t"][...]]
        assert len(set(numbers)) == len(numbers) and ds["v"].shape == (len(numbers), 3)
        assert ds["v"][...].tolist() == [[number] * 3 for number in numbers]
        return set(numbers)
    if way == "attribute":
        return {int(value) for name, value in ds.attrs.items() if name.startswith("a") and name[1:].isdigit()}
    if way == "variable":
        made = [name for name in ds.variables if name[0] == "v" and name[1:].isdigit()]
        assert all(ds[name][...].tolist() == [int(name[1:])] * 3 for name in made)
        return {int(name[1:]) for name in made}
    values = ds["p"][...].reshape(4, 5)
    assert all(len(set(row)) == 1 for row in values.tolist())
    return {int(row[0]) for row in values if row[0] >= 0}
