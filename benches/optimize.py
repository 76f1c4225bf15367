"""`ncirrus optimize` beside `cmip7repack` and `h5repack`, each a process of its own.

`python benches/optimize.py FOLDER [ROUNDS] [MIB] [CASE...]`: makes files with MIB (512) of floats in the folder, and prints a
table for each case: the seconds (the smallest of the rounds, in which the programs take turns), their ratio to those of ncirrus,
the seconds of all cores, the largest memory, and the bytes of the result. The last result of each program is checked:
`ncirrus compare` and netCDF4 must find the values of the original, and `check_cmip7_packing` says whether it fits.

The command is `target/release/ncirrus`, or what `NCIRRUS_BINARY` names; `cmip7repack` and `check_cmip7_packing` are those beside
this Python. Every program writes a new file. `ncirrus` compares it with the original and waits for the disk, as for its users;
`ncirrus unsynced` does not wait (`--no-sync`), as the others do not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np

ROOT = Path(__file__).parents[1]
NCIRRUS = os.environ.get("NCIRRUS_BINARY", str(ROOT / "target/release/ncirrus"))
BIN = Path(sys.executable).parent
SIDE, SMALL_FILES = 256, 50
"""Steps whose chunks have 4 MiB together."""
STEPS = 16
PROGRAMS = ("ncirrus", "ncirrus unsynced", "cmip7repack", "h5repack")
TIMED = """
import json, os, sys, time
start = time.perf_counter()
sink = os.open(os.devnull, os.O_WRONLY)
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, sink, 1)])
_, status, used = os.wait4(child, 0)
seconds = time.perf_counter() - start
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
"""Measures a command in a process of its own: the largest memory of a process is at least that of the one that began it."""
FILTERS = {
    "plain": {},
    "zlib": {"zlib": True, "shuffle": False, "complevel": 4},
    "shuffle": {"zlib": True, "shuffle": True, "complevel": 4},
}


class Case:
    """Files in a folder, and what the programs make of them."""

    def __init__(self, name: str, title: str, *, steps: int, chunk: int | None, filters: str, files: int = 1) -> None:
        self.name, self.title, self.steps, self.chunk, self.files = name, title, steps, chunk, files
        self.filters = FILTERS[filters]

    def paths(self, folder: Path) -> list[Path]:
        return [folder / f"{self.name}_{number:02}.nc" for number in range(self.files)]

    def make(self, folder: Path) -> None:
        """Writes step by step, as models do, so that the metadata are scattered over the file."""
        for number, path in enumerate(self.paths(folder)):
            if path.exists():
                continue
            with netCDF4.Dataset(path, "w") as file:
                file.setncatts({"variable_id": "tas", "Conventions": "CF-1.11", "mip_era": "CMIP7"})
                unlimited = None if self.chunk else self.steps
                for name, length in (("time", unlimited), ("bnds", 2), ("lat", SIDE), ("lon", SIDE)):
                    file.createDimension(name, length)
                times = 1 if self.chunk == 1 else self.steps
                time_of = file.createVariable("time", "f8", ("time",), chunksizes=(times,))
                time_of.units, time_of.bounds = "days since 1850-01-01", "time_bnds"
                bounds = file.createVariable("time_bnds", "f8", ("time", "bnds"), chunksizes=(times, 2))
                shape = {"chunksizes": (self.chunk, SIDE, SIDE)} if self.chunk else {"contiguous": True}
                data = file.createVariable("tas", "f4", ("time", "lat", "lon"), fill_value=1e20, **shape, **self.filters)
                random = np.random.default_rng(number)
                for start in range(0, self.steps, STEPS):
                    stop = min(start + STEPS, self.steps)
                    steps = np.arange(start, stop)
                    time_of[start:stop] = steps + 0.5
                    bounds[start:stop] = steps[:, None] + [[0.0, 1.0]]
                    data[start:stop] = np.stack([field(step, random) for step in steps])
                # More than the space that the library has kept for attributes at the front.
                file.history = "made " * 2000


def field(step: int, random: np.random.Generator) -> np.ndarray:
    """A map like a model's output, quantised to 1/64, as in `hdf5.py`."""
    rows = 280 + 20 * np.sin(np.arange(SIDE) / 41) + np.cos(step / 20)
    columns = 5 * np.cos(np.arange(SIDE) / 24)
    noise = random.integers(0, 256, (SIDE, SIDE)) / 512
    return (np.round((rows[:, None] + columns[None, :] + noise) * 64) / 64).astype("f4")


def cases(mib: int) -> list[Case]:
    steps = mib * (1 << 20) // (4 * SIDE * SIDE)
    return [
        Case("zlib", f"chunks change: {mib} MiB, one step a chunk, zlib", steps=steps, chunk=1, filters="zlib"),
        Case("shuffle", f"chunks change: {mib} MiB, one step a chunk, shuffle and zlib", steps=steps, chunk=1, filters="shuffle"),
        Case("raw", f"chunks change: {mib} MiB, one step a chunk, no filters", steps=steps, chunk=1, filters="plain"),
        Case("metadata", f"only metadata move: {mib} MiB in chunks of 4 MiB, shuffle and zlib", steps=steps, chunk=STEPS, filters="shuffle"),
        Case("contiguous", f"only metadata move: a contiguous variable of {mib} MiB", steps=steps, chunk=None, filters="plain"),
        Case("small", f"{SMALL_FILES} files of 4 MiB, one step a chunk, shuffle and zlib, two at once", steps=STEPS, chunk=1, filters="shuffle", files=SMALL_FILES),
    ]


