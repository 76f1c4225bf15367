//! Attributes, compact and dense (docs/spec/hdf5-netcdf4.md C.5).
use super::{Dataspace, Datatype};
use crate::file::Hdf5File;
use crate::object::{HeaderMessage, ObjectHeader, ObjectRef, header, kind, resolve};
use bytes::Bytes;
use ncirrus_layout::{Error, Stall, Step, View, join, settle};
use std::sync::Arc;

mod dense;
mod message;

#[cfg(test)]
mod tests;

use dense::AttributeInfo;

/// An attribute with undecoded values.
#[derive(Debug, Clone)]
pub(crate) struct RawAttribute {
    /// The name; bytes that are not UTF-8 are escaped as `\xNN`.
    pub(crate) name: String,
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) space: Dataspace,
    /// The elements; as many as the dataspace has.
    pub(crate) data: Bytes,
}

/// An attribute, or as much of its name as is known and why it cannot be read.
pub(crate) type NamedAttribute = Result<RawAttribute, (String, Error)>;

/// An unparsed attribute message.
#[derive(Debug)]
struct AttributeMessage {
    /// Its creation order.
    order: Option<u32>,
    body: Result<Bytes, Error>,
}

/// The attributes of an object, in creation order if it is tracked, otherwise in file order (which is what the
/// reference does, compact and dense); read once. A damaged one is an error with its name, as far as it is known.
pub(crate) fn attributes(view: &dyn View, object: &ObjectRef) -> Step<Arc<Vec<NamedAttribute>>> {
    object.file.memo(view, object.addr, "hdf5 attributes", || {
        let header = header(view, object)?;
        let info = header
            .find(kind::ATTRIBUTE_INFO)
            .map(|message| AttributeInfo::parse(&message.body, object.file.sizes));
        let info = info.transpose()?;
        let mut found = compact(view, object, &header)?;
        if let Some(info) = &info {
            found.extend(info.attributes(view, &object.file)?);
        }
        view.limits().count(found.len() as u64, "an object's attributes")?;
        let tracked = header.tracks_attributes || info.is_some_and(|info| info.tracked);
        let list = sorted(read(view, object, &found)?, tracked);
        let cost = list.iter().map(cost).sum();
        Ok((list, cost))
    })
}

/// The name in the message of an attribute.
///
/// # Errors
/// A need, or damage.
pub(crate) fn attribute_name(view: &dyn View, file: &Hdf5File, message: &HeaderMessage) -> Step<String> {
    Ok(message::MessageParts::parse(&resolve(view, file, message)?.body)?.name)
}

/// Attributes in a heap, as the header messages that they would be in an object with such an attribute info message;
/// none if there is no heap.
///
/// # Errors
/// A need, or damage.
pub(crate) fn dense_attributes(view: &dyn View, file: &Hdf5File, info: &[u8]) -> Step<Vec<HeaderMessage>> {
    AttributeInfo::parse(info, file.sizes)?.messages(view, file)
}

/// The messages in the object header; each may be shared.
fn compact(view: &dyn View, object: &ObjectRef, header: &ObjectHeader) -> Step<Vec<AttributeMessage>> {
    join(header.all(kind::ATTRIBUTE), |message| {
        let body = settle(resolve(view, &object.file, message)).map_err(Stall::Need)?;
        let order = message.order.map(u32::from);
        Ok(AttributeMessage { order, body: body.map(|resolved| resolved.body) })
    })
}

/// Parses every message, with its order.
fn read(
    view: &dyn View,
    object: &ObjectRef,
    found: &[AttributeMessage],
) -> Step<Vec<(Option<u32>, NamedAttribute)>> {
    join(found.iter().enumerate(), |(index, found)| {
        let unnamed = |error: Error| (format!("#{index}"), object.file.at(object.addr, error));
        let named = match found.body.clone().and_then(|body| message::MessageParts::parse(&body)) {
            Err(error) => Err(unnamed(error)),
            Ok(mut parts) => settle(parts.read(view, &object.file))
                .map_err(Stall::Need)?
                .map_err(|error| (parts.name, object.file.at(object.addr, error))),
        };
        Ok((found.order, named))
    })
}

fn sorted(mut list: Vec<(Option<u32>, NamedAttribute)>, tracked: bool) -> Vec<NamedAttribute> {
    if tracked {
        list.sort_by_key(|(order, _)| *order);
    }
    list.into_iter().map(|(_, named)| named).collect()
}

fn name(named: &NamedAttribute) -> &str {
    match named {
        Ok(attribute) => &attribute.name,
        Err((name, _)) => name,
    }
}

/// Approximate size of an attribute in memory.
fn cost(named: &NamedAttribute) -> usize {
    let data = named.as_ref().map_or(0, |attribute| attribute.data.len());
    size_of::<NamedAttribute>() + size_of::<Datatype>() + name(named).len() + data
}
