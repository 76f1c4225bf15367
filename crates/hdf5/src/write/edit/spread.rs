//! Attributes that are too long for an existing header.
use super::EditableHeader;
use crate::cursor::ByteCursor;
use crate::object::kind;
use crate::write::FilePatch;
use crate::write::dense::{DenseAttributes, LooseAttribute, dense};
use crate::write::header::MessageDraft;
use crate::write::message::MAX_BODY_BYTES;
use crate::write::out::ByteSink;
use crate::write::space::SpaceAllocator;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};

impl EditableHeader {
    /// Whether an attribute of that length can be stored.
    pub(crate) fn takes(&self, attribute: &Bytes) -> bool {
        self.style.version != 1 || attribute.len() <= MAX_BODY_BYTES
    }

    /// Moves all attributes out of the header if one is too long for it; returns their new form.
    ///
    /// # Errors
    /// If the header's version does not support that.
    pub(crate) fn spread(&mut self, space: &mut SpaceAllocator) -> Result<Vec<FilePatch>> {
        let Some((_, long)) = self.all(kind::ATTRIBUTE).find(|(_, draft)| draft.body.len() > MAX_BODY_BYTES)
        else {
            return Ok(Vec::new());
        };
        if !self.takes(&long.body) {
            let len = long.body.len();
            let message =
                format!("an attribute of {len} bytes: object headers of version 1 take {MAX_BODY_BYTES}");
            return Err(Error::unsupported(message));
        }
        let loose = |(_, draft): (usize, &MessageDraft)| {
            let MessageDraft { flags, order, ref body, .. } = *draft;
            LooseAttribute { flags, order, body: body.clone() }
        };
        let loose: Vec<LooseAttribute> = self.all(kind::ATTRIBUTE).map(loose).collect();
        let info = self.find(kind::ATTRIBUTE_INFO).map(|(number, draft)| (number, draft.body.clone()));
        let (number, info) = info.map_or((None, Bytes::from_static(&[0, 0])), |(at, body)| (Some(at), body));
        let numbered = info.get(1).is_some_and(|flags| flags & NUMBERED != 0);
        let (dense, patches) = dense(&loose, numbered, self.sizes, space)?;
        let body = self.info(&info, dense)?;
        match number {
            Some(number) => self.set(number, body)?,
            None => _ = self.push(MessageDraft { kind: kind::ATTRIBUTE_INFO, flags: 0, order: 0, body }),
        }
        self.retain(|draft| draft.kind != kind::ATTRIBUTE)?;
        Ok(patches)
    }

    /// The attribute info message, with the locations of a heap and its indexes.
    fn info(&self, old: &Bytes, dense: DenseAttributes) -> Result<Bytes> {
        let counts = old.get(1).is_some_and(|flags| flags & COUNTS != 0);
        let kept = ByteCursor::new(old, "attribute info").take(if counts { 4 } else { 2 })?;
        let mut body = ByteSink::new();
        body.bytes(kept).addr(Some(dense.heap), self.sizes).addr(Some(dense.names), self.sizes);
        if dense.orders.is_some() {
            body.addr(dense.orders, self.sizes);
        }
        Ok(body.finish())
    }
}

/// The message contains the next number.
const COUNTS: u8 = 1;
/// There is an index by number.
const NUMBERED: u8 = 2;
