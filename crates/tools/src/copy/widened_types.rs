//! Data types of Zarr that netCDF does not have: which of them a copy keeps, and what becomes of the others.
use super::older_readers::{named, paths};
use ncirrus::{CreateOptions, Dataset, Kind, StringForm};
use ncirrus_model::{DatasetKind, ExtendedType, Model, Stored, VarId, ZarrForm};

/// Forgets what is said of a variable's elements beyond netCDF's types, if the copy is not to have it: what a dataset of
/// NCZarr says of text is about netCDF's strings, and the versions of Zarr differ in what text of only NULs means.
pub(super) fn keep_or_forget(source: &Dataset, model: &mut Model, var: VarId, create: &CreateOptions) {
    let from = zarr_version(source.kind());
    let Some(variable) = model.variable_mut(var) else { return };
    let is_kept = match &variable.extended {
        Some(_) if from.is_none() => false,
        Some(ExtendedType::FixedBytes { .. }) => create.strings == StringForm::Suited && from == create.kind,
        Some(ExtendedType::FixedText { .. }) => create.strings == StringForm::Suited,
        // Only Zarr v3 has the codecs: elsewhere attributes say what the integers mean.
        Some(ExtendedType::Packed { .. }) => create.kind == Some(Kind::Zarr3),
        _ => true,
    };
    if !is_kept {
        variable.extended = None;
    }
}

/// The version of Zarr whose types a dataset has; none for NCZarr upon Zarr v2.
fn zarr_version(kind: DatasetKind) -> Option<Kind> {
    match kind.stored {
        Stored::Zarr(ZarrForm::Zarr2) => Some(Kind::Zarr2),
        Stored::Zarr(ZarrForm::Zarr3 | ZarrForm::NcZarr3) => Some(Kind::Zarr3),
        _ => None,
    }
}

/// One sentence for each kind of data type that the copy does not keep.
pub(super) fn reported(source: &Model, copy: &Model, create: &CreateOptions) -> Vec<String> {
    let lost = |word: &'static str| {
        let names = paths(source, |variable| {
            variable.extended.as_ref().and_then(|extended| lost(extended, create.kind)) == Some(word)
        });
        let copied = names.into_iter().filter(|path| copy.variable_at(path).is_some()).collect();
        named(copied).map(|names| format!("{names}: {word}"))
    };
    SENTENCES.into_iter().filter_map(lost).collect()
}

const BOOLEANS: &str = "booleans of Zarr are stored as ubyte";
const FLOATS: &str = "floats of 2 bytes are stored in 4 bytes";
const TIMES: &str = "times of Zarr are stored as int64 with the attribute units";
const SENTENCES: [&str; 3] = [BOOLEANS, FLOATS, TIMES];

/// What becomes of a data type in a copy of that kind; `None` if it is kept, or becomes a type that has all it had.
fn lost(extended: &ExtendedType, kind: Option<Kind>) -> Option<&'static str> {
    let is_zarr = matches!(kind, Some(Kind::Zarr2 | Kind::Zarr3));
    match extended {
        ExtendedType::BFloat16 if kind != Some(Kind::Zarr3) => Some(FLOATS),
        _ if is_zarr => None,
        ExtendedType::Bool => Some(BOOLEANS),
        ExtendedType::Float16 => Some(FLOATS),
        ExtendedType::DateTime { .. } | ExtendedType::TimeDelta { .. } => Some(TIMES),
        _ => None,
    }
}
