"""The engine `ncirrus` of `xarray.open_dataset`, `open_datatree` and `open_groups`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from xarray import DataTree
from xarray import Dataset as XarrayDataset
from xarray.backends.common import BackendEntrypoint, datatree_from_dict_with_io_cleanup
from xarray.backends.store import StoreBackendEntrypoint

import ncirrus
from ncirrus.opening import with_state
from ncirrus.xarray.store import NcirrusStore

# How much `guess_can_open` claims: everything it knows, only what no engine before us takes, or nothing.
_CLAIMS = {"how_much": "all"}

_NEW_ENDINGS = (".nczarr", ".h5", ".hdf5", ".he5", ".nc3", ".nc5", ".nc6", ".cfa", ".json", ".parq", ".zip")
_ENDINGS = (".nc", ".nc4", ".cdf", ".netcdf", ".zarr", *_NEW_ENDINGS)
_MAGIC = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n")
_MARKERS = (".zgroup", ".zmetadata", ".zarray", "zarr.json", ".nczgroup")
# The parameters of the opening functions: what decodes, and what finds the dataset and its group.
_DECODING = (
    "mask_and_scale",
    "decode_times",
    "concat_characters",
    "decode_coords",
    "drop_variables",
    "use_cftime",
    "decode_timedelta",
)
_PLACING = (
    "group",
    "session",
    "storage_options",
    "consolidated",
    "raw",
    "lenient",
    "zarr_fill_as_mask",
    "auto_complex",
    "drop_variables",
)
_MODES = ("nczarr", "zarr", "netcdf", "hdf5", "classic", "bytes", "icechunk")
# What chooses the state of an Icechunk repository, and the object by which a local one is known.
_STATES = ("branch", "tag", "snapshot", "at")
_REPOSITORY = ("repo", os.path.join("refs", "branch.main", "ref.json"))
_ICECHUNK = b"ICE\xf0\x9f\xa7\x8aCHUNK"


def claim(how_much: str) -> None:
    """What the engine opens if no engine is named: `"all"` (the default), `"new"` (what xarray's own engines do not
    take) or `"none"`."""
    if how_much not in ("all", "new", "none"):
        raise ValueError(f"claim({how_much!r}): one of 'all', 'new' and 'none'")
    _CLAIMS["how_much"] = how_much


class NcirrusBackendEntrypoint(BackendEntrypoint):
    """Opens netCDF-3, netCDF-4, NCZarr, Zarr, reference files and aggregations, wherever they are stored.

    In addition to the arguments of all engines, `session` and `storage_options` are those of `ncirrus.open`; `consolidated`, `raw` and
    `lenient` its options; `branch`, `tag`, `snapshot` and `at` choose the state of an Icechunk repository; `zarr_fill_as_mask` tells
    whether a fill value of Zarr means missing (by default in Zarr v2).

    The keywords of the engine `netcdf4` are taken as well: `auto_complex=False` reads complex numbers as compounds; `format`,
    `clobber`, `diskless`, `persist`, `lock` and `autoclose` have no effect on reading.
    """

    description = "Open netCDF-3, netCDF-4, NCZarr and Zarr, local and on object stores, using ncirrus in Xarray"
    url = "https://github.com/ncirrus/ncirrus/blob/main/docs/python/xarray.md"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether this is ours to open, by its name, and for local files by their first bytes; nothing is sent."""
        if isinstance(filename_or_obj, ncirrus.Group):
            return True
        how_much = _CLAIMS["how_much"]
        if how_much == "none":
            return False
        if isinstance(filename_or_obj, bytes | bytearray | memoryview):
            return how_much == "all" and bytes(filename_or_obj[:8]).startswith(_MAGIC)
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        return _is_ours(os.fspath(filename_or_obj), _NEW_ENDINGS if how_much == "new" else _ENDINGS)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        session: ncirrus.Session | None = None,
        storage_options: Mapping[str, Any] | None = None,
        consolidated: bool | None = None,
        raw: bool = False,
        lenient: bool = False,
        zarr_fill_as_mask: bool | None = None,
        auto_complex: bool | None = None,
        branch: str | None = None,
        tag: str | None = None,
        snapshot: str | None = None,
        at: Any = None,
        mode: str = "r",
        format: str | None = None,
        clobber: bool = True,
        diskless: bool = False,
        persist: bool = False,
        lock: Any = None,
        autoclose: bool = False,
    ) -> XarrayDataset:
        """A group of a dataset, the root by default, as `xarray.open_dataset` describes."""
        store, decoding = _opened(locals())
        return _decoded(store, decoding)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        session: ncirrus.Session | None = None,
        storage_options: Mapping[str, Any] | None = None,
        consolidated: bool | None = None,
        raw: bool = False,
        lenient: bool = False,
        zarr_fill_as_mask: bool | None = None,
        auto_complex: bool | None = None,
        branch: str | None = None,
        tag: str | None = None,
        snapshot: str | None = None,
        at: Any = None,
        mode: str = "r",
        format: str | None = None,
        clobber: bool = True,
        diskless: bool = False,
        persist: bool = False,
        lock: Any = None,
        autoclose: bool = False,
    ) -> dict[str, XarrayDataset]:
        """All groups from one on, by their paths below it."""
        store, decoding = _opened(locals())
        root = "." if group and group.strip("/") else "/"
        found: dict[str, XarrayDataset] = {}
        try:
            for path, below in store.walk():
                name = root if not path else (path if root == "." else f"/{path}")
                found[name] = _decoded(below, decoding)
        except BaseException:
            store.close()
            raise
        return found

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        session: ncirrus.Session | None = None,
        storage_options: Mapping[str, Any] | None = None,
        consolidated: bool | None = None,
        raw: bool = False,
        lenient: bool = False,
        zarr_fill_as_mask: bool | None = None,
        auto_complex: bool | None = None,
        branch: str | None = None,
        tag: str | None = None,
        snapshot: str | None = None,
        at: Any = None,
        mode: str = "r",
        format: str | None = None,
        clobber: bool = True,
        diskless: bool = False,
        persist: bool = False,
        lock: Any = None,
        autoclose: bool = False,
    ) -> DataTree:
        """All groups from one on as a tree."""
        arguments = {name: value for name, value in locals().items() if name != "self"}
        groups = self.open_groups_as_dict(**arguments)
        return datatree_from_dict_with_io_cleanup(groups)


