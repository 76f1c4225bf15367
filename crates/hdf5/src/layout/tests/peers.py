"""Writes files with h5py into the folder named first, and prints what h5py reads of them as JSON."""
import json
import os
import sys

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

os.chdir(sys.argv[1])
U = h5s.UNLIMITED


def i4(*shape, start=0):
    return (np.arange(int(np.prod(shape)), dtype="i4") + start).reshape(shape)


def space(shape, maxshape=None):
    return h5s.create_simple(shape, maxshape or shape)


def slab(shape, start, count, stride=None, block=None, maxshape=None):
    made = space(shape, maxshape)
    made.select_hyperslab(start, count, stride, block)
    return made


def either(shape, *boxes):
    made = space(shape)
    for number, (start, count) in enumerate(boxes):
        made.select_hyperslab(start, count, op=h5s.SELECT_OR if number else h5s.SELECT_SET)
    return made


def virtual(file, name, shape, mappings, maxshape=None):
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_fill_value(np.array(-1, "i4"))
    for target, source_file, dataset, source in mappings:
        plist.set_virtual(target, source_file.encode(), dataset.encode(), source)
    h5d.create(file.id, name.encode(), h5t.STD_I32LE, space(shape, maxshape), plist)


def sources():
    with h5py.File("one.h5", "w") as f:
        f["d"] = i4(4, 5, start=100)
        f["line"] = i4(12, start=300)
        f.create_dataset("grows", data=i4(3, 5, start=500), maxshape=(None, 5), chunks=(2, 5))
        f["group/d"] = i4(6, start=700)
    with h5py.File("two.h5", "w", libver="latest") as f:
        f["d"] = i4(4, 5, start=200)
    for block in range(3):
        with h5py.File(f"part_{block}.h5", "w") as f:
            f["d"] = i4(2, 3, start=1000 * block)


def virtuals(name, libver):
    whole = space((4, 5))
    with h5py.File(name, "w", libver=libver) as f:
        f["own"] = i4(4, 5, start=900)
        virtual(f, "stacked", (3, 4, 5), [
            (slab((3, 4, 5), (0, 0, 0), (1, 4, 5)), "one.h5", "d", whole),
            (slab((3, 4, 5), (1, 0, 0), (1, 4, 5)), "missing.h5", "d", whole),
            (slab((3, 4, 5), (2, 0, 0), (1, 4, 5)), ".", "own", whole),
        ])
        virtual(f, "absent", (4, 10), [
            (slab((4, 10), (0, 0), (4, 5)), "one.h5", "not there", whole),
            (slab((4, 10), (0, 5), (4, 5)), "two.h5", "/d", whole),
        ])
        virtual(f, "strided", (10,), [
            (slab((10,), (0,), (5,), (2,)), "one.h5", "line", slab((12,), (1,), (5,))),
            (slab((10,), (1,), (4,), (2,)), "one.h5", "line", slab((12,), (0,), (4,), (3,))),
        ])
        virtual(f, "blocks", (5, 9), [
            (slab((5, 9), (1, 0), (2, 3), (2, 3), (1, 2)), "one.h5", "line", space((12,))),
        ])
        virtual(f, "reshaped", (3, 6), [(slab((3, 6), (0, 1), (3, 4)), "one.h5", "line", space((12,)))])
        virtual(f, "odd", (4, 5), [
            (either((4, 5), ((0, 0), (1, 3)), ((1, 2), (2, 3)), ((3, 0), (1, 1))), "one.h5", "d",
             either((4, 5), ((0, 1), (2, 4)), ((3, 0), (1, 2)))),
        ])
        virtual(f, "everything", (4, 5), [(space((4, 5)), "one.h5", "d", whole)])
        virtual(f, "twice", (4, 5), [
            (space((4, 5)), "one.h5", "d", whole),
            (slab((4, 5), (1, 1), (2, 2)), "two.h5", "d", slab((4, 5), (0, 0), (2, 2))),
        ])
        virtual(f, "below", (6,), [(space((6,)), "one.h5", "group/d", space((6,)))])
        virtual(f, "nested", (4, 5), [(space((4, 5)), ".", "everything", whole)])
        virtual(f, "grows", (1, 5), [
            (slab((1, 5), (0, 0), (1, 1), (1, 1), (U, 5), (U, 5)), "one.h5", "grows",
             slab((1, 5), (0, 0), (1, 1), (1, 1), (U, 5), (U, 5))),
        ], (U, 5))
        virtual(f, "every other", (1, 5), [
            (slab((1, 5), (1, 0), (U, 1), (2, 1), (1, 5), (U, 5)), "one.h5", "grows",
             slab((1, 5), (0, 0), (U, 1), (1, 1), (1, 5), (U, 5))),
        ], (U, 5))
        virtual(f, "numbered", (2, 3), [
            (slab((2, 3), (0, 0), (U, 1), (3, 1), (2, 3), (U, 3)), "part_%b.h5", "d", space((2, 3))),
        ], (U, 3))
        virtual(f, "nothing", (4, 5), [])


