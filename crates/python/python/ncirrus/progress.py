"""Progress: a callable, `True` for tqdm, or an object with `update`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], object]


@contextmanager
def reporting(progress: Any, unit: str) -> Iterator[Report | None]:
    """What the library calls with how much is done, and how much there is."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _bar(unit)
        try:
            yield None if bar is None else _of_bar(bar)
        finally:
            if bar is not None:
                bar.close()
    elif callable(getattr(progress, "update", None)):
        yield _of_bar(progress)
    elif callable(progress):
        yield progress
    else:
        raise TypeError(f"progress is a {type(progress).__name__}, and may be a callable, True, or have a method update")


def _bar(unit: str) -> Any:
    """A bar of tqdm, if there is tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(unit=f" {unit}", unit_scale=True)


def _of_bar(bar: Any) -> Report:
    """An object that counts what is new."""
    done_before = 0

    def report(done: int, total: int) -> None:
        nonlocal done_before
        if getattr(bar, "total", None) != total and hasattr(bar, "total"):
            bar.total = total
        bar.update(done - done_before)
        done_before = done

    return report
