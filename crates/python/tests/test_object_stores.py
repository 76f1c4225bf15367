"""Object stores that fsspec and obstore hand over, and independent jobs that write regions there: on a server that checks
keys, and on that of the benchmarks."""

from __future__ import annotations

import io
import itertools
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import ncirrus
from ncirrus import stores

xr = pytest.importorskip("xarray")
fsspec = pytest.importorskip("fsspec")
obstore_store = pytest.importorskip("obstore.store")
pytest.importorskip("s3fs")
pytest.importorskip("ncirrus.xarray")

VALUES = np.arange(12 * 6, dtype="f4").reshape(12, 6)
_numbers = itertools.count(1)


@pytest.fixture(params=["moto", "s3s"])
def server(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Storage options of a server; a filesystem of fsspec takes them too."""
    return {**request.getfixturevalue(request.param), "client_kwargs": {"region_name": "us-east-1"}}


def filesystem(server: dict[str, Any], **more: Any) -> Any:
    return fsspec.filesystem("s3", skip_instance_cache=True, **server, **more)


def obstore_of(server: dict[str, Any], prefix: str, **client: Any) -> Any:
    keys = {"access_key_id": server["key"], "secret_access_key": server["secret"]} if "key" in server else {}
    return obstore_store.S3Store(
        "bucket", prefix=prefix, region="us-east-1", endpoint=server["endpoint_url"],
        skip_signature="key" not in server, client_options={"allow_http": True, **client}, **keys,
    )  # fmt: skip


def dataset() -> Any:
    return xr.Dataset({"v": (("t", "x"), VALUES, {"units": "K"})}, {"t": np.arange(12)})


def stored(server: dict[str, Any], kind: str, **words: Any) -> str:
    """A new dataset's path in its filesystem."""
    path = f"bucket/handed-{next(_numbers)}.{'nc' if kind == 'nc4' else 'zarr'}"
    encoding = {"v": {"chunksizes": (4, 3), "zlib": True}}
    dataset().ncirrus.to(f"s3://{path}", kind=kind, encoding=encoding, storage_options=server, **words)
    return path


@pytest.mark.parametrize("kind", ["zarr2", "zarr3", "nc4"])
def test_what_others_hand_over_is_opened(server: dict[str, Any], kind: str) -> None:
    path = stored(server, kind)
    ours, odd = filesystem(server), filesystem(server, s3_additional_kwargs={"RequestPayer": "requester"})
    inside = path.removeprefix("bucket/")
    targets = [
        ((ours, path), False),
        (ours.get_mapper(path), False),
        (obstore_of(server, inside), False),
        ((odd, path), True),
        (odd.get_mapper(path), True),
    ]
    if kind == "nc4":
        targets += [(ours.open(path), False), (odd.open(path), True), (io.BytesIO(ours.cat_file(path)), True)]
    else:
        # A store below which the dataset is: obstore's prefix is the root.
        targets.append((obstore_of(server, inside, timeout="30s"), True))
    for target, is_bridged in targets:
        assert (stores.place_of(target).bridge is not None) is is_bridged, target
        with ncirrus.open(target) as found:
            assert np.array_equal(found["v"][...], VALUES), target
            assert found["v"].attrs["units"] == "K"
            assert np.array_equal(found["v"][::-5, 2], VALUES[::-5, 2])
        with xr.open_dataset(ncirrus.open(target)) as found:
            xr.testing.assert_equal(found.load(), dataset())
    with ncirrus.open(f"s3://{path}", storage_options=server) as found:
        assert np.array_equal(found["v"][3:5], VALUES[3:5])
    with ncirrus.open((odd, path)) as found:
        assert np.array_equal(pickle.loads(pickle.dumps(found["v"]))[3:5], VALUES[3:5])


def test_a_cache_of_fsspec_before_a_server_is_read(server: dict[str, Any]) -> None:
    path = stored(server, "nc4")
    with ncirrus.open(f"simplecache::s3://{path}", storage_options={"s3": server}) as found:
        assert np.array_equal(found["v"][...], VALUES)


def test_wrong_keys_that_others_hand_over_are_denied(moto: dict[str, Any]) -> None:
    server = {**moto, "client_kwargs": {"region_name": "us-east-1"}}
    path, wrong = stored(server, "zarr3"), {**server, "secret": "not-the-secret"}
    for target in (
        (filesystem(wrong), path),
        obstore_of(wrong, path.removeprefix("bucket/")),
        (filesystem(wrong, s3_additional_kwargs={"RequestPayer": "requester"}), path),
    ):
        with pytest.raises(ncirrus.DeniedError) as told:
            ncirrus.open(target)["v"][...]
        assert "not-the-secret" not in f"{told.value}{told.value!r}"


def _write_region(url: str, options: dict[str, Any], start: int, stop: int, times: int, barrier: Any) -> None:
    """A job of its own that knows nothing of the others."""
    import ncirrus.xarray  # noqa: F401

    part = dataset().isel(t=slice(start, stop)).drop_vars("t")
    barrier.wait(60)
    (part * times).ncirrus.to(url, region={"t": slice(start, stop)}, storage_options=options)


def written_at_once(url: str, options: dict[str, Any], parts: list[tuple[int, int]]) -> None:
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(len(parts))
    jobs = [spawn.Process(target=_write_region, args=(url, options, *part, 10, barrier)) for part in parts]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * len(parts)


@pytest.mark.parametrize("kind", ["nczarr", "zarr3"])
@pytest.mark.parametrize("parts", [[(0, 4), (4, 8), (8, 12)], [(0, 3), (3, 6), (6, 10)]], ids=["chunks", "parts"])
def test_independent_jobs_write_regions(server: dict[str, Any], kind: str, parts: list[tuple[int, int]]) -> None:
    url = f"s3://{stored(server, kind)}"
    written_at_once(url, server, parts)
    expected = VALUES.copy()
    expected[: parts[-1][1]] *= 10
    with ncirrus.open(url, storage_options=server) as found:
        assert np.array_equal(found["v"][...], expected)
    assert not [key.key for key in ncirrus.keys(url, storage_options=server) if ".ncirrus" in key.key]


def _written(target: Any, rows: slice, factor: int) -> None:
    with ncirrus.open(target, "r+") as found:
        found["v"][rows] = VALUES[rows] * factor


def test_parts_of_chunks_need_a_store_with_conditions(server: dict[str, Any]) -> None:
    path = stored(server, "zarr3")
    # s3fs cannot put depending on what is replaced; obstore can.
    odd = (filesystem(server, s3_additional_kwargs={"RequestPayer": "requester"}), path)
    able = obstore_of(server, path.removeprefix("bucket/"), timeout="30s")
    expected = VALUES.copy()
    for target, factor in ((odd, 2), (able, 3)):
        assert stores.place_of(target).bridge is not None
        _written(target, slice(4, 8), factor)
        expected[4:8] = VALUES[4:8] * factor
        assert np.array_equal(ncirrus.open(target)["v"][...], expected)
    with pytest.raises(ncirrus.UnsupportedError, match="part of a chunk") as told:
        _written(odd, slice(3, 6), 4)
    assert told.value.path == "/v" and told.value.chunk is not None
    assert np.array_equal(ncirrus.open(able)["v"][...], expected)
    _written(able, slice(3, 6), 5)
    expected[3:6] = VALUES[3:6] * 5
    assert np.array_equal(ncirrus.open(odd)["v"][...], expected)


@pytest.mark.parametrize("kind", ["zarr2", "zarr3", "nczarr", "nc4"])
def test_datasets_are_written_to_stores_of_others(server: dict[str, Any], kind: str) -> None:
    number = next(_numbers)
    mapper = filesystem(server).get_mapper(f"bucket/written-{number}")
    targets = {f"bucket/written-{number}": mapper, f"bucket/put-{number}": obstore_of(server, f"put-{number}")}
    for path, store in targets.items():
        dataset().ncirrus.to(store, kind=kind)
        with pytest.raises(ncirrus.ConflictError):
            dataset().ncirrus.to(store, kind=kind)
        with xr.open_dataset(f"s3://{path}", engine="ncirrus", storage_options=server) as read:
            xr.testing.assert_identical(read, dataset())
        if kind != "nc4":
            dataset().ncirrus.to(store, kind=kind, mode="w")
        if kind in ("zarr2", "zarr3"):
            read = xr.open_dataset(f"s3://{path}", engine="zarr", storage_options=server)
            np.testing.assert_array_equal(read.v.values, VALUES)


def test_a_store_in_memory_is_written_to_and_other_objects_are_rejected() -> None:
    zarr = pytest.importorskip("zarr")
    store = zarr.storage.MemoryStore()
    dataset().ncirrus.to(store, kind="zarr3")
    np.testing.assert_array_equal(zarr.open_group(store, mode="r")["v"][...], VALUES)
    with pytest.raises(TypeError, match="no dataset can be opened from object"):
        dataset().ncirrus.to(object())
