//! Attributes of existing objects (docs/spec/hdf5-netcdf4.md C.5, J.1).
use super::message_names::MessageNames;
use crate::address::FieldSizes;
use crate::cursor::ByteCursor;
use crate::datatypes::{attribute_name, dense_attributes};
use crate::file::Hdf5File;
use crate::object::kind;
use crate::write::edit::EditableHeader;
use crate::write::header::MessageDraft;
use crate::write::put::put;
use bytes::Bytes;
use ncirrus_layout::{Detail, Error, Result, Step, View};
use ncirrus_model::{Attribute, Attributes};
use std::collections::HashSet;

/// The attributes of a header, by name.
#[derive(Debug)]
pub(super) struct HeaderAttributes<'a> {
    header: &'a mut EditableHeader,
    names: MessageNames,
    sizes: FieldSizes,
    /// The number of the next attribute and the message that counts them, once they were looked for.
    counter: Option<AttributeCounter>,
}

/// How new attributes are numbered.
#[derive(Debug, Clone, Copy)]
struct AttributeCounter {
    next: u32,
    /// The attribute info message, if it counts attributes.
    info: Option<usize>,
}

/// One change of the model's attributes.
#[derive(Debug, PartialEq)]
pub(super) enum AttributeChange<'a> {
    Remove(&'a str),
    /// The attribute with that name is replaced by this one.
    Replace(&'a str, &'a Attribute),
    Add(&'a Attribute),
}

/// The changes from the attributes `old` to `new`. One that has another name but the same position and values was
/// renamed.
pub(super) fn differences<'a>(old: &'a Attributes, new: &'a Attributes) -> Vec<AttributeChange<'a>> {
    let mut list = Vec::new();
    let renamed = |at: usize, attribute: &Attribute| {
        old.iter().nth(at).filter(|before| {
            before.name != attribute.name
                && new.find(&before.name).is_none()
                && old.find(&attribute.name).is_none()
                && (before.ty, &before.values) == (attribute.ty, &attribute.values)
        })
    };
    let mut moved = HashSet::new();
    for (at, attribute) in new.iter().enumerate() {
        match (old.find(&attribute.name), renamed(at, attribute)) {
            (Some(before), _) if before == attribute => {}
            (Some(before), _) => list.push(AttributeChange::Replace(&before.name, attribute)),
            (None, Some(before)) => {
                moved.insert(before.name.as_str());
                list.push(AttributeChange::Replace(&before.name, attribute));
            }
            (None, None) => list.push(AttributeChange::Add(attribute)),
        }
    }
    let gone =
        old.iter().filter(|before| new.find(&before.name).is_none() && !moved.contains(before.name.as_str()));
    let mut all: Vec<_> = gone.map(|before| AttributeChange::Remove(&before.name)).collect();
    all.append(&mut list);
    all
}

impl<'a> HeaderAttributes<'a> {
    /// The attributes of a header; dense ones become messages of it.
    ///
    /// # Errors
    /// A need, or damage that makes it impossible to know them all.
    pub(super) fn new(view: &dyn View, file: &Hdf5File, header: &'a mut EditableHeader) -> Step<Self> {
        let sizes = file.sizes;
        if let Some((number, info)) = header.find(kind::ATTRIBUTE_INFO)
            && AttributeInfoFields::parse(&info.body, sizes)?.dense
        {
            let dense = dense_attributes(view, file, &info.body)?;
            let body = AttributeInfoFields::without_heap(&info.body, sizes)?;
            header.set(number, body)?;
            for message in dense {
                // Dense attributes are made compact: their order must fit the number of a message
                // (docs/spec/hdf5-netcdf4.md J.1).
                let order = message.order.ok_or_else(|| {
                    Error::unsupported("an attribute numbered beyond 65535").with_detail(Detail::BeyondHeader)
                })?;
                header.push(MessageDraft {
                    kind: kind::ATTRIBUTE,
                    flags: message.flags,
                    order,
                    body: message.body,
                });
            }
        }
        let mut names = MessageNames::default();
        for (number, draft) in header.all(kind::ATTRIBUTE) {
            let message = crate::object::HeaderMessage {
                kind: draft.kind,
                flags: draft.flags,
                order: None,
                body: draft.body.clone(),
            };
            names.add(attribute_name(view, file, &message)?, number);
        }
        Ok(Self { header, names, sizes, counter: None })
    }

    /// Whether there is an attribute of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.has(name)
    }

    /// Whether an attribute of that length can be stored.
    pub(super) fn takes(&self, body: &Bytes) -> bool {
        self.header.takes(body)
    }

    /// Replaces the attribute of that name, if there is one; otherwise appends it.
    ///
    /// # Errors
    /// If no more can be numbered.
    pub(super) fn put(&mut self, place: &str, name: &str, body: Bytes) -> Result<()> {
        let Some(number) = self.names.first(place) else {
            let order = self.next_order()?;
            let number = self.header.push(MessageDraft { kind: kind::ATTRIBUTE, flags: 0, order, body });
            self.names.add(name.to_owned(), number);
            return Ok(());
        };
        if name != place {
            self.names.forget_first(place);
            self.names.add(name.to_owned(), number);
        }
        let order = self.header.message(number)?.order;
        self.header.replace(number, MessageDraft { kind: kind::ATTRIBUTE, flags: 0, order, body })
    }

    /// Removes attributes, as far as they exist.
    ///
    /// # Errors
    /// If a message is in no piece of the header.
    pub(super) fn remove<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        self.counter = None;
        self.names.remove(self.header, names)
    }

    /// The number of a new attribute, if the header counts them.
    fn next_order(&mut self) -> Result<u16> {
        if !self.header.is_indexed() {
            return Ok(0);
        }
        let AttributeCounter { next, info } = match self.counter {
            Some(counter) => counter,
            None => self.counted()?,
        };
        let after = u16::try_from(next + 1).ok();
        if let (Some(number), Some(after)) = (info, after) {
            let body = AttributeInfoFields::counting(&self.header.message(number)?.body, after)?;
            self.header.set(number, body)?;
        }
        self.counter = Some(AttributeCounter { next: next + 1, info });
        u16::try_from(next).map_err(|_| {
            Error::unsupported("more than 65535 attributes, counting those that were removed")
                .with_detail(Detail::BeyondHeader)
        })
    }

    fn counted(&self) -> Result<AttributeCounter> {
        let orders = self.header.all(kind::ATTRIBUTE).map(|(_, draft)| u32::from(draft.order) + 1);
        let next = orders.max().unwrap_or(0);
        let Some((number, draft)) = self.header.find(kind::ATTRIBUTE_INFO) else {
            return Ok(AttributeCounter { next, info: None });
        };
        let counted = AttributeInfoFields::parse(&draft.body, self.sizes)?.next;
        let next = next.max(counted.map_or(0, u32::from));
        Ok(AttributeCounter { next, info: counted.map(|_| number) })
    }
}

