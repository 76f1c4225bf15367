//! Fragments: boxes of a variable as datasets of their own.
use super::super::origin;
use crate::copy::{CopyOptions, copy_fragment};
use ncirrus::{CreateOptions, Dataset, Error, Kind, OpenOptions, Result, Session, VariableSelect};
use ncirrus_aggregate::write::FragmentCell;
use ncirrus_layout::ErrorKind;
use ncirrus_layout::grid::{block_starts, row_major_index};
use ncirrus_model::{Attribute, DatasetKind, Model, Region};
use ncirrus_netcdf_view::formats;

/// A box of a variable, and its fragment's address.
pub(super) struct SplitPiece {
    pub(super) variable: String,
    pub(super) region: Region,
    pub(super) url: String,
}

/// Writes fragments.
pub(super) struct FragmentWriter<'a> {
    pub(super) source: &'a Dataset,
    pub(super) create: CreateOptions,
    /// Paths of all variables that are split: a fragment has only its own.
    pub(super) leave_out: Vec<String>,
    /// What each fragment records of the aggregation.
    pub(super) record: Attribute,
}

impl FragmentWriter<'_> {
    /// Writes a fragment with its coordinates, unless an earlier run did. Returns whether it existed.
    pub(super) fn put(&self, piece: &SplitPiece, is_resumed: bool, session: &Session) -> Result<bool> {
        if is_resumed && self.is_there(piece, session)? {
            return Ok(true);
        }
        let options = CopyOptions {
            // Only the remains of a killed run under this name may be replaced.
            create: self.create.clone().overwrite(is_resumed),
            select: self.selected(piece)?,
            fix_unlimited: true,
            drop_filters: self.create.kind != Some(Kind::Nc4),
            ..CopyOptions::default()
        };
        let others: Vec<String> =
            self.leave_out.iter().filter(|path| **path != piece.variable).cloned().collect();
        let extra = (&*others, Some(&self.record));
        copy_fragment(self.source, &piece.url, &options, extra, session).map(|_| false)
    }

    /// The box of the variable, and the scalars, which a master that is recreated has again.
    fn selected(&self, piece: &SplitPiece) -> Result<Vec<VariableSelect>> {
        let model: &Model = &*self.source.model()?;
        let scalars =
            origin::scalars(model, self.create.kind).into_iter().map(|var| model.variable_path(var));
        let point = Region { start: Vec::new(), count: Vec::new() };
        let scalars = scalars.map(|path| VariableSelect::of_region(&path, &point));
        Ok([VariableSelect::of_region(&piece.variable, &piece.region)].into_iter().chain(scalars).collect())
    }

    /// Whether the fragment exists. Fragments appear atomically, so checking the definition of its variable is
    /// enough.
    fn is_there(&self, piece: &SplitPiece, session: &Session) -> Result<bool> {
        let raw = OpenOptions::new().raw(true);
        let dataset = match Dataset::open_with(&piece.url, &raw, session) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Malformed => return Ok(false),
            opened => opened?,
        };
        let Ok(variable) = dataset.variable(&piece.variable) else { return Ok(false) };
        let same_type = variable.ty() == self.source.variable(&piece.variable)?.ty();
        Ok(same_type && variable.shape() == piece.region.count)
    }
}

/// The boxes of a variable, in row-major order.
pub(super) fn pieces<'a>(
    path: &'a str,
    sizes: &'a [Vec<u64>],
    url: impl Fn(&[usize]) -> String + 'a,
) -> impl Iterator<Item = SplitPiece> + 'a {
    let lens: Vec<usize> = sizes.iter().map(Vec::len).collect();
    let starts: Vec<Vec<u64>> = sizes.iter().map(|sizes| block_starts(sizes)).collect();
    let count = lens.iter().product::<usize>();
    (0..count).map(move |number| {
        let place = row_major_index(number, &lens);
        let at = |all: &[Vec<u64>]| -> Vec<u64> {
            all.iter().zip(&place).filter_map(|(along, at)| along.get(*at).copied()).collect()
        };
        let region = Region { start: at(&starts), count: at(sizes) };
        SplitPiece { variable: path.to_owned(), region, url: url(&place) }
    })
}

/// The entry of a fragment in a master.
pub(super) fn cell(file: String, path: &str, kind: Option<Kind>) -> Result<Option<FragmentCell>> {
    let kind = DatasetKind::from(kind.ok_or_else(|| Error::internal("fragments are of some kind"))?);
    Ok(Some(FragmentCell { file: file.into(), variable: path.into(), format: formats::name(kind.format) }))
}
