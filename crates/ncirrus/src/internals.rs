//! The base of the crate `ncirrus-tools`: the engine behind the handles, for work on whole datasets that moves stored
//! chunks or definitions. It is for the project's own crates and changes with the engine; programs do not need it.
use crate::create::CreateOptions;
pub use crate::create::{CreateTarget, DEFAULT_STRING_BYTES, StringLengths};
use crate::{Dataset, Result, Selection, Session, Values};
use ncirrus_config::ConfigSettings;
use ncirrus_engine::{DatasetWriter, FragmentInfo, StoredChunk};
pub use ncirrus_engine::{RequestEvent, request_log};
use ncirrus_layout::Driver;
use ncirrus_model::{Model, VarId};
use std::sync::Arc;

/// The engine behind a [`Session`].
pub trait SessionInternals {
    /// The engine's session.
    fn engine(&self) -> &ncirrus_engine::Session;

    /// The formats that are recognized.
    fn drivers(&self) -> &Arc<[Arc<dyn Driver>]>;
}

impl SessionInternals for Session {
    fn engine(&self) -> &ncirrus_engine::Session {
        &self.engine
    }

    fn drivers(&self) -> &Arc<[Arc<dyn Driver>]> {
        &self.drivers
    }
}

/// The engine behind a [`Dataset`].
pub trait DatasetInternals: Sized {
    /// As [`Dataset::create_with`], with known lengths of strings.
    ///
    /// # Errors
    /// As [`Dataset::create_with`].
    fn create_sized(
        url: &str,
        options: &CreateOptions,
        lengths: &StringLengths,
        session: &Session,
    ) -> Result<Self>;

    /// The engine's dataset.
    ///
    /// # Errors
    /// `Unsupported` if the dataset is open for writing.
    fn reader(&self) -> Result<&ncirrus_engine::Dataset>;

    /// The engine's writer.
    ///
    /// # Errors
    /// `Denied` if the dataset is open for reading only, `Invalid` if it was closed.
    fn writer(&self) -> Result<&DatasetWriter>;

    /// The session of the engine in which the dataset was opened.
    fn engine(&self) -> &ncirrus_engine::Session;

    /// The present definitions; attributes may be pending.
    fn snapshot(&self) -> Arc<Model>;

    /// Values of a selection; errors do not yet name the variable.
    ///
    /// # Errors
    /// As [`Variable::values`](crate::Variable::values).
    fn read_values(&self, var: VarId, selection: &Selection) -> Result<Values>;

    /// Writes values of the variable's own type unchanged; errors do not yet name the variable.
    ///
    /// # Errors
    /// As [`Variable::write_values`](crate::Variable::write_values).
    fn write_values(&self, var: VarId, selection: &Selection, values: &Values) -> Result<()>;

    /// The parts from which a selection of an aggregated variable is assembled.
    ///
    /// # Errors
    /// As [`Variable::fragments`](crate::Variable::fragments).
    fn fragments(&self, var: VarId, selection: &Selection) -> Result<Vec<FragmentInfo>>;

    /// Where the chunks of a selection are stored.
    ///
    /// # Errors
    /// As [`Variable::chunks`](crate::Variable::chunks).
    fn stored_chunks(&self, var: VarId, selection: &Selection) -> Result<Vec<StoredChunk>>;
}

impl DatasetInternals for Dataset {
    fn create_sized(
        url: &str,
        options: &CreateOptions,
        lengths: &StringLengths,
        session: &Session,
    ) -> Result<Self> {
        Self::create_sized(url, options, lengths, session)
    }

    fn reader(&self) -> Result<&ncirrus_engine::Dataset> {
        self.reader()
    }

    fn writer(&self) -> Result<&DatasetWriter> {
        self.open_for_writing().map(|open| &open.writer)
    }

    fn engine(&self) -> &ncirrus_engine::Session {
        self.engine()
    }

    fn snapshot(&self) -> Arc<Model> {
        self.snapshot()
    }

    fn read_values(&self, var: VarId, selection: &Selection) -> Result<Values> {
        self.read_values(var, selection)
    }

    fn write_values(&self, var: VarId, selection: &Selection, values: &Values) -> Result<()> {
        self.write_values(var, selection, values)
    }

    fn fragments(&self, var: VarId, selection: &Selection) -> Result<Vec<FragmentInfo>> {
        self.fragments(var, selection)
    }

    fn stored_chunks(&self, var: VarId, selection: &Selection) -> Result<Vec<StoredChunk>> {
        self.stored_chunks(var, selection)
    }
}

/// Decides everything about a new dataset at an address from the options, the known lengths of strings, and the
/// configuration.
///
/// # Errors
/// `Invalid` for an invalid address or separator, and if the kind cannot be determined.
pub fn resolve(
    options: &CreateOptions,
    url: &str,
    lengths: &StringLengths,
    settings: &ConfigSettings,
) -> Result<CreateTarget> {
    options.resolve(url, lengths, settings)
}
