"""Values on their way into a dataset: arrays at once, blocks of Dask as they are computed."""

from __future__ import annotations

import threading
import time
from typing import Any

from xarray import Variable as XarrayVariable

from ncirrus import dask as blocks_of_dask
from ncirrus.xarray import workers


def is_dask(data: Any) -> bool:
    """Whether data are computed by Dask."""
    return hasattr(data, "__dask_graph__") and hasattr(data, "chunks")


def propose_chunks(store: Any, variable: XarrayVariable) -> None:
    """Stored chunks like Dask's blocks where nothing else was asked for and the blocks are even."""
    words = ("chunksizes", "chunks", "contiguous", "shards")
    if not is_dask(variable.data) or any(variable.encoding.get(word) is not None for word in words):
        return
    lengths = [axis[0] for axis in variable.data.chunks]
    is_even = all(len(set(axis[:-1])) <= 1 and axis[-1] <= axis[0] for axis in variable.data.chunks)
    if is_even and variable.data.npartitions > 1 and min(lengths) > 0:
        variable.encoding = {**variable.encoding, "chunksizes": tuple(lengths)}


class BlockWriter:
    """Collects what is written, and writes it when all definitions are made and all checks are passed.

    With `again`, what does all of it over in another process, nothing is computed yet: the result is a Delayed.
    """

    def __init__(self, *, align: str = "error", progress: Any = None, again: Any = None) -> None:
        self._align = align
        self._progress = progress
        self._again = again
        self._pairs: list[tuple[Any, Any]] = []

    def add(self, target: Any, source: Any) -> None:
        """Values for a place; nothing is written yet."""
        if is_dask(source):
            source = self._fitted(target, source, target.grid()[0])
        self._pairs.append((target, source))

    def _fitted(self, target: Any, source: Any, chunks: Any) -> Any:
        args = (target.name, source, chunks, target.grid()[1], target.offset, target.shape, self._align)
        return blocks_of_dask.fitted(*args)

    def finish(self, store: Any) -> Any:
        """Writes everything and closes the dataset, or gives what does so when it is computed."""
        meter = Meter(self._progress, sum(source.nbytes for _, source in self._pairs))
        lazy = [(target, source) for target, source in self._pairs if is_dask(source)]
        dataset = store.dataset.dataset
        if not lazy:
            self._write_arrays(meter)
            self._end(store, meter)
            return _nothing_left() if self._again is not None else None
        run = workers.scheduler() if self._again is None else None
        if run is not None:
            found = self._places(dataset, lazy)
            self._write_arrays(meter)
            workers.write(dataset, found, run, is_own=store.is_own, told=meter.add)
            self._end(store, meter)
            return None
        if self._again is not None and store.is_own:
            later = workers.later(dataset, self._places(dataset, lazy), self._again, self._progress)
            if later is not None:
                store.close()
                return later
        return self._by_threads(store, meter)

    def _by_threads(self, store: Any, meter: Meter) -> Any:
        """Blocks are computed by this process, which writes them."""
        import dask.array
        from dask.delayed import delayed

        self._write_arrays(meter)
        lazy = [(target.counted(meter), source) for target, source in self._pairs if is_dask(source)]
        targets, sources = [target for target, _ in lazy], [source for _, source in lazy]
        if self._again is None:
            dask.array.store(sources, targets, lock=False)
            self._end(store, meter)
            return None
        written = dask.array.store(sources, targets, lock=False, compute=False)
        return delayed(_closed)(written, store, meter)

    def _write_arrays(self, meter: Meter) -> None:
        for target, source in self._pairs:
            if not is_dask(source):
                target.counted(meter)[...] = source

    def _end(self, store: Any, meter: Meter) -> None:
        store.close()
        meter.close()

    def _places(self, dataset: Any, lazy: Any) -> list[tuple[Any, Any, Any]]:
        """Where blocks go that other processes compute, along the chunks that the format chose, too."""
        return [
            (place, self._fitted(target, source, place.chunks), variable)
            for (target, source), (place, _, variable) in zip(lazy, workers.places(dataset, lazy))
        ]


class ReceivedBlocks(BlockWriter):
    """Finishes what other processes wrote: blocks are there already."""

    def __init__(self, ticket: Any, outcomes: Any, progress: Any) -> None:
        super().__init__(progress=progress)
        self._ticket, self._outcomes = ticket, outcomes

    def _fitted(self, target: Any, source: Any, chunks: Any) -> Any:
        return source

    def finish(self, store: Any) -> None:
        """Writes what is left to be written, takes over the chunks, and closes the dataset."""
        meter = Meter(self._progress, sum(source.nbytes for _, source in self._pairs))
        dataset = store.dataset.dataset
        workers.places(dataset, [(target, source) for target, source in self._pairs if is_dask(source)])
        self._write_arrays(meter)
        for outcome in self._outcomes:
            outcome.store(dataset)
            meter.add(outcome.nbytes)
        receipts = [outcome.receipt for outcome in self._outcomes if outcome.receipt is not None]
        dataset.finish(receipts, self._ticket.text)
        self._end(store, meter)


def finished(task: Any, ticket: Any, outcomes: Any, progress: Any) -> None:
    """What is done when all blocks are stored, in any process."""
    task.run(ReceivedBlocks(ticket, outcomes, progress))


def _closed(written: Any, store: Any, meter: Meter) -> None:
    store.close()
    meter.close()


def _nothing_left() -> Any:
    from dask.delayed import delayed

    return delayed(None)


class Meter:
    """Reports how many bytes are written, at most ten times a second."""

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
