"""Opens copies with the readers that they are meant for; prints as JSON what differs from xarray's view of the source."""
import json
import subprocess
import sys
import warnings

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
    raw = view(of_netcdf(case["source"]), case["groups"], False)
    root = zarr.open_group(case["copy"], mode="r")
    arrays = {"/" + path for path, member in root.members(max_depth=None) if isinstance(member, zarr.Array)}
    missing = {name for name in raw if name not in arrays and raw[name][1].dtype.kind not in "S"}
    if missing:
        return f"{sorted(missing)} are not there"
    for name in arrays & set(raw):
        expected, got = raw[name][1], root[name.strip("/")][...]
        if expected.dtype.kind in "OSUT":
            continue  # text is compared by xarray, which puts characters together
        if not numpy.array_equal(expected, got, equal_nan=expected.dtype.kind == "f"):
            return f"values of {name}: {expected}, got {got}"
    return None


def by_ncdump(case, address):
    ran = subprocess.run(["ncdump", address], capture_output=True)
    return None if ran.returncode == 0 else f"ended with {ran.returncode}: {ran.stderr.decode(errors='replace')[:100]}"


def readers(case):
    way, copy = case["way"], case["copy"]
    nczarr = f"file://{copy}#mode=nczarr,file"
    for masked in (True, False):
        name = "xarray" if masked else "xarray, not masked"
        if copy.endswith(".nc"):
            yield name, lambda masked=masked: compare(case["expected"][masked], view(of_netcdf(copy), case["groups"], masked))
        else:
            yield name, lambda masked=masked: compare(case["expected"][masked], view(of_zarr(copy), case["groups"], masked))
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
            views[source] = paths, {masked: view(of_netcdf(source), paths, masked) for masked in (True, False)}
        case["groups"], case["expected"] = views[source]
        for reader, check in readers(case):
            try:
                wrong = check()
            except Exception as error:  # noqa: BLE001 (whatever a reader fails with is told)
                wrong = f"{type(error).__name__}: {error}"
            checks.append([case["name"], case["way"], reader, wrong and " ".join(wrong.split())])
    print(json.dumps(checks))


main(json.load(open(sys.argv[1])))
