"""Strings that contain NUL: every kind of dataset keeps them whole or refuses them, whatever the way to write them."""

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
                # Text: bytes, which may be NUL in every kind.
                v.attrs["a"] = ODD[0]
            else:
                v.attrs["a"] = ODD

    if not KINDS[kind] and way != "attribute":
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
