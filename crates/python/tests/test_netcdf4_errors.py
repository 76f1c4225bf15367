"""Each error of netCDF4-python by its call: ours is of the same class of Python, with the same number and words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_comparing import outcome

import ncirrus.netCDF4 as ours

original = pytest.importorskip("netCDF4")

CALLS: list[Callable[[Any, str], Any]] = []
# Errors that differ, with the reason.
DIFFERENT = {
    "parallel": "a hint at threads follows",
    "ro4": "said what it is: the original has 'NetCDF: HDF error'",
    "otherdim": "a dimension of a group below cannot be seen; the original writes a file that it cannot read",
}


def call(function: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    CALLS.append(function)
    return function


def ds(nc,p,**k):
    d=nc.Dataset(p,"w",**k); d.createDimension("x",4); d.createDimension("t",None); d.createVariable("v","i4",("x",)); d.createVariable("s",str,("x",)) if k.get("format","NETCDF4")=="NETCDF4" else None; d.createVariable("z","f8",()); return d


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


@call
def vl1(nc: Any, p: str) -> Any:
    ds(nc,p)["s"][:]="a"


@call
def vl2(nc: Any, p: str) -> Any:
    ds(nc,p)["s"][0,1]="a"


@call
def vl3(nc: Any, p: str) -> Any:
    ds(nc,p)["s"][-9]="a"


@call
def vl4(nc: Any, p: str) -> Any:
    ds(nc,p)["s"][:]=np.arange(4)


@call
def vl5(nc: Any, p: str) -> Any:
    ds(nc,p)["s"][:]=np.ma.masked_array(["a"]*4,[1,0,0,0])


@call
def vl6(nc: Any, p: str) -> Any:
    d=ds(nc,p); v=d.createVariable("w",d.createVLType("i4","V"),("x",)); v.set_auto_scale(False); v[0]=np.arange(3.0)


@call
def vl7(nc: Any, p: str) -> Any:
    d=ds(nc,p); v=d.createVariable("w",d.createVLType("i4","V"),("x",)); a=np.empty(4,object); a[:]=[np.arange(3.0)]*4; v[:]=a


@call
def en(nc: Any, p: str) -> Any:
    d=ds(nc,p); v=d.createVariable("w",d.createEnumType("i1","E",{"a":1}),("x",)); v[:]=3


@call
def ln(nc: Any, p: str) -> Any:
    len(ds(nc,p)["z"])


@call
def gv(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].getValue()


@call
def av(nc: Any, p: str) -> Any:
    ds(nc,p)["v"].assignValue(1)


@call
def size(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][:]=np.arange(3)


@call
def bounds(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][7]


@call
def wbounds(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][7]=1


@call
def cplx(nc: Any, p: str) -> Any:
    ds(nc,p).createCompoundType(np.dtype([("a","i4"),("b",np.dtype([("c","i4")]),(2,))]),"C")


@call
def cpl2(nc: Any, p: str) -> Any:
    ds(nc,p).createCompoundType(np.dtype([("a","U4")]),"C")


@call
def cpl3(nc: Any, p: str) -> Any:
    ds(nc,p).createCompoundType(np.dtype([("a","M8[s]")]),"C")


@call
def cpl4(nc: Any, p: str) -> Any:
    ds(nc,p).createCompoundType(np.dtype([("a",np.dtype([("c","i4")]))]),"C")


@call
def vlt(nc: Any, p: str) -> Any:
    ds(nc,p).createVLType("c8","V")


@call
def ent(nc: Any, p: str) -> Any:
    ds(nc,p).createEnumType("f4","E",{"a":1})


@call
def ent2(nc: Any, p: str) -> Any:
    ds(nc,p).createEnumType("i1","E",{"a":300})


@call
def s2a(nc: Any, p: str) -> Any:
    nc.stringtoarr("a",3,"x")


@call
def s2c(nc: Any, p: str) -> Any:
    nc.stringtochar(np.arange(3))


@call
def c2s(nc: Any, p: str) -> Any:
    nc.chartostring(np.arange(3))


@call
def mf0(nc: Any, p: str) -> Any:
    nc.MFDataset([])


@call
def mf1(nc: Any, p: str) -> Any:
    ds(nc,p).close(); nc.MFDataset([p,p])


@call
def mf2(nc: Any, p: str) -> Any:
    ds(nc,p,format="NETCDF3_CLASSIC").close(); nc.MFDataset([p,p])


@call
def mf3(nc: Any, p: str) -> Any:
    ds(nc,p,format="NETCDF3_CLASSIC").close(); nc.MFDataset([p,p],aggdim="q")


@call
def mf4(nc: Any, p: str) -> Any:
    nc.MFDataset("http://a/b*")


@call
def mf5(nc: Any, p: str) -> Any:
    ds(nc,p,format="NETCDF3_CLASSIC").close(); nc.MFDataset([p,p],master_file="q")


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


def _of_name(sort: str, name: str) -> Callable[[Any, str], Any]:
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


@call
def strnum(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][:]="abc"


@call
def shape(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][:]=np.zeros((2,3))


@call
def preempt(nc: Any, p: str) -> Any:
    nc.set_chunk_cache(preemption=3)


@call
def slc(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][0,0]


@call
def ell(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][...,...]


@call
def multi(nc: Any, p: str) -> Any:
    ds(nc,p)["v"][[[0,1]]]


@call
def collective(nc: Any, p: str) -> Any:
    return ds(nc,p)["v"].set_collective(True)


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_the_error_is_the_same(function: Callable[[Any, str], Any], tmp_path: Path) -> None:
    found = []
    for nc, name in ((original, "aa.nc"), (ours, "bb.nc")):
        path = str(tmp_path / name)
        found.append(outcome(lambda: function(nc, path), path)[0])  # noqa: B023
    theirs, here = found
    if function.__name__ in DIFFERENT:
        assert theirs != here, "no difference any more"
    else:
        assert theirs == here
