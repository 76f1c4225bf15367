"""Every block of Python in the documentation runs, those of one page in order, in a folder of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[3] / "docs" / "python").glob("*.md"))
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_there_are_pages() -> None:
    assert {page.stem for page in PAGES} >= {"xarray", "dask", "writing", "migrating"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    names: dict[str, object] = {"__name__": page.stem}
    blocks = list(_BLOCK.finditer(text))
    assert blocks, f"{page} has no block of Python"
    for found in blocks:
        line = text.count("\n", 0, found.start()) + 1
        exec(compile("\n" * line + found[1], str(page), "exec"), names)
