"""The commands and tools compared with Debian's, each a process of its own.

usage: tools.py make FOLDER: makes what is read: 100 MB of floats, 512 MiB of them, and their CDL.
       tools.py large FOLDER GIB: makes what the memory of commands is measured with.
       tools.py WHO CASE FOLDER RUNS BINARIES: runs a program, and prints the same line of JSON as ncirrus-bench.
WHO is ncirrus, whose command and tools are links in BINARIES, or a peer: debian, cdo, each where it has such a program;
exit code 3 when WHO cannot. The seconds and the memory are those of the program alone.
"""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from hdf5 import field  # noqa: E402

STEPS, STARTS = 128, 20


def floats(path, steps, **how):
    """A file of ``v(t, y, x)`` with so many steps of 4 MiB."""
    import netCDF4

    random = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w", format=how.pop("format", "NETCDF4")) as file:
        for name, size in zip("tyx", (steps, 1024, 1024)):
            file.createDimension(name, size)
        file.createVariable("t", "f8", ("t",))[:] = np.arange(steps)
        variable = file.createVariable("v", "f4", ("t", "y", "x"), fill_value=False, **how)
        for step in range(steps):
            variable[step] = field(step, random)


DEFLATE = {"chunksizes": (1, 1024, 1024), "zlib": True, "complevel": 1, "shuffle": True}


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    floats(folder / "small-classic.nc", 25, format="NETCDF3_CLASSIC")
    floats(folder / "small-deflate.nc", 25, **DEFLATE)
    floats(folder / "raw.nc", STEPS, contiguous=True)
    floats(folder / "deflate.nc", STEPS, **DEFLATE)
    shutil.copy(folder / "deflate.nc", folder / "same.nc")
    lines = ["netcdf text {", "dimensions:", "\tx = 10000000 ;", "variables:", "\tfloat v(x) ;", "data:", " v ="]
    values = np.random.default_rng(2).integers(0, 10**7, 10**7) / 32768
    with open(folder / "text.cdl", "w") as file:
        file.write("\n".join(lines))
        for start in range(0, values.size, 10):
            last = start + 10 >= values.size
            file.write("\n    " + ", ".join(f"{v:.8g}" for v in values[start:start + 10]) + (" ;" if last else ","))
        file.write("\n}\n")
    subprocess.run(["ncgen", "-b", "-o", folder / "start.nc", "-"], check=True, text=True,
                   input="netcdf start { dimensions: x = 3 ; variables: int v(x) ; data: v = 1, 2, 3 ; }")


def large(folder, gib):
    """Deflated and classic files of so many GiB of values, and a GB of CDL."""
    folder.mkdir(parents=True, exist_ok=True)
    floats(folder / "large.nc", 256 * gib, **DEFLATE)
    shutil.copy(folder / "large.nc", folder / "same.nc")
    with open(folder / "text.cdl", "w") as file:
        rows = 10**7
        file.write(f"netcdf text {{\ndimensions:\n\tx = {10 * rows} ;\nvariables:\n\tfloat v(x) ;\ndata:\n v =")
        for row in range(rows):
            values = ", ".join(f"{(row * 10 + n) / 64 % 100000:.8g}" for n in range(10))
            file.write("\n    " + values + (" ;" if row == rows - 1 else ","))
        file.write("\n}\n")


def commands(who, case, folder, binaries):
    """What is run, and what it makes."""
    ours = {name: str(Path(binaries) / name) for name in ("ncirrus", "ncdump", "ncgen", "nccopy")}
    tool = ours if who == "ncirrus" else {name: f"/usr/bin/{name}" for name in ("ncdump", "ncgen", "nccopy", "cdo")}
    made = folder / f"{who}-{case}.tmp"
    budget = ["--memory", "256M"]
    found = {
        ("dump-classic", None): [tool["ncdump"], folder / "small-classic.nc"],
        ("dump-deflate", None): [tool["ncdump"], folder / "small-deflate.nc"],
        ("generate", None): [tool["ncgen"], "-b", "-o", made, folder / "text.cdl"],
        ("nccopy", None): [tool["nccopy"], "-d1", "-s", folder / "raw.nc", made],
        ("start", None): [tool["ncdump"], "-h", folder / "start.nc"],
        ("compare", "ncirrus"): [ours["ncirrus"], "compare", folder / "deflate.nc", folder / "same.nc"],
        ("compare", "cdo"): ["cdo", "-s", "diffn", folder / "deflate.nc", folder / "same.nc"],
        ("check", "ncirrus"): [ours["ncirrus"], "check", folder / "deflate.nc"],
        ("large-dump", "ncirrus"): [ours["ncirrus"], *budget, "dump", folder / "large.nc"],
        ("large-check", "ncirrus"): [ours["ncirrus"], *budget, "check", folder / "large.nc"],
        ("large-compare", "ncirrus"): [ours["ncirrus"], *budget, "compare", folder / "large.nc", folder / "same.nc"],
        ("large-generate", "ncirrus"): [ours["ncirrus"], *budget, "generate", folder / "text.cdl", f"{made}.nc"],
        ("large-copy", "ncirrus"): [ours["ncirrus"], *budget, "copy", "-d", "2", folder / "large.nc", f"{made}.nc"],
    }
    for key in ((case, who), (case, None)):
        if key in found and not (key[1] is None and who == "cdo"):
            return found[key], made
    raise NotImplementedError


def once(arguments, output):
    """Seconds, and KiB of memory at most."""
    start = time.perf_counter()
    with open(output, "wb") as sink:
        process = subprocess.Popen([str(a) for a in arguments], stdout=sink)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"exit code {process.returncode}")
    return time.perf_counter() - start, used.ru_maxrss


def measure(who, case, folder, runs, binaries):
    arguments, made = commands(who, case, folder, binaries)
    best, peak = float("inf"), 0
    for _ in range(runs):
        seconds = 0.0
        for _ in range(STARTS if case == "start" else 1):
            for left in (made, Path(f"{made}.nc")):
                left.unlink(missing_ok=True)
            one, memory = once(arguments, os.devnull)
            seconds, peak = seconds + one, max(peak, memory)
        best = min(best, seconds / (STARTS if case == "start" else 1))
    for left in (made, Path(f"{made}.nc")):
        left.unlink(missing_ok=True)
    return {"seconds": best, "peak_kib": peak}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    elif sys.argv[1] == "large":
        large(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        try:
            who, case, folder, runs, binaries = sys.argv[1:]
            print(json.dumps(measure(who, case, Path(folder), int(runs), binaries)))
        except (NotImplementedError, OSError, RuntimeError, subprocess.SubprocessError) as error:
            print(f"{' '.join(sys.argv[1:])}: {error!r}", file=sys.stderr)
            sys.exit(3)
