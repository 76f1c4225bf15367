//! Reading elements that are gathered as they are stored and then converted together: text, references.
//!
//! What is gathered is cut into parts, and a part's elements are converted in batches, several at once: what is held
//! besides the result stays bounded, however large the selection. Elements that were never written are not converted.
use super::{VariableRead, check_memory};
use crate::bound_source::ElementDecoding;
use crate::convert;
use crate::picked::Picked;
use crate::resources::block_on;
use futures_util::future::BoxFuture;
use futures_util::stream::{StreamExt, iter};
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Selection, Values};
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Elements that are converted together.
const BATCH: usize = 1 << 15;
/// Maximum number of batches that wait for a network.
const UNDER_WAY: usize = 8;

/// Stored elements and the marks of those that were never written.
struct GatheredBatch<'a> {
    raw: &'a [u8],
    unwritten: &'a [u8],
}

impl VariableRead<'_> {
    /// The selected values.
    pub(super) async fn read_gathered(&self, picked: Picked<'_>, stored_len: usize) -> Result<Values> {
        let max =
            (self.context.shared.memory.bytes() / 8).clamp(64 << 10, 64 << 20) / (stored_len + 1).max(1);
        let mut result = None;
        match picked {
            Picked::Selection(selection) => {
                for part in cut(selection, max as u64, &[]) {
                    self.gather(Picked::Selection(&part), stored_len, &mut result).await?;
                }
            }
            // If points were split into parts, chunks would be decoded once for each.
            Picked::Points(_) => self.gather(picked, stored_len, &mut result).await?,
        }
        result.map_or_else(|| convert::empty(self.model, self.bound.ty), Ok)
    }

    /// Appends the picked values.
    async fn gather(&self, picked: Picked<'_>, stored_len: usize, result: &mut Option<Values>) -> Result<()> {
        let count = picked.count()?;
        check_memory(count, stored_len + 1)?;
        let mut raw = vec![0u8; count * stored_len];
        let mut unwritten = vec![0u8; count];
        self.fill_in(picked, &mut raw, Some(&mut unwritten), true).await?;
        let raw = raw.chunks((BATCH * stored_len).max(1)).chain(std::iter::repeat([].as_slice()));
        let batches =
            unwritten.chunks(BATCH).zip(raw).map(|(unwritten, raw)| GatheredBatch { raw, unwritten });
        self.convert_all(batches.collect(), result).await
    }

    /// Appends the values of batches: converted on all threads, or by concurrent steps if these wait for a network.
    async fn convert_all(&self, batches: Vec<GatheredBatch<'_>>, result: &mut Option<Values>) -> Result<()> {
        let is_remote = self.context.snapshot.store().local().is_none();
        if is_remote && let ElementDecoding::Referenced { .. } = self.bound.elements {
            let mut steps: Vec<BoxFuture<'_, Result<Values>>> = Vec::with_capacity(batches.len());
            batches.into_iter().for_each(|batch| steps.push(Box::pin(self.convert(batch))));
            let mut values = iter(steps).buffered(UNDER_WAY);
            while let Some(values) = values.next().await {
                append(result, values?)?;
            }
            return Ok(());
        }
        let converted: Vec<_> = batches.iter().map(|_| Mutex::new(None)).collect();
        let jobs: Vec<_> = batches.into_iter().zip(&converted).collect();
        self.context.shared.for_each(jobs, usize::MAX, |(batch, place), _| {
            *place.guard() = Some(block_on(self.convert(batch))?);
            Ok(())
        })?;
        for values in converted {
            let values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
            append(result, values.ok_or_else(|| Error::internal("a batch was not converted"))?)?;
        }
        Ok(())
    }

    async fn convert(&self, batch: GatheredBatch<'_>) -> Result<Values> {
        let count = batch.unwritten.iter().filter(|mark| **mark == 0).count();
        let raw = batch.written();
        let (model, ty, source) = (self.model, self.bound.ty, &self.bound.source);
        let values = match (&self.bound.elements, &source.resolver) {
            _ if count == 0 => convert::empty(model, ty)?,
            (ElementDecoding::Referenced { .. }, Some(resolver)) => {
                self.context.drive(|view| resolver.resolve(view, &raw, count)).await?
            }
            (ElementDecoding::Referenced { .. }, None) => {
                return Err(Error::internal("references without a resolver"));
            }
            _ => convert::decode(model, ty, &source.stored, &raw, count)?,
        };
        if values.len() != count {
            return Err(Error::internal(format!("{} values of {count} stored elements", values.len())));
        }
        self.fill_marked(values, batch.unwritten)
    }

    /// Inserts the fill value where elements are marked as never written.
    fn fill_marked(&self, values: Values, unwritten: &[u8]) -> Result<Values> {
        if unwritten.iter().all(|mark| *mark == 0) {
            return Ok(values);
        }
        let mut filled = convert::empty(self.model, self.bound.ty)?;
        let mut at = 0;
        for run in unwritten.chunk_by(|a, b| a == b) {
            let appended = if run.first() == Some(&0) {
                at += run.len();
                filled.extend_from(&values, at - run.len()..at)
            } else {
                run.iter().all(|_| filled.extend_from(&self.bound.source.fill, 0..1))
            };
            if !appended {
                return Err(other_type());
            }
        }
        Ok(filled)
    }
}

impl<'a> GatheredBatch<'a> {
    /// The stored bytes of the elements that were written.
    fn written(&self) -> Cow<'a, [u8]> {
        if self.unwritten.iter().all(|mark| *mark == 0) {
            return Cow::Borrowed(self.raw);
        }
        let stored_len = self.raw.len() / self.unwritten.len().max(1);
        let elements = self.raw.chunks_exact(stored_len.max(1)).zip(self.unwritten);
        let written = elements.filter(|(_, mark)| **mark == 0).map(|(element, _)| element);
        Cow::Owned(written.flatten().copied().collect())
    }
}

fn append(result: &mut Option<Values>, values: Values) -> Result<()> {
    let Some(result) = result else {
        *result = Some(values);
        return Ok(());
    };
    if result.extend_from(&values, 0..values.len()) { Ok(()) } else { Err(other_type()) }
}

fn other_type() -> Error {
    Error::internal("values of different types in one variable")
}

/// The selection in parts of at most `max` elements, whose results are consecutive in its result; cut at multiples of
/// `grain` if possible.
pub(super) fn cut(selection: &Selection, max: u64, grain: &[u64]) -> Vec<Selection> {
    let mut parts = Vec::new();
    let mut rest = vec![selection.clone()];
    while let Some(part) = rest.pop() {
        let is_large = part.element_count().is_none_or(|count| count > max);
        match part.halves(grain).filter(|_| is_large) {
            Some((first, second)) => rest.extend([second, first]),
            None => parts.push(part),
        }
    }
    parts
}
