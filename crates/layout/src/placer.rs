//! Where written bytes go, and in which order they become visible.
use crate::{
    CellList, ChunkGrid, ChunkRef, EdgeChunks, Error, ObjectId, Resolver, Result, Sharding, Step, StoredType,
    View,
};
use bytes::Bytes;
use ncirrus_model::{Changes, CodecSpace, CodecSpec, Model, Values, VarId};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A writable format, with its options.
pub trait Writing: Debug + Send + Sync {
    /// Starts a new dataset at `root`; nothing is put yet.
    ///
    /// # Errors
    /// If the options contradict each other.
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>>;

    /// Starts changing the dataset at `root`, whose current state is `model`.
    ///
    /// # Errors
    /// A need, or why the dataset cannot be changed.
    fn update(&self, view: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>>;

    /// Whether the format is one object (a file) rather than a tree of them.
    fn is_single_object(&self) -> bool;
}

/// Decides where the bytes of a dataset being written go. Pure: the engine does the staging, encoding and putting.
pub trait Placer: Debug + Send {
    /// What the format can do.
    fn abilities(&self) -> Abilities;

    /// Accepts definitions: called after every change of the model, before data of new members are placed. Filters
    /// are in the placer's own codec space. Puts at this point are not yet visible. Encodings may change: chunks that
    /// are staged with the earlier ones are placed before. `changes` is all that differs from the model that was accepted
    /// last, so that the work can be in proportion to it; `None` if that is not known. After an error they are not known.
    /// Definitions take effect all at once, when this returns its puts: after a need or an error the placer is as before.
    ///
    /// # Errors
    /// A need; `Unsupported` or `Invalid` naming the first member that the format cannot represent.
    fn define(&mut self, view: &dyn View, model: &Model, changes: Option<&Changes>) -> Step<Vec<StorePut>>;

    /// How elements of a variable are chunked, stored and encoded, after `define`.
    ///
    /// # Errors
    /// If the variable is not defined.
    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>>;

    /// How elements of a variable of `model` will be chunked, stored and encoded if that model is defined: what its filters
    /// have to be completed with before. Nothing is defined by this. Only for formats with codecs.
    ///
    /// # Errors
    /// Why the format cannot store the variable.
    fn encoding_in(&self, _model: &Model, _var: VarId) -> Result<Arc<Encoding>> {
        Err(Error::internal("filters of a format that has none"))
    }

    /// Replaces the grid of a variable whose chunks have different lengths by one that has more of them. By default an error:
    /// the chunks of most formats are alike.
    ///
    /// # Errors
    /// If the variable is not defined, or its chunks are alike.
    fn extend_grid(&mut self, _var: VarId, _grid: ChunkGrid) -> Result<()> {
        Err(Error::internal("more chunks of different lengths in a format that has none"))
    }

    /// Replaces the shards of a variable, which differ in size, by more of them. By default an error: most formats have none.
    ///
    /// # Errors
    /// If the variable is not defined.
    fn extend_shards(&mut self, _var: VarId, _shards: Arc<dyn Sharding>) -> Result<()> {
        Err(Error::internal("more shards in a format that has none"))
    }

    /// Whether chunks of a variable that were never written must be stored as fill at commit. By default if chunks
    /// are not [`sparse`](Abilities::sparse).
    fn needs_fill(&self, _var: VarId) -> bool {
        !self.abilities().sparse
    }

    /// Whether all chunks of a variable of that shape are known to be stored, without a look at each of them. By default that is not
    /// known.
    fn has_all(&self, _var: VarId, _shape: &[u64]) -> bool {
        false
    }

    /// Resolves the references that [`intern`](Self::intern) returned, and those of the committed state. Without a
    /// resolver they cannot be read back before the commit, and chunks that hold them cannot be completed.
    fn resolver(&self, _var: VarId) -> Option<Arc<dyn Resolver>> {
        None
    }

