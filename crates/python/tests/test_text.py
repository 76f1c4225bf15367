"""Strings that contain NUL, which every kind keeps whole or refuses, and text that is JSON, whatever the way to write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

ODD = ["a\0b", "plain", "\0y"]
KINDS = {"nc4": False, "nczarr": True, "zarr2": True, "zarr3": True}


def _new(path: Path, kind: str) -> Any:
    ds = ncirrus.create(str(path), kind=kind)
    ds.create_dimension("x", 3)
    ds.create_variable("v", str, ("x",))
    return ds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["all", "slice", "one", "index", "attribute", "list"])
def test_strings_that_contain_nul_are_kept_or_refused(tmp_path: Path, kind: str, way: str) -> None:
    path = tmp_path / "a"
    values = np.array(ODD, object)

    def write() -> None:
        with _new(path, kind) as ds:
            v = ds["v"]
            v[:] = np.array(["p", "q", "r"], object)
            if way == "all":
                v[...] = values
            elif way == "slice":
                v[0:3] = ODD
            elif way == "one":
                v[0] = ODD[0]
            elif way == "index":
                v.oindex[[0, 1, 2]] = values
            elif way == "attribute":
                v.attrs["a"] = ODD[0]
            else:
                v.attrs["a"] = ODD

    if not KINDS[kind]:
        with pytest.raises(Exception, match="NUL"):
            write()
        return
    write()
    with ncirrus.open(str(path)) as ds:
        v = ds["v"]
        expected = {"one": [ODD[0], "q", "r"], "attribute": ["p", "q", "r"], "list": ["p", "q", "r"]}.get(way, ODD)
        assert list(v[...]) == expected
        if way == "attribute":
            assert v.attrs["a"] == ODD[0]
        elif way == "list":
            assert list(v.attrs["a"]) == ODD


@pytest.mark.parametrize("text", ["a\0b", "a\0", "toolong"])
@pytest.mark.parametrize("kind", ["nczarr", "zarr2", "zarr3"])
def test_strings_of_fixed_length_are_never_shortened(tmp_path: Path, kind: str, text: str) -> None:
    with ncirrus.create(str(tmp_path / "a"), kind=kind, strings="fixed=4") as ds:
        ds.create_dimension("x", 1)
        v = ds.create_variable("v", str, ("x",))
        with pytest.raises(Exception, match="NUL|longer|bytes"):
            v[0] = text
        v[0] = "abcd"
    with ncirrus.open(str(tmp_path / "a")) as ds:
        assert ds["v"][0] == "abcd"


def test_text_of_netcdf3_may_contain_nul(tmp_path: Path) -> None:
    with ncirrus.create(str(tmp_path / "a.nc"), kind="nc3") as ds:
        ds.attrs["a"] = ODD[0]
    with ncirrus.open(str(tmp_path / "a.nc")) as ds:
        assert ds.attrs["a"] == ODD[0]


@pytest.mark.parametrize(("kind", "is_json"), [("nczarr", True), ("zarr3", True), ("zarr2", False)])
@pytest.mark.parametrize("option", [None, True, False])
def test_dictionaries_in_text_attributes(tmp_path: Path, kind: str, is_json: bool, option: bool | None) -> None:
    text = '{"a": [1, 2.50]}'
    options = {} if option is None else {"json_attributes": option}
    with ncirrus.create(str(tmp_path / "a"), kind=kind, **options) as ds:
        ds.attrs["a"] = ncirrus.Char(text)
    body = (tmp_path / "a" / ("zarr.json" if kind == "zarr3" else ".zattrs")).read_text()
    assert (f'"a": {text}' in body) == (is_json if option is None else option)
    with ncirrus.open(str(tmp_path / "a")) as ds:
        assert str(ds.attrs["a"]).replace(" ", "") == text.replace(" ", "")
