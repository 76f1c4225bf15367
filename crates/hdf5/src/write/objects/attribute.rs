//! Attributes as netCDF-C writes them (docs/spec/hdf5-netcdf4.md C.5, H.6).
use super::{ObjectDescriber, message};
use crate::datatypes::{Dataspace, Datatype, DatatypeClass, StringPadding};
use crate::write::value::encode_values;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Attribute, Endianness, Values};
use ncirrus_netcdf_view::AttributeSpace;

/// Refuses names that would be hidden in the file.
pub(crate) fn check_name(attribute: &Attribute) -> Result<()> {
    if AttributeSpace::Hdf5.is_reserved(&attribute.name) {
        return Err(Error::unsupported(format!(
            "attribute {:?}: netCDF-4 reserves this name",
            attribute.name
        )));
    }
    Ok(())
}

impl ObjectDescriber<'_> {
    /// The message of an attribute.
    ///
    /// # Errors
    /// If its values cannot be stored.
    pub(crate) fn encoded(&mut self, attribute: &Attribute) -> Result<Bytes> {
        let encoded = match &attribute.values {
            Values::Char(text) => self.text(&attribute.name, text),
            values => self.list(attribute, values),
        };
        encoded.map_err(|error| error.reworded(|fact| format!("attribute {:?}: {fact}", attribute.name)))
    }

    /// Characters: one text of fixed length, without space for a NUL.
    fn text(&mut self, name: &str, text: &[u8]) -> Result<Bytes> {
        let space = if text.is_empty() { Dataspace::Null } else { Dataspace::Scalar };
        self.raw(name, &text_type(text.len().max(1)), &space, text)
    }

    fn list(&mut self, attribute: &Attribute, values: &Values) -> Result<Bytes> {
        let datatype = self.type_of(attribute.ty, Endianness::Native)?;
        let data = encode_values(&datatype, values, 0..values.len(), self.heap, self.space)?;
        let space = match values.len() as u64 {
            0 => Dataspace::Null,
            count => row(count),
        };
        self.raw(&attribute.name, &datatype, &space, &data)
    }

    /// The message of an attribute with encoded elements.
    ///
    /// # Errors
    /// If its name or type is too long.
    pub(super) fn raw(
        &self,
        name: &str,
        datatype: &Datatype,
        space: &Dataspace,
        data: &[u8],
    ) -> Result<Bytes> {
        message::attribute(name, datatype, space, data, self.sizes)
    }
}

/// Text of a fixed number of bytes.
pub(super) fn text_type(len: usize) -> Datatype {
    Datatype {
        byte_len: len as u64,
        class: DatatypeClass::Text(StringPadding::NulTerminated),
        committed: None,
    }
}

/// A list of that many elements.
pub(super) fn row(count: u64) -> Dataspace {
    Dataspace::Simple { dims: vec![count], max: vec![Some(count)] }
}
