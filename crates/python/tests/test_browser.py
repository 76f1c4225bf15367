"""What notebooks show, opened in a browser: every dataset of the corpora, of each kind, in both colour schemes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ENDINGS, KINDS
from test_corpora import CORPUS, corpus
from test_html import NASTY, _light, browser, checked, shown_in  # noqa: F401

import ncirrus
from ncirrus import html

# Outputs below each other on one page.
OUTPUTS = 40


def messages(browser: Any) -> list[str]:  # noqa: F811
    """What the console says, and requests to anywhere but the page itself."""
    said = [entry["message"] for entry in browser.get_log("browser")]
    sent = [entry["message"] for entry in browser.get_log("performance") if "requestWillBeSent" in entry["message"]]
    return said + [message for message in sent if "http://" in message or "https://" in message]


def kept_as(browser: Any, tmp_path: Path, name: str) -> None:  # noqa: F811
    folder = Path(os.environ.get("NCIRRUS_SCREENSHOTS", str(tmp_path)))
    folder.mkdir(parents=True, exist_ok=True)
    assert browser.save_screenshot(str(folder / f"{name}.png"))


def use_scheme(browser: Any, scheme: str) -> None:  # noqa: F811
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


# Opens every fold, and returns how many there are, how many opened, and how many of these have no height.
UNFOLD = """
const folds = [...document.querySelectorAll('.ncirrus details')];
folds.forEach(fold => { if (!fold.open) fold.querySelector('summary').click(); });
const flat = folds.filter(fold => fold.children.length > 1 && fold.querySelector('summary').getBoundingClientRect().height == 0);
return [folds.length, folds.filter(fold => fold.open).length, flat.length];
"""
# Ratio of the lights of text and ground that have no transparency, of each output.
COLOURS = """
return [...document.querySelectorAll('.ncirrus')].map(shown => {
  const style = getComputedStyle(shown); return [style.color, style.backgroundColor];
});
"""


def check_page(browser: Any, folder: Path, pages: list[str]) -> int:  # noqa: F811
    """Everything on a page unfolds and is legible in both schemes, without a message; gives the number of folds."""
    for scheme in ("light", "dark"):
        use_scheme(browser, scheme)
        shown_in(browser, folder, *pages)
        assert browser.title == "page"
        assert len(browser.find_elements("css selector", "body > .output > .ncirrus")) == len(pages)
        count, opened, flat = browser.execute_script(UNFOLD)
        assert (opened, flat) == (count, 0)
        for colours in browser.execute_script(COLOURS):
            text, ground = (_light(colour) for colour in colours)
            assert (text > ground) == (scheme == "dark")
            assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) > 7
    assert messages(browser) == []
    return int(count)


def fixtures(name: str) -> Iterator[tuple[str, Any]]:
    """The datasets of a corpus that open, by their paths."""
    folder = corpus(name)
    places = [path for path in sorted(folder.rglob("*")) if path.suffix in (".nc", ".nc4", ".h5", ".cdf", ".zarr", ".zip")]
    for path in places:
        if any(above.suffix == ".zarr" for above in path.relative_to(folder).parents):
            continue
        try:
            yield str(path.relative_to(folder)), ncirrus.open(str(path))
        except (ncirrus.Error, ValueError, LookupError, OSError, NotImplementedError, RuntimeError):
            continue


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["nczarr", "hdf5", "cfa", "realdata"])
def test_the_datasets_of_the_corpora_are_shown(browser: Any, tmp_path: Path, name: str) -> None:  # noqa: F811
    pages: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, found in fixtures(name):
            pages.append(found._repr_html_())
            checked(pages[-1])
            pages.extend(variable._repr_html_() for variable in list(found.variables.values())[:1])
    folds = 0
    for first in range(0, len(pages), OUTPUTS):
        folds += check_page(browser, tmp_path, pages[first : first + OUTPUTS])
        if first == 0:
            kept_as(browser, tmp_path, f"corpus-{name}")
    print(f"\n{name}: {len(pages)} outputs with {folds} folds")
    assert len(pages) > 10 and folds > len(pages)


@pytest.mark.parametrize("kind", KINDS)
def test_everything_of_each_kind_is_shown(browser: Any, tmp_path: Path, kind: str) -> None:  # noqa: F811
    path = tmp_path / f"a.{ENDINGS[kind]}"
    is_chunked = kind not in ("nc3", "nc5")
    with ncirrus.create(path, kind) as made:
        made.attrs["history"] = NASTY
        for name, length in (("y", 10), ("x", 6)):
            made.create_dimension(name, length)
        how: dict[str, Any] = {"chunks": (2, 3)} if is_chunked else {}
        variable = made.create_variable("v", "f4", ("y", "x"), attrs={"note": NASTY}, **how)
        variable[0:4] = np.arange(24).reshape(4, 6)
        if is_chunked:
            made.create_group("g").create_variable("w", "i4", ("x",))[...] = 1
    found = ncirrus.open(path)
    # What shows attributes asks for none.
    assert found.attrs["history"] == found["v"].attrs["note"] == NASTY
    pages = [found._repr_html_(), found["v"]._repr_html_(), found["v"].explain()._repr_html_()]
    if is_chunked:
        pages += [found["g"]._repr_html_(), found["v"].chunk_map()._repr_html_()]
    pages.append(html.report(ncirrus.copy(path, tmp_path / "copy.zarr")))
    check_page(browser, tmp_path, pages)
    assert NASTY in browser.find_element("tag name", "body").get_attribute("textContent")
    if is_chunked:
        cells = browser.find_elements("css selector", "svg rect title")
        table = found["v"].chunk_table()
        tips = {tip.get_attribute("textContent").split(":")[0]: tip.get_attribute("textContent") for tip in cells}
        assert set(tips) == {f"{row}, {column}" for row in range(5) for column in range(2)}
        missing = {place for place, tip in tips.items() if tip.endswith(": missing")}
        assert missing == {f"{row}, {column}" for row in (2, 3, 4) for column in range(2)}
        assert int(table["missing"].sum()) in (0, len(missing))
        assert len(browser.find_elements("css selector", "svg .nc-missing rect")) == len(missing)
    kept_as(browser, tmp_path, f"kind-{kind}")
