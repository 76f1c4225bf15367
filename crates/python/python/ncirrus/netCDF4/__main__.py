"""Runs a program, unchanged, with `netCDF4` answered by ours: `python -m ncirrus.netCDF4 PROGRAM ARGS...`."""

import runpy
import sys

from ncirrus.netCDF4 import install

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m ncirrus.netCDF4 PROGRAM ARGS...")
    install()
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