    /// Where chunks are now: placed, else committed, else absent. Read-your-writes and read-modify-write use it. A
    /// clipped chunk that was placed when the array was shorter along its first axis is a range with only the rows
    /// that it had then; the rest of it is fill.
    ///
    /// # Errors
    /// A need, or damage.
    fn locate(&self, view: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>>;

    /// Reads what is needed for placing the given chunks; reads only, so it may be re-run.
    ///
    /// # Errors
    /// A need, or damage.
    fn prepare(&self, view: &dyn View, work: &[PlacerWork]) -> Step<PreparedPlacement>;

    /// Stores variable-length values outside the chunk: returns the references to store in it. Only for
    /// [`StoredType::Reference`] encodings.
    ///
    /// # Errors
    /// If the values cannot be stored.
    fn intern(&mut self, var: VarId, values: &Values) -> Result<(Bytes, Vec<StorePut>)>;

    /// Places one encoded chunk; `mask` bit i: codec i was skipped.
    ///
    /// # Errors
    /// If there is no room, or the chunk is outside.
    fn place(
        &mut self,
        prepared: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>>;

    /// Places `count` encoded chunks that follow each other along the first axis, beginning with `cell`, if the format stores them
    /// at equal distances in one object: `body` has them one after the other, all of one length. Nothing is prepared for them.
    /// `None`, without any effect, in formats where more is to be done; by default always.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    fn place_rows(
        &mut self,
        _var: VarId,
        _cell: &[u64],
        _count: u64,
        _body: Vec<u8>,
    ) -> Result<Option<PatchRows>> {
        Ok(None)
    }

    /// As [`place`](Self::place), if the result is just one object with the chunk's bytes: returns that object, and
    /// the caller puts the bytes without handing them over. `None`, without any effect, in formats where more is to
    /// be done.
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

    /// How the chunks of a variable share objects, after [`define`](Self::define). If they do,
    /// [`place_whole`](Self::place_whole) returns the object of the chunk's shard, in which the caller stores the chunk, and
    /// [`locate`](Self::locate) that object for chunks that may be in it. By default they do not.
    fn sharding(&self, _var: VarId) -> Option<Arc<dyn Sharding>> {
        None
    }

    /// The object that a cell is, in formats where each is one of its own, whatever is there. By default none.
    fn object_of(&self, _var: VarId, _cell: &[u64]) -> Option<ObjectId> {
        None
    }

    /// The object of a shard, whose index along each axis is given; none if there is no [`sharding`](Self::sharding).
    fn shard_object(&self, _var: VarId, _shard: &[u64]) -> Option<ObjectId> {
        None
    }

    /// Ordered phases that make everything visible; there is a barrier between phases, and the last one decides.
    ///
    /// # Errors
    /// A need, or why the model cannot be written.
    fn plan_commit(&mut self, view: &dyn View, model: &Model) -> Step<Vec<PutPhase>>;

    /// Called when all phases are done: the planned state is now the committed state.
    fn committed(&mut self);

    /// The document of the committed state that every commit puts last, or that represents all of them: by which
    /// concurrent writers of a dataset exclude each other. `None` while nothing is committed.
    fn commit_object(&self) -> Option<ObjectId> {
        None
    }

    /// All documents of the committed state: what a commit may replace.
    fn documents(&self) -> Vec<ObjectId> {
        Vec::new()
    }
}

/// What a format supports while it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Definitions may change after data were written.
    pub redefine: bool,
    /// Which description of filters the format stores; `None` if it stores none.
    pub codecs: Option<CodecSpace>,
    /// Chunks that were never written read as fill without being stored (Zarr); otherwise the engine writes fill into
    /// every chunk at commit unless the variable has no fill (classic).
    pub sparse: bool,
    /// Whether several chunks can share an object (shards of Zarr v3).
    pub shards: bool,
    /// Whether an object is written at offsets (a file) rather than whole.
    pub patches: bool,
    /// Whether fixed dimensions of variables that have data may become unlimited (Zarr).
    pub unlimits: bool,
    /// Whether it is stored which dimensions are unlimited (not in plain Zarr).
    pub keeps_unlimited: bool,
    /// How fill values are stored.
    pub fills: FillStorage,
}

/// How a format stores the fill value of a variable. A change of the attribute `_FillValue` changes the fill value or not
/// according to this (docs/design/021-fill.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillStorage {
    /// As the attribute `_FillValue` only: elements that are filled later have its value of then (classic).
    Attribute,
    /// With the storage of the variable, which is settled when there are data (Zarr).
    Variable,
    /// With the storage of the variable, where an update can change it; it outlives the attribute (HDF5).
    Lasting,
}

/// Whether elements of a variable may have been filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilledElements {
    /// The variable is new and has no data.
    No,
    /// The variable is new and has data.
    New,
    /// The variable existed when the dataset was opened for update.
    Existing,
}

impl FillStorage {
    /// Whether the fill value of a variable stays as it is when its attribute `_FillValue` changes or, if `is_removed`, is one
    /// no more.
    pub fn is_settled(self, filled: FilledElements, is_removed: bool) -> bool {
        match self {
            Self::Attribute => false,
            Self::Variable => filled != FilledElements::No,
            Self::Lasting => filled == FilledElements::New || is_removed,
        }
    }
}

/// How elements of a variable are chunked, stored and encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    /// How the array is divided into chunks.
    pub grid: ChunkGrid,
    /// Whether edge chunks are stored whole.
    pub edge: EdgeChunks,
    /// The stored element type.
    pub stored: StoredType,
    /// Codecs in the order of encoding.
    pub codecs: Arc<[CodecSpec]>,
    /// The value of the chunk's other elements: one value of the variable's type.
    pub fill: Values,
}

/// Chunks of a variable that are about to be placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacerWork {
    /// The variable.
    pub var: VarId,
    /// The chunks.
    pub cells: CellList,
}

/// The result of `prepare`; opaque to the engine.
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
    /// A whole object, replaced atomically.
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
    /// Sets an object's length: truncated, or extended with zeros.
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
        /// Their new position.
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
    /// name is committed). No object below `to` exists before.
    CopyTree {
        /// The prefix that stays.
        from: ObjectId,
        /// The prefix of the copy.
        to: ObjectId,
    },
    /// Moves everything below a prefix. Stores without rename copy, then delete.
    RenameTree {
        /// The current prefix.
        from: ObjectId,
        /// The new prefix.
        to: ObjectId,
    },
}

/// Rows of bytes at equal distances in an object, such as those of a variable in records that it shares with others. The object
/// grows as needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchRows {
    /// The object.
    pub object: ObjectId,
    /// Where the first row begins.
    pub offset: u64,
    /// Bytes from the beginning of a row to that of the next; at least the length of a row.
    pub stride: u64,
    /// Bytes of a row; not 0.
    pub row: usize,
    /// All rows, one after the other.
    pub bytes: Vec<u8>,
}

/// Changes that may happen in any order; the next phase starts when all are durable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PutPhase {
    /// What is put.
    pub puts: Vec<StorePut>,
    /// How they are put.
    pub form: PhaseForm,
}

/// How the changes of a phase are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PhaseForm {
    /// One by one.
    #[default]
    Separate,
    /// In order, and where they are near each other in one object with one write: readers are to see all or none.
    Together,
    /// In order, on a copy of the only object, which is renamed over it (classic data that must move).
    Rewritten,
}
