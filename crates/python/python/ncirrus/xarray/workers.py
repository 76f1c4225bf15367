"""Blocks that other processes compute: they put the chunks of a tree themselves, by a ticket; for one file they encode
them, and the process that owns the file writes them (docs/design/013-joint-writing.md)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ncirrus
from ncirrus import pickling
from ncirrus.xarray import defining

# Bytes of blocks that are computed, encoded or waiting to be written at once.
UNDER_WAY = 64 << 20
# Bytes of blocks that are submitted at once where nothing limits them, and how often tasks are submitted at most: values in the
# graph pass through this process and the scheduler, and workers begin with the first while the others are on their way.
SUBMITTED = 32 << 20
SUBMISSIONS = 32
# Seconds between fetching what became of tasks that wait for nothing.
EVERY = 0.25
# Characters of a ticket that each task may carry.
TICKET = 4096

Box = tuple[slice, ...]


def scheduler() -> Callable[..., Iterator[Any]] | None:
    """What has blocks computed in other processes; none where Dask computes in this one."""
    import dask.multiprocessing
    from dask.base import get_scheduler

    get = get_scheduler()
    if get is dask.multiprocessing.get:
        return _by_pool
    client = getattr(get, "__self__", None)
    if client is not None and hasattr(client, "scheduler_info"):
        return lambda tasks, limit: _by_client(client, tasks, limit)
    return None


def _by_client(client: Any, tasks: Sequence[tuple[Any, int]], limit: int | None) -> Iterator[Any]:
    """What the tasks give, as each is done; no more are under way than the limit allows."""
    from distributed import as_completed

    done, waiting = as_completed(), list(tasks)[::-1]
    costs: dict[Any, int] = {}

    def compute(batch: Sequence[tuple[Any, int]]) -> None:
        futures = client.compute([task for task, _ in batch], optimize_graph=False)
        costs.update(zip(futures, (cost for _, cost in batch)))
        done.update(futures)

    def submit() -> None:
        batch: list[tuple[Any, int]] = []
        while waiting and (limit is None or not (costs or batch) or _sum(costs, batch) + waiting[-1][1] <= limit):
            task, cost = waiting.pop()
            batch.append((_alone(task), cost))
        if batch:
            compute(batch)

    try:
        if limit is None:
            for batch in submissions([(_alone(task), cost) for task, cost in tasks]):
                compute(batch)
            waiting.clear()
        submit()
        ended: list[Any] = []
        fetched = time.monotonic()
        for future in done:
            ended.append(future)
            # A round trip for each outcome would take longer than many a task; those that hold the next tasks up do not wait.
            is_held_up = limit is not None or len(ended) == len(costs) or future.status != "finished"
            if is_held_up or time.monotonic() - fetched > EVERY:
                for future, outcome in zip(ended, client.gather(ended)):
                    future.release()
                    yield outcome
                    costs.pop(future)
                    submit()
                ended, fetched = [], time.monotonic()
    finally:
        if costs:
            client.cancel(list(costs))


def _alone(task: Any) -> Any:
    """A task with what it needs of its graph: the whole graph, which may have all values in it, would go to the scheduler
    with each batch. What makes the block and what stores it are one task, where nothing else is needed."""
    from dask.array import optimize
    from dask.delayed import Delayed
    from dask.optimization import cull

    graph, _ = cull(task.__dask_graph__(), task.__dask_keys__())
    return Delayed(task.key, optimize(graph, task.__dask_keys__()))


def submissions(alone: Sequence[tuple[Any, int]]) -> list[Sequence[tuple[Any, int]]]:
    """The tasks that are submitted at once, in turn. Tasks that have something in common are submitted together: it would be
    sent, and computed, for each submission."""
    if _have_common(task.__dask_graph__() for task, _ in alone):
        return [alone]
    most = max(SUBMITTED, -(-sum(cost for _, cost in alone) // SUBMISSIONS))
    found: list[list[tuple[Any, int]]] = []
    room = 0
    for task, cost in alone:
        if cost > room or not found:
            found.append([])
            room = most
        found[-1].append((task, cost))
        room -= cost
    return [*found]


def _have_common(graphs: Iterable[Mapping[Any, Any]]) -> bool:
    """Whether several graphs have something in common, other than a ticket."""
    seen: set[Any] = set()
    for graph in graphs:
        keys = {key for key, node in graph.items() if not isinstance(getattr(node, "value", node), Ticket)}
        if not seen.isdisjoint(keys):
            return True
        seen |= keys
    return False


def _sum(costs: dict[Any, int], batch: list[tuple[Any, int]]) -> int:
    return sum(costs.values()) + sum(cost for _, cost in batch)


def _by_pool(tasks: Sequence[tuple[Any, int]], limit: int | None) -> Iterator[Any]:
    """As `_by_client`, in processes that Dask's own scheduler starts; some tasks at a time."""
    from concurrent.futures import ProcessPoolExecutor

    import dask.config
    from dask.base import compute
    from dask.multiprocessing import get_context, initialize_worker_process
    from dask.system import CPU_COUNT

    count = dask.config.get("num_workers", None) or CPU_COUNT
    waiting = list(tasks)[::-1]
    with ProcessPoolExecutor(count, mp_context=get_context(), initializer=initialize_worker_process) as pool:
        while waiting:
            batch: list[Any] = []
            cost = 0
            while waiting and (limit is None or not batch or cost + waiting[-1][1] <= limit):
                batch.append(waiting[-1][0])
                cost += waiting.pop()[1]
            yield from compute(*batch, scheduler="processes", pool=pool, optimize_graph=False)


