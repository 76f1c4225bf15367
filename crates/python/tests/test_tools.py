"""Tools as functions: typed reports, what they make read back by others, dry runs that change nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from arrays import numbers

import ncirrus
from ncirrus import reports

netCDF4 = pytest.importorskip("netCDF4")
h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")

CURVE = np.linspace(0.0, 1.0, 70)


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A file with a compressed variable in chunks, one in one run, a text, and attributes."""
    path = str(tmp_path / "source.nc4")
    with ncirrus.create(path) as ds:
        ds.create_dimension("y", 60)
        ds.create_dimension("x", 70)
        v = ds.create_variable("v", "i4", ("y", "x"), chunks=(20, 30), filters="zlib,level=1", attrs={"units": "K"})
        v[...] = numbers((60, 70))
        ds.create_variable("curve", "f8", ("x",))[...] = CURVE
        ds.attrs["title"] = "a curve & more"
    return path


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    """Files of five days each, three of them."""
    paths = []
    for at in range(3):
        path = str(tmp_path / f"part-{at}.nc4")
        with netCDF4.Dataset(path, "w") as made:
            made.createDimension("t", None)
            made.createDimension("x", 4)
            days = made.createVariable("t", "i4", ("t",))
            days.units = "days since 2000-01-01"
            days[:] = np.arange(5) + 5 * at
            made.createVariable("v", "f4", ("t", "x"), chunksizes=(5, 4), zlib=True)[:] = whole()[5 * at : 5 * at + 5]
        paths.append(path)
    return paths


def whole(days: int = 20) -> Any:
    return numbers((days, 4), "f4") / 2


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """The files of a folder, with their times and sizes."""
    found = (path for path in folder.rglob("*"))
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.stat().st_size) for path in found}


class Told(list[tuple[int, int]]):
    """A callable that records the progress that is reported to it."""

    def __call__(self, done: int, total: int) -> None:
        self.append((done, total))

    @property
    def is_in_order(self) -> bool:
        return bool(self) and self == sorted(self) and self[-1][0] == self[-1][1] > 0


def refuse(done: int, total: int) -> None:
    """Progress that has had enough."""
    raise ZeroDivisionError