def _opened(arguments: Mapping[str, Any]) -> tuple[NcirrusStore, dict[str, Any]]:
    """The store that the arguments of an opening function name, and those that say how it is decoded."""
    if arguments["mode"] != "r":
        raise ValueError(f"mode={arguments['mode']!r}: datasets are opened for reading; `.ncirrus.to` writes")
    decoding = {name: arguments[name] for name in _DECODING}
    placing = {name: arguments[name] for name in _PLACING}
    states = {name: arguments[name] for name in _STATES}
    return NcirrusStore.open(with_state(arguments["filename_or_obj"], **states), **placing), decoding


def _decoded(store: NcirrusStore, decoding: Mapping[str, Any]) -> XarrayDataset:
    try:
        return StoreBackendEntrypoint().open_dataset(store, **decoding)
    except BaseException:
        store.close()
        raise


def _is_ours(url: str, endings: tuple[str, ...]) -> bool:
    bare, _, fragment = url.partition("#")
    if any(word in fragment.lower() for word in _MODES):
        return True
    if any(part.split("=")[0] in _STATES for part in fragment.split("&") if "=" in part):
        return True
    bare = bare.split("?")[0].rstrip("/").lower()
    if bare.endswith(endings):
        return True
    if "://" in url and not url.startswith("file://"):
        return False
    path = os.path.expanduser(url.removeprefix("file://"))
    if os.path.isdir(path):
        return any(os.path.exists(os.path.join(path, marker)) for marker in _MARKERS) or _is_repository(path)
    return ".nc" in endings and _first_bytes(path).startswith(_MAGIC)


def _is_repository(folder: str) -> bool:
    repo, main = (os.path.join(folder, name) for name in _REPOSITORY)
    return os.path.isfile(main) or _first_bytes(repo, len(_ICECHUNK)) == _ICECHUNK


def _first_bytes(path: str, count: int = 8) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(count)
    except OSError:
        return b""
