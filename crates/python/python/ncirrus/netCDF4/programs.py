"""The programs `ncinfo`, `nc3tonc4` and `nc4tonc3`: their options, and what they print."""

from __future__ import annotations

import getopt
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

# The class `Dataset`, and the functions that copy.
_Open = Callable[..., Any]
_Copy = Callable[..., None]


def ncinfo(open: _Open) -> None:
    """Prints the description of a file, or of one of its groups, variables or dimensions."""
    options, names = _parsed("hv:g:d:", ["help", "group=", "variable=", "dimension="], _NCINFO)
    if not names:
        _misused("You need to pass netcdf filename!\n.", _NCINFO)
    group = options.get("group", options.get("g", ""))
    variable = options.get("variable", options.get("v"))
    dimension = options.get("dimension", options.get("d"))
    dataset = open(names[-1])
    try:
        shown = dataset
        for name in filter(None, group.split("/")):
            shown = shown.groups[name]
        if variable is None and dimension is None:
            print(shown)
        if variable is not None:
            print(shown.variables[variable])
        if dimension is not None:
            print(shown.dimensions[dimension])
    finally:
        dataset.close()


def nc4tonc3(copy: _Copy) -> None:
    """Copies a file of netCDF-4's classic model to one of netCDF-3, by `utils._nc4tonc3`."""
    options, names = _parsed("ho", ["help", "format=", "chunk=", "quiet="], _NC4TONC3)
    if len(names) != 2:
        _misused("You need to pass both source and destination!\n.", _NC4TONC3)
    copy(
        *names,
        clobber="o" in options,
        nchunk=int(options.get("chunk", 10)),
        quiet=bool(int(options.get("quiet", 0))),
        format=options.get("format", "NETCDF3_64BIT"),
    )


def nc3tonc4(copy: _Copy) -> None:
    """Copies a file of netCDF-3 to one of netCDF-4, compressed, by `utils._nc3tonc4`."""
    numbers = {
        "classic": 1,
        "zlib": 1,
        "complevel": 6,
        "shuffle": 1,
        "fletcher32": 0,
        "unpackshort": 1,
        "quiet": 0,
        "chunk": 1000,
        "istart": 0,
        "istop": -1,
    }
    words = ["help", "vars=", "quantize=", *(f"{name}=" for name in numbers)]
    options, names = _parsed("ho", words, _NC3TONC4)
    if len(names) != 2:
        _misused("You need to pass both source and destination!.\n", _NC3TONC4)
    given = {name: int(options.get(name, default)) for name, default in numbers.items()}
    pairs = [pair.split("=") for pair in options["quantize"].split(",")] if "quantize" in options else []
    copy(
        *names,
        unpackshort=bool(given["unpackshort"]),
        **{name: given[name] for name in ("zlib", "complevel", "shuffle", "fletcher32", "istart", "istop")},
        clobber="o" in options,
        lsd_dict={pair[0]: int(pair[1]) for pair in pairs},
        nchunk=given["chunk"],
        quiet=bool(given["quiet"]),
        classic=given["classic"],
        vars=options["vars"].split(",") if "vars" in options else None,
    )


def _parsed(letters: str, words: Sequence[str], usage: str) -> tuple[dict[str, str], list[str]]:
    """The options without their dashes, and the other arguments. Ends the program where help is wanted or needed."""
    try:
        options, names = getopt.getopt(sys.argv[1:], letters, list(words))
    except getopt.GetoptError as error:
        _misused(f"Error parsing the options. The error was: {error}\n", usage)
    given = {option.lstrip("-"): value for option, value in options}
    if "h" in given or "help" in given:
        _print_usage(usage)
        sys.exit(0)
    return given, names


def _misused(message: str, usage: str) -> NoReturn:
    sys.stdout.write(message)
    _print_usage(usage)
    sys.exit(2)


def _print_usage(usage: str) -> None:
    sys.stderr.write(usage.format(name=os.path.basename(sys.argv[0])))


_NCINFO = """
Prints the contents of a netCDF file.

usage: {name} [-h] [-g GROUP] [-v VARIABLE] [-d DIMENSION] FILE

  -h, --help                  prints this
  -g, --group=GROUP           prints this group, a path such as a/b, instead of the root
  -v, --variable=VARIABLE     prints this variable
  -d, --dimension=DIMENSION   prints this dimension

"""

_NC4TONC3 = """
Copies a netCDF-4 file of the classic model to a netCDF-3 file.

usage: {name} [-h] [-o] [--quiet=0|1] [--format=FORMAT] [--chunk=N] SOURCE TARGET

  -h, --help        prints this
  -o                replaces an existing target (default: it is an error)
  --quiet=0|1       1: prints nothing
  --format=FORMAT   NETCDF3_64BIT (default) or NETCDF3_CLASSIC
  --chunk=N         number of records that are copied at a time, 0 for all (default 10)

"""

_NC3TONC4 = """
Copies a netCDF-3 file to a compressed netCDF-4 file, and unpacks its packed variables.

usage: {name} [-h] [-o] [OPTIONS] SOURCE TARGET

  -h, --help                prints this
  -o                        replaces an existing target (default: it is an error)
  --vars=A,B,...            copies these variables and coordinate variables (default: all)
  --classic=0|1             1 (default): NETCDF4_CLASSIC, 0: NETCDF4
  --zlib=0|1                compresses (default 1)
  --complevel=1-9           level of compression (default 6)
  --shuffle=0|1             shuffles bytes before compressing (default 1)
  --fletcher32=0|1          adds checksums (default 0)
  --unpackshort=0|1         variables with scale_factor and add_offset become floats (default 1)
  --quantize=A=N,B=M,...    rounds variables to N decimal digits: 2 to hundredths, -2 to hundreds
  --quiet=0|1               1: prints nothing
  --chunk=N                 number of records that are copied at a time, 0 for all (default 1000)
  --istart=N, --istop=N     copies records from istart up to istop (default 0 and -1: all)

"""
