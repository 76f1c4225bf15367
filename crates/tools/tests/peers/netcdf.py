"""Prints what netCDF4-python reads, as JSON."""
import json
import sys

import netCDF4
import numpy


def octets(values):
    values = numpy.asarray(values)
    return values.astype(values.dtype.newbyteorder("<")).tobytes().hex()


def plain(value):
    if isinstance(value, (str, list)):
        return value
    return octets(value)


def look(group, found):
    path = group.path.rstrip("/")
    found["groups"].append(group.path)
    for name, dimension in group.dimensions.items():
        found["dimensions"][f"{path}/{name}"] = [len(dimension), dimension.isunlimited()]
    found["attributes"][group.path] = {name: plain(group.getncattr(name)) for name in group.ncattrs()}
    for name, variable in group.variables.items():
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
        if variable.dtype is str:
            values = numpy.atleast_1d(variable[...]).ravel().tolist()
        else:
            values = octets(variable[...])
        found["variables"][f"{path}/{name}"] = {
            "shape": list(variable.shape), "dims": list(variable.dimensions), "values": values}
        found["attributes"][f"{path}/{name}"] = {name: plain(variable.getncattr(name)) for name in variable.ncattrs()}
    for child in group.groups.values():
        look(child, found)


found = {"groups": [], "dimensions": {}, "attributes": {}, "variables": {}}
look(netCDF4.Dataset(sys.argv[1]), found)
print(json.dumps(found))
