"""Writes references to regions, old and new encodings of selections; prints what h5py reads of each."""

import json
import sys

import h5py
import numpy


def numbers(list):
    return "(" + ",".join(str(number) for number in list) + ")"


def shown(file, reference, is_regular_kept):
    """The path and the selection in our notation, from what the library says of it."""
    if not reference:
        return None
    path = h5py.h5r.get_name(reference, file.id).decode()
    space = h5py.h5r.get_region(reference, file.id)
    kind = space.get_select_type()
    if kind == h5py.h5s.SEL_ALL:
        return path + " {all}"
    if kind == h5py.h5s.SEL_NONE:
        return path + " {}"
    if kind == h5py.h5s.SEL_POINTS:
        return path + " {" + ",".join(numbers(at) for at in space.get_select_elem_pointlist()) + "}"
    if is_regular_kept and space.get_select_hyper_nblocks() > 32:
        names = ["start", "stride", "count", "block"]
        parts = zip(names, space.get_regular_hyperslab())
        return path + " {" + " ".join(f"{name}={numbers(part)}" for name, part in parts) + "}"
    blocks = space.get_select_hyper_blocklist()
    return path + " {" + ",".join(f"{numbers(first)}-{numbers(last)}" for first, last in blocks) + "}"


def selections():
    """Spaces of a dataset of 20 x 30."""
    def space():
        return h5py.h5s.create_simple((20, 30))

    made = [space() for _ in range(7)]
    made[1].select_none()
    made[2].select_hyperslab((0, 2), (1, 1), block=(4, 4))
    made[3].select_hyperslab((1, 2), (2, 3), (5, 6), (2, 3))
    made[4].select_hyperslab((1, 2), (6, 7), (3, 4), (1, 2))
    made[5].select_hyperslab((0, 0), (1, 1), block=(2, 3))
    made[5].select_hyperslab((9, 7), (1, 1), block=(1, 20), op=h5py.h5s.SELECT_OR)
    made[6].select_elements(numpy.array([(3, 4), (1, 2), (19, 29)], dtype="u8"))
    return made


said = {}
for version in ["earliest", "latest"]:
    with h5py.File(f"{sys.argv[1]}/{version}.h5", "w", libver=version) as file:
        file.create_dataset("group/data", (20, 30), "i4")
        spaces = selections()
        refs = file.create_dataset("refs", (len(spaces) + 1,), h5py.regionref_dtype)
        for number, space in enumerate(spaces):
            refs[number] = h5py.h5r.create(file.id, b"group/data", h5py.h5r.DATASET_REGION, space)
    with h5py.File(f"{sys.argv[1]}/{version}.h5", "r") as file:
        said[f"{version}.h5"] = [shown(file, reference, version == "latest") for reference in file["refs"][:]]
print(json.dumps(said))
