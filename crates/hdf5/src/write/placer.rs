//! Where written bytes go, and the order in which they become visible (docs/spec/hdf5-netcdf4.md I.3, J.5).
mod additions;
mod chunking;
mod create;
mod form;
mod handover;
mod held;
mod image;
mod strict;

pub(crate) use additions::AddedMembers;
pub(crate) use form::{ChunkArrangement, StorageForm, rows};
pub(crate) use held::{HeldElements, run_of};
pub(crate) use image::{ImageSource, VariableWrites, len_of, tracked};
pub(crate) use strict::check as check_classic;

use super::update::update;
use create::FileCreation;
use handover::NewFile;
use ncirrus_layout::{Error, ObjectId, Placer, Result, Step, View, Writing};
use ncirrus_model::Model;
use ncirrus_netcdf_view::DefaultChunks;

/// The readers that new files are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileStructures {
    /// HDF5 1.8 and newer, netCDF-4 of any age: v1 B-trees.
    #[default]
    V18,
    /// HDF5 1.10 and newer: chunk indexes with direct lookup.
    V110,
}

/// Writes netCDF-4 files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hdf5Writer {
    /// By the rules of the classic model (`_nc3_strict`).
    pub classic_model: bool,
    /// Which structures new files have.
    pub structures: FileStructures,
    /// How chunk shapes are chosen.
    pub chunks: DefaultChunks,
    /// Size reserved at the front for the metadata; `None`: as much as the definitions need when the first data come,
    /// with a margin.
    pub reserve: Option<u64>,
    /// Chunks begin at multiples of this many bytes, a power of two.
    pub align: u64,
    /// Whether the file that is changed was opened without its references.
    pub hides_references: bool,
    /// Whether only files are changed that track in which order the members of their groups were created, as netCDF-C
    /// has it.
    pub needs_order: bool,
}

impl Default for Hdf5Writer {
    fn default() -> Self {
        Self {
            classic_model: false,
            structures: FileStructures::default(),
            chunks: DefaultChunks::default(),
            reserve: None,
            align: 8,
            hides_references: false,
            needs_order: false,
        }
    }
}

impl Writing for Hdf5Writer {
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>> {
        if !self.align.is_power_of_two() {
            return Err(Error::invalid(format!("alignment {} is not a power of two", self.align)));
        }
        Ok(Box::new(NewFile::First(Box::new(FileCreation::new(root.clone(), self.clone())))))
    }

    fn update(&self, view: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>> {
        update(view, root, model, self)
    }

    fn is_single_object(&self) -> bool {
        true
    }
}
