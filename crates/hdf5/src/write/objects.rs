//! The objects of a model: groups, datasets, dimension scales, committed types, with their references to each other
//! (docs/spec/hdf5-netcdf4.md H, I.1).
//!
//! A header's length does not depend on addresses, only its bytes do: all headers are drafted once to determine their
//! lengths, placed, and drafted again with the addresses.
mod attribute;
mod names;
mod scale;

pub(crate) use attribute::check_name;
pub(crate) use names::{
    FileObject, dataset_name, dimension_of, known, listed, members, own_records, scale_of,
};
pub(crate) use scale::dimension_ids;

use super::dense::{LooseAttribute, dense};
use super::edit::NIL;
use super::header::MessageDraft;
use super::heap::HeapBuilder;
use super::message;
use super::space::SpaceAllocator;
use super::types::datatype_of;
use crate::address::{FieldSizes, FileAddress};
use crate::datatypes::{Dataspace, Datatype, FillMessage};
use crate::layout::ElementLayout;
use crate::object::kind;
use bytes::Bytes;
use ncirrus_layout::{Detail, Error, Result};
use ncirrus_model::{
    Attribute, Attributes, CodecSpec, DimId, Endianness, GroupId, Model, NodeId, TypeId, TypeRef, VarId,
};
use std::collections::HashMap;

/// Widths of addresses and lengths in written files.
pub(crate) const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };
/// Version of the layout message that HDF5 1.8 reads.
pub(crate) const OLD_LAYOUT: u8 = 3;

/// Converts objects to header messages.
#[derive(Debug)]
pub(crate) struct ObjectDescriber<'a> {
    pub(crate) model: &'a Model,
    pub(crate) sizes: FieldSizes,
    /// Addresses of objects; those without one are taken to be at 0.
    pub(crate) addrs: &'a HashMap<FileObject, FileAddress>,
    /// Whether objects without an address are not in the file, such as dimensions without a scale, rather than not
    /// placed yet.
    pub(crate) is_placed: bool,
    /// The id of each dimension in the file.
    pub(crate) ids: &'a HashMap<DimId, i32>,
    /// The heap for variable-length data.
    pub(crate) heap: &'a mut HeapBuilder,
    pub(crate) space: &'a mut SpaceAllocator,
}

/// How a variable's elements are stored.
#[derive(Debug)]
pub(crate) struct ElementStorage<'a> {
    pub(crate) datatype: &'a Datatype,
    pub(crate) arrangement: ElementLayout,
    pub(crate) filters: &'a [CodecSpec],
    /// Stored bytes of one fill element.
    pub(crate) fill: FillMessage,
    /// How many records are described, where that is not the length of the dimension.
    pub(crate) records: Option<u64>,
}

/// The number of datasets and attributes of each user-defined type that has any.
pub(crate) fn type_users(model: &Model) -> HashMap<TypeId, u32> {
    let variables =
        model.variables().into_iter().filter_map(|id| model.variable(id).map(|variable| variable.ty));
    let lists = model.nodes().into_iter().filter_map(|node| model.attributes(node)?.known());
    let attributes = lists.flat_map(Attributes::iter).map(|attribute| attribute.ty);
    let mut counts = HashMap::new();
    for ty in variables.chain(attributes) {
        if let TypeRef::User(id) = ty {
            let count: &mut u32 = counts.entry(id).or_default();
            *count = count.saturating_add(1);
        }
    }
    counts
}

