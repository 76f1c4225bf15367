//! Writing one dataset by several processes (`docs/design/013-joint-writing.md`).
mod handed;
mod joined;
mod text;
mod writer;

pub use writer::JointWriter;

use super::Dataset;
use crate::{Error, Result, Variable};
use futures_util::future::try_join_all;
use joined::JoinedVariable;
use ncirrus_engine::EncodedChunk;
use ncirrus_layout::{ErrorKind, LockExt};
use ncirrus_model::{Region, VarId};
use ncirrus_store::{JoinedPlace, JointPlace, JointStaging, Scheme, Url};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use text::{Receipt, Ticket, TicketVariable};

/// What a dataset that is written knows of the others.
pub(super) struct JointState {
    ticket: Ticket,
    /// Variables of which every chunk must come.
    complete: Vec<VarId>,
    /// Where chunks wait that are to be appended.
    staging: Option<JointStaging>,
}

/// Chunks that are taken over together: bytes of them that are held.
const WINDOW_BYTES: usize = 64 << 20;
const WINDOW: usize = 256;
/// Chunks that are fetched at once.
const AT_ONCE: usize = 16;

impl Dataset {
    /// A text with which other processes [`join`](Self::join) in writing this dataset: where it is made, and how chunks of
    /// its variables are encoded and called. It holds no secrets; whoever joins uses credentials of their own. For new
    /// trees (NCZarr, Zarr) and for appends to them: dimensions have the lengths that the dataset will have
    /// ([`Variable::grow_to`]), and definitions do not change any more. Variables whose elements have no fixed size are left
    /// to this handle, which also writes whatever else it likes: chunks of its own, and the parts of those that old and new
    /// data share.
    ///
    /// Of the variables that are `complete`, [`finish`](Self::finish) wants every chunk, but those that hold old data. The
    /// ticket is good until this handle is finished, closed, aborted or dropped.
    ///
    /// # Errors
    /// `Unsupported` for kinds that are one file, datasets in memory, a store without conditional puts, an address with a
    /// password, and when a complete variable cannot be written by others; `Conflict` when another program of this machine
    /// appends jointly to the same directory; `Invalid` when there is a ticket already, and the definitions changed since.
    pub fn ticket(&self, complete: &[VarId]) -> Result<String> {
        let mut joint = self.0.joint.guard();
        let variables = self.joint_variables(complete)?;
        if let Some(state) = &mut *joint {
            if state.ticket.variables != variables {
                return Err(self.joint_error("the definitions changed since the first ticket"));
            }
            state.complete = complete.to_vec();
            return Ok(state.ticket.to_text());
        }
        let (url, place, staging) = self.joint_place()?;
        let ticket = Ticket { url, place, variables, handed: None };
        let text = ticket.to_text();
        *joint = Some(JointState { ticket, complete: complete.to_vec(), staging });
        Ok(text)
    }

    /// Joins in writing a dataset: what comes back puts whole chunks. Credentials and settings are the session's.
    ///
    /// # Errors
    /// `Malformed` for a text that is not a ticket or was changed; `Invalid` for a place that is not the dataset's; `Conflict`
    /// when the writing has ended, or another program took the place over.
    pub fn join(ticket: &str, session: &crate::Session) -> Result<JointWriter> {
        JointWriter::join(Ticket::of_text(ticket)?, session)
    }

    /// Ends joint writing: takes over the chunks that the receipts name, then as [`close`](Self::close), so that all of it
    /// appears or nothing.
    ///
    /// # Errors
    /// `Invalid` for a text that is not a receipt, is another dataset's or given twice, and for a chunk that two receipts name or
    /// that holds old data; `Missing` naming the first chunk of a complete variable that no receipt names. Nothing has
    /// changed then, and it can be tried again with the right receipts. Else as [`close`](Self::close).
    pub fn finish<T: AsRef<str>>(self, receipts: &[T]) -> Result<()> {
        let open = self.open_for_writing()?;
        let (ticket, complete) = {
            let joint = self.0.joint.guard();
            let state = joint.as_ref().ok_or_else(|| self.joint_error("the dataset has no ticket"))?;
            (state.ticket.clone(), state.complete.clone())
        };
        if self.joint_variables(&complete)? != ticket.variables {
            return Err(self.joint_error("the definitions changed since the ticket"));
        }
        let chunks = self.received(&ticket, receipts)?;
        self.check_complete(&ticket, &complete, &chunks)?;
        let is_new = open.writer.base().is_none();
        let place = self.joined_place(&ticket)?;
        self.wait_joint(place.check())?;
        for (path, cells) in &chunks {
            let variable = self.variable(path)?;
            if is_new {
                self.adopt(&place, &ticket, &variable, cells)?;
            } else {
                self.take_over(&place, &ticket, &variable, cells)?;
            }
        }
        let ended = self.clone();
        self.close()?;
        ended.end_joint()
    }

