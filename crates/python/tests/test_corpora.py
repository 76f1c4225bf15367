"""The corpora: what the library reads of them is equal to its truth through ``ncirrus`` and, undecoded, through the engine.

Each corpus prints "N of M"; cases that differ are listed in ``corpora_exceptions.tsv`` with their reasons, and a line there that
is no longer needed fails as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

PROJECT = Path(__file__).parents[3]
CORPUS = Path(os.environ.get("NCIRRUS_CORPUS", PROJECT.parent / "shared" / "corpus"))
EXCEPTIONS = Path(__file__).parent / "corpora_exceptions.tsv"
Check = tuple[str, Callable[[], None]]

pytestmark = pytest.mark.filterwarnings("ignore")


def corpus(name: str) -> Path:
    """The folder of a corpus; what is not there is left out, which continuous integration does not allow."""
    folder = CORPUS / name
    if not folder.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"the corpus {name} is not there")
        pytest.skip(f"the corpus {name} is not there")
    return folder


def load(path: Path) -> Any:
    return json.loads(path.read_text())


class Tally:
    """What passed, and what did not and is not known."""

    def __init__(self, name: str) -> None:
        self.name, self.passed, self.total, self.excepted, self.wrong = name, 0, 0, 0, []
        lines = [line.split("\t") for line in EXCEPTIONS.read_text().splitlines() if line and line[0] != "#"]
        self.known = {(case, check): start for of, case, check, start, _ in lines if of == name}
        self.shared = exceptions_of_the_library(name)

    def check(self, case: str, checks: Iterator[Check]) -> None:
        """Runs the checks of a case, each by itself."""
        while True:
            try:
                with warnings.catch_warnings():
                    # What was repaired is another test's matter.
                    warnings.simplefilter("ignore")
                    name, run = next(checks)
            except StopIteration:
                return
            except Exception as error:  # whatever opening a case fails with is its failure
                name, run = "open", raising(error)
            self.total += 1
            said = failure(run)
            if (case, name) in self.shared:
                self.excepted += said is not None
                continue
            start = self.known.pop((case, name), None)
            if said is None and start is None:
                self.passed += 1
            elif said is None or start is None or start not in said:
                self.wrong.append(f"{case}\t{name}\t{said}\t(known: {start})")

    def finish(self, least: int) -> None:
        """Prints the tally, and fails if it is not as expected."""
        print(f"\n{self.name}: {self.passed} of {self.total}")
        self.wrong.extend(f"{case}\t{check}\tis not needed any more" for case, check in self.known)
        assert not self.wrong, "\n".join(self.wrong)
        assert self.total >= least


def exceptions_of_the_library(name: str) -> set[tuple[str, str]]:
    """What the library's own tests of the corpus know not to be as the truth says, with reasons there."""
    path = PROJECT / "crates/tools/tests/corpus" / f"{name}_exceptions.tsv"
    lines = path.read_text().splitlines() if path.exists() else []
    return {tuple(line.split("\t")[:2]) for line in lines if line and line[0] != "#"}  # type: ignore[misc]


def raising(error: Exception) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


def failure(run: Callable[[], None]) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return None


def same(ours: Any, due: Any) -> None:
    """Values are equal, NaN to NaN, whatever their byte order."""
    ours, due = np.asarray(ours), np.asarray(due)
    assert ours.shape == due.shape, f"shape {ours.shape} where {due.shape} is due"
    if ours.dtype.kind in "fc" and due.dtype.kind in "fciu":
        assert np.array_equal(ours, due, equal_nan=True), "numbers differ"
    elif due.dtype.hasobject:
        # xarray has no null strings: they are empty there, as netCDF4 shows them.
        assert list(tokens(ours)) == list(tokens(due)), "values differ"
    else:
        assert ours.tobytes() == due.astype(ours.dtype).tobytes(), "values differ"


def groups_of(group: Any) -> Iterator[Any]:
    yield group
    for inner in group.groups.values():
        yield from groups_of(inner)


def through_the_engine(dataset: ncirrus.Dataset) -> Iterator[Check]:
    """Every group by xarray, undecoded: the same values as by the variable itself."""
    import xarray

    for group in groups_of(dataset):
        if not group.variables:
            continue

        def run(group: Any = group) -> None:
            opened = xarray.open_dataset(
                dataset, engine="ncirrus", group=group.path, decode_cf=False, cache=False, create_default_indexes=False
            )
            with opened:
                for name, variable in group.variables.items():
                    if variable.fault is not None:
                        continue
                    try:
                        due = as_stored(variable)
                    except ncirrus.Error as error:
                        with pytest.raises(type(error)):
                            opened.variables[name].values
                    else:
                        same(opened.variables[name].values, due)

        yield f"engine:{group.path}", run


