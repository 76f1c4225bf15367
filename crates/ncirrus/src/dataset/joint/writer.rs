//! One of several processes that write a dataset.
use super::JoinedVariable;
use super::text::{Receipt, Ticket};
use crate::{Error, Member, Result, Session, Variable};
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

impl JointWriter {
    pub(super) fn join(ticket: Ticket, session: &Session) -> Result<Self> {
        let place = JoinedPlace::find(&Url::parse(&ticket.url)?, &ticket.place, &session.stores)?;
        session.wait_at(&ticket.url, place.check())?;
        let mut variables = BTreeMap::new();
        for reported in ticket.variables {
            let encoder = Variable::encoder_from_text(&reported.encoder, session)?;
            variables.insert(reported.path.clone(), JoinedVariable { reported, encoder });
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

    /// Writes a box of a variable, which must consist of whole chunks (those at the array's end are whole as far as the
    /// array extends), from its elements: of the variable's type in the machine's byte order, row-major, the fields of
    /// compounds contiguous, without padding.
    ///
    /// # Errors
    /// `Invalid` naming a chunk that the box covers only partly, or that holds existing data, and if the bytes do not
    /// match the box: nothing is put then. `Conflict` if the writing has ended, or another program took over the
    /// location; if putting fails.
    pub fn write_bytes(&self, path: &str, region: &Region, bytes: &[u8]) -> Result<()> {
        let variable = self.variable(path)?;
        let cells = variable.encoder.whole_chunks(region)?;
        self.check_new(variable, &cells)?;
        let located = |error: Error| error.at_path(&variable.reported.path);
        if region.is_empty() {
            return Ok(());
        }
        let put = async {
            self.joined.place.check().await?;
            let puts = cells.iter().map(|cell| async move {
                let part = variable.encoder.cut(region, bytes, cell)?;
                self.put(variable, cell, &part).await
            });
            iter(puts).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await
        };
        self.joined.session.wait_at(&self.joined.url, put).map_err(located)?;
        self.note(variable, cells);
        Ok(())
    }

    /// Writes one chunk from its elements inside the array.
    ///
    /// # Errors
    /// As [`write_bytes`](Self::write_bytes).
    pub fn write_chunk(&self, path: &str, index: &[u64], bytes: &[u8]) -> Result<()> {
        let variable = self.variable(path)?;
        let cells = vec![index.to_vec()];
        self.check_new(variable, &cells)?;
        let put = async {
            self.joined.place.check().await?;
            self.put(variable, index, bytes).await
        };
        self.joined
            .session
            .wait_at(&self.joined.url, put)
            .map_err(|error| error.at_path(&variable.reported.path))?;
        self.note(variable, cells);
        Ok(())
    }

    fn check_new(&self, variable: &JoinedVariable, cells: &[Vec<u64>]) -> Result<()> {
        cells.iter().try_for_each(|cell| {
            variable
                .reported
                .check_new(&variable.encoder.region(cell)?, cell)
                .map_err(|e| e.at_object(&self.joined.url))
        })
    }

    async fn put(&self, variable: &JoinedVariable, cell: &[u64], bytes: &[u8]) -> Result<()> {
        let chunk = variable.encoder.encode(cell, bytes)?;
        self.joined
            .place
            .put(&variable.reported.key(cell), chunk.body)
            .await
            .map_err(|error| error.at_chunk(cell))
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
