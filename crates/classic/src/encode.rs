//! The header as bytes.
use crate::FormatVersion;
use crate::arrangement::FileArrangement;
use crate::definition::{FittedModel, VariableDefinition};
use crate::header::{TAG_ATTRIBUTE, TAG_DIMENSION, TAG_VARIABLE};
use crate::order::to_big_endian;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Attribute, Attributes, Model};

/// Checks a model, and measures its header.
///
/// # Errors
/// `Unsupported`, `Invalid` or `Limit` naming the first member that the variant cannot represent.
pub(crate) fn fitted(version: FormatVersion, model: &Model) -> Result<FittedModel> {
    let mut definition = FittedModel::new(version, model)?;
    definition.header_len = encode(&definition, None, 0)?.len() as u64;
    Ok(definition)
}

/// The header of a file with that arrangement; without an arrangement all variables begin at 0, which gives a header
/// of the same length.
///
/// # Errors
/// `Limit` if a number does not fit the variant.
pub(crate) fn encode(
    definition: &FittedModel,
    arrangement: Option<&FileArrangement>,
    records: u64,
) -> Result<Vec<u8>> {
    let mut writer = HeaderWriter { version: definition.version, bytes: Vec::new() };
    writer.bytes.extend_from_slice(b"CDF");
    writer.bytes.push(definition.version.byte());
    writer.count(records)?;
    writer.list(TAG_DIMENSION, definition.dims.len())?;
    for (name, len) in &definition.dims {
        writer.name(name)?;
        writer.count(*len)?;
    }
    writer.attributes(&definition.attributes)?;
    writer.list(TAG_VARIABLE, definition.vars.len())?;
    for var in &definition.vars {
        let begin = arrangement.map_or(Ok(0), |arrangement| Ok(arrangement.position(var.id)?.begin));
        begin
            .and_then(|begin| writer.variable(var, begin))
            .map_err(|error: Error| error.at_path(&var.path))?;
    }
    Ok(writer.bytes)
}

/// Bytes of a dimension in the header.
///
/// # Errors
/// `Limit` if a number does not fit the variant.
pub(crate) fn dimension_len(version: FormatVersion, name: &str) -> Result<u64> {
    let mut writer = HeaderWriter { version, bytes: Vec::new() };
    writer.name(name)?;
    writer.count(0)?;
    Ok(writer.bytes.len() as u64)
}

/// Bytes of a variable in the header.
///
/// # Errors
/// `Limit` if a number does not fit the variant.
pub(crate) fn variable_len(version: FormatVersion, var: &VariableDefinition) -> Result<u64> {
    let mut writer = HeaderWriter { version, bytes: Vec::new() };
    writer.variable(var, 0)?;
    Ok(writer.bytes.len() as u64)
}

/// Bytes of an attribute in the header.
///
/// # Errors
/// `Limit` if a number does not fit the variant.
pub(crate) fn attribute_len(version: FormatVersion, attribute: &Attribute) -> Result<u64> {
    let mut writer = HeaderWriter { version, bytes: Vec::new() };
    writer.attribute(attribute)?;
    Ok(writer.bytes.len() as u64)
}

/// The bytes of the number of records alone, at [`RECORDS_OFFSET`].
///
/// # Errors
/// `Limit` if it does not fit the variant.
pub(crate) fn encode_records(version: FormatVersion, records: u64) -> Result<Vec<u8>> {
    let mut writer = HeaderWriter { version, bytes: Vec::new() };
    writer.count(records)?;
    Ok(writer.bytes)
}

struct HeaderWriter {
    version: FormatVersion,
    bytes: Vec<u8>,
}

impl HeaderWriter {
    fn variable(&mut self, var: &VariableDefinition, begin: u64) -> Result<()> {
        self.name(&var.name)?;
        self.count(var.dims.len() as u64)?;
        for dim in &var.dims {
            self.count(*dim)?;
        }
        self.attributes(&var.attributes)?;
        self.u32(u32::from(var.ty.number()));
        self.count(self.stated_size(var)?)?;
        self.number(begin, self.version.offset_width())
    }

    /// `vsize`: the padded size, or all ones if it does not fit 32 bits.
    fn stated_size(&self, var: &VariableDefinition) -> Result<u64> {
        let len = var.padded_len()?;
        let largest = u64::from(u32::MAX) - 3;
        let overflows = self.version != FormatVersion::Data64 && len > largest;
        Ok(if overflows { u64::from(u32::MAX) } else { len })
    }

    fn attributes(&mut self, attributes: &Attributes) -> Result<()> {
        self.list(TAG_ATTRIBUTE, attributes.len())?;
        attributes.iter().try_for_each(|attribute| self.attribute(attribute))
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<()> {
        self.name(&attribute.name)?;
        let atomic = attribute.values.atomic().ok_or_else(|| Error::internal("an unchecked attribute"))?;
        self.u32(u32::from(atomic.number()));
        self.count(attribute.values.len() as u64)?;
        self.bytes.extend_from_slice(&to_big_endian(&attribute.values)?);
        self.pad();
        Ok(())
    }

    /// The head of a list; an empty one has no tag.
    fn list(&mut self, tag: u32, len: usize) -> Result<()> {
        self.u32(if len == 0 { 0 } else { tag });
        self.count(len as u64)
    }

    fn name(&mut self, name: &str) -> Result<()> {
        self.count(name.len() as u64)?;
        self.bytes.extend_from_slice(name.as_bytes());
        self.pad();
        Ok(())
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    fn count(&mut self, value: u64) -> Result<()> {
        self.number(value, self.version.count_width())
    }

    fn number(&mut self, value: u64, width: u64) -> Result<()> {
        match (width, u32::try_from(value)) {
            (8, _) => self.bytes.extend_from_slice(&value.to_be_bytes()),
            (_, Ok(value)) => self.u32(value),
            (_, Err(_)) => {
                let name = self.version.name();
                return Err(Error::limit(format!("{value} does not fit the 32 bits of {name}")));
            }
        }
        Ok(())
    }
}

/// Offset of the number of records in every variant.
pub(crate) const RECORDS_OFFSET: u64 = 4;
