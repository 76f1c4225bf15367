"""Pictures of variables."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import ncirrus


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.fixture
def path(tmp_path: Path) -> str:
    made = str(tmp_path / "a.nc")
    with ncirrus.create(made, kind="nc4") as ds:
        for name, length in (("time", 4), ("lat", 6), ("lon", 12)):
            ds.create_dimension(name, length)
        for name, units, values in (
            ("time", "days since 2001-01-01", np.arange(4.0)),
            ("lat", "degrees_north", np.linspace(-75, 75, 6)),
            ("lon", "degrees_east", np.arange(12) * 30.0),
        ):
            variable = ds.create_variable(name, "f8", (name,))
            variable.attrs["units"] = units
            variable[:] = values
        sst = ds.create_variable("sst", "f4", ("time", "lat", "lon"))
        sst.attrs["units"] = "degC"
        sst[:] = np.arange(4 * 6 * 12).reshape(4, 6, 12)
        text = ds.create_variable("text", "S1", ("lat",))
        text[:] = np.full(6, b"a")
        ds.create_group("g").create_variable("v", "f4", ("lat",))[:] = np.arange(6)
    return made


def test_a_field_is_a_map_of_the_selection(path: str, tmp_path: Path) -> None:
    with ncirrus.open(path) as ds:
        picture = ds["sst"].plot(np.s_[-1])
        assert picture.description.startswith("Map of sst")
        assert "time = 2001-01-04" in picture.description
        assert picture.notes == []
        assert size_of(picture.png)[0] == 1000
        assert picture._repr_png_() == picture.png
        assert "data:image/png;base64," in picture._repr_html_()
        picture.save(tmp_path / "a.png")
        assert (tmp_path / "a.png").read_bytes() == picture.png
        picture.save(tmp_path / "a.svg")
        assert (tmp_path / "a.svg").read_text().startswith("<svg")
        with pytest.raises(FileExistsError):
            picture.save(tmp_path / "a.png")
        picture.save(tmp_path / "a.png", overwrite=True)
        with pytest.raises(ncirrus.InvalidError, match="ends with .png or .svg"):
            picture.save(tmp_path / "a.jpg")


def test_of_further_dimensions_the_first_index_is_drawn_and_noted(path: str) -> None:
    with ncirrus.open(path) as ds:
        picture = ds["sst"].plot(size=(300, 220))
        assert size_of(picture.png) == (300, 220)
        assert any("index 0 of time" in note for note in picture.notes)


def test_lines_of_several_variables_are_one_picture(path: str) -> None:
    with ncirrus.open(path) as ds:
        picture = ds["sst"].plot(np.s_[:, 0, 0], others=[(ds["sst"], np.s_[:, 1, 3])])
        assert picture.description.startswith("Line plot of sst [degC] over time")
        line = ds["sst"].plot(np.s_[::-1, 0, [2]])
        assert line.svg == ds["sst"].plot(np.s_[:, 0, 2]).svg
        with ncirrus.open(path) as other, pytest.raises(ncirrus.InvalidError, match="one dataset"):
            ds["sst"].plot(np.s_[:, 0, 0], others=[(other["sst"], np.s_[:, 0, 0])])


def test_a_difference_is_drawn(path: str, tmp_path: Path) -> None:
    changed = str(tmp_path / "b.nc")
    ncirrus.copy(path, changed)
    with ncirrus.open(changed, "r+") as ds:
        ds["sst"][0, 0, 0] = 5
    with ncirrus.open(path) as ds, ncirrus.open(changed) as other:
        whole = ds["sst"].plot(0)
        difference = ds["sst"].plot(0, compare=other)
        assert "difference" in difference.svg or "-" in difference.description
        assert difference.svg != whole.svg


def test_options_that_do_not_fit_are_errors(path: str) -> None:
    with ncirrus.open(path) as ds:
        sst = ds["sst"]
        with pytest.raises(ncirrus.InvalidError, match='colors="pink" is not one of viridis'):
            sst.plot(0, colors="pink")
        with pytest.raises(ncirrus.InvalidError, match="the lower one first"):
            sst.plot(0, range=(3, 1))
        with pytest.raises(ncirrus.InvalidError, match="positive range"):
            sst.plot(0, range=(-1, 1), log=True)
        with pytest.raises(ncirrus.LimitError, match="max_bytes=10"):
            sst.plot(0, max_bytes=10)
        with pytest.raises(ncirrus.InvalidError, match="pixels"):
            sst.plot(0, size=(10, 10))
        with pytest.raises(ncirrus.InvalidError, match="text cannot be drawn"):
            ds["text"].plot()
        with pytest.raises(ncirrus.InvalidError, match="single value"):
            sst.plot(np.s_[0, 0, 0])


def test_progress_is_reported(path: str) -> None:
    seen: list[tuple[int, int]] = []
    with ncirrus.open(path) as ds:
        ds["sst"].plot(0, progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1][0] == seen[-1][1] == 72


def test_a_page_has_a_picture_of_each_variable_that_can_be_drawn(path: str) -> None:
    with ncirrus.open(path) as ds:
        page = ds.pictures()
        assert list(page.pictures) == ["/sst", "/g/v"]
        assert list(page.left_out) == ["/text"] and "text cannot be drawn" in page.left_out["/text"]
        shown = page._repr_html_()
        assert shown.count("<img") == 2 and "not drawn: 1" in shown and "<script" not in shown
        assert list(ds.pictures(["lat"]).pictures) == ["/lat"]
        with pytest.raises(ncirrus.InvalidError, match="/g is a group"):
            ds.pictures(["g"])
        assert list(ds["g"].pictures().pictures) == ["/g/v"]
        png = page.pictures["/sst"].png
        assert size_of(png) == (360, 260)
