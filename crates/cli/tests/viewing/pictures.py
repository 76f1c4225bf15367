"""Compares pictures of ten pages with those in a folder: ADDRESS FOLDER. Prints what differs, and ends with 1 then.

NCIRRUS_RENEW=1 writes the pictures anew. Pictures are compared by the mean colours of squares of 16 x 16 pixels, of which few may
differ: versions of chromium draw letters differently. Letters that are 0.2 pixels further apart change 0.1 % of the squares at
most, another font up to 11 %. The pictures have DejaVu Sans; on a machine with another font more squares may differ.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from browse import Browser

# Pixels along the edge of a square; a size of pictures is a multiple of it.
EDGE = 16
# A square differs if a mean colour does by more than so many levels of 255.
LEVELS = 18
# The share of squares that may differ, and that of pages with much text.
FEW, MORE = 0.02, 0.06
# So many times as much with another font.
OTHER_FONT = 3


class Page(NamedTuple):
    state: dict[str, Any]
    share: float = FEW
    size: tuple[int, int] = (640, 480)
    scheme: str = "light"


PAGES = {
    "folder": Page({}),
    "dataset": Page({"path": "climate.nc"}, MORE, (768, 480)),
    "attributes": Page({"path": "climate.nc", "tab": "attributes"}),
    "cdl": Page({"path": "climate.nc", "tab": "cdl"}, MORE),
    "storage": Page({"path": "climate.nc", "tab": "storage", "series": "/t"}, size=(640, 560)),
    "map": Page({"path": "climate.nc", "var": "/t"}),
    "image-dark": Page({"path": "climate.nc", "var": "/image"}, scheme="dark"),
    "line": Page({"path": "station.nc", "var": "/t"}),
    "narrow": Page({"path": "climate.nc"}, MORE, (368, 640)),
    "error": Page({"path": "climate.nc", "var": "/none"}),
}

# Changes of pages that must be noticed.
CHANGES = {
    "folder": "document.querySelector('tbody tr').remove();",
    "dataset": "document.querySelector('.dimensions').remove();",
    "attributes": "document.querySelector('.tabs').remove();",
    "cdl": "document.querySelector('pre').textContent = '';",
    "storage": "document.querySelector('.map-of-chunks').remove();",
    "map": "const c = document.getElementById('colours'); c.value = 'magma'; c.dispatchEvent(new Event('change'));",
    "image-dark": "document.documentElement.style.colorScheme = 'light';",
    "line": "for (const part of document.querySelectorAll('.chart .curve, .chart .dot')) part.remove();",
    "narrow": "document.querySelector('.list').remove();",
    "error": "document.querySelector('.failure').remove();",
}

IS_USUAL_FONT = """
const context = document.createElement("canvas").getContext("2d");
const width = (font) => {
  context.font = `100px ${font}`;
  return context.measureText("Temperature 0123").width;
};
return width("system-ui") === width("'DejaVu Sans', monospace");
"""

# The mean colours of the squares of a PNG, row by row: red, green, blue.
MEANS = """
const [png, edge, done] = arguments;
const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
createImageBitmap(new Blob([bytes], { type: "image/png" })).then((image) => {
  const [columns, rows] = [Math.ceil(image.width / edge), Math.ceil(image.height / edge)];
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const squares = Array.from({ length: columns * rows }, () => [0, 0, 0]);
  for (let at = 0; at < data.length; at += 4) {
    const [x, y] = [(at / 4) % image.width, Math.floor(at / 4 / image.width)];
    const square = squares[Math.floor(y / edge) * columns + Math.floor(x / edge)];
    for (const colour of [0, 1, 2]) square[colour] += data[at + colour] / (edge * edge);
  }
  done([image.width, image.height, squares]);
}, (error) => done(String(error)));
"""


class Pictures:
    def __init__(self, address: str, folder: Path) -> None:
        self.browser, self.folder = Browser(address, None), folder
        self.browser.open("folder")
        self.factor = 1 if self.browser.driver.execute_script(IS_USUAL_FONT) else OTHER_FONT

    def taken(self, name: str, change: str = "") -> bytes:
        """A picture of a page, to which a script has done something before."""
        page = PAGES[name]
        size = {"width": page.size[0], "height": page.size[1], "deviceScaleFactor": 1, "mobile": False}
        self.browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.browser.use_scheme(page.scheme)
        self.browser.open(name, expect_error=name == "error", **page.state)
        self.browser.driver.execute_script(f"document.activeElement?.blur(); {change}")
        found = self.browser.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(found["data"])

    def difference(self, one: bytes, other: bytes) -> float:
        """The share of squares that differ; 1 for pictures of different sizes."""
        coded = [base64.b64encode(png).decode() for png in (one, other)]
        means = [self.browser.driver.execute_async_script(MEANS, png, EDGE) for png in coded]
        if means[0][:2] != means[1][:2]:
            return 1.0
        pairs = list(zip(means[0][2], means[1][2], strict=True))
        differs = [max(abs(a - b) for a, b in zip(*pair, strict=True)) > LEVELS for pair in pairs]
        return sum(differs) / len(differs)

    def compare(self, name: str) -> None:
        path, found = self.folder / f"{name}.png", self.taken(name)
        if os.environ.get("NCIRRUS_RENEW"):
            path.write_bytes(found)
        share, most = self.difference(path.read_bytes(), found), PAGES[name].share * self.factor
        if share > most:
            kept = Path(tempfile.gettempdir()) / f"ncirrus-page-{name}.png"
            kept.write_bytes(found)
            self.browser.wrong.append(f"{name}: {share:.1%} of the squares differ, {most:.0%} may; see {kept}")
        # Letters that are drawn a little differently are the same picture; a changed page is not.
        other = self.difference(found, self.taken(name, "document.body.style.letterSpacing = '0.2px';"))
        self.browser.expect(name, other <= PAGES[name].share, f"other letters: {other:.1%} of the squares differ")
        changed = self.difference(found, self.taken(name, CHANGES[name]))
        self.browser.expect(name, changed > PAGES[name].share, f"after a change only {changed:.1%} of the squares differ")


if __name__ == "__main__":
    pictures = Pictures(sys.argv[1], Path(sys.argv[2]))
    try:
        for page in PAGES:
            pictures.compare(page)
    finally:
        pictures.browser.driver.quit()
    print("\n".join(pictures.browser.wrong))
    sys.exit(1 if pictures.browser.wrong else 0)
