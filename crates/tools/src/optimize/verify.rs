//! Whether a copy has everything that its source has.
#[cfg(test)]
mod tests;

use super::PlannedVariable;
use super::block_hashes::BlockHashes;
use crate::compare::{Blocks, CompareOptions, CompareScope, chunk_grain, compare};
use crate::profile::same_filters;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, Location, Result, Selection, Variable};
use ncirrus_engine::StoredChunk;
use ncirrus_store::LocalStore;

/// Chunks whose locations are compared together.
const WINDOW: u64 = 1 << 12;
/// Chunks that one thread compares sooner than others begin.
const SHARE: usize = 16;
/// Bytes that are compared at once.
const PIECE: u64 = 1 << 20;

/// Checks that a copy has the definitions, types, filters and values of its source. Chunks that were moved are compared as
/// bytes. Of values that were copied in blocks of whole chunks, those of the copy are read again, and have the same hashes as
/// those that were read from the source. Other values are compared by their elements.
///
/// # Errors
/// `Internal` with the first difference; `Unsupported` if an element is stored in a type that the copy does not have; errors of
/// reading.
pub(super) fn verify(
    source: &Dataset,
    copy: &Dataset,
    planned: &[PlannedVariable],
    hashes: &BlockHashes,
) -> Result<()> {
    let exact = CompareOptions::new().order(true).ignore([] as [String; 0]);
    let definitions = compare(source, copy, &exact.clone().scope(CompareScope::Definitions))?;
    if !definitions.is_same() || !definitions.left_out.is_empty() {
        return Err(Error::internal(format!("the copy differs: {definitions}")));
    }
    let mut by_value = Vec::new();
    for planned in planned {
        let (old, new) = (source.variable(&planned.path)?, copy.variable(&planned.path)?);
        check_storage(source, copy, (&old, &new), planned)?;
        let is_same = (!planned.recoded && has_same_chunks(source, copy, &old, &new)?)
            || hashes.confirm(old.id(), copy, &new)?;
        if !is_same {
            by_value.push(planned.path.clone());
        }
    }
    if by_value.is_empty() {
        return Ok(());
    }
    let values = compare(source, copy, &exact.scope(CompareScope::Data).variables(by_value))?;
    if values.is_same() { Ok(()) } else { Err(Error::internal(format!("the copy differs: {values}"))) }
}

/// Checks what a comparison of two datasets leaves out: how elements are stored.
fn check_storage(
    source: &Dataset,
    copy: &Dataset,
    (old, new): (&Variable, &Variable),
    planned: &PlannedVariable,
) -> Result<()> {
    let (from, to) = (source.source(old)?, copy.source(new)?);
    if from.stored != to.stored {
        let message =
            format!("its elements are stored as {:?}, which would become {:?}", from.stored, to.stored);
        return Err(Error::unsupported(message).at_path(planned.path.as_str()));
    }
    let (before, after) = (source.model()?, copy.model()?);
    let pair = before.variable(old.id()).zip(after.variable(new.id()));
    let (before, after) = pair.ok_or_else(|| Error::internal("a variable without a definition"))?;
    let same = (planned.filters.is_some() || same_filters(&before.filters, &after.filters))
        && before.fill == after.fill
        && before.endianness == after.endianness;
    if same {
        return Ok(());
    }
    Err(Error::internal("its filters, fill value or byte order would change").at_path(planned.path.as_str()))
}

/// Whether both variables are chunked and have the same stored bytes.
fn has_same_chunks(source: &Dataset, copy: &Dataset, old: &Variable, new: &Variable) -> Result<bool> {
    let (from, to) = (source.reader()?.store(), copy.reader()?.store());
    let (Some(from), Some(to)) = (from.local(), to.local()) else { return Ok(false) };
    // Elements of any length are addresses, whose bytes are the same wherever they lead.
    let of_model = |dataset: &Dataset, variable: &Variable| -> Result<Option<u64>> {
        let model = dataset.model()?;
        Ok(model.variable(variable.id()).and_then(|variable| model.packed_len(variable.ty)))
    };
    let is_fixed = of_model(source, old)?.is_some() && of_model(copy, new)?.is_some();
    if !is_fixed || old.filters() != new.filters() {
        return Ok(false);
    }
    let grain = chunk_grain(old);
    if grain != chunk_grain(new) || !matches!(old.storage(), ncirrus::Storage::Chunked(_)) {
        return Ok(false);
    }
    let elements = grain.iter().fold(WINDOW, |product, len| product.saturating_mul(*len));
    for window in Blocks::new(&Selection::all(&old.shape()), grain, elements) {
        let (one, other) = (old.chunks(&window)?, new.chunks(&window)?);
        if one.len() != other.len() {
            return Ok(false);
        }
        let pairs: Vec<_> = one.iter().zip(&other).collect();
        if !have_same_bytes((from, to), &pairs, source.session().threads())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all pairs of chunks have the same stored bytes, which several threads compare.
fn have_same_bytes(
    stores: (&dyn LocalStore, &dyn LocalStore),
    pairs: &[(&StoredChunk, &StoredChunk)],
    threads: usize,
) -> Result<bool> {
    let compare = |pairs: &[(&StoredChunk, &StoredChunk)]| {
        let mut buffers = (Vec::new(), Vec::new());
        for pair in pairs {
            if !has_same_bytes(stores, *pair, &mut buffers)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let share = pairs.len().div_ceil(threads.max(1)).max(SHARE);
    std::thread::scope(|scope| {
        let (own, others) = pairs.split_at(share.min(pairs.len()));
        let others: Vec<_> = others.chunks(share).map(|pairs| scope.spawn(move || compare(pairs))).collect();
        let mut are_same = compare(own)?;
        for other in others {
            let panicked = |_| Err(Error::internal("a thread that compares bytes panicked"));
            are_same &= other.join().unwrap_or_else(panicked)?;
        }
        Ok(are_same)
    })
}

fn has_same_bytes(
    (from, to): (&dyn LocalStore, &dyn LocalStore),
    (one, other): (&StoredChunk, &StoredChunk),
    (ours, theirs): &mut (Vec<u8>, Vec<u8>),
) -> Result<bool> {
    let (Location::Bytes(source, part), Location::Bytes(copy, moved)) =
        (&one.stored.location, &other.stored.location)
    else {
        return Ok(false);
    };
    let len = part.end.saturating_sub(part.start);
    if one.start != other.start
        || one.stored.mask != other.stored.mask
        || len != moved.end.saturating_sub(moved.start)
    {
        return Ok(false);
    }
    let mut at = 0;
    while at < len {
        let piece = usize::try_from((len - at).min(PIECE)).unwrap_or_default();
        ours.resize(piece, 0);
        theirs.resize(piece, 0);
        let read = from.read_into(source, part.start + at, ours)?;
        if read != Some(piece) || to.read_into(copy, moved.start + at, theirs)? != read || ours != theirs {
            return Ok(false);
        }
        at += piece as u64;
    }
    Ok(true)
}
