"""Makes a file in which axes have no scale, and checks it after a dimension lost its coordinate variable."""
import sys

import h5py
import netCDF4
import numpy as np

if sys.argv[1] == "make":
    with h5py.File(sys.argv[2], "w") as f:
        f.create_dataset("xs", data=np.arange(4.0)).make_scale("xs")
        f.create_dataset("listed", (3, 4), "i4").dims[1].attach_scale(f["xs"])
        f.create_dataset("by_length", (3, 4), "i4")
        f.create_dataset("by_length_too", (4, 3), "i4")
else:
    path, variable, dimension = sys.argv[2:]
    with h5py.File(path) as f:
        scales = [[scale.name for scale in axis.values()] for axis in f["listed"].dims]
        assert scales == [[], ["/" + dimension]], scales
        for name in ("by_length", "by_length_too"):
            assert "DIMENSION_LIST" not in f[name].attrs, name
    with netCDF4.Dataset(path) as d:
        seen = {name: v.dimensions for name, v in d.variables.items()}
        assert (d[variable][:] == np.arange(4.0)).all()
    phony = seen["listed"][0]
    assert phony.startswith("phony_dim"), seen
    assert seen == {
        variable: (dimension,),
        "listed": (phony, dimension),
        "by_length": (phony, dimension),
        "by_length_too": (dimension, phony),
    }, seen
