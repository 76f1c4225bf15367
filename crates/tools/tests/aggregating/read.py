"""Prints the values of tas as another program reads them from an aggregation."""
import sys

import numpy

program, master = sys.argv[1:]
if program == "CFAPyX":
    import xarray

    values = xarray.open_dataset(master, engine="CFA")["tas"].values
elif program == "cfdm":
    import cfdm

    values = next(field for field in cfdm.read(master) if field.nc_get_variable() == "tas").array
else:
    import cf

    values = next(field for field in cf.read(master) if field.nc_get_variable() == "tas").array
for value in numpy.asarray(values, dtype=float).ravel():
    print(repr(float(value)))
