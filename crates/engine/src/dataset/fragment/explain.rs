//! The plan of a read of fragments.
use super::{FragmentGroup, FragmentPart, FragmentSource, of_fragment};
use crate::dataset::mosaic::MosaicRead;
use crate::plan::{PlannedSource, ReadPlan};
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::Result;
use std::sync::{Arc, Mutex};

/// A variable, and the plans of reading parts of it.
type PlannedVariable = (PlannedSource, Vec<ReadPlan>);

/// Fragments that are examined; further ones are only counted.
const LOOKED_INTO: u64 = 64;

impl MosaicRead<'_> {
    /// Adds to a plan what reading parts will do.
    pub(in crate::dataset) async fn plan_fragments(
        &self,
        parts: Vec<FragmentPart>,
        plan: &mut ReadPlan,
    ) -> Result<()> {
        for (mut groups, is_far) in self.groups(parts)? {
            plan.fragments += groups.len() as u64;
            let room = LOOKED_INTO.saturating_sub(plan.fragments_counted);
            groups.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            plan.fragments_counted += groups.len() as u64;
            let plan = Mutex::new(&mut *plan);
            let look = |group: FragmentGroup| -> BoxFuture<'_, Result<Option<PlannedVariable>>> {
                Box::pin(self.plan_group(group))
            };
            self.for_all(groups, is_far, look, |found| {
                let mut plan = plan.guard();
                match found {
                    None => plan.missing += 1,
                    Some((source, parts)) => {
                        plan.list_source(source);
                        parts.into_iter().for_each(|part| plan.add(part));
                    }
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    async fn plan_group(&self, group: FragmentGroup) -> Result<Option<PlannedVariable>> {
        let Some(first) = group.parts.first().map(|part| Arc::clone(&part.fragment)) else { return Ok(None) };
        let of_first = |error| of_fragment(error, &first, None);
        let source = self.fragment_source(&group.places, &first).await.map_err(of_first)?;
        let Some(source) = source else { return Ok(None) };
        let mut plans = Vec::with_capacity(group.parts.len());
        for part in &group.parts {
            let plan = self.plan_source(&source, part).await;
            plans.push(plan.map_err(|error| of_fragment(error, &part.fragment, Some(&source)))?);
        }
        let path = source.dataset.definitions().variable_path(source.variable);
        Ok(Some((PlannedSource { dataset: source.dataset.root().clone(), path }, plans)))
    }

    async fn plan_source(&self, source: &FragmentSource, part: &FragmentPart) -> Result<ReadPlan> {
        let fit = source.fit(part.tile.clone(), &part.fragment)?;
        let (selection, _) = fit.selection(&part.piece)?;
        source
            .dataset
            .plan_deep(source.variable, &selection, self.reading.context.read_depth.of_fragment()?)
            .await
    }
}
