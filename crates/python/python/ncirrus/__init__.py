"""netCDF for the cloud: one package for netCDF-3, netCDF-4, NCZarr and Zarr, wherever they are stored."""

from importlib import import_module as _import_module
from typing import Any as _Any

from ncirrus._ncirrus import __version__

# The module that defines each name: numpy and the modules that need it are imported when one of them is first used.
_HOMES = {
    "Attributes": "attributes",
    "Char": "types",
    "CodecChunk": "lent_codecs",
    "Compound": "types",
    "Dataset": "dataset",
    "DecodedVariable": "decoding",
    "Dimension": "dimension",
    "EncodedChunk": "encoders",
    "Encoder": "encoders",
    "Enum": "types",
    "Group": "group",
    "Indexer": "variable",
    "JointWriter": "joint",
    "LentCodec": "lent_codecs",
    "Opaque": "types",
    "Picture": "plotting",
    "PicturePage": "plotting",
    "Plan": "variable",
    "Session": "sessions",
    "Store": "mapping",
    "Variable": "variable",
    "Vlen": "types",
    "config_show": "configuration",
    "configure": "sessions",
    "create": "opening",
    "default_session": "sessions",
    "join": "joint",
    "open": "opening",
    "open_async": "opening",
    "open_many": "many",
    "register_codec": "sessions",
    "store": "mapping",
    "aggregate": "tools",
    "aggregate_add": "tools",
    "append": "tools",
    "check": "tools",
    "clean": "tools",
    "compare": "tools",
    "copy": "copying",
    "dump": "tools",
    "explain": "tools",
    "filters": "tools",
    "fragments": "tools",
    "generate": "tools",
    "info": "tools",
    "keys": "tools",
    "ls": "tools",
    "optimize": "tools",
    "rebuild": "tools",
    "reference": "tools",
    "relocate": "tools",
    "rm": "tools",
    "split": "tools",
    "whoami": "tools",
    "AggregationReport": "reports",
    "AbsentChunks": "reports",
    "AppendReport": "reports",
    "CheckFinding": "reports",
    "CheckReport": "reports",
    "CleanReport": "reports",
    "ComparisonReport": "reports",
    "CopyPlan": "reports",
    "CopyReport": "reports",
    "DefinitionDifference": "reports",
    "DifferentElement": "reports",
    "Filter": "reports",
    "FoundDataset": "reports",
    "GenerateReport": "reports",
    "Key": "reports",
    "LeftOut": "reports",
    "OptimizedFile": "reports",
    "OptimizedFiles": "reports",
    "PlannedVariable": "reports",
    "ReadCost": "reports",
    "ReferenceReport": "reports",
    "RemovalReport": "reports",
    "RenamedFragment": "reports",
    "SplitReport": "reports",
    "TypicalReads": "reports",
    "VariableComparison": "reports",
    "ChangedError": "errors",
    "ConflictError": "errors",
    "DeniedError": "errors",
    "Error": "errors",
    "InternalError": "errors",
    "InvalidError": "errors",
    "InterruptedError": "errors",
    "IoError": "errors",
    "LimitError": "errors",
    "MalformedError": "errors",
    "MemberNotFoundError": "errors",
    "MissingDataWarning": "errors",
    "MissingError": "errors",
    "NcirrusWarning": "errors",
    "NotFoundError": "errors",
    "UnsupportedError": "errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> _Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'ncirrus' has no attribute {name!r}")
    value = getattr(_import_module(f"ncirrus.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
