//! Chunks that other processes put into the dataset that is being written (`docs/design/013-joint-writing.md`).
use super::DatasetWriter;
use ncirrus_layout::{CellList, Error, PlacerWork, Result};
use ncirrus_model::VarId;

/// The first of the numbers that stand for coordinates while the form of a key is found out: no separator and no name looks
/// like it.
const FIRST: u64 = 9_100_000_000_000_000_001;

impl DatasetWriter {
    /// How keys of a variable's chunks are made, relative to the dataset: `{0}`, `{1}`, ... stand for the coordinates.
    ///
    /// # Errors
    /// `Unsupported` for formats whose chunks are not objects of their own.
    pub async fn key_form(&self, var: VarId) -> Result<String> {
        let target = self.target_of(var).await?;
        let rank = target.encoding.grid.rank();
        let lacks = || {
            let message = match &target.sharding {
                Some(_) => "chunks of shards are put by the process that writes the dataset",
                None => "chunks of this format are not objects that several processes could put",
            };
            Error::unsupported(message).at_path(target.path.clone())
        };
        let cell: Vec<u64> = (FIRST..).take(rank).collect();
        let object = self.placer.guard().object_of(var, &cell).ok_or_else(lacks)?;
        let root = self.conflicts.root();
        let key = object.key().strip_prefix(root.key()).unwrap_or(object.key()).trim_start_matches('/');
        let mut form = key.to_owned();
        for (axis, number) in cell.iter().enumerate() {
            form = form.replace(&number.to_string(), &format!("{{{axis}}}"));
        }
        Ok(form)
    }

    /// Takes over chunks of a new dataset that others have put under their keys.
    ///
    /// # Errors
    /// `Invalid` naming a chunk that is none of the variable; `Unsupported` for formats whose chunks are not objects of
    /// their own.
    pub async fn adopt_chunks(&self, var: VarId, cells: &[Vec<u64>]) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        self.define(&commit).await?;
        let (target, model) = self.target(var)?;
        if target.sharding.is_some() {
            let message = "chunks of shards are put by the process that writes the dataset";
            return Err(Error::unsupported(message).at_path(target.path.clone()));
        }
        let array = model.shape(var);
        let mut list = CellList::new(target.encoding.grid.rank());
        for cell in cells {
            if cell.len() != list.rank() || target.encoding.grid.clipped_region(cell, &array).is_none() {
                return Err(target.located(Error::invalid("there is no such chunk"), cell));
            }
            list.push(cell);
        }
        let work = [PlacerWork { var, cells: list }];
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        self.definitions().mark_written(var);
        for cell in cells {
            let placed = self.placer.guard().place_whole(&prepared, var, cell, 0);
            let object = placed.map_err(|error| target.located(error, cell))?;
            let lacks = || Error::unsupported("chunks of this format are not objects of their own");
            self.placer.forget_object(&object.ok_or_else(|| target.located(lacks(), cell))?);
        }
        Ok(())
    }
}
