"""Checks, comparisons, and datasets of CDL text."""

from pathlib import Path

import netCDF4
import numpy as np
import pytest

import ncirrus

TEXT = b"""netcdf demo {
dimensions: time = UNLIMITED ; x = 4 ;
variables: double time(time) ; time:units = "hours since 2000-01-01" ;
  float t(time, x) ; t:units = "K" ; t:_ChunkSizes = 1, 4 ; t:_Fletcher32 = "true" ; t:_Storage = "chunked" ;
data: time = 0, 6 ; t = 1, 2, 3, 4, 5, 6, 7, 8 ;
}
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    report = ncirrus.generate(TEXT, tmp_path / "a.nc", kind="nc4")
    assert (report.name, report.variables, report.elements, report.cut) == ("demo", 2, 10, [])
    return tmp_path / "a.nc"


def test_a_text_becomes_a_dataset_that_netcdf4_reads(made: Path) -> None:
    with netCDF4.Dataset(made) as dataset:
        assert dataset["t"][:].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
        assert dataset["t"].filters()["fletcher32"]
        assert dataset["t"].chunking() == [1, 4]


def test_a_text_in_a_file_is_checked_without_a_target(tmp_path: Path) -> None:
    path = tmp_path / "a.cdl"
    path.write_bytes(TEXT.replace(b"t(time, x)", b"t(time, y)"))
    with pytest.raises(ncirrus.MalformedError, match="y"):
        ncirrus.generate(path)
    assert sorted(tmp_path.iterdir()) == [path]
    with pytest.raises(ncirrus.NotFoundError):
        ncirrus.generate(tmp_path / "b.cdl")


def test_what_exists_is_not_replaced_without_being_asked_to(made: Path) -> None:
    with pytest.raises(ncirrus.ConflictError):
        ncirrus.generate(TEXT, made)
    ncirrus.generate(TEXT, made, overwrite=True, definitions_only=True)
    with ncirrus.open(made) as dataset:
        assert dataset["t"].shape == (0, 4)


def test_a_sound_dataset_is_sound_and_its_digests_do_not_depend_on_the_kind(made: Path, tmp_path: Path) -> None:
    ncirrus.copy(made, tmp_path / "a.zarr", kind="zarr3")
    reports = [ncirrus.check(path, digest=True) for path in (made, tmp_path / "a.zarr")]
    assert all(report.sound and not report.findings for report in reports), str(reports[0])
    assert reports[0].digests == reports[1].digests
    assert set(reports[0].digests) == {"/time", "/t"}
    assert all(digest is not None and len(digest) == 64 for digest in reports[0].digests.values())


def test_a_changed_byte_is_found_with_its_place(made: Path) -> None:
    with ncirrus.open(made) as dataset:
        chunk = dataset["t"].chunk_table()[1]
    content = bytearray(made.read_bytes())
    content[int(chunk["offset"])] ^= 1
    made.write_bytes(content)
    report = ncirrus.check(made, digest=True)
    assert not report.sound
    assert [(finding.code, finding.severity, finding.place) for finding in report.findings] == [
        ("checksum-wrong", "error", "/t")
    ]
    assert report.digests["/t"] is None
    assert "checksum-wrong" in str(report)
    assert ncirrus.check(made, quick=True).sound


def test_a_comparison_names_what_differs(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.nc"
    ncirrus.copy(made, other, kind="nc3")
    assert ncirrus.compare(made, other, only="data").same
    with netCDF4.Dataset(other, "a") as dataset:
        dataset["t"][1, 2] += np.float32(0.5)
        dataset["t"].units = "C"
    report = ncirrus.compare(made, other)
    assert not report.same
    assert ("/t:units", "K") in [(difference.path, (difference.first or "").split('"')[1]) for difference in report.definitions if ":" in difference.path]
    differing = [variable for variable in report.variables if not variable.same]
    assert [(variable.path, variable.differing, variable.max_absolute) for variable in differing] == [("/t", 1, 0.5)]
    assert differing[0].elements[0].index == (1, 2)
    assert ncirrus.compare(made, other, only="data", tolerance=0.5).same
    with ncirrus.open(made) as one:
        assert ncirrus.compare(one, made).same
    with pytest.raises(ncirrus.Error):
        ncirrus.compare(made, other, variables="nope")
