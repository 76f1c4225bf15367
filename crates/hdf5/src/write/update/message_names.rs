//! The messages of a header that have names: its attributes, or its links.
use crate::write::edit::EditableHeader;
use ncirrus_layout::Result;
use std::collections::{BTreeSet, HashMap};

/// Numbers of messages by name, in ascending order. Damaged headers may have several of one name.
#[derive(Debug, Default)]
pub(super) struct MessageNames(HashMap<String, Vec<usize>>);

impl MessageNames {
    /// The first message of that name.
    pub(super) fn first(&self, name: &str) -> Option<usize> {
        self.0.get(name)?.first().copied()
    }

    /// Whether there is a message of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Adds a message.
    pub(super) fn add(&mut self, name: String, number: usize) {
        let numbers = self.0.entry(name).or_default();
        numbers.insert(numbers.partition_point(|known| *known < number), number);
    }

    /// Removes the first message of that name from the list, not from the header.
    pub(super) fn forget_first(&mut self, name: &str) {
        let Some(numbers) = self.0.get_mut(name) else { return };
        numbers.remove(0);
        if numbers.is_empty() {
            self.0.remove(name);
        }
    }

    /// Removes all messages of these names, from the header as well.
    ///
    /// # Errors
    /// If a message is in no piece of the header.
    pub(super) fn remove<'n>(
        &mut self,
        header: &mut EditableHeader,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<()> {
        let gone: BTreeSet<usize> =
            names.into_iter().filter_map(|name| self.0.remove(name)).flatten().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let mut number = 0;
        header.retain(|_| {
            let is_kept = !gone.contains(&number);
            number += 1;
            is_kept
        })?;
        let gone: Vec<usize> = gone.into_iter().collect();
        for number in self.0.values_mut().flatten() {
            *number -= gone.partition_point(|gone| *gone < *number);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_messages_is_found() {
        let mut names = MessageNames::default();
        for (name, number) in [("a", 7), ("b", 3), ("a", 2)] {
            names.add(name.to_owned(), number);
        }
        assert_eq!(names.first("a"), Some(2));
        names.forget_first("a");
        assert_eq!((names.first("a"), names.first("b"), names.first("c")), (Some(7), Some(3), None));
        names.forget_first("b");
        assert!(!names.has("b") && names.has("a"));
    }
}
