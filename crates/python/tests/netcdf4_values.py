"""Indices and values for programs of calls of netCDF4-python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy import ma

_bound = st.one_of(st.none(), st.integers(-6, 7))
_KEY = st.one_of(
    st.tuples(st.just("i"), st.integers(-6, 6)),
    st.tuples(st.just("n"), st.integers(-3, 3)),
    st.tuples(st.just("s"), _bound, _bound, st.sampled_from([None, None, 1, 2, 3, -1, -2])),
    st.tuples(st.just("s"), _bound, _bound, st.none()),
    st.tuples(st.just("l"), st.lists(st.integers(-4, 4), max_size=4)),
    st.tuples(st.just("a"), st.lists(st.integers(0, 3), min_size=1, max_size=4)),
    # Unsorted, with duplicates, negative ones, and beyond the end: where the axis grows, it does.
    st.tuples(st.sampled_from("la"), st.lists(st.integers(-3, 6), min_size=2, max_size=6)),
    st.tuples(st.sampled_from("la"), st.permutations([0, 1, 2]).flatmap(lambda order: st.sampled_from([order, order[:2], [*order, order[0]]]))),
    st.tuples(st.just("m"), st.lists(st.booleans(), min_size=1, max_size=5)),
    st.just(("e",)),
    st.tuples(st.just("f"), st.sampled_from([1.0, 0.5])),
)
KEYS = st.lists(_KEY, min_size=1, max_size=3).map(tuple)
VALUES = st.tuples(
    st.sampled_from(["like", "like", "like", "masked", "list", "float", "scalar", "text", "texts", "bytes", "odd", "number", "2-d"]),
    st.integers(0, 99),
)

_INTEGERS = [-128, -127, -1, 0, 1, 2, 5, 100, 127, 200, 255, -32767, 65535, 1 << 40]
_FLOATS = [0.0, 1.5, -2.25, float("nan"), float("inf"), 9.969209968386869e36, 1e20, 12.3456789]
_TEXTS = ["", "a", "bc", "déf", "word", "\u4f60\u597d", "x" * 300]


def key_of(told: Any, shape: tuple[int, ...]) -> Any:
    """The index that a description stands for."""
    if not isinstance(told, tuple) or not all(isinstance(each, tuple) and each and isinstance(each[0], str) for each in told):
        return told
    keys = [_component(each, shape[at] if at < len(shape) else 3) for at, each in enumerate(told)]
    return keys[0] if len(keys) == 1 else tuple(keys)


def _component(told: Any, length: int) -> Any:
    sort, *rest = told
    if sort == "m":
        return np.resize(np.array(rest[0]), length)
    made = {"i": int, "n": np.int32, "l": list, "a": np.array, "f": float}
    return Ellipsis if sort == "e" else slice(*rest) if sort == "s" else made[sort](*rest)


def value_of(told: Any, dtype: Any, shape: tuple[int, ...], variable: Any) -> Any:
    """The value that a description stands for, for a variable of this type and a selection of this shape."""
    sort, seed = told
    chance = random.Random(seed)
    if sort == "like":
        return _like(dtype, shape, chance, variable)
    if sort == "masked" and isinstance(dtype, np.dtype) and dtype.kind in "iufS":
        values = _like(dtype, shape or (3,), chance, variable)
        return ma.masked_array(values, [chance.random() < 0.5 for _ in range(values.size)] and np.resize([True, False, seed % 2 == 0], values.shape))
    if sort == "list":
        return [chance.choice([0, 1, 2, 3]) for _ in range(chance.choice([1, 2, 3, 4]))]
    if sort == "float":
        return np.resize(np.array([1.5, -2.25, 100.0]), shape or (1,)).reshape(shape or (1,))
    if sort == "texts":
        return [chance.choice(_TEXTS) for _ in range(chance.choice([1, 2, 3]))]
    if sort == "2-d":
        return np.arange(4.0).reshape(2, 2)
    if sort == "odd":
        return chance.choice([None, True, {"a": 1}, ma.masked, float("nan"), 10**20, -1, np.int64(5), np.uint8(200)])
    single = {"scalar": [0, 1, 2.5, -1], "text": _TEXTS, "bytes": [b"a", b"abc", b""]}
    if sort in single:
        return chance.choice(single[sort])
    kind = chance.choice(["i1", "u1", "i2", "i4", "u4", "i8", "f4", "f8"])
    value = np.dtype(kind).type(chance.choice([0, 1, 2, 3, 100]))
    return value if seed % 3 else np.array([value] * (1 + seed % 2))


def _like(dtype: Any, shape: tuple[int, ...], chance: random.Random, variable: Any) -> Any:
    size = int(np.prod(shape))
    if dtype is str:
        texts = np.empty(size, object)
        texts[:] = [chance.choice(_TEXTS) for _ in range(size)]
        return texts.reshape(shape) if shape else chance.choice(_TEXTS)
    if variable is not None and variable._isvlen:
        items = np.empty(size, object)
        items[:] = [_numbers(dtype, chance.choice([0, 1, 3]), chance) for _ in range(size)]
        return items.reshape(shape) if shape else items[0]
    if variable is not None and variable._isenum:
        return np.array([chance.choice([0, 1, 7, 7, 1, 0, 3 if chance.random() < 0.1 else 0]) for _ in range(size)], dtype).reshape(shape)
    if dtype.names:
        made = np.zeros(size, dtype)
        for name in dtype.names:
            base = dtype[name].base
            made[name] = _numbers(base, made[name].size, chance).reshape(made[name].shape)
        return made.reshape(shape)
    return _numbers(dtype, size, chance).reshape(shape)


def _numbers(dtype: np.dtype[Any], size: int, chance: random.Random) -> Any:
    if dtype.kind == "S":
        return np.array([chance.choice([b"a", b"b", b"\0", b" "]) for _ in range(size)], dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        pool: list[Any] = [each for each in _INTEGERS if limits.min <= each <= limits.max]
    else:
        pool = _FLOATS
    with np.errstate(over="ignore"):
        return np.array([chance.choice(pool) for _ in range(size)], dtype.newbyteorder("=")).astype(dtype)
