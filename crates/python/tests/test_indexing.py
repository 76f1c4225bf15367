"""Indexing means what numpy means, whatever the storage."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as hnp

import ncirrus

CASES = int(os.environ.get("NCIRRUS_INDEX_CASES", "300"))
SHAPE = (7, 5, 9)
_settings = settings(
    max_examples=CASES,
    deadline=None,
    # The same cases each time, unless more are asked for.
    derandomize="NCIRRUS_INDEX_CASES" not in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def _values() -> Any:
    return np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE)


def _made(path: Path, kind: str, dtype: Any = "i4", grows: bool = False, **how: Any) -> Any:
    values = _values() if dtype == "i4" else np.array([f"s{n}" for n in _values().flat], dtype=object).reshape(SHAPE)
    with ncirrus.create(str(path), kind) as ds:
        for name, length in zip("tyx", SHAPE):
            ds.create_dimension(name, None if grows and name == "t" else length)
        ds.create_variable("v", dtype, ("t", "y", "x"), **how)[...] = values
        if grows:
            # A second variable, so that records of the first do not lie one after the other.
            ds.create_variable("w", "i4", ("t",))[...] = np.arange(SHAPE[0])
    return ncirrus.open(str(path))["v"], values


def _sharded(path: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    values = _values()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr.open_group(str(path), mode="w", zarr_format=3)
        array = group.create_array(
            "v", shape=SHAPE, shards=(4, 4, 6), chunks=(2, 2, 3), dtype="i4", dimension_names=["t", "y", "x"]
        )
        array[...] = values
    return ncirrus.open(str(path))["v"], values


def _aggregated(path: Path) -> Any:
    values = _values()
    path.mkdir()
    parts = [(0, 3), (3, 4), (4, 7)]
    for start, stop in parts:
        with ncirrus.create(str(path / f"p{start}.nc"), "nc3") as ds:
            for name, length in zip("tyx", (None, *SHAPE[1:])):
                ds.create_dimension(name, length)
            ds.create_variable("t", "i4", ("t",))[:] = np.arange(start, stop)
            ds.create_variable("v", "i4", ("t", "y", "x"))[:] = values[start:stop]
    master = str(path / "all.nc")
    ncirrus.aggregate([str(path / f"p{start}.nc") for start, _ in parts], master, axes=["t"])
    variable = ncirrus.open(master)["v"]
    assert variable.is_aggregated
    return variable, values


STORED: dict[str, Callable[[Path], Any]] = {
    "chunked": lambda path: _made(path / "c.nc4", "nc4", chunks=(2, 3, 4), filters="zlib,level=1"),
    "contiguous": lambda path: _made(path / "k.nc", "nc3"),
    "record": lambda path: _made(path / "r.nc", "nc3", grows=True),
    "zarr": lambda path: _made(path / "z.zarr", "zarr3", chunks=(3, 2, 4)),
    "string": lambda path: _made(path / "s.nc4", "nc4", dtype=str, chunks=(2, 3, 4)),
    "sharded": lambda path: _sharded(path / "s.zarr"),
    "aggregated": lambda path: _aggregated(path / "agg"),
}


@pytest.fixture(scope="module", params=STORED)
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return STORED[request.param](tmp_path_factory.mktemp("stored"))


def _axis_index(length: int) -> Any:
    integers = st.integers(-length - 1, length)
    lists = st.one_of(
        st.lists(st.integers(-length, length - 1), max_size=5),
        st.lists(st.integers(-length - 1, length), max_size=3),
    )
    steps = st.sampled_from([None, 1, 2, 3, -1, -2, length + 1])
    bounds = st.one_of(st.none(), st.integers(-length - 2, length + 2))
    slices = st.builds(slice, bounds, bounds, steps)
    return st.one_of(integers, slices, slices, lists, lists.map(lambda items: np.array(items, dtype=np.int32)))


def _mask(shape: tuple[int, ...]) -> Any:
    return hnp.arrays(bool, shape)


def _arrays(length: int) -> Any:
    shapes = st.sampled_from([(2, 3), (3, 1), (1, 3), (3,), (1,), (2, 1, 3), ()])
    inside, around = st.integers(-length, length - 1), st.integers(-length - 1, length)
    elements = st.sampled_from([inside, inside, inside, around])
    return st.tuples(shapes, elements).flatmap(lambda both: hnp.arrays(np.int64, both[0], elements=both[1]))


@st.composite
def numpy_keys(draw: Any) -> Any:
    """Indices of every kind, some of which are wrong."""
    items: list[Any] = []
    at = 0
    while at < len(SHAPE) and draw(st.booleans() | st.just(True)):
        word = draw(st.sampled_from(["axis", "axis", "axis", "arrays", "mask", "mask2", "none", "stop"]))
        if word == "stop":
            break
        if word == "none":
            if len(items) < 6:
                items.append(None)
            continue
        if word == "mask2" and at + 2 <= len(SHAPE):
            items.append(draw(_mask(SHAPE[at : at + 2])))
            at += 2
            continue
        choice = {"axis": _axis_index, "arrays": _arrays, "mask": lambda n: _mask((n,)), "mask2": _axis_index}
        items.append(draw(choice[word](SHAPE[at])))
        at += 1
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    if draw(st.integers(0, 15)) == 0:
        items.insert(draw(st.integers(0, len(items))), draw(st.booleans()))
    if len(items) == 1 and draw(st.booleans()):
        return items[0]
    return tuple(items)


def _outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except IndexError:
        return IndexError


def _assert_same(got: Any, expected: Any) -> None:
    if expected is IndexError or got is IndexError:
        assert got is expected
        return
    assert np.shape(got) == np.shape(expected)
    # Scalars and arrays without axes are told apart.
    assert isinstance(got, np.ndarray) is isinstance(expected, np.ndarray)
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
    assert np.array_equal(got, expected)


@_settings
@given(key=numpy_keys())
def test_indices_mean_what_numpy_means(stored: Any, key: Any) -> None:
    variable, values = stored
    _assert_same(_outcome(lambda: variable[key]), _outcome(lambda: values[key]))


@_settings
@given(key=numpy_keys(), order=st.sampled_from(["C", "F", "strided", "reversed"]))
def test_out_is_filled_whatever_its_strides(stored: Any, key: Any, order: str) -> None:
    variable, values = stored
    expected = _outcome(lambda: values[key])
    if expected is IndexError:
        return
    shape = np.shape(expected)
    if order == "strided":
        out = np.zeros((*shape[:-1], shape[-1] * 2) if shape else (), values.dtype)
        out = out[..., ::2] if shape else out
    elif order == "reversed" and shape:
        out = np.zeros(shape, values.dtype)[::-1]
    else:
        out = np.zeros(shape, values.dtype, order="F" if order == "F" else "C")
    assert variable.read(key, out=out) is out
    assert np.array_equal(out, expected)


@st.composite
def outer_keys(draw: Any) -> tuple[Any, ...]:
    choices = [st.one_of(_axis_index(length), _mask((length,))) for length in SHAPE]
    return tuple(draw(choice) for choice in choices[: draw(st.integers(1, 3))])


def _outer(values: Any, key: tuple[Any, ...]) -> Any:
    """Each axis for itself."""
    for at in range(len(key) - 1, -1, -1):
        item = np.asarray(key[at], dtype=int) if isinstance(key[at], list) else key[at]
        values = values[(slice(None),) * at + (item,)]
    return values


@_settings
@given(key=outer_keys())
def test_oindex_is_orthogonal(stored: Any, key: tuple[Any, ...]) -> None:
    variable, values = stored
    _assert_same(_outcome(lambda: variable.oindex[key]), _outcome(lambda: _outer(values, key)))


@st.composite
def point_keys(draw: Any) -> tuple[Any, ...]:
    """Arrays of one length for some of the axes, slices for the others."""
    count = draw(st.integers(0, 6))
    items: list[Any] = []
    for length in SHAPE:
        if draw(st.booleans()):
            items.append(draw(hnp.arrays(np.int64, (count,), elements=st.integers(-length, length - 1))))
        else:
            items.append(draw(st.builds(slice, st.none(), st.integers(0, length), st.sampled_from([None, 2]))))
    return tuple(items)


@_settings
@given(key=point_keys())
def test_vindex_is_pointwise(stored: Any, key: tuple[Any, ...]) -> None:
    variable, values = stored
    along = [at for at, item in enumerate(key) if isinstance(item, np.ndarray)]
    if along:
        order = along + [at for at in range(3) if at not in along]
        moved = values.transpose(order)
        inner = moved[tuple(key[at] for at in along)]
        expected = inner[(slice(None), *(key[at] for at in range(3) if at not in along))]
    else:
        expected = values[key]
    _assert_same(variable.vindex[key], expected)


@pytest.fixture(scope="module", params=["nc3", "nc4", "zarr3"])
def writable(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("writable") / f"w.{'zarr' if request.param == 'zarr3' else 'nc'}"
    how = {} if request.param == "nc3" else {"chunks": (2, 3, 4)}
    ds = ncirrus.create(str(path), request.param)
    for name, length in zip("tyx", SHAPE):
        ds.create_dimension(name, length)
    variable = ds.create_variable("v", "i4", ("t", "y", "x"), **how)
    variable[...] = _values()
    yield variable
    ds.abort()


@settings(_settings, max_examples=max(50, CASES // 4))
@given(key=numpy_keys(), scalar=st.booleans())
def test_assignments_mean_what_numpy_means(writable: Any, key: Any, scalar: bool) -> None:
    writable[...] = _values()
    values = _values()
    expected = _outcome(lambda: values[key])
    shape = () if scalar or expected is IndexError else np.shape(expected)
    given_values = np.arange(1000, 1000 + int(np.prod(shape)), dtype="i4").reshape(shape)

    def assign(target: Any) -> None:
        target[key] = given_values

    assert _outcome(lambda: assign(writable)) == _outcome(lambda: assign(values))
    assert np.array_equal(writable[...], values)


def test_scalars_are_those_of_numpy(small: str) -> None:
    value = ncirrus.open(small)["v"][1, 2, 3]
    assert isinstance(value, np.int32) and value == 45


def test_an_ellipsis_makes_an_array_of_what_has_no_axes(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), "nc4") as ds:
        ds.create_variable("n", "i4")[...] = 7
        ds.create_variable("s", str)[...] = "text"
    ds = ncirrus.open(str(tmp_path / "a.nc"))
    assert isinstance(ds["n"][()], np.int32) and ds["n"][()] == 7
    assert isinstance(ds["s"][()], str) and ds["s"][()] == "text"
    for name, value in (("n", 7), ("s", "text")):
        whole = ds[name][...]
        assert isinstance(whole, np.ndarray) and whole.shape == () and whole[()] == value
        assert whole.dtype == ds[name].dtype


def test_an_ellipsis_makes_room_for_masks_of_several_axes_and_new_axes(small: str) -> None:
    variable, values = ncirrus.open(small)["v"], ncirrus.open(small)["v"][...]
    mask = values[0] % 2 == 0
    keys: list[Any] = [(..., 3, mask), (..., 3, None, 5, 5), (None, ..., 3, None), (..., 3, np.array(4), 5)]
    for key in keys:
        _assert_same(_outcome(lambda: variable[key]), _outcome(lambda: values[key]))


def test_indices_are_not_looked_at_where_they_select_nothing(small: str) -> None:
    variable, values = ncirrus.open(small)["v"], ncirrus.open(small)["v"][...]
    for key in [(False, ..., [[9], [0], [0]], 0), ([9], [[]]), (False, [9]), ([9], np.zeros(0, int))]:
        assert variable[key].shape == values[key].shape
    for key in [(np.zeros((0, 1), int), 9), (False, 9), (slice(0, 0), [9]), (True, [9])]:
        with pytest.raises(IndexError):
            variable[key]


@pytest.mark.parametrize("key", [1.0, "a", (0, 0.5), [0.5], np.array([1.5]), {}, (0,) * 100, (..., ...), (0, 0, 0, 0)])
def test_what_is_no_index_is_an_index_error(small: str, key: Any) -> None:
    with pytest.raises(IndexError):
        ncirrus.open(small)["v"][key]


@pytest.mark.parametrize("length", [3, 5])
def test_mask_of_wrong_length_is_refused(small: str, length: int) -> None:
    with pytest.raises(IndexError, match=f"axis 0; size of axis is 4 but size of corresponding boolean axis is {length}"):
        ncirrus.open(small)["v"][np.ones(length, bool)]


def test_masks_of_several_dimensions_are_not_orthogonal(small: str) -> None:
    with pytest.raises(IndexError, match="axis 0: oindex takes indices of one dimension, not 2"):
        ncirrus.open(small)["v"].oindex[np.ones((4, 5), bool)]


def test_step_of_zero_is_refused(small: str) -> None:
    with pytest.raises(ValueError, match="step cannot be zero"):
        ncirrus.open(small)["v"][::0]


def test_iterating_is_refused_with_a_hint(small: str) -> None:
    with pytest.raises(TypeError, match="blocks"):
        iter(ncirrus.open(small)["v"])


def test_blocks_cover_everything_once(small: str) -> None:
    variable = ncirrus.open(small)["v"]
    seen = np.zeros(variable.shape, int)
    for block in variable.blocks(100):
        seen[block] += 1
        assert variable[block].nbytes <= 100
    assert (seen == 1).all()