    /// Removes the place where chunks wait.
    pub(super) fn end_joint(&self) -> Result<()> {
        let staging = self.0.joint.guard().take().and_then(|state| state.staging);
        staging.map_or(Ok(()), |staging| self.0.session.wait_at(&self.0.url, staging.end()))
    }

    fn joint_error(&self, message: &str) -> Error {
        Error::invalid(message).at_object(&self.0.url)
    }

    fn wait_joint<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.0.session.wait_at(&self.0.url, future)
    }

    /// The variables that others can write chunks of.
    fn joint_variables(&self, complete: &[VarId]) -> Result<Vec<TicketVariable>> {
        let open = self.open_for_writing()?;
        let base = open.writer.base().map(ncirrus_engine::Dataset::model);
        let mut variables = Vec::new();
        for variable in self.variables() {
            let form = self.engine().wait(open.writer.key_form(variable.id()));
            match form.and_then(|form| Ok((form, variable.encoder()?))) {
                Ok((form, encoder)) => variables.push(TicketVariable {
                    path: variable.path(),
                    form: form.form,
                    shards: form.shards,
                    encoder: encoder.to_text()?,
                    old: base.as_ref().map(|base| base.shape(variable.id())),
                }),
                Err(error)
                    if error.kind() == ErrorKind::Unsupported && !complete.contains(&variable.id()) => {}
                Err(error) => return Err(error),
            }
        }
        if variables.is_empty() {
            Err(Error::unsupported("no variable has chunks that other processes could write")
                .at_object(&self.0.url))
        } else {
            Ok(variables)
        }
    }

    /// Where others put chunks, and the address by which they find it.
    fn joint_place(&self) -> Result<(String, JointPlace, Option<JointStaging>)> {
        let open = self.open_for_writing()?;
        let (url, store, root, place) = {
            let staged = open.staged.guard();
            let staged =
                staged.as_ref().ok_or_else(|| Error::internal("a dataset that is written has a place"))?;
            (staged.url.clone(), Arc::clone(&staged.store), staged.root.clone(), staged.joint_place())
        };
        if url.credentials().is_some() {
            let message = "an address with a password does not go into a ticket";
            return Err(Error::unsupported(message).at_object(&self.0.url));
        }
        if open.writer.base().is_some() {
            let staging = self.wait_joint(JointStaging::begin(&store, &root, &url))?;
            return Ok((address(&url)?, staging.place().clone(), Some(staging)));
        }
        let place = self.wait_joint(place)?;
        let lacks = "the place of this dataset is not one that other processes can write to";
        let place = place.ok_or_else(|| Error::unsupported(lacks).at_object(&self.0.url))?;
        Ok((address(&url)?, place, None))
    }

    fn joined_place(&self, ticket: &Ticket) -> Result<JoinedPlace> {
        JoinedPlace::find(&Url::parse(&ticket.url)?, &ticket.place, &self.0.session.stores)
    }

    /// The chunks that receipts name, by variable.
    fn received<T: AsRef<str>>(
        &self,
        ticket: &Ticket,
        receipts: &[T],
    ) -> Result<BTreeMap<String, BTreeSet<Vec<u64>>>> {
        let mut known = HashSet::new();
        let mut joined: BTreeMap<String, JoinedVariable> = BTreeMap::new();
        let mut chunks: BTreeMap<String, BTreeSet<Vec<u64>>> = BTreeMap::new();
        for receipt in receipts {
            let receipt = Receipt::of_text(receipt.as_ref())?;
            if receipt.mark != ticket.place.mark {
                return Err(self.joint_error("a receipt is that of another writing"));
            }
            if !known.insert(receipt.id.clone()) {
                return Err(self.joint_error(&format!("the receipt {} is given twice", receipt.id)));
            }
            for (path, cells) in receipt.chunks {
                // Many receipts name the same variable.
                let variable = match joined.entry(path.clone()) {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => {
                        let reported = ticket.variables.iter().find(|variable| variable.path == path);
                        let reported = reported.ok_or_else(|| {
                            self.joint_error("a receipt names an unknown variable").at_path(&path)
                        })?;
                        entry.insert(JoinedVariable::new(reported.clone(), &self.0.session)?)
                    }
                };
                let all = chunks.entry(path).or_default();
                for cell in cells {
                    variable.check_new(&cell)?;
                    if !all.insert(cell.clone()) {
                        let error = self.joint_error("two receipts name this chunk or shard");
                        return Err(error.at_path(&variable.reported.path).at_chunk(&cell));
                    }
                }
            }
        }
        Ok(chunks)
    }

    fn check_complete(
        &self,
        ticket: &Ticket,
        complete: &[VarId],
        chunks: &BTreeMap<String, BTreeSet<Vec<u64>>>,
    ) -> Result<()> {
        let paths: Vec<String> = complete.iter().map(|var| self.path_of(*var)).collect();
        for variable in ticket.variables.iter().filter(|variable| paths.contains(&variable.path)) {
            let received = chunks.get(&variable.path);
            let joined = JoinedVariable::new(variable.clone(), &self.0.session)?;
            for cell in joined.whole_units(&Region::all(joined.encoder.shape()))? {
                let is_old = joined.check_new(&cell).is_err();
                if !is_old && !received.is_some_and(|received| received.contains(&cell)) {
                    let message = "a receipt for this chunk or shard is missing";
                    let error = Error::new(ErrorKind::Missing, message).at_object(&self.0.url);
                    return Err(error.at_path(&variable.path).at_chunk(&cell));
                }
            }
        }
        Ok(())
    }

    /// Takes over chunks of a new dataset, which are at their places.
    fn adopt(
        &self,
        place: &JoinedPlace,
        ticket: &Ticket,
        variable: &Variable,
        cells: &BTreeSet<Vec<u64>>,
    ) -> Result<()> {
        let cells: Vec<Vec<u64>> = cells.iter().cloned().collect();
        // Whether they are there; they are not read.
        if place.is_local() {
            for cell in &cells {
                self.wait_joint(place.find_chunk(&ticket.key(&variable.path(), cell)?))
                    .map_err(|error| error.at_path(variable.path()).at_chunk(cell))?;
            }
        }
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.adopt_chunks(variable.id(), &cells))
    }

    /// Copies chunks that wait beside the dataset to their places, a bounded number at a time.
    fn take_over(
        &self,
        place: &JoinedPlace,
        ticket: &Ticket,
        variable: &Variable,
        cells: &BTreeSet<Vec<u64>>,
    ) -> Result<()> {
        let (mut window, mut bytes) = (Vec::new(), 0);
        let cells: Vec<&Vec<u64>> = cells.iter().collect();
        let joined = JoinedVariable::new(ticket.variable(&variable.path())?.clone(), &self.0.session)?;
        // The chunks of a shard are passed on together, so that it is put once.
        let at_once = if joined.shard_shape().is_some() { 1 } else { AT_ONCE };
        for some in cells.chunks(at_once) {
            let gets = some.iter().map(|cell| async {
                let body = place.get(&ticket.key(&variable.path(), cell)?).await;
                let chunks = body.and_then(|body| joined.chunks(cell, &body));
                chunks.map_err(|error| error.at_path(variable.path()).at_chunk(cell))
            });
            let chunks: Vec<EncodedChunk> =
                self.wait_joint(try_join_all(gets))?.into_iter().flatten().collect();
            bytes += chunks.iter().map(|chunk| chunk.body.len()).sum::<usize>();
            window.extend(chunks);
            if bytes >= WINDOW_BYTES || window.len() >= WINDOW {
                variable.write_encoded(std::mem::take(&mut window))?;
                bytes = 0;
            }
        }
        if window.is_empty() { Ok(()) } else { variable.write_encoded(window) }
    }
}

/// An address that means the same in every process of the machine.
fn address(url: &Url) -> Result<String> {
    if url.scheme() != Scheme::File {
        return Ok(url.to_string());
    }
    let path = std::path::absolute(url.path().trim_end_matches('/'));
    let path = path.map_err(|error| Error::invalid("the path has no absolute form").because(error))?;
    Ok(Url::of_path(&path.to_string_lossy()).to_string())
}

impl Ticket {
    fn variable(&self, path: &str) -> Result<&TicketVariable> {
        let variable = self.variables.iter().find(|variable| variable.path == path);
        variable.ok_or_else(|| Error::internal("a variable that is not in the ticket").at_path(path))
    }

    /// The key of a chunk or shard.
    fn key(&self, path: &str, cell: &[u64]) -> Result<String> {
        Ok(self.variable(path)?.key(cell))
    }
}

#[cfg(test)]
mod tests;
