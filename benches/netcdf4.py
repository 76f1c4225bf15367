"""The module `ncirrus.netCDF4` compared with netCDF4-python, call by call.

usage: netcdf4.py make FOLDER: makes what is read, by netCDF4-python.
       netcdf4.py WHO CASE PLACE RUNS: measures, and prints the same line of JSON as ncirrus-bench. WHO is ncirrus or netcdf4,
       PLACE a folder, or the address of a server over it.

Cases:
  stored-HOW, masked-HOW   512 MiB of floats read whole, as stored and masked as by default: contiguous, deflate, zstd
  packed                   256 MiB of packed shorts, read whole as doubles
  row                      one small row, many times over
  lists, strides           lists of indices on two axes, and every third row and second column of 512 MiB
  write                    512 MiB written with shuffle and deflate
  open                     1,000 variables opened, and looked at
  series                   the values of a point through all chunks
"""
import gc
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from python import CHUNK, SHAPE, VARIABLES, whole

STORED = {
    "contiguous": {"contiguous": True},
    "deflate": {"chunksizes": CHUNK, "zlib": True, "complevel": 4, "shuffle": True},
    "zstd": {"chunksizes": CHUNK, "compression": "zstd", "complevel": 3, "shuffle": True},
}
ROWS, ROW = 2000, 1000


def define(file):
    for dimension, length in zip("tyx", SHAPE):
        file.createDimension(dimension, length)


def make(folder):
    import netCDF4

    Path(folder).mkdir(parents=True, exist_ok=True)
    values = whole()
    for name, how in STORED.items():
        with netCDF4.Dataset(f"{folder}/{name}.nc", "w") as file:
            define(file)
            file.createVariable("v", "f4", ("t", "y", "x"), **how)[:] = values
    with netCDF4.Dataset(f"{folder}/packed.nc", "w") as file:
        define(file)
        packed = file.createVariable("v", "i2", ("t", "y", "x"), fill_value=-32768, **STORED["deflate"])
        packed.setncatts({"scale_factor": 0.01, "add_offset": 273.15})
        packed[:] = values
    with netCDF4.Dataset(f"{folder}/rows.nc", "w") as file:
        file.createDimension("y", ROWS)
        file.createDimension("x", ROW)
        rows = file.createVariable("v", "f4", ("y", "x"), zlib=True, chunksizes=(100, ROW))
        rows.units = "K"
        rows[:] = values[0, :1, :1]
    with netCDF4.Dataset(f"{folder}/open.nc", "w") as file:
        file.createDimension("x", 1000)
        for number in range(VARIABLES):
            variable = file.createVariable(f"v{number}", "f4", ("x",))
            for attribute in ("units", "long_name", "standard_name", "comment", "source"):
                variable.setncattr(attribute, f"{attribute} of {number}")


def module_of(who):
    if who == "netcdf4":
        import netCDF4

        return netCDF4
    import ncirrus.netCDF4

    return ncirrus.netCDF4


class Case:
    """What is measured: `prepare` is not, `work` is."""

    def __init__(self, who, case, place):
        self.module, self.who, self.case, self.place = module_of(who), who, case, place
        how = case.rpartition("-")[2]
        name = {"lists": "deflate", "strides": "deflate", "series": "deflate", "row": "rows"}.get(case, how)
        self.path = f"{place}/{name}.nc"
        if place.startswith("http") and who == "netcdf4":
            self.path += "#mode=bytes"
        self.values = whole() if case == "write" else None

    def work(self):
        return getattr(self, self.case.partition("-")[0])()

    def opened(self):
        return self.module.Dataset(self.path)

    def stored(self):
        with self.opened() as file:
            file["v"].set_auto_maskandscale(False)
            assert file["v"][:].shape == SHAPE

    def masked(self):
        with self.opened() as file:
            assert file["v"][:].shape == SHAPE

    def packed(self):
        with self.opened() as file:
            assert file["v"][:].dtype == np.float64

    def lists(self):
        rows, columns = np.arange(0, 1024, 7), np.arange(5, 1024, 31)
        with self.opened() as file:
            assert file["v"][::4, rows, columns].shape == (32, rows.size, columns.size)

    def strides(self):
        with self.opened() as file:
            assert file["v"][:, ::3, ::2].shape == (128, 342, 512)

    def series(self):
        with self.opened() as file:
            assert file["v"][:, 517, 301].shape == (128,)

    def open(self):
        with self.opened() as file:
            assert len([variable.units for variable in file.variables.values()]) == VARIABLES

    def write(self):
        target = Path(self.place) / f"written-{self.who}.nc"
        try:
            with self.module.Dataset(target, "w") as file:
                define(file)
                file.createVariable("v", "f4", ("t", "y", "x"), **STORED["deflate"])[:] = self.values
        finally:
            target.unlink(missing_ok=True)


def row(case, runs):
    """Seconds of one row."""
    with case.opened() as file:
        variable = file["v"]
        variable[0]

        def work():
            for at in range(ROWS):
                variable[at]

        return best_of(runs, work) / ROWS


def best_of(runs, work):
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2])
        return
    who, case, place, runs = sys.argv[1:5]
    found = Case(who, case, place)
    seconds = row(found, int(runs)) if case == "row" else best_of(int(runs), found.work)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "peak_kib": peak}))


if __name__ == "__main__":
    main()
