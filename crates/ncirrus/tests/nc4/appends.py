"""Checks files to which records were appended and prints what is wrong with them, one line each.

usage: appends.py FOLDER: files are named MAKER-RECORDS.nc
"""
import os
import sys

import h5py
import numpy

WIDTHS = {"a": (100, 128), "b": (200, 1), "two": (600, 2)}


def check(path, records):
    with h5py.File(path) as file:
        for name, (first, width) in WIDTHS.items():
            values = file[name][()].ravel()
            wanted = numpy.arange(first, first + records * width)
            if not numpy.array_equal(values, wanted):
                yield f"{name}: {len(values)} values, not the {len(wanted)} that were appended"


for name in sorted(os.listdir(sys.argv[1])):
    try:
        for wrong in check(f"{sys.argv[1]}/{name}", int(name.removesuffix(".nc").rsplit("-", 1)[1])):
            print(f"{name}: {wrong}")
    except Exception as error:  # noqa: BLE001
        print(f"{name}: {type(error).__name__}: {error}")
