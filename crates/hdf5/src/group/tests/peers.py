"""Makes files with many kinds of links and prints what h5py says of them: peers.py FOLDER NAME NAME."""
import ctypes, glob, json, os, sys
import h5py
from h5py import h5, h5f, h5g, h5l, h5o, h5p

folder, equal = sys.argv[1], sys.argv[2:]


def create(name, low=h5f.LIBVER_V18, sizes=None, userblock=0):
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(low, h5f.LIBVER_LATEST)
    creation = h5p.create(h5p.FILE_CREATE)
    creation.set_userblock(userblock)
    if sizes:
        creation.set_sizes(*sizes)
    path = os.path.join(folder, name).encode()
    return h5py.File(h5f.create(path, h5f.ACC_TRUNC, creation, access))


def deflated():
    """Creation properties of a group whose heap is deflated."""
    properties = h5p.create(h5p.GROUP_CREATE)
    libraries = os.path.join(os.path.dirname(os.path.dirname(h5py.__file__)), "h5py.libs", "libhdf5-*")
    library = ctypes.CDLL(glob.glob(libraries)[0])
    library.H5Pset_deflate.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert library.H5Pset_deflate(properties.id, 6) >= 0
    return properties


def soft(group, count, length=10):
    for i in range(count):
        name = f"link {i * 7919 % count:05}"
        group[name] = h5py.SoftLink(f"/{name}".ljust(length, "x"))


with create("nested.h5") as f:
    soft(f, 6000, 160)
with create("deflated.h5") as f:
    group = h5py.Group(h5g.create(f.id, b"deflated", gcpl=deflated()))
    soft(group, 900)
    group["huge"] = h5py.SoftLink("/" + "h" * 6000)
with create("huge.h5") as f:
    soft(f, 20)
    for i in range(40):
        f[f"huge {i}"] = h5py.SoftLink("/" + f"{i}" * 3000)
with create("equal.h5") as f:
    soft(f, 200)
    for name in equal:
        f[name] = h5py.SoftLink("/" + name)
with create("tracked.h5") as f:
    soft(f.create_group("many", track_order=True), 3000)
    group = f.create_group("changed", track_order=True)
    soft(group, 8)
    del group["link 00000"], group["link 00003"]
    group["after"] = h5py.ExternalLink("tracked.h5", "/many")
    group["again"] = group
for name, low, sizes, userblock in [
    ("earliest.h5", h5f.LIBVER_EARLIEST, None, 0),
    ("narrow.h5", h5f.LIBVER_EARLIEST, (4, 2), 512),
    ("narrow_new.h5", h5f.LIBVER_LATEST, (4, 4), 0),
    ("short.h5", h5f.LIBVER_EARLIEST, (2, 2), 2048),
]:
    with create(name, low, sizes, userblock) as f:
        soft(f, 300)
        f.create_group("group")["here"] = f
        if low != h5f.LIBVER_EARLIEST:
            f["caf\u00e9"] = f["group"]


def links(group):
    info = group.id.get_create_plist()
    tracked = info.get_link_creation_order() & h5p.CRT_ORDER_TRACKED
    indexed = info.get_link_creation_order() & h5p.CRT_ORDER_INDEXED
    found = []

    def take(name, link):
        kind, value = {h5l.TYPE_SOFT: "soft", h5l.TYPE_HARD: "hard", h5l.TYPE_EXTERNAL: "external"}[link.type], None
        if kind == "soft":
            value = group.id.links.get_val(name).decode()
        elif kind == "external":
            value = [part.decode() for part in group.id.links.get_val(name)]
        else:
            value = h5o.get_info(group.id, name).addr
        found.append([name.decode(), kind, value])

    order = h5.INDEX_CRT_ORDER if tracked and indexed else h5.INDEX_NAME
    group.id.links.iterate(take, idx_type=order, info=True)
    return found


result = {}
for path in sorted(glob.glob(os.path.join(folder, "*.h5"))):
    with h5py.File(path) as f:
        groups = {"/": links(f)}
        for name in ["deflated", "many", "changed", "group"]:
            if name in f:
                groups[name] = links(f[name])
        result[os.path.basename(path)] = groups
print(json.dumps(result))
