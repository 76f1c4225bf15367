"""What notebooks show of `ncirrus.optimize`: chunks before and after, escaped, bounded, without scripts."""

from __future__ import annotations

import os
import pickle
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest
from test_html import NASTY, _light, browser, checked, shown_in  # noqa: F401

import ncirrus
from ncirrus import chunk_boxes, optimizing
from ncirrus.reports import OptimizedFile, OptimizedFiles, PlannedVariable, ReadCost, TypicalReads

AXE = Path(__file__).parents[3] / ".node/node_modules/axe-core/axe.min.js"


def variable(path: str = "/tas", **words: Any) -> PlannedVariable:
    found: dict[str, Any] = {
        **{"path": path, "dims": ("time", "lat", "lon"), "shape": (1980, 144, 192), "element_bytes": 4},
        **{"before": (1, 144, 192), "after": (38, 144, 192), "recoded": True, "filters": None, "kept": None},
    }
    return PlannedVariable(**{**found, **words})


def moved(path: str) -> PlannedVariable:
    return variable(path, before=(38, 144, 192), recoded=False)


def file(*variables: PlannedVariable, **words: Any) -> OptimizedFile:
    costs = [ReadCost(requests, requests * 1024) for requests in (1, 2, 1980, 15)]
    found: dict[str, Any] = {
        **{"path": "tas.nc", "target": "tas.nc", "outcome": "optimized", "error": None, "was_scattered": True},
        **{"variables": list(variables), "notes": [], "bytes_before": 15 << 20, "bytes_after": 14 << 20, "text": "tas.nc: optimized\n"},
        "reads_before": TypicalReads("/tas", *costs, estimated=False),
        "reads_after": TypicalReads("/tas", *costs[:2], ReadCost(53, 53 << 20), costs[3], estimated=False),
    }
    return OptimizedFile(**{**found, **words})


def pictures(page: str) -> list[ElementTree.Element]:
    """The pictures of a page, each a document of its own."""
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def words_of(picture: ElementTree.Element) -> tuple[str, str]:
    names = {element.get("id"): element.text or "" for element in picture}
    title, words = (picture.get("aria-labelledby") or "").split()
    assert picture.get("role") == "img"
    return names[title], names[words]


def test_a_file_shows_the_chunks_of_each_variable_before_and_after() -> None:
    kept = variable("/lossy", recoded=False, after=(1, 144, 192), kept="its filter is lossy")
    page = file(variable(), moved("/huss"), kept)._repr_html_()
    checked(page)
    told = [words_of(picture) for picture in pictures(page)]
    assert told == [
        ("Chunks of /tas before", "time × lat × lon: 1 × 144 × 192; number of chunks: 1,980"),
        ("Chunks of /tas after", "time × lat × lon: 38 × 144 × 192; number of chunks: 53"),
        ("Chunks of /lossy", "time × lat × lon: 1 × 144 × 192; number of chunks: 1,980"),
        ("Chunks of /huss", "time × lat × lon: 38 × 144 × 192; number of chunks: 53"),
    ]
    for part in ("Rechunked", "Moved as they are", "its filter is lossy", "108.0 KiB", "4.0 MiB", "moved to the front"):
        assert part in page
    # What typical reads cost, before and after.
    assert "<tr><th>one series</th><td>1,980</td><td>53</td><td>1.9 MiB</td><td>53.0 MiB</td></tr>" in page
    assert "estimated" not in page and "14.0 MiB" in page


def test_a_dry_run_says_what_would_change() -> None:
    planned = file(variable(), outcome="planned", bytes_after=None)
    reads = planned.reads_after
    assert reads is not None
    estimated = TypicalReads(reads.variable, reads.opening, reads.step, reads.series, reads.whole, estimated=True)
    page = file(variable(), outcome="planned", bytes_after=None, reads_after=estimated)._repr_html_()
    checked(page)
    assert "would be optimized" in page and "(estimated)" in page and len(pictures(page)) == 2


def test_what_fits_already_has_one_picture() -> None:
    page = file(moved("/tas"), outcome="unchanged", reads_before=None, reads_after=None)._repr_html_()
    checked(page)
    assert len(pictures(page)) == 1 and "Fit the profile" in page and "metadata" not in page


