"""Each error of netCDF4-python by its call, for datasets that are read or closed, and for definitions:
ours is of the same class of Python, with the same number and words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_failing import Call, check, ds

CALLS: list[Call] = []
# Errors that differ, with the reason.
DIFFERENT = {
    "ro4": "said what it is: the original has 'NetCDF: HDF error'",
    "otherdim": "a dimension of a group below cannot be seen; the original writes a file that it cannot read",
}


def call(function: Call) -> Call:
    CALLS.append(function)
    return function


@call
def ro(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).createDimension("q",3)


@call
def ro2(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).createVariable("q","i4",("x",))


@call
def ro3(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).a=1


@call
def ro4(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p)["v"][:]=1


@call
def ro5(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).createGroup("q")


@call
def ro6(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).renameVariable("v","q")


@call
def ro7(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).sync()


@call
def ro8(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).delncattr("q")


@call
def ro9(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.Dataset(p).set_fill_off()


@call
def cl1(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.close(); d.close()


@call
def cl2(nc: Any, p: str) -> Any:
    d=ds(nc,p); v=d["v"]; d.close(); v[:]


@call
def cl3(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.close(); d.createDimension("q",3)


@call
def cl4(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.close(); d.sync()


@call
def cl5(nc: Any, p: str) -> Any:
    d=ds(nc,p); v=d["v"]; d.close(); v[:]=3


@call
def cl6(nc: Any, p: str) -> Any:
    d=ds(nc,p); v=d["v"]; d.close(); v.shape


@call
def cl7(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.close(); d.a=3


@call
def cl8(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.close(); d.ncattrs()


@call
def cl9(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.close(); return repr(d.isopen()), d.filepath()

BAD_NAMES = ["", "a ", "a\n", "/", "a" * 300, "1a", "-a", " a", "a/b"]


def _of_name(sort: str, name: str) -> Call:
    def made(nc: Any, p: str) -> Any:
        made_by = {"dim": "createDimension", "att": "setncattr", "var": "createVariable", "grp": "createGroup"}
        arguments = {"dim": (3,), "att": (3,), "var": ("i4",), "grp": ()}[sort]
        getattr(ds(nc, p), made_by[sort])(name, *arguments)

    made.__name__ = f"{sort}-{name[:5]!r}"
    return made


CALLS += [_of_name(sort, name) for sort in ("dim", "att", "var", "grp") for name in BAD_NAMES]

@call
def dimslash(nc: Any, p: str) -> Any:
    ds(nc,p).createDimension("a/b",3)


@call
def dimneg(nc: Any, p: str) -> Any:
    ds(nc,p).createDimension("b",-3)


@call
def dimtext(nc: Any, p: str) -> Any:
    ds(nc,p).createDimension("b","q")


@call
def dimdup(nc: Any, p: str) -> Any:
    ds(nc,p).createDimension("x",3)


@call
def otherdim(nc: Any, p: str) -> Any:
    d=ds(nc,p); g=d.createGroup("g"); y=g.createDimension("y",3); d.createVariable("q","i4",(y,))


@call
def att2d(nc: Any, p: str) -> Any:
    ds(nc,p).a=np.zeros((2,2))


@call
def attobj(nc: Any, p: str) -> Any:
    ds(nc,p).a={"a":1}


@call
def attnone(nc: Any, p: str) -> Any:
    ds(nc,p).a=None


@call
def attbool(nc: Any, p: str) -> Any:
    ds(nc,p).a=True


@call
def attcplx(nc: Any, p: str) -> Any:
    ds(nc,p).a=1j


@call
def attlist3(nc: Any, p: str) -> Any:
    ds(nc,p,format="NETCDF3_CLASSIC").a=["a","b"]


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_the_error_is_the_same(function: Call, tmp_path: Path) -> None:
    check(function, tmp_path, DIFFERENT)
