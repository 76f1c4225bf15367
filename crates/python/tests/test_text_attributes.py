"""Attributes that are texts, set one by one: as those that are set together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus
from ncirrus import netCDF4

TEXTS = {"plain": "a text", "empty": "", "other": "Ünïcode \U0001f30d", "long": "x" * 70_000, "lines": "a\nb\t"}
NAMES = ["", "a/b", " a", "a ", "\0", "ok", "Ünïcode", "_FillValue", "_NCProperties", "CLASS", "x" * 300, "\ud800", "a\nb"]


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def _new(place: str) -> Any:
    ds = ncirrus.create(place, "nc4", overwrite=True)
    ds.create_dimension("x", 2)
    ds.create_variable("v", "i4", ("x",))
    return ds


def test_texts_are_kept_in_the_order_of_their_definition_without_values(place: str, kind: str) -> None:
    with ncirrus.create(place, kind) as ds:
        ds.create_dimension("x", 2)
        v = ds.create_variable("v", "i4", ("x",))
        for owner in (ds, v):
            for name, text in TEXTS.items():
                owner.attrs[name] = "before"
                assert owner.attrs[name] == "before"
            for name in reversed(TEXTS):
                owner.attrs[name] = TEXTS[name]
    with ncirrus.open(place) as ds:
        for owner in (ds, ds["v"]):
            assert list(owner.attrs.items()) == list(TEXTS.items())
            assert kind != "nc4" or not any(isinstance(text, ncirrus.Char) for text in owner.attrs.values())


@pytest.mark.parametrize("kind", ["nc3", "nc4", "nczarr"])
def test_a_text_is_stored_alike_alone_and_with_others(tmp_path: Path, kind: str) -> None:
    for name in ("a", "b"):
        with ncirrus.create(tmp_path / name, kind) as ds:
            for each, text in {**TEXTS, "surrogates": b"\xff".decode("utf-8", "surrogateescape")}.items():
                if name == "a":
                    ds.attrs[each] = text
                else:
                    ds.attrs.update({each: text})
    with ncirrus.open(tmp_path / "a") as one, ncirrus.open(tmp_path / "b") as other:
        assert dict(one.attrs) == dict(other.attrs)
        assert [type(value) for value in one.attrs.values()] == [type(value) for value in other.attrs.values()]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_texts_are_refused_alike_alone_and_with_others(tmp_path: Path, name: str) -> None:
    found = []
    for way in range(2):
        ds = _new(str(tmp_path / "a.nc"))
        for owner in (ds, ds["v"]):

            def write(attrs: Any = owner.attrs, way: int = way) -> None:
                if way:
                    attrs.update({name: "text"})
                else:
                    attrs[name] = "text"

            found.append((way, _outcome(write), _outcome(lambda attrs=owner.attrs: dict(attrs))))  # type: ignore[misc]
        found.append((way, _outcome(ds.sync), None))
        ds.abort()
    assert [each[1:] for each in found[:3]] == [each[1:] for each in found[3:]]


def test_texts_of_datasets_that_cannot_be_changed_are_refused_alike_alone_and_with_others(tmp_path: Path) -> None:
    place = str(tmp_path / "a.nc")
    _new(place).close()
    ds = ncirrus.open(place)
    v = ds["v"]
    for is_closed in (False, True):
        for owner in (ds, v):
            one = _outcome(lambda owner=owner: owner.attrs.__setitem__("a", "b"))  # type: ignore[misc]
            assert one == _outcome(lambda owner=owner: owner.attrs.update({"a": "b"})), owner  # type: ignore[misc]
            assert one[0] is (ncirrus.InvalidError if is_closed else ncirrus.DeniedError)
        ds.close()


def test_texts_are_changed_together_with_other_definitions(tmp_path: Path) -> None:
    with _new(str(tmp_path / "a.nc")) as ds:
        ds.attrs["kept"] = "before"
        with pytest.raises(KeyError), ds.edit():
            ds.attrs["kept"], ds["v"].attrs["units"] = "after", "K"
            raise KeyError
        assert dict(ds.attrs) == {"kept": "before"} and not ds["v"].attrs
        with ds.edit():
            ds.attrs["kept"] = "after"
    with ncirrus.open(tmp_path / "a.nc") as ds:
        assert dict(ds.attrs) == {"kept": "after"}


def test_texts_of_other_classes_keep_their_type(tmp_path: Path) -> None:
    with _new(str(tmp_path / "a.nc")) as ds:
        ds.attrs["chars"], ds.attrs["numpy"] = ncirrus.Char("abc"), np.str_("def")
        assert isinstance(ds.attrs["chars"], ncirrus.Char) and not isinstance(ds.attrs["numpy"], ncirrus.Char)


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("as_strings", [False, True])
def test_texts_are_stored_as_by_netcdf4(tmp_path: Path, format: str, as_strings: bool) -> None:
    original = pytest.importorskip("netCDF4")
    # Strings of HDF5 cannot contain null characters.
    texts = {**TEXTS, "nulls": "a\0\0" if as_strings else "a\0b\0\0", "null": "\0"}
    stored = []
    for number, module in enumerate((original, netCDF4)):
        path = str(tmp_path / f"{number}.nc")
        with module.Dataset(path, "w", format=format) as ds:
            ds.createDimension("x", 2)
            for owner in (ds, ds.createVariable("v", "i4", ("x",))):
                owner.set_ncstring_attrs(as_strings)
                for name, text in texts.items():
                    owner.setncattr(name, text)
        with ncirrus.open(path) as ds:
            stored.append([[(name, type(value), value) for name, value in owner.attrs.items()] for owner in (ds, ds["v"])])
    assert stored[0] == stored[1]
