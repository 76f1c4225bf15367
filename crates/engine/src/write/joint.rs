//! Chunks that other processes put into the dataset that is being written (`docs/design/013-joint-writing.md`).
use super::DatasetWriter;
use super::target::WriteTarget;
use ncirrus_layout::{CellList, Error, PlacerWork, Result, Sharding};
use ncirrus_model::{Shards, VarId};

/// The first of the numbers that stand for coordinates while the form of a key is found out: no separator and no name looks
/// like it.
const FIRST: u64 = 9_100_000_000_000_000_001;

/// How the objects of a variable are called, and what each contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyForm {
    /// A key relative to the dataset, in which `{0}`, `{1}`, ... stand for the coordinates of the chunk or shard.
    pub form: String,
    /// The shards, if the chunks share objects.
    pub shards: Option<Shards>,
}

impl DatasetWriter {
    /// How keys of a variable's chunks are made, or of the shards that contain them.
    ///
    /// # Errors
    /// `Unsupported` for formats whose chunks are not in objects that several processes could put.
    pub async fn key_form(&self, var: VarId) -> Result<KeyForm> {
        let target = self.target_of(var).await?;
        let grid = &target.encoding.grid;
        let lacks = || {
            let message = "chunks of this format are not objects that several processes could put";
            Error::unsupported(message).at_path(target.path.clone())
        };
        let cell: Vec<u64> = (FIRST..).take(grid.rank()).collect();
        let object = match &target.sharding {
            Some(_) => self.placer.guard().shard_object(var, &cell),
            None => self.placer.guard().object_of(var, &cell),
        };
        let object = object.ok_or_else(lacks)?;
        if target.sharding.as_ref().is_some_and(|sharding| sharding.per_shard().is_none()) {
            let message = "a ticket for shards of different sizes; write them as regions of the dataset";
            return Err(Error::unsupported(message).at_path(target.path.clone()));
        }
        let shards = target.sharding.as_ref().and_then(|sharding| {
            let shape = target.shard_shape(&grid.cell_shape(&vec![0; grid.rank()])?)?;
            Some(Shards { shape, index_first: sharding.is_index_first() })
        });
        let root = self.conflicts.root();
        let key = object.key().strip_prefix(root.key()).unwrap_or(object.key()).trim_start_matches('/');
        let mut form = key.to_owned();
        for (axis, number) in cell.iter().enumerate() {
            form = form.replace(&number.to_string(), &format!("{{{axis}}}"));
        }
        Ok(KeyForm { form, shards })
    }

    /// Takes over chunks of a new dataset that others have put under their keys. Of a variable with shards, `cells` are
    /// those of shards that were written whole.
    ///
    /// # Errors
    /// `Invalid` naming a chunk that is none of the variable; `Unsupported` for formats whose chunks are not objects of
    /// their own.
    pub async fn adopt_chunks(&self, var: VarId, cells: &[Vec<u64>]) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        self.define(&commit).await?;
        let (target, model) = self.target(var)?;
        let array = model.shape(var);
        let cells = match &target.sharding {
            Some(sharding) => cells_of(&target, sharding.as_ref(), &array, cells)?,
            None => cells.to_vec(),
        };
        let mut list = CellList::new(target.encoding.grid.rank());
        for cell in &cells {
            if cell.len() != list.rank() || target.encoding.grid.clipped_region(cell, &array).is_none() {
                return Err(target.located(Error::invalid("there is no such chunk"), cell));
            }
            list.push(cell);
        }
        let work = [PlacerWork { var, cells: list }];
        let prepared = self.placer.drive(|view, placer| placer.prepare(view, &work)).await?;
        self.definitions().mark_written(var);
        for cell in &cells {
            let placed = self.placer.guard().place_whole(&prepared, var, cell, 0);
            let object = placed.map_err(|error| target.located(error, cell))?;
            let lacks = || Error::unsupported("chunks of this format are not objects of their own");
            self.placer.forget_object(&object.ok_or_else(|| target.located(lacks(), cell))?);
        }
        Ok(())
    }
}

/// The chunks of these shards that are inside of the array.
fn cells_of(
    target: &WriteTarget,
    sharding: &dyn Sharding,
    array: &[u64],
    shards: &[Vec<u64>],
) -> Result<Vec<Vec<u64>>> {
    let mut cells = Vec::new();
    for shard in shards {
        let before = cells.len();
        let inside = |cell: &Vec<u64>| target.encoding.grid.clipped_region(cell, array).is_some();
        cells.extend(sharding.cells_of(shard).filter(inside));
        if cells.len() == before {
            return Err(target.located(Error::invalid("the array has no such shard"), shard));
        }
    }
    Ok(cells)
}