class Place:
    """Where the blocks of a variable go."""

    def __init__(
        self, target: Any, *, how: str, encoder: ncirrus.Encoder | None = None, shards: tuple[int, ...] | None = None
    ) -> None:
        self.path: str = target.path
        self.offset: tuple[int, ...] = target.offset
        self.how = how
        # By a ticket the encoder comes with it.
        self.encoder: ncirrus.Encoder | None = encoder if how == "encode" else None
        known = encoder is not None and 0 not in encoder.shape
        # By a ticket whole shards are put.
        chunks = shards if shards and how == "put" else encoder.chunk_shape if encoder is not None else None
        self.chunks: tuple[int, ...] | None = chunks if known else None
        self.shape: tuple[int, ...] = encoder.shape if encoder is not None else target.shape

    def parts(self, box: Box) -> tuple[Box | None, list[Box]]:
        """The whole chunks of a box as a box, and what is left of it."""
        if self.chunks is None or self.how == "give":
            return None, [box]
        whole = tuple(
            slice(
                -(-part.start // chunk) * chunk,
                part.stop if part.stop >= length else part.stop // chunk * chunk,
            )
            for part, chunk, length in zip(box, self.chunks, self.shape)
        )
        if any(part.start >= part.stop for part in whole):
            return None, [box]
        rest, left = [], list(box)
        for axis, (part, inside) in enumerate(zip(box, whole)):
            for cut in (slice(part.start, inside.start), slice(inside.stop, part.stop)):
                if cut.start < cut.stop:
                    rest.append((*left[:axis], cut, *left[axis + 1 :]))
            left[axis] = inside
        return whole, rest


class Ticket:
    """A ticket, and the session to join with."""

    def __init__(self, text: str, session: ncirrus.Session) -> None:
        self.text: str = text
        self.session: ncirrus.Session = session

    def part(self) -> ncirrus.JointWriter:
        """This task's part; a process joins once, however many tasks it has."""
        key = ("ticket", self.text, id(self.session))
        # The session is kept with it, so that its number is not another's.
        joined, _ = pickling.once(key, lambda: (ncirrus.join(self.text, session=self.session), self.session))
        return joined.part()  # type: ignore[no-any-return]


class Outcome:
    """What became of a block: a receipt or encoded chunks, and values that are left to the owner of the dataset."""

    def __init__(self, path: str, nbytes: int) -> None:
        self.path: str = path
        self.nbytes: int = nbytes
        self.receipt: str | None = None
        self.chunks: list[ncirrus.EncodedChunk] = []
        self.values: list[tuple[Box, NDArray[Any]]] = []

    def store(self, dataset: ncirrus.Dataset) -> None:
        """Writes what is left to the owner."""
        variable: Any = dataset[self.path.strip("/")]
        if self.chunks:
            variable.write_encoded(self.chunks)
        for box, values in self.values:
            variable.write(box, values)


def work(block: Any, place: Place, start: Sequence[int], ticket: Ticket | None) -> Outcome:
    """A block on its way: what a task does with it."""
    block = np.asarray(block)
    outcome = Outcome(place.path, block.nbytes)
    first = [at + begin for at, begin in zip(start, place.offset)]
    whole, rest = place.parts(tuple(slice(at, at + length) for at, length in zip(first, block.shape)))

    def values(box: Box) -> Any:
        inside = tuple(slice(part.start - at, part.stop - at) for part, at in zip(box, first))
        return defining.values_for(None, block[inside])

    if whole is not None and ticket is not None:
        part = ticket.part()
        part.write(place.path, whole, values(whole))
        outcome.receipt = part.close()
    elif whole is not None and place.encoder is not None:
        for chunk in place.encoder.chunks(whole):
            outcome.chunks.append(place.encoder.encode(chunk, values(place.encoder.region(chunk))))
    outcome.values = [(box, np.ascontiguousarray(values(box))) for box in rest]
    return outcome


def tasks(source: Any, place: Place, ticket: Any) -> list[tuple[Any, int]]:
    """A task for each block of an array, with the bytes of the block."""
    from dask.delayed import delayed

    run = delayed(work, pure=False)
    starts = [[0, *itertools.accumulate(axis)][:-1] for axis in source.chunks]
    found = []
    for index, block in np.ndenumerate(source.to_delayed(optimize_graph=True)):
        start = tuple(axis[at] for axis, at in zip(starts, index))
        count = int(np.prod([axis[at] for axis, at in zip(source.chunks, index)], dtype=np.int64))
        if count:
            found.append((run(block, place, start, ticket), count * source.dtype.itemsize))
    return found


def places(dataset: Any, lazy: Sequence[tuple[Any, Any]]) -> list[tuple[Place, Any, Any]]:
    """Where each array of Dask goes and how: by a ticket (`put`), encoded (`encode`), or as values (`give`)."""
    form, found = dataset.format, []
    for target, source in lazy:
        variable = dataset[target.path.strip("/")]
        end = tuple(begin + length for begin, length in zip(target.offset, target.shape))
        if any(length > now for length, now in zip(end, variable.shape)):
            variable.grow_to([max(length, now) for length, now in zip(end, variable.shape)])
        try:
            # Values of one file that lie in one run are written in place.
            is_in_runs = form == "netcdf3" or (form == "netcdf4" and variable.chunks is None)
            encoder = None if is_in_runs else variable.encoder()
            is_whole = target.is_new_data and tuple(variable.shape) == end
            how = "give" if encoder is None else "put" if is_whole else "encode"
        except ncirrus.UnsupportedError:
            encoder, how = None, "give"
        found.append((Place(target, how=how, encoder=encoder, shards=variable.shards), source, variable))
    return found


def without_ticket(found: Sequence[tuple[Place, Any, Any]]) -> list[tuple[Place, Any, Any]]:
    """The same for a dataset whose chunks the owner alone can store."""
    changed = []
    for place, source, variable in found:
        if place.how == "put":
            place.how, place.encoder = "encode", variable.encoder()
        if place.how == "encode":
            try:
                variable.write_encoded([])
            except ncirrus.UnsupportedError:
                place.how, place.encoder = "give", None
        changed.append((place, source, variable))
    return changed


def later(dataset: Any, found: list[tuple[Place, Any, Any]], task: Any, progress: Any) -> Any:
    """A Delayed that writes everything in any process, or none where only this process can write the dataset. The handle
    is let go of; whoever computes the last task opens it again."""
    from dask.delayed import delayed

    from ncirrus.xarray.blocks import finished

    for place, _, _ in found:
        if place.how == "encode":
            place.how, place.encoder = "give", None
    joint = [variable for place, _, variable in found if place.how == "put"]
    if not joint:
        return None
    session = dataset.session
    try:
        ticket = Ticket(dataset.hand_over(joint), session)
    except ncirrus.UnsupportedError:
        return None
    carried = delayed(ticket, traverse=False)
    outcomes = [
        outcome
        for place, source, _ in found
        for outcome, _ in tasks(source, place, carried if place.how == "put" else None)
    ]
    return delayed(finished, pure=False)(delayed(task.without_blocks(), traverse=False), carried, outcomes, progress)


def write(dataset: Any, found: list[tuple[Place, Any, Any]], run: Any, *, is_own: bool, told: Any) -> None:
    """Has all blocks computed and stored; joint writing is finished, which closes the dataset."""
    from dask.delayed import delayed

    ticket = None
    joint = [variable for place, _, variable in found if place.how == "put"]
    if joint and is_own:
        try:
            ticket = Ticket(dataset.ticket(joint), dataset.session)
        except ncirrus.UnsupportedError:
            # One file, or a place that other processes do not see.
            pass
    if ticket is None:
        found = without_ticket(found)
    # A short one goes with each task; a long one is a task of its own, which the others wait for.
    is_long = ticket is not None and len(ticket.text) > TICKET
    carried = delayed(ticket, traverse=False) if is_long else ticket
    receipts = []
    for is_joint in (True, False):
        here = [item for item in found if (item[0].how == "put") is is_joint]
        all_tasks = [task for place, source, _ in here for task in tasks(source, place, carried if is_joint else None)]
        # Chunks that workers put themselves are not under way to this process.
        for outcome in run(all_tasks, None if is_joint else UNDER_WAY) if all_tasks else ():
            outcome.store(dataset)
            if outcome.receipt is not None:
                receipts.append(outcome.receipt)
            told(outcome.nbytes)
    if ticket is not None:
        dataset.finish(receipts)
