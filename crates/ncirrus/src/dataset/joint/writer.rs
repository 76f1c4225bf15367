//! One of several processes that write a dataset.
use super::joined::JoinedVariable;
use super::text::{Receipt, Ticket};
use crate::{Error, Member, Result, Session};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use ncirrus_engine::VariableEncoder;
use ncirrus_layout::LockExt;
use ncirrus_model::Region;
use ncirrus_store::{JoinedPlace, Url};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// One of several processes that write a dataset together: it puts whole chunks, which become visible only when the
/// process that created the dataset finishes it. Many threads may write at once. Putting a chunk again replaces it, so
/// that a task can be repeated; two processes that put different chunks do not interfere.
pub struct JointWriter {
    joined: Arc<JoinedDataset>,
    written: Mutex<BTreeMap<String, BTreeSet<Vec<u64>>>>,
}

/// What all parts of a process share.
struct JoinedDataset {
    session: Session,
    url: String,
    mark: String,
    place: JoinedPlace,
    variables: BTreeMap<String, JoinedVariable>,
}

/// Maximum number of chunks in flight.
const AT_ONCE: usize = 16;
/// Maximum number of shards in flight.
const SHARDS_AT_ONCE: usize = 2;

impl JointWriter {
    pub(super) fn join(ticket: Ticket, session: &Session) -> Result<Self> {
        let place = JoinedPlace::find(&Url::parse(&ticket.url)?, &ticket.place, &session.stores)?;
        session.wait_at(&ticket.url, place.check())?;
        let mut variables = BTreeMap::new();
        for reported in ticket.variables {
            variables.insert(reported.path.clone(), JoinedVariable::new(reported, session)?);
        }
        let (session, mark) = (session.clone(), ticket.place.mark);
        let joined = JoinedDataset { session, url: ticket.url, mark, place, variables };
        Ok(Self { joined: Arc::new(joined), written: Mutex::default() })
    }

    /// Another part of the same writing, which gets a receipt of its own: a task that may be repeated in another process
    /// is one part.
    pub fn part(&self) -> Self {
        Self { joined: Arc::clone(&self.joined), written: Mutex::default() }
    }

    /// The address of the dataset.
    pub fn url(&self) -> &str {
        &self.joined.url
    }

    /// Paths of the variables that can be written.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.joined.variables.keys().map(String::as_str)
    }

    /// The encoder for chunks of a variable: its shape, and the region of each chunk.
    ///
    /// # Errors
    /// `NotFound` if there is no such variable, or it cannot be written jointly.
    pub fn encoder(&self, path: &str) -> Result<&VariableEncoder> {
        self.variable(path).map(|variable| &variable.encoder)
    }

    fn variable(&self, path: &str) -> Result<&JoinedVariable> {
        let absolute = format!("/{}", path.trim_start_matches('/'));
        let found = self.joined.variables.get(&absolute);
        found.ok_or_else(|| {
            Error::no_member(Member::Variable, format_args!("{path:?}")).at_object(&self.joined.url)
        })
    }

    /// Writes a box of a variable, which must consist of whole chunks, or of whole shards if it has some (those at the
    /// array's end are whole as far as the array extends), from its elements: of the variable's type in the machine's byte order, row-major, the fields of
    /// compounds contiguous, without padding.
    ///
    /// # Errors
    /// `Invalid` naming a chunk or shard that the box covers only partly, or that holds existing data, and if the bytes do not
    /// match the box: nothing is put then. `Conflict` if the writing has ended, or another program took over the
    /// location; if putting fails.
    pub fn write_bytes(&self, path: &str, region: &Region, bytes: &[u8]) -> Result<()> {
        let variable = self.variable(path)?;
        let units = variable.whole_units(region).map_err(|error| error.at_object(&self.joined.url))?;
        self.check_new(variable, &units)?;
        let located = |error: Error| error.at_path(&variable.reported.path);
        if region.is_empty() {
            return Ok(());
        }
        let put = async {
            self.joined.place.check().await?;
            let puts = units.iter().map(|unit| self.put(variable, unit, region, bytes));
            let at_once = if variable.shard_shape().is_some() { SHARDS_AT_ONCE } else { AT_ONCE };
            iter(puts).buffer_unordered(at_once).try_collect::<Vec<()>>().await
        };
        self.joined.session.wait_at(&self.joined.url, put).map_err(located)?;
        self.note(variable, units);
        Ok(())
    }

    /// Writes one chunk, or one shard of a variable that has some, from its elements inside the array.
    ///
    /// # Errors
    /// As [`write_bytes`](Self::write_bytes).
    pub fn write_chunk(&self, path: &str, index: &[u64], bytes: &[u8]) -> Result<()> {
        let region = self.variable(path)?.region(index)?;
        self.write_bytes(path, &region, bytes)
    }

    fn check_new(&self, variable: &JoinedVariable, units: &[Vec<u64>]) -> Result<()> {
        units
            .iter()
            .try_for_each(|unit| variable.check_new(unit).map_err(|error| error.at_object(&self.joined.url)))
    }

    async fn put(
        &self,
        variable: &JoinedVariable,
        unit: &[u64],
        region: &Region,
        bytes: &[u8],
    ) -> Result<()> {
        let body = variable.object(unit, region, bytes)?;
        let put = self.joined.place.put(&variable.reported.key(unit), body).await;
        put.map_err(|error| error.at_chunk(unit))
    }

    fn note(&self, variable: &JoinedVariable, cells: Vec<Vec<u64>>) {
        self.written.guard().entry(variable.reported.path.clone()).or_default().extend(cells);
    }

    /// Ends this process's part, and returns its receipt, which [`Dataset::finish`](crate::Dataset::finish) requires.
    ///
    /// # Errors
    /// `Conflict` if the writing has ended, or another program took over the location.
    pub fn close(self) -> Result<String> {
        self.joined.session.wait_at(&self.joined.url, self.joined.place.check())?;
        let written = std::mem::take(&mut *self.written.guard());
        let chunks = written.into_iter().map(|(path, cells)| (path, cells.into_iter().collect()));
        let id = unique();
        Ok(Receipt { mark: self.joined.mark.clone(), id, chunks: chunks.collect() }.to_text())
    }
}

/// A number that no other receipt has: processes that were forked off one another go through the same random numbers.
fn unique() -> String {
    let random = RandomState::new().build_hasher().finish();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{random:016x}-{:x}-{:x}", std::process::id(), since.as_nanos())
}

impl fmt::Debug for JointWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JointWriter({})", self.joined.url)
    }
}
