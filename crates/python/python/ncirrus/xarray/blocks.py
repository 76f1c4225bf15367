"""Values on their way into a dataset: arrays at once, blocks of Dask as they are computed."""

from __future__ import annotations

import threading
import time
from typing import Any

from xarray import Variable as XarrayVariable

from ncirrus import dask as blocks_of_dask


def is_dask(data: Any) -> bool:
    """Whether data are computed by Dask."""
    return hasattr(data, "__dask_graph__") and hasattr(data, "chunks")


def propose_chunks(store: Any, variable: XarrayVariable) -> None:
    """Stored chunks like Dask's blocks where nothing else was asked for and the blocks are even."""
    words = ("chunksizes", "chunks", "contiguous")
    if not is_dask(variable.data) or any(variable.encoding.get(word) is not None for word in words):
        return
    lengths = [axis[0] for axis in variable.data.chunks]
    is_even = all(len(set(axis[:-1])) <= 1 and axis[-1] <= axis[0] for axis in variable.data.chunks)
    if is_even and variable.data.npartitions > 1 and min(lengths) > 0:
        variable.encoding = {**variable.encoding, "chunksizes": tuple(lengths)}


class BlockWriter:
    """Collects what is written, and writes it when all definitions are made and all checks are passed."""

    def __init__(self, *, align: str = "error", progress: Any = None) -> None:
        self._align = align
        self._progress = progress
        self._pairs: list[tuple[Any, Any]] = []

    def add(self, target: Any, source: Any) -> None:
        """Values for a place; nothing is written yet."""
        if is_dask(source):
            chunks, dims = target.grid()
            args = (target.name, source, chunks, dims, target.offset, target.shape, self._align)
            source = blocks_of_dask.fitted(*args)
        self._pairs.append((target, source))

    def finish(self, store: Any, *, compute: bool) -> Any:
        """Writes everything and closes the dataset; without `compute`, gives what does so when it is computed."""
        meter = Meter(self._progress, sum(source.nbytes for _, source in self._pairs))
        lazy = [(target.counted(meter), source) for target, source in self._pairs if is_dask(source)]
        for target, source in self._pairs:
            if not is_dask(source):
                target.counted(meter)[...] = source
        if not lazy:
            store.close()
            meter.close()
            return None if compute else _nothing_left()
        import dask.array
        from dask.delayed import delayed

        targets, sources = [target for target, _ in lazy], [source for _, source in lazy]
        if compute:
            dask.array.store(sources, targets, lock=False)
            store.close()
            meter.close()
            return None
        written = dask.array.store(sources, targets, lock=False, compute=False)
        return delayed(_closed)(written, store, meter)


def _closed(written: Any, store: Any, meter: Meter) -> None:
    store.close()
    meter.close()


def _nothing_left() -> Any:
    from dask.delayed import delayed

    return delayed(None)


class Meter:
    """Tells how many bytes are written, at most ten times a second."""

    def __init__(self, progress: Any, total: int) -> None:
        self._total = int(total)
        self._done = 0
        self._told = 0.0
        self._bar: Any = None
        self._tell = progress if callable(progress) else None
        self._counting = threading.Lock()
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=self._total, unit="B", unit_scale=True)
        elif progress is not None and not callable(progress) and hasattr(progress, "update"):
            self._bar = progress

    def add(self, count: int) -> None:
        """So many more bytes; an exception of the callable ends the writing."""
        with self._counting:
            self._done += count
            now = time.monotonic()
            is_due = now - self._told >= 0.1 or self._done >= self._total
            if is_due:
                self._told = now
            done = self._done
        if self._bar is not None:
            self._bar.update(count)
        if is_due and self._tell is not None:
            self._tell(done, self._total)

    def close(self) -> None:
        """The end of the work."""
        if self._bar is not None and hasattr(self._bar, "close"):
            self._bar.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Meter, (None, self._total))
