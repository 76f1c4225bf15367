"""Reports of operations on whole datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class LeftOut:
    """A member, or a part of one, that was left out, and the reason."""

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
    """The result of a copy."""

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
        """Whether the copy has all requested data and attributes."""
        return not self.left_out and not self.skipped


@dataclass(frozen=True)
class VariableCopyPlan:
    """The cost of copying a variable."""

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
    """The cost of a copy."""

    variables: list[VariableCopyPlan]
    left_out: list[LeftOut]
    losses: list[str]
    notes: list[str]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class AppendReport:
    """The result of appending, or of a dry run: the dimension, its lengths before and after, and mismatches."""

    axis: str
    old_len: int
    new_len: int
    skipped: int
    variables: list[str]
    findings: list[str]
    notes: list[str]


@dataclass(frozen=True)
class CheckFinding:
    """A fault or a note: `severity` is `note`, `warning` or `error`, `help` is a remedy."""

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
    """Chunks of a variable that were never written: their number, and on request the first indices of each."""

    path: str
    count: int
    starts: list[tuple[int, ...]]


@dataclass(frozen=True)
class CheckReport:
    """The result of a check. `digests` are SHA-256 of the values by variable, `None` if not all of them can be read."""

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
class ReadCost:
    """Requests of a read, with those for chunk indexes, and the bytes that they fetch."""

    requests: int
    bytes: int


@dataclass(frozen=True)
class TypicalReads:
    """Costs of typical reads of a file on a web server: opening it, and reading parts of its largest variable.

    `step` is one index along the slowest axis, `series` one index along all others. `estimated` costs are those of a file
    that does not exist yet.
    """

    variable: str
    opening: ReadCost
    step: ReadCost
    series: ReadCost
    whole: ReadCost
    estimated: bool


@dataclass(frozen=True)
class PlannedVariable:
    """What became of a variable: its chunk shapes before and after, `None` if it is not chunked.

    `element_bytes` are those of a decoded element, `None` if elements differ. A variable that is not `recoded` was moved as it is. `kept` is the reason why a variable stays as it is although it does
    not fit the profile. `filters` are the names of other filters.
    """

    path: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    element_bytes: int | None
    before: tuple[int, ...] | None
    after: tuple[int, ...] | None
    recoded: bool
    filters: list[str] | None
    kept: str | None


@dataclass(frozen=True)
class OptimizedFile:
    """What became of a file. `error` is the reason if `outcome` is `"failed"`."""

    path: str
    target: str
    outcome: Literal["optimized", "planned", "unchanged", "failed"]
    error: str | None
    was_scattered: bool
    variables: list[PlannedVariable]
    reads_before: TypicalReads | None
    reads_after: TypicalReads | None
    bytes_before: int
    bytes_after: int | None
    notes: list[str]
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return OptimizedFiles([self])._repr_html_()


class OptimizedFiles(list[OptimizedFile]):
    """What became of files, in their order. Notebooks show the chunks before and after, and the cost of typical reads."""

    def __str__(self) -> str:
        return "".join(file.text for file in self)

    def _repr_html_(self) -> str:
        from ncirrus import optimizing

        return optimizing.page_of(self)


def optimized_file(told: dict[str, Any]) -> OptimizedFile:
    """The report of what the library says."""

    def shape(lengths: list[int] | None) -> tuple[int, ...] | None:
        return None if lengths is None else tuple(lengths)

    def reads(row: dict[str, Any] | None) -> TypicalReads | None:
        if row is None:
            return None
        step, series = ReadCost(*row["one_step"]), ReadCost(*row["one_series"])
        opening, whole = ReadCost(*row["opening"]), ReadCost(*row["whole"])
        return TypicalReads(row["variable"], opening, step, series, whole, row["estimated"])

    def variable(row: dict[str, Any]) -> PlannedVariable:
        what = (row["path"], tuple(row["dims"]), tuple(row["shape"]), row["element_bytes"])
        return PlannedVariable(*what, shape(row["from"]), shape(row["to"]), row["recoded"], row["filters"], row["kept"])

    variables = [variable(row) for row in told["variables"]]
    before, after = reads(told["reads_before"]), reads(told["reads_after"])
    return OptimizedFile(**{**told, "variables": variables, "reads_before": before, "reads_after": after})


@dataclass(frozen=True)
class DefinitionDifference:
    """A definition or attribute that differs; `first` or `second` is `None` if that dataset does not have it."""

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
    """Differences of the values of a variable; `skipped` is the reason if they were not compared."""

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
    """The differences between two datasets."""

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
    """The result of generating: `cut` are variables, with lines of the text, that had more text or values than elements."""

    name: str
    variables: int
    elements: int
    cut: list[tuple[str, int]]


@dataclass(frozen=True)
class AggregationAxis:
    """An axis along which files are joined: the number of files, and of elements."""

    name: str
    files: int
    length: int


@dataclass(frozen=True)
class AggregationReport:
    """The result of aggregating files, or of a dry run."""

    files: int
    axes: list[AggregationAxis]
    aggregated: list[str]
    stored: list[str]
    problems: list[str]
    notes: list[str]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class SplitReport:
    """The result of splitting: fragments that were written, those of an earlier run, and the division of each variable."""

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
    """The result of writing references."""

    variables: int
    references: int
    inline: int
    left_out: list[LeftOut]


@dataclass(frozen=True)
class FoundDataset:
    """A dataset or other entry of a listing: its path below the listed address, its kind, and the size of an object in bytes."""

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
    """The keys that were removed, or would be, and those that are kept because they do not belong to the dataset."""

    removed: list[str]
    kept: list[str]


@dataclass(frozen=True)
class Leftover:
    """Remains of a killed writer: location, description, and age in seconds."""

    place: str
    what: str
    age: float


@dataclass(frozen=True)
class CleanReport:
    """The remains that were removed, or would be, and the number of those that are too young."""

    removed: list[Leftover]
    young: int
    notes: list[str]


@dataclass(frozen=True)
class Filter:
    """A codec: its names, its capabilities, and its origin."""

    name: str
    id: int | None
    zarr2: list[str]
    zarr3: list[str]
    decodes: bool
    encodes: bool
    parameters: list[str]
    origin: str


def left_out(told: list[dict[str, Any]]) -> list[LeftOut]:
    """Members that were left out."""
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
