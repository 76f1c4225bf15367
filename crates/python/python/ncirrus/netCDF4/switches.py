"""What is switched on or off for all variables of a group and below it, and which filters there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ncirrus.netCDF4.attributes import Attributed


class Switches(Attributed):
    """Settings that go down to all variables."""

    __slots__ = ()

    variables: Mapping[str, Any]
    groups: Mapping[str, Any]

    def _everywhere(self, call: str, value: bool) -> None:
        for variable in self.variables.values():
            getattr(variable, call)(value)
        for group in self.groups.values():
            group._everywhere(call, value)

    def set_auto_chartostring(self, value: bool) -> None:
        """As of each variable, here and below."""
        self._everywhere("set_auto_chartostring", value)

    def set_auto_maskandscale(self, value: bool) -> None:
        """As of each variable, here and below."""
        self._everywhere("set_auto_maskandscale", value)

    def set_auto_mask(self, value: bool) -> None:
        """As of each variable, here and below."""
        self._everywhere("set_auto_mask", value)

    def set_auto_scale(self, value: bool) -> None:
        """As of each variable, here and below."""
        self._everywhere("set_auto_scale", value)

    def set_always_mask(self, value: bool) -> None:
        """As of each variable, here and below."""
        self._everywhere("set_always_mask", value)

    def set_ncstring_attrs(self, value: bool) -> None:
        """Whether text of attributes is stored as `NC_STRING`, here and below."""
        self._keep(_ncstring_attrs__=bool(value))
        self._everywhere("set_ncstring_attrs", value)

    def has_blosc_filter(self) -> bool:
        """Whether blosc can be written and read."""
        return True

    def has_zstd_filter(self) -> bool:
        """Whether Zstandard can be written and read."""
        return True

    def has_bzip2_filter(self) -> bool:
        """Whether bzip2 can be written and read."""
        return True

    def has_szip_filter(self) -> bool:
        """Whether szip can be written and read."""
        return True