def test_names_from_files_are_text() -> None:
    hostile = variable(f"/{NASTY}", dims=(NASTY, '"><b onload="x', "&"), filters=[NASTY])
    page = file(hostile, moved(f"/m{NASTY}"), path=NASTY, target=f"out/{NASTY}", notes=[NASTY])._repr_html_()
    tags = checked(page)
    assert "b onload" not in tags and page.count("&lt;script&gt;") >= 7
    assert words_of(pictures(page)[0])[0] == f"Chunks of /{NASTY} before"
    failed = file(path=NASTY, outcome="failed", error=NASTY, reads_before=None, reads_after=None, variables=[])
    assert NASTY not in OptimizedFiles([failed, failed])._repr_html_()
    # Names of any length and of any characters.
    odd = variable("/" + "x" * 10**6, dims=("\ud800", "\0", "y" * 10**6))
    assert len(file(odd)._repr_html_()) < 20_000
    checked(file(odd)._repr_html_())


@pytest.mark.parametrize("count", [1, 60, 3000])
def test_a_page_is_bounded_however_many_variables_there_are(count: int) -> None:
    page = file(*(variable(f"/v{at}") for at in range(count)))._repr_html_()
    checked(page)
    assert len(pictures(page)) == 2 * min(count, optimizing.PICTURES)
    assert ("There is more than a page holds" in page) == (count > 1000)


@pytest.mark.parametrize("count", [2, 60, 3000])
def test_a_page_is_bounded_however_many_files_there_are(count: int) -> None:
    failed = file(path="bad.nc", outcome="failed", error="is not there", reads_before=None, reads_after=None, variables=[])
    files = OptimizedFiles([file(variable(), moved("/huss"), path=f"{at}.nc") for at in range(count)] + [failed])
    page = files._repr_html_()
    checked(page)
    # What failed is at the top, also where its fold does not fit.
    assert page.index("is not there") < page.index("<details")
    assert f"{count:,} optimized, 1 failed" in page
    assert len(pictures(page)) <= 2 * optimizing.PICTURES


@pytest.mark.parametrize(
    ("shape", "before", "after"),
    [
        ((10,), (1,), (10,)),
        ((10, 7), (1, 7), (4, 7)),
        ((5, 4, 3), (1, 4, 3), (5, 2, 2)),
        ((2**62, 2**61, 2**60, 9, 9, 9, 9), (1, 1, 1, 9, 9, 9, 9), (2**40, 2**40, 2**40, 9, 9, 9, 9)),
        ((0, 4), (1, 4), (100, 4)),
        ((3, 4), (8, 8), (8, 8)),
        ((144, 192), None, (144, 192)),
        ((1,) * 32, (1,) * 32, (1,) * 32),
    ],
)
def test_pictures_of_any_shape_are_small(shape: tuple[int, ...], before: Any, after: tuple[int, ...]) -> None:
    dims = tuple(f"d{axis}" for axis in range(len(shape)))
    shown = variable(shape=shape, dims=dims, before=before, after=after)
    page = file(shown)._repr_html_()
    checked(page)
    for picture in pictures(page):
        assert len(ElementTree.tostring(picture)) < 5_000
        width, height = (float(picture.get(side) or "nan") for side in ("width", "height"))
        assert 10 < width < 180 and 8 < height < 100
        assert "nan" not in ElementTree.tostring(picture, "unicode") and "inf" not in ElementTree.tostring(picture, "unicode")


def test_a_scalar_and_elements_of_any_length_are_told_in_words() -> None:
    scalar = variable(shape=(), dims=(), before=None, after=None, recoded=False)
    page = file(scalar, variable("/names", element_bytes=None))._repr_html_()
    checked(page)
    assert len(pictures(page)) == 2 and "bytes a chunk" not in page


def test_the_axes_with_most_chunks_are_shown() -> None:
    shape, grids = (100, 3, 50, 40, 30), [(1, 3, 50, 40, 30), (100, 3, 25, 10, 30)]
    assert chunk_boxes.shown_axes(shape, grids) == [0, 2, 3]
    assert chunk_boxes.shown_axes((9, 9, 9, 9), [(9, 9, 9, 9)]) == [1, 2, 3]


def lines_of(shape: tuple[int, ...], chunk: tuple[int, ...]) -> int:
    picture = chunk_boxes.picture(shape, chunk, range(len(shape)), "a", "b")
    found = re.search(r'class="nc-lines" d="(.*?)"', picture)
    return found[1].count("M") if found else 0


