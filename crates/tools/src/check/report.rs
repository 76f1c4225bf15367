//! What a check found.
use ncirrus::{Error, ErrorKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckReport {
    /// Kind of the dataset; empty if it cannot be opened.
    pub format: String,
    /// What is wrong or remarkable, in the order in which it was found.
    pub findings: Vec<CheckFinding>,
    /// Findings that are not listed, as there were too many of the same code in the same variable.
    pub omitted: u64,
    /// Variables that were checked.
    pub variables: u64,
    /// Stored chunks whose places were checked.
    pub chunks: u64,
    /// Bytes of values that were read and decoded.
    pub bytes: u64,
    /// Variables with chunks that were never written.
    pub absent: Vec<AbsentChunks>,
    /// Digests of the values, if they were asked for.
    pub digests: Vec<VariableDigest>,
}

/// Chunks of a variable that were never written: their elements have the fill value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentChunks {
    /// Path of the variable.
    pub path: String,
    /// How many chunks there are none of.
    pub count: u64,
    /// Indices of the first element of each, if they were asked for.
    pub starts: Vec<Vec<u64>>,
}

/// The digest of the values of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableDigest {
    /// Path of the variable.
    pub path: String,
    /// SHA-256 of the values in hexadecimal; `None` if they cannot all be read.
    pub sha256: Option<String>,
}

/// Something that is wrong or remarkable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFinding {
    /// What it is.
    pub code: FindingCode,
    /// How bad it is.
    pub severity: Severity,
    /// Path of the variable, group, dimension or attribute (`/variable:attribute`), or the key of an object.
    pub place: String,
    /// Object that holds the bytes concerned.
    pub object: Option<String>,
    /// Offset of these bytes.
    pub offset: Option<u64>,
    /// Coordinates of the chunk.
    pub chunk: Option<Vec<u64>>,
    /// The fact and the offending value.
    pub message: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong.
    Note,
    /// All data can be read, but something is contradictory or surprising.
    Warning,
    /// Data or metadata are damaged or missing.
    Error,
}

impl Severity {
    /// The severity as a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal, $help:literal;)*) => {
        /// What a finding is about. Codes do not change between versions; more may be added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingCode {
            $($(#[$doc])* $code,)*
        }

        impl FindingCode {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// The code as it is printed.
            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            /// What helps.
            pub fn help(self) -> &'static str {
                match self { $(Self::$code => $help,)* }
            }
        }
    };
}

