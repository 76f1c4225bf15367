"""Definitions one by one in Python: the package's own calls, and those of netCDF4-python by its module `ncirrus.netCDF4` and by the
original.

usage: members.py WHO MEMBERS FOLDER COUNT RUNS: measures, and prints the same line of JSON as ncirrus-bench. WHO is ncirrus,
       ncirrus.netCDF4 or netcdf4; MEMBERS one of variables (each with an attribute), values (variables, each with a value before the
       next), dimensions, groups and attributes (of the root). The file is a new netCDF-4 one.
"""
import gc
import json
import resource
import sys
import time
from pathlib import Path


def own(members, path, count):
    import ncirrus

    with ncirrus.create(path, kind="nc4", overwrite=True) as file:
        file.create_dimension("x", 1)
        for at in range(count):
            name = f"name_{at}"
            if members in ("variables", "values"):
                variable = file.create_variable(name, "i4", ("x",))
                variable.attrs["units"] = "m"
                if members == "values":
                    variable[:] = at
            elif members == "dimensions":
                file.create_dimension(name, 1)
            elif members == "groups":
                file.create_group(name)
            else:
                file.attrs[name] = "value"


def calls(module, members, path, count):
    with module.Dataset(path, "w") as file:
        file.createDimension("x", 1)
        for at in range(count):
            name = f"name_{at}"
            if members in ("variables", "values"):
                variable = file.createVariable(name, "i4", ("x",))
                variable.units = "m"
                if members == "values":
                    variable[:] = at
            elif members == "dimensions":
                file.createDimension(name, 1)
            elif members == "groups":
                file.createGroup(name)
            else:
                file.setncattr(name, "value")


def work_of(who, members, path, count):
    if who == "ncirrus":
        return lambda: own(members, path, count)
    if who == "ncirrus.netCDF4":
        from ncirrus import netCDF4 as module
    else:
        import netCDF4 as module
    return lambda: calls(module, members, path, count)


def main():
    who, members, folder, count, runs = sys.argv[1:6]
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{who}-{members}.nc"
    work = work_of(who, members, str(path), int(count))
    best = float("inf")
    for _ in range(int(runs)):
        path.unlink(missing_ok=True)
        gc.collect()
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    path.unlink()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": best, "peak_kib": peak}))


if __name__ == "__main__":
    main()
