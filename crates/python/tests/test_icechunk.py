"""Icechunk repositories: states by arguments and addresses, xarray, and what may not be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import ncirrus

CORPUS = Path(os.environ.get("NCIRRUS_CORPUS", Path(__file__).parents[3] / "shared" / "corpus")) / "icechunk"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of Icechunk")


def _states() -> list[tuple[str, dict[str, str], Path]]:
    folder = CORPUS / "history"
    case = json.loads((folder / "case.json").read_text())
    states = []
    for ref in case["refs"]:
        words = {name: ref[name] for name in ("branch", "tag", "snapshot") if name in ref}
        states.append((ref["fragment"], words, folder / ref["truth"]))
    return states


@pytest.mark.parametrize(("fragment", "words", "truth"), _states() if CORPUS.is_dir() else [])
def test_a_state_is_named_by_arguments_or_by_the_address(fragment: str, words: dict[str, str], truth: Path) -> None:
    repo = str(CORPUS / "history" / "repo")
    expected = json.loads(truth.read_text())["arrays"]
    with ncirrus.open(repo, **words) as one, ncirrus.open(repo + fragment) as other:
        for path, array in expected.items():
            assert list(one[path].shape) == array["shape"]
            np.testing.assert_array_equal(np.asarray(one[path][...]), np.asarray(other[path][...]))


def test_xarray_opens_a_repository_that_no_argument_names() -> None:
    xr = pytest.importorskip("xarray")
    repo = str(CORPUS / "by-xarray" / "repo")
    case = json.loads((CORPUS / "by-xarray" / "case.json").read_text())
    with xr.open_dataset(repo) as latest, xr.open_dataset(repo, engine="ncirrus", branch="main") as named:
        assert latest.identical(named)
    first = next(ref["snapshot"] for ref in case["refs"] if "snapshot" in ref)
    with xr.open_dataset(repo, engine="ncirrus", snapshot=first) as earlier:
        assert earlier.sizes["time"] < latest.sizes["time"]


def test_a_branch_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError, match="no branch"):
        ncirrus.open(str(CORPUS / "history" / "repo"), branch="none")


def test_files_of_this_machine_are_read_only_if_that_is_allowed() -> None:
    with ncirrus.open(str(CORPUS / "damaged" / "file-outside" / "repo")) as dataset, pytest.raises(PermissionError):
        for name in dataset.variables:
            dataset[name][...]


def test_a_repository_is_not_changed() -> None:
    with pytest.raises(ncirrus.UnsupportedError, match="icechunk package"):
        ncirrus.open(str(CORPUS / "single-v2" / "repo"), "r+")
