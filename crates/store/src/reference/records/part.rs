//! One file of references.
use super::super::manifest::ManifestEntry;
use super::super::targets::ReferenceTargets;
use crate::parquet::{BytesColumn, FlatColumn, FlatTable};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, ObjectBytes, Result, Tag};

/// The references of one file.
#[derive(Debug)]
pub(in crate::reference) struct RecordPart {
    pub(in crate::reference) tag: Tag,
    /// By row; `None` for chunks that were never written.
    rows: Vec<Option<ManifestEntry>>,
    /// Bytes in memory.
    pub(super) weight: usize,
}

/// The columns that are read.
const COLUMNS: [&str; 4] = ["path", "offset", "size", "raw"];

impl RecordPart {
    /// Reads a file of at most `record_size` rows.
    ///
    /// # Errors
    /// `Malformed`, `Unsupported` and `Limit` for files that cannot be read, or that lack the column `path`.
    pub(super) fn read(
        file: &ObjectBytes,
        record_size: u64,
        targets: &ReferenceTargets,
        limits: &Limits,
    ) -> Result<Self> {
        let table = FlatTable::read(&file.bytes, &COLUMNS, record_size, limits)?;
        let columns = <[Option<FlatColumn>; 4]>::try_from(table.columns);
        let [path, offset, size, raw] = columns.map_err(|_| Error::internal("columns of another number"))?;
        let (path, raw) = (texts(path, "path")?, texts(raw, "raw")?);
        let (offset, size) = (integers(offset, "offset")?, integers(size, "size")?);
        if path.is_none() && raw.is_none() {
            return Err(Error::malformed("a file of references without the columns path and raw"));
        }
        let mut numbers = Numbers { known: vec![None; path.as_ref().map_or(0, BytesColumn::value_count)] };
        let (mut rows, mut weight) = (Vec::with_capacity(table.rows), 0usize);
        for row in 0..table.rows {
            let body = raw.as_ref().and_then(|raw| raw.value(raw.number(row)?));
            let entry = match (body, &path) {
                (Some(body), _) => {
                    weight = weight.saturating_add(body.len());
                    Some(ManifestEntry::Inline(Box::new(Bytes::copy_from_slice(body))))
                }
                (None, Some(path)) => match path.number(row) {
                    Some(number) => {
                        let at = |column: &[Option<i64>]| column.get(row).copied().flatten().unwrap_or(0);
                        Some(numbers.entry(path, number, (at(&offset), at(&size)), targets)?)
                    }
                    None => None,
                },
                (None, None) => None,
            };
            rows.push(entry);
        }
        weight = weight.saturating_add(rows.len().saturating_mul(size_of::<Option<ManifestEntry>>()));
        Ok(Self { tag: file.tag.clone(), rows, weight })
    }

    /// Number of rows.
    pub(in crate::reference) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The reference of a row; `None` if the chunk was never written.
    ///
    /// # Errors
    /// `Malformed` if the file has fewer rows.
    pub(in crate::reference) fn entry(&self, row: usize) -> Result<Option<&ManifestEntry>> {
        let rows = self.rows.len();
        let entry = self.rows.get(row);
        let short = || Error::malformed(format!("a file of references with {rows} rows has no row {row}"));
        entry.map(Option::as_ref).ok_or_else(short)
    }
}

/// The numbers of the referenced objects, by their number in the column.
struct Numbers {
    known: Vec<Option<u32>>,
}

impl Numbers {
    fn entry(
        &mut self,
        path: &BytesColumn,
        number: usize,
        (offset, size): (i64, i64),
        targets: &ReferenceTargets,
    ) -> Result<ManifestEntry> {
        let (Ok(start), Ok(len)) = (u64::try_from(offset), u64::try_from(size)) else {
            return Ok(ManifestEntry::Damaged(
                format!("a reference to {size} bytes from {offset} on").into(),
            ));
        };
        let target = match self.known.get(number).copied().flatten() {
            Some(target) => target,
            None => {
                let name = path.value(number).and_then(|name| std::str::from_utf8(name).ok());
                let Some(name) = name.filter(|name| !name.is_empty()) else {
                    return Ok(ManifestEntry::Damaged("a reference without an object name".into()));
                };
                let target = targets.intern(name)?;
                if let Some(known) = self.known.get_mut(number) {
                    *known = Some(target);
                }
                target
            }
        };
        Ok(match (start, len) {
            (0, 0) => ManifestEntry::Whole(target),
            (offset, len) => ManifestEntry::Range { target, offset, len },
        })
    }
}

fn texts(column: Option<FlatColumn>, name: &str) -> Result<Option<BytesColumn>> {
    match column {
        None => Ok(None),
        Some(FlatColumn::Bytes(column)) => Ok(Some(column)),
        // A column without any value may have the type of integers.
        Some(FlatColumn::Integers(values)) if values.iter().all(Option::is_none) => Ok(None),
        Some(FlatColumn::Integers(_)) => {
            Err(Error::malformed(format!("column {name:?} has integers, not texts")))
        }
    }
}

fn integers(column: Option<FlatColumn>, name: &str) -> Result<Vec<Option<i64>>> {
    match column {
        None => Ok(Vec::new()),
        Some(FlatColumn::Integers(values)) => Ok(values),
        Some(FlatColumn::Bytes(_)) => {
            Err(Error::malformed(format!("column {name:?} has texts, not integers")))
        }
    }
}
