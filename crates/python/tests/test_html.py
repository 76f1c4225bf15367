"""What notebooks show: escaped, bounded, without scripts and requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ncirrus
from ncirrus import html

NASTY = "<script>document.title='taken'</script>"
VOID = {"path", "rect"}


class Attributes(dict[str, Any]):
    is_loaded = True


class Dim:
    def __init__(self, name: str, length: int, is_unlimited: bool = False) -> None:
        self.name, self.is_unlimited, self._length = name, is_unlimited, length

    def __len__(self) -> int:
        return self._length


def variable(name: str = "sst", shape: tuple[int, ...] = (4, 6, 8), **words: Any) -> Any:
    dataset = SimpleNamespace(url="memory://a/b.zarr")
    dims = ("time", "lat", "lon", "level")[: len(shape)]
    found = {
        "name": name,
        "path": f"/{name}",
        "dataset": dataset,
        "dims": dims,
        "shape": shape,
        "chunks": tuple(max(1, length // 2) for length in shape),
        "dtype": np.dtype("f4"),
        "nbytes": int(np.prod(shape)) * 4,
        "filters": [{"id": "zstd", "level": 3}],
        "fault": None,
        "storage": "chunked",
        "attrs": Attributes(units="K", note=NASTY, flags=np.arange(100)),
    }
    return SimpleNamespace(**{**found, **words})


def dataset(count: int = 3, **words: Any) -> Any:
    found = {
        "url": f"s3://bucket/{NASTY}.nc",
        "path": "/",
        "kind": "netCDF-4",
        "facts": {"zarr_format": "2"},
        "mode": "r",
        "dims": {"time": Dim("time", 4, True), "lat": Dim("lat", 6)},
        "variables": {f"v{at}": variable(f"v{at}") for at in range(count)},
        "groups": {},
        "attrs": Attributes(title="sea surface", history=NASTY),
    }
    return SimpleNamespace(**{**found, **words})


class Checker(HTMLParser):
    """Tags are balanced, and none of them runs or loads anything."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "iframe", "link", "object", "embed")
        assert not any(name.startswith("on") or name in ("src", "href", "style") for name, _ in attrs)
        self.stack.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag, tag


def checked(page: str) -> list[str]:
    checker = Checker()
    checker.feed(page)
    assert checker.stack == []
    assert len(page.encode()) <= html.LIMIT
    assert "<script" not in page
    return checker.tags


