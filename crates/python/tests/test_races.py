"""Several processes change one dataset at the same time: each change is kept, or its program gets a conflict, and one at least
is kept. `cargo xtask races` makes 1,000 races of each, also with the command and the C library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from racing import CHANGES, KINDS, PLACES, Place, Tally, Writers, made

ROUNDS = int(os.environ.get("NCIRRUS_RACES", "6"))
FACES = [(face, change) for face, changes in CHANGES.items() for change in changes]


@pytest.fixture(scope="module")
def writers() -> Iterator[dict[str, Writers]]:
    started = {face: Writers(face) for face in CHANGES}
    yield started
    for each in started.values():
        each.end()


@pytest.mark.parametrize(("face", "change"), FACES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", PLACES)
def test_of_concurrent_changes_one_is_kept_and_none_is_lost(
    request: pytest.FixtureRequest, writers: dict[str, Writers], tmp_path: Path, where: str, kind: str, face: str, change: str
) -> None:
    options: dict[str, Any] | None = request.getfixturevalue("s3s") if where == "s3" else None
    folder = f"s3://bucket/races-{kind}-{face}-{change}" if where == "s3" else str(tmp_path)
    end = ".zip" if where == "zip" else ".zarr"
    places = [Place(f"{folder}/{at}{end}", kind, options) for at in range(ROUNDS)]
    if change != "creation":
        places = [made(place) for place in places]
    tally = Tally()
    for place, outcomes in zip(places, writers[face].outcomes(change, places), strict=True):
        tally.count(place, change, outcomes)
    assert tally.is_right() and tally.races == ROUNDS, tally.faults
