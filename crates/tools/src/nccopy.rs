//! Copying by the rules of `nccopy` (docs/spec/nczarr.md 12.7; `man nccopy`, "Chunking Rules").
mod chunks;
mod filters;
mod setters;
#[cfg(test)]
mod tests;

use crate::aggregate::single_file_kind;
use crate::copy::{PrescribedStorage, ends_with};
use crate::{CopyOptions, CopyReport, copy, is_classic, is_classic_model};
use chunks::ChunkSpecs;
use filters::FilterSpecs;
use ncirrus::{CreateOptions, Dataset, DefaultChunks, Detail, Error, Kind, Member, Result, Session};
use ncirrus_model::Model;
use std::collections::BTreeMap;

/// Options for [`nccopy`], as its flags have them.
///
/// ```
/// use ncirrus_tools::NccopyOptions;
///
/// let options = NccopyOptions::new().deflate(4).shuffle(true).chunks(["time/1".to_owned()]);
/// assert_eq!(options.deflate, Some(4));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NccopyOptions {
    /// Kind of the copy; `None`: that of the source, netCDF-4 if filters are named, or netCDF-4 of the classic model if
    /// the source is netCDF-3 and chunks, shuffling or a deflate level above 0 are requested. The mode of the target's
    /// URL takes precedence.
    pub kind: Option<Kind>,
    /// Deflate level, 0 to 9; 0 removes all filters but checksums.
    pub deflate: Option<u32>,
    /// Shuffle bytes before deflate.
    pub shuffle: bool,
    /// Chunk shapes: `dim/len,...`, `var:len,...`, `var:`, `var:contiguous`, `var:compact`, `/` or `//`.
    pub chunks: Vec<String>,
    /// Filters: `none`, `*,none`, `var&var,none`, `var&var,id,parameter,...|id,...` or `*,id,...`.
    pub filters: Vec<String>,
    /// Variables without unlimited dimension whose chunk has fewer bytes are not chunked.
    pub min_chunk_bytes: Option<u64>,
    /// Make unlimited dimensions fixed.
    pub fix_unlimited: bool,
    /// The variables whose data are copied (paths, or ends of paths); empty: all.
    pub variables: Vec<String>,
    /// Leave out the definitions of the other variables, too.
    pub variables_alone: bool,
    /// The groups whose data are copied (paths, or ends of paths); empty: all.
    pub groups: Vec<String>,
    /// Leave out the definitions of the other groups, too, except for the root group.
    pub groups_alone: bool,
}

/// The minimum chunk size if none is given.
const MIN_CHUNK_BYTES: u64 = 8192;

/// Copies a dataset as `nccopy` does. The target appears whole or not at all; a dataset of that name is replaced,
/// unless it is the source.
///
/// # Errors
/// As [`copy`]; `Invalid` for options that cannot be parsed or do not fit the source, `NotFound` for variables, groups
/// and dimensions that do not exist.
pub fn nccopy(
    source: &Dataset,
    target: &str,
    options: &NccopyOptions,
    session: &Session,
) -> Result<CopyReport> {
    let (options, notes) = options.resolve(source, target)?;
    let mut report = copy(source, target, &options, session)?;
    report.notes.extend(notes);
    Ok(report)
}

impl NccopyOptions {
    /// The options of a copy, and notes about options without effect.
    fn resolve(&self, source: &Dataset, target: &str) -> Result<(CopyOptions<'static>, Vec<String>)> {
        let model = source.model()?;
        if let Some(level @ 10..) = self.deflate {
            return Err(Error::invalid(format!("deflate level {level} is above 9")));
        }
        if !self.groups.is_empty() && is_classic_model(source) {
            return Err(Error::invalid(format!(
                "groups are named, but a {} dataset has none",
                source.kind()
            )));
        }
        self.check_names(&model)?;
        let chunks = ChunkSpecs::parse(&self.chunks, &model)?;
        let filters = FilterSpecs::parse(&self.filters)?;
        let kind = self.kind_of(source, target, filters.asks_for_netcdf4())?;
        let create = CreateOptions::new()
            .kind(kind)
            .overwrite(true)
            .header_pad(Some(0))
            .default_chunks(DefaultChunks::NetcdfC);
        let mut options = CopyOptions::new()
            .create(create)
            .fix_unlimited(self.fix_unlimited)
            .alone((self.variables_alone && !self.variables.is_empty()) || self.groups_alone);
        // `-V` and `-G` leave definitions out; `-v` and `-g` leave out data only.
        if self.variables_alone {
            options.variables.clone_from(&self.variables);
        } else {
            options.data_of.clone_from(&self.variables);
        }
        if self.groups_alone {
            options.groups.clone_from(&self.groups);
        } else {
            options.data_of_groups.clone_from(&self.groups);
        }
        if !kind.is_classic() {
            options.prescribed = Some(self.prescribe(&model, &chunks, &filters)?);
        }
        Ok((options, filters.without_variable(&model)))
    }

    /// Refuses names of variables and groups that do not exist, with the words of the program.
    fn check_names(&self, model: &Model) -> Result<()> {
        let variables: Vec<String> = model.variables().iter().map(|var| model.variable_path(*var)).collect();
        let groups: Vec<String> = model.walk().iter().map(|group| model.group_path(*group)).collect();
        let missing = |names: &[String], paths: &[String]| {
            names.iter().find(|name| !paths.iter().any(|path| ends_with(path, name))).cloned()
        };
        let (name, member, word) = match missing(&self.variables, &variables) {
            Some(name) => (name, Member::Variable, "variable"),
            None => match missing(&self.groups, &groups) {
                Some(name) => (name, Member::Group, "group"),
                None => return Ok(()),
            },
        };
        Err(Error::not_found(format!("{name}: No such {word}")).with_detail(Detail::NoMember(member)))
    }

    /// The kind of the copy: by the mode of the target's URL, else as requested, else as the source and the options
    /// require.
    fn kind_of(&self, source: &Dataset, target: &str, needs_netcdf4: bool) -> Result<Kind> {
        if target.contains("://") || target.contains('#') {
            let by_url = CreateOptions::new().for_model(target, source.model()?.as_ref(), self.fix_unlimited);
            if let Ok(CreateOptions { kind: Some(kind), .. }) = by_url
                && (kind.is_zarr() || target.contains("mode="))
            {
                return Ok(kind);
            }
        }
        if let Some(kind) = CreateOptions::netcdf_c_kind(target).or(self.kind) {
            return Ok(kind);
        }
        if needs_netcdf4 {
            return Ok(Kind::Nc4);
        }
        let asks_for_storage =
            self.deflate.is_some_and(|level| level > 0) || self.shuffle || !self.chunks.is_empty();
        Ok(if is_classic(source) && asks_for_storage {
            Kind::Nc4Classic
        } else {
            single_file_kind(source).unwrap_or(Kind::Nc4)
        })
    }

    /// Storage and filters of all variables.
    fn prescribe(
        &self,
        model: &Model,
        chunks: &ChunkSpecs,
        specs: &FilterSpecs,
    ) -> Result<BTreeMap<ncirrus_model::VarId, PrescribedStorage>> {
        let mut all = BTreeMap::new();
        for var in model.variables() {
            let filters = specs.choose(model, var, self.deflate, self.shuffle);
            let min_bytes = self.min_chunk_bytes.unwrap_or(MIN_CHUNK_BYTES);
            let storage = chunks.storage(model, var, !filters.is_empty(), self.fix_unlimited, min_bytes)?;
            all.insert(var, PrescribedStorage { storage, filters });
        }
        Ok(all)
    }
}
