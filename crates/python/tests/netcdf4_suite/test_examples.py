"""The examples of netCDF4-python print the same on ours; those of MPI, and of servers that are elsewhere, are not run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import suite  # noqa: E402

# Not run: `mpi_example*.py`; `subset.py`, `reading_netCDF.ipynb`, `bench_compress3.py` and `bench_compress4.py`, which read from
# servers; `threaded_read.py`, which needs 5 GB; and the other `bench*.py`, which write for minutes, and print nothing but times.
EXAMPLES = [
    "tutorial.py",
    "json_att.py",
    "test_stringarr.py",
    "complex_numbers.py",
    "writing_netCDF.ipynb",
]
# Runs an example with the same random numbers each time; cells of a notebook one by one, of which the last value is shown.
PROGRAM = """
import ast, json, random, runpy, sys
import numpy
numpy.random.seed(1)
random.seed(1)
place, is_ours = sys.argv[1], sys.argv[2] == "ours"
if is_ours:
    import ncirrus.netCDF4
    ncirrus.netCDF4.install()
if place.endswith(".py"):
    runpy.run_path(place, run_name="__main__")
else:
    names = {"__name__": "__main__"}
    for cell in json.load(open(place))["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(line for line in cell["source"] if line[:1] not in "%!")).body
        shown = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), place, "exec"), names)
        value = eval(compile(shown, place, "eval"), names) if shown else None
        if value is not None:
            print(repr(value))
"""


def printed(example: Path, folder: Path, who: str) -> str:
    """What an example prints, without times and the program's own version."""
    (folder / "data").mkdir(parents=True)
    settings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM, str(example), who]
    # One of them stops in the debugger, and continues after this command.
    done = subprocess.run(command, cwd=folder, env=settings, input="c\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = re.sub(r"[\d.]+(e-\d+)? seconds|took [\d.]+|\d+\.\d+ ?(sec|s|ms)\b", "TIME", done.stdout)
    return re.sub(r"(history: Created|Created) .*", r"\1 NOW", text)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_print_the_same(name: str, tmp_path: Path) -> None:
    tests = suite.folder()
    if tests is None:
        assert os.environ.get("CI") != "true", "the sdist of netCDF4-python is not there: cargo xtask peers"
        pytest.skip("the sdist of netCDF4-python is not there: cargo xtask peers")
    example = tests.parent / "examples" / name
    there, here = (printed(example, tmp_path / who, who) for who in ("theirs", "ours"))
    assert there.strip() and there.splitlines() == here.splitlines()
