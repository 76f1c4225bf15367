"""What is checked before values are added to variables that are there: that both mean the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from xarray import Variable as XarrayVariable
from xarray import conventions

from ncirrus.xarray import blocks, reading


def check_append_dim(job: Any, dataset: xr.Dataset) -> None:
    """The dimension is there, in what is stored and in what is added."""
    dim = job.append_dim
    stored = {name: length for v in job.existing.values() for name, length in zip(v.dims, v.shape)}
    if job.existing and dim not in stored:
        raise ValueError(f"append_dim={dim!r} does not match any existing dataset dimensions {stored}")
    if dim not in dataset.dims:
        raise ValueError(f"append_dim={dim!r} is not a dimension of the dataset to append: {dict(dataset.sizes)}")


def let_grow(job: Any) -> None:
    """Makes the dimension unlimited where the store has none that are, as Zarr by itself."""
    group = job.store.ds
    while group is not None:
        found = group.dims.get(job.append_dim)
        if found is not None:
            if not found._handle.grows():
                group.make_unlimited(job.append_dim)
            return
        group = group.parent


def grow_uneven(job: Any, name: Any, variable: XarrayVariable, offset: Any) -> None:
    """Makes a variable whose chunks differ in length as long as it will be: one append adds one chunk, however it is written."""
    stored = job.existing[name]
    if stored.chunk_lengths is not None:
        end = [begin + length for begin, length in zip(offset, variable.shape)]
        stored.grow_to([max(length, now) for length, now in zip(end, stored.shape)])


def settled_region(job: Any, dataset: xr.Dataset) -> tuple[xr.Dataset, dict[Any, slice]]:
    """The region with all its ends; `"auto"` is found by the coordinates. Indices are not written again."""
    region = job.region
    if region is None:
        return dataset, {}
    if isinstance(region, str) and region == "auto":
        region = dict.fromkeys(dataset.dims, "auto")
    if not isinstance(region, dict):
        raise TypeError(f"region must be a dict, got {type(region).__name__}")
    settled = {}
    for dim, part in region.items():
        if dim not in dataset.dims:
            raise ValueError(f"region names {dim!r}, which is not a dimension of the dataset: {list(dataset.dims)}")
        if isinstance(part, str) and part == "auto":
            part = _found_by_coordinate(job, dataset, dim)
        if not isinstance(part, slice):
            raise TypeError(f"region[{dim!r}] must be a slice or 'auto', got {part!r}")
        settled[dim] = _with_ends(job, dataset, dim, part)
    if job.append_dim is not None and job.append_dim in settled:
        raise ValueError(f"{job.append_dim!r} is in append_dim and in region")
    apart = [name for name, variable in dataset.variables.items() if not set(settled) & set(variable.dims)]
    if settled and apart:
        raise ValueError(
            f"variables {apart!r} share no dimension with the region {list(settled)}: drop them with "
            f".drop_vars({apart!r})"
        )
    return dataset.drop_vars(list(dataset.indexes)), settled


def _with_ends(job: Any, dataset: xr.Dataset, dim: Any, part: slice) -> slice:
    if part.step not in (None, 1):
        raise ValueError(f"region[{dim!r}]={part}: the step must be 1")
    length = _stored_length(job, dim)
    start, stop, _ = part.indices(length)
    if part.stop is not None and part.stop > length:
        raise ValueError(f"region[{dim!r}]={part} ends after the {length} that are stored")
    if stop - start != dataset.sizes[dim]:
        raise ValueError(f"region[{dim!r}]={part} has {stop - start} of {length}, the dataset {dataset.sizes[dim]}")
    return slice(start, stop)


def _stored_length(job: Any, dim: Any) -> int:
    for variable in job.existing.values():
        if dim in variable.dims:
            return int(variable.shape[variable.dims.index(dim)])
    raise ValueError(f"region names {dim!r}, which is not a dimension of the stored dataset")


def _found_by_coordinate(job: Any, dataset: xr.Dataset, dim: Any) -> slice:
    if dim not in dataset.variables:
        return slice(0, dataset.sizes[dim])
    if dim not in job.existing:
        raise ValueError(f"region 'auto' needs the coordinate {dim!r}, which is not stored")
    stored = pd.Index(_decoded(job.existing[dim], dim).values)
    places = stored.get_indexer(pd.Index(dataset[dim].values))
    if (places == -1).any():
        missing = dataset[dim].values[int(np.argmax(places == -1))]
        raise KeyError(f"Not all values of coordinate '{dim}' are stored: {missing!r} is not")
    if (np.diff(places) != 1).any():
        raise ValueError(f"The auto-detected region of coordinate '{dim}' has non-contiguous indices")
    return slice(int(places[0]), int(places[-1]) + 1)


def _decoded(variable: Any, name: Any) -> XarrayVariable:
    found = reading.variable_of(variable, fill_as_mask=None)
    return conventions.decode_cf_variable(name, found)


def checked(job: Any, variables: dict[Any, XarrayVariable], region: dict[Any, slice]) -> dict[Any, Any]:
    """Variables that are there, encoded exactly as what is stored, with the place where they begin.

    Raises `ValueError` with the value where one cannot be stored so, has other dimensions, or does not go on.
    """
    encoded = {}
    for name, variable in variables.items():
        stored = job.existing[name]
        like = _decoded(stored, name)
        variable = _arranged(job, name, variable, stored, region)
        if job.append_dim is not None and job.append_dim not in variable.dims and name in variable.dims:
            _check_equal(name, variable, like)
        variable = variable.copy(deep=False)
        variable.encoding = {
            key: value for key, value in like.encoding.items() if key not in ("chunksizes", "preferred_chunks")
        }
        plain = _encoded_exactly(job, name, variable, stored, like)
        offset = tuple(
            stored.shape[axis] if dim == job.append_dim else region[dim].start if dim in region else 0
            for axis, dim in enumerate(plain.dims)
        )
        if job.append_dim is not None and (job.append_dim,) == plain.dims and name == job.append_dim:
            _check_goes_on(name, plain, stored)
        encoded[name] = (plain, offset)
    return encoded


def _arranged(job: Any, name: Any, variable: XarrayVariable, stored: Any, region: dict[Any, slice]) -> XarrayVariable:
    """The variable with its dimensions in the stored order and of the stored lengths."""
    dims = tuple(stored.dims)
    is_text = variable.dtype.kind in "SUO" and len(dims) == variable.ndim + 1
    if is_text:
        dims = dims[:-1]
    if variable.dims != dims:
        if set(variable.dims) != set(dims):
            raise ValueError(
                f"variable {name!r} already exists with different dimension names {dims} != {variable.dims}"
            )
        variable = variable.transpose(*dims)
    for axis, dim in enumerate(dims):
        if dim == job.append_dim or dim in region:
            continue
        if variable.shape[axis] != stored.shape[axis]:
            raise ValueError(
                f"variable {name!r} already exists with different dimension sizes: {dim!r} is {stored.shape[axis]} "
                f"there and {variable.shape[axis]} here; append_dim={job.append_dim!r}, region={region!r}"
            )
    return variable


def _check_equal(name: Any, variable: XarrayVariable, stored: XarrayVariable) -> None:
    ours, theirs = np.asarray(variable.values), np.asarray(stored.values)
    if ours.shape == theirs.shape and variable.equals(stored):
        return
    both = zip(ours.ravel(), theirs.ravel())
    at, (here, there) = next((at, pair) for at, pair in enumerate(both) if not _same(*pair))
    raise ValueError(
        f"coordinate {name!r} differs from what is stored: at {at} it is {here!r}, and {there!r} is stored; "
        "an append does not change it"
    )


def _same(here: Any, there: Any) -> bool:
    return bool(here == there) or (here != here and there != there)


def _encoded_exactly(
    job: Any, name: Any, variable: XarrayVariable, stored: Any, like: XarrayVariable
) -> XarrayVariable:
    """The variable in the stored units, packing and type; every value comes back as it is, but for the rounding of
    floats to the stored precision."""
    wanted = np.dtype(reading.dtype_of(stored))
    if variable.dtype.kind in "mM" or _holds_times(variable):
        return _times_exactly(job, name, variable, wanted, like)
    with np.errstate(invalid="ignore", over="ignore"):
        encoded: XarrayVariable = job.store.encode({name: variable}, {})[0][name]
        if wanted.kind in "SUO" or encoded.dtype.kind in "SUO":
            _check_text(name, encoded, stored)
            return encoded
        if encoded.dtype != wanted:
            encoded = XarrayVariable(encoded.dims, encoded.data.astype(wanted), encoded.attrs)
    told = {key: like.encoding[key] for key in _MEANING if key in like.encoding}
    told |= {key: like.attrs[key] for key in _MEANING if key in like.attrs}
    check = _Check(name, wanted, told)
    if not blocks.is_dask(encoded.data) and not blocks.is_dask(variable.data):
        return XarrayVariable(encoded.dims, check(variable.values, encoded.values), encoded.attrs)
    import dask.array

    given = dask.array.asarray(variable.data).rechunk(encoded.data.chunks)
    data = dask.array.map_blocks(check, given, encoded.data, dtype=wanted, meta=encoded.data._meta)
    return XarrayVariable(encoded.dims, data, encoded.attrs)


# What numbers mean by the CF conventions.
_MEANING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned", "dtype")


class _Check:
    """Refuses encoded values that come back as others."""

    def __init__(self, name: Any, wanted: np.dtype[Any], told: dict[str, Any]) -> None:
        self._name = name
        self._wanted = wanted
        self._told = {key: value for key, value in told.items() if key != "dtype" or isinstance(value, str)}
        self._is_packed = "scale_factor" in told or "add_offset" in told

    def __call__(self, given: Any, encoded: Any) -> Any:
        given, encoded = np.asarray(given), np.asarray(encoded)
        dims = tuple(f"d{axis}" for axis in range(encoded.ndim))
        back = np.asarray(
            conventions.decode_cf_variable(self._name, XarrayVariable(dims, encoded, self._told)).values
        )
        bad = ~self._same(given, back)
        if bad.any():
            value, came = given[bad].ravel()[0], back[bad].ravel()[0]
            packing = {key: np.asarray(value).item() for key, value in self._told.items()}
            how = f"{self._wanted}{f' with {packing}' if packing else ''}"
            raise ValueError(
                f"variable {self._name!r}: {value!s} cannot be stored exactly as {how}, as in the stored variable: it would "
                f"be read as {came!s}"
            )
        return encoded

    def _same(self, given: Any, back: Any) -> Any:
        with np.errstate(invalid="ignore", over="ignore"):
            same = given == back
            same |= (given != given) & (back != back)
            if given.dtype.kind == "f" or back.dtype.kind == "f":
                is_single = np.float32 in (given.dtype, back.dtype, self._wanted)
                near = np.abs(given - back) <= np.abs(given) * (3e-7 if is_single else 1e-15)
                same |= near & np.isfinite(given) & np.isfinite(back)
            return same


def _holds_times(variable: XarrayVariable) -> bool:
    """Whether values are times of cftime."""
    if variable.dtype.kind != "O" or not variable.size:
        return False
    first = variable[(0,) * variable.ndim].values.item()
    return type(first).__module__.startswith("cftime")


def _times_exactly(
    job: Any, name: Any, variable: XarrayVariable, wanted: np.dtype[Any], like: XarrayVariable
) -> XarrayVariable:
    """Times in the stored units. xarray would silently choose others where these do not fit."""
    loaded = variable.copy(deep=False, data=variable.values)
    told = {key: like.encoding[key] for key in _TIMES if key in like.encoding}
    encoded, bad = _encoded_times(job, name, loaded, like.encoding, told, wanted)
    if not bad.any():
        return encoded
    # As fractions of the stored units: the error names those that are not whole numbers.
    exact = {**like.encoding, "dtype": np.dtype("f8")}
    fractions = np.asarray(_encoded_times(job, name, loaded, exact, told, np.dtype("f8"))[0].values)
    uneven = fractions != np.rint(fractions)
    value = loaded.values[uneven if uneven.any() and wanted.kind in "iu" else bad].ravel()[0]
    calendar = told.get("calendar")
    raise ValueError(
        f"variable {name!r}: the time {_shown(value)} cannot be stored exactly as {wanted} in {told.get('units')!r}"
        f"{f' ({calendar})' if calendar else ''}, as in the stored variable"
    )


_TIMES = ("units", "calendar", "_FillValue", "missing_value")


def _encoded_times(
    job: Any, name: Any, loaded: XarrayVariable, encoding: dict[Any, Any], told: dict[str, Any], wanted: np.dtype[Any]
) -> tuple[XarrayVariable, Any]:
    """Times as numbers of that type, and which of them are read back as other times in the given units."""
    given = loaded.copy(deep=False)
    given.encoding = dict(encoding)
    with warnings.catch_warnings(), np.errstate(invalid="ignore", over="ignore"):
        warnings.simplefilter("ignore")
        encoded = job.store.encode({name: given}, {})[0][name]
        cast = np.asarray(encoded.values).astype(wanted)
        meant = XarrayVariable(encoded.dims, cast, told)
        # Numbers that were made for other units may be no times at all in these.
        try:
            back = conventions.decode_cf_variable(name, meant, decode_timedelta=True).values
        except (ValueError, OverflowError):
            return XarrayVariable(encoded.dims, cast, encoded.attrs), np.ones(loaded.shape, bool)
    return XarrayVariable(encoded.dims, cast, encoded.attrs), ~_same_times(loaded.values, np.asarray(back))


def _shown(value: Any) -> str:
    return str(np.datetime_as_string(value, unit="s")) if isinstance(value, np.datetime64) else str(value)


def _same_times(ours: Any, theirs: Any) -> Any:
    if ours.dtype.kind in "mM" and theirs.dtype.kind in "mM":
        return (ours == theirs) | (np.isnat(ours) & np.isnat(theirs))
    return np.asarray(ours == theirs, dtype=bool)


def _check_text(name: Any, encoded: XarrayVariable, stored: Any) -> None:
    is_chars = encoded.ndim == len(stored.dims) and encoded.dtype.kind == "S" and encoded.ndim > 0
    if is_chars and encoded.shape[-1] > stored.shape[-1]:
        raise ValueError(
            f"variable {name!r}: text of {encoded.shape[-1]} bytes does not fit the {stored.shape[-1]} that are stored"
        )


def _check_goes_on(name: Any, encoded: XarrayVariable, stored: Any) -> None:
    """The axis continues: what is added lies beyond what is there, in the same direction."""
    if not stored.shape[0] or not encoded.size or encoded.dtype.kind not in "iuf":
        return
    last = np.asarray(stored[max(0, stored.shape[0] - 2) :])
    added = np.asarray(encoded.values)
    joined = np.concatenate([last.astype("f8"), added.astype("f8")])
    steps = np.diff(joined)
    is_falling = len(last) > 1 and last[1] < last[0]
    bad = steps >= 0 if is_falling else steps <= 0
    bad[: len(last) - 1] = False
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"coordinate {name!r} does not continue: {joined[at + 1]!r} follows {joined[at]!r}"
            f"{' on a falling axis' if is_falling else ''} (encoded values)"
        )
