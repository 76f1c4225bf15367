"""Runs calls of netCDF4-python each in a process of its own: it dies of some, and takes its process with it."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from netcdf4_steps import Pair, Side

# The server looks for what it loads in advance where Python does.
_here = str(Path(__file__).parent)
if _here not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_here, os.environ.get("PYTHONPATH", "")]))
_server = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(["netCDF4", "ncirrus.netCDF4", "netcdf4_steps"])
# What a call may take, in seconds.
_LIMIT = 120.0


class DiedError(Exception):
    """A process died; its text says of what."""


def apart(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returns in a process of its own, where its last argument is a folder that is gone afterwards.

    Raises `DiedError` where the process died.
    """
    here, there = _server.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        child = _server.Process(target=_run, args=(there, call, (*arguments, folder)))
        child.start()
        there.close()
        try:
            is_whole, told = here.recv() if here.poll(_LIMIT) else (False, f"more than {_LIMIT} s")
        except EOFError:
            is_whole, told = False, None
        if child.is_alive() and not is_whole:
            child.kill()
        child.join()
    if not is_whole:
        raise DiedError(told or f"exit code {child.exitcode}")
    return told


def _run(out: Connection, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    with open(os.devnull, "w") as nowhere:
        # A library that dies is loud.
        os.dup2(nowhere.fileno(), 2)
    try:
        told = (True, call(*arguments))
    except Exception:
        told = (False, traceback.format_exc())
    out.send(told)
    # What netCDF4-python does when it is taken down is not compared.
    os._exit(0)


def compared(program: Any) -> list[str]:
    """Where netCDF4-python and ours differ for a program. Raises `DiedError` where its process died."""
    return apart(_both, program, ("netCDF4", "ncirrus.netCDF4"))  # type: ignore[no-any-return]


def survives(program: Any) -> bool:
    """Whether ours alone runs the program, whatever it returns."""
    try:
        apart(_both, program, ("ncirrus.netCDF4", "ncirrus.netCDF4"))
    except DiedError:
        return False
    return True


def _both(program: Any, modules: tuple[str, str], folder: str) -> list[str]:
    kind, steps = program
    theirs, ours = (importlib.import_module(name) for name in modules)
    sides = (Side(nc, str(Path(folder) / name), kind) for nc, name in ((theirs, "a.nc"), (ours, "b.nc")))
    return Pair(*sides).run(steps)
