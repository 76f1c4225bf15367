"""`ncinfo`, `nc3tonc4` and `nc4tonc3` take the options of the original's, print where they do, and end with their codes."""

import sys

import numpy as np
import pytest

from ncirrus.netCDF4 import utils

original = pytest.importorskip("netCDF4")
theirs = pytest.importorskip("netCDF4.utils")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with original.Dataset("a.nc", "w", format="NETCDF4_CLASSIC") as file:
        file.createDimension("t", None)
        file.createVariable("t", "f8", ("t",))[:] = np.arange(25) / 7
        packed = file.createVariable("packed", "i2", ("t",))
        packed.scale_factor, packed.add_offset = 0.5, 1.0
        packed[:] = np.arange(25) / 2
    with original.Dataset("g.nc", "w") as file:
        group = file.createGroup("one").createGroup("two")
        group.createDimension("x", 7)
        group.createVariable("v", "i4", ("x",)).units = "m"


def run(program, arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"/some/{program}", *arguments])
    results = []
    for call in getattr(utils, program), getattr(theirs, program):
        try:
            ended = call()
        except (Exception, SystemExit) as error:
            built_in = next(each for each in type(error).__mro__ if each.__module__ == "builtins")
            ended = (built_in, str(error))
        said = capsys.readouterr()
        results.append((ended, said.out, f"usage: {program} " in said.err, bool(said.err)))
    return results


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("ncinfo", []),
        ("ncinfo", ["-h"]),
        ("ncinfo", ["--help"]),
        ("ncinfo", ["--absent", "a.nc"]),
        ("ncinfo", ["--group"]),
        ("ncinfo", ["a.nc"]),
        ("ncinfo", ["-v", "packed", "-d", "t", "a.nc"]),
        ("ncinfo", ["-g", "one/two", "g.nc"]),
        ("ncinfo", ["-g", "/one/two/", "--variable=v", "--dim=x", "g.nc"]),
        ("ncinfo", ["-v", "absent", "a.nc"]),
        ("ncinfo", ["absent.nc"]),
        ("nc3tonc4", []),
        ("nc3tonc4", ["-h"]),
        ("nc3tonc4", ["a.nc"]),
        ("nc3tonc4", ["a.nc", "b.nc", "c.nc"]),
        ("nc3tonc4", ["--chunk"]),
        ("nc3tonc4", ["--chunk=x", "a.nc", "b.nc"]),
        ("nc4tonc3", []),
        ("nc4tonc3", ["--help"]),
        ("nc4tonc3", ["a.nc"]),
        ("nc4tonc3", ["--zlib=1", "a.nc", "b.nc"]),
        ("nc4tonc3", ["g.nc", "b.nc"]),
    ],
)
def test_what_is_printed_is_that_of_the_original(program, arguments, monkeypatch, capsys):
    ours, expected = run(program, arguments, monkeypatch, capsys)
    assert ours == expected


@pytest.mark.parametrize(
    ("program", "options"),
    [
        ("nc3tonc4", []),
        ("nc3tonc4", ["--classic=0", "--zlib=0", "--shuffle=0", "--fletcher32=1", "--unpackshort=0"]),
        ("nc3tonc4", ["--complevel=1", "--quantize=t=1,packed=0", "--quiet=1", "--chunk=7"]),
        ("nc3tonc4", ["--vars=packed", "--istart=2", "--istop=9"]),
        ("nc4tonc3", []),
        ("nc4tonc3", ["--format=NETCDF3_CLASSIC", "--quiet=1", "--chunk=0"]),
    ],
)
def test_copies_are_those_of_the_original(program, options, monkeypatch, capsys):
    written = []
    for call in getattr(utils, program), getattr(theirs, program):
        # Another copy takes the place of the first only with -o.
        monkeypatch.setattr(sys, "argv", [program, *options, "-o", "a.nc", "b.nc"])
        call()
        with original.Dataset("b.nc") as file:
            file.set_auto_maskandscale(False)
            facts = {name: (repr(each), each.filters(), each[:].tolist()) for name, each in file.variables.items()}
            written.append((file.file_format, facts, capsys.readouterr().out))
    assert written[0] == written[1]
