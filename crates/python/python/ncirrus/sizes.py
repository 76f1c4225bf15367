"""Sizes as users write them."""

from __future__ import annotations

import re

from ncirrus.errors import InvalidError

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgtpe]?)(i?b)?\s*", re.IGNORECASE)


def byte_count(size: int | str) -> int:
    """Bytes: a number, or text such as `64M`, `1.5GiB` (powers of 1024) or `50MB` (powers of 1000)."""
    if isinstance(size, int):
        return size
    found = _SIZE.fullmatch(size)
    if found is None:
        raise InvalidError(f"{size!r} is not a size", hint='write 512, "64M", "1.5GiB" or "50MB"')
    number, letter, ending = found.groups()
    base = 1000 if ending is not None and ending.lower() == "b" and letter else 1024
    return int(float(number) * base ** _POWERS[letter.lower()])
