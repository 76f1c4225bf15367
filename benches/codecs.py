"""Compares every codec with numcodecs and the HDF5 filters on one thread, and prints a table.

usage: codecs.py [RUNS [NAME ...]]. Needs h5py, hdf5plugin, numcodecs and numpy. Chunks have 4 MiB. A cell is the
speed of ncirrus in MiB/s of decoded bytes, and the ratio of its time to the peer's (below 1: ncirrus takes less). Both
decode the bytes that the peer encoded, alternating; the smallest times of RUNS rounds count. Filters of plugins are
called directly, those of the HDF5 library itself by reading and writing a chunk in memory.
"""
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import h5py
import hdf5plugin
import numcodecs
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
wanted = sys.argv[2:]
SHAPE = (1024, 1024)
random = np.random.default_rng(1)
x, y = np.meshgrid(np.arange(1024), np.arange(1024))
field = (280 + 20 * np.sin(x / 90) * np.cos(y / 70) + random.normal(0, 0.05, SHAPE)).astype("f4").round(2)
smooth = (280 + 20 * np.sin(x / 90) * np.cos(y / 70)).astype("f4")
integers = (field * 100).astype("i4")
file = h5py.File("bench.h5", "w", driver="core", backing_store=False, libver="latest", rdcc_nbytes=0)
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def best(action, count=3):
    """The smallest time of a few runs; an action may return the time of its measured part."""
    least = float("inf")
    for _ in range(count):
        start = time.perf_counter()
        took = action()
        least = min(least, took if isinstance(took, float) else time.perf_counter() - start)
    return least


class Numcodecs:
    def __init__(self, config, array):
        self.codec, self.array = numcodecs.get_codec(dict(config)), array
        numcodecs.blosc.set_nthreads(1)
        self.specs = [config]
        self.encoded = np.ascontiguousarray(self.codec.encode(array)).tobytes()
        self.out = np.empty_like(array)

    def encode(self):
        return best(lambda: self.codec.encode(self.array))

    def decode(self):
        if self.codec.codec_id in ("fixedscaleoffset", "quantize", "bitround", "astype", "delta", "packbits"):
            encoded = np.frombuffer(self.encoded, getattr(self.codec, "astype", getattr(self.codec, "encode_dtype", "u1")))
            return best(lambda: self.codec.decode(encoded))
        return best(lambda: self.codec.decode(self.encoded, self.out))


class Library:
    """A chunk through the HDF5 library."""

    def __init__(self, filters, array, tid=None, **options):
        name = f"d{len(file)}"
        self.array = array
        if tid is None:
            self.dataset = file.create_dataset(name, data=array, chunks=array.shape, **options).id
        else:
            dcpl = h5p.create(h5p.DATASET_CREATE)
            dcpl.set_chunk(array.shape)
            for number in filters:
                dcpl.set_filter(number, h5z.FLAG_OPTIONAL, ())
            self.dataset = h5d.create(file.id, name.encode(), tid, h5s.create_simple(array.shape), dcpl)
            self.dataset.write(h5s.ALL, h5s.ALL, array, mtype=tid)
        self.tid = self.dataset.get_type()
        mask, self.encoded = self.dataset.read_direct_chunk((0,) * array.ndim)
        assert mask == 0, "the filter was skipped"
        dcpl = self.dataset.get_create_plist()
        filters = [dcpl.get_filter(i) for i in range(dcpl.get_nfilters())]
        self.specs = [{"hdf5": code, "parameters": list(values)} for code, _, values, _ in filters]
        self.out = np.empty_like(array)

    def encode(self):
        return best(lambda: self.dataset.write(h5s.ALL, h5s.ALL, self.array, mtype=self.tid))

    def decode(self):
        return best(lambda: self.dataset.read(h5s.ALL, h5s.ALL, self.out, mtype=self.tid))


class FilterClass(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int), ("id", ctypes.c_int), ("encoder", ctypes.c_uint), ("decoder", ctypes.c_uint),
        ("name", ctypes.c_char_p), ("can_apply", ctypes.c_void_p), ("set_local", ctypes.c_void_p),
        ("filter", ctypes.CFUNCTYPE(
            ctypes.c_size_t, ctypes.c_uint, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint), ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_void_p))),
    ]


def plugin(number):
    for path in glob.glob(os.path.join(hdf5plugin.PLUGIN_PATH, "*.so")):
        library = ctypes.CDLL(path)
        library.H5PLget_plugin_info.restype = ctypes.POINTER(FilterClass)
        found = library.H5PLget_plugin_info().contents
        if found.id == number:
            return found.filter
    raise RuntimeError(f"no plugin for filter {number}")


class Plugin(Library):
    """The filter of a plugin, called directly."""

    def __init__(self, array, options):
        super().__init__(None, array, **options)
        (spec,) = self.specs
        self.filter = plugin(spec["hdf5"])
        self.values = (ctypes.c_uint * len(spec["parameters"]))(*spec["parameters"])

    def call(self, flags, data, room):
        size, buffer = ctypes.c_size_t(room), ctypes.c_void_p(libc.malloc(room))
        ctypes.memmove(buffer, data, len(data))
        start = time.perf_counter()
        count = self.filter(flags, len(self.values), self.values, len(data), ctypes.byref(size), ctypes.byref(buffer))
        took = time.perf_counter() - start
        assert count > 0, "the filter failed"
        libc.free(buffer)
        return took

    def encode(self):
        data = self.array.tobytes()
        return best(lambda: self.call(0, data, len(data)))

    def decode(self):
        return best(lambda: self.call(0x100, self.encoded, len(self.encoded)))


def bits(base, precision, offset):
    tid = base.copy()
    tid.set_precision(precision)
    tid.set_offset(offset)
    return tid


