"""One extension module serves all interpreters: it is tried on each that was found, from the oldest supported on.

`cargo xtask peers` makes an environment with numpy for each of them. `NCIRRUS_PYTHONS` names their programs.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PYTHONS = [python for python in os.environ.get("NCIRRUS_PYTHONS", "").split(os.pathsep) if python]
PACKAGE = Path(__file__).parents[1] / "python"


def test_interpreters_were_found() -> None:
    if not PYTHONS:
        assert os.environ.get("CI") != "true", "there is no environment of an interpreter: cargo xtask peers"
        pytest.skip("NCIRRUS_PYTHONS names no program")


@pytest.mark.parametrize("python", PYTHONS, ids=lambda python: Path(python).parents[1].name)
def test_the_package_works_with_numpy_alone(python: str, tmp_path: Path) -> None:
    program = Path(__file__).with_name("first_steps.py")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "VIRTUAL_ENV")}
    environment["PYTHONPATH"] = str(PACKAGE)
    command = [python, "-W", "error", "-X", "utf8", str(program), str(tmp_path)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("ran on 3."), ended.stdout

