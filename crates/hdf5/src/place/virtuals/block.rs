//! The description of a virtual dataset: which elements come from where (docs/spec/hdf5-netcdf4.md E.7).
use crate::checksum::lookup3;
use crate::cursor::{Cursor, escaped};
use crate::file::Sizes;
use crate::selection::Selection;
use ncirrus_layout::{Error, Limits, Result};

#[cfg(test)]
mod tests;

/// Elements of the virtual dataset, and those of another dataset that they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    /// `None` for the file of the virtual dataset.
    pub(super) file: Option<Name>,
    pub(super) dataset: Name,
    pub(super) source: Selection,
    pub(super) target: Selection,
}

/// A name that may have the number of a block in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The number of a block, with leading zeros up to that width.
    Block {
        width: usize,
    },
}

/// The mappings in these bytes.
pub(super) fn parse(body: &[u8], sizes: Sizes, limits: &Limits) -> Result<Vec<Mapping>> {
    let mut cursor = Cursor::new(body, "the mappings of a virtual dataset");
    let version = cursor.version(&[0, 1])?;
    let count = limits.count(cursor.len(sizes)?, "a virtual dataset")?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for _ in 0..count {
        let flags = if version == 0 { 0 } else { cursor.u8()? };
        let file = file_name(&mut cursor, flags, sizes, &mappings)?;
        let dataset = dataset_name(&mut cursor, flags, sizes, &mappings)?;
        let source = Selection::parse(&mut cursor, limits)?;
        let target = Selection::parse(&mut cursor, limits)?;
        mappings.push(Mapping { file, dataset, source, target });
    }
    let summed = cursor.taken();
    if cursor.u32()? != lookup3(summed) {
        return Err(Error::malformed("the checksum of the mappings of a virtual dataset is wrong"));
    }
    Ok(mappings)
}

fn file_name(cursor: &mut Cursor<'_>, flags: u8, sizes: Sizes, before: &[Mapping]) -> Result<Option<Name>> {
    const SHARED: u8 = 1;
    const SAME_FILE: u8 = 4;
    if flags & SAME_FILE != 0 {
        return Ok(None);
    }
    if flags & SHARED != 0 {
        return Ok(nth(before, cursor.len(sizes)?)?.file.clone());
    }
    let name = cursor.until_nul()?;
    Ok((name != b".").then(|| Name::parse(&escaped(name))))
}

fn dataset_name(cursor: &mut Cursor<'_>, flags: u8, sizes: Sizes, before: &[Mapping]) -> Result<Name> {
    const SHARED: u8 = 2;
    if flags & SHARED != 0 {
        return Ok(nth(before, cursor.len(sizes)?)?.dataset.clone());
    }
    Ok(Name::parse(&escaped(cursor.until_nul()?)))
}

fn nth(before: &[Mapping], number: u64) -> Result<&Mapping> {
    let found = usize::try_from(number).ok().and_then(|number| before.get(number));
    found.ok_or_else(|| {
        Error::malformed(format!("mapping {} shares a name with mapping {number}", before.len()))
    })
}

impl Name {
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
                parts.push(Part::Text(std::mem::take(&mut plain)));
                parts.push(Part::Block { width: width.parse().unwrap_or(0).min(MOST_DIGITS) });
                rest = tail;
            } else {
                plain.push('%');
                rest = after.strip_prefix('%').unwrap_or(rest);
            }
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        Self(parts)
    }

    /// The name of a block's source.
    pub(super) fn of_block(&self, block: u64) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Block { width } => format!("{block:0width$}"),
        };
        self.0.iter().map(text).collect()
    }
}

/// A number has no more digits.
const MOST_DIGITS: usize = 20;
