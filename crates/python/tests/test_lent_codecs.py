"""Codecs that Python lends to sessions: functions, pairs, classes of numcodecs; in Zarr v2, v3 and HDF5, from any thread."""

from __future__ import annotations

import json
import pickle
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

NAME = "example.flip"
VALUES = np.arange(12, dtype="<i4").reshape(3, 4)


def flip(data: bytes, chunk: ncirrus.CodecChunk) -> bytes:
    """The bytes the other way round: its own inverse."""
    return data[::-1]


def store(path: Path, codecs: list[Any], body: bytes, shape: tuple[int, int] = (3, 4)) -> Path:
    """An array `v` of one chunk, whatever its bytes are."""
    (path / "v" / "c" / "0").mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group"}))
    array = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "int32",
        "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": codecs,
        "dimension_names": ["y", "x"],
    }
    (path / "v" / "zarr.json").write_text(json.dumps(array))
    (path / "v" / "c" / "0" / "0").write_bytes(body)
    return path


BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def test_a_function_decodes(tmp_path: Path) -> None:
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME, "configuration": {"level": 3}}], VALUES.tobytes()[::-1])
    received = []

    def decode(data: bytes, chunk: ncirrus.CodecChunk) -> memoryview:
        received.append(chunk)
        return memoryview(data[::-1])

    with ncirrus.open(path, session=ncirrus.Session(codecs={NAME: decode})) as ds:
        assert np.array_equal(ds["v"][:], VALUES)
    chunk = received[0]
    assert (chunk.name, chunk.configuration, chunk.shape, chunk.itemsize) == (NAME, {"level": 3}, (3, 4), 4)
    assert chunk.limit >= VALUES.nbytes


def test_a_codec_may_take_the_place_of_the_bytes(tmp_path: Path) -> None:
    """As `gribberish` and the like: an array is made of a message."""
    path = store(tmp_path / "a.zarr", [{"name": "example.message", "configuration": {"var": "t"}}], b"12")
    made = ncirrus.Session(codecs={"example.message": lambda data, chunk: np.full(chunk.shape, int(data), "<i4")})
    with ncirrus.open(path, session=made) as ds:
        assert (ds["v"][:] == 12).all()


@pytest.mark.parametrize("kind", ["zarr2", "zarr3", "nc4"])
def test_values_are_written_and_copied(tmp_path: Path, kind: str) -> None:
    lent = ncirrus.LentCodec(flip, flip, hdf5_id=301)
    session = ncirrus.Session(codecs={NAME: lent})
    path = tmp_path / "a"
    spec: Any = (301, []) if kind == "nc4" else {"id": NAME} if kind == "zarr2" else {"name": NAME}
    with ncirrus.create(path, kind, session=session) as new:
        new.create_dimension("y", 3)
        new.create_dimension("x", 4)
        new.create_variable("v", "i4", ("y", "x"), chunks=(3, 4), filters=[spec])[:] = VALUES
    assert np.array_equal(ncirrus.open(path, session=session)["v"][:], VALUES)
    ncirrus.copy(path, tmp_path / "b.zarr", kind="zarr3", session=session)
    assert np.array_equal(ncirrus.open(tmp_path / "b.zarr", session=session)["v"][:], VALUES)
    with pytest.raises(ncirrus.UnsupportedError):
        ncirrus.open(path, session=ncirrus.Session())["v"][:]


def test_classes_of_numcodecs_are_codecs(tmp_path: Path) -> None:
    class Deflate:
        codec_id = "example.deflate"

        def __init__(self, level: int) -> None:
            self.level = level

        @classmethod
        def from_config(cls, config: dict[str, Any]) -> Deflate:
            return cls(config["level"])

        def decode(self, buf: bytes) -> bytes:
            return zlib.decompress(buf)

        def encode(self, buf: Any) -> bytes:
            return zlib.compress(bytes(buf), self.level)

    session = ncirrus.Session(codecs={"example.deflate": Deflate})
    path = tmp_path / "a.zarr"
    with ncirrus.create(path, "zarr2", session=session) as new:
        new.create_dimension("x", 1000)
        variable = new.create_variable("v", "i4", ("x",), chunks=(1000,), filters=[{"id": "example.deflate", "level": 9}])
        variable[:] = 7
    assert (path / "v" / "0").stat().st_size < 100
    assert (ncirrus.open(path, session=session)["v"][:] == 7).all()


@pytest.mark.parametrize("kind", ["zarr2", "zarr3"])
def test_a_class_of_numcodecs_itself_is_a_codec(tmp_path: Path, kind: str) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    session = ncirrus.Session(codecs={"example.zlib": numcodecs.Zlib})
    path = tmp_path / "a.zarr"
    spec: Any = (
        {"id": "example.zlib", "level": 9} if kind == "zarr2" else {"name": "example.zlib", "configuration": {"level": 9}}
    )
    with ncirrus.create(path, kind, session=session) as new:
        new.create_dimension("x", 1000)
        new.create_variable("v", "i4", ("x",), chunks=(1000,), filters=[spec])[:] = 7
    assert (path / "v" / ("0" if kind == "zarr2" else "c/0")).stat().st_size < 100
    with ncirrus.open(path, session=session) as ds:
        assert (ds["v"][:] == 7).all()
        assert (pickle.loads(pickle.dumps(ds))["v"][:] == 7).all()


def test_views_in_another_order_than_their_bytes_are_results(tmp_path: Path) -> None:
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], VALUES.tobytes()[::-1])
    session = ncirrus.Session(codecs={NAME: lambda data, chunk: memoryview(data)[::-1]})
    with ncirrus.open(path, session=session) as ds:
        assert np.array_equal(ds["v"][:], VALUES)


