//! Reads that are part of other reads: how deep they are, and of which variables.
use crate::resources::SessionCounters;
use ncirrus_layout::{Error, Limits, ObjectId, Result};
use std::sync::Arc;

/// The reads that a read or a step is nested in.
#[derive(Clone, Default)]
pub(crate) struct ReadDepth {
    depth: u32,
    mosaics: Option<Arc<MosaicFrame>>,
    fragments: u32,
    tally: Option<Arc<SessionCounters>>,
}

/// A variable that is being assembled from others.
struct MosaicFrame {
    dataset: ObjectId,
    path: String,
    number: u32,
    outer: Option<Arc<MosaicFrame>>,
}

/// Maximum nesting depth of variables that are assembled from others.
const MOSAIC_DEPTH: u32 = 16;
/// Maximum nesting depth of aggregations of aggregations (docs/spec/cfa.md 5.2).
const FRAGMENT_DEPTH: u32 = 8;

impl ReadDepth {
    /// For a read whose requests are counted separately.
    pub(crate) fn counted(tally: &Arc<SessionCounters>) -> Self {
        Self { tally: Some(Arc::clone(tally)), ..Self::default() }
    }

    /// For an independent read whose requests are counted with those of this one.
    pub(crate) fn apart(&self) -> Self {
        Self { tally: self.tally.clone(), ..Self::default() }
    }

    /// Where requests are counted, in addition to the session's statistics.
    pub(crate) fn tally(&self) -> Option<Arc<SessionCounters>> {
        self.tally.clone()
    }

    /// For a read that is nested in this one.
    ///
    /// # Errors
    /// `Limit` if the nesting is too deep.
    pub(crate) fn deeper(&self, limits: &Limits) -> Result<Self> {
        let depth = self.depth.saturating_add(1);
        limits.depth(depth, "reading of variables by variables")?;
        Ok(Self { depth, ..self.clone() })
    }

    /// For a nested read of a fragment of an aggregated variable.
    ///
    /// # Errors
    /// `Limit` if the nesting is too deep.
    pub(crate) fn of_fragment(&self) -> Result<Self> {
        let fragments = self.fragments + 1;
        if fragments > FRAGMENT_DEPTH {
            let message = format!("aggregations of aggregations nest more than {FRAGMENT_DEPTH} deep");
            return Err(Error::limit(message));
        }
        Ok(Self { fragments, ..self.clone() })
    }

    /// Checks that a variable is not among those that are being assembled.
    ///
    /// # Errors
    /// `Malformed` if it is: it would be part of itself.
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

    /// For a nested read that assembles a variable.
    ///
    /// # Errors
    /// `Malformed` if the variable is part of itself, `Limit` if the nesting is too deep.
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
