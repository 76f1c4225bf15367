"""Uses the main parts of the package, with numpy only: `first_steps.py FOLDER`. Prints the versions that it ran on."""

from __future__ import annotations

import ast
import importlib
import sys
import threading
from pathlib import Path

import numpy as np

import ncirrus

# Modules that import packages other than numpy.
NEED_OTHERS = {"dask", "xarray"}
ENDINGS = {"nc3": "nc", "nc4": "nc4", "nczarr": "zarr", "zarr2": "zarr", "zarr3": "zarr"}
NUMBERS = np.arange(60, dtype="f4").reshape(3, 4, 5)


def imports_all_modules() -> None:
    """Every module is valid on this interpreter, and is imported if it needs numpy only."""
    package = Path(ncirrus.__file__).parent
    for path in sorted(package.rglob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), str(path))
        if path.parent == package and path.stem not in NEED_OTHERS | {"__init__", "__main__"}:
            importlib.import_module(f"ncirrus.{path.stem}")
    for name in ncirrus.__all__:
        assert getattr(ncirrus, name) is not None, name
    importlib.import_module("ncirrus.netCDF4")


def writes_and_reads(folder: Path, kind: str) -> Path:
    """Creates a dataset of a kind, reads it in several ways, and appends to it."""
    path = folder / kind / f"a.{ENDINGS[kind]}"
    path.parent.mkdir()
    with ncirrus.create(str(path), kind) as ds:
        ds.attrs["title"] = "été"
        for name, length in (("t", None), ("y", 4), ("x", 5)):
            ds.create_dimension(name, length)
        variable = ds.create_variable("v", "f4", ("t", "y", "x"), attrs={"scale_factor": 0.5})
        variable[:3] = NUMBERS
    with ncirrus.open(str(path), "r+") as ds:
        ds["v"].append(NUMBERS[:1])
    with ncirrus.open(str(path)) as ds:
        variable = ds["v"]
        expected = np.concatenate([NUMBERS, NUMBERS[:1]])
        assert ds.attrs["title"] == "été" and variable.shape == (4, 4, 5)
        assert (variable[...] == expected).all()
        assert (variable[-1, ::2, [0, 3]] == expected[-1, ::2, [0, 3]]).all()
        assert (variable.cf[1] == expected[1] * 0.5).all()
        assert "v" in ds._repr_html_() and "v" in repr(ds)
        reads_in_threads(variable, expected)
    return path


def reads_in_threads(variable: ncirrus.Variable, expected: np.ndarray) -> None:
    """Four threads read one variable."""
    same = []
    read = lambda row: same.append((variable[row] == expected[row]).all())  # noqa: E731
    threads = [threading.Thread(target=read, args=(row,)) for row in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(same) == 4 and all(same)


def reports_errors(folder: Path) -> None:
    """Errors are exceptions of Python, also those of its own kinds."""
    for error in (ncirrus.NotFoundError, FileNotFoundError):
        try:
            ncirrus.open(str(folder / "no.nc"))
        except error:
            continue
        raise AssertionError(error)


def main(folder: Path) -> None:
    """Takes all steps."""
    imports_all_modules()
    paths = [writes_and_reads(folder, kind) for kind in ENDINGS]
    copied = str(folder / "copy.zarr")
    ncirrus.copy(str(paths[0]), copied)
    assert ncirrus.compare(str(paths[0]), copied).same
    reports_errors(folder)
    print("ran on", ".".join(map(str, sys.version_info[:2])), np.__version__)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
