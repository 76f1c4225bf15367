"""Makes an HDF5 file of every filter, type and precision with chunks that the edge cuts, and compares copies with it.

peer.py make FILE      writes it
peer.py check FILE COPY...  compares the values of copies (netCDF-4 files, Zarr stores) with those that h5py reads of it
peer.py updated FILE COPY EDITS  as check, but for the elements in EDITS (JSON: name -> [index, written])
"""
import json
import sys

import h5py
import hdf5plugin
import numpy as np

SHAPE, CHUNKS = (7, 59), (4, 20)
LINE, PIECES = (1000,), (96,)


def smooth(shape, ty, scale=100):
    grid = np.indices(shape)
    wave = sum(np.sin((axis + 1) * part / 7.0) for axis, part in enumerate(grid))
    low = 0 if np.dtype(ty).kind == "u" else -scale
    values = low + (wave - wave.min()) / (wave.max() - wave.min()) * (scale - low)
    return values.astype(ty) if np.dtype(ty).kind == "f" else np.rint(values).astype(ty)


def chains(ty):
    """Keyword arguments of create_dataset by name, and low-level filters."""
    ty = np.dtype(ty)
    plain = {
        "none": {},
        "deflate": dict(compression="gzip", compression_opts=3),
        "shuffle": dict(compression="gzip", shuffle=True),
        "fletcher": dict(compression="gzip", fletcher32=True),
        "lzf": dict(compression="lzf"),
        "szip": dict(compression="szip", compression_opts=("nn", 8)),
        "bitshuffle": hdf5plugin.Bitshuffle(),
        "blosc": hdf5plugin.Blosc(cname="lz4", shuffle=2),
        "blosc2": hdf5plugin.Blosc2(cname="zstd"),
        "lz4": hdf5plugin.LZ4(),
        "zstd": hdf5plugin.Zstd(),
        "bzip2": hdf5plugin.BZip2(),
    }
    if ty.kind == "f":
        plain["digits"] = dict(scaleoffset=2)
        plain["digits_gz"] = dict(scaleoffset=3, compression="gzip", shuffle=True)
    else:
        plain["bits_auto"] = dict(scaleoffset=0)
        plain["bits_fixed"] = dict(scaleoffset=9 if ty.itemsize > 1 else 7)
    if ty.itemsize >= 4 and ty.byteorder != ">":
        plain["zfp_rate"] = hdf5plugin.Zfp(rate=12)
        plain["zfp_exact"] = hdf5plugin.Zfp(reversible=True)
        if ty.kind == "f":
            plain["zfp_error"] = hdf5plugin.Zfp(accuracy=1e-3)
        plain["zfp_planes"] = hdf5plugin.Zfp(precision=18)
    return plain


def packed(file, name, base, precision, offset, shape, chunks):
    ty = base.copy()
    ty.set_precision(precision)
    ty.set_offset(offset)
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk(chunks)
    made.set_filter(5, h5py.h5z.FLAG_OPTIONAL, ())
    made.set_deflate(1)
    data = h5py.h5d.create(file.id, name.encode(), ty, h5py.h5s.create_simple(shape), made)
    signed = base.get_sign() == h5py.h5t.SGN_2
    values = smooth(shape, "i8" if signed else "u8", min(2 ** (precision - 1) - 1, 2**40))
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))


def make(path):
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        for code in ["i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8", ">i2", ">i4", ">f4", ">f8"]:
            for name, filters in chains(code).items():
                where = f"{name}_{np.dtype(code).str.replace('<', 'l').replace('>', 'b').replace('|', 'n')}"
                file.create_dataset(f"plane_{where}", data=smooth(SHAPE, code), chunks=CHUNKS, **filters)
                data = file.create_dataset(f"line_{where}", LINE, code, chunks=PIECES, maxshape=(None,), fillvalue=5, **filters)
                # The second chunk is never written.
                values = smooth(LINE, code)
                data[:96] = values[:96]
                data[192:] = values[192:]
        for name, base in [
            ("li2", h5py.h5t.STD_I16LE), ("bi2", h5py.h5t.STD_I16BE), ("lu2", h5py.h5t.STD_U16LE),
            ("li4", h5py.h5t.STD_I32LE), ("bi8", h5py.h5t.STD_I64BE), ("lu8", h5py.h5t.STD_U64LE),
        ]:
            all_bits = 8 * base.get_size()
            for precision, offset in [(all_bits - 6, 0), (all_bits - 6, 3), (all_bits, 0), (all_bits - 5, 5)]:
                packed(file, f"plane_nbit{precision}_{offset}_{name}", base, precision, offset, SHAPE, CHUNKS)


def values_of(copy, name, source):
    """What a peer decodes; None when it has no such codec."""
    if isinstance(copy, h5py.File):
        return copy[name][...]
    try:
        return copy[name][...]
    except ValueError as error:
        if "codec not available" in str(error):
            return None
        raise
    except Exception as error:
        if "not available" in str(error) or "Unknown codec" in str(error) or "UnknownCodec" in type(error).__name__:
            return None
        raise


def opened(path):
    if path.endswith(".nc"):
        return h5py.File(path)
    import zarr

    return zarr.open_group(path, mode="r", use_consolidated=False)


def bits(values):
    return np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()


# What zarr-python does not have; a copy reports it.
LACKING = {"bitshuffle", "blosc2", "lzf", "nbit", "scaleoffset", "szip"}


def is_lacking(path, name, error):
    if "zarr" not in path:
        return False
    is_zfp = path.endswith(".zarr3") and "_zfp_" in name
    if type(error).__name__ == "UnknownCodecError":
        # zarr-python 3.4 reports this before it looks at the chain of codecs.
        return any(f"'{codec}'" in str(error) for codec in LACKING) or (is_zfp and "'zfpy'" in str(error))
    # Its codec zfpy of v3 makes bytes of arrays, and wants no codec "bytes" beside it, which others write (3.1).
    return is_zfp and "ArrayBytesCodec" in str(error)


def check(source, copies, edits=None):
    faults, checked = [], 0
    with h5py.File(source) as file:
        for path in copies:
            copy = opened(path)
            for name in file:
                want = file[name][...]
                try:
                    have = values_of(copy, name, file)
                except Exception as error:
                    if is_lacking(path, name, error):
                        continue
                    faults.append(f"{path} {name}: {type(error).__name__}: {error}")
                    continue
                if have is None:
                    continue
                checked += 1
                if edits is not None:
                    if name not in edits:
                        continue
                    index, written = edits[name]
                    want = want.copy()
                    want.reshape(-1)[index] = have.reshape(-1)[index]
                    if abs(float(have.reshape(-1)[index]) - written) > 1.0:
                        faults.append(f"{path} {name}: {have.reshape(-1)[index]} instead of {written}")
                if have.shape != want.shape or bits(have.astype(want.dtype)) != bits(want):
                    wrong = np.argwhere(np.asarray(have) != want) if have.shape == want.shape else []
                    first = tuple(wrong[0]) if len(wrong) else ()
                    faults.append(f"{path} {name}: {len(wrong)} wrong, at {first} {have[first]} instead of {want[first]}")
    print(json.dumps({"checked": checked, "faults": faults}))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "check":
        check(sys.argv[2], sys.argv[3:])
    else:
        check(sys.argv[2], [sys.argv[3]], json.loads(sys.argv[4]))
