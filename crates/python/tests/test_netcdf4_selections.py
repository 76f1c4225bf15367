"""`_StartCountStride` and its neighbours decide as those of netCDF4-python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirrus.netCDF4 import utils as ours

original = pytest.importorskip("netCDF4.utils")


class Dimension:
    def __init__(self, length, is_unlimited):
        self.length, self.is_unlimited = length, is_unlimited

    def __len__(self):
        return self.length

    def isunlimited(self):
        return self.is_unlimited


class Group:
    def __init__(self, dimensions, parent=None):
        self.dimensions, self.parent, self.path = dimensions, parent, "/"


def outcome(call, *arguments, **words):
    try:
        return "result", call(*arguments, **words)
    except Exception as error:
        return "error", (type(error), str(error))


def assert_same(case, **words):
    expected = outcome(original._StartCountStride, *case, **words)
    found = outcome(ours._StartCountStride, *case, **words)
    assert found[0] == expected[0], (case, words, expected, found)
    if expected[0] == "error":
        assert found[1] == expected[1]
        return
    for one, two in zip(expected[1], found[1], strict=True):
        if isinstance(one, list):
            assert [key if isinstance(key, slice) else list(np.atleast_1d(key)) for key in one] == [
                key if isinstance(key, slice) else list(np.atleast_1d(key)) for key in two
            ]
            continue
        assert one.dtype == two.dtype and one.shape == two.shape, (case, words)
        assert one.tolist() == two.tolist(), (case, words)
    assert ours._out_array_shape(found[1][1]) == original._out_array_shape(expected[1][1])


def keys(length):
    bound = length + 3
    small = st.integers(-bound, bound)
    maybe = st.one_of(st.none(), small)
    lists = st.lists(small, max_size=5)
    return st.one_of(
        small,
        small.map(np.int32),
        st.sampled_from([1.0, 0.8, float("nan"), "2", "x", None, True, b"1", np.array(1), [[1, 2]], [0.0, 1.0]]),
        st.builds(slice, maybe, maybe, st.one_of(st.none(), st.integers(-3, 3))),
        st.just(slice(None)),
        st.just(Ellipsis),
        lists,
        lists.map(lambda list_: np.array(list_, dtype=np.int64)),
        lists.map(lambda list_: np.array(sorted(set(list_)), dtype=np.int64)),
        st.lists(st.booleans(), min_size=length, max_size=length + 1).map(np.array),
        st.lists(st.booleans(), min_size=length, max_size=length),
    )


@st.composite
def selections(draw):
    shape = tuple(draw(st.lists(st.integers(0, 6), max_size=4)))
    if draw(st.integers(0, 9)) == 0:
        return draw(keys(shape[0] if shape else 1)), shape
    lengths = [*shape, 2][: draw(st.integers(0, len(shape) + 1))] if draw(st.integers(0, 3)) == 0 else shape
    return tuple(draw(keys(length)) for length in lengths), shape


@settings(max_examples=2000, deadline=None)
@given(selections(), st.booleans())
def test_a_read_consists_of_the_boxes_of_the_original(case, return_selection):
    assert_same(case, return_selection=return_selection)


@settings(max_examples=2500, deadline=None)
@given(selections(), st.data())
def test_a_write_consists_of_the_boxes_of_the_original(case, data):
    shape = case[1]
    names = [f"d{axis}" for axis in range(len(shape))]
    limits = [data.draw(st.booleans()) for _ in shape]
    dimensions = {name: Dimension(*both) for name, *both in zip(names, shape, limits, strict=True)}
    inner = Group({}, Group(dimensions))
    datashape = tuple(data.draw(st.lists(st.integers(0, 6), max_size=len(shape) + 1)))
    if data.draw(st.booleans()):
        datashape = tuple(shape)
    assert_same(case, dimensions=tuple(names), grp=inner, datashape=datashape, put=True)


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_a_strided_slice_inside_its_dimension_is_a_list_without_nc_get_vars(data):
    length = data.draw(st.integers(1, 9))
    start = data.draw(st.integers(0, length - 1))
    key = slice(start, data.draw(st.integers(start, length)), data.draw(st.sampled_from([None, 1, 2, 3])))
    group = Group({"x": Dimension(length, False)})
    assert_same(((key,), (length,)), dimensions=("x",), grp=group, use_get_vars=False)


def test_a_strided_slice_that_leaves_its_dimension_is_clipped_without_nc_get_vars():
    group = Group({"x": Dimension(5, False)})
    for key in slice(-4, None, 2), slice(0, 100, 2), slice(None, None, -2):
        start, count, stride, _ = ours._StartCountStride((key,), (5,), ("x",), group, use_get_vars=False)
        assert (start[0, 0], count[0, 0], stride[0, 0]) == (key.indices(5)[0], len(range(*key.indices(5))), key.step)


@settings(max_examples=500)
@given(st.lists(st.floats(-1e6, 1e6), max_size=5), st.integers(-4, 8))
def test_quantised_numbers_are_those_of_the_original(values, digit):
    values = np.array(values)
    assert ours._quantize(values, digit).tolist() == original._quantize(values, digit).tolist()
    masked = np.ma.array(values, mask=values > 0, fill_value=-5.0)
    found, expected = ours._quantize(masked, digit), original._quantize(masked, digit)
    assert found.tolist() == expected.tolist() and found.fill_value == expected.fill_value


def test_a_cast_is_safe_where_the_original_finds_it_safe():
    pairs = [(1, 1.0), (1.5, 1), (np.nan, np.nan), ("a", "a"), ("a", "b"), ([1, 2], [1, 2]), ([1, 2], [1, 2, 3]), (1, "1")]
    for one, two in pairs:
        arrays = np.array(one), np.array(two)
        assert outcome(ours._safecast, *arrays) == outcome(original._safecast, *arrays), (one, two)


def test_a_dimension_is_found_in_the_nearest_group():
    near, far = Dimension(1, False), Dimension(2, False)
    inner = Group({"x": near}, Group({"x": far, "y": far}))
    assert ours._find_dim(inner, "x") is near and ours._find_dim(inner, "y") is far
    with pytest.raises(ValueError, match="^cannot find dimension q in this group or parent groups$"):
        ours._find_dim(inner, "q")