def codec(id, array, **config):
    return lambda: Numcodecs({"id": id, **config}, array)


def native(array, **options):
    return lambda: Library(None, array, **options)


def direct(array, options):
    return lambda: Plugin(array, options)


def blosc(cname, shuffle):
    return codec("blosc", field, cname=cname, clevel=5, shuffle=shuffle, blocksize=0)


cases = {
    "zlib": codec("zlib", field, level=4), "gzip": codec("gzip", field, level=4), "zstd": codec("zstd", field, level=3),
    "lz4": codec("lz4", integers), "bz2": codec("bz2", field, level=5), "lzma": codec("lzma", field, preset=1),
    "blosc lz4 shuffle": blosc("lz4", 1), "blosc zstd bitshuffle": blosc("zstd", 2), "blosc blosclz shuffle": blosc("blosclz", 1),
    "shuffle": codec("shuffle", field, elementsize=4), "fletcher32": codec("fletcher32", field),
    "crc32": codec("crc32", field), "crc32c": codec("crc32c", field), "adler32": codec("adler32", field),
    "delta": codec("delta", integers, dtype="<i4"), "bitround": codec("bitround", field, keepbits=10),
    "quantize": codec("quantize", field, digits=1, dtype="<f4", astype="<f4"),
    "fixedscaleoffset": codec("fixedscaleoffset", field, offset=280, scale=100, dtype="<f4", astype="<i2"),
    "astype": codec("astype", integers, encode_dtype="<i2", decode_dtype="<i4"),
    "packbits": codec("packbits", field > 280),
    "HDF5 deflate": native(field, compression="gzip", compression_opts=4), "HDF5 szip nn": native(integers, compression="szip", compression_opts=("nn", 16)),
    "HDF5 szip nn 16": native((integers // 4).astype("<i2"), compression="szip", compression_opts=("nn", 16)),
    "HDF5 nbit": lambda: Library([5], integers & 0x1FFFF, bits(h5t.STD_I32LE, 17, 0)),
    "HDF5 scaleoffset int": native(integers, scaleoffset=0), "HDF5 scaleoffset float": native(field, scaleoffset=2),
    "HDF5 lzf shuffle": native(field, compression="lzf", shuffle=True),
    "HDF5 bzip2": direct(field, hdf5plugin.BZip2(5)), "HDF5 zstd": direct(field, hdf5plugin.Zstd(3)), "HDF5 lz4": direct(integers, hdf5plugin.LZ4()),
    "HDF5 blosc snappy": direct(field, hdf5plugin.Blosc("snappy", 5, 1)),
    "bitshuffle": direct(field, hdf5plugin.Bitshuffle(cname="none")), "bitshuffle lz4": direct(field, hdf5plugin.Bitshuffle(cname="lz4")),
    "bitshuffle zstd": direct(field, hdf5plugin.Bitshuffle(cname="zstd", clevel=3)),
    "blosc2 lz4 shuffle": direct(field, hdf5plugin.Blosc2("lz4", 5, 1)), "blosc2 lz4 bitshuffle": direct(field, hdf5plugin.Blosc2("lz4", 5, 2)),
    "blosc2 zstd shuffle": direct(field, hdf5plugin.Blosc2("zstd", 5, 1)), "blosc2 zlib shuffle": direct(field, hdf5plugin.Blosc2("zlib", 5, 1)), "blosc2 blosclz": direct(field, hdf5plugin.Blosc2("blosclz", 5, 1)),
    "zfp rate 8": direct(smooth, hdf5plugin.Zfp(rate=8)), "zfp accuracy": direct(smooth, hdf5plugin.Zfp(accuracy=0.01)),
    "zfp reversible": direct(field, hdf5plugin.Zfp(reversible=True)),
    "zfp 3-D": direct(smooth.reshape(16, 256, 256), hdf5plugin.Zfp(accuracy=0.001)), "zfp 1-D": direct(smooth.reshape(-1), hdf5plugin.Zfp(accuracy=0.001)),
}


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    command = ["cargo", "bench", "--quiet", "-p", "ncirrus-codec", "--bench", "codecs", "--", "serve"]
    ours = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print("| codec | decode | | encode | | bytes | |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in cases.items():
            if wanted and not any(word in name for word in wanted):
                continue
            try:
                peer = make()
            except (RuntimeError, AssertionError, ValueError) as error:
                print(f"| {name} | {error} |")
                continue
            path = os.path.join(folder, "case")
            for suffix, data in ((".raw", peer.array.tobytes()), (".encoded", peer.encoded)):
                with open(path + suffix, "wb") as out:
                    out.write(data)
            request = {"path": path, "specs": peer.specs, "shape": peer.array.shape, "size": peer.array.itemsize}
            theirs, mine = [float("inf")] * 2, {"decode": float("inf"), "encode": float("inf"), "bytes": 0}
            for _ in range(runs):
                theirs = [min(theirs[0], peer.decode()), min(theirs[1], peer.encode())]
                ours.stdin.write(json.dumps(request) + "\n")
                ours.stdin.flush()
                answer = json.loads(ours.stdout.readline())
                mine = {"decode": min(mine["decode"], answer["decode"]), "encode": min(mine["encode"], answer["encode"]), "bytes": answer["bytes"]}
            speed = lambda seconds: f"{peer.array.nbytes / seconds / (1 << 20):.0f} MiB/s"
            print(f"| {name} | {speed(mine['decode'])} | {mine['decode'] / theirs[0]:.2f} | {speed(mine['encode'])} | {mine['encode'] / theirs[1]:.2f} "
                  f"| {mine['bytes']} | {mine['bytes'] / len(peer.encoded):.2f} |", flush=True)


main()
