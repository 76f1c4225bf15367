//! Joint writing that is finished by another handle than the one that began it, in any process.
use super::Dataset;
use super::text::Ticket;
use crate::{Error, Result};
use ncirrus_layout::ErrorKind;
use ncirrus_model::VarId;
use ncirrus_store::{JointPlace, JointStaging, Url};

impl Dataset {
    /// As [`ticket`](Self::ticket), for a dataset that another handle will [finish](Self::finish_for), here or elsewhere.
    /// This handle is abandoned, and nothing of what it wrote stays: whoever finishes makes the same definitions, and writes
    /// what is not in chunks of the workers. Chunks wait beside the dataset; `ncirrus clean` removes them if the writing is
    /// never finished.
    ///
    /// # Errors
    /// As [`ticket`](Self::ticket).
    pub fn hand_over(self, complete: &[VarId]) -> Result<String> {
        let variables = self.joint_variables(complete)?;
        let handed = Some(complete.iter().map(|var| self.path_of(*var)).collect());
        let (url, _, staging) = self.joint_place()?;
        self.end_staging(staging)?;
        self.clone().abort()?;
        let place = self.wait_joint(JointPlace::leave(&Url::parse(&url)?, &self.0.session.stores))?;
        Ok(Ticket { url, place, variables, handed }.to_text())
    }

    /// Ends joint writing that was [handed over](Self::hand_over): this handle, which creates or changes the dataset and has
    /// the same definitions, takes over the chunks that the receipts name, and is closed. All of it appears or nothing.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); `Invalid` for a ticket of another dataset, and one whose owner finishes; `Conflict` when
    /// the dataset or its definitions are not what they were when the ticket was made.
    pub fn finish_for<T: AsRef<str>>(self, ticket: &str, receipts: &[T]) -> Result<()> {
        let ticket = Ticket::of_text(ticket)?;
        let Some(paths) = &ticket.handed else {
            return Err(self.joint_error("the ticket is one that its owner finishes"));
        };
        // It keeps other programs of this machine from appending meanwhile.
        let (url, _, staging) = self.joint_place()?;
        let ended = self.clone();
        let finished = if url == ticket.url {
            self.finish_handed(&ticket, paths, receipts)
        } else {
            Err(self.joint_error("the ticket is one of another dataset"))
        };
        finished.and(ended.end_staging(staging))
    }

    fn end_staging(&self, staging: Option<JointStaging>) -> Result<()> {
        staging.map_or(Ok(()), |staging| self.wait_joint(staging.end()))
    }

    fn finish_handed<T: AsRef<str>>(self, ticket: &Ticket, paths: &[String], receipts: &[T]) -> Result<()> {
        let differs = || {
            let message = "the dataset or its definitions are not what they were when the ticket was made";
            Error::new(ErrorKind::Conflict, message).at_object(&self.0.url)
        };
        let complete: Result<Vec<VarId>> =
            paths.iter().map(|path| self.variable(path).map(|variable| variable.id())).collect();
        let complete = complete.map_err(|error| differs().because(error))?;
        if self.joint_variables(&complete)? != ticket.variables {
            return Err(differs());
        }
        let chunks = self.received(ticket, receipts)?;
        self.check_complete(ticket, &complete, &chunks)?;
        let place = self.joined_place(ticket)?;
        self.wait_joint(place.check())?;
        for (path, cells) in &chunks {
            self.take_over(&place, ticket, &self.variable(path)?, cells)?;
        }
        let ended = self.clone();
        self.close()?;
        ended.wait_joint(place.remove())
    }
}
