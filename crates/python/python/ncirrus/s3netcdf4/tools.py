"""The command-line tools of S3netCDF4: `python -m ncirrus.s3netcdf4.tools s3nc_cfa_agg.py ARGS`, and `split`, `info`, `mv`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import ncirrus
from ncirrus.s3netcdf4.listing import Choice, listing


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool that the first argument names; returns its exit code: 0, 1 for an error, 2 for wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = os.path.basename(given[0]).removesuffix(".py") if given else ""
    if name not in _TOOLS:
        print(f"usage: python -m ncirrus.s3netcdf4.tools {{{','.join(_TOOLS)}}} ARGS", file=sys.stderr)
        return 0 if name in ("-h", "--help") else 2
    try:
        run(name, given[1:])
    except SystemExit as ended:
        return int(ended.code or 0)
    except (ncirrus.Error, OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        hint = getattr(error, "hint", None)
        if hint:
            print(f"{name}: {hint}", file=sys.stderr)
        return 1
    return 0


def run(name: str, arguments: Sequence[str]) -> None:
    """Runs a tool; errors are exceptions."""
    parser, work = _TOOLS[name](name)
    work(parser.parse_args(list(arguments)))


_Tool = tuple[argparse.ArgumentParser, Callable[[argparse.Namespace], None]]


def _agg(name: str) -> _Tool:
    parser = argparse.ArgumentParser(name, description="Makes one dataset of many files; their data are not copied.")
    parser.add_argument("output", help="the dataset that is made")
    parser.add_argument("path", help="a folder, a prefix of a bucket, or names with wildcards")
    parser.add_argument("--axis", default="time", help="the dimension along which the files are joined (default: time)")
    _add_version(parser)
    parser.add_argument("--common_date", help="ignored: times are always converted to the reference date of the first file")
    return parser, _run_agg


def _run_agg(options: argparse.Namespace) -> None:
    ncirrus.aggregate(
        options.path,
        options.output,
        axes=options.axis,
        sort=True,
        convention=_convention(options),
        kind="nc4",
        overwrite=True,
    )


def _split(name: str) -> _Tool:
    parser = argparse.ArgumentParser(name, description="Splits a dataset into sub-array files and a master dataset.")
    parser.add_argument("output", help="the dataset that is made")
    parser.add_argument("input", help="the dataset that is split")
    parser.add_argument("--subarray_path", help="folder or prefix of the sub-arrays (default: next to the output, named after it)")
    parser.add_argument("--subarray_shape", help='lengths of sub-arrays, "[a,b,c]", for variables with that number of dimensions')
    parser.add_argument("--subarray_size", help="maximum size of a sub-array in bytes, such as 100MB or 1GiB (default: 50 MiB, 52428800)")
    parser.add_argument(
        "--like_s3netcdf4", action="store_true", help="split as S3netCDF4 does; --subarray_size is a number of elements"
    )
    _add_version(parser)
    return parser, _run_split


def _run_split(options: argparse.Namespace) -> None:
    with ncirrus.open(options.input) as source:
        is_netcdf3 = source.format == "netcdf3"
        shape = _lengths(source, options.subarray_shape) if options.subarray_shape else None
    size = options.subarray_size
    if size is not None and options.like_s3netcdf4:
        size = int(size)
    ncirrus.split(
        options.input,
        options.output,
        max_size=size,
        shape=shape,
        fragments=options.subarray_path,
        like_s3netcdf4=options.like_s3netcdf4,
        convention=_convention(options),
        # CFA-0.5 has no form in netCDF-3.
        kind="nc3" if is_netcdf3 and options.cfa_version == "0.4" else "nc4",
        overwrite=True,
    )


def _lengths(source: Any, text: str) -> dict[str, int]:
    """The lengths by dimension: those of the variables that have as many dimensions."""
    try:
        lengths = json.loads(text)
    except json.JSONDecodeError:
        lengths = None
    if not isinstance(lengths, list) or not all(type(length) is int and length > 0 for length in lengths):
        raise ncirrus.InvalidError(f"--subarray_shape {text!r} is not a list of positive integers such as [12,1,73,144]")
    found: dict[str, int] = {}
    for variable in _variables_of(source):
        if variable.ndim != len(lengths) or variable.dims == (variable.name,):
            continue
        for dimension, length in zip(variable.dims, lengths, strict=True):
            if found.setdefault(dimension, length) != length:
                message = f"--subarray_shape {text} gives the dimension {dimension!r} the lengths {found[dimension]} and {length}"
                raise ncirrus.InvalidError(message, path=variable.path)
    if not found:
        raise ncirrus.InvalidError(f"--subarray_shape {text}: no variable has {len(lengths)} dimensions")
    return found


def _variables_of(group: Any) -> Any:
    yield from group.variables.values()
    for below in group.groups.values():
        yield from _variables_of(below)


def _info(name: str) -> _Tool:
    parser = argparse.ArgumentParser(name, description="Prints the contents of a dataset and the locations of its sub-arrays.")
    parser.add_argument("input")
    parser.add_argument("--group", default="all", help="all, or the name of one")
    parser.add_argument("--variable", default="all", help="all, none, or the name of one")
    parser.add_argument("--partition", default="none", help='all, none, or the indices of one, "i,j,k"')
    parser.add_argument("--metadata", action="store_true", help="also print the shape and dimensions of partition matrices")
    return parser, _run_info


def _run_info(options: argparse.Namespace) -> None:
    partition: str | tuple[int, ...] = options.partition
    if partition not in ("all", "none"):
        try:
            partition = tuple(int(index) for index in options.partition.strip("[]() ").split(","))
        except ValueError:
            raise ncirrus.InvalidError(
                f"--partition {options.partition!r} is neither all nor none, nor indices such as 0,1,0"
            ) from None
    choice = Choice(options.group, options.variable, partition, options.metadata)
    with ncirrus.open(options.input) as dataset:
        # An error comes before anything is printed.
        lines = list(listing(dataset, os.path.basename(options.input), choice))
    print("\n".join(lines))


def _mv(name: str) -> _Tool:
    parser = argparse.ArgumentParser(name, description="Changes the locations of sub-arrays in a dataset after they were moved; the files are not moved.")
    parser.add_argument("input")
    parser.add_argument("--prefix", required=True, help="the present folder or prefix of the sub-arrays; their names are kept")
    parser.add_argument("--group", default="all", help="all, or the name of one")
    parser.add_argument("--variable", default="all", help="all, or the name of one")
    return parser, _run_mv


def _run_mv(options: argparse.Namespace) -> None:
    group = "" if options.group == "all" else f"{options.group.strip('/')}/"
    if options.variable != "all":
        variables: list[str | None] = [f"/{group}{options.variable}"]
    elif group:
        with ncirrus.open(options.input) as dataset:
            members = dataset.groups[group.rstrip("/")].variables.values()
            variables = [each.path for each in members if each.is_aggregated]
    else:
        variables = [None]
    for variable in variables:
        ncirrus.relocate(options.input, prefix=options.prefix, variable=variable)


def _add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cfa_version", default="0.5", choices=["0.4", "0.5", "0.6", "cf-1.13"], help="version of CFA, or cf-1.13 (default: 0.5)")


def _convention(options: argparse.Namespace) -> Any:
    return options.cfa_version if options.cfa_version.startswith("cf") else f"cfa-{options.cfa_version}"


_TOOLS: dict[str, Callable[[str], _Tool]] = {
    "s3nc_cfa_agg": _agg,
    "s3nc_cfa_split": _split,
    "s3nc_cfa_info": _info,
    "s3nc_cfa_mv": _mv,
}

if __name__ == "__main__":
    sys.exit(main())
