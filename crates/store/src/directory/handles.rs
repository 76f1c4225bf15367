//! A few open files, kept for repeated reads.
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A few open files, the most recently used last.
#[derive(Debug)]
pub(super) struct Handles {
    most: usize,
    open: Mutex<Vec<(Box<str>, Arc<File>)>>,
}

impl Handles {
    /// Keeps at most so many files open; 0 keeps none.
    pub(super) fn new(most: usize) -> Self {
        Self { most, open: Mutex::default() }
    }

    /// The file of a key: open already, or opened now and kept.
    pub(super) fn get_or_open(
        &self,
        key: &str,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Arc<File>> {
        if self.most == 0 {
            return open().map(Arc::new);
        }
        if let Some(file) = self.find(key) {
            return Ok(file);
        }
        let file = Arc::new(open()?);
        let mut kept = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= self.most {
            kept.remove(0);
        }
        kept.push((key.into(), Arc::clone(&file)));
        Ok(file)
    }

    /// Closes the file of a key, as it is about to be another one.
    pub(super) fn forget(&self, key: &str) {
        if self.most > 0 {
            self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|(kept, _)| **kept != *key);
        }
    }

    /// Closes all files.
    pub(super) fn forget_all(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn find(&self, key: &str) -> Option<Arc<File>> {
        let mut kept = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(kept, _)| **kept == *key)?;
        if at + 1 < kept.len() {
            let entry = kept.remove(at);
            kept.push(entry);
        }
        kept.last().map(|(_, file)| Arc::clone(file))
    }
}
