//! Which state of a repository an address names: `#branch=NAME`, `#tag=NAME`, `#snapshot=ID` or `#at=TIME`.
use crate::id::ObjectName;
use crate::time;
use ncirrus_layout::{AddressHints, Error, Result};

/// The branch that is shown unless an address says otherwise.
pub(crate) const MAIN: &str = "main";

/// Which snapshot is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StateChoice {
    /// The last one of a branch.
    Branch(String),
    /// That of a tag.
    Tag(String),
    /// The one with that id.
    Snapshot(ObjectName),
    /// The last one of a branch that was made at that time or before, in microseconds since 1970.
    At(String, u64),
}

impl StateChoice {
    /// Whether an address names a state.
    pub(crate) fn is_named(address: &AddressHints) -> bool {
        ["branch", "tag", "snapshot", "at"].iter().any(|key| address.value(key).is_some())
    }

    /// What an address says.
    ///
    /// # Errors
    /// `Invalid` for two states, an id that is not one, or a time that is not one.
    pub(crate) fn of(address: &AddressHints) -> Result<Self> {
        let value = |key: &str| address.value(key).filter(|value| !value.is_empty());
        let (branch, tag, snapshot, at) = (value("branch"), value("tag"), value("snapshot"), value("at"));
        let given = [branch.or(at), tag, snapshot].into_iter().flatten().count();
        if given > 1 {
            return Err(Error::invalid("the address names more than one of branch, tag, snapshot and at"));
        }
        let branch = branch.unwrap_or(MAIN).to_owned();
        if let Some(tag) = tag {
            return Ok(Self::Tag(tag.to_owned()));
        }
        if let Some(id) = snapshot {
            let parsed = ObjectName::parse(id);
            let odd = || Error::invalid(format!("{id:?} is not the id of a snapshot: 20 digits and letters"));
            return parsed.map(Self::Snapshot).ok_or_else(odd);
        }
        match at {
            Some(text) => {
                let odd = || Error::invalid(format!("{text:?} is not a time such as 2026-05-01T00:00Z"));
                Ok(Self::At(branch, time::parse(text).ok_or_else(odd)?))
            }
            None => Ok(Self::Branch(branch)),
        }
    }
}