def test_lines_divide_an_axis_into_its_chunks() -> None:
    assert [lines_of((12,), (chunk,)) for chunk in (12, 6, 5, 1)] == [0, 1, 2, 11]
    assert lines_of((4, 6, 8), (2, 2, 2)) == 1 + 2 + 3
    # More chunks have more lines, and not too many.
    many = [lines_of((2**40,), (2**40 // count,)) for count in (16, 20, 50, 2000, 2**30)]
    assert many == sorted(many) and many[0] == 15 and many[-1] == chunk_boxes.LINES


def test_results_are_a_list_with_a_page(tmp_path: Path) -> None:
    path = tmp_path / "maps.nc"
    with netCDF4.Dataset(path, "w") as made:
        for name, length in (("time", None), ("y", 64), ("x", 64)):
            made.createDimension(name, length)
        maps = made.createVariable("maps", "f4", ("time", "y", "x"), chunksizes=(1, 64, 64), zlib=True)
        maps[:] = np.arange(200 * 64 * 64).reshape(200, 64, 64) % 777
        made.createVariable("y", "f8", ("y",))[:] = np.arange(64)
        made.createVariable("names", str, ("y",), chunksizes=(64,))
    planned = ncirrus.optimize(path, profile="cmip7", dry_run=True)
    assert isinstance(planned, list) and isinstance(planned, OptimizedFiles)
    shown = {one.path: (one.dims, one.shape, one.element_bytes, one.before) for one in planned[0].variables}
    assert shown == {
        "/maps": (("time", "y", "x"), (200, 64, 64), 4, (1, 64, 64)),
        "/y": (("y",), (64,), 8, None),
        "/names": (("y",), (64,), None, (64,)),
    }
    page = planned._repr_html_()
    checked(page)
    assert "would be optimized" in page
    done = ncirrus.optimize([path], profile="cmip7")
    told = [words_of(picture)[1] for picture in pictures(done._repr_html_())]
    assert told[:2] == [
        "time × y × x: 1 × 64 × 64; number of chunks: 200",
        "time × y × x: 200 × 64 × 64; number of chunks: 1",
    ]
    assert str(done) == done[0].text and pickle.loads(pickle.dumps(done))._repr_html_().count("<svg") == len(told)
    absent = ncirrus.optimize([path, tmp_path / "absent.nc"], profile="cmip7", on_error="report")
    page = absent._repr_html_()
    checked(page)
    assert "1 unchanged, 1 failed" in page and page.count("absent.nc") >= 2


RULES = """
const done = arguments[0];
axe.run().then((found) => done(found.violations.map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_legibly_and_accessibly(browser: Any, tmp_path: Path, scheme: str) -> None:  # noqa: F811
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    failed = file(path=NASTY, outcome="failed", error=NASTY, reads_before=None, reads_after=None, variables=[])
    own = file(variable("/time", shape=(1980,), dims=("time",), before=(1,), after=(1980,), element_bytes=8), variable(), moved("/huss"))
    shown_in(browser, tmp_path, own._repr_html_(), OptimizedFiles([own, failed])._repr_html_())
    assert browser.title == "page" and browser.get_log("browser") == []
    browser.execute_script("document.documentElement.lang = 'en'; document.querySelectorAll('details').forEach((fold) => fold.open = true)")
    boxes = browser.find_elements("css selector", "svg .nc-box")
    assert len(boxes) == 10 and all(box.size["width"] > 10 for box in boxes)
    # Lines and the first chunk differ from the ground.
    script = (
        "const colour = (what, name) => getComputedStyle(document.querySelector(what))[name];"
        "return [colour('.nc-box', 'stroke'), colour('.nc-box', 'fill'), colour('.nc-lines', 'stroke'), colour('.nc-first', 'fill'),"
        "colour('.ncirrus', 'backgroundColor')]"
    )
    edge, side, line, first, ground = (_light(colour) for colour in browser.execute_script(script))
    for one, other in ((edge, ground), (line, side), (first, ground), (first, side)):
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) > 3, (scheme, edge, side, line, first, ground)
    kept = Path(os.environ.get("NCIRRUS_SCREENSHOTS", str(tmp_path)))
    kept.mkdir(parents=True, exist_ok=True)
    assert browser.save_screenshot(str(kept / f"optimized-{scheme}.png"))
    if not AXE.exists():
        assert os.environ.get("CI") != "true", "axe-core is not installed"
        pytest.skip("axe-core is not installed")
    browser.execute_script(AXE.read_text())
    # Rules for whole pages are not for an output of a notebook.
    violations = [one for one in browser.execute_async_script(RULES) if one[0] not in ("landmark-one-main", "page-has-heading-one", "region")]
    assert violations == []
