"""Takes pictures of the pages of `ncirrus view`: a map with a series, and the storage of a dataset.

Arguments: the address of the viewer, the path of a dataset in it that has a variable `sst`, and a folder.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "crates/cli/tests/viewing"))

from browse import Browser  # noqa: E402

PAGES = {
    "view-map": {"var": "/sst", "at": "44,100", "i": "6,0,0"},
    "view-storage": {"tab": "storage", "series": "/sst"},
}


def main():
    address, path, folder = sys.argv[1:]
    browser = Browser(address, None)
    try:
        # A picture has the height of what it shows, as far as the documents have room.
        for name, state in PAGES.items():
            browser.driver.set_window_size(1180, 1000)
            browser.open(name, path=path, **state)
            end = browser.driver.execute_script("return document.getElementById('main').getBoundingClientRect().bottom")
            browser.driver.set_window_size(1180, min(1200, int(end) + 160))
            browser.wait(name)
            browser.driver.save_screenshot(str(Path(folder) / f"{name}.png"))
    finally:
        browser.driver.quit()
    print("\n".join(browser.wrong), end="")
    sys.exit(1 if browser.wrong else 0)


main()
