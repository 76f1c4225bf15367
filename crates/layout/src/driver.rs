//! A format, and an open dataset in it.
use crate::{
    AddressHints, Aggregation, DatasetView, Error, ObjectId, OutsideContainer, RepositoryHistory, Source,
    Step, View, Writing,
};
use ncirrus_model::{Attributes, DatasetKind, Model, NodeId, StorageFacts, VarId};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// A format, stateless.
pub trait Driver: Debug + Send + Sync {
    /// Short name for messages, such as `classic` or `zarr`.
    fn name(&self) -> &'static str;

    /// How certain the format is that the object (or the tree below it) is of its kind.
    ///
    /// # Errors
    /// A need, or the failure to read. A different format is not an error but [`Confidence::No`].
    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence>;

    /// Opens the dataset.
    ///
    /// # Errors
    /// A need, or why the dataset cannot be opened at all; damage of one member is recorded in the tree instead.
    fn open(&self, view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<Arc<dyn Catalog>>;
}

/// Adds variables to a dataset of any format, such as those that are aggregated from many files. Stateless.
pub trait Overlay: Debug + Send + Sync {
    /// Short name for messages, such as `aggregate`.
    fn name(&self) -> &'static str;

    /// The dataset as it is to be shown; `None` if there is nothing to add. [`View::values`] of no dataset reads the
    /// variables of `catalog`, also those that the overlay hides. A catalog that is returned keeps the ids of what it
    /// takes over.
    ///
    /// # Errors
    /// A need, or why the dataset cannot be shown at all; damage of one member is recorded in the tree instead.
    fn over(
        &self,
        view: &dyn View,
        root: &ObjectId,
        catalog: &Arc<dyn Catalog>,
        options: &OpenOptions,
    ) -> Step<Option<Arc<dyn Catalog>>>;
}

/// The certainty of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Not this format.
    No,
    /// Possibly, if no other driver is more certain.
    Maybe,
    /// Certainly.
    Yes,
}

/// Options for opening.
///
/// Built from the defaults: `OpenOptions::new().raw(true)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Whether consolidated metadata are used.
    pub consolidated: Consolidated,
    /// Which members of groups are looked for.
    pub members: Members,
    /// Prefer Zarr v2 objects when v3 ones exist too.
    pub prefer_v2: bool,
    /// Do not repair known faults of writers (byte order, fill elements).
    pub no_repairs: bool,
    /// How numbers are shown that codecs of Zarr v3 pack.
    pub packed: PackedArrays,
    /// Name of the dataset, for a variable without a name of its own (an array at the root).
    pub name: Option<String>,
    /// Show the dataset as it is stored: no aggregated variables, but the descriptions of them.
    pub raw: bool,
    /// Values of `${NAME}` in names of fragments; they override those in the dataset.
    pub substitutions: BTreeMap<String, String>,
    /// For changes on object stores without conditional puts: declares that no other program writes to the same chunks, so
    /// parts of chunks may be written.
    pub aligned: bool,
    /// Accept descriptions of aggregations that violate their convention if their meaning is clear.
    pub lenient: bool,
    /// Whose view of the dataset is shown.
    pub view: DatasetView,
    /// Open the dataset only in this state, as an earlier opening reported it: its tag.
    pub expected_tag: Option<String>,
    /// What the dataset's address says besides its place; opening an address sets it.
    pub address: AddressHints,
}

