"""Dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncirrus.dataset import Dataset


class Dimension:
    """A dimension: a name and a length that variables share."""

    __slots__ = ("_dataset", "_handle")

    def __init__(self, dataset: Dataset, handle: Any) -> None:
        self._dataset, self._handle = dataset, handle

    @property
    def name(self) -> str:
        """Simple name."""
        return str(self._handle.name())

    @property
    def path(self) -> str:
        """Absolute path."""
        return str(self._handle.path())

    @property
    def is_unlimited(self) -> bool:
        """Whether it was made unlimited, and the dataset stores that. Plain Zarr of other programs does not: any dimension may
        grow there, by `Variable.append`, and none is unlimited."""
        return bool(self._handle.is_unlimited())

    def __len__(self) -> int:
        return int(self._handle.length())

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        grows = ", unlimited" if self.is_unlimited else ""
        return f"<ncirrus.Dimension {self.path}: {len(self)}{grows}>"
