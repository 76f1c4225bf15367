//! How to obtain a box of elements.
use crate::{
    ChunkGrid, ChunkIndex, EdgeChunks, Fragment, ObjectId, QuerySource, Step, StoredType, VariableRef, View,
};
use ncirrus_model::{CodecSpec, Region, Values};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Where a variable's values come from, and their stored element type.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where the elements are stored.
    pub layout: Layout,
    /// The stored element type.
    pub stored: StoredType,
    /// Stored shape; it may be smaller than the variable (the rest is fill) or larger (the rest is hidden).
    pub extent: Vec<u64>,
    /// The value of elements never written: one value of the variable's type.
    pub fill: Values,
    /// Resolves references to variable-length data.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// Treat elements that equal the byte-swapped fill value as fill: some writers store the fill of partly written
    /// chunks in the machine's byte order, whatever the declared one (docs/spec/nczarr.md 4.4).
    pub swapped_fill: bool,
}

/// The ways to obtain a box of elements.
#[derive(Debug, Clone)]
pub enum Layout {
    /// Chunks on a grid, each encoded by the same codecs: Zarr, chunked and compact HDF5, references.
    Grid {
        /// How the array is divided into chunks.
        grid: ChunkGrid,
        /// The contents of edge chunks.
        edge: EdgeChunks,
        /// Where chunks are stored.
        index: Arc<dyn ChunkIndex>,
        /// Codecs in the order of encoding.
        codecs: Arc<[CodecSpec]>,
    },
    /// Elements at fixed strides: contiguous HDF5, classic fixed and record variables. Element `i` of axis `a` is
    /// `i * strides[a]` bytes further on.
    Affine {
        /// Where the logical bytes are stored, ascending and without overlap; bytes outside all extents were never
        /// written.
        extents: Arc<[Extent]>,
        /// Logical offset of the first element.
        base: u64,
        /// Bytes from one element to the next, per axis.
        strides: Vec<u64>,
    },
    /// Composed of other variables: aggregations, HDF5 virtual datasets.
    Mosaic {
        /// Which sources make up a region.
        tiles: Arc<dyn TileIndex>,
    },
    /// The server returns boxes: DAP2, DAP4.
    Query {
        /// Builds requests and decodes answers, for all variables of the dataset.
        source: Arc<dyn QuerySource>,
        /// The variable's number there.
        variable: usize,
    },
}

/// A run of logical bytes in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The logical bytes.
    pub logical: Range<u64>,
    /// The object that holds them.
    pub object: ObjectId,
    /// Offset in the object of the first one.
    pub offset: u64,
}

/// Finds the sources that make up a region of a mosaic.
pub trait TileIndex: Debug + Send + Sync {
    /// The tiles that touch the region; together they cover it.
    ///
    /// # Errors
    /// A need, or damage of the description.
    fn tiles(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>>;

    /// A region that touches more than this many tiles, cut in two where tiles begin, as far as that is known without
    /// reading anything; `None` if it touches fewer, cannot be cut, or nothing is known.
    fn halves(&self, _region: &Region, _max: u64) -> Option<[Region; 2]> {
        None
    }
}

/// A region of a mosaic and where its values come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// The region, in elements of the aggregated variable.
    pub region: Region,
    /// Where its values come from.
    pub source: TileSource,
}

/// Where the values of a tile come from.
#[derive(Debug, Clone, PartialEq)]
pub enum TileSource {
    /// A box of a variable of the same or another dataset.
    Variable {
        /// The variable.
        variable: VariableRef,
        /// The box, of any rank: as many elements as the tile, in the same row-major order.
        region: Region,
    },
    /// A variable of a dataset of its own, which is opened when its values are needed. It fills its tile, which may
    /// extend beyond the requested region.
    Fragment(Arc<Fragment>),
    /// One value for the whole region.
    Constant(Values),
    /// Nothing: fill.
    Missing,
}

/// Resolves references to variable-length data.
pub trait Resolver: Debug + Send + Sync {
    /// The values of `count` stored elements.
    ///
    /// # Errors
    /// A need, or damage of the referenced data.
    fn resolve(&self, view: &dyn View, raw: &[u8], count: usize) -> Step<Values>;
}