def arrays():
    with h5py.File("arrays.h5", "w", libver="latest") as f:
        d = f.create_dataset("fixed", shape=(5, 6), maxshape=(9, 11), chunks=(2, 2), dtype="i4")
        d[...] = i4(5, 6)
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk((2, 2))
        plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        made = h5d.create(f.id, b"implicit", h5t.STD_I32LE, space((5, 6), (9, 11)), plist)
        h5py.Dataset(made)[...] = i4(5, 6)
        d = f.create_dataset("second", shape=(5, 30), maxshape=(9, None), chunks=(2, 2), dtype="i4")
        d[...] = i4(5, 30)
        d = f.create_dataset("paged", shape=(600_000,), maxshape=(None,), chunks=(1,), dtype="i4", fillvalue=-1)
        places = [0, 3, 7, 200, 5000, 131_100, 132_300, 133_200, 140_000, 200_000, 262_500, 300_000, 524_300,
                  527_500, 599_999]
        for number, place in enumerate(places):
            d[place] = number
        d = f.create_dataset("paged gzip", shape=(300_000,), maxshape=(None,), chunks=(1,), dtype="i4", compression=1)
        for number, place in enumerate(places[:12]):
            d[place - 1 if place == 300_000 else place] = number
        d = f.create_dataset("fixed paged", shape=(300, 40), chunks=(2, 2), dtype="i4", fillvalue=-1)
        for row in (0, 60, 61, 299):
            d[row] = i4(40, start=row)
        d = f.create_dataset("shrunk", shape=(40, 40), maxshape=(None, None), chunks=(1, 1), dtype="i4")
        d[...] = i4(40, 40)
        d.resize((17, 13))
        for name, chunks in (("array", None), ("array in chunks", (2,))):
            d = f.create_dataset(name, shape=(3,), dtype="(2,4)i4", chunks=chunks)
            d[...] = i4(3, 2, 4)


def externals():
    i4(10, start=50).tofile("raw_a.bin")
    i4(3, start=80).tofile("raw_b.bin")
    with h5py.File("external.h5", "w") as f:
        parts = [("raw_a.bin", 8, 12), ("not there.bin", 0, 4), ("raw_b.bin", 4, h5py.h5f.UNLIMITED)]
        f.create_dataset("d", shape=(2, 4), dtype="i4", external=parts)


sources()
virtuals("old.h5", ("v110", "v110"))
virtuals("new.h5", "latest")
arrays()
externals()
values = {}
for name in ["old.h5", "new.h5", "arrays.h5"]:
    with h5py.File(name) as f:
        for key, d in f.items():
            said = {"shape": list(d[...].shape)}
            if key != "paged gzip":
                said["values"] = d[...].ravel().tolist()
            else:
                infos = [d.id.get_chunk_info(number) for number in range(d.id.get_num_chunks())]
                said["chunks"] = [[list(i.chunk_offset), i.byte_offset, i.size, i.filter_mask] for i in infos]
            values[f"{name}/{key}"] = said
# The library takes a missing external file for an error.
values["external.h5/d"] = {"shape": [2, 4], "values": [52, 53, 54, 0, 81, 82, 0, 0]}
print(json.dumps(values))