def test_reports_are_frozen_dataclasses_that_are_exported() -> None:
    for name in ncirrus.__all__:
        if name.endswith("Report"):
            report = getattr(ncirrus, name)
            assert dataclasses.is_dataclass(report) and report is getattr(reports, name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        reports.LeftOut("/v", "why").path = "/w"  # type: ignore[misc]


@pytest.mark.parametrize("ending", ["nc", "nc4", "zarr2", "zarr3"])
def test_copies_are_read_by_others(source: str, tmp_path: Path, ending: str) -> None:
    target, told = str(tmp_path / f"copy.{ending}"), Told()
    kind = {"nc": "nc3", "nc4": "nc4"}.get(ending, ending)
    report = ncirrus.copy(source, target, kind=kind, progress=told)
    assert isinstance(report, ncirrus.CopyReport) and report.is_complete
    assert (report.variables, report.elements, told.is_in_order) == (2, 60 * 70 + 70, True)
    assert told[-1][1] == report.elements
    if ending.startswith("zarr"):
        group = zarr.open_group(target, mode="r")
        values, curve, title = group["v"][...], group["curve"][...], group.attrs["title"]
    else:
        with netCDF4.Dataset(target) as copy:
            values, curve, title = copy["v"][...], copy["curve"][...], copy.title
    assert np.array_equal(values, numbers((60, 70))) and np.array_equal(curve, CURVE) and title == "a curve & more"


def test_copies_change_chunks_filters_and_members(source: str, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.nc4")
    options: dict[str, Any] = {"chunks": {"y": 30, "x": None}, "filters": ["zlib,level=9"]}
    report = ncirrus.copy(source, target, select=["v[10:40,:]"], verify=True, **options)
    assert report.elements == 30 * 70
    with h5py.File(target) as file:
        assert file["v"].chunks == (30, 70) and file["v"].compression_opts == 9 and "curve" not in file
        assert np.array_equal(file["v"][...], numbers((60, 70))[10:40])
    ncirrus.copy(source, target, variables=["curve"], overwrite=True)
    with h5py.File(target) as file:
        assert "v" not in file and np.array_equal(file["curve"][...], CURVE)


def test_a_dry_copy_tells_its_plan_and_makes_nothing(source: str, tmp_path: Path) -> None:
    before = states(tmp_path)
    plan = ncirrus.copy(source, tmp_path / "copy.zarr", dry_run=True)
    assert isinstance(plan, ncirrus.CopyPlan) and states(tmp_path) == before
    v, curve = (next(row for row in plan.variables if row.path == path) for path in ("/v", "/curve"))
    assert (v.shape, v.bytes, v.chunks, v.passes) == ((60, 70), 60 * 70 * 4, 9, 1)
    assert (curve.shape, curve.bytes) == ((70,), 560)
    assert "/v" in str(plan) and plan.left_out == []


def test_copies_that_cannot_be_are_errors(source: str, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.zarr")
    with pytest.raises(ncirrus.NotFoundError):
        ncirrus.copy(tmp_path / "nothing.nc", target)
    with pytest.raises(ncirrus.MemberNotFoundError, match="nothing"):
        ncirrus.copy(source, target, variables=["nothing"])
    with pytest.raises(TypeError, match="nonsense"):
        ncirrus.copy(source, target, nonsense=1)
    with pytest.raises(ncirrus.InvalidError):
        ncirrus.copy(source, target, chunks={"y": -1})
    assert not os.path.exists(target)
    ncirrus.copy(source, target)
    with pytest.raises(FileExistsError) as raised:
        ncirrus.copy(source, target)
    assert isinstance(raised.value, ncirrus.ConflictError) and raised.value.hint
    ncirrus.copy(source, target, overwrite=True)


def test_an_aggregation_says_what_the_convention_says(parts: list[str], tmp_path: Path) -> None:
    master, told = str(tmp_path / "master.nc"), Told()
    report = ncirrus.aggregate(parts, master, axes="t", kind="nc4", progress=told)
    assert isinstance(report, ncirrus.AggregationReport)
    assert (report.files, report.problems, report.left_out) == (3, [], [])
    assert [path.strip("/") for path in report.aggregated] == ["v"], report
    assert [(axis.name, axis.files, axis.length) for axis in report.axes] == [("t", 3, 15)]
    assert told.is_in_order and told[-1] == (3, 3)
    with ncirrus.open(master) as ds:
        assert ds["v"].is_aggregated and np.array_equal(ds["v"][...], whole(15)) and ds["t"][...].tolist() == list(range(15))
    with netCDF4.Dataset(master) as plain:
        # Others see what the convention says: a scalar with the words of the aggregation.
        assert "CF-1.13" in plain.Conventions and plain["v"].aggregated_dimensions == "t x"


def test_a_dry_aggregation_makes_nothing(parts: list[str], tmp_path: Path) -> None:
    before = states(tmp_path)
    report = ncirrus.aggregate(f"{tmp_path}/part-*.nc4", tmp_path / "master.nc", axes=["t"], dry_run=True)
    assert report.files == 3 and states(tmp_path) == before


def test_files_are_added_to_an_aggregation(parts: list[str], tmp_path: Path) -> None:
    master = str(tmp_path / "master.nc")
    ncirrus.aggregate(parts[:2], master, axes="t")
    before = states(tmp_path)
    dry = ncirrus.aggregate_add(master, parts[2], dry_run=True)
    assert states(tmp_path) == before and ncirrus.open(master)["v"].shape == (10, 4)
    # Files that are there already are not opened: their absence is not noticed.
    os.rename(parts[0], parts[0] + ".moved")
    told = Told()
    report = ncirrus.aggregate_add(master, parts[2], progress=told)
    assert dry.axes == report.axes and report.axes[0].length == 15 and told.is_in_order
    os.rename(parts[0] + ".moved", parts[0])
    with ncirrus.open(master) as ds:
        assert np.array_equal(ds["v"][...], whole(15))


def test_files_that_do_not_fit_together_are_refused(parts: list[str], tmp_path: Path) -> None:
    odd = str(tmp_path / "odd.nc4")
    with netCDF4.Dataset(odd, "w") as made:
        made.createDimension("t", None)
        made.createDimension("x", 5)
        made.createVariable("v", "f4", ("t", "x"))[:] = np.zeros((2, 5))
    with pytest.raises(ncirrus.Error, match="odd.nc4") as raised:
        ncirrus.aggregate([*parts, odd], tmp_path / "master.nc", axes="t")
    assert not isinstance(raised.value, ncirrus.InternalError)
    # One error reports everything that is wrong with any of the files.
    with pytest.raises(ncirrus.InvalidError, match="nothing.nc: no such file"):
        ncirrus.aggregate([*parts, tmp_path / "nothing.nc"], tmp_path / "master.nc", axes="t")
    dry = ncirrus.aggregate([*parts, odd, tmp_path / "nothing.nc"], tmp_path / "master.nc", axes="t", dry_run=True)
    assert len(dry.problems) >= 2
    with pytest.raises(TypeError, match="files are addresses"):
        ncirrus.aggregate(3, tmp_path / "master.nc")
    with pytest.raises(ZeroDivisionError):
        ncirrus.aggregate(parts, tmp_path / "master.nc", axes="t", progress=refuse)
    assert not (tmp_path / "master.nc").exists()


def test_a_dataset_is_split_into_files_that_others_read(source: str, tmp_path: Path) -> None:
    master, told = str(tmp_path / "split.nc"), Told()
    report = ncirrus.split(source, master, shape={"y": 20}, fragment_kind="nc4", kind="nc4", progress=told)
    assert isinstance(report, ncirrus.SplitReport) and told.is_in_order
    # How many fragments along each axis.
    assert report.variables["/v"] == (3, 1) and report.written >= 3 and report.kept == 0
    with ncirrus.open(master) as ds:
        assert np.array_equal(ds["v"][...], numbers((60, 70)))
        rows = ds["v"].fragments()
    assert [row["start"] for row in rows] == [(0, 0), (20, 0), (40, 0)] and {row["shape"] for row in rows} == {(20, 70)}
    for row in rows:
        with netCDF4.Dataset(row["places"][0]) as part:
            assert np.array_equal(part["v"][...], numbers((60, 70))[row["start"][0] :][:20])
    with pytest.raises(ncirrus.ConflictError, match="a fragment already exists"):
        ncirrus.split(source, master, shape={"y": 20}, fragment_kind="nc4", kind="nc4", overwrite=True)


def test_fragments_are_moved_and_their_master_told(parts: list[str], tmp_path: Path) -> None:
    master, moved = str(tmp_path / "master.nc"), tmp_path / "moved"
    ncirrus.aggregate(parts, master, axes="t")
    moved.mkdir()
    for part in parts:
        os.rename(part, moved / Path(part).name)
    before = states(tmp_path)
    dry = ncirrus.relocate(master, prefix="moved", dry_run=True)
    assert states(tmp_path) == before
    renamed = ncirrus.relocate(master, prefix="moved")
    assert renamed == dry and all(isinstance(row, ncirrus.RenamedFragment) for row in renamed)
    assert sorted({row.new for row in renamed}) == [f"moved/part-{at}.nc4" for at in range(3)]
    with ncirrus.open(master) as ds:
        assert np.array_equal(ds["v"][...], whole(15))
    ncirrus.relocate(master, naming="absolute")
    assert ncirrus.open(master)["v"].fragments()[0]["names"][0].endswith("moved/part-0.nc4")
    assert ncirrus.relocate(master, replace=("nowhere", "there")) == []
    for wrong in ({}, {"prefix": "a", "naming": "absolute"}):
        with pytest.raises(TypeError, match="one of prefix, replace and naming"):
            ncirrus.relocate(master, **wrong)


def test_a_lost_master_is_made_anew(source: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    master = folder / "split.nc"
    ncirrus.split(source, master, shape={"y": 20})
    fragments = os.path.dirname(ncirrus.open(master)["v"].fragments()[0]["places"][0])
    master.unlink()
    report = ncirrus.rebuild(fragments, master)
    assert isinstance(report, ncirrus.AggregationReport) and report.files >= 3
    with ncirrus.open(master) as ds:
        assert np.array_equal(ds["v"][...], numbers((60, 70)))


def test_references_are_where_hdf5_has_the_chunks(parts: list[str], tmp_path: Path) -> None:
    target = str(tmp_path / "all.json")
    report = ncirrus.reference(parts, target, axis="t", inline_threshold=0)
    assert isinstance(report, ncirrus.ReferenceReport)
    references = json.loads(Path(target).read_text())["refs"]
    chunks = [key for key, where in references.items() if isinstance(where, list)]
    assert report.variables == 2 and report.references == len(chunks) > 0
    with ncirrus.open(target) as ds:
        assert np.array_equal(ds["v"][...], whole(15))
    # Each reference is where HDF5 says that the chunk is, and zarr-python reads what they lead to.
    due = set()
    for part in parts:
        with h5py.File(part) as file:
            due |= {(part, info.byte_offset, info.size) for info in _infos(file["v"])}
    found = {tuple(references[key]) for key in chunks if key.startswith("v/")}
    assert {(url.removeprefix("file://"), offset, size) for url, offset, size in found} == due
    with pytest.raises(FileExistsError):
        ncirrus.reference(parts, target, axis="t")


def _infos(variable: Any) -> list[Any]:
    return [variable.id.get_chunk_info(at) for at in range(variable.id.get_num_chunks())]


def test_chunk_tables_and_plans_are_what_hdf5_says(source: str) -> None:
    with h5py.File(source) as file:
        told = {tuple(info.chunk_offset): (info.byte_offset, info.size) for info in _infos(file["v"])}
        run = file["curve"].id.get_offset(), file["curve"].id.get_storage_size()
    with ncirrus.open(source) as ds:
        table = ds["v"].chunk_table()
        assert {tuple(row["start"]): (row["offset"], row["length"]) for row in table} == told
        assert not table["missing"].any() and not table["inline"].any()
        some = ds["v"].chunk_table((slice(25, 45), 65))
        assert [tuple(row["start"]) for row in some] == [(20, 60), (40, 60)]
        plan = ds["v"].explain((slice(25, 45), 65))
        assert plan["chunks"] == 2 and plan["missing_chunks"] == 0
        assert plan["bytes"] >= sum(told[start][1] for start in [(20, 60), (40, 60)])
        assert plan["decoded_bytes"] == 2 * 20 * 30 * 4 and plan["needed_bytes"] == 20 * 4
        assert ncirrus.explain(source, "v", (slice(25, 45), 65)) == plan
        line = ds["curve"].explain(slice(10, 30))
        assert line["bytes"] == line["needed_bytes"] == 160 and line["requests"] == 1
        assert run[1] == 560 and ds["v"].stored_bytes == sum(size for _, size in told.values())


@pytest.mark.parametrize("form", [2, 3])
def test_chunk_tables_are_what_zarr_stored(tmp_path: Path, form: int) -> None:
    path = tmp_path / "a.zarr"
    array = zarr.create_array(str(path), shape=(50, 40), chunks=(20, 30), dtype="i4", zarr_format=form, fill_value=-1)
    array[:20] = numbers((20, 40))
    variable = _only(ncirrus.open(path))
    table, shown = variable.chunk_table(), variable.chunk_map()
    assert [tuple(row["start"]) for row in table] == [(y, x) for y in (0, 20, 40) for x in (0, 30)]
    for row in table:
        y, x = (int(at) // chunk for at, chunk in zip(row["start"], (20, 30)))
        file = path / (f"{y}.{x}" if form == 2 else f"c/{y}/{x}")
        assert row["object"].endswith(str(file)) and row["offset"] == 0
        size = file.stat().st_size if file.exists() else 0
        assert file.exists() == (y == 0) and (shown.missing[y, x], shown.sizes[y, x]) == (not file.exists(), size)
        assert row["length"] == size and row["missing"] == (not file.exists())


def _only(dataset: Any) -> Any:
    (name,) = dataset.variables
    return dataset[name]


def test_shards_are_told_from_their_inner_chunks(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    array = zarr.create_array(str(path), shape=(40, 40), chunks=(10, 20), shards=(20, 40), dtype="i4", fill_value=-1)
    array[...] = numbers((40, 40))
    table = _only(ncirrus.open(path)).chunk_table()
    assert len(table) == 8 and len(set(table["object"])) == 2
    sizes = {file.name: file.stat().st_size for file in (path / "c" / "0").iterdir()}
    of_first = table[table["start"][:, 0] < 20]
    assert of_first["length"].sum() < sum(sizes.values()) and (of_first["length"] > 0).all()
    assert sorted(of_first["offset"])[0] == 0


def test_fragments_are_what_was_aggregated(parts: list[str], tmp_path: Path) -> None:
    master = str(tmp_path / "master.nc")
    ncirrus.aggregate(parts, master, axes="t")
    rows = ncirrus.fragments(master, "v", (slice(4, 11), 0))
    assert [(row["index"], row["start"], row["shape"], row["fault"]) for row in rows] == [
        ((at, 0), (5 * at, 0), (5, 4), None) for at in range(3)
    ]
    assert [os.path.realpath(row["places"][0].removeprefix("file://")) for row in rows] == [os.path.realpath(p) for p in parts]
    assert len(ncirrus.fragments(master, "v", 7)) == 1
    with pytest.raises(KeyError):
        ncirrus.fragments(master, "nothing")


def test_dumps_are_what_ncdump_prints(source: str, tmp_path: Path) -> None:
    due = subprocess.run(["ncdump", source], capture_output=True, text=True, check=True).stdout
    assert ncirrus.dump(source) == due
    header = subprocess.run(["ncdump", "-h", source], capture_output=True, text=True, check=True).stdout
    assert ncirrus.dump(source, data="none") == header
    assert ncirrus.dump(source, variables=["curve"], name="other").startswith("netcdf other {")
    classic = str(tmp_path / "classic.nc")
    ncirrus.copy(source, classic, kind="nc3")
    due = subprocess.run(["ncdump", "-x", classic], capture_output=True, text=True, check=True).stdout
    alike = partial(ElementTree.canonicalize, strip_text=True)
    assert alike(ncirrus.dump(classic, ncml=True)) == alike(due)
    tree = ElementTree.fromstring(ncirrus.dump(source, ncml=True))
    names = [found.get("name") for found in tree.iterfind(".//{*}variable")]
    assert set(names) >= set(ncirrus.open(source).variables)
    raw = str(tmp_path / "raw.nc")
    with ncirrus.create(raw, "nc4") as dataset:
        dataset.create_variable("o", dataset.create_type(ncirrus.Opaque("raw", 4)), ())
    with pytest.warns(ncirrus.NcirrusWarning, match="/o: NcML does not tell that its values have 4 bytes"):
        assert "opaque" in ncirrus.dump(raw, ncml=True)
    with pytest.raises(ncirrus.InvalidError):
        ncirrus.dump(source, data="nonsense")  # type: ignore[arg-type]


def test_places_are_listed(source: str, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    ncirrus.copy(source, tmp_path / "tree" / "b.zarr", kind="zarr3")
    (tmp_path / "words.txt").write_text("no dataset")
    rows = ncirrus.ls(tmp_path)
    assert all(isinstance(row, ncirrus.FoundDataset) for row in rows)
    assert {row.path.rstrip("/"): row.size for row in rows}["source.nc4"] == os.path.getsize(source)
    assert not any("words.txt" in row.path for row in rows)
    assert any("words.txt" in row.path for row in ncirrus.ls(tmp_path, all=True))
    deep = {row.path.rstrip("/") for row in ncirrus.ls(tmp_path, recursive=True)}
    assert {"source.nc4", "tree/b.zarr"} <= deep and not any("tree/b.zarr/" in path for path in deep)
    with pytest.raises(FileNotFoundError):
        ncirrus.ls(tmp_path / "nothing")


def test_keys_are_the_files_of_a_tree(source: str, tmp_path: Path) -> None:
    tree = tmp_path / "b.zarr"
    ncirrus.copy(source, tree, kind="zarr3")
    found = ncirrus.keys(tree, sizes=True)
    assert all(isinstance(key, ncirrus.Key) for key in found)
    due = {str(path.relative_to(tree)): path.stat().st_size for path in tree.rglob("*") if path.is_file()}
    assert {key.key: key.size for key in found} == due and all(key.is_named for key in found)
    assert {key.key for key in ncirrus.keys(tree, prefix="v/")} >= {key for key in due if key.startswith("v/c/")}


def test_datasets_are_removed_and_nothing_else(source: str, tmp_path: Path) -> None:
    tree = tmp_path / "b.zarr"
    ncirrus.copy(source, tree, kind="zarr3")
    (tmp_path / "words.txt").write_text("no dataset")
    before = states(tmp_path)
    dry = ncirrus.rm(tree, dry_run=True)
    assert isinstance(dry, ncirrus.RemovalReport) and states(tmp_path) == before
    done = ncirrus.rm(tree)
    assert done == dry and sorted(done.removed) and not list(path for path in tree.rglob("*") if path.is_file())
    with pytest.raises(ncirrus.ConflictError, match="cannot be opened"):
        ncirrus.rm(tmp_path / "words.txt")
    assert ncirrus.rm(source).removed and not os.path.exists(source)
    with pytest.raises(FileNotFoundError):
        ncirrus.rm(source)
    assert (tmp_path / "words.txt").exists()
    assert ncirrus.rm(tmp_path / "words.txt", force=True).removed
    assert not (tmp_path / "words.txt").exists()


def test_a_part_of_a_dataset_is_not_removed(source: str, tmp_path: Path) -> None:
    tree = tmp_path / "b.zarr"
    ncirrus.copy(source, tree, kind="zarr3")
    with pytest.raises(ncirrus.ConflictError, match="may be part of the dataset"):
        ncirrus.rm(tree / "v")
    assert np.array_equal(ncirrus.open(tree)["v"][...], numbers((60, 70)))


KILLED = """
import os, sys, ncirrus, numpy
ds = ncirrus.create(sys.argv[1])
ds.create_dimension("x", 300_000)
ds.create_variable("v", "f8", ("x",), chunks=(1000,))[...] = numpy.arange(300_000.0)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("name", ["a.nc4", "a.zarr"])
def test_what_a_killed_writer_left_is_removed(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    killed = subprocess.run([sys.executable, "-c", KILLED, str(target)], capture_output=True, text=True, check=False)
    assert killed.returncode == -9, killed.stderr
    with pytest.raises(FileNotFoundError):
        ncirrus.open(target)
    before = states(tmp_path)
    assert before, "the writer left something"
    young = ncirrus.clean(tmp_path)
    assert isinstance(young, ncirrus.CleanReport) and (young.removed, states(tmp_path)) == ([], before) and young.young > 0
    dry = ncirrus.clean(tmp_path, older_than=0, dry_run=True)
    assert len(dry.removed) == young.young and states(tmp_path) == before
    done = ncirrus.clean(tmp_path, older_than=0)
    assert [row.place for row in done.removed] == [row.place for row in dry.removed] and done.removed[0].age >= 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_filters_are_those_that_work(tmp_path: Path) -> None:
    found = {row.name: row for row in ncirrus.filters()}
    assert all(isinstance(row, ncirrus.Filter) for row in found.values())
    by_number = {row.id: row for row in found.values() if row.id is not None}
    assert {1, 2, 3, 307, 32001, 32015} <= set(by_number) and all(row.origin for row in found.values())
    zstd = by_number[32015]
    assert zstd.decodes and zstd.encodes and "zstd" in zstd.zarr2 + zstd.zarr3
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("v", data=numbers((100, 100)), chunks=(10, 100), compression="gzip", shuffle=True)
    assert all(by_number[number].decodes for number in (1, 2))
    assert np.array_equal(ncirrus.open(tmp_path / "a.h5")["v"][...], numbers((100, 100)))


def test_info_is_what_the_command_prints(source: str) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "ncirrus", "info", "--json", source], capture_output=True, text=True, check=True
    )
    told = ncirrus.info(source)
    assert told == json.loads(printed.stdout) == ncirrus.open(source).info()


TAKERS: list[tuple[str, Callable[[str], object]]] = [
    ("copy", lambda path: ncirrus.copy(path, path + ".zarr")),
    ("split", lambda path: ncirrus.split(path, path + ".nc")),
    ("reference", lambda path: ncirrus.reference(path, path + ".json")),
    ("relocate", lambda path: ncirrus.relocate(path, prefix="a")),
    ("aggregate_add", lambda path: ncirrus.aggregate_add(path, path + ".other")),
    ("explain", lambda path: ncirrus.explain(path, "v")),
    ("fragments", lambda path: ncirrus.fragments(path, "v")),
    ("dump", lambda path: ncirrus.dump(path)),
    ("info", lambda path: ncirrus.info(path)),
    ("rm", lambda path: ncirrus.rm(path)),
]


@pytest.mark.parametrize("take", [take for _, take in TAKERS], ids=[name for name, _ in TAKERS])
def test_what_is_not_there_and_what_is_no_dataset_are_told_apart(tmp_path: Path, take: Callable[[str], object]) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        take(str(tmp_path / "nothing.nc"))
    assert isinstance(raised.value, ncirrus.NotFoundError) and "nothing.nc" in str(raised.value)
    page = tmp_path / "page.nc"
    page.write_text("<!doctype html><html><body>Sign in</body></html>")
    before = states(tmp_path)
    with pytest.raises(ncirrus.Error) as other:
        take(str(page))
    assert "page.nc" in str(other.value) and not isinstance(other.value, ncirrus.InternalError)
    assert "\n" not in str(other.value) and states(tmp_path) == before


def test_maps_of_uneven_chunks_have_a_cell_for_each(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    path.mkdir()
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 4, 2], [3, 2]]}}
    (path / "zarr.json").write_text(
        json.dumps(
            {
                **{"zarr_format": 3, "node_type": "array", "shape": [7, 5], "data_type": "int32", "fill_value": -1},
                **{"chunk_grid": grid, "chunk_key_encoding": {"name": "default"}},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            }
        )
    )
    (path / "c" / "1").mkdir(parents=True)
    (path / "c" / "1" / "0").write_bytes(numbers((4, 3)).tobytes())
    variable = _only(ncirrus.open(path))
    assert variable.chunk_lengths == ((1, 4, 2), (3, 2))
    shown = variable.chunk_map()
    assert shown.sizes.tolist() == [[0, 0], [48, 0], [0, 0]] and shown.missing.sum() == 5
    assert np.array_equal(variable[1:5, :3], numbers((4, 3)))


def test_files_are_optimized_in_place_and_in_a_folder(tmp_path: Path) -> None:
    path, folder = tmp_path / "maps.nc", tmp_path / "out"
    folder.mkdir()
    maps = numbers((200, 64, 64)).astype("f4")
    with netCDF4.Dataset(path, "w") as made:
        for name, length in (("time", None), ("y", 64), ("x", 64)):
            made.createDimension(name, length)
        made.createVariable("maps", "f4", ("time", "y", "x"), chunksizes=(1, 64, 64), zlib=True)[:] = maps
    assert not ncirrus.check(path, profile="cmip7").sound
    (planned,) = ncirrus.optimize(path, profile="cmip7", dry_run=True)
    assert planned.outcome == "planned" and planned.reads_after is not None and planned.reads_after.estimated
    (beside,) = ncirrus.optimize([path], profile="cmip7", output=folder)
    assert (beside.outcome, beside.target) == ("optimized", str(folder / "maps.nc"))
    progress: list[tuple[int, int]] = []
    (done,) = ncirrus.optimize(path, profile="cmip7", progress=lambda *at: progress.append(at))
    assert done.outcome == "optimized" and progress[-1] == (maps.size, maps.size)
    (variable,) = done.variables
    assert (variable.before, variable.after, variable.recoded) == ((1, 64, 64), (200, 64, 64), True)
    before, after = done.reads_before, done.reads_after
    assert before is not None and after is not None and after.series.bytes < before.series.bytes
    assert "rechunked" in str(done)
    for place in (path, folder / "maps.nc"):
        assert ncirrus.check(place, profile="cmip7").sound
        with netCDF4.Dataset(place) as file:
            np.testing.assert_array_equal(file["maps"][:], maps)
    (again,) = ncirrus.optimize(path, profile="cmip7")
    assert again.outcome == "unchanged"


def test_files_that_cannot_be_optimized_are_raised_or_reported(tmp_path: Path, source: str) -> None:
    absent = tmp_path / "absent.nc"
    with pytest.raises(ncirrus.NotFoundError, match=r"absent\.nc"):
        ncirrus.optimize([absent, source])
    failed, _ = ncirrus.optimize([absent, source], on_error="report")
    assert failed.outcome == "failed" and failed.error is not None and "absent.nc" in failed.error
    with pytest.raises(ncirrus.UnsupportedError, match="this machine"):
        ncirrus.optimize("https://example.org/a.nc")
    with pytest.raises(ncirrus.InvalidError, match="cmip8"):
        ncirrus.optimize(source, profile="cmip8")
    with pytest.raises(ValueError, match="ignore"):
        ncirrus.optimize(source, on_error="ignore")  # type: ignore[arg-type]
