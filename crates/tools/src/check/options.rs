//! What a check does, and what it reports meanwhile.
use crate::Profile;
use ncirrus::{OpenOptions, ReadPlan};
use std::fmt;

/// What a check looks at.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CheckOptions<'a> {
    /// How the dataset is opened.
    pub open: OpenOptions,
    /// Leave out the values: definitions and the places of chunks only.
    pub quick: bool,
    /// Check what the CF conventions say about attributes and coordinates, too.
    pub cf: bool,
    /// List the coordinates of absent chunks.
    pub absent: bool,
    /// Compute a digest of the values of each variable.
    pub digest: bool,
    /// Only check whether the dataset is stored as a profile requires, by reading its metadata: with at most three requests
    /// if it is not on this machine.
    pub profile: Option<Profile>,
    /// Receives what reading the values will take, before they are read, if the dataset is not local.
    pub plan: Option<&'a (dyn Fn(&CheckPlan) + Sync)>,
    /// Receives how far reading the values is.
    pub progress: Option<&'a (dyn Fn(CheckProgress<'_>) + Sync)>,
}

/// What reading the values of a remote dataset will take. Fragments of aggregations are not included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckPlan {
    /// Requests.
    pub requests: u64,
    /// Bytes of requests whose length is known.
    pub bytes: u64,
    /// Requests for whole objects, whose length is not known.
    pub whole_objects: u64,
}

/// How far a check is.
#[derive(Debug, Clone, Copy)]
pub struct CheckProgress<'a> {
    /// Path of the variable that is being read.
    pub variable: &'a str,
    /// Elements read so far, of all variables.
    pub done: u64,
    /// Elements to read.
    pub total: u64,
}

impl CheckPlan {
    pub(super) fn add(&mut self, plan: &ReadPlan) {
        self.requests = self.requests.saturating_add(plan.requests);
        self.bytes = self.bytes.saturating_add(plan.bytes);
        self.whole_objects = self.whole_objects.saturating_add(plan.whole_objects);
    }
}

impl fmt::Display for CheckPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, bytes, whole_objects } = self;
        write!(f, "reading the values takes {requests} requests and {bytes} bytes")?;
        match whole_objects {
            0 => Ok(()),
            count => write!(f, ", and the {count} objects of unknown length among them"),
        }
    }
}

impl<'a> CheckOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the dataset is opened.
    #[must_use]
    pub fn open(mut self, open: OpenOptions) -> Self {
        self.open = open;
        self
    }

    /// Leave out the values.
    #[must_use]
    pub fn quick(mut self, quick: bool) -> Self {
        self.quick = quick;
        self
    }

    /// Check what the CF conventions say, too.
    #[must_use]
    pub fn cf(mut self, cf: bool) -> Self {
        self.cf = cf;
        self
    }

    /// List the coordinates of absent chunks.
    #[must_use]
    pub fn absent(mut self, absent: bool) -> Self {
        self.absent = absent;
        self
    }

    /// Compute a digest of the values of each variable.
    #[must_use]
    pub fn digest(mut self, digest: bool) -> Self {
        self.digest = digest;
        self
    }

    /// Only check whether the dataset is stored as a profile requires.
    #[must_use]
    pub fn profile(mut self, profile: impl Into<Option<Profile>>) -> Self {
        self.profile = profile.into();
        self
    }

    /// Receives what reading a remote dataset will take.
    #[must_use]
    pub fn plan(mut self, plan: &'a (dyn Fn(&CheckPlan) + Sync)) -> Self {
        self.plan = Some(plan);
        self
    }

    /// Receives how far reading the values is.
    #[must_use]
    pub fn progress(mut self, progress: &'a (dyn Fn(CheckProgress<'_>) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }
}