def test_errors_name_variable_chunk_and_codec(tmp_path: Path) -> None:
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], b"")

    def fail(data: bytes, chunk: ncirrus.CodecChunk) -> bytes:
        raise KeyError("band")

    with pytest.raises(ncirrus.MalformedError) as raised:
        ncirrus.open(path, session=ncirrus.Session(codecs={NAME: fail}))["v"][:]
    text = str(raised.value)
    assert "/v" in text and "[0, 0]" in text and NAME in text and "KeyError" in text and "band" in text
    one_way = ncirrus.Session(codecs={NAME: flip})
    with pytest.raises(ncirrus.UnsupportedError, match=NAME), ncirrus.create(tmp_path / "b.zarr", "zarr3", session=one_way) as new:
        new.create_dimension("x", 4)
        new.create_variable("v", "i4", ("x",), chunks=(4,), filters=[{"name": NAME}])[:] = 1


@pytest.mark.parametrize("length", [47, 49, 1 << 24])
def test_other_lengths_than_that_of_the_chunk_are_damage(tmp_path: Path, length: int) -> None:
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], b"")
    session = ncirrus.Session(codecs={NAME: lambda data, chunk: bytes(length)})
    with pytest.raises(ncirrus.Error) as raised:
        ncirrus.open(path, session=session)["v"][:]
    assert isinstance(raised.value, (ncirrus.MalformedError, ncirrus.LimitError)) and "/v" in str(raised.value)


def test_results_that_are_not_bytes_are_errors(tmp_path: Path) -> None:
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], b"")
    for result in (None, "text", 3):
        session = ncirrus.Session(codecs={NAME: lambda data, chunk, result=result: result})
        with pytest.raises(ncirrus.MalformedError, match="TypeError"):
            ncirrus.open(path, session=session)["v"][:]


def test_what_is_not_a_codec_is_refused_when_the_session_is_made() -> None:
    with pytest.raises(TypeError, match="must be a function"):
        ncirrus.Session(codecs={NAME: 3})
    with pytest.raises(ncirrus.InvalidError, match="zstd"):
        ncirrus.Session(codecs={"zstd": flip})
    with pytest.raises(TypeError, match="one of both"):
        ncirrus.LentCodec()


def test_threads_decode_at_once_and_leave_python_to_others(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    lent = ncirrus.LentCodec(flip, flip)
    session = ncirrus.Session(codecs={NAME: lent}, threads=4)
    with ncirrus.create(path, "zarr3", session=session) as new:
        new.create_dimension("x", 4000)
        new.create_variable("v", "i4", ("x",), chunks=(100,), filters=[{"name": NAME}])[:] = np.arange(4000)
    found: list[Any] = []

    def read() -> None:
        with ncirrus.open(path, session=session) as ds:
            found.append(ds["v"][:])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4 and all(np.array_equal(values, np.arange(4000)) for values in found)


def test_xarray_and_dask_decode_by_sessions_that_travel(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask")
    session = ncirrus.Session(codecs={NAME: (flip, flip)})
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], VALUES.tobytes()[::-1])
    with xr.open_dataset(path, engine="ncirrus", session=session, chunks={"y": 3}) as lazy:
        assert np.array_equal(lazy["v"].compute(scheduler="threads"), VALUES)
        again = pickle.loads(pickle.dumps(lazy))
        assert np.array_equal(again["v"].compute(), VALUES)


class FlipClass:
    """A codec in the way of numcodecs, which rejects parameters that it does not know."""

    codec_id = NAME

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> FlipClass:
        assert not config
        return cls()

    def decode(self, buf: bytes) -> bytes:
        return buf[::-1]

    def encode(self, buf: Any) -> bytes:
        return bytes(buf)[::-1]


@pytest.mark.parametrize("codec", [flip, (flip, flip), ncirrus.LentCodec(flip, flip, members=["a"]), FlipClass])
def test_datasets_that_arrive_by_pickles_share_one_session(tmp_path: Path, codec: Any) -> None:
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], VALUES.tobytes()[::-1])
    with ncirrus.open(path, session=ncirrus.Session(codecs={NAME: codec})) as ds:
        arrived = [pickle.loads(pickle.dumps(ds)) for _ in range(3)]
    assert all(np.array_equal(one["v"][:], VALUES) for one in arrived)
    assert len({id(one.session) for one in arrived}) == 1


def test_datasets_are_pickled_after_a_class_is_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ncirrus import sessions

    monkeypatch.setattr(sessions, "_registered", {})
    monkeypatch.setattr(sessions, "_default", None)
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], VALUES.tobytes()[::-1])
    ncirrus.register_codec(NAME, FlipClass)
    arrived = [pickle.loads(pickle.dumps(ncirrus.open(path))) for _ in range(3)]
    assert all(np.array_equal(one["v"][:], VALUES) for one in arrived)
    assert len({id(one.session) for one in arrived}) == 1


def test_registered_codecs_are_those_of_new_sessions_and_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ncirrus import sessions

    monkeypatch.setattr(sessions, "_registered", {})
    monkeypatch.setattr(sessions, "_default", None)
    path = store(tmp_path / "a.zarr", [BYTES, {"name": NAME}], VALUES.tobytes()[::-1])
    with pytest.raises(ncirrus.UnsupportedError):
        ncirrus.open(path)["v"][:]
    ncirrus.register_codec(NAME, decode=flip)
    assert np.array_equal(ncirrus.open(path)["v"][:], VALUES)
    assert np.array_equal(ncirrus.open(path, session=ncirrus.Session())["v"][:], VALUES)
    assert np.array_equal(pickle.loads(pickle.dumps(ncirrus.open(path)))["v"][:], VALUES)
    with pytest.raises(ncirrus.InvalidError):
        ncirrus.register_codec("zstd", decode=flip)