def command(program: str, case: Case, inputs: list[Path], folder: Path) -> list[str]:
    """What makes new files in `folder` of the inputs, which are there already for programs that write beside them."""
    names = [str(path) for path in inputs]
    jobs = "2" if case.files > 1 else "1"
    if program.startswith("ncirrus"):
        options = ["-q", "--profile", "cmip7", "--jobs", jobs, "-o", str(folder / "out")]
        return [NCIRRUS, *(["--no-sync"] if program == "ncirrus unsynced" else []), "optimize", *options, *names]
    if program == "cmip7repack":
        # It takes one file after the other.
        shell = f"printf '%s\\n' \"$@\" | xargs -P {jobs} -n {len(names) // int(jobs)} {BIN / 'cmip7repack'}"
        return ["sh", "-c", shell, "sh", *names]
    layouts = {"time": f"{case.steps}", "time_bnds": f"{case.steps}x2", "tas": f"{min(STEPS, case.steps)}x{SIDE}x{SIDE}"}
    options = [f"--metadata_block_size={1 << 20 if case.files == 1 else 1 << 16}"]
    # Without layouts it copies what is stored, without decoding it.
    options += [f"--layout=/{name}:CHUNK={chunk}" for name, chunk in layouts.items()] if case.chunk == 1 else []
    shell = f"printf '%s\\n' \"$@\" | xargs -P {jobs} -I NAME h5repack {' '.join(options)} NAME NAME_h5repack"
    return ["sh", "-c", shell, "sh", *names]


def result(program: str, path: Path, folder: Path) -> Path:
    return folder / "out" / path.name if program.startswith("ncirrus") else Path(f"{path}_{program}")


def run(program: str, case: Case, inputs: list[Path], folder: Path) -> tuple[float, ...]:
    """Seconds, seconds of all cores, and MiB."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    for path in inputs:
        result(program, path, folder).unlink(missing_ok=True)
    # What was written before is not written while this is measured.
    os.sync()
    wrapped = [sys.executable, "-I", "-S", "-c", TIMED, *command(program, case, inputs, folder)]
    code, *figures = json.loads(subprocess.run(wrapped, check=True, stdout=subprocess.PIPE).stdout)
    if code:
        raise RuntimeError(f"{program}: exit code {code}")
    return tuple(figures)


def is_same(one: Path, other: Path) -> bool:
    """Whether netCDF4 reads the same values from both."""
    with netCDF4.Dataset(one) as first, netCDF4.Dataset(other) as second:
        for name, ours in first.variables.items():
            theirs = second.variables[name]
            ours.set_auto_maskandscale(False)
            theirs.set_auto_maskandscale(False)
            step = max(1, ours.shape[0] // 8)
            if any(not np.array_equal(ours[at : at + step], theirs[at : at + step]) for at in range(0, ours.shape[0], step)):
                return False
    return True


def verdict(program: str, inputs: list[Path], folder: Path) -> str:
    """What is wrong with the results."""
    faults = []
    for path in inputs:
        new = result(program, path, folder)
        if subprocess.run([NCIRRUS, "compare", str(path), str(new)], capture_output=True, check=False).returncode:
            faults.append("ncirrus compare finds a difference")
        if not is_same(path, new):
            faults.append("netCDF4 finds a difference")
        checked = [sys.executable, str(BIN / "check_cmip7_packing"), str(new)]
        check = subprocess.run(checked, capture_output=True, check=False, text=True)
        if check.returncode:
            # It raises an error for variables that are not chunked.
            is_broken = "Traceback" in check.stderr
            faults.append("check_cmip7_packing cannot read it" if is_broken else "check_cmip7_packing fails")
    return ", ".join(sorted(set(faults))) or "same values, passes the check"


def measure(case: Case, folder: Path, rounds: int) -> None:
    case.make(folder)
    inputs = case.paths(folder)
    best = {program: (float("inf"), float("inf"), 0.0) for program in PROGRAMS}
    for _ in range(rounds):
        for program in PROGRAMS:
            now, before = run(program, case, inputs, folder), best[program]
            best[program] = (min(now[0], before[0]), min(now[1], before[1]), max(now[2], before[2]))
            last = folder / f"last-{program.replace(' ', '-')}"
            shutil.rmtree(last, ignore_errors=True)
            if program.startswith("ncirrus"):
                (folder / "out").rename(last)
    size = sum(path.stat().st_size for path in inputs)
    print(f"\n### {case.title}\n\n{size / 1e6:.1f} MB before.\n")
    print("| program | time (s) | ratio | cores (s) | memory (MiB) | result (MB) | result |\n|---|---|---|---|---|---|---|")
    for program, (seconds, cores, memory) in best.items():
        last = folder / f"last-{program.replace(' ', '-')}"
        if last.exists():
            shutil.rmtree(folder / "out", ignore_errors=True)
            last.rename(folder / "out")
        after = sum(result(program, path, folder).stat().st_size for path in inputs)
        row = f"{seconds:.2f} | {seconds / best['ncirrus'][0]:.2f} | {cores:.2f} | {memory:.0f} | {after / 1e6:.1f}"
        print(f"| {program} | {row} | {verdict(program, inputs, folder)} |", flush=True)
        for path in inputs:
            result(program, path, folder).unlink()
    for path in inputs:
        path.unlink()


def main() -> None:
    folder = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    mib = int(sys.argv[3]) if len(sys.argv) > 3 else 512
    wanted = sys.argv[4:]
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases(mib):
        if not wanted or case.name in wanted:
            measure(case, folder, rounds)


if __name__ == "__main__":
    main()
