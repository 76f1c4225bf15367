"""Numbers that are assigned are stored as by netCDF4-python."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirrus.netCDF4.masking import Decoding
from ncirrus.netCDF4.packing import encoded

original = pytest.importorskip("netCDF4")


@st.composite
def assignments(draw):
    dtype = np.dtype(draw(st.sampled_from(["i1", "u1", "i2", "i4", "f4", "f8"])))
    attributes = {}
    for name in "scale_factor", "add_offset":
        if draw(st.booleans()):
            attributes[name] = draw(st.sampled_from([np.float32(0.5), np.float64(1.0), np.float64(0.25), np.int16(2)]))
    if draw(st.booleans()):
        attributes["missing_value"] = draw(
            st.one_of(st.just(dtype.type(7)), st.just(np.array([7, 9], dtype)), st.just(dtype.type(9)))
        )
    fill = draw(st.sampled_from([None, dtype.type(5)]))
    length = draw(st.integers(1, 4))
    numbers = draw(st.lists(st.integers(0, 40).map(lambda each: each / 2), min_size=length, max_size=length))
    form = draw(st.sampled_from(["list", "floats", "integers", "own", "masked", "masked integers"]))
    if form == "list":
        return dtype, attributes, fill, numbers
    array = np.array(numbers).astype({"integers": "i4", "masked integers": "i8", "own": dtype}.get(form, "f8"))
    if form.startswith("masked"):
        array = np.ma.array(array, mask=draw(st.lists(st.booleans(), min_size=length, max_size=length)))
        if draw(st.booleans()):
            array.data[array.mask] = 7
    return dtype, attributes, fill, array


def outcome(call):
    try:
        return "result", call()
    except Exception as error:
        return "error", (type(error), str(error))


@settings(max_examples=1000, deadline=None)
@given(assignments(), st.booleans(), st.sampled_from([None, None, 1, 0]))
def test_values_are_encoded_as_by_the_original(case, scale, digit):
    dtype, attributes, fill, values = case
    with original.Dataset("memory.nc", "w", diskless=True) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.createDimension("x", len(values))
        variable = file.createVariable("v", dtype, ("x",), fill_value=fill, least_significant_digit=digit)
        variable.setncatts(attributes)
        variable.set_auto_scale(scale)
        stored = {name: variable.getncattr(name) for name in variable.ncattrs()}
        copy = values.copy()

        def assign():
            variable[:] = values
            variable.set_auto_maskandscale(False)
            return variable[:].tolist()

        expected = outcome(assign)
        found = outcome(lambda: encoded(copy, Decoding(dtype, stored, scale=scale)))
    if expected[0] == "result":
        assert found[0] == "result" and found[1].dtype == dtype, found
        assert found[1].tolist() == expected[1]
    else:
        assert found == expected


def test_a_masked_element_alone_is_stored_as_missing():
    for attributes, expected in ({"_FillValue": np.int16(5)}, 5), ({"missing_value": np.int16(7)}, 7), ({}, -32767):
        stored = encoded(np.ma.masked, Decoding(np.dtype("i2"), attributes))
        assert (stored.dtype, stored.shape, int(stored)) == (np.dtype("i2"), (), expected)
