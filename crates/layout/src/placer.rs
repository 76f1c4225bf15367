//! Where written bytes go, and in which order they become true.
use crate::{CellList, ChunkGrid, ChunkRef, EdgeChunks, ObjectId, Resolver, Result, Step, StoredType, View};
use bytes::Bytes;
use ncirrus_model::{CodecSpace, CodecSpec, Model, Values, VarId};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A format that can be written, with its choices made.
pub trait Writing: Debug + Send + Sync {
    /// Starts a new dataset at `root`; nothing is put yet.
    ///
    /// # Errors
    /// When the choices contradict each other.
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>>;

    /// Starts changing the dataset at `root`, whose present state is `model`.
    ///
    /// # Errors
    /// A need, or why the dataset cannot be changed.
    fn update(&self, view: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>>;

    /// Whether the format is one object (a file) rather than a tree of them.
    fn is_single_object(&self) -> bool;
}

/// Says where the bytes of a dataset that is being written go. Pure: the engine does the staging, encoding and putting.
pub trait Placer: Debug + Send {
    /// What the format can do.
    fn abilities(&self) -> Abilities;

    /// Accepts definitions: called after every change of the model, before data of new members are placed. Filters are
    /// in the placer's own codec space. What is put now is not yet true. Encodings may differ afterwards: cells that are
    /// staged by the earlier ones are placed before.
    ///
    /// # Errors
    /// A need; `Unsupported` or `Invalid` naming the first member that the format cannot hold.
    fn define(&mut self, view: &dyn View, model: &Model) -> Step<Vec<StorePut>>;

    /// How elements of a variable are cut, stored and encoded, after `define`.
    ///
    /// # Errors
    /// When the variable is not defined.
    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>>;

    /// Whether cells of a variable that were never written must be stored as fill at commit. By default where cells are
    /// not [`sparse`](Abilities::sparse).
    fn needs_fill(&self, _var: VarId) -> bool {
        !self.abilities().sparse
    }

    /// Follows the references that [`intern`](Self::intern) gave, those of the committed state too. Without one they
    /// cannot be read back before the commit, nor cells that hold them be completed.
    fn resolver(&self, _var: VarId) -> Option<Arc<dyn Resolver>> {
        None
    }

    /// Where cells are now: placed, else committed, else absent. Read-your-writes and read-modify-write use it. A
    /// clipped cell that was placed when the array was shorter along its first axis is a range with only the rows that
    /// it had then; the rest of it is fill.
    ///
    /// # Errors
    /// A need, or damage.
    fn locate(&self, view: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>>;

    /// Reads what placing the work will need to know; reads only, so it may be re-run.
    ///
    /// # Errors
    /// A need, or damage.
    fn prepare(&self, view: &dyn View, work: &[PlacerWork]) -> Step<PreparedPlacement>;

    /// Stores variable-length values outside the chunk: returns the references that stand in it. Only for
    /// [`StoredType::Reference`] encodings.
    ///
    /// # Errors
    /// When the values cannot be stored.
    fn intern(&mut self, var: VarId, values: &Values) -> Result<(Bytes, Vec<StorePut>)>;

    /// Places one encoded cell; `mask` bit i: codec i was skipped.
    ///
    /// # Errors
    /// When there is no room, or the cell is outside.
    fn place(
        &mut self,
        prepared: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>>;

    /// As [`place`](Self::place), where all that it makes of a cell is one object with the cell's bytes and nothing else:
    /// tells that object, and whoever has the bytes puts them without handing them over. `None`, and nothing has happened,
    /// in formats where more is to be done.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    fn place_whole(
        &mut self,
        _prepared: &PreparedPlacement,
        _var: VarId,
        _cell: &[u64],
        _mask: u32,
    ) -> Result<Option<ObjectId>> {
        Ok(None)
    }

    /// Ordered phases that make everything true; a barrier stands between phases, the last one decides.
    ///
    /// # Errors
    /// A need, or why the model cannot be written.
    fn plan_commit(&mut self, view: &dyn View, model: &Model) -> Step<Vec<PutPhase>>;

    /// Called when all phases are done: what was planned is now the committed state.
    fn committed(&mut self);

    /// The document of the committed state that every commit puts last, or that stands for all of them: where writers
    /// that share a dataset meet. None while nothing is committed.
    fn commit_object(&self) -> Option<ObjectId> {
        None
    }

    /// All documents of the committed state: what a commit may replace.
    fn documents(&self) -> Vec<ObjectId> {
        Vec::new()
    }
}

/// What a format can do while it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Definitions may change after data were written.
    pub redefine: bool,
    /// Which description of filters the format stores; `None` when it stores none.
    pub codecs: Option<CodecSpace>,
    /// Cells that were never written read as fill without being stored (Zarr); otherwise the engine writes fill into
    /// every cell at commit unless the variable has no fill (classic).
    pub sparse: bool,
    /// Whether an object is written at offsets (a file) rather than whole.
    pub patches: bool,
}

/// How elements of a variable are cut, stored and encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    /// How the array is cut into cells.
    pub grid: ChunkGrid,
    /// Whether cells at the edge are stored whole.
    pub edge: EdgeChunks,
    /// What one stored element is.
    pub stored: StoredType,
    /// Codecs in the order of encoding.
    pub codecs: Arc<[CodecSpec]>,
    /// What fills the cell's other elements: one value of the variable's type.
    pub fill: Values,
}

