"""Arrays that tests write and expect."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(shape: tuple[int, ...], dtype: Any = "i4") -> Any:
    """Numbers that differ from each other."""
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)
