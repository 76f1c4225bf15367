"""Datasets that functions are given: open ones, or addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ncirrus.dataset import Dataset
from ncirrus.opening import open
from ncirrus.sessions import Session

Source = Any
Overwrite = bool | Literal["any"]
Options = Mapping[str, Any] | None


class Opened:
    """A dataset that was given, or is opened for as long as it is needed."""

    def __init__(self, source: Source, session: Session, **options: Any) -> None:
        self._source, self._session, self._options = source, session, options

    def __enter__(self) -> Dataset:
        is_open = isinstance(self._source, Dataset)
        self._dataset = self._source if is_open else open(self._source, session=self._session, **self._options)
        return self._dataset

    def __exit__(self, *raised: object) -> None:
        if self._dataset is not self._source:
            self._dataset.close()
