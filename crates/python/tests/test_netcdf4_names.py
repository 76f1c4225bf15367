"""Every name of netCDF4-python is there, with its signature and defaults: by `inspect` and by its stubs."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

original = pytest.importorskip("netCDF4")
STUBS = ast.parse(Path(original.__file__ or "").with_name("__init__.pyi").read_text())
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in reversed(STUBS.body) if isinstance(node, ast.FunctionDef)}
# Their first stub is not the whole signature.
OVERLOADED = ("stringtoarr", "stringtochar", "chartostring")
# Modules and names that the reference happens to import.
NOT_OURS = {"Union", "Version", "certifi", "functools", "glob", "ma", "numpy", "os", "pathlib", "posixpath", "subprocess"}
# Keywords that the reference does not have.
EXTENSIONS = {"shards"}
NOT_OURS |= {"sys", "warnings", "weakref", "pluginpath"}


@pytest.fixture(scope="module")
def ours() -> ModuleType:
    if importlib.util.find_spec("ncirrus.netCDF4._netCDF4") is None:
        pytest.skip("ncirrus.netCDF4 has no classes yet")
    return importlib.import_module("ncirrus.netCDF4")


def inspected(call: Any) -> list[tuple[str, Any]]:
    parameters = inspect.signature(call).parameters.values()
    return [(each.name, each.default) for each in parameters if each.name != "self"]


def declared(node: ast.FunctionDef) -> list[tuple[str, Any]]:
    """The parameters of a stub, and their defaults; `...` marks a default that the stub omits."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    told = [ast.literal_eval(default) for default in node.args.defaults]
    defaults = [inspect.Parameter.empty] * (len(arguments) - len(told)) + told
    found = [(each.arg, default) for each, default in zip(arguments, defaults, strict=True)]
    found += [(each.arg, inspect.Parameter.empty) for each in (node.args.vararg, node.args.kwarg) if each]
    return [each for each in found if each[0] != "self"]


def methods(name: str) -> dict[str, ast.FunctionDef]:
    body = CLASSES[name].body
    return {node.name: node for node in reversed(body) if isinstance(node, ast.FunctionDef)}


def assert_parameters(found: list[tuple[str, Any]], expected: list[tuple[str, Any]], place: str) -> None:
    assert [name for name, _ in found] == [name for name, _ in expected], place
    for (name, ours), (_, theirs) in zip(found, expected, strict=True):
        assert theirs is ... or (ours == theirs and type(ours) is type(theirs)), f"{place}({name})"


def names_of(module: ModuleType) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")} - NOT_OURS


def test_the_stubs_are_those_of_what_is_inspected() -> None:
    # The reference agrees with itself: what is compared below means something.
    for name, node in FUNCTIONS.items():
        if name not in OVERLOADED and name not in ("date2num", "num2date", "date2index"):
            assert_parameters(inspected(getattr(original, name)), declared(node), name)
    assert_parameters(
        inspected(original.Dataset.createVariable), declared(methods("Dataset")["createVariable"]), "createVariable"
    )
    assert len(CLASSES) >= 10 and len(names_of(original)) > 30


def test_every_name_is_there(ours: ModuleType) -> None:
    assert names_of(original) - names_of(ours) == set()
    assert set(original.__all__) == set(ours.__all__)
    dunders = [name for name in dir(original) if name.startswith("__has_") or name.endswith("version__")]
    assert {name: getattr(ours, name) for name in dunders} == {name: getattr(original, name) for name in dunders}
    assert isinstance(ours.__ncirrus_version__, str)


def test_internal_names_are_there(ours: ModuleType) -> None:
    internal = importlib.import_module("ncirrus.netCDF4._netCDF4")
    assert internal._private_atts == importlib.import_module("netCDF4._netCDF4")._private_atts
    utilities = importlib.import_module("ncirrus.netCDF4.utils")
    theirs = importlib.import_module("netCDF4.utils")
    for name in (
        *("_StartCountStride", "_out_array_shape", "_quantize", "_find_dim", "_walk_grps", "_safecast"),
        *("_nc3tonc4", "_nc4tonc3", "ncinfo", "nc3tonc4", "nc4tonc3"),
    ):
        assert_parameters(inspected(getattr(utilities, name)), inspected(getattr(theirs, name)), name)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_the_signature_of_the_original(ours: ModuleType, name: str) -> None:
    assert_parameters(inspected(getattr(ours, name)), inspected(getattr(original, name)), name)


@pytest.mark.parametrize("name", sorted(name for name in CLASSES if hasattr(original, name)))
def test_a_class_has_the_members_of_the_original(ours: ModuleType, name: str) -> None:
    found, expected = getattr(ours, name), getattr(original, name)
    missing = {each for each in dir(expected) if not each.startswith("_")} - set(dir(found))
    assert missing == set()
    for method, node in methods(name).items():
        decorators = [each.id for each in node.decorator_list if isinstance(each, ast.Name)]
        # Properties have no parameters; an iterator is declared for type checkers alone, as `__new__` is beside `__init__`.
        if "property" in decorators or method in ("__iter__", "__new__", "__getattr__", "__reduce__"):
            continue
        is_special = method.startswith("__")
        theirs = declared(node) if is_special else inspected(getattr(expected, method))
        ours_ = [each for each in inspected(getattr(found, method)) if each[0] not in EXTENSIONS]
        if is_special and method != "__init__":
            # Names of an operator's parameters are not compared.
            assert len(ours_) == len(theirs), f"{name}.{method}"
            continue
        assert_parameters(ours_, theirs, f"{name}.{method}")
