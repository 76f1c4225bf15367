"""Datasets written through sessions of icechunk, and virtual chunks of existing files: read back by zarr-python, xarray and here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

icechunk = pytest.importorskip("icechunk")
zarr = pytest.importorskip("zarr")
xr = pytest.importorskip("xarray")
pytest.importorskip("ncirrus.xarray")


def _repository(path: Path, data: Path | None = None) -> Any:
    """A repository; with a container for files below a folder."""
    config = icechunk.RepositoryConfig()
    storage = icechunk.local_filesystem_storage(str(path / "repo"))
    if data is None:
        return icechunk.Repository.create(storage, config=config)
    prefix = f"file://{data}/"
    store = icechunk.local_filesystem_store(f"{data}/")
    config.set_virtual_chunk_container(icechunk.VirtualChunkContainer(prefix, store))
    allowed = icechunk.containers_credentials({prefix: icechunk.Credentials.LocalFileSystemAccess()})
    repository = icechunk.Repository.create(storage, config=config, authorize_virtual_chunk_access=allowed)
    repository.save_config()
    return repository


def _field(steps: int, first: int = 0) -> Any:
    values = np.arange(first * 12, (first + steps) * 12, dtype="f4").reshape(steps, 3, 4)
    coordinates = {"time": np.arange(first, first + steps), "y": [10.0, 20.0, 30.0]}
    return xr.Dataset({"t": (("time", "y", "x"), values, {"units": "K"})}, coordinates, {"title": "text"})


def _latest(repository: Any) -> Any:
    return repository.readonly_session("main").store


def _check(repository: Any, path: Path, expected: Any) -> None:
    """Checks what every reader finds in the last commit."""
    group = zarr.open_group(_latest(repository), mode="r", zarr_format=3)
    with xr.open_zarr(_latest(repository), consolidated=False) as theirs, xr.open_dataset(
        str(path / "repo"), engine="ncirrus"
    ) as ours:
        for name, variable in expected.variables.items():
            np.testing.assert_array_equal(group[name][...], variable.values)
            np.testing.assert_array_equal(theirs[name].values, variable.values)
            np.testing.assert_array_equal(ours[name].values, variable.values)
            assert theirs[name].dims == ours[name].dims == variable.dims


def test_datasets_of_xarray_are_written_and_appended(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    session = repository.writable_session("main")
    _field(4).ncirrus.to(session.store, kind="zarr3", encoding={"t": {"chunks": (2, 3, 2)}})
    session.commit("first")
    _check(repository, tmp_path, _field(4))
    for first in (4, 7):  # The second one begins within a chunk.
        session = repository.writable_session("main")
        _field(3, first).ncirrus.to(session.store, append_dim="time")
        session.commit(f"from {first}")
    _check(repository, tmp_path, _field(10))
    log = [entry.message for entry in repository.ancestry(branch="main")]
    assert log[:3] == ["from 7", "from 4", "first"]


@pytest.mark.parametrize("part", [(slice(0, 2), slice(0, 3), slice(0, 2)), (1, slice(1, 3), slice(1, 4)), (3, 0, 0)])
def test_whole_and_partial_chunks_are_changed(tmp_path: Path, part: tuple[Any, ...]) -> None:
    repository = _repository(tmp_path)
    session = repository.writable_session("main")
    _field(4).ncirrus.to(session.store, kind="zarr3", encoding={"t": {"chunks": (2, 3, 2)}})
    session.commit("first")
    session = repository.writable_session("main")
    with ncirrus.open(session.store, "r+") as dataset:
        dataset["t"][part] = -1
        dataset["t"].attrs["units"] = "degC"
    session.commit("changed")
    expected = _field(4)
    expected["t"].values[part] = -1
    _check(repository, tmp_path, expected)
    with ncirrus.open(str(tmp_path / "repo")) as dataset:
        assert dataset["t"].attrs["units"] == "degC"


def test_copies_go_into_a_session_and_out_of_it(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    _field(5).ncirrus.to(str(tmp_path / "a.nc"), kind="nc4")
    session = repository.writable_session("main")
    ncirrus.copy(str(tmp_path / "a.nc"), session.store, kind="zarr3")
    with ncirrus.open(session.store) as dataset:
        assert dataset["t"].shape == (5, 3, 4)
    session.commit("copied")
    _check(repository, tmp_path, _field(5))
    ncirrus.copy(_latest(repository), str(tmp_path / "b.nc"))
    with xr.open_dataset(str(tmp_path / "b.nc"), engine="ncirrus") as back:
        np.testing.assert_array_equal(back["t"].values, _field(5)["t"].values)


def test_a_conflict_is_reported_by_icechunk_and_nothing_is_lost(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    session = repository.writable_session("main")
    _field(4).ncirrus.to(session.store, kind="zarr3", encoding={"t": {"chunks": (2, 3, 4)}})
    session.commit("first")
    one, other = repository.writable_session("main"), repository.writable_session("main")
    for session, value in ((one, 1.0), (other, 2.0)):
        with ncirrus.open(session.store, "r+") as dataset:
            dataset["t"][0] = value
    one.commit("one")
    with pytest.raises(icechunk.ConflictError):
        other.commit("other")
    expected = _field(4)
    expected["t"].values[0] = 1
    _check(repository, tmp_path, expected)


def test_a_read_only_session_is_read_and_not_written(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    session = repository.writable_session("main")
    _field(2).ncirrus.to(session.store, kind="zarr3")
    session.commit("first")
    with ncirrus.open(repository.readonly_session("main")) as dataset:
        assert dataset["t"][1, 2, 3] == 23
    with pytest.raises(ncirrus.Error):
        ncirrus.open(repository.readonly_session("main"), "r+")


FORMS: dict[str, Callable[[Path], Path]] = {
    name: (lambda folder, kind=kind, name=name: _written(folder / name, kind))
    for name, kind in [("a.nc", "nc3"), ("b.nc", "nc4"), ("c.zarr", "zarr2"), ("d.zarr", "zarr3")]
}


def _written(path: Path, kind: str) -> Path:
    encoding = {} if kind == "nc3" else {"t": {"chunks": (2, 3, 4), "compression": "zlib", "shuffle": True}}
    _field(4).ncirrus.to(str(path), kind=kind, encoding=encoding)
    return path


def _read_virtual(repository: Any, path: Path, data: Path, expected: Any) -> None:
    group = zarr.open_group(_latest(repository), mode="r", zarr_format=3)
    session = ncirrus.Session(settings={"virtual.containers": f"file://{data}/=allow"})
    for name, variable in expected.variables.items():
        np.testing.assert_array_equal(group[name][...], variable.values, err_msg=name)
    with xr.open_zarr(_latest(repository), consolidated=False) as theirs:
        np.testing.assert_array_equal(theirs["t"].values, expected["t"].values)
        assert theirs["t"].attrs["units"] == "K" and theirs.attrs["title"] == "text"
    with ncirrus.open(str(path / "repo"), session=session) as dataset:
        np.testing.assert_array_equal(dataset["t"][...], expected["t"].values)
    with ncirrus.open(str(path / "repo")) as dataset, pytest.raises(PermissionError):
        dataset["t"][...]


@pytest.mark.parametrize("form", FORMS)
def test_files_become_virtual_chunks(tmp_path: Path, form: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = FORMS[form](data)
    repository = _repository(tmp_path, data)
    session = repository.writable_session("main")
    report = ncirrus.reference(str(file), kind="icechunk", store=session.store, inline_threshold=0)
    assert report.left_out == [] and report.references > 0
    locations = session.all_virtual_chunk_locations()
    assert locations and all(location.startswith(f"file://{file}") for location in locations)
    session.commit("virtual")
    _read_virtual(repository, tmp_path, data, _field(4))
    # The references hold for the present state of the files.
    for part in [file] if file.is_file() else file.rglob("*"):
        os.utime(part, (4e9, 4e9))
    with pytest.raises(icechunk.IcechunkError):
        zarr.open_group(_latest(repository), mode="r", zarr_format=3)["t"][...]


def test_unequal_files_make_a_rectilinear_grid(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    lengths, first, files = [3, 2, 4], 0, []
    for number, steps in enumerate(lengths):
        file = data / f"{number}.nc"
        chunks = {"t": {"chunks": (steps, 3, 2)}, "time": {"chunks": (steps,)}}
        _field(steps, first).ncirrus.to(str(file), kind="nc4", encoding=chunks)
        files.append(str(file))
        first += steps
    repository = _repository(tmp_path, data)
    session = repository.writable_session("main")
    report = ncirrus.reference(files, kind="icechunk", store=session.store, axis="time", inline_threshold=0)
    assert report.left_out == []
    session.commit("joined")
    with ncirrus.open(_latest(repository)) as dataset:
        assert dataset["t"].shape == (9, 3, 4)
    with zarr.config.set({"array.rectilinear_chunks": True}):
        group = zarr.open_group(_latest(repository), mode="r", zarr_format=3)
        assert group["t"].metadata.chunk_grid.to_dict()["name"] == "rectilinear"
        np.testing.assert_array_equal(group["t"][...], _field(9)["t"].values)
        np.testing.assert_array_equal(group["time"][...], np.arange(9))


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    file = _written(data / "b.nc", "nc4")
    outside = _written(tmp_path / "e.nc", "nc4")
    repository = _repository(tmp_path, data)
    session = repository.writable_session("main")
    with pytest.raises(ncirrus.DeniedError, match="no virtual chunk container"):
        ncirrus.reference(str(outside), kind="icechunk", store=session.store, inline_threshold=0)
    assert not session.has_uncommitted_changes
    ncirrus.reference(str(file), kind="icechunk", store=session.store)
    with pytest.raises(ncirrus.ConflictError, match="a dataset already"):
        ncirrus.reference(str(file), kind="icechunk", store=session.store)
    ncirrus.reference(str(file), kind="icechunk", store=session.store, overwrite=True)
    with pytest.raises(ncirrus.DeniedError, match="read-only"):
        ncirrus.reference(str(file), kind="icechunk", store=repository.readonly_session("main").store)
    with pytest.raises(TypeError, match="session.store"):
        ncirrus.reference(str(file), kind="icechunk", store={})
    with pytest.raises(TypeError, match="rejects target"):
        ncirrus.reference(str(file), "refs.json", kind="icechunk", store=session.store)
