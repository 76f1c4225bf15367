//! The text of a `cfa_array`, parsed in one pass (docs/spec/cfa.md 2.2, 2.3).
use ncirrus_layout::{Error, Result};
use ncirrus_model::Strings;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// A `cfa_array`.
#[derive(Debug, Deserialize)]
pub(super) struct CfaArray {
    #[serde(rename = "Partitions")]
    pub(super) partitions: Option<PartitionColumns>,
    #[serde(default)]
    pub(super) pmdimensions: Option<Vec<String>>,
    #[serde(default)]
    pub(super) pmshape: Option<Vec<i64>>,
    #[serde(default)]
    pub(super) base: Option<String>,
    #[serde(default)]
    directions: Option<IgnoredAny>,
}

/// Partitions in columns.
#[derive(Debug, Default)]
pub(super) struct PartitionColumns {
    /// The names of datasets; null or empty: the master itself.
    pub(super) files: Strings,
    /// Index of each one's form.
    pub(super) form_of: Vec<u32>,
    /// Properties shared by partitions, each once.
    pub(super) forms: Vec<FormText>,
    /// First and last element along each dimension, one partition after the other.
    pub(super) locations: Vec<[i64; 2]>,
    /// Number of dimensions of the locations; `None` if no partition has one.
    pub(super) rank: Option<usize>,
    /// Places in the matrix.
    pub(super) indices: PartitionIndices,
}

/// The places of partitions in the matrix, for checks.
#[derive(Debug, Default)]
pub(super) struct PartitionIndices {
    /// One index per dimension of the matrix, one partition after the other.
    pub(super) all: Vec<i64>,
    /// Smallest and largest index along each dimension, each with the number of the partition.
    pub(super) extremes: Vec<[(i64, usize); 2]>,
}

/// Properties shared by the partitions of an array, as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct FormText {
    pub(super) ncvar: Option<String>,
    pub(super) varid: Option<u64>,
    pub(super) shape: Option<Vec<u64>>,
    pub(super) format: Option<String>,
    pub(super) has_offset: bool,
    pub(super) pdimensions: Option<Vec<String>>,
    pub(super) reverse: Vec<String>,
    pub(super) part: Option<String>,
    pub(super) units: Option<String>,
    pub(super) calendar: Option<String>,
    pub(super) is_obsolete: bool,
}

#[derive(Deserialize)]
struct Partition {
    index: Option<Vec<i64>>,
    location: Option<Vec<[i64; 2]>>,
    #[serde(alias = "data")]
    subarray: Subarray,
    format: Option<String>,
    pdimensions: Option<Vec<String>>,
    #[serde(alias = "flip")]
    reverse: Option<Vec<String>>,
    part: Option<String>,
    punits: Option<String>,
    pcalendar: Option<String>,
    pdirections: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Subarray {
    file: Option<String>,
    format: Option<String>,
    #[serde(rename = "Format")]
    obsolete_format: Option<IgnoredAny>,
    shape: Option<Vec<u64>>,
    ncvar: Option<String>,
    varid: Option<u64>,
    file_offset: Option<IgnoredAny>,
}

/// Parses the text.
///
/// # Errors
/// `Malformed` if it is not such a document, `Unsupported` for versions before 0.4.
pub(super) fn parse(text: &[u8]) -> Result<(CfaArray, PartitionColumns)> {
    let end = text.iter().rposition(|byte| *byte != 0 && !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    let mut document: CfaArray = serde_json::from_slice(text.get(..end).unwrap_or_default())
        .map_err(|error| Error::malformed(format!("its cfa_array is not as CFA-0.4 defines it: {error}")))?;
    let partitions = document.partitions.take();
    let partitions = partitions.ok_or_else(|| Error::malformed("its cfa_array has no Partitions"))?;
    if document.directions.is_some() || partitions.forms.iter().any(|form| form.is_obsolete) {
        return Err(Error::unsupported(
            "directions or Format in cfa_array: aggregations of versions before CFA-0.4",
        ));
    }
    Ok((document, partitions))
}

impl<'de> Deserialize<'de> for PartitionColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_seq(PartitionsVisitor)
    }
}

struct PartitionsVisitor;

impl<'de> Visitor<'de> for PartitionsVisitor {
    type Value = PartitionColumns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of partitions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<PartitionColumns, A::Error> {
        let mut all = PartitionColumns::default();
        let mut known = HashMap::new();
        while let Some(partition) = list.next_element()? {
            all.add(partition, &mut known).map_err(serde::de::Error::custom)?;
        }
        Ok(all)
    }
}

impl PartitionColumns {
    /// Number of partitions.
    pub(super) fn len(&self) -> usize {
        self.form_of.len()
    }

    fn add(
        &mut self,
        partition: Partition,
        known: &mut HashMap<FormText, u32>,
    ) -> std::result::Result<(), String> {
        let number = self.len();
        if let Some(location) = &partition.location {
            let rank = *self.rank.get_or_insert(location.len());
            if rank != location.len() || self.locations.len() != rank * number {
                return Err(format!("partition {number} has a location of another rank"));
            }
            self.locations.extend(location);
        } else if self.rank.is_some() {
            return Err(format!("partition {number} has no location"));
        }
        self.indices.add(number, &partition.index.unwrap_or_default())?;
        self.files.push(partition.subarray.file.as_deref().map(str::as_bytes));
        let form = FormText {
            ncvar: partition.subarray.ncvar,
            varid: partition.subarray.varid,
            shape: partition.subarray.shape,
            format: partition.subarray.format.or(partition.format),
            has_offset: partition.subarray.file_offset.is_some(),
            pdimensions: partition.pdimensions,
            reverse: partition.reverse.unwrap_or_default(),
            part: partition.part,
            units: partition.punits,
            calendar: partition.pcalendar,
            is_obsolete: partition.pdirections.is_some() || partition.subarray.obsolete_format.is_some(),
        };
        let next = u32::try_from(self.forms.len()).map_err(|_| "too many partitions".to_owned())?;
        self.form_of.push(*known.entry(form).or_insert_with_key(|form| {
            self.forms.push(form.clone());
            next
        }));
        Ok(())
    }
}

impl PartitionIndices {
    fn add(&mut self, number: usize, index: &[i64]) -> std::result::Result<(), String> {
        if number == 0 {
            self.extremes = index.iter().map(|at| [(*at, number); 2]).collect();
        }
        if index.len() != self.extremes.len() {
            return Err(format!("partition {number} has an index of another rank"));
        }
        self.all.extend(index);
        for (at, [min, max]) in index.iter().zip(&mut self.extremes) {
            *min = (*min).min((*at, number));
            *max = (*max).max((*at, number));
        }
        Ok(())
    }
}
