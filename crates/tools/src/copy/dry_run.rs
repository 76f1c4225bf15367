//! The cost of a copy, without making it.
use super::blueprint::CopyBlueprint;
use super::settle::settle;
use super::{CopyOptions, drop_filters, effect, fill_values, names, older_readers, reserved, strings};
use ncirrus::internals::{DatasetInternals, SessionInternals, StringLengths, resolve};
use ncirrus::{Dataset, LeftOut, Result, Session};
use ncirrus_engine::CopyPlan;
use ncirrus_store::{MemoryStore, check_apart};
use std::fmt;

/// The cost of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CopyPlans {
    /// One plan per variable, in the order in which they are copied.
    pub variables: Vec<CopyPlan>,
    /// Members that cannot be read from the source, as a copy reports them.
    pub left_out: Vec<LeftOut>,
    /// Filters that are left out and names that are shortened, on request.
    pub losses: Vec<String>,
    /// Differences from the source, and options without effect, as a copy reports them.
    pub notes: Vec<String>,
}

/// The cost of [`copy`](super::copy) with the same arguments. Nothing is written, and no data are read.
///
/// # Errors
/// As [`copy`](super::copy), as far as it can be known before; the target is not accessed.
pub fn plan_copy(
    source: &Dataset,
    target: &str,
    options: &CopyOptions<'_>,
    session: &Session,
) -> Result<CopyPlans> {
    let create = options
        .create
        .clone()
        .for_model(target, source.model()?.as_ref(), options.fix_unlimited)?
        .for_address(target, session)?;
    check_apart(
        source.url(),
        target,
        resolve(&create, target, &StringLengths::default(), session.settings())?.shape(),
        session.store_context(),
    )?;
    let CopyBlueprint { mut model, pairs, mut left_out } =
        CopyBlueprint::draw(source, options, &[], &create)?;
    left_out.extend(fill_values::fit(&mut model, &create));
    let mut losses = Vec::new();
    reserved::fit(&mut model, &create, options.rename_reserved, &mut losses)?;
    names::fit(&mut model, &create, options.long_names, &mut losses)?;
    let (lengths, reported) = strings::guess(&model, &pairs, &create);
    let resolved = resolve(&create, target, &lengths, session.settings())?;
    // The format lays out the copy in memory, without data.
    let memory = MemoryStore::new("memory://plan");
    let (writing, engine) = (resolved.writing(), session.engine());
    let writer = engine.wait(engine.create(memory.shared(), memory.root().child("copy"), writing))?;
    if options.drops_filters() {
        drop_filters(&writer, &mut model, &mut losses)?;
    }
    engine.wait(writer.edit(|empty| {
        *empty = model;
        Ok(())
    }))?;
    let mut notes = effect::without(options, &create);
    notes.extend(reported);
    notes.extend(settle(source, &writer, &pairs, options, session)?);
    notes.extend(older_readers::misread(&writer.model(), &create));
    notes.extend(older_readers::unread(&writer.model(), &create));
    let mut plans = CopyPlans { variables: Vec::new(), left_out, losses, notes };
    for pair in &pairs {
        let (from, to) = ((source.reader()?, pair.var), (&writer, pair.var));
        let planning = ncirrus_engine::plan_copy(from, &pair.selection, to, pair.treatment);
        plans.variables.push(engine.wait(planning).map_err(|error| error.at_path(&*pair.path))?);
    }
    Ok(plans)
}

impl CopyPlans {
    /// All plans as one.
    pub fn total(&self) -> CopyPlan {
        CopyPlan::total(&self.variables)
    }
}

impl fmt::Display for CopyPlans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variables.iter().try_for_each(|plan| write!(f, "{plan}"))?;
        write!(f, "{}", self.total())
    }
}