def as_stored(variable: ncirrus.Variable) -> Any:
    """Values as the engine hands them out, where the store says more than netCDF's types."""
    values = np.asarray(variable[...])
    if values.dtype.names == ("r", "i"):
        return values.view(f"c{values.dtype.itemsize}")
    return values


def little(values: Any) -> Any:
    """In little-endian bytes, whatever the machine."""
    return values.astype(values.dtype.newbyteorder("<")) if values.dtype.kind in "iufc" else values


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def texts(values: Any) -> bytes:
    """Strings with their lengths before them."""
    def encoded_one(text: Any) -> bytes:
        return bytes(text).rstrip(b"\0") if isinstance(text, bytes) else str(text or "").encode()

    encoded = [encoded_one(text) for text in np.asarray(values).ravel()]
    return b"".join(struct.pack("<I", len(text)) + text for text in encoded)


def test_files_of_instruments_and_models_equal_their_truth() -> None:
    root, tally = corpus("realdata"), Tally("realdata")
    for path in sorted((root / "truth").glob("*.json")):
        truth = load(path)
        tally.check(truth["file"], real(root / "files" / truth["file"], truth))
    tally.finish(100)


def real(path: Path, truth: Any) -> Iterator[Check]:
    dataset = ncirrus.open(path)
    for name, due in truth["variables"].items():

        def run(name: str = name, due: Any = due) -> None:
            variable = dataset[name]
            assert list(variable.shape) == due["shape"]
            assert list(variable.dims) == due["dims"]
            values = variable[...]
            data = texts(values) if due["dtype"] == "string" else little(values).tobytes()
            assert digest(data) == due["sha256"], "values differ"
            for attribute, value in due["attributes"].items():
                same_attribute(variable, attribute, value)

        yield f"values:{name}", run
    yield from through_the_engine(dataset)
    dataset.close()


def same_attribute(variable: ncirrus.Variable, name: str, due: Any) -> None:
    if name == "_FillValue" and name not in variable.attrs:
        return
    value = variable.attrs[name]
    if isinstance(due, str) and due not in ("NaN", "Infinity", "-Infinity"):
        assert str(value).rstrip("\0") == due, f"{name}: {value!r} where {due!r} is due"
        return
    wanted = [float(one) if isinstance(one, str) and one in ("NaN", "Infinity", "-Infinity") else one
              for one in (due if isinstance(due, list) else [due])]
    have = list(np.atleast_1d(value))
    assert len(have) == len(wanted), name
    assert all(one == other or one != one and other != other for one, other in zip(have, wanted)), name


def test_aggregations_equal_what_they_stand_for() -> None:
    root, tally = corpus("cfa"), Tally("cfa")
    for case in load(root / "manifest.json")["cases"]:
        checks = refused if case.get("expect_error") else aggregated
        tally.check(case["id"], checks(root / case["id"], case))
    tally.finish(57)


def aggregated(folder: Path, case: Any) -> Iterator[Check]:
    dataset, expected = ncirrus.open(folder / case["master"]), ncirrus.open(folder / "expected.nc")
    for name in case["variables"]:

        def run(name: str = name) -> None:
            same(dataset[name][...], expected[name][...])
            assert dataset[name].dims == expected[name].dims

        yield f"values:{name}", run
    yield from through_the_engine(dataset)


def refused(folder: Path, case: Any) -> Iterator[Check]:
    def run() -> None:
        with pytest.raises(ncirrus.Error) as caught:
            ncirrus.open(folder / case["master"])[case["expect_error"][0]["variable"]][...]
        assert "Traceback" not in str(caught.value) and "panicked" not in str(caught.value)

    yield "refused", run


def test_hdf5_files_hold_what_h5py_reads() -> None:
    root, tally = corpus("hdf5"), Tally("hdf5")
    for case in load(root / "manifest.json"):
        if case["fmt"] == "hdf5":
            truth = load(root / "truth" / f"{case['path'].replace('/', '__')}.json")
            tally.check(case["path"], hdf5(root / case["path"], truth))
    tally.finish(3000)