def table(shape: tuple[int, ...], chunks: tuple[int, ...], missing: set[int]) -> Any:
    counts = [-(-length // chunk) for length, chunk in zip(shape, chunks)]
    dtype = [("start", "i8", (len(shape),)), ("length", "u8"), ("missing", "?")]
    rows = np.zeros(int(np.prod(counts)), dtype)
    for at, place in enumerate(np.ndindex(*counts)):
        rows[at] = (np.multiply(place, chunks), 100 * (at + 1), at in missing)
    return rows


def mapped(shape: tuple[int, ...], chunks: tuple[int, ...], missing: set[int] = frozenset(), **words: Any) -> Any:  # type: ignore[assignment]
    shown = variable(shape=shape, chunks=chunks)
    asked: list[Any] = []

    def chunk_table(selection: Any) -> Any:
        asked.append(selection)
        kept = [part.indices(length) for part, length in zip(selection, shape)]
        rows = table(shape, chunks, set(missing))
        inside = np.ones(len(rows), bool)
        for axis, (start, stop, _) in enumerate(kept):
            first = rows["start"][:, axis]
            inside &= (first < stop) & (first + chunks[axis] > start)
        return rows[inside]

    shown.chunk_table = chunk_table
    return html.ChunkMap(shown, **words), asked


def test_a_dataset_shows_its_members_escaped() -> None:
    page = html.dataset(dataset())
    tags = checked(page)
    assert tags.count("details") >= 6
    assert "&lt;script&gt;" in page and "unlimited" in page and "sea surface" in page


def test_groups_are_nested() -> None:
    below = dataset(1, path="/a", groups={"b": dataset(2, path="/a/b")})
    page = html.dataset(dataset(1, groups={"a": below}))
    checked(page)
    assert "<code>a</code>" in page and "<code>b</code>" in page


@pytest.mark.parametrize("count", [60, 3000, 30_000])
def test_a_page_is_bounded_however_many_variables_there_are(count: int) -> None:
    page = html.dataset(dataset(count))
    checked(page)
    assert f"51 to {min(100, count)} of {count}" in page
    assert ("There is more than a page holds" in page) == (count > 1000)


def test_long_attributes_are_cut() -> None:
    page = html.variable(variable(attrs=Attributes(long="x" * 10**6)))
    checked(page)
    assert "(1000000 characters)" in page and len(page) < 10_000


def test_attributes_that_were_not_read_are_not_asked_for() -> None:
    class Pending(Attributes):
        is_loaded = False

        def items(self) -> Any:
            raise AssertionError("a request")

        def __len__(self) -> int:
            raise AssertionError("a request")

    page = html.variable(variable(attrs=Pending()))
    checked(page)
    assert "not read yet" in page


def test_a_variable_that_cannot_be_read_tells_why() -> None:
    page = html.dataset(dataset(0, variables={"v": variable("v", fault=f"an unknown codec {NASTY}")}))
    checked(page)
    assert "an unknown codec &lt;script&gt;" in page


def test_plans_and_reports_are_folded_mappings() -> None:
    plan = {"requests": 12, "bytes": 1_234_567, "sources": [{"object": NASTY, "length": 4}] * 500, "more": {"a": 1}}
    page = html.plan(plan)
    checked(page)
    assert "1,234,567" in page and "51 to 100 of 500" in page
    checked(html.report(SimpleNamespace(written=3, left_out=["a"])))


def test_a_map_has_a_cell_for_each_chunk() -> None:
    shown, asked = mapped((4, 6, 8), (2, 2, 2), {1, 2})
    page = shown._repr_html_()
    checked(page)
    assert page.count("<rect") == 12 and page.count(": missing") == 2
    assert "0, 1: missing" in page and "0, 0: 100 B" in page
    assert asked == [(slice(0, 1), slice(None), slice(None))]
    assert "12 x" not in repr(shown) and "3 x 4 chunks, 2 missing" in repr(shown)


def test_planes_are_chosen_by_index() -> None:
    shown, asked = mapped((4, 6, 8), (2, 2, 2), plane={"lat": 5})
    assert asked == [(slice(None), slice(5, 6), slice(None))]
    assert shown.sizes.shape == (2, 4)
    with pytest.raises(ValueError, match="'depth'"):
        mapped((4, 6), (2, 2), plane={"depth": 0})
    with pytest.raises(IndexError, match="lat=6"):
        mapped((4, 6), (2, 2), plane={"lat": 6})


def test_more_chunks_than_cells_are_shown_together() -> None:
    shown, _ = mapped((300, 200), (1, 1), {0, 1, 2, 3, 200, 201})
    page = shown._repr_html_()
    checked(page)
    assert 1000 < page.count("<title>") <= html.CELLS
    assert "chunks a cell" in page
    worst, _ = mapped((300, 200), (1, 1), set(range(0, 60_000, 2)))
    assert 1000 < checked(worst._repr_html_()).count("title") <= html.CELLS
    assert int(html._binned(shown.sizes, shown.missing, 1000)[2].sum()) == 6


def test_as_many_cells_as_there_may_be_fit_on_a_page() -> None:
    shown, _ = mapped((64, 64), (1, 1), set(range(0, 4096, 3)))
    page = shown._repr_html_()
    checked(page)
    assert page.count("<title>") == html.CELLS


def test_a_variable_without_chunks_has_no_map() -> None:
    with pytest.raises(ValueError, match="not stored in chunks"):
        html.ChunkMap(variable(chunks=None))


def test_one_dimension_is_one_row() -> None:
    shown, _ = mapped((10,), (3,), {3})
    assert shown.sizes.shape == (1, 4)
    assert shown._repr_html_().count("<rect") == 4


@pytest.mark.parametrize("kind", ["zarr2", "zarr3", "nc4"])
def test_maps_of_stored_chunks(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("a.nc" if kind == "nc4" else "a.zarr")
    with ncirrus.create(path, kind) as made:
        made.create_dimension("y", 10)
        made.create_dimension("x", 10)
        group = made.create_group("g")
        group.create_variable("v", "f4", ("y", "x"), chunks=(2, 5), filters="zstd")[0:4] = np.arange(40).reshape(4, 10)
    shown = ncirrus.open(path)["g/v"].chunk_map()
    assert shown.sizes.shape == (5, 2) and shown.missing.tolist() == [[False] * 2] * 2 + [[True] * 2] * 3
    assert (shown.sizes[:2] > 0).all() and (shown.sizes[2:] == 0).all()
    assert shown._repr_html_().count(": missing") == 6
    checked(ncirrus.open(path)._repr_html_())
    checked(ncirrus.open(path)["g/v"]._repr_html_())
    checked(ncirrus.open(path)["g/v"].explain()._repr_html_())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    found = shutil.which("chromium"), shutil.which("chromedriver")
    if None in found:
        assert os.environ.get("CI") != "true", "chromium and chromium-driver are not installed"
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.binary_location = found[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
    yield driver
    driver.quit()


def shown_in(browser: Any, folder: Path, *pages: str) -> None:
    """Opens a page like a notebook's, with several outputs below each other."""
    body = "".join(f"<div class='output'>{page}</div>" for page in pages)
    path = folder / "page.html"
    path.write_text(f"<!doctype html><html><head><meta charset='utf-8'><title>page</title></head><body>{body}</body></html>")
    browser.get(path.as_uri())


def test_a_browser_shows_everything_without_a_message(browser: Any, tmp_path: Path) -> None:
    shown, _ = mapped((4, 6, 8), (2, 2, 2), {1, 2})
    shown_in(browser, tmp_path, html.dataset(dataset(120)), html.variable(variable()), shown._repr_html_())
    assert browser.title == "page"
    assert browser.get_log("browser") == []
    requests = [entry["message"] for entry in browser.get_log("performance") if "requestWillBeSent" in entry["message"]]
    assert not [message for message in requests if "http://" in message or "https://" in message]
    fold = browser.find_elements("css selector", ".ncirrus details details")[0]
    assert fold.get_attribute("open") is None
    fold.find_element("tag name", "summary").click()
    assert fold.get_attribute("open") is not None
    assert len(browser.find_elements("css selector", "svg rect")) == 12
    assert len(browser.find_elements("css selector", "svg .nc-missing rect")) == 2
    drawn = [rect.size for rect in browser.find_elements("css selector", "svg rect")]
    assert {(size["width"], size["height"]) for size in drawn} == {(24, 24)}
    tips = [tip.get_attribute("textContent") for tip in browser.find_elements("css selector", "svg rect title")]
    assert sorted(tips)[:2] == ["0, 0: 100 B", "0, 1: missing"]
    assert NASTY in browser.find_element("tag name", "body").get_attribute("textContent")
    kept = Path(os.environ.get("NCIRRUS_SCREENSHOTS", str(tmp_path)))
    kept.mkdir(parents=True, exist_ok=True)
    assert browser.save_screenshot(str(kept / "light.png"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes_are_legible(browser: Any, tmp_path: Path, scheme: str) -> None:
    feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    shown_in(browser, tmp_path, html.dataset(dataset()))
    script = "const s = getComputedStyle(document.querySelector('.ncirrus')); return [s.color, s.backgroundColor]"
    text, ground = (_light(colour) for colour in browser.execute_script(script))
    assert (text > ground) == (scheme == "dark")
    assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) > 7
    kept = Path(os.environ.get("NCIRRUS_SCREENSHOTS", str(tmp_path)))
    assert browser.save_screenshot(str(kept / f"{scheme}.png"))


def _light(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`."""
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
