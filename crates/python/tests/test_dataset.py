"""Datasets, groups and their members: made, opened, changed, closed."""

from __future__ import annotations

import copy
import gc
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers

import ncirrus

CLASSIC = ("nc3", "nc5")


def _define(ds: ncirrus.Dataset) -> None:
    ds.create_dimension("t", None)
    ds.create_dimension("y", 3)
    ds.create_variable("v", "f4", ("t", "y"), attrs={"units": "K", "scale": 0.5}, fill_value=-9)
    ds.create_variable("b", "i1", ("y",))


def test_what_was_written_is_read(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        _define(ds)
        ds.attrs["title"] = "Ünïcode"
        ds["v"][:] = numbers((2, 3))
        assert not os.path.exists(place)
    ds = ncirrus.open(place)
    assert list(ds) == ["v", "b"] and len(ds) == 2 and "v" in ds and "w" not in ds and 3 not in ds
    assert list(ds.variables) == ["v", "b"] and list(ds.dims)[:2] == ["t", "y"]
    v = ds["v"]
    assert isinstance(v, ncirrus.Variable)
    assert (v.shape, v.ndim, v.size, v.nbytes, v.dims, v.dtype) == ((2, 3), 2, 6, 24, ("t", "y"), np.dtype("f4"))
    assert v.fill_value == -9 and v.fill_mode == "own" and ds["b"].fill_value is None and ds["b"].fill_mode == "default"
    assert np.array_equal(v[...], numbers((2, 3)))
    assert (ds["b"][...] == -127).all()
    assert dict(v.attrs) == {"units": "K", "scale": 0.5, "_FillValue": -9} and ds.attrs["title"] == "Ünïcode"
    assert isinstance(v.attrs["scale"], np.floating)
    assert v.fault is None and not v.is_aggregated and v.endian in ("native", "little", "big")
    assert ds.mode == "r" and ds.url == place and ds.warnings == []


@pytest.mark.parametrize(
    ("how", "name", "format"),
    [
        ({"kind": "nc3"}, "classic", "netcdf3"),
        ({"kind": "nc6"}, "64-bit offset", "netcdf3"),
        ({"kind": "nc5"}, "cdf5", "netcdf3"),
        ({"kind": "nc4"}, "netCDF-4", "netcdf4"),
        ({"kind": "nc4c"}, "netCDF-4 classic model", "netcdf4"),
        ({"kind": "nczarr"}, "netCDF-4", "nczarr2"),
        ({"kind": "zarr2"}, "netCDF-4", "zarr2"),
        ({"kind": "zarr3"}, "netCDF-4", "nczarr3"),
        ({"kind": "zarr3", "dialect": "plain"}, "netCDF-4", "zarr3"),
    ],
)
def test_a_dataset_tells_what_it_is_while_it_is_made_and_after(
    tmp_path: Path, how: dict[str, Any], name: str, format: str
) -> None:
    with ncirrus.create(tmp_path / "a", **how) as ds:
        assert (ds.kind, ds.format) == (name, format)
    with ncirrus.open(tmp_path / "a") as ds:
        assert (ds.kind, ds.format) == (name, format)


def test_dimensions_have_length_and_may_grow(small: str) -> None:
    ds = ncirrus.open(small)
    assert [len(dim) for dim in ds.dims.values()] == [4, 5, 6]
    assert [dim.is_unlimited for dim in ds.dims.values()] == [True, False, False]
    assert ds.dims["t"].path == "/t"


def test_groups_are_reached_by_paths(tmp_path: Path) -> None:
    path = str(tmp_path / "a.nc4")
    with ncirrus.create(path) as ds:
        inner = ds.create_group("model/run1")
        inner.create_dimension("x", 2)
        inner.create_variable("sst", "i4", ("x",))[:] = [1, 2]
    ds = ncirrus.open(path)
    group = ds["model"]
    assert isinstance(group, ncirrus.Group)
    assert list(ds.groups) == ["model"] and list(group.groups) == ["run1"] and list(group["run1"]) == ["sst"]
    assert ds["model/run1/sst"].path == group["run1/sst"].path == ds["/model/run1/sst"].path == "/model/run1/sst"
    assert "model/run1/sst" in ds and "model/run2" not in ds
    assert group["run1"].parent == group and ds.parent is None and ds.dataset is ds


@pytest.mark.parametrize("look", [lambda ds: ds["w"], lambda ds: ds["g/v"], lambda ds: ds.variables["w"], lambda ds: ds.groups["v"],
                                  lambda ds: ds.attrs["a"], lambda ds: ds["v"].attrs["a"], lambda ds: ds.variables[0]])
def test_what_is_not_there_is_a_key_error(small: str, look: Any) -> None:
    ds = ncirrus.open(small)
    with pytest.raises(KeyError) as raised:
        look(ds)
    assert isinstance(raised.value, ncirrus.MemberNotFoundError)
    assert raised.value.object == small and raised.value.hint and raised.value.path in ("/", "/v")
    assert "\n" not in str(raised.value) and not str(raised.value).startswith("'")


def test_exception_abandons_what_is_new(kind: str, place: str) -> None:
    with pytest.raises(RuntimeError), ncirrus.create(place, kind) as ds:
        _define(ds)
        raise RuntimeError
    assert ds.closed and not os.path.exists(place)
    assert os.listdir(os.path.dirname(place)) == []


def test_exception_abandons_changes_that_were_not_synced(small: str) -> None:
    with pytest.raises(RuntimeError), ncirrus.open(small, "r+") as ds:
        ds["v"][0] = 7
        ds.sync()
        ds["v"][1] = 8
        raise RuntimeError
    values = ncirrus.open(small)["v"][...]
    assert (values[0] == 7).all() and np.array_equal(values[1], numbers((4, 5, 6))[1])


def test_unclosed_writer_is_warned_of_and_abandoned(tmp_path: Path) -> None:
    path = str(tmp_path / "a.nc")
    ds = ncirrus.create(path)
    _define(ds)
    with pytest.warns(ResourceWarning, match="a.nc"):
        del ds
        gc.collect()
    assert os.listdir(tmp_path) == []


def test_unclosed_reader_is_not_warned_of(small: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ncirrus.open(small)["v"][0, 0, 0] == 0
        gc.collect()


def test_closed_dataset_is_of_no_more_use(small: str) -> None:
    ds = ncirrus.open(small)
    v = ds["v"]
    ds.close()
    ds.close()
    for use in (lambda: v[0], lambda: ds["v"], lambda: list(ds), lambda: v.shape, lambda: ds.sync(), lambda: ds.info()):
        with pytest.raises(ncirrus.InvalidError, match="closed") as raised:
            use()
        assert raised.value.object == small
    assert ds.closed and "closed" in repr(ds)


def test_reader_cannot_be_changed(small: str) -> None:
    ds = ncirrus.open(small)
    uses: list[Any] = [
        lambda: ds["v"].__setitem__(0, 1),
        lambda: ds.attrs.update(a=1),
        lambda: ds.create_dimension("z", 1),
        lambda: ds.create_variable("z", "i4"),
        lambda: ds.sync(),
        lambda: ds.remove("v"),
        lambda: ds.edit().__enter__(),
    ]
    for use in uses:
        with pytest.raises(PermissionError) as raised:
            use()
        assert isinstance(raised.value, ncirrus.DeniedError) and raised.value.object == small


def test_edit_is_all_or_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "a.nc4")
    with ncirrus.create(path) as ds:
        with ds.edit():
            ds.create_dimension("x", 3)
            ds.create_variable("a", "i4", ("x",), attrs={"units": "m"})
            ds["a"].attrs["more"] = 1
        ds["a"][:] = [1, 2, 3]
        with pytest.raises(ncirrus.ConflictError), ds.edit():
            ds.create_variable("b", "i4", ("x",))
            ds.create_variable("a", "i4", ("x",))
        assert list(ds) == ["a"]
        with pytest.raises(KeyError), ds.edit():
            ds.create_variable("b", "i4", ("x",))
            raise KeyError
        assert list(ds) == ["a"]
        with ds.edit(), pytest.raises(ncirrus.InvalidError, match="already"):
            ds.edit().__enter__()
    ds = ncirrus.open(path)
    assert ds["a"][...].tolist() == [1, 2, 3] and ds["a"].attrs["more"] == 1


def test_values_of_what_a_block_makes_are_written_after_it(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("t", None)
        old = ds.create_variable("old", "i4", ("t",))
        with ds.edit():
            new = ds.create_variable("new", "i4", ("t",))
            uses: list[Any] = [
                lambda: new.__setitem__(slice(0, 2), 1),
                lambda: new.append([1]),
                lambda: new[...],
                lambda: new.explain(),
            ]
            for use in uses:
                with pytest.raises(ncirrus.InvalidError, match="after the block") as raised:
                    use()
                assert raised.value.path == "/new" and raised.value.object == ds.url
            assert new.dtype == "i4" and new.stored_dtype is None and not new.is_aggregated and "new" in repr(new)
            old[0:2] = 3
        new[0:2] = 1
        new.append([2])
    ds = ncirrus.open(place)
    assert ds["new"][...].tolist() == [1, 1, 2] and ds["old"][:2].tolist() == [3, 3]


def test_members_are_renamed_and_removed(tmp_path: Path) -> None:
    path = str(tmp_path / "a.nc4")
    with ncirrus.create(path) as ds:
        ds.create_dimension("x", 2)
        ds.create_dimension("unused", 2)
        a, b = ds.create_variable("a", "i4", ("x",)), ds.create_variable("b", "i4", ("x",))
        group = ds.create_group("g")
        a.rename("c")
        ds.rename_variable("b", "d")
        ds.rename_dimension("x", "y")
        group.rename("h")
        ds.remove("unused")
        assert (a.path, b.path, group.path) == ("/c", "/d", "/h")
        a[:] = [1, 2]
        a.attrs["one"] = 1
        a.attrs.rename("one", "two")
        del ds["c"].attrs["two"]
        ds.remove("d")
        ds.remove("h")
    ds = ncirrus.open(path)
    assert list(ds) == ["c"] and list(ds.dims) == ["y"] and ds["c"][...].tolist() == [1, 2] and not ds["c"].attrs


def test_attributes_keep_their_types(kind: str, place: str) -> None:
    values: dict[str, Any] = {
        "text": "text",
        "empty": "",
        "short": np.int16(3),
        "float": np.float32(0.5),
        "doubles": np.array([1.0, 2.5]),
        "int": 7,
        "number": 1.5,
    }
    if kind not in CLASSIC:
        values |= {"chars": ncirrus.Char("chars"), "texts": ["a", "bc", ""], "wide": np.int64(2**40), "flag": np.uint8(200)}
    with ncirrus.create(place, kind) as ds:
        ds.attrs.update(values)
        ds.attrs["gone"] = 1
        del ds.attrs["gone"]
        with pytest.raises(KeyError):
            del ds.attrs["gone"]
    attrs = ncirrus.open(place).attrs
    assert list(attrs) == list(values) and len(attrs) == len(values)
    for name, value in values.items():
        got = attrs[name]
        assert np.array_equal(got, value), name
        # JSON has no types of numbers.
        if isinstance(value, (np.generic, np.ndarray)) and kind != "zarr2":
            assert got.dtype == value.dtype, name
    assert isinstance(attrs["text"], str)
    if kind == "nc4":
        assert isinstance(attrs["chars"], ncirrus.Char) and not isinstance(attrs["text"], ncirrus.Char)
    assert attrs["int"].dtype == ("i4" if kind in (*CLASSIC, "zarr2") else "i8")


@pytest.mark.parametrize("value", [None, object(), {"a": 1}, 1j, np.array([[1, 2], [3, 4]]), [1, "a", None, object()]])
def test_attributes_of_other_types_are_refused(tmp_path: Path, value: Any) -> None:
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        with pytest.raises(ncirrus.InvalidError, match="'a'"):
            ds.attrs["a"] = value
        assert "a" not in ds.attrs


@pytest.mark.parametrize("name", ["", "a/b", " ", "a ", "\x07", "x" * 300])
def test_bad_names_are_refused(tmp_path: Path, name: str) -> None:
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        for define in (lambda: ds.create_dimension(name, 1), lambda: ds.attrs.update({name: 1})):
            with pytest.raises(ncirrus.InvalidError) as raised:
                define()
            assert "\n" not in str(raised.value)


def test_lone_surrogate_in_a_name_is_refused(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc4")) as ds:
        for define in (lambda: ds.create_dimension("a\ud800", 1), lambda: ds.attrs.update({"a\ud800": 1}), lambda: ds.create_group("\ud800")):
            with pytest.raises(ValueError, match="surrogate"):
                define()
        assert not ds.dims and "a\ud800" not in ds


def test_unknown_words_are_refused(tmp_path: Path, small: str) -> None:
    with pytest.raises(TypeError, match="no option 'lenint'"):
        ncirrus.open(small, lenint=True)
    with pytest.raises(TypeError, match="no option 'compress'"):
        ncirrus.create(str(tmp_path / "a.nc"), compress=True)
    with pytest.raises(ncirrus.InvalidError, match='kind="nc9" is none of nc3'):
        ncirrus.create(str(tmp_path / "a.nc"), "nc9")
    with pytest.raises(ncirrus.InvalidError, match="mode='w'"):
        ncirrus.open(small, "w")  # type: ignore[arg-type]


def test_places_are_text_or_paths(small: str, tmp_path: Path) -> None:
    assert list(ncirrus.open(Path(small))) == ["v"]
    for wrong in (3, None, 1.5):
        with pytest.raises(TypeError):
            ncirrus.open(wrong)
    with pytest.raises(ncirrus.InvalidError, match="zero byte"):
        ncirrus.open("a\0b")


def test_existing_dataset_is_replaced_only_when_told(kind: str, place: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.attrs["a"] = 1
    with pytest.raises(FileExistsError) as raised:
        ncirrus.create(place, kind)
    assert isinstance(raised.value, ncirrus.ConflictError) and "overwrite=True" in str(raised.value.hint)
    with ncirrus.create(place, kind, overwrite=True) as ds:
        ds.attrs["b"] = 2
    assert list(ncirrus.open(place).attrs) == ["b"]


def test_repr_is_of_metadata(small: str) -> None:
    ds = ncirrus.open(small)
    before = ds.session.statistics()
    assert "small.nc" in repr(ds) and "v(t=4, y=5, x=6) int32" in repr(ds["v"]) and "units" in repr(ds["v"].attrs)
    assert "'v'" in repr(ds.variables) and repr(ds.dims["t"]) == "<ncirrus.Dimension /t: 4, unlimited>"
    assert ds.session.statistics() == before


def test_handles_are_not_copied(small: str) -> None:
    ds = ncirrus.open(small)
    assert copy.copy(ds) is ds and copy.deepcopy(ds["v"]) is not None
    assert copy.deepcopy(ds) is ds


def test_info_is_that_of_the_command(small: str) -> None:
    info = ncirrus.open(small).info()
    assert info["kind"] == "classic" and info["groups"][0]["variables"][0]["name"] == "v"
    assert ncirrus.info(small) == info


def test_array_protocol(small: str) -> None:
    v = ncirrus.open(small)["v"]
    assert np.array_equal(np.asarray(v), numbers((4, 5, 6)))
    assert np.asarray(v, dtype="f8").dtype == "f8" and np.asarray(v).sum() == v[...].sum()
    assert len(v) == 4 and bool(v)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(v, copy=False)