/// Cells of a variable that are about to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacerWork {
    /// The variable.
    pub var: VarId,
    /// The cells.
    pub cells: CellList,
}

/// What a placer learnt in `prepare`; opaque to the engine.
pub struct PreparedPlacement(pub Box<dyn Any + Send + Sync>);

impl PreparedPlacement {
    /// Nothing was needed.
    pub fn nothing() -> Self {
        Self(Box::new(()))
    }
}

impl Debug for PreparedPlacement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prepared")
    }
}

/// One change of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePut {
    /// A whole object, replaced at once.
    Object {
        /// The object.
        object: ObjectId,
        /// Its new bytes.
        body: Bytes,
    },
    /// Bytes at an offset of an object; the object grows as needed.
    Patch {
        /// The object.
        object: ObjectId,
        /// Where.
        offset: u64,
        /// The bytes.
        body: Bytes,
    },
    /// Sets an object's length: cut, or extended by zeros.
    Resize {
        /// The object.
        object: ObjectId,
        /// New length in bytes.
        len: u64,
    },
    /// Moves bytes inside an object (they may overlap).
    Move {
        /// The object.
        object: ObjectId,
        /// First byte to move.
        from: u64,
        /// Where it goes.
        to: u64,
        /// How many bytes.
        len: u64,
    },
    /// Removes an object; absent is fine.
    Delete {
        /// The object.
        object: ObjectId,
    },
    /// Removes everything below a prefix.
    DeleteTree {
        /// The prefix.
        prefix: ObjectId,
    },
    /// Copies everything below a prefix (renaming groups and variables: the old tree is removed only when the new
    /// name is true). No object below `to` exists before.
    CopyTree {
        /// The prefix that stays.
        from: ObjectId,
        /// The prefix of the copy.
        to: ObjectId,
    },
    /// Moves everything below a prefix. Stores without rename copy, then delete.
    RenameTree {
        /// The prefix as it is.
        from: ObjectId,
        /// The prefix as it will be.
        to: ObjectId,
    },
}

/// Changes that may happen in any order; the next phase starts when all are durable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PutPhase {
    /// What is put.
    pub puts: Vec<StorePut>,
    /// Whether the whole object is rewritten under a temporary name and renamed (classic data that must move). The puts
    /// of such a phase are carried out in order, on a copy of the object.
    pub rewrite: bool,
}