impl OpenOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether consolidated metadata are used.
    #[must_use]
    pub fn consolidated(mut self, consolidated: Consolidated) -> Self {
        self.consolidated = consolidated;
        self
    }

    /// Which members of groups are looked for.
    #[must_use]
    pub fn members(mut self, members: Members) -> Self {
        self.members = members;
        self
    }

    /// How numbers are shown that codecs of Zarr v3 pack.
    #[must_use]
    pub fn packed(mut self, packed: PackedArrays) -> Self {
        self.packed = packed;
        self
    }

    /// Prefer Zarr v2 objects when v3 ones exist too.
    #[must_use]
    pub fn prefer_v2(mut self, prefer_v2: bool) -> Self {
        self.prefer_v2 = prefer_v2;
        self
    }

    /// Do not repair known faults of writers (byte order, fill elements).
    #[must_use]
    pub fn no_repairs(mut self, no_repairs: bool) -> Self {
        self.no_repairs = no_repairs;
        self
    }

    /// Name of the dataset, for a variable without a name of its own (an array at the root).
    #[must_use]
    pub fn name(mut self, name: impl Into<Option<String>>) -> Self {
        self.name = name.into();
        self
    }

    /// Show the dataset as it is stored: no aggregated variables, but the descriptions of them.
    #[must_use]
    pub fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }

    /// Values of `${NAME}` in names of fragments; they override those in the dataset.
    #[must_use]
    pub fn substitutions(mut self, substitutions: BTreeMap<String, String>) -> Self {
        self.substitutions = substitutions;
        self
    }

    /// For changes on object stores without conditional puts: declares that no other program writes to the same chunks, so
    /// parts of chunks may be written.
    #[must_use]
    pub fn aligned(mut self, aligned: bool) -> Self {
        self.aligned = aligned;
        self
    }

    /// Accept descriptions of aggregations that violate their convention if their meaning is clear.
    #[must_use]
    pub fn lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Whose view of the dataset is shown.
    #[must_use]
    pub fn view(mut self, view: DatasetView) -> Self {
        self.view = view;
        self
    }

    /// What the dataset's address says besides its place; opening an address sets it.
    #[must_use]
    pub fn address(mut self, address: AddressHints) -> Self {
        self.address = address;
        self
    }

    /// Open the dataset only in this state, as an earlier opening reported it: its tag.
    #[must_use]
    pub fn expected_tag(mut self, tag: impl Into<Option<String>>) -> Self {
        self.expected_tag = tag.into();
        self
    }
}

/// Which members of groups are looked for, if a dataset's metadata name them (docs/spec/nczarr.md 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Members {
    /// Only named ones if looking for others takes a request per group, otherwise all that exist.
    #[default]
    Auto,
    /// All that exist, also those that the metadata do not name.
    All,
    /// Those that the metadata name; if they name none, all that exist.
    Named,
}

/// How floats are shown that the codecs `scale_offset` and `cast_value` of Zarr v3 store as integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PackedArrays {
    /// As floats.
    #[default]
    Decoded,
    /// As the stored integers, with the attributes `scale_factor`, `add_offset` and `_FillValue`, if these give the same floats
    /// bit for bit; others as floats.
    Exact,
    /// As the stored integers, even if the attributes give slightly different floats: for copies that keep the codecs.
    Stored,
}

/// Whether consolidated metadata are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consolidated {
    /// When there are any.
    #[default]
    Auto,
    /// Never: the individual objects.
    Never,
}

/// An open dataset.
pub trait Catalog: Debug + Send + Sync {
    /// Groups, dimensions, types, variables: eager. A damaged member has a fault in its place. Attributes may be
    /// pending.
    ///
    /// # Errors
    /// A need, or damage that leaves nothing to show.
    fn tree(&self, view: &dyn View) -> Step<Arc<Model>>;

    /// Attributes, in batches: one result per node.
    ///
    /// # Errors
    /// A need.
    fn attributes(&self, view: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes, Error>>>;

    /// Where a variable's values are: lazy.
    ///
    /// # Errors
    /// A need, or why the variable is inaccessible.
    fn source(&self, view: &dyn View, variable: VarId) -> Step<Source>;

    /// What a variable is aggregated from; `None` for those that are not. The fragments themselves are the tiles of its
    /// source's [`TileIndex`](crate::TileIndex).
    ///
    /// # Errors
    /// A need, or damage of the description.
    fn aggregation(&self, _: &dyn View, _: VarId) -> Step<Option<Aggregation>> {
        Ok(None)
    }

    /// Where a variable is described: object and offset. Variables that have the same place are one variable with several
    /// names (hard links); `None` where that cannot be.
    fn description_place(&self, _: VarId) -> Option<(ObjectId, u64)> {
        None
    }

    /// What the dataset is: its format for netCDF, and how it is stored.
    fn kind(&self) -> DatasetKind;

    /// Facts about the storage, for special attributes and summaries.
    fn facts(&self) -> StorageFacts;

    /// What was repaired or ignored on opening, for the user's information.
    fn warnings(&self) -> Vec<String>;

    /// The writer for changing this dataset in place; `None` if it can only be read.
    fn writing(&self) -> Option<Arc<dyn Writing>>;

    /// Why the dataset can only be read, if it cannot be written.
    fn rejection(&self) -> Error {
        Error::unsupported("the dataset is read-only")
    }

    /// Where its chunks may be outside its own store; empty if all are in it.
    fn outside(&self) -> &[OutsideContainer] {
        &[]
    }

    /// The history of the repository that it is a state of; `None` for all other datasets. With `changes` also what
    /// each snapshot changed.
    ///
    /// # Errors
    /// A need, or damage of the history.
    fn history(&self, _: &dyn View, _changes: bool) -> Step<Option<RepositoryHistory>> {
        Ok(None)
    }
}
