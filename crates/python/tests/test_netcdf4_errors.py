"""Each error of netCDF4-python by its call, for opening, and for what datasets, groups and variables refuse:
ours is of the same class of Python, with the same number and words.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_failing import Call, check, ds

CALLS: list[Call] = []
# Errors that differ, with the reason.
DIFFERENT = {
    "parallel": "a hint at threads follows",
}


def call(function: Call) -> Call:
    CALLS.append(function)
    return function


@call
def memory_mode(nc: Any, p: str) -> Any:
    nc.Dataset(p,"a",memory=b"x")


@call
def parallel(nc: Any, p: str) -> Any:
    nc.Dataset(p,"w",parallel=True)


@call
def badmode(nc: Any, p: str) -> Any:
    nc.Dataset(p,"q")


@call
def badformat(nc: Any, p: str) -> Any:
    nc.Dataset(p,"w",format="q")


@call
def absent(nc: Any, p: str) -> Any:
    nc.Dataset(p)


@call
def absentr(nc: Any, p: str) -> Any:
    nc.Dataset(p,"r+").close()


@call
def nofolder(nc: Any, p: str) -> Any:
    nc.Dataset(os.path.join(os.path.dirname(p), "none", "a.nc"), "w")


@call
def text(nc: Any, p: str) -> Any:
    open(p,"w").write("hello"); nc.Dataset(p)


@call
def empty(nc: Any, p: str) -> Any:
    open(p,"w"); nc.Dataset(p)


@call
def isfolder(nc: Any, p: str) -> Any:
    nc.Dataset(os.path.dirname(p))


@call
def garbage(nc: Any, p: str) -> Any:
    nc.Dataset("n",memory=b"garbage, truly")


@call
def memnotbuf(nc: Any, p: str) -> Any:
    nc.Dataset("n",memory=5)


@call
def exists(nc: Any, p: str) -> Any:
    nc.Dataset(p,"w").close(); nc.Dataset(p,"x")


@call
def exists2(nc: Any, p: str) -> Any:
    nc.Dataset(p,"w").close(); nc.Dataset(p,"w",clobber=False)


@call
def getitem(nc: Any, p: str) -> Any:
    ds(nc,p)["q"]


@call
def getitem2(nc: Any, p: str) -> Any:
    ds(nc,p)["q/r"]


@call
def it(nc: Any, p: str) -> Any:
    iter(ds(nc,p))


@call
def cont(nc: Any, p: str) -> Any:
    "v" in ds(nc,p)


@call
def itg(nc: Any, p: str) -> Any:
    iter(ds(nc,p).createGroup("g"))


@call
def red(nc: Any, p: str) -> Any:
    ds(nc,p).__reduce__()


@call
def redv(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].__reduce__()


@call
def rend(nc: Any, p: str) -> Any:
    ds(nc,p).renameDimension("q","r")


@call
def renv(nc: Any, p: str) -> Any:
    ds(nc,p).renameVariable("q","r")


@call
def reng(nc: Any, p: str) -> Any:
    ds(nc,p).renameGroup("q","r")


@call
def rena(nc: Any, p: str) -> Any:
    ds(nc,p).renameAttribute("q","r")


@call
def sns(nc: Any, p: str) -> Any:
    ds(nc,p,format="NETCDF3_CLASSIC").setncattr_string("a","b")


@call
def snsv(nc: Any, p: str) -> Any:
    ds(nc,p,format="NETCDF3_CLASSIC")["v"].setncattr_string("a","b")


@call
def deln(nc: Any, p: str) -> Any:
    delattr(ds(nc,p),"name")


@call
def delq(nc: Any, p: str) -> Any:
    delattr(ds(nc,p),"q")


@call
def renamegroup(nc: Any, p: str) -> Any:
    d=ds(nc,p); d.createGroup("g"); d.renameGroup("g","v")


@call
def setn(nc: Any, p: str) -> Any:
    ds(nc,p).variables=3


@call
def setname(nc: Any, p: str) -> Any:
    ds(nc,p).name="x"


@call
def setvname(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].name="x"


@call
def setshape(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].shape=(3,)


@call
def setdims(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].dimensions=("x",)


@call
def setdtype(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].dtype="f4"


@call
def dimname(nc: Any, p: str) -> Any:
    ds(nc,p).dimensions["x"].name="y"


@call
def dimsize(nc: Any, p: str) -> Any:
    ds(nc,p).dimensions["x"].size=3


@call
def geta(nc: Any, p: str) -> Any:
    ds(nc,p).q


@call
def getav(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].q


@call
def getan(nc: Any, p: str) -> Any:
    ds(nc,p).getncattr("q")


@call
def delnc(nc: Any, p: str) -> Any:
    ds(nc,p).delncattr("q")


@call
def fv(nc: Any, p: str) -> Any:
    ds(nc,p)["v"]._FillValue=3


@call
def fvn(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].setncattr("_FillValue",3)


@call
def fcdl1(nc: Any, p: str) -> Any:
    nc.Dataset.fromcdl(p + ".none.cdl",format="q")


@call
def fcdl2(nc: Any, p: str) -> Any:
    nc.Dataset.fromcdl(p + ".none.cdl")


@call
def fcdl3(nc: Any, p: str) -> Any:
    open(p + ".cdl","w").write("netcdf a {}"); open(p,"w"); nc.Dataset.fromcdl(p + ".cdl",p)


@call
def gclose(nc: Any, p: str) -> Any:
    ds(nc,p).createGroup("g").close()


@call
def miss(nc: Any, p: str) -> Any:
    v=ds(nc,p).createVariable("m","i2",("x",)); v.missing_value=np.array([1,2],"i2"); v[:]=np.ma.masked_array([1,2,3,4],[1,0,0,0])


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_the_error_is_the_same(function: Call, tmp_path: Path) -> None:
    check(function, tmp_path, DIFFERENT)
