"""Many races of each kind, and a table of them: `python race_table.py --races 1000 --record FILE [CELL..]`.

A cell is a face, a change and a place: `python/append/zip`. An argument chooses the cells that have its words: `zip`,
`c/append`. Cells that the record has of the same commit are not run again, unless `--again` is given.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from racing import CHANGES, CONFLICT, KEPT, KINDS, PLACES, WRITERS, Place, Tally, Writers, made

import ncirrus

# The command has no other changes of a dataset.
_OF_COMMAND = ("append", "creation", "replacement")
_OF_C = ("append", "region", "attribute", "variable", "creation", "replacement")
# What the C library calls the kinds; it finds no unlimited dimensions in plain Zarr.
_MODES = {"nczarr": "nczarr", "zarr2": "zarr", "zarr3": "zarr3"}
_BATCH = 60
_HEADER = "face change place races kept conflicts lost mixed other none seconds".split()


@dataclass(frozen=True)
class Cell:
    """One kind of race."""

    face: str
    change: str
    where: str

    def __str__(self) -> str:
        return f"{self.face}/{self.change}/{self.where}"

    def is_chosen(self, words: list[str]) -> bool:
        return not words or any(set(word.split("/")) <= {self.face, self.change, self.where} for word in words)


def cells() -> Iterator[Cell]:
    """All cells of the table."""
    changes = {"command": _OF_COMMAND, "python": tuple(CHANGES["python"]), "xarray": tuple(CHANGES["xarray"]), "c": _OF_C}
    for face, of_face in changes.items():
        for change in of_face:
            yield from (Cell(face, change, where) for where in PLACES)


class Ground:
    """A folder for datasets, with an object store in it."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        self.folder, self.endpoint = folder, endpoint
        self._originals: dict[tuple[str, str], Path] = {}
        self._count = 0

    def places(self, where: str, count: int, is_made: bool) -> list[Place]:
        """New places, with datasets that can be changed or empty; the kinds take turns."""
        self._count += 1
        return [self._place(where, KINDS[at % len(KINDS)], f"{self._count}-{at}", is_made) for at in range(count)]

    def _place(self, where: str, kind: str, name: str, is_made: bool) -> Place:
        name += ".zip" if where == "zip" else ".zarr"
        path = self._path(where) / name
        if is_made:
            self._copy(self._original(where, kind), path)
        return self._at(where, kind, name)

    def _path(self, where: str) -> Path:
        return self.folder / ("bucket" if where == "s3" else where)

    def _at(self, where: str, kind: str, name: str) -> Place:
        if where == "s3":
            return Place(f"s3://bucket/{name}", kind, {"anon": True, "endpoint_url": self.endpoint})
        return Place(str(self._path(where) / name), kind)

    def _original(self, where: str, kind: str) -> Path:
        """A dataset that others are copies of: opening and closing it would take most of the time."""
        form = "zip" if where == "zip" else "directory"
        if (form, kind) not in self._originals:
            path = self.folder / f"original-{kind}.{'zip' if form == 'zip' else 'zarr'}"
            made(Place(str(path), kind))
            self._originals[form, kind] = path
        return self._originals[form, kind]

    def _copy(self, original: Path, path: Path) -> None:
        if original.is_dir():
            shutil.copytree(original, path)
        else:
            shutil.copyfile(original, path)

    def clear(self) -> None:
        for where in PLACES:
            shutil.rmtree(self._path(where), ignore_errors=True)
            self._path(where).mkdir()

    def environment(self) -> dict[str, str]:
        """By which programs find the object store."""
        return {**os.environ, "AWS_ENDPOINT_URL": self.endpoint, "AWS_PROFILE": "none", "AWS_EC2_METADATA_DISABLED": "true"}


