"""Measures one operation of a peer on an OPeNDAP server; prints the same line of JSON as ncirrus-bench.

usage: dap.py PEER CASE SERVER RUNS, with PEER one of netCDF4, pydap, xarray-netcdf4, xarray-pydap, ncdump, and CASE as in
`dap.rs`, or `dump` (150 variables of 100 x 250 floats as text; ncdump and ncirrus alone). Exit code 3 if the peer
cannot.
"""
import json
import resource
import subprocess
import sys
import time

peer, case, server, runs = sys.argv[1:]
NAMES = {"open2": ("many", "dap2"), "open4": ("many", "dap4"), "read4": ("data", "dap4"), "dump": ("listed", "dap2")}
name, mode = NAMES.get(case, ("data", "dap2"))
POINT = (517, 301)


def lacks(why=""):
    print(f"{peer} {case}: {why}", file=sys.stderr)
    sys.exit(3)


def keys():
    """What is read, one box after the other."""
    if case == "series":
        return [(slice(None), *POINT)]
    if case == "scattered":
        return [(slice(at, at + 1), slice(9 * at, 9 * at + 10), slice(7 * at, 7 * at + 10)) for at in range(100)]
    return [(slice(None),) * 3]


def with_netcdf4():
    import netCDF4

    data = netCDF4.Dataset(f"{server}{name}#{mode}")
    if case.startswith("open"):
        assert sum(1 for variable in data.variables.values() if variable.ncattrs()) >= 1000
        return
    data.set_auto_maskandscale(False)
    for key in keys():
        data["v"][key]


def with_pydap():
    from pydap.client import open_url

    data = open_url(f"{server}{name}", protocol=mode)
    if case.startswith("open"):
        assert len(data) >= 1000
        return
    for key in keys():
        data["v"][key].data


def with_xarray():
    import xarray

    engine = peer.split("-")[1]
    address = f"{server}{name}#{mode}" if engine == "netcdf4" else f"{server.replace('http', mode)}{name}"
    if engine == "pydap":
        from pydap.client import open_url

        source = xarray.backends.PydapDataStore(open_url(f"{server}{name}", protocol=mode))
        data = xarray.open_dataset(source, decode_cf=False, cache=False)
    else:
        data = xarray.open_dataset(address, engine=engine, decode_cf=False, cache=False)
    if case.startswith("open"):
        assert len(data.variables) >= 1000
        return
    for key in keys():
        data["v"][key].values


def with_ncdump():
    if case != "dump" and not case.startswith("open"):
        lacks("it reads whole variables only")
    options = [] if case == "dump" else ["-h"]
    subprocess.run(["/usr/bin/ncdump", *options, f"{server}{name}#{mode}"], stdout=subprocess.DEVNULL, check=True)


makers = {"netCDF4": with_netcdf4, "pydap": with_pydap, "xarray": with_xarray, "ncdump": with_ncdump}
if case == "dump" and peer != "ncdump":
    lacks("it prints nothing")
best = float("inf")
try:
    for _ in range(int(runs)):
        start = time.perf_counter()
        makers[peer.split("-")[0]]()
        best = min(best, time.perf_counter() - start)
except Exception as error:  # noqa: BLE001: whatever a peer cannot do is told
    lacks(repr(error)[:300])
who = resource.RUSAGE_CHILDREN if peer == "ncdump" else resource.RUSAGE_SELF
print(json.dumps({"seconds": best, "peak_kib": resource.getrusage(who).ru_maxrss}))
