"""Each error of netCDF4-python by its call, for types, values, indices and several files:
ours is of the same class of Python, with the same number and words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from netcdf4_failing import Call, check, ds

CALLS: list[Call] = []
# Errors that differ, with the reason: none.
DIFFERENT: dict[str, str] = {}


def call(function: Call) -> Call:
    CALLS.append(function)
    return function


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
def test_the_error_is_the_same(function: Call, tmp_path: Path) -> None:
    check(function, tmp_path, DIFFERENT)
