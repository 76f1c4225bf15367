"""Opens the pages of `ncirrus view` or `ncirrus serve` in chromium: ADDRESS pages|served|corpus AXE.

Prints what is wrong, and ends with 1 then.

With NCIRRUS_SCREENSHOTS, pictures of the pages are kept in that folder.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

# Datasets of one folder of a corpus at most; the others are taken in turn by their number.
MOST = 4
# Seconds until a page must be complete.
PATIENCE = 60

SETTLED = """
const main = document.getElementById('main');
const waits = [...document.querySelectorAll('#main [role=status]')].some((shown) => /^(Opening|Listing|Reading|Planning)/.test(shown.textContent) && !shown.hidden);
return main.childElementCount > 0 && !waits && document.getElementById('activity').hidden;
"""
# Colours of the middle of the map: more than one if it was drawn.
COLOURS = """
const canvas = document.querySelector('canvas.plane');
const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
const seen = new Set();
for (let at = 0; at < data.length; at += 4 * 97) if (data[at + 3]) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
return seen.size;
"""
AXE = """
const done = arguments[0];
axe.run().then((found) => done(found.violations.map((one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])));
"""


class Browser:
    def __init__(self, address: str, axe: Path | None) -> None:
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,980"):
            options.add_argument(argument)
        options.add_argument(f"--user-data-dir={tempfile.mkdtemp()}")
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        self.driver.set_script_timeout(PATIENCE)
        self.address, self.axe, self.wrong = address, axe.read_text() if axe else "", []

    def open(self, name: str, expect_error: bool = False, **state: Any) -> None:
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#{urlencode(state)}")
        self.wait(name)
        self.check(name, expect_error)

    def wait(self, name: str) -> None:
        end = time.monotonic() + PATIENCE
        time.sleep(0.15)
        while not self.driver.execute_script(SETTLED):
            if time.monotonic() > end:
                self.wrong.append(f"{name}: not complete after {PATIENCE} s")
                return
            time.sleep(0.05)
        # Pictures are drawn in the next frame, and ranges are chosen after the first tile.
        time.sleep(0.15)

    def check(self, name: str, expect_error: bool) -> None:
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        # Chromium itself reports responses with the status of an error.
        errors = [message for message in said if not (expect_error and "Failed to load resource" in message)]
        self.wrong += [f"{name}: {message}" for message in errors]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.requestWillBeSent":
                continue
            url = message["params"]["request"]["url"]
            if url.startswith(("http:", "https:", "ws:")) and not url.startswith(self.address):
                self.wrong.append(f"{name}: a request to {url}")
        shown = self.find("#main > .failure, .stage .failure, .panel .failure")
        if bool(shown) != expect_error:
            self.wrong.append(f"{name}: {[part.text for part in shown] or 'no error is shown'}")

    def axe_run(self, name: str) -> None:
        self.driver.execute_script(self.axe)
        for violation in self.driver.execute_async_script(AXE):
            self.wrong.append(f"{name}: axe: {violation}")

    def use_scheme(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def keep(self, name: str) -> None:
        folder = os.environ.get("NCIRRUS_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(Path(folder) / f"{name}.png"))

    def find(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return " ".join(found.text for found in self.find(selector))

    def expect(self, name: str, is_so: bool, fact: Any) -> None:
        if not is_so:
            self.wrong.append(f"{name}: {fact!r}")


def pages(browser: Browser) -> None:
    """Every kind of page in both colour schemes, and what can be done on it."""
    shown = {
        "folder": {},
        "dataset": {"path": "sst.nc"},
        "attributes": {"path": "sst.nc", "tab": "attributes"},
        "storage": {"path": "sst.nc", "tab": "storage", "series": "/sst"},
        "cdl": {"path": "sst.nc", "tab": "cdl"},
        "code": {"path": "sst.nc", "tab": "code"},
        "map": {"path": "sst.nc", "var": "/sst"},
        "series": {"path": "sst.nc", "var": "/sst", "at": "9,20", "i": "6,0,0", "colours": "balance"},
        "section": {"path": "sst.nc", "var": "/sst", "x": 0, "y": 1},
        "line": {"path": "sst.nc", "var": "/lat"},
    }
    for scheme in ("light", "dark"):
        browser.use_scheme(scheme)
        for name, state in shown.items():
            browser.open(f"{name} ({scheme})", **state)
            browser.axe_run(f"{name} ({scheme})")
            browser.keep(f"{name}-{scheme}")
            if browser.find("canvas.plane"):
                colours = browser.driver.execute_script(COLOURS)
                browser.expect(name, colours > 20, f"{colours} colours")
    browser.use_scheme("light")
    browser.open("no variable", expect_error=True, path="sst.nc", var="/nope")
    browser.expect("no variable", "hint" not in browser.text(".failure") and "ncirrus info" in browser.text(".failure"), browser.text(".failure"))
    browser.axe_run("no variable")
    by_keyboard(browser)
    by_pointer(browser)


def served(browser: Browser) -> None:
    """The pages of a server: its own address leads to them, and they show the addresses of a dataset in each protocol."""
    server = browser.address.removesuffix("view/")
    browser.driver.get(server)
    browser.wait("root")
    browser.expect("root", browser.driver.current_url.startswith(browser.address), browser.driver.current_url)
    browser.driver.get_log("performance")
    shown = {
        "folder": {},
        "dataset": {"path": "sst.nc"},
        "storage": {"path": "sst.nc", "tab": "storage", "series": "/sst"},
        "code": {"path": "sst.nc", "tab": "code"},
        "map": {"path": "sst.nc", "var": "/sst"},
        "line": {"path": "sst.nc", "var": "/lat"},
    }
    for scheme in ("light", "dark"):
        browser.use_scheme(scheme)
        for name, state in shown.items():
            browser.open(f"{name} of a server ({scheme})", **state)
            browser.axe_run(f"{name} of a server ({scheme})")
            browser.keep(f"{name}-of-server-{scheme}")
    browser.use_scheme("light")
    browser.open("code", path="sst.nc", tab="code")
    text = browser.text("#panel")
    for address in ("dap/sst.nc#dap4", "zarr/sst.nc", "nc/sst.nc", "catalog.xml"):
        browser.expect("code", server + address in text, text)
    browser.expect("code", "{server}" not in text, text)
    links = [link.get_attribute("href") for link in browser.find("#panel a")]
    browser.expect("code", len(links) == 6 and links[-1] == f"{server}catalog.xml", links)
    for href in links:
        with urllib.request.urlopen(href, timeout=PATIENCE) as response:
            browser.expect("code", response.status == 200, href)
    browser.open("no variable", expect_error=True, path="sst.nc", var="/nope")
    browser.expect("no variable", "nope" in browser.text(".failure"), browser.text(".failure"))
    by_keyboard(browser)
    by_pointer(browser)


def by_keyboard(browser: Browser) -> None:
    """The map by keys: a mark with its value, a series, zoom; the state is in the address."""
    browser.open("keys", path="sst.nc", var="/sst")
    canvas = browser.find("canvas.plane")[0]
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    value = browser.text(".reading")
    browser.expect("keys", "°" in value and "degree_Celsius" in value, value)
    spoken = browser.find("#announce")[0].get_attribute("textContent")
    browser.expect("keys", "degree_Celsius" in spoken, spoken)
    canvas.send_keys(Keys.ENTER)
    browser.wait("keys")
    browser.expect("keys", len(browser.find(".series svg .curve")) == 1, browser.text(".series"))
    canvas.send_keys("++")
    time.sleep(0.6)
    address = browser.driver.current_url
    browser.expect("keys", "view=" in address and "at=" in address, address)
    browser.driver.get("about:blank")
    browser.driver.get(address)
    browser.wait("keys")
    browser.expect("keys", len(browser.find(".series svg .curve")) == 1, "the series is not shown again")
    browser.expect("keys", "view=" in browser.driver.current_url, browser.driver.current_url)
    browser.check("keys", False)


def by_pointer(browser: Browser) -> None:
    """Links, the pointer over a map, other colours without requests, play, and saving."""
    browser.open("pointer")
    browser.driver.find_element("link text", "sst.nc").click()
    browser.wait("pointer")
    browser.driver.find_element("link text", "sst").click()
    browser.wait("pointer")
    canvas = browser.find("canvas.plane")[0]
    ActionChains(browser.driver).move_to_element_with_offset(canvas, 60, 10).perform()
    browser.expect("pointer", "°" in browser.text(".reading"), browser.text(".reading"))
    browser.check("pointer", False)
    browser.driver.execute_script("const s = document.getElementById('colours'); s.value = 'magma'; s.dispatchEvent(new Event('change'));")
    low = browser.find("#low")[0]
    low.clear()
    low.send_keys("10", Keys.TAB)
    browser.expect("pointer", "range=10" in browser.driver.current_url and "magma" in browser.driver.current_url, browser.driver.current_url)
    sent = [entry for entry in browser.driver.get_log("performance") if "requestWillBeSent\"" in entry["message"]]
    browser.expect("pointer", not sent, "new colours sent requests")
    before = browser.text(".slider output")
    browser.find(".play")[0].click()
    end = time.monotonic() + PATIENCE
    while browser.text(".slider output") == before and time.monotonic() < end:
        time.sleep(0.05)
    browser.expect("pointer", browser.text(".slider output") != before, "play shows no other time")
    browser.find(".play")[0].click()
    browser.driver.execute_script("document.getElementById('form').value = 'csv'; [...document.querySelectorAll('button')].find((one) => one.textContent === 'Save data').click();")
    end = time.monotonic() + PATIENCE
    while "Saved sst.csv" not in browser.text(".state") and time.monotonic() < end:
        time.sleep(0.05)
    browser.expect("pointer", "Saved sst.csv" in browser.text(".state"), browser.text(".state"))
    browser.check("pointer", False)


def get(address: str, route: str, **query: Any) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"{address}api/{route}?{urlencode(query)}", timeout=PATIENCE) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def datasets(address: str, folder: str = "") -> list[str]:
    found: list[str] = []
    for entry in get(address, "list", path=folder)[1]["entries"]:
        if entry["folder"]:
            found += datasets(address, f"{folder}{entry['name']}/")
        else:
            found.append(folder + entry["name"])
    return found


def corpus(browser: Browser) -> None:
    """Datasets of a corpus and the variables in them that have the most and the least dimensions."""
    every = datasets(browser.address)
    step = 1 if os.environ.get("NCIRRUS_ALL_CASES") else max(1, len(every) // MOST)
    opened = refused = 0
    for path in every[::step]:
        status, shown = get(browser.address, "dataset", path=path)
        # What cannot be opened is an error with its text, at its place.
        browser.open(path, expect_error=status != 200, path=path)
        if status != 200:
            refused += 1
            continue
        opened += 1
        variables = [variable for group in shown["groups"] for variable in group["variables"] if not variable["fault"]]
        variables.sort(key=lambda variable: len(variable["shape"]))
        for variable in {id(one): one for one in variables[:1] + variables[-1:]}.values():
            status, about = get(browser.address, "variable", path=path, var=variable["path"])
            browser.expect(path, status == 200, about)
            if 0 in variable["shape"] or status != 200:
                continue
            is_readable = readable(browser.address, path, about)
            browser.open(f"{path} {variable['path']}", expect_error=not is_readable, path=path, var=variable["path"])
    print(f"{len(every)} datasets, {opened} opened, {refused} refused with an error")
    browser.expect("corpus", opened > 0, "nothing was opened")


def readable(address: str, path: str, about: Any) -> bool:
    """Whether the first value can be read: damaged data are errors on the page."""
    if not about["is_number"]:
        return get(address, "texts", path=path, var=about["path"])[0] == 200
    select = "[" + ",".join("0" for _ in about["shape"]) + "]"
    try:
        with urllib.request.urlopen(f"{address}api/values?{urlencode({'path': path, 'var': about['path'], 'select': select})}") as response:
            return response.status == 200
    except urllib.error.HTTPError:
        return False


if __name__ == "__main__":
    browser = Browser(sys.argv[1], Path(sys.argv[3]))
    try:
        {"pages": pages, "served": served, "corpus": corpus}[sys.argv[2]](browser)
    finally:
        browser.driver.quit()
    print("\n".join(browser.wrong))
    sys.exit(1 if browser.wrong else 0)