impl ObjectDescriber<'_> {
    /// The messages of a group: `extra` attributes come before its own.
    ///
    /// # Errors
    /// What cannot be described, by name.
    pub(crate) fn group(&mut self, id: GroupId, extra: &[Attribute]) -> Result<Vec<MessageDraft>> {
        let members = members(self.model, id)?;
        let mut drafts = vec![
            plain(kind::LINK_INFO, message::link_info(members.len() as u64, self.sizes)),
            constant(kind::GROUP_INFO, message::group_info()),
        ];
        for (order, (name, object)) in members.iter().enumerate() {
            let body = message::link(name, order as u64, self.addr(*object), self.sizes)?;
            drafts.push(plain(kind::LINK, body));
        }
        let extra = extra.iter().map(|attribute| self.encoded(attribute)).collect::<Result<Vec<_>>>()?;
        self.with_attributes(drafts, extra, NodeId::Group(id))
    }

    /// The messages of a committed type, and how many datasets and attributes are of it ([`type_users`]).
    ///
    /// # Errors
    /// When the type cannot be stored.
    pub(crate) fn committed(&mut self, id: TypeId, users: Option<u32>) -> Result<Vec<MessageDraft>> {
        let datatype = datatype_of(self.model, TypeRef::User(id), Endianness::Native)?;
        let mut drafts = vec![constant(kind::DATATYPE, message::datatype(&datatype)?)];
        let count = users.unwrap_or(0).saturating_add(1);
        let users = message::reference_count(count);
        drafts.push(match count {
            // Room for the number of users, once there are any: a header as short as this one cannot be continued elsewhere.
            1 => plain(NIL, Bytes::from(vec![0; users.len()])),
            _ => plain(kind::REFERENCE_COUNT, users),
        });
        Ok(drafts)
    }

    /// The messages of the dataset that a dimension without variable is.
    ///
    /// # Errors
    /// When its references cannot be stored.
    pub(crate) fn dimension(&mut self, id: DimId) -> Result<Vec<MessageDraft>> {
        let len = self.model.dimension(id).map(|dimension| dimension.len);
        let len = len.ok_or_else(|| Error::not_found("no such dimension"))?;
        let current = len.current();
        let max = if len.is_unlimited() { None } else { Some(current) };
        let space = Dataspace::Simple { dims: vec![current], max: vec![max] };
        // As netCDF-C stores it: no elements are ever written, so neither layout takes space.
        let arrangement = if len.is_unlimited() {
            let index = crate::layout::IndexKind::BTree1;
            ElementLayout::Chunked {
                shape: vec![1],
                index,
                addr: None,
                edges_unfiltered: false,
                version: OLD_LAYOUT,
            }
        } else {
            ElementLayout::Contiguous { addr: None, byte_len: current.saturating_mul(4) }
        };
        let datatype = scale::placeholder(self.model)?;
        let stowed = ElementStorage {
            datatype: &datatype,
            arrangement,
            filters: &[],
            fill: FillMessage::default(),
            records: None,
        };
        let drafts = self.dataset(&space, &stowed)?;
        let attributes = self.scale_attributes(id, None)?;
        self.finished(drafts, attributes)
    }

    /// The messages of a variable's dataset.
    ///
    /// # Errors
    /// What cannot be described, by name.
    pub(crate) fn variable(&mut self, id: VarId, stowed: &ElementStorage<'_>) -> Result<Vec<MessageDraft>> {
        let mut space = self.space_of(id);
        if let (Some(records), Dataspace::Simple { dims, .. }) = (stowed.records, &mut space)
            && let Some(first) = dims.first_mut()
        {
            *first = records;
        }
        let drafts = self.dataset(&space, stowed)?;
        let hidden = self.hidden_attributes(id)?;
        self.with_attributes(drafts, hidden, NodeId::Variable(id))
    }

    /// The dataspace of a variable, as long as its dimensions are now.
    pub(crate) fn space_of(&self, id: VarId) -> Dataspace {
        let dims = self.model.shape(id);
        if dims.is_empty() {
            return Dataspace::Scalar;
        }
        let growing = self.model.growing(id);
        let max = dims.iter().zip(growing).map(|(len, grows)| (!grows).then_some(*len)).collect();
        Dataspace::Simple { dims, max }
    }

    fn dataset(&mut self, space: &Dataspace, stowed: &ElementStorage<'_>) -> Result<Vec<MessageDraft>> {
        let ElementStorage { datatype, arrangement, filters, fill, .. } = stowed;
        let allocation = match arrangement {
            ElementLayout::Compact(_) => 1,
            ElementLayout::Chunked { .. } => 3,
            _ => 2,
        };
        let mut drafts = vec![
            plain(kind::DATASPACE, message::dataspace(space, self.sizes)),
            self.datatype(datatype)?,
            constant(kind::FILL, message::fill(fill, allocation)?),
            plain(kind::LAYOUT, message::layout(arrangement, datatype.byte_len, self.sizes)?),
        ];
        if !filters.is_empty() {
            drafts.push(constant(kind::PIPELINE, message::pipeline(filters)?));
        }
        Ok(drafts)
    }

    /// A datatype, or where the committed one is.
    fn datatype(&self, datatype: &Datatype) -> Result<MessageDraft> {
        let (flags, body) = match datatype.committed {
            Some(addr) => (CONSTANT | SHARED, message::shared(addr, self.sizes)),
            None => (CONSTANT, message::datatype(datatype)?),
        };
        Ok(MessageDraft { kind: kind::DATATYPE, flags, order: 0, body })
    }

    /// Where an object is.
    pub(crate) fn addr(&self, object: FileObject) -> FileAddress {
        self.addrs.get(&object).copied().unwrap_or(FileAddress(0))
    }

    /// Where an object is; `None` if it is not in the file. Before objects are placed all count as being there, so
    /// that lengths are final.
    pub(crate) fn stored_addr(&self, object: FileObject) -> Option<FileAddress> {
        (!self.is_placed || self.addrs.contains_key(&object)).then(|| self.addr(object))
    }

    /// The datatype of a type: the committed one where there is one. Those of other programs need not be objects of the file.
    pub(crate) fn type_of(&self, ty: TypeRef, order: Endianness) -> Result<Datatype> {
        let mut datatype = datatype_of(self.model, ty, order)?;
        if let TypeRef::User(id) = ty {
            datatype.committed = self.stored_addr(FileObject::Type(id));
        }
        Ok(datatype)
    }

    /// Adds attributes: those that netCDF hides, then those of the model.
    fn with_attributes(
        &mut self,
        drafts: Vec<MessageDraft>,
        mut attributes: Vec<Bytes>,
        node: NodeId,
    ) -> Result<Vec<MessageDraft>> {
        let path = match node {
            NodeId::Group(id) => self.model.group_path(id),
            NodeId::Variable(id) => self.model.variable_path(id),
        };
        let model = self.model;
        let known = model.attributes(node).and_then(|state| state.known());
        for attribute in known.into_iter().flat_map(|list| list.iter()) {
            let body = check_name(attribute).and_then(|()| self.encoded(attribute));
            attributes.push(body.map_err(|error| error.at_path(path.clone()))?);
        }
        self.finished(drafts, attributes).map_err(|error| error.at_path(path))
    }

    /// The messages with these attributes, in this order; when one of them is too long for that, all are stored elsewhere.
    fn finished(
        &mut self,
        mut drafts: Vec<MessageDraft>,
        attributes: Vec<Bytes>,
    ) -> Result<Vec<MessageDraft>> {
        let count = u16::try_from(attributes.len()).map_err(|_| {
            Error::unsupported(format!(
                "{} attributes of one object: HDF5 allows at most 65535",
                attributes.len()
            ))
            .with_detail(Detail::BeyondHeader)
        })?;
        // A message has at most 64 KiB; dense storage holds all attributes or none (docs/spec/hdf5-netcdf4.md C.5).
        let numbered = attributes.into_iter().zip(0..);
        if numbered.clone().any(|(body, _)| body.len() > message::MAX_BODY_BYTES) {
            let loose: Vec<LooseAttribute> =
                numbered.map(|(body, order)| LooseAttribute { flags: 0, order, body }).collect();
            let (dense, patches) = dense(&loose, true, self.sizes, self.space)?;
            self.heap.carry(patches);
            drafts.push(plain(kind::ATTRIBUTE_INFO, message::attribute_info(count, Some(dense), self.sizes)));
            return Ok(drafts);
        }
        drafts.push(plain(kind::ATTRIBUTE_INFO, message::attribute_info(count, None, self.sizes)));
        drafts.extend(numbered.map(|(body, order)| MessageDraft {
            kind: kind::ATTRIBUTE,
            flags: 0,
            order,
            body,
        }));
        Ok(drafts)
    }
}

fn plain(kind: u16, body: Bytes) -> MessageDraft {
    MessageDraft { kind, flags: 0, order: 0, body }
}

/// A message that never changes.
fn constant(kind: u16, body: Bytes) -> MessageDraft {
    MessageDraft { kind, flags: CONSTANT, order: 0, body }
}

const CONSTANT: u8 = 1;
const SHARED: u8 = 2;