codes! {
    /// The dataset cannot be opened because it is damaged.
    DatasetUnreadable = "dataset-unreadable", "restore it: its metadata are damaged, or its format is not known";
    /// A group, variable or attribute is damaged and left out.
    MemberDamaged = "member-damaged", "restore the metadata of this member; the rest of the dataset can be copied";
    /// A member is of a type or has a filter that is not supported.
    MemberUnsupported = "member-unsupported", "read it with a program that knows its type or filter, or add a plugin";
    /// Something was repaired or ignored on opening.
    Repaired = "repaired", "`ncirrus copy` writes a copy without this fault";
    /// The shape of a variable contradicts its dimensions.
    ShapeContradicted = "shape-contradicted", "correct the dimension or the shape in the metadata";
    /// A variable refers to a dimension that does not exist.
    DimensionUnknown = "dimension-unknown", "define the dimension, or correct the reference in the metadata";
    /// An unlimited dimension is longer than any of its variables.
    UnlimitedUnused = "unlimited-unused", "a write that was interrupted may have left it; the missing elements are fill values";
    /// The fill value of a variable is of another type.
    FillType = "fill-type", "set `_FillValue` again in the type of the variable";
    /// Consolidated metadata differ from the members' own.
    ConsolidatedStale = "consolidated-stale", "consolidate the metadata again, or remove the consolidated object";
    /// A chunk, or a part of the values, lies outside of its object.
    OutsideObject = "outside-object", "the object was cut off: restore it";
    /// Stored bytes belong to two chunks, or to a chunk and to metadata.
    StorageOverlap = "storage-overlap", "one of the two was overwritten: restore both from their source";
    /// A chunk does not decode, or to another length.
    ChunkDamaged = "chunk-damaged", "restore the chunk; `ncirrus copy --skip-damaged` saves the others";
    /// A checksum is wrong.
    ChecksumWrong = "checksum-wrong", "bytes changed after they were written: restore them; `ncirrus copy --skip-damaged` saves the rest";
    /// Values need a filter or type that is not supported.
    DataUnsupported = "data-unsupported", "add a plugin for the filter (`ncirrus filters` lists the available ones)";
    /// Values need more than the limits allow.
    LimitReached = "limit-reached", "check with more `--memory`; the stored number may be damaged";
    /// Something refers to an object that does not exist.
    ReferenceBroken = "reference-broken", "put the object where the reference points, or correct the reference";
    /// A fragment of an aggregation is absent or does not fit.
    FragmentFaulty = "fragment-faulty", "restore the fragment, or change its location with `ncirrus relocate`";
    /// An object in the dataset that belongs to none of its members.
    ObjectUnnamed = "object-unnamed", "remove it if no other program needs it; `ncirrus clean` removes remains of interrupted writers";
    /// Bytes of a shard that belong to none of its chunks.
    BytesUnused = "bytes-unused", "no action is needed: a program that replaced chunks left their old bytes; `ncirrus copy` writes shards without them";
    /// Chunks that were never written.
    ChunksAbsent = "chunks-absent", "no action is needed if these parts were never written: their elements are fill values";
    /// Units that are not known.
    CfUnits = "cf-units", "use units of UDUNITS";
    /// A calendar that CF does not have, or a date that the calendar does not have.
    CfCalendar = "cf-calendar", "use a calendar of CF";
    /// An attribute names a variable that does not exist.
    CfReference = "cf-reference", "add the variable, or remove its name from the attribute";
    /// Coordinates that are not strictly monotonic.
    CfNotMonotonic = "cf-not-monotonic", "sort the coordinate and the variables along it";
    /// Coordinates with missing values.
    CfMissingCoordinate = "cf-missing-coordinate", "give every element of a coordinate variable a value";
    /// A range of valid values that holds none.
    CfEmptyRange = "cf-empty-range", "state `valid_range` in the packed type, the smaller number first";
    /// Metadata are behind the first chunk.
    ProfileMetadata = "profile-metadata", "`ncirrus optimize` writes all metadata to the front of the file";
    /// A variable has several chunks where the profile requires one.
    ProfileNotOneChunk = "profile-not-one-chunk", "`ncirrus optimize` stores the variable as one chunk";
    /// Chunks are smaller than the profile requires.
    ProfileSmallChunks = "profile-small-chunks", "`ncirrus optimize` puts chunks together";
    /// Chunks are larger than the profile allows.
    ProfileLargeChunks = "profile-large-chunks", "`ncirrus optimize` divides the chunks";
    /// Chunks have another shape than a rule of the profile requires.
    ProfileOtherChunks = "profile-other-chunks", "`ncirrus optimize` stores the variable as the rule says";
    /// Filters are not those of a rule of the profile.
    ProfileOtherFilters = "profile-other-filters", "`ncirrus optimize` stores the variable with the filters of the rule";
}

/// Findings of one code in one place that are listed.
const LISTED: usize = 100;

/// Findings while they are collected.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) list: Vec<CheckFinding>,
    pub(super) omitted: u64,
    counts: BTreeMap<(FindingCode, String), usize>,
}

impl Findings {
    /// Adds a finding, once: what makes many chunks unreadable, as a damaged index does, is found with each of them.
    pub(super) fn add(&mut self, finding: CheckFinding) {
        if self.list.iter().rev().take(LISTED).any(|known| *known == finding) {
            return;
        }
        // Objects that belong to nothing have places of their own.
        let place = if finding.code == FindingCode::ObjectUnnamed { "" } else { finding.place.as_str() };
        let count = self.counts.entry((finding.code, place.to_owned())).or_default();
        *count += 1;
        if *count <= LISTED { self.list.push(finding) } else { self.omitted += 1 }
    }

