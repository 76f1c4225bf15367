"""What work on whole datasets tells of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LeftOut:
    """A member that is not given, or a part of one, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class SkippedPart:
    """A part of a variable that cannot be decoded, and has fill values in a copy."""

    path: str
    chunk: tuple[int, ...] | None
    start: tuple[int, ...]
    shape: tuple[int, ...]
    error: str


@dataclass(frozen=True)
class CopyReport:
    """What a copy did."""

    variables: int
    elements: int
    left_out: list[LeftOut]
    skipped: list[SkippedPart]
    losses: list[str]
    notes: list[str]
    unread: list[str]
    stays: list[str]

    @property
    def is_complete(self) -> bool:
        """Whether all data and attributes of what was to be copied are in the copy."""
        return not self.left_out and not self.skipped


@dataclass(frozen=True)
class VariableCopyPlan:
    """What copying a variable will take."""

    path: str
    shape: tuple[int, ...]
    bytes: int | None
    passes: int
    block: tuple[int, ...]
    memory: int
    requests: int
    request_bytes: int
    whole_objects: int
    chunks: int
    passed: int
    missing: int
    decoded: int
    decoded_most: int
    written: int
    scratch: int
    scratch_folder: str


@dataclass(frozen=True)
class CopyPlan:
    """What a copy will take."""

    variables: list[VariableCopyPlan]
    left_out: list[LeftOut]
    losses: list[str]
    notes: list[str]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class AppendReport:
    """What appending did, or would do: the dimension, its lengths before and after, and what does not fit."""

    axis: str
    old_len: int
    new_len: int
    skipped: int
    variables: list[str]
    findings: list[str]
    notes: list[str]


@dataclass(frozen=True)
class CheckFinding:
    """Something that is wrong or remarkable: `severity` is `note`, `warning` or `error`, `help` says what helps."""

    code: str
    severity: str
    place: str
    object: str | None
    offset: int | None
    chunk: tuple[int, ...] | None
    message: str
    help: str


@dataclass(frozen=True)
class AbsentChunks:
    """Chunks of a variable that were never written: how many, and the first indices of each where asked for."""

    path: str
    count: int
    starts: list[tuple[int, ...]]


@dataclass(frozen=True)
class CheckReport:
    """What a check found. `digests` are SHA-256 of the values by variable, `None` where they cannot all be read."""

    sound: bool
    format: str
    variables: int
    chunks: int
    bytes: int
    findings: list[CheckFinding]
    omitted: int
    absent: list[AbsentChunks]
    digests: dict[str, str | None]
    text: str

    def __str__(self) -> str:
        return self.text


def check_report(told: dict[str, Any]) -> CheckReport:
    """The report of what the library says."""

    def finding(row: dict[str, Any]) -> CheckFinding:
        return CheckFinding(**{**row, "chunk": tuple(row["chunk"]) if row["chunk"] is not None else None})

    told = {name: value for name, value in told.items() if name != "version"}
    told["findings"] = [finding(row) for row in told["findings"]]
    told["absent"] = [
        AbsentChunks(row["path"], row["count"], [tuple(start) for start in row["starts"]]) for row in told["absent"]
    ]
    told["digests"] = {row["path"]: row["sha256"] for row in told["digests"]}
    return CheckReport(**told)


@dataclass(frozen=True)
class DefinitionDifference:
    """A definition or attribute that differs; `first` or `second` is `None` where that dataset has none."""

    path: str
    aspect: str
    first: str | None
    second: str | None


@dataclass(frozen=True)
class DifferentElement:
    """An element that differs, and both values as text."""

    index: tuple[int, ...]
    first: str
    second: str


@dataclass(frozen=True)
class VariableComparison:
    """How the values of a variable differ; `skipped` says why they were not compared."""

    path: str
    same: bool
    skipped: str | None
    compared: int
    differing: int
    nan: int
    missing: int
    elements: list[DifferentElement]
    max_absolute: float
    max_relative: float
    rms: float


@dataclass(frozen=True)
class ComparisonReport:
    """What differs between two datasets."""

    same: bool
    definitions: list[DefinitionDifference]
    variables: list[VariableComparison]
    left_out: list[LeftOut]
    text: str

    def __str__(self) -> str:
        return self.text


