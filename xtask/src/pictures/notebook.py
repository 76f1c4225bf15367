"""Takes a picture of what a notebook shows of a dataset: its HTML representation and a map of chunks.

Arguments: the address of the dataset, which has a variable `sst`, and the name of the picture.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import ncirrus
from selenium import webdriver

STYLE = """
body { margin: 0; background: #fff; font: 13px/1.5 sans-serif; }
#notebook { width: 760px; padding: 10px 14px; }
.cell { display: flex; margin: 4px 0; }
.prompt { width: 58px; flex: none; color: #59636e; font: 12px/2.2 monospace; }
pre { margin: 0; flex: 1; padding: 6px 10px; border: 1px solid #d1d9e0; border-radius: 4px; background: #f6f8fa;
  font: 13px/1.4 'DejaVu Sans Mono', monospace; }
.output { margin-left: 58px; }
"""
# The folds that are open in the picture: the variable and its attributes.
OPEN = """
for (const summary of document.querySelectorAll('.ncirrus summary')) {
  const text = summary.textContent;
  if (text.startsWith('sst')) summary.parentElement.open = true;
}
"""


def cell(number, code, shown):
    prompt = f"<div class='cell'><div class='prompt'>In [{number}]:</div><pre>{code}</pre></div>"
    return f"{prompt}<div class='output'>{shown._repr_html_()}</div>"


def main():
    address, picture = sys.argv[1:]
    dataset = ncirrus.open(address)
    for variable in dataset.variables.values():
        len(variable.attrs)
    cells = [
        cell(1, f'import ncirrus\n\ndataset = ncirrus.open("{address}")\ndataset', dataset),
        cell(2, 'dataset["sst"].chunk_map()', dataset["sst"].chunk_map()),
    ]
    page = f"<!doctype html><html data-theme='light'><meta charset='utf-8'><style>{STYLE}</style><div id='notebook'>{''.join(cells)}</div>"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(page)
        options = webdriver.ChromeOptions()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        arguments += ["--force-device-scale-factor=1.5", "--window-size=900,1600", f"--user-data-dir={folder}/profile"]
        for argument in arguments:
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium")
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            driver.get(path.as_uri())
            driver.execute_script(OPEN)
            driver.find_element("id", "notebook").screenshot(picture)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
