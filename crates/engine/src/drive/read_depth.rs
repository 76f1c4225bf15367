//! Reads that are part of other reads: how deep they are, and of which variables.
use crate::resources::SessionCounters;
use ncirrus_layout::{Error, Limits, ObjectId, Result};
use std::sync::Arc;

/// Of which reads a read or a step is part.
#[derive(Clone, Default)]
pub(crate) struct ReadDepth {
    depth: u32,
    mosaics: Option<Arc<MosaicFrame>>,
    fragments: u32,
    tally: Option<Arc<SessionCounters>>,
}

/// A variable that is being put together from others.
struct MosaicFrame {
    dataset: ObjectId,
    path: String,
    number: u32,
    outer: Option<Arc<MosaicFrame>>,
}

/// Variables put together from others may nest so deep.
const MOSAIC_DEPTH: u32 = 16;
/// Aggregations of aggregations may nest so deep (docs/spec/cfa.md 5.2).
const FRAGMENT_DEPTH: u32 = 8;

impl ReadDepth {
    /// Of a read whose requests are counted apart from those of others.
    pub(crate) fn counted(tally: &Arc<SessionCounters>) -> Self {
        Self { tally: Some(Arc::clone(tally)), ..Self::default() }
    }

    /// Of a read of its own, whose requests are counted with those of this one.
    pub(crate) fn apart(&self) -> Self {
        Self { tally: self.tally.clone(), ..Self::default() }
    }

    /// Where the requests are counted, besides the session's statistics.
    pub(crate) fn tally(&self) -> Option<Arc<SessionCounters>> {
        self.tally.clone()
    }

    /// Of a read that is part of this one.
    ///
    /// # Errors
    /// `Limit` when that is too deep.
    pub(crate) fn deeper(&self, limits: &Limits) -> Result<Self> {
        let depth = self.depth.saturating_add(1);
        limits.depth(depth, "reading of variables by variables")?;
        Ok(Self { depth, ..self.clone() })
    }

    /// Of a read, part of this one, of a fragment of an aggregated variable.
    ///
    /// # Errors
    /// `Limit` when that is too deep.
    pub(crate) fn of_fragment(&self) -> Result<Self> {
        let fragments = self.fragments + 1;
        if fragments > FRAGMENT_DEPTH {
            let message = format!("aggregations of aggregations nest more than {FRAGMENT_DEPTH} deep");
            return Err(Error::limit(message));
        }
        Ok(Self { fragments, ..self.clone() })
    }

    /// Checks that a variable is not one of those that are put together.
    ///
    /// # Errors
    /// `Malformed` when it is: it would be part of itself.
    pub(crate) fn check_new(&self, dataset: &ObjectId, path: &str) -> Result<()> {
        let mut outer = self.mosaics.as_deref();
        while let Some(mosaic) = outer {
            if mosaic.dataset == *dataset && mosaic.path == path {
                return Err(Error::malformed("a variable that is aggregated from itself"));
            }
            outer = mosaic.outer.as_deref();
        }
        Ok(())
    }

    /// Of a read, part of this one, that puts a variable together.
    ///
    /// # Errors
    /// `Malformed` when the variable is part of itself, `Limit` when that is too deep.
    pub(crate) fn of_mosaic(&self, dataset: &ObjectId, path: &str, limits: &Limits) -> Result<Self> {
        self.check_new(dataset, path)?;
        let number = self.mosaics.as_ref().map_or(1, |mosaic| mosaic.number + 1);
        if number > MOSAIC_DEPTH {
            let message = format!("aggregated variables nest more than {MOSAIC_DEPTH} deep");
            return Err(Error::limit(message));
        }
        let (dataset, path, outer) = (dataset.clone(), path.to_owned(), self.mosaics.clone());
        let mosaics = Some(Arc::new(MosaicFrame { dataset, path, number, outer }));
        Ok(Self { mosaics, ..self.deeper(limits)? })
    }
}