def comparison_report(told: dict[str, Any]) -> ComparisonReport:
    """The report of what the library says."""

    def element(row: dict[str, Any]) -> DifferentElement:
        return DifferentElement(tuple(row["index"]), row["first"], row["second"])

    def variable(row: dict[str, Any]) -> VariableComparison:
        return VariableComparison(**{**row, "elements": [element(part) for part in row["elements"]]})

    return ComparisonReport(
        told["same"],
        [DefinitionDifference(**row) for row in told["definitions"]],
        [variable(row) for row in told["variables"]],
        left_out(told["left_out"]),
        told["text"],
    )


@dataclass(frozen=True)
class GenerateReport:
    """What was made of a text: `cut` are variables, and lines, with more text or values than elements."""

    name: str
    variables: int
    elements: int
    cut: list[tuple[str, int]]


@dataclass(frozen=True)
class AggregationAxis:
    """An axis along which files follow each other: how many, and their elements."""

    name: str
    files: int
    length: int


@dataclass(frozen=True)
class AggregationReport:
    """What aggregating files did, or would do."""

    files: int
    axes: list[AggregationAxis]
    aggregated: list[str]
    stored: list[str]
    problems: list[str]
    notes: list[str]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class SplitReport:
    """What splitting did: fragments that were written, those of an earlier run, and how each variable was cut."""

    written: int
    kept: int
    variables: dict[str, tuple[int, ...]]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class RenamedFragment:
    """A name of a fragment that changes."""

    variable: str
    old: str
    new: str


@dataclass(frozen=True)
class ReferenceReport:
    """What writing references did."""

    variables: int
    references: int
    inline: int
    left_out: list[LeftOut]


@dataclass(frozen=True)
class FoundDataset:
    """What lies at a place: its path from the place that was listed, its kind, and the bytes of an object."""

    path: str
    kind: str
    size: int | None


@dataclass(frozen=True)
class Key:
    """An object of a store."""

    key: str
    size: int | None
    is_named: bool


@dataclass(frozen=True)
class RemovalReport:
    """The keys that were removed, or would be, and those that stay, for they are no part of the dataset."""

    removed: list[str]
    kept: list[str]


@dataclass(frozen=True)
class Leftover:
    """What a killed writer left: where, what, and for how many seconds."""

    place: str
    what: str
    age: float


@dataclass(frozen=True)
class CleanReport:
    """What was removed, or would be, and how much is too young."""

    removed: list[Leftover]
    young: int
    notes: list[str]


@dataclass(frozen=True)
class Filter:
    """A codec: its names, what can be done with it, and where it comes from."""

    name: str
    id: int | None
    zarr2: list[str]
    zarr3: list[str]
    decodes: bool
    encodes: bool
    parameters: list[str]
    origin: str


def left_out(told: list[dict[str, Any]]) -> list[LeftOut]:
    """Members that are not given."""
    return [LeftOut(**row) for row in told]


def copy_report(told: dict[str, Any]) -> CopyReport:
    """The report of a copy."""
    skipped = [
        SkippedPart(
            path=row["path"],
            chunk=None if row["chunk"] is None else tuple(row["chunk"]),
            start=tuple(row["start"]),
            shape=tuple(row["shape"]),
            error=row["error"],
        )
        for row in told["skipped"]
    ]
    return CopyReport(**{**told, "left_out": left_out(told["left_out"]), "skipped": skipped})


def copy_plan(told: dict[str, Any]) -> CopyPlan:
    """The plan of a copy."""
    rows = [{**row, "shape": tuple(row["shape"]), "block": tuple(row["block"])} for row in told["variables"]]
    plans = [VariableCopyPlan(**row) for row in rows]
    return CopyPlan(**{**told, "left_out": left_out(told["left_out"]), "variables": plans})


def aggregation_report(told: dict[str, Any]) -> AggregationReport:
    """The report of an aggregation."""
    axes = [AggregationAxis(*axis) for axis in told["axes"]]
    return AggregationReport(**{**told, "left_out": left_out(told["left_out"]), "axes": axes})


def split_report(told: dict[str, Any]) -> SplitReport:
    """The report of a split."""
    variables = {path: tuple(shape) for path, shape in told["variables"]}
    return SplitReport(**{**told, "left_out": left_out(told["left_out"]), "variables": variables})
