"""Opens copies with the readers that they are meant for; prints as JSON what differs from xarray's view of the source."""
import json
import subprocess
import sys
import warnings

import fsspec
import netCDF4
import numpy
import xarray
import zarr

warnings.simplefilter("ignore")


def groups(path):
    with netCDF4.Dataset(path) as dataset:
        found = ["/"]
        stack = list(dataset.groups.values())
        while stack:
            group = stack.pop()
            found.append(group.path)
            stack.extend(group.groups.values())
    return sorted(found)


def view(open_group, paths, masked):
    found = {}
    for path in paths:
        with open_group(path, masked) as dataset:
            for name, variable in dataset.variables.items():
                found[f"{path.rstrip('/')}/{name}"] = (variable.dims, numpy.asarray(variable.values))
    return found


def of_netcdf(path):
    return lambda group, masked: xarray.open_dataset(
        path, group=group, engine="netcdf4", decode_times=False, mask_and_scale=masked, decode_coords=False)


def of_zarr(path):
    return lambda group, masked: xarray.open_zarr(
        path, group=group.strip("/") or None, decode_times=False, mask_and_scale=masked, decode_coords=False)


def referred(path):
    files = fsspec.filesystem("reference", fo=path, remote_protocol="file", asynchronous=True,
                              remote_options={"asynchronous": True}, skip_instance_cache=True)
    return zarr.storage.FsspecStore(files, read_only=True, path="")


def of_references(path):
    return lambda group, masked: xarray.open_dataset(
        referred(path), engine="zarr", consolidated=True, zarr_format=2, group=group.strip("/") or None,
        decode_times=False, mask_and_scale=masked, decode_coords=False, chunks=None)


def texts(values):
    plain = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in values.ravel().tolist()]
    return [one.rstrip("\0") for one in plain]


def differs(name, expected, got):
    (dims, values), (other_dims, other) = expected, got
    if dims != other_dims:
        return f"dimensions of {name}: {dims}, got {other_dims}"
    is_text = [array.dtype.kind in "OSUT" for array in (values, other)]
    if is_text[0] != is_text[1] or (not is_text[0] and values.dtype.newbyteorder("=") != other.dtype.newbyteorder("=")):
        return f"type of {name}: {values.dtype}, got {other.dtype}"
    same = texts(values) == texts(other) if is_text[0] else numpy.array_equal(
        values, other, equal_nan=values.dtype.kind == "f")
    return None if same and values.shape == other.shape else f"values of {name}: {values}, got {other}"


def compare(expected, got):
    if set(expected) != set(got):
        return f"variables {sorted(expected)}, got {sorted(got)}"
    return next(filter(None, (differs(name, expected[name], got[name]) for name in expected)), None)


def by_zarr_python(case):
    raw = case["expected"][False]
    root = zarr.open_group(case["copy"], mode="r") if case["way"] != "reference" else zarr.open_group(
        referred(case["copy"]), mode="r", zarr_format=2)
    arrays = {"/" + path for path, member in root.members(max_depth=None) if isinstance(member, zarr.Array)}
    if set(raw) != arrays:
        return f"arrays {sorted(raw)}, got {sorted(arrays)}"
    for name in sorted(arrays):
        expected, got = raw[name][1], numpy.asarray(root[name.strip("/")][...])
        if expected.dtype.kind in "OSUT":
            if got.dtype.kind not in "OSUT":
                return f"type of {name}: {expected.dtype}, got {got.dtype}"
            continue  # the values of text are compared by xarray, which puts characters together
        if expected.dtype.newbyteorder("=") != got.dtype.newbyteorder("="):
            return f"type of {name}: {expected.dtype}, got {got.dtype}"
        if not numpy.array_equal(expected, got, equal_nan=expected.dtype.kind == "f"):
            return f"values of {name}: {expected}, got {got}"
    return None


def dumped(address):
    """The data that ncdump prints: not the definitions, whose types and unlimited dimensions kinds do not all have."""
    ran = subprocess.run(["ncdump", address], capture_output=True)
    if ran.returncode != 0:
        raise OSError(f"ncdump ended with {ran.returncode}: {ran.stderr.decode(errors='replace').rpartition(': ')[2]}")
    found, within = [], False
    for line in ran.stdout.decode().splitlines():
        word = line.strip()
        if word == "data:":
            within = True
        elif word.startswith(("group:", "} // group")):
            within = False
            found.append(word)
        elif within:
            found.append(" ".join(line.replace("{", "").replace("}", "").split()))
    return " ".join(found).split(";")


def by_ncdump(case, address):
    expected, got = case["dumped"], dumped(address)
    if len(expected) != len(got):
        return f"{len(expected)} variables, got {len(got)}"
    return next((f"data {one[:80]}, got {other[:80]}" for one, other in zip(expected, got) if one != other), None)


def readers(case):
    way, copy = case["way"], case["copy"]
    nczarr = f"file://{copy}#mode=nczarr,file"
    opened = of_netcdf(copy) if copy.endswith(".nc") else of_references(copy) if way == "reference" else of_zarr(copy)
    for masked in (True, False):
        name = "xarray" if masked else "xarray, not masked"
        yield name, lambda masked=masked: compare(case["expected"][masked], view(opened, case["groups"], masked))
        if way == "att":
            yield name.replace("xarray", "netCDF4"), lambda masked=masked: compare(
                case["expected"][masked], view(of_netcdf(nczarr), case["groups"], masked))
    if copy.endswith(".nc"):
        yield "ncdump", lambda: by_ncdump(case, copy)
    else:
        yield "zarr-python", lambda: by_zarr_python(case)
    if way == "uc":
        yield "ncdump", lambda: by_ncdump(case, nczarr)


def main(cases):
    checks, views = [], {}
    for case in cases:
        source = case["source"]
        if source not in views:
            paths = groups(source)
            seen = {masked: view(of_netcdf(source), paths, masked) for masked in (True, False)}
            views[source] = paths, seen, dumped(source)
        case["groups"], case["expected"], case["dumped"] = views[source]
        for reader, check in readers(case):
            try:
                wrong = check()
            except Exception as error:  # noqa: BLE001 (whatever a reader fails with is told)
                wrong = f"{type(error).__name__}: {error}"
            checks.append([case["name"], case["way"], reader, wrong and " ".join(wrong.split())])
    print(json.dumps(checks))


main(json.load(open(sys.argv[1])))