class Command:
    """The command: a process for each change."""

    # Each takes as long to start as its change.
    _WRITERS = 3

    def __init__(self, program: str, ground: Ground) -> None:
        self._program, self._ground = program, ground
        self._sources = {change: [self._source(change, number) for number in range(self._WRITERS)] for change in _OF_COMMAND}

    def _source(self, change: str, number: int) -> str:
        path = str(self._ground.folder / f"{change}-{number}.nc")
        with ncirrus.create(path, kind="nc4") as ds:
            if change == "append":
                ds.create_dimension("time", None)
                ds.create_dimension("x", 3)
                ds.create_variable("t", "i4", ("time",))[:1] = number
                ds.create_variable("v", "i4", ("time", "x"))[:1] = np.full((1, 3), number)
            ds.create_dimension("n", 20)
            ds.create_variable("p", "i4", ("n",), chunks=(5,))[...] = -1 if change == "append" else number
        return path

    def outcomes(self, change: str, places: list[Place]) -> list[dict[int, str]]:
        """The outcome of each writer at each place."""
        return [self._race(change, place) for place in places]

    def _race(self, change: str, place: Place) -> dict[int, str]:
        started = [self._start(change, place, source) for source in self._sources[change]]
        outcomes = {}
        for number, process in enumerate(started):
            _, said = process.communicate(timeout=300)
            told = f"exit code {process.returncode}: {said.strip()}"
            outcomes[number] = {0: KEPT, 7: CONFLICT}.get(process.returncode, told)
        return outcomes

    def _start(self, change: str, place: Place, source: str) -> subprocess.Popen[str]:
        if change == "append":
            line = ["append", "--along", "time", place.url, source]
        else:
            overwrite = ["--overwrite"] if change == "replacement" else []
            kind = ["zarr3", "--shards", "n/20"] if place.is_sharded else [place.kind]
            line = ["copy", source, place.url, "--kind", *kind, *overwrite]
        return subprocess.Popen(
            [self._program, *line],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self._ground.environment(),
        )


def _raced_in_c(program: str, library: str, ground: Ground, cell: Cell, count: int) -> Tally:
    """Races of the C program `races`, which looks at the datasets itself."""
    tally = Tally()
    # The program defines no shards.
    kinds = [kind for kind in _MODES if cell.change != "append" or kind != "zarr2"]
    for at, kind in enumerate(kinds):
        rounds = count * (at + 1) // len(kinds) - count * at // len(kinds)
        address = {
            "directory": (f"file://{ground.folder}/directory/c-{kind}-", f".zarr#mode={_MODES[kind]},file"),
            "zip": (f"file://{ground.folder}/zip/c-{kind}-", f".zip#mode={_MODES[kind]},zip"),
            "s3": (f"s3://bucket/c-{kind}-", f"#mode={_MODES[kind]},s3&aws.profile=none"),
        }[cell.where]
        environment = {**ground.environment(), "LD_LIBRARY_PATH": library}
        done = subprocess.run(
            [program, cell.change, str(rounds), *address], capture_output=True, text=True, env=environment, check=False
        )
        numbers = [int(number) for number in re.findall(r" (\d+)", done.stdout.partition("\n")[0])]
        if done.returncode or len(numbers) != 5:
            tally.other += rounds
            tally.faults.append(f"{kind}: exit code {done.returncode}: {done.stdout}{done.stderr}")
            continue
        lost, mixed, none, errors, broken = numbers
        tally.races += rounds
        tally.conflicts += errors
        tally.kept += rounds * WRITERS - errors
        tally.lost, tally.mixed, tally.none = tally.lost + lost, tally.mixed + mixed, tally.none + none
        tally.other += broken
        tally.faults += [f"{kind}: {line}" for line in done.stderr.splitlines()]
        _say(f"  {cell} {kind}: " + "; ".join(done.stdout.splitlines()[1:]))
    return tally


def _raced(face: Any, ground: Ground, cell: Cell, count: int) -> Tally:
    tally = Tally()
    while tally.races < count:
        places = ground.places(cell.where, min(_BATCH, count - tally.races), cell.change != "creation")
        for place, outcomes in zip(places, face.outcomes(cell.change, places), strict=True):
            tally.count(place, cell.change, outcomes)
        # What went wrong is kept to be looked at.
        if tally.is_right():
            ground.clear()
    return tally


