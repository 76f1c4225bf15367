"""Stored values are masked and unpacked as by netCDF4-python."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirrus.netCDF4 as ours
from ncirrus.netCDF4.masking import Decoding, decoded

original = pytest.importorskip("netCDF4")

NUMBERS = [-128, -127, -9, -1, 0, 1, 2, 5, 100, 127, 200, 255, 300, -32767, 65535]
LIMITS = ["valid_min", "valid_max"]


@st.composite
def variables(draw):
    code = draw(st.sampled_from(["i1", "u1", "i2", "u2", "i4", "f4", "f8", "i8"]))
    dtype = np.dtype(code)
    if dtype.kind == "f":
        numbers = [*NUMBERS, 0.5, np.nan, np.inf, original.default_fillvals[code]]
    else:
        limits = np.iinfo(dtype)
        numbers = [each for each in NUMBERS if limits.min <= each <= limits.max] + [original.default_fillvals[code]]
    value = st.sampled_from(numbers)
    shape = draw(st.sampled_from([(), (1,), (4,), (2, 3)]))
    values = np.array(draw(st.lists(value, min_size=6, max_size=6)), dtype)[: int(np.prod(shape))].reshape(shape)
    own = value.map(dtype.type)
    odd = st.sampled_from([np.float64(0.5), np.float64(1e10), np.int32(300), np.int64(-1), "text"])
    attributes = {}
    for name in "missing_value", *LIMITS:
        if draw(st.booleans()):
            attributes[name] = draw(st.one_of(own, own, odd))
    if draw(st.booleans()):
        attributes["missing_value"] = np.array(draw(st.lists(value, min_size=2, max_size=3)), dtype)
    if draw(st.integers(0, 2)) == 0:
        attributes["valid_range"] = np.array(sorted(draw(st.lists(value, min_size=2, max_size=2))), dtype)
    for name in "scale_factor", "add_offset":
        if draw(st.booleans()):
            attributes[name] = draw(st.sampled_from([np.float32(0.5), np.float64(1.0), np.float64(0.0), np.int16(2), "x"]))
    if draw(st.booleans()):
        attributes["_Unsigned"] = draw(st.sampled_from(["true", "True", "false"]))
    fill = draw(st.one_of(st.none(), st.just(False), own))
    return dtype, shape, values, attributes, fill


def read(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = call()
    return result, sorted(str(each.message) for each in told if issubclass(each.category, UserWarning))


def facts(result):
    if result is np.ma.masked:
        return "masked"
    array = np.ma.getdata(result)
    told = [np.ma.isMA(result), array.dtype.str, array.shape, repr(array.tolist())]
    if np.ma.isMA(result):
        told += [np.ma.getmaskarray(result).tolist(), repr(result.fill_value), result.fill_value.dtype.str]
    return told


@settings(max_examples=1200, deadline=None)
@given(variables(), st.booleans(), st.booleans(), st.booleans())
def test_values_are_decoded_as_by_the_original(case, mask, scale, always):
    dtype, shape, values, attributes, fill = case
    with original.Dataset("memory.nc", "w", diskless=True) as file, np.errstate(all="ignore"):
        names = [file.createDimension(f"d{axis}", length).name for axis, length in enumerate(shape)]
        variable = file.createVariable("v", dtype, names, fill_value=fill)
        variable.set_auto_maskandscale(False)
        variable[...] = values
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            variable.setncatts(attributes)
        raw = np.asarray(variable[...])
        variable.set_auto_mask(mask)
        variable.set_auto_scale(scale)
        variable.set_always_mask(always)
        stored = {name: variable.getncattr(name) for name in variable.ncattrs()}
        how = Decoding(variable.dtype, stored, fill is not False, mask, scale, always)
        found = read(lambda: decoded(raw, how))
        try:
            expected = read(lambda: variable[...])
        except TypeError as error:
            # Of unsigned bytes outside the valid range it makes no array.
            assert str(error).startswith("Cannot convert fill_value -127"), error
            assert np.ma.getmaskarray(found[0]).any()
            return
    assert facts(found[0]) == facts(expected[0]), (stored, raw)
    assert found[1] == expected[1]


def test_characters_are_masked_by_their_fill_value_alone():
    for fill, attributes in (b"x", {}), (None, {}), (None, {"missing_value": "a"}), (None, {"valid_min": "b"}):
        with original.Dataset("memory.nc", "w", diskless=True) as file:
            file.createDimension("x", 4)
            variable = file.createVariable("v", "S1", ("x",), fill_value=fill)
            variable[:] = np.array([b"a", b"x", b"", b"b"])
            variable.setncatts(attributes)
            variable.set_auto_maskandscale(False)
            raw = variable[:]
            variable.set_auto_maskandscale(True)
            stored = {name: variable.getncattr(name) for name in variable.ncattrs()}
            found = read(lambda: decoded(raw, Decoding(variable.dtype, stored)))
            expected = read(lambda: variable[:])
        assert facts(found[0]) == facts(expected[0]) and found[1] == expected[1]


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC", "NCZARR"])
def test_fill_value_among_other_attributes_is_what_is_never_written(form, tmp_path):
    with ours.Dataset(tmp_path / "a", "w", format=form) as file:
        file.createDimension("x", 3)
        variable = file.createVariable("v", "f4", ("x",))
        with pytest.raises(AttributeError, match="_FillValue attribute must be set when variable is created"):
            variable._FillValue = 9
        with pytest.raises(AttributeError, match="_FillValue type mismatch"):
            variable.setncatts({"_FillValue": 9})
        variable.setncatts({"_FillValue": np.float32(9), "units": "K"})
        variable[1] = 1
        with pytest.raises(AttributeError, match="NetCDF: Attempt to define fill value when data already exists."):
            variable.setncatts({"_FillValue": np.float32(8)})
        assert variable[:].tolist() == [None, 1, None]
    with ours.Dataset(tmp_path / "a") as file:
        assert file["v"][:].tolist() == [None, 1, None] and file["v"]._FillValue == 9