    pub(super) fn note(
        &mut self,
        code: FindingCode,
        severity: Severity,
        place: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.add(CheckFinding::new(code, severity, place, message));
    }

    /// An error about the dataset, as a finding.
    pub(super) fn add_error(&mut self, code: FindingCode, path: &str, error: &Error) {
        let severity = match code {
            FindingCode::MemberUnsupported | FindingCode::DataUnsupported => Severity::Warning,
            _ => Severity::Error,
        };
        let place = error.place();
        self.add(CheckFinding {
            object: place.object.clone(),
            offset: place.offset,
            chunk: place.chunk.clone(),
            ..CheckFinding::new(code, severity, path, error.message())
        });
    }
}

impl CheckFinding {
    pub(super) fn new(
        code: FindingCode,
        severity: Severity,
        place: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let (place, message) = (place.into(), message.into());
        Self { code, severity, place, object: None, offset: None, chunk: None, message }
    }

    fn to_json(&self) -> Value {
        json!({
            "code": self.code.name(), "severity": self.severity.name(), "place": self.place,
            "object": self.object, "offset": self.offset, "chunk": self.chunk,
            "message": self.message, "help": self.code.help(),
        })
    }
}

/// The code of an error in reading values.
pub(super) fn code_of(error: &Error) -> FindingCode {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Missing => FindingCode::ReferenceBroken,
        ErrorKind::Unsupported => FindingCode::DataUnsupported,
        ErrorKind::Limit => FindingCode::LimitReached,
        // The codecs call every checksum by that word; one that did not would be reported as damage of the chunk.
        _ if error.message().contains("checksum") => FindingCode::ChecksumWrong,
        _ => FindingCode::ChunkDamaged,
    }
}

impl CheckReport {
    /// Whether nothing is wrong: notes do not count.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Note)
    }

    /// The report as JSON, by the schema `docs/check.schema.json`.
    pub fn to_json(&self) -> Value {
        let absent = |absent: &AbsentChunks| json!({"path": absent.path, "count": absent.count, "starts": absent.starts});
        let digest = |digest: &VariableDigest| json!({"path": digest.path, "sha256": digest.sha256});
        json!({
            "version": 1,
            "sound": self.is_sound(),
            "format": self.format,
            "variables": self.variables, "chunks": self.chunks, "bytes": self.bytes,
            "findings": self.findings.iter().map(CheckFinding::to_json).collect::<Vec<_>>(),
            "omitted": self.omitted,
            "absent": self.absent.iter().map(absent).collect::<Vec<_>>(),
            "digests": self.digests.iter().map(digest).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, severity, place, message, .. } = self;
        write!(f, "{}: {}: {place}", severity.name(), code.name())?;
        if let Some(chunk) = &self.chunk {
            write!(f, " chunk {chunk:?}")?;
        }
        write!(f, ": {message}")?;
        match (&self.object, self.offset) {
            (Some(object), Some(offset)) => write!(f, " ({object}, byte {offset})")?,
            (Some(object), None) => write!(f, " ({object})")?,
            _ => {}
        }
        writeln!(f)?;
        writeln!(f, "  help: {}", code.help())
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| write!(f, "{finding}"))?;
        if self.omitted > 0 {
            writeln!(f, "{} more findings of the same kinds are not listed", self.omitted)?;
        }
        for absent in &self.absent {
            absent.starts.iter().try_for_each(|start| writeln!(f, "absent: {} at {start:?}", absent.path))?;
        }
        for digest in &self.digests {
            writeln!(f, "{}  {}", digest.sha256.as_deref().unwrap_or("unreadable"), digest.path)?;
        }
        let count = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let Self { variables, chunks, bytes, .. } = self;
        let verdict = if self.is_sound() { "sound" } else { "not sound" };
        writeln!(
            f,
            "{verdict}: {}, {}; {}, {}, {} read",
            counted(errors as u64, "error"),
            counted(warnings as u64, "warning"),
            counted(*variables, "variable"),
            counted(*chunks, "chunk"),
            counted(*bytes, "byte"),
        )
    }
}

/// A number and what it counts.
fn counted(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}