def hdf5(path: Path, truth: Any) -> Iterator[Check]:
    dataset = ncirrus.open(path)
    objects = truth["objs"]
    for name, due in objects.items():
        if due["kind"] != "dataset" or not any(kind in due for kind in ("le", "strs")):
            continue
        group, _, simple = name.rpartition("/")
        if re.search("_nc4_non_coord_", name) or f"{group}/_nc4_non_coord_{simple}" in objects:
            continue
        # A dimension without a variable is a dataset of HDF5 and nothing of netCDF's.
        if "CLASS" in due["attrs"] and simple in dataset[group or "/"].dims and name not in dataset:
            continue

        def run(name: str = name, due: Any = due) -> None:
            variable = dataset[name]
            values = variable[...]
            if "strs" in due:
                data = texts(values)
            else:
                # Numbers that netCDF does not have are shown as larger ones, which hold them all.
                kind = re.fullmatch(r"([iuf])(2|4|8|1)[<>|]?", due["t"])
                stored = np.dtype(f"<{kind[1]}{kind[2]}") if kind else values.dtype
                data = little(values.astype(stored)).tobytes()
            assert digest(data)[:16] == due["le" if "le" in due else "strs"], "values differ"

        yield f"values:{name}", run
    yield from through_the_engine(dataset)
    dataset.close()


def test_zarr_stores_hold_what_zarr_python_reads() -> None:
    root, tally = corpus("nczarr"), Tally("nczarr")
    for case in load(root / "manifest.json")["cases"]:
        checks = no_dataset if case["dialect"] == "not zarr" else nczarr
        tally.check(case["id"], checks(root / case["path"], root / case["expected_dir"]))
    tally.finish(288)


def no_dataset(path: Path, _: Path) -> Iterator[Check]:
    def run() -> None:
        with pytest.raises(ncirrus.MalformedError):
            ncirrus.open(path)

    yield "refused", run


def nczarr(path: Path, expected: Path) -> Iterator[Check]:
    dataset = ncirrus.open(path)
    truth = load(expected / "zarr-python-3.1.6.json")
    for name, node in (truth.get("nodes") or {}).items():
        if isinstance(node, str) or node.get("values", "(omitted)") == "(omitted)":
            continue

        def run(name: str = name, node: Any = node) -> None:
            variable = next(iter(dataset.variables.values())) if name == "/" else dataset[name]
            due = list(tokens_of(node["values"], node["dtype"]))
            ours = list(tokens(variable[...]))
            assert ours == due, f"expected {due[:3]}, got {ours[:3]}"

        yield f"values:{name}", run
    yield from through_the_engine(dataset)


def number(value: float) -> Any:
    return ("nan",) if value != value else float(value)


def tokens(values: Any) -> Iterator[Any]:
    """Values one after the other, as those of the truth are."""
    values = np.asarray(values)
    if values.dtype.kind == "U":
        yield from (str(value).encode() for value in values.ravel())
    elif values.dtype.names:
        for element in values.ravel():
            for field in values.dtype.names:
                yield from tokens(element[field])
    elif values.dtype.kind == "O":
        for value in values.ravel():
            if value is None or isinstance(value, str):
                yield (value or "").encode()
            else:
                yield from tokens(value)
    elif values.dtype.kind in "SV":
        for value in values.ravel():
            data = value.tobytes() if values.dtype.kind == "V" else bytes(value)
            yield data if values.dtype.kind == "V" else data.rstrip(b"\0")
    elif values.dtype.kind == "f":
        yield from (number(float(value)) for value in values.ravel())
    elif values.dtype.kind == "M" or values.dtype.kind == "m":
        yield from (int(value) for value in values.ravel().view("i8"))
    else:
        yield from (int(value) for value in values.ravel())


def tokens_of(value: Any, dtype: str) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from tokens_of(one, dtype)
    elif isinstance(value, bool | int):
        yield int(value)
    elif isinstance(value, float):
        yield number(value)
    elif isinstance(value, str):
        yield token_of_text(value, dtype)
    else:
        yield json.dumps(value).encode()


def token_of_text(text: str, dtype: str) -> Any:
    if any(name in dtype for name in ("float", "complex", "f8", "f4")):
        try:
            return number(float(text))
        except ValueError:
            pass
    if dtype.startswith("datetime64[s]"):
        return int(np.datetime64(text if text != "NaT" else "NaT", "s").view("i8"))
    if dtype.startswith("timedelta64[s]"):
        return seconds(text)
    if dtype.startswith("|") and text.startswith("b:"):
        data = bytes.fromhex(text[2:])
        return data.rstrip(b"\0") if dtype.startswith("|S") else data
    return text.encode()


def seconds(text: str) -> int:
    """Seconds of ``H:MM:SS``, perhaps after ``N days, ``."""
    if text == "NaT":
        return int(np.iinfo("i8").min)
    days, _, clock = text.rpartition(", ")
    hours, minutes, rest = (int(part) for part in clock.split(":"))
    return int(days.split()[0]) * 86400 + hours * 3600 + minutes * 60 + rest if days else hours * 3600 + minutes * 60 + rest