class Runner:
    """Runs cells, with the writers of a face as long as its cells follow each other."""

    def __init__(self, options: argparse.Namespace, ground: Ground) -> None:
        self._options, self._ground = options, ground
        self._face: tuple[str, Any] = ("", None)

    def run(self, cell: Cell) -> Tally:
        start = time.monotonic()
        count = self._options.races
        if cell.face == "c":
            tally = _raced_in_c(self._options.c_program, self._options.c_library, self._ground, cell, count)
        else:
            tally = _raced(self._writers(cell.face), self._ground, cell, count)
        tally.seconds = time.monotonic() - start
        if tally.is_right():
            self._ground.clear()
        return tally

    def _writers(self, face: str) -> Any:
        if self._face[0] != face:
            self.end()
            made_now = Command(self._options.command, self._ground) if face == "command" else Writers(face)
            self._face = (face, made_now)
        return self._face[1]

    def end(self) -> None:
        if isinstance(self._face[1], Writers):
            self._face[1].end()
        self._face = ("", None)


class Record:
    """The rows of cells that were run, of several commits."""

    def __init__(self, path: Path, commit: str) -> None:
        self._path, self._commit = path, commit

    def add(self, cell: Cell, tally: Tally) -> list[str]:
        numbers = [tally.races, tally.kept, tally.conflicts, tally.lost, tally.mixed, tally.other, tally.none]
        row = [cell.face, cell.change, cell.where, *map(str, numbers), f"{tally.seconds:.1f}"]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write("\t".join([self._commit, *row]) + "\n")
        return row

    def finished(self, cell: Cell, races: int) -> list[str] | None:
        """The last row of a cell that need not be run again: of this commit, with as many races, all right."""
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        rows = [line.split("\t")[1:] for line in lines if line.startswith(self._commit + "\t")]
        of_cell = [row for row in rows if row[:3] == [cell.face, cell.change, cell.where]]
        is_right = of_cell and int(of_cell[-1][3]) >= races and set(of_cell[-1][6:10]) == {"0"}
        return of_cell[-1] if is_right else None


@contextmanager
def _object_store(program: str, folder: Path) -> Iterator[str]:
    """The S3 server of the benchmarks; its address."""
    (folder / "bucket").mkdir()
    with subprocess.Popen([program, "s3", str(folder), "0"], stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip() if server.stdout else ""
        server.terminate()


def _say(line: str) -> None:
    print(line, flush=True)


def _shown(row: list[str]) -> str:
    return f"{row[0]:8} {row[1]:12} {row[2]:10} " + " ".join(f"{value:>9}" for value in row[3:])


def main() -> int:
    """Runs the chosen cells; returns 1 if something was lost, mixed or not reported."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", help="words of the cells that are run (all)")
    parser.add_argument("--races", type=int, default=1000, help="races of each cell (1000)")
    parser.add_argument("--again", action="store_true", help="runs cells again that are in the record")
    parser.add_argument("--record", type=Path, required=True, help="the file to which rows are added")
    parser.add_argument("--commit", default="", help="what rows are of")
    parser.add_argument("--folder", help="for the datasets (a temporary one)")
    parser.add_argument("--command", required=True, help="the program ncirrus")
    parser.add_argument("--server", required=True, help="the program ncirrus-bench")
    parser.add_argument("--c-program", required=True, help="the compiled races.c")
    parser.add_argument("--c-library", required=True, help="the folder of libnetcdf.so.19")
    options = parser.parse_args()
    chosen = [cell for cell in cells() if cell.is_chosen(options.cells)]
    if not chosen:
        parser.error(f"no cell has the words {' '.join(options.cells)}")
    record, wrong = Record(options.record, options.commit), []
    folder = Path(tempfile.mkdtemp(prefix="races-", dir=options.folder))
    with _object_store(options.server, folder) as endpoint:
        ground = Ground(folder, endpoint)
        ground.clear()
        runner = Runner(options, ground)
        _say(_shown(_HEADER))
        for cell in chosen:
            row = None if options.again else record.finished(cell, options.races)
            if row is None:
                tally = runner.run(cell)
                row = record.add(cell, tally)
                wrong += [] if tally.is_right() else [cell]
                for fault in tally.faults[:10]:
                    _say(f"  {fault}")
            _say(_shown(row))
        runner.end()
    if wrong:
        _say(f"wrong: {', '.join(map(str, wrong))}; the datasets are in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
