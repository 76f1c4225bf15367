//! Options that have no effect.
use super::chunking::names;
use super::{ChunkRule, CopyOptions, Filters, ShardRule};
use ncirrus::{CreateOptions, Error, Result, StringForm};
use ncirrus_layout::{Detail, Member};
use ncirrus_model::{Model, VarId};

/// Refuses rules about variables and dimensions that do not exist.
///
/// # Errors
/// `NotFound` with the name.
pub(super) fn check(options: &CopyOptions<'_>, model: &Model) -> Result<()> {
    for rule in &options.chunks {
        match rule {
            ChunkRule::Shape { variable, .. } | ChunkRule::Stored { variable, .. } => {
                check_variable(variable, model, "chunks")?;
            }
            ChunkRule::Dimensions(lengths) => {
                for (name, _) in lengths {
                    check_dimension(name, model, "chunks")?;
                }
            }
            ChunkRule::Irregular { dimension, .. } => check_dimension(dimension, model, "chunks")?,
            ChunkRule::Unchunk => {}
        }
    }
    for rule in &options.shards {
        match rule {
            ShardRule::Shape { variable, .. } | ShardRule::Without { variable } => {
                check_variable(variable, model, "shards")?;
            }
            ShardRule::Dimensions(lengths) => {
                for (name, _) in lengths {
                    check_dimension(name, model, "shards")?;
                }
            }
            ShardRule::Auto | ShardRule::Unshard => {}
        }
    }
    for name in options.filter_rules.iter().flat_map(super::FilterRule::names) {
        check_variable(name, model, "filters")?;
    }
    for name in options.quantize.iter().flat_map(super::QuantizeRule::names) {
        check_variable(name, model, "quantization")?;
    }
    Ok(())
}

fn check_variable(name: &str, model: &Model, what: &str) -> Result<()> {
    let is_there = model.variables().into_iter().any(|var: VarId| names(model, var, name));
    let missing = || {
        Error::not_found(format!("no variable {name:?}, for which there is a rule on {what}"))
            .with_detail(Detail::NoMember(Member::Variable))
    };
    if is_there { Ok(()) } else { Err(missing()) }
}

fn check_dimension(name: &str, model: &Model, what: &str) -> Result<()> {
    let groups = model.walk();
    let mut dims = groups.iter().filter_map(|group| model.group(*group)).flat_map(|group| &group.dims);
    let is_there = dims.any(|dim| model.dimension(*dim).is_some_and(|dimension| dimension.name == name));
    let missing = || {
        Error::not_found(format!("no dimension {name:?}, for which there is a rule on {what}"))
            .with_detail(Detail::NoMember(Member::Variable))
    };
    if is_there { Ok(()) } else { Err(missing()) }
}

/// Options that have no effect on a copy of this kind.
pub(super) fn without(options: &CopyOptions<'_>, create: &CreateOptions) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(kind) = create.kind else { return notes };
    let mut note = |is_so: bool, what: &str, why: &str| {
        if is_so {
            notes.push(format!("{what} no effect: {why}"));
        }
    };
    let none = "netCDF-3 has none";
    let has_filters = matches!(options.filters, Filters::Replace(_)) || !options.filter_rules.is_empty();
    note(kind.is_classic() && has_filters, "filters have", none);
    note(kind.is_classic() && !options.chunks.is_empty(), "chunk shapes have", none);
    note(!kind.is_zarr() && create.dialect.is_some(), "the dialect has", "it is one of NCZarr");
    note(!kind.is_hdf5() && create.align.is_some(), "the alignment has", "it is one of netCDF-4 files");
    note(
        !kind.is_zarr() && !create.consolidated,
        "leaving out consolidated metadata has",
        "only Zarr has them",
    );
    note(
        !kind.is_zarr() && create.strings != StringForm::Suited,
        "the form of strings has",
        "only Zarr has several",
    );
    note(
        !kind.is_zarr() && !create.array_dimensions,
        "leaving out _ARRAY_DIMENSIONS has",
        "only Zarr has it",
    );
    notes
}
