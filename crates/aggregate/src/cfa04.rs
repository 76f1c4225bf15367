//! CFA-0.4: partitions in a JSON text (docs/spec/cfa.md 2).
mod forms;
mod json;
mod part;
mod places;
mod tiles;

#[cfg(test)]
mod tests;

use crate::index::FragmentIndex;
use crate::names::NameSubstitutions;
use crate::subject::{AggregationSubject, MasterDataset};
use forms::PartitionForm;
use json::{CfaArray, PartitionColumns};
use ncirrus_layout::{Aggregation, Error, Result, Step, View};
use ncirrus_model::{Strings, Values};
use places::PartitionPlaces;
use std::sync::Arc;
use tiles::Cfa04Tiles;

/// The locations of a variable's fragments, from one of its attributes, which is not read until needed. Lengths of
/// dimensions without written data are taken from the description.
///
/// # Errors
/// A need, or errors in the description.
pub(crate) fn index(
    view: &dyn View,
    inner: &MasterDataset,
    subject: &Arc<AggregationSubject>,
    lengths: &[Option<u64>],
) -> Step<FragmentIndex> {
    let attributes = inner.attributes(view, &[subject.variable])?;
    let text = attributes.first().and_then(|attributes| attributes.find("cfa_array"));
    let (document, partitions) = match text.map(|attribute| &attribute.values) {
        Some(Values::Char(text)) => json::parse(text)?,
        Some(Values::String(texts)) if texts.len() == 1 => json::parse(texts.get(0).unwrap_or_default())?,
        _ => return Err(Error::malformed("its cfa_array is not text").into()),
    };
    drop(attributes);
    view.limits().count(partitions.len() as u64, "its partitions")?;
    check_matrix(&document, &partitions, subject)?;
    if !subject.choices.lenient {
        check_indices(&partitions)?;
    }
    Ok(made(subject, document, partitions, lengths)?)
}

fn made(
    subject: &Arc<AggregationSubject>,
    document: CfaArray,
    partitions: PartitionColumns,
    lengths: &[Option<u64>],
) -> Result<FragmentIndex> {
    let fragments = partitions.len() as u64;
    let forms: Vec<Result<PartitionForm>> =
        partitions.forms.iter().map(|text| PartitionForm::new(text, subject)).collect();
    let (places, lengths) = PartitionPlaces::new(subject, &partitions, lengths)?;
    let facts = Aggregation { convention: "CFA-0.4", shape: places.shape(), fragments };
    let PartitionColumns { files, form_of, .. } = partitions;
    let substitutions = NameSubstitutions::of_caller(&subject.choices);
    let base = document.base.map(|base| substitutions.apply(&base));
    let subject = Arc::clone(subject);
    let tiles =
        Arc::new(Cfa04Tiles { subject, places, files: compact(&files), form_of, forms, base, substitutions });
    Ok(FragmentIndex { tiles, lengths, facts })
}

/// The names without spare capacity.
fn compact(files: &Strings) -> Strings {
    let mut exact = Strings::new();
    files.iter().for_each(|file| exact.push(file));
    exact
}

/// Checks that every partition has an index of its own in the matrix.
///
/// # Errors
/// `Malformed` with two that have the same.
fn check_indices(partitions: &PartitionColumns) -> Result<()> {
    let rank = partitions.indices.extremes.len();
    if rank == 0 {
        return Ok(());
    }
    let mut places: Vec<(&[i64], usize)> = partitions.indices.all.chunks(rank).zip(0..).collect();
    places.sort_unstable();
    match places.windows(2).find(|pair| matches!(pair, [one, other] if one.0 == other.0)) {
        Some([(index, one), (_, other)]) => {
            Err(Error::malformed(format!("the partitions {one} and {other} have the same index {index:?}")))
        }
        _ => Ok(()),
    }
}

/// Checks the description of the matrix, and the indices of partitions in it.
///
/// # Errors
/// `Malformed` with what does not fit.
fn check_matrix(
    document: &CfaArray,
    partitions: &PartitionColumns,
    subject: &AggregationSubject,
) -> Result<()> {
    let names = document.pmdimensions.as_deref().unwrap_or_default();
    if let Some(name) = names.iter().find(|name| !subject.dimensions.contains(name)) {
        return Err(Error::malformed(format!(
            "pmdimensions has {name}, which is not a dimension of the array"
        )));
    }
    let ones = vec![1; names.len()];
    let shape = document.pmshape.as_deref().unwrap_or(&ones);
    if shape.len() != names.len() {
        let message = format!("pmshape has {} lengths for {} pmdimensions", shape.len(), names.len());
        return Err(Error::malformed(message));
    }
    let extremes = &partitions.indices.extremes;
    if !extremes.is_empty() && extremes.len() != shape.len() {
        let message = format!("indices have {} entries for {} pmdimensions", extremes.len(), shape.len());
        return Err(Error::malformed(message));
    }
    for ((extremes, len), name) in extremes.iter().zip(shape).zip(names) {
        if let Some((index, number)) = extremes.iter().find(|(index, _)| index < &0 || index >= len) {
            return Err(Error::malformed(format!(
                "partition {number} has the index {index} along {name}, where pmshape is {len}"
            )));
        }
    }
    Ok(())
}
