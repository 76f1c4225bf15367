"""Plain Zarr as zarr-python and xarray write it: consolidated metadata, unlimited dimensions, arrays at the root."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

zarr = pytest.importorskip("zarr", minversion="3.4")


def nested(path: Path, zarr_format: int) -> Path:
    """Groups and arrays, consolidated by zarr-python."""
    root = zarr.create_group(str(path), zarr_format=zarr_format, attributes={"title": "before"})
    for group, name in ((root, "v"), (root.create_group("below", attributes={"level": 1}), "w")):
        words: dict[str, Any] = {"dimension_names": ["t", "x"]} if zarr_format == 3 else {}
        array = group.create_array(name, shape=(2, 3), chunks=(1, 3), dtype="i4", fill_value=-1, **words)
        array[:] = np.arange(6).reshape(2, 3)
        if zarr_format == 2:
            array.attrs["_ARRAY_DIMENSIONS"] = ["t", "x"]
    root["below"].create_group("empty")
    zarr.consolidate_metadata(str(path))
    return path


def seen(group: Any) -> dict[str, Any]:
    """What zarr-python sees: attributes, shapes, values."""
    found: dict[str, Any] = {"": dict(group.attrs)}
    for name, member in group.members(max_depth=None):
        found[name] = dict(member.attrs)
        if isinstance(member, zarr.Array):
            found[name] = (found[name], member.shape, member[...].tolist())
    return found


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_of_zarr_python_stay_in_step(tmp_path: Path, zarr_format: int) -> None:
    path = nested(tmp_path / "a.zarr", zarr_format)
    with ncirrus.open(path) as ds:
        assert set(ds.variables) == {"v"} and ds["below/w"].shape == (2, 3)
        assert ds.groups["below"].attrs["level"] == 1 and "empty" in ds.groups["below"].groups
    with ncirrus.open(path, "r+") as ds:
        ds.attrs["title"] = "after"
        ds["v"].attrs["units"] = "K"
        ds["v"].append(np.full((1, 3), 7, "i4"))
        ds["below/w"][0, 0] = 9
        ds.create_variable("new", "f4", ("x",))[:] = [1, 2, 3]
    consolidated, single = zarr.open_consolidated(str(path)), zarr.open_group(str(path), mode="r", use_consolidated=False)
    assert seen(consolidated) == seen(single)
    assert consolidated.attrs["title"] == "after" and consolidated["v"].shape == (3, 3)
    assert consolidated["v"][2].tolist() == [7, 7, 7] and consolidated["below/w"][0, 0] == 9
    assert {"new", "v", "below"} <= set(dict(consolidated.members()))
    if zarr_format == 3:
        whole = json.loads((path / "zarr.json").read_text())["consolidated_metadata"]
        assert whole["kind"] == "inline" and whole["must_understand"] is False
    # And once more by zarr-python, which finds nothing to change.
    before = seen(zarr.open_group(str(path), mode="r", use_consolidated=False))
    zarr.consolidate_metadata(str(path))
    with ncirrus.open(path) as ds:
        assert ds["v"].shape == (3, 3) and ds["new"][:].tolist() == [1, 2, 3]
    assert seen(zarr.open_consolidated(str(path))) == before


def test_consolidated_metadata_are_all_that_is_read(tmp_path: Path) -> None:
    path = nested(tmp_path / "a.zarr", 3)
    for document in (path / "v" / "zarr.json", path / "below" / "zarr.json", path / "below" / "w" / "zarr.json"):
        document.unlink()
    with ncirrus.open(path) as ds:
        assert ds["below/w"][1].tolist() == [3, 4, 5] and ds["v"][0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_unlimited_dimensions_come_back(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.zarr"
    words = {"dialect": "plain"} if kind == "zarr3" else {}
    with ncirrus.create(path, kind, **words) as new:
        new.create_dimension("t", None)
        new.create_dimension("x", 3)
        new.create_variable("v", "i4", ("t", "x"))[:2] = 1
    with ncirrus.open(path) as ds:
        assert ds.dims["t"].is_unlimited and not ds.dims["x"].is_unlimited
    xr = pytest.importorskip("xarray")
    with xr.open_dataset(path, engine="ncirrus") as ds:
        assert ds.encoding["unlimited_dims"] == {"t"} and "_ncirrus" not in ds.attrs
        ds.load().ncirrus.to(tmp_path / "b.zarr", kind=kind, **words)
        ds.load().ncirrus.to(tmp_path / "b.nc", kind="nc4")
    for name in ("b.zarr", "b.nc"):
        with ncirrus.open(tmp_path / name) as ds:
            assert ds.dims["t"].is_unlimited and not ds.dims["x"].is_unlimited, name


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_at_the_root_is_appended_to(tmp_path: Path, zarr_format: int) -> None:
    path = tmp_path / "v.zarr"
    array = zarr.create_array(str(path), shape=(2, 3), chunks=(1, 3), dtype="i4", fill_value=-1, zarr_format=zarr_format)
    array[:] = 1
    with ncirrus.open(path, "r+") as ds:
        ds["v"].append([[2, 2, 2]])
        ds["v"].attrs["units"] = "K"
        ds["v"][0, 0] = 5
    again = zarr.open_array(str(path), mode="r")
    assert again[:].tolist() == [[5, 1, 1], [1, 1, 1], [2, 2, 2]] and again.attrs["units"] == "K"
