"""netCDF for the cloud: one package for netCDF-3, netCDF-4, NCZarr and Zarr, wherever they are stored."""

from ncirrus.attributes import Attributes as Attributes
from ncirrus.configuration import config_show as config_show
from ncirrus.copying import copy as copy
from ncirrus.dataset import Dataset as Dataset
from ncirrus.decoding import DecodedVariable as DecodedVariable
from ncirrus.dimension import Dimension as Dimension
from ncirrus.encoders import (
    EncodedChunk as EncodedChunk,
    Encoder as Encoder,
)
from ncirrus.errors import (
    ChangedError as ChangedError,
    ConflictError as ConflictError,
    DeniedError as DeniedError,
    Error as Error,
    InternalError as InternalError,
    InterruptedError as InterruptedError,
    InvalidError as InvalidError,
    IoError as IoError,
    LimitError as LimitError,
    MalformedError as MalformedError,
    MemberNotFoundError as MemberNotFoundError,
    MissingDataWarning as MissingDataWarning,
    MissingError as MissingError,
    NcirrusWarning as NcirrusWarning,
    NotFoundError as NotFoundError,
    UnsupportedError as UnsupportedError,
)
from ncirrus.group import Group as Group
from ncirrus.joint import (
    JointWriter as JointWriter,
    join as join,
)
from ncirrus.many import open_many as open_many
from ncirrus.opening import (
    create as create,
    open as open,
    open_async as open_async,
)
from ncirrus.reports import (
    AggregationReport as AggregationReport,
    CleanReport as CleanReport,
    CopyPlan as CopyPlan,
    CopyReport as CopyReport,
    Filter as Filter,
    FoundDataset as FoundDataset,
    Key as Key,
    LeftOut as LeftOut,
    ReferenceReport as ReferenceReport,
    RemovalReport as RemovalReport,
    RenamedFragment as RenamedFragment,
    SplitReport as SplitReport,
)
from ncirrus.sessions import (
    Session as Session,
    configure as configure,
    default_session as default_session,
)
from ncirrus.tools import (
    aggregate as aggregate,
    aggregate_add as aggregate_add,
    clean as clean,
    dump as dump,
    explain as explain,
    filters as filters,
    fragments as fragments,
    info as info,
    keys as keys,
    ls as ls,
    rebuild as rebuild,
    reference as reference,
    relocate as relocate,
    rm as rm,
    split as split,
    whoami as whoami,
)
from ncirrus.types import (
    Char as Char,
    Compound as Compound,
    Enum as Enum,
    Opaque as Opaque,
    Vlen as Vlen,
)
from ncirrus.variable import (
    Indexer as Indexer,
    Plan as Plan,
    Variable as Variable,
)

__version__: str

__all__ = [
    "__version__",
    "Attributes",
    "Char",
    "Compound",
    "Dataset",
    "DecodedVariable",
    "Dimension",
    "EncodedChunk",
    "Encoder",
    "Enum",
    "Group",
    "Indexer",
    "JointWriter",
    "Opaque",
    "Plan",
    "Session",
    "Variable",
    "Vlen",
    "config_show",
    "configure",
    "create",
    "default_session",
    "join",
    "open",
    "open_async",
    "open_many",
    "aggregate",
    "aggregate_add",
    "clean",
    "copy",
    "dump",
    "explain",
    "filters",
    "fragments",
    "info",
    "keys",
    "ls",
    "rebuild",
    "reference",
    "relocate",
    "rm",
    "split",
    "whoami",
    "AggregationReport",
    "CleanReport",
    "CopyPlan",
    "CopyReport",
    "Filter",
    "FoundDataset",
    "Key",
    "LeftOut",
    "ReferenceReport",
    "RemovalReport",
    "RenamedFragment",
    "SplitReport",
    "ChangedError",
    "ConflictError",
    "DeniedError",
    "Error",
    "InternalError",
    "InvalidError",
    "InterruptedError",
    "IoError",
    "LimitError",
    "MalformedError",
    "MemberNotFoundError",
    "MissingDataWarning",
    "MissingError",
    "NcirrusWarning",
    "NotFoundError",
    "UnsupportedError",
]
