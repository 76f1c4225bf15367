//! The plan of a read that is assembled from others.
use super::source::{MosaicLeaf, MosaicPart};
use super::{MosaicBatch, MosaicRead, fragment};
use crate::plan::{PlannedSource, ReadPlan};
use ncirrus_layout::LockExt;
use ncirrus_layout::{Result, TileSource};
use ncirrus_model::Selection;
use std::collections::HashSet;
use std::sync::Mutex;

/// Tiles that are examined; further ones are only counted.
const COUNTED: u64 = 1 << 14;
/// Maximum number of sources that are listed.
const EXAMPLES: usize = 8;

impl MosaicRead<'_> {
    /// What reading a selection will do.
    pub(in crate::dataset) async fn plan(&self, selection: &Selection) -> Result<ReadPlan> {
        let mut plan = ReadPlan { chunks: Some(0), ..self.reading.describe(selection) };
        let (mut looked_at, mut sources) = (0, HashSet::new());
        for piece in self.pieces(selection) {
            let mut batch = MosaicBatch::default();
            for tile in self.tiles(&piece).await? {
                let Some(inside) = piece.within(&tile.region) else { continue };
                plan.tiles += 1;
                looked_at += 1;
                // All tiles are counted, but only the first ones are looked into: each may need requests.
                if looked_at > COUNTED {
                    continue;
                }
                match tile.source {
                    TileSource::Missing => plan.missing += 1,
                    TileSource::Constant(_) => plan.inline += 1,
                    TileSource::Fragment(fragment) => {
                        batch.fragments.push(fragment::FragmentPart {
                            piece: inside,
                            tile: tile.region,
                            fragment,
                        });
                    }
                    TileSource::Variable { variable, region } => {
                        sources.insert(variable.clone());
                        batch.add(inside, tile.region, region, variable)?;
                    }
                }
                if batch.is_full() {
                    self.plan_batch(std::mem::take(&mut batch), &mut plan).await?;
                }
            }
            self.plan_batch(batch, &mut plan).await?;
        }
        plan.sources = sources.len() as u64;
        plan.tiles_counted = plan.tiles.min(COUNTED);
        plan.counted = plan.chunks.unwrap_or(u64::MAX);
        Ok(plan)
    }

    async fn plan_batch(&self, mut batch: MosaicBatch, plan: &mut ReadPlan) -> Result<()> {
        self.plan_fragments(std::mem::take(&mut batch.fragments), plan).await?;
        let leaves = self.leaves(&batch).await?;
        plan.missing += batch
            .pieces
            .iter()
            .filter(|(.., variable)| leaves.get(variable).is_none_or(Option::is_none))
            .count() as u64;
        let plan = Mutex::new(plan);
        for wave in self.waves(batch, &leaves)? {
            self.for_all(
                wave,
                self.is_far(),
                |part| Box::pin(self.plan_part(part)),
                |(leaf, parts): (MosaicLeaf, Vec<ReadPlan>)| {
                    let mut plan = plan.guard();
                    plan.list_source(leaf.planned());
                    parts.into_iter().for_each(|part| plan.add(part));
                    Ok(())
                },
            )
            .await?;
        }
        Ok(())
    }

    async fn plan_part(&self, part: MosaicPart) -> Result<(MosaicLeaf, Vec<ReadPlan>)> {
        let MosaicPart { piece, place, leaf } = part;
        let selections = match place.selection(&piece) {
            Some(selection) => vec![selection],
            None => {
                let (first, end) = place.span(&piece);
                place.boxes(first, end).into_iter().map(Selection::from).collect()
            }
        };
        let mut plans = Vec::with_capacity(selections.len());
        for selection in &selections {
            let read_depth = self.reading.context.read_depth.clone();
            let plan = leaf.dataset.plan_deep(leaf.variable, selection, read_depth).await;
            plans.push(plan.map_err(|error| leaf.located(error))?);
        }
        Ok((leaf, plans))
    }
}

impl MosaicLeaf {
    fn planned(&self) -> PlannedSource {
        let path = self.dataset.model().variable_path(self.variable);
        PlannedSource { dataset: self.dataset.root().clone(), path }
    }
}

impl ReadPlan {
    /// Lists a source if it is among the first.
    pub(in crate::dataset) fn list_source(&mut self, source: PlannedSource) {
        if self.source_examples.len() < EXAMPLES && !self.source_examples.contains(&source) {
            self.source_examples.push(source);
        }
    }

    /// Adds the plan of another read.
    pub(in crate::dataset) fn add_read(&mut self, mut other: Self) {
        self.result_bytes = if self.layout.is_empty() {
            other.result_bytes
        } else {
            self.result_bytes.zip(other.result_bytes).map(|(one, other)| one.saturating_add(other))
        };
        let layout = std::mem::take(&mut other.layout);
        if self.layout.is_empty() {
            self.layout = layout;
        } else if !self.layout.split("; ").any(|known| known == layout) {
            self.layout = format!("{}; {layout}", self.layout);
        }
        other.codecs.retain(|codec| !self.codecs.contains(codec));
        self.codecs.append(&mut other.codecs);
        self.counted += other.counted;
        self.metadata_requests += other.metadata_requests;
        self.metadata_bytes += other.metadata_bytes;
        self.tiles += other.tiles;
        self.tiles_counted += other.tiles_counted;
        self.fragments += other.fragments;
        self.fragments_counted += other.fragments_counted;
        self.sources += other.sources;
        std::mem::take(&mut other.source_examples).into_iter().for_each(|source| self.list_source(source));
        self.add(other);
    }

    /// Adds the plan of a part.
    pub(in crate::dataset) fn add(&mut self, part: Self) {
        self.chunks = self.chunks.zip(part.chunks).and_then(|(one, other)| one.checked_add(other));
        self.missing += part.missing;
        self.inline += part.inline;
        self.requests += part.requests;
        self.bytes += part.bytes;
        self.whole_objects += part.whole_objects;
        self.decoded_bytes += part.decoded_bytes;
        self.needed_bytes += part.needed_bytes;
        self.references |= part.references;
        self.is_estimate |= part.is_estimate;
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(part.examples.into_iter().take(room));
    }
}
