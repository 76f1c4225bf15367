//! Reading single elements: each chunk that holds some is fetched and decoded once.
use super::Dataset;
use super::mosaic::MosaicRead;
use super::query::QueryRead;
use crate::bound_source::StorageLayout;
use crate::convert;
use crate::drive::ReadDepth;
use crate::picked::Picked;
use ncirrus_layout::Result;
use ncirrus_model::{PointSelection, Values, VarId};

impl Dataset {
    /// The values of single elements, in the order of the points. Each chunk that holds some of them is fetched and
    /// decoded once, however many they are; of chunks that are stored without codecs only the necessary bytes are read,
    /// neighbours together. The same holds for the sources of a variable that is assembled from others.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_points(&self, variable: VarId, points: &PointSelection) -> Result<Values> {
        let bound = self.bound(variable, &ReadDepth::default()).await?;
        let picked = Picked::Points(points);
        let reading = self.reading(variable, &bound, picked, ReadDepth::default(), self.default_missing())?;
        let values = match &bound.layout {
            StorageLayout::Mosaic(index) => MosaicRead::new(self, &reading, index).read_points(points).await,
            StorageLayout::Query(source, number) => {
                QueryRead::new(&reading, (source, *number)).read_points(points).await
            }
            _ => reading.read(picked).await,
        };
        self.note_filled(variable, &reading.into_report());
        values.map_err(|error| self.located(error, variable))
    }

    /// As [`read_points`](Self::read_points), into the caller's memory, as [`read_into`](Self::read_into) does.
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    pub async fn read_points_into(
        &self,
        variable: VarId,
        points: &PointSelection,
        out: &mut [u8],
    ) -> Result<()> {
        let bound = self.bound(variable, &ReadDepth::default()).await?;
        let picked = Picked::Points(points);
        let missing = self.default_missing();
        let reading = self.reading(variable, &bound, picked, ReadDepth::default(), missing)?.packed();
        let read = match (&bound.layout, reading.check_output(points.count(), out)) {
            (_, Err(error)) => Err(error),
            (StorageLayout::Mosaic(index), Ok(())) => {
                let values = MosaicRead::new(self, &reading, index).read_points(points).await;
                values.and_then(|values| convert::pack(&self.inner.model, bound.ty, &values, out))
            }
            (StorageLayout::Query(source, number), Ok(())) => {
                let values = QueryRead::new(&reading, (source, *number)).read_points(points).await;
                values.and_then(|values| convert::pack(&self.inner.model, bound.ty, &values, out))
            }
            _ => reading.read_into(picked, out).await,
        };
        self.note_filled(variable, &reading.into_report());
        read.map_err(|error| self.located(error, variable))
    }
}
