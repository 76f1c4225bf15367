//! Single elements of fragments.
use super::{FragmentGroup, FragmentPart, FragmentSource, of_fragment};
use crate::dataset::mosaic::MosaicRead;
use crate::dataset::mosaic::points::{PointValues, SourcePoints};
use crate::picked::Picked;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_model::{PointSelection, Values};
use std::sync::{Arc, Mutex};

impl MosaicRead<'_> {
    /// Reads points of fragments, all of one variable of one dataset together; those whose datasets are not there stay as
    /// they are. What is given back are points that cannot be read by themselves, for their values become others together.
    pub(in crate::dataset) async fn read_fragment_points(
        &self,
        parts: Vec<FragmentPart<Vec<usize>>>,
        points: &PointSelection,
        values: &Mutex<PointValues>,
    ) -> Result<Vec<usize>> {
        let unread = Mutex::new(Vec::new());
        for (groups, is_far) in self.groups(parts)? {
            let read = |group| -> BoxFuture<'_, Result<()>> {
                Box::pin(self.read_point_group(group, points, values, &unread))
            };
            self.for_all(groups, is_far, read, |()| Ok(())).await?;
        }
        Ok(std::mem::take(&mut *unread.guard()))
    }

    async fn read_point_group(
        &self,
        group: FragmentGroup<Vec<usize>>,
        points: &PointSelection,
        values: &Mutex<PointValues>,
        unread: &Mutex<Vec<usize>>,
    ) -> Result<()> {
        let FragmentGroup { places, parts } = group;
        let Some(first) = parts.first().map(|part| Arc::clone(&part.fragment)) else { return Ok(()) };
        let source = self.fragment_source(&places, &first).await;
        let Some(source) = source.map_err(|error| of_fragment(error, &first, None))? else {
            return parts.iter().try_for_each(|part| self.note_absent_fragment(&part.fragment));
        };
        let mut wanted = SourcePoints::default();
        for FragmentPart { piece, tile, fragment } in parts {
            let fit = source.fit(tile, &fragment);
            let lists = fit.and_then(|fit| fit.points(points, &piece));
            match lists.map_err(|error| of_fragment(error, &fragment, Some(&source)))? {
                Some(lists) => wanted.add(lists, &piece),
                None => unread.guard().extend(piece),
            }
        }
        if wanted.points.is_empty() {
            return Ok(());
        }
        let read = self.read_source_points(&source, &mut wanted).await.map_err(|error: Error| {
            // The next read opens the changed dataset again.
            if error.kind() == ErrorKind::Changed {
                self.dataset.forget_fragment(&places);
            }
            of_fragment(error, &first, Some(&source))
        })?;
        values.guard().put(&wanted.points, &read)
    }

    async fn read_source_points(&self, source: &FragmentSource, wanted: &mut SourcePoints) -> Result<Values> {
        let selection = wanted.selection()?;
        let read_depth = self.reading.context.read_depth.of_fragment()?;
        let picked = Picked::Points(&selection);
        let read = source.dataset.read_deep(source.variable, picked, self.reading.missing, read_depth);
        let (values, report) = read.await?;
        self.reading.take_report(report);
        self.finished(values, source)
    }
}
