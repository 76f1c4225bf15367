"""xarray: the engine `ncirrus` for reading, and writing to every kind of dataset (docs/python/xarray.md)."""

from ncirrus.xarray.engine import NcirrusBackendEntrypoint, claim
from ncirrus.xarray.reading import NcirrusArray
from ncirrus.xarray.store import NcirrusStore
from ncirrus.xarray.writing import NcirrusAccessor, save

__all__ = ["NcirrusAccessor", "NcirrusArray", "NcirrusBackendEntrypoint", "NcirrusStore", "claim", "save"]