/// The attribute info message.
#[derive(Debug)]
struct AttributeInfoFields {
    /// The number of the next attribute, if they are counted.
    next: Option<u16>,
    dense: bool,
}

impl AttributeInfoFields {
    fn parse(body: &[u8], sizes: FieldSizes) -> Result<Self> {
        let mut cursor = ByteCursor::new(body, "attribute info");
        cursor.version(&[0])?;
        let next = if cursor.u8()? & 1 != 0 { Some(cursor.u16()?) } else { None };
        Ok(Self { next, dense: cursor.addr(sizes)?.is_some() })
    }

    /// The same message, for attributes in the header.
    fn without_heap(body: &[u8], sizes: FieldSizes) -> Result<Bytes> {
        let flags = *body.get(1).ok_or_else(|| Error::malformed("attribute info ends early"))?;
        let start = if flags & 1 != 0 { 4 } else { 2 };
        let addresses = if flags & 2 != 0 { 3 } else { 2 };
        let mut bytes = body.to_vec();
        let end = start + addresses * usize::from(sizes.offsets);
        let place = bytes.get_mut(start..end).ok_or_else(|| Error::malformed("attribute info ends early"))?;
        place.fill(0xff);
        Ok(bytes.into())
    }

    /// The same message with that number for the next attribute.
    ///
    /// # Errors
    /// If the message has no field for it.
    fn counting(body: &[u8], next: u16) -> Result<Bytes> {
        let mut bytes = body.to_vec();
        put(&mut bytes, 2, &next.to_le_bytes(), "attribute info")?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_model::Values;

    fn list(items: &[(&str, i32)]) -> Attributes {
        items.iter().map(|(name, value)| Attribute::atomic(*name, Values::Int(vec![*value]))).collect()
    }

    #[test]
    fn an_attribute_of_another_name_at_the_same_place_was_renamed() {
        let (old, new) = (list(&[("a", 1), ("b", 2)]), list(&[("a", 1), ("c", 2)]));
        assert_eq!(differences(&old, &new), [AttributeChange::Replace("b", new.find("c").unwrap())]);
    }

    #[test]
    fn values_names_and_removals_are_distinguished() {
        let (old, new) = (list(&[("a", 1), ("b", 2), ("c", 3)]), list(&[("a", 9), ("c", 3), ("d", 4)]));
        let expected = [
            AttributeChange::Remove("b"),
            AttributeChange::Replace("a", new.find("a").unwrap()),
            AttributeChange::Add(new.find("d").unwrap()),
        ];
        assert_eq!(differences(&old, &new), expected);
        assert!(differences(&old, &old).is_empty());
    }

    #[test]
    fn attribute_info_loses_its_heap_and_counts_on() {
        let sizes = FieldSizes { offsets: 4, lengths: 4 };
        let body = [&[0, 3, 7, 0][..], &[1; 12]].concat();
        let without = AttributeInfoFields::without_heap(&body, sizes).unwrap();
        assert_eq!(without[4..], [0xff; 12]);
        let fields =
            AttributeInfoFields::parse(&AttributeInfoFields::counting(&without, 300).unwrap(), sizes)
                .unwrap();
        assert_eq!((fields.next, fields.dense), (Some(300), false));
        for len in 0..body.len() {
            let _ = AttributeInfoFields::parse(&body[..len], sizes);
            assert!(AttributeInfoFields::without_heap(&body[..len], sizes).is_err());
        }
    }
}
