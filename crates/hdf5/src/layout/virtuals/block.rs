//! The description of a virtual dataset: the sources of its elements (docs/spec/hdf5-netcdf4.md E.7).
use crate::address::FieldSizes;
use crate::checksum::lookup3;
use crate::cursor::{ByteCursor, escaped};
use crate::selection::HyperslabSelection;
use ncirrus_layout::{Error, Limits, Result};

#[cfg(test)]
mod tests;

/// Elements of the virtual dataset, and the corresponding ones of another dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VirtualMapping {
    /// `None` for the file of the virtual dataset.
    pub(super) file: Option<SourceName>,
    pub(super) dataset: SourceName,
    pub(super) source: HyperslabSelection,
    pub(super) target: HyperslabSelection,
}

/// A name that may contain the number of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceName(Vec<NamePart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum NamePart {
    Text(String),
    /// The number of a block, with leading zeros up to that width.
    Block {
        width: usize,
    },
}

/// The mappings in these bytes.
pub(super) fn parse(body: &[u8], sizes: FieldSizes, limits: &Limits) -> Result<Vec<VirtualMapping>> {
    let mut cursor = ByteCursor::new(body, "the mappings of a virtual dataset");
    let version = cursor.version(&[0, 1])?;
    let count = limits.count(cursor.len(sizes)?, "a virtual dataset")?;
    let mut mappings: Vec<VirtualMapping> = Vec::new();
    for _ in 0..count {
        let flags = if version == 0 { 0 } else { cursor.u8()? };
        let file = file_name(&mut cursor, flags, sizes, &mappings)?;
        let dataset = dataset_name(&mut cursor, flags, sizes, &mappings)?;
        let source = HyperslabSelection::parse(&mut cursor, limits)?;
        let target = HyperslabSelection::parse(&mut cursor, limits)?;
        mappings.push(VirtualMapping { file, dataset, source, target });
    }
    let summed = cursor.taken();
    if cursor.u32()? != lookup3(summed) {
        return Err(Error::malformed("the checksum of the mappings of a virtual dataset is wrong"));
    }
    Ok(mappings)
}

fn file_name(
    cursor: &mut ByteCursor<'_>,
    flags: u8,
    sizes: FieldSizes,
    before: &[VirtualMapping],
) -> Result<Option<SourceName>> {
    const SHARED: u8 = 1;
    const SAME_FILE: u8 = 4;
    if flags & SAME_FILE != 0 {
        return Ok(None);
    }
    if flags & SHARED != 0 {
        return Ok(nth(before, cursor.len(sizes)?)?.file.clone());
    }
    let name = cursor.until_nul()?;
    Ok((name != b".").then(|| SourceName::parse(&escaped(name))))
}

fn dataset_name(
    cursor: &mut ByteCursor<'_>,
    flags: u8,
    sizes: FieldSizes,
    before: &[VirtualMapping],
) -> Result<SourceName> {
    const SHARED: u8 = 2;
    if flags & SHARED != 0 {
        return Ok(nth(before, cursor.len(sizes)?)?.dataset.clone());
    }
    Ok(SourceName::parse(&escaped(cursor.until_nul()?)))
}

fn nth(before: &[VirtualMapping], number: u64) -> Result<&VirtualMapping> {
    let found = usize::try_from(number).ok().and_then(|number| before.get(number));
    found.ok_or_else(|| {
        Error::malformed(format!("mapping {} shares a name with mapping {number}", before.len()))
    })
}

impl SourceName {
    /// Splits a name at its `%b`; `%%` is a percent sign.
    pub(super) fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            plain.push_str(before);
            let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (width, tail) = after.split_at(digits);
            rest = after;
            if let Some(tail) = tail.strip_prefix('b') {
                parts.push(NamePart::Text(std::mem::take(&mut plain)));
                parts.push(NamePart::Block { width: width.parse().unwrap_or(0).min(MAX_DIGITS) });
                rest = tail;
            } else {
                plain.push('%');
                rest = after.strip_prefix('%').unwrap_or(rest);
            }
        }
        plain.push_str(rest);
        parts.push(NamePart::Text(plain));
        Self(parts)
    }

    /// The name of a block's source.
    pub(super) fn of_block(&self, block: u64) -> String {
        let text = |part: &NamePart| match part {
            NamePart::Text(text) => text.clone(),
            NamePart::Block { width } => format!("{block:0width$}"),
        };
        self.0.iter().map(text).collect()
    }
}

/// Maximum number of digits.
const MAX_DIGITS: usize = 20;
