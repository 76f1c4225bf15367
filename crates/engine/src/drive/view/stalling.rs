//! A view of bytes that were fetched before: it stalls for all others.
use super::EncodedPart;
use crate::drive::DriveContext;
use crate::snapshot::PinnedBytes;
use bytes::Bytes;
use ncirrus_layout::{
    Error, Limits, Listing, Memo, Need, ObjectBytes, ObjectId, Step, VariableRef, View, Want,
};
use ncirrus_model::{CodecSpec, Selection, Values};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// A view of what a drive has fetched so far and of what its dataset's snapshot has cached.
pub(crate) struct StallingView<'a> {
    context: &'a DriveContext,
    held: RefCell<&'a mut PinnedBytes>,
    extra: RefCell<&'a mut DriveExtras>,
}

/// What a drive holds besides bytes of objects.
#[derive(Default)]
pub(crate) struct DriveExtras {
    /// Parts that were decoded.
    pub(crate) decoded: Vec<(EncodedPart, Bytes)>,
    /// Values of other variables.
    pub(crate) values: Vec<(VariableRef, Selection, Values)>,
    /// Objects and listings that could not be fetched: the step may do without them, or fail with this error.
    pub(crate) failed: HashMap<ObjectId, Error>,
    pub(crate) failed_listings: HashMap<ObjectId, Error>,
}

impl<'a> StallingView<'a> {
    /// A view for one run of a step.
    pub(crate) fn new(
        context: &'a DriveContext,
        held: &'a mut PinnedBytes,
        extra: &'a mut DriveExtras,
    ) -> Self {
        Self { context, held: RefCell::new(held), extra: RefCell::new(extra) }
    }

    /// An object that could not be fetched is not requested again.
    fn check_failed(&self, object: &ObjectId) -> Step<()> {
        match self.extra.borrow().failed.get(object) {
            Some(error) => Err(error.clone().into()),
            None => Ok(()),
        }
    }

    fn find(&self, object: &ObjectId, want: &Want) -> Option<Option<ObjectBytes>> {
        self.held.borrow_mut().find(&self.context.snapshot, object, want)
    }
}

impl View for StallingView<'_> {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        self.context.snapshot.check_store(object)?;
        match self.find(object, &want) {
            Some(blob) => Ok(blob),
            None => self.check_failed(object).and(Err(Need::Object { object: object.clone(), want }.into())),
        }
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        self.context.snapshot.check_store(object)?;
        let part =
            EncodedPart { object: object.clone(), range: range.clone(), codecs: codecs.to_vec(), mask, len };
        if let Some((_, bytes)) = self.extra.borrow().decoded.iter().find(|(other, _)| *other == part) {
            return Ok(bytes.clone());
        }
        let Some(blob) = self.find(object, &Want::Range(range)) else {
            self.check_failed(object)?;
            let EncodedPart { object, range, codecs, mask, len } = part;
            return Err(Need::Decoded { object, range, codecs, mask, len }.into());
        };
        let blob = blob.ok_or_else(|| Error::not_found("no such object").at_object(object))?;
        let decoded = part.decode(&self.context.shared, &blob.bytes);
        let decoded = decoded.map_err(|error| part.located(error))?;
        self.extra.borrow_mut().decoded.push((part, decoded.clone()));
        Ok(decoded)
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        let extra = self.extra.borrow();
        let found = extra.values.iter().find(|(other, part, _)| other == variable && part == selection);
        match found {
            Some((_, _, values)) => Ok(values.clone()),
            None => Err(Need::Values { variable: variable.clone(), selection: selection.clone() }.into()),
        }
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing> {
        self.context.snapshot.check_store(prefix)?;
        let page = page.map(str::to_owned);
        if let Some(listing) = self.held.borrow().listings.get(&(prefix.clone(), page.clone())) {
            return Ok(listing.clone());
        }
        match self.extra.borrow().failed_listings.get(prefix) {
            Some(error) => Err(error.clone().into()),
            None => Err(Need::List { prefix: prefix.clone(), page }.into()),
        }
    }

    fn release(&self, object: &ObjectId, end: u64) {
        self.held.borrow_mut().release(object, end);
    }

    fn memo(&self) -> &Memo {
        &self.context.memo
    }

    fn limits(&self) -> &Limits {
        &self.context.shared.limits
    }
}
