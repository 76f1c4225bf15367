"""cf-python and cfdm do the same on ours as on netCDF4-python: they read the real files and write them back."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[3]
PYTHON = Path(os.environ.get("NCIRRUS_CF_PYTHON", PROJECT / ".venv-cf" / "bin" / "python"))
FILES = Path(os.environ.get("NCIRRUS_CORPUS", PROJECT.parent / "shared" / "corpus")) / "realdata" / "files"
PROGRAM = '''
import gc, hashlib, json, os, sys, warnings

warnings.simplefilter("ignore")
import cf, cfdm
import numpy as np

cf.log_level("DISABLE")
cfdm.log_level("DISABLE")


def digest(values):
    values = np.ma.asanyarray(values)
    mask = np.ma.getmaskarray(values)
    if values.dtype.kind in "OUST":
        body = repr(np.ma.filled(values.astype(object), None).tolist()).encode()
    else:
        body = np.where(mask, 0, values.data).tobytes() + mask.tobytes()
    return hashlib.sha1(body).hexdigest()


def told(module, path):
    about = []
    for field in module.read(path):
        about.append([str(field), digest(field.array), sorted((name, str(v)) for name, v in field.properties().items())])
        about += [[key, digest(each.array)] for key, each in field.constructs.filter_by_data().todict().items()]
    return about


# cfdm gives a flattened dataset in memory the `str` of a temporary file as its name, which holds an address. If an earlier
# one at that address is still open, HDF5 does not create the dataset. Another attempt gets another address.
held = []
attempts = int(os.environ["ATTEMPTS"])


def attempt(act):
    for left in reversed(range(attempts)):
        try:
            return act()
        except Exception as error:
            message = str(error)
            if left == 0 or "_TemporaryFileWrapper" not in message:
                return message
        gc.collect()
        held.append([bytearray(size) for size in range(16, 512, 16) for _ in range(8)])


found = {}
for path in sys.argv[2:]:
    name = path.rsplit("/", 1)[1]
    for module in (cf, cfdm):
        found[f"{module.__name__} {name}"] = attempt(lambda: told(module, path))
    target = f"{sys.argv[1]}/{name}.nc"

    def back():
        cf.write(cf.read(path), target)
        return told(cf, target)

    found[f"back {name}"] = attempt(back)
with open(f"{sys.argv[1]}/found.json", "w") as file:
    json.dump(found, file)
'''


def found_by(words: list[str], folder: Path, files: list[str]) -> dict[str, Any]:
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(PROGRAM)
    settings = {**os.environ, "PYTHONHASHSEED": "0", "ATTEMPTS": "1" if words else "8"}
    if not words:
        # netCDF-C is not safe with Dask's threads: the original would end with `NetCDF: HDF error` now and then.
        settings["DASK_SCHEDULER"] = "synchronous"
    command = [str(PYTHON), *words, str(program), str(folder), *files]
    # The original dies now and then ("double free or corruption"), and may try again; ours must not.
    for _ in range(1 if words else 4):
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
        if done.returncode >= 0:
            break
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found


def test_cf_python_and_cfdm_read_and_write_as_on_the_original(tmp_path: Path) -> None:
    if not PYTHON.exists():
        assert os.environ.get("CI") != "true", "cf-python is not there: cargo xtask peers"
        pytest.skip("cf-python is not there: cargo xtask peers")
    files = sorted(str(path) for path in FILES.iterdir() if path.suffix in (".nc", ".nc4", ".cdf", ".h5"))
    if not os.environ.get("NCIRRUS_ALL_CASES"):
        files = files[::2]
    original, ours = (
        found_by(words, tmp_path / name, files)
        for name, words in (("original", []), ("ours", ["-m", "ncirrus.netCDF4"]))
    )
    assert len(original) == 3 * len(files) >= 30
    assert {name: (ours[name], original[name]) for name in original if ours[name] != original[name]} == {}
